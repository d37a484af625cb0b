"""People and the record of what they did."""

from __future__ import annotations

import re
import threading

import pytest
from django.db import connections

from dedupreview.digests import digest, timestamp
from dedupreview.people import audit
from dedupreview.people.accounts import PeopleError, add_person
from dedupreview.people.models import AuditEvent, Person, Role, new_person_code


@pytest.mark.django_db
def test_an_event_names_people_by_code_and_carries_its_digest():
    actor = Person.objects.create(username="chen", role=Role.ADMIN)
    audit.record(
        actor=actor, action="round.open", subject_type="round", subject_id=12, data={"pairs": 3}
    )
    event = AuditEvent.objects.get()
    fields = {
        "actor": actor.code,
        "action": "round.open",
        "subject_type": "round",
        "subject_id": "12",
        "data": {"pairs": 3},
        "created_at": timestamp(event.created_at),
    }
    assert event.digest == digest(fields)
    assert event.digest != digest({**fields, "data": {"pairs": 4}})
    assert "chen" not in str(fields)


@pytest.mark.django_db
def test_an_event_without_actor_is_possible_and_people_with_events_stay():
    from django.db.models import ProtectedError

    actor = Person.objects.create(username="chen")
    assert audit.record(actor=None, action="up").actor is None
    audit.record(actor=actor, action="login")
    with pytest.raises(ProtectedError):
        actor.delete()


def test_person_codes_are_readable_and_differ():
    codes = {new_person_code() for _ in range(500)}
    assert len(codes) == 500
    assert all(re.fullmatch(r"P-[2-9A-HJKMNP-Z]{6}", code) for code in codes)


@pytest.mark.django_db
def test_full_width_names_are_one_name():
    add_person(username="ＬＩ", role="annotator", password="x")
    with pytest.raises(PeopleError):
        add_person(username="LI", role="annotator", password="x")
    assert Person.objects.get().username == "LI"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "words"),
    [({"role": "king"}, "king"), ({"password": ""}, ""), ({"username": "a b"}, "a b"), ({"username": "x" * 151}, "")],
)  # fmt: skip
def test_what_does_not_fit_is_refused(change, words):
    with pytest.raises(PeopleError) as refusal:
        add_person(**{"username": "li", "role": "annotator", "password": "x", **change})
    assert words in str(refusal.value)
    assert not Person.objects.exists()
    assert not AuditEvent.objects.exists()


def test_two_at_once_make_one_person(postgres):
    barrier = threading.Barrier(4)
    results: list[str] = []

    def make():
        try:
            barrier.wait(20)
            add_person(username="li", role="annotator", password="x")
            results.append("made")
        except PeopleError:
            results.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(results) == ["made", "refused", "refused", "refused"]
    assert AuditEvent.objects.count() == 1
