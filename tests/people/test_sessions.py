"""Sessions and keys end when a person or an admin says so."""

from __future__ import annotations

import pytest
from django.test import Client

from dedupreview.people import sessions, tokens
from dedupreview.people.models import AuditEvent, Person, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def someone() -> Person:
    return Person.objects.create(username="someone")


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_signing_out_everywhere_ends_sessions_and_keys(someone):
    here, there = signed_in(someone), signed_in(someone)
    stranger = signed_in(Person.objects.create(username="other"))
    key = tokens.issue(person=someone)
    assert here.post("/keys/", {"act": "sign_out"}).status_code == 302
    assert here.get("/").status_code == 200
    assert there.get("/").status_code == 302
    assert stranger.get("/").status_code == 200
    assert tokens.person_of(key) is None
    assert AuditEvent.objects.filter(action="person.signed_out").get().data == {
        "sessions": 1,
        "keys": 1,
    }


def test_one_key_is_revoked_and_the_other_stays(someone):
    first, second = tokens.issue(person=someone), tokens.issue(person=someone)
    client = signed_in(someone)
    token = tokens.live_of(someone).last()
    assert first not in client.get("/keys/").content.decode()
    client.post("/keys/", {"act": "revoke", "key": token.pk})
    assert tokens.person_of(first) is None
    assert tokens.person_of(second) == someone
    assert client.post("/keys/", {"act": "revoke", "key": token.pk}).status_code == 404


def test_nobody_revokes_the_keys_of_others_but_an_admin(someone):
    key = tokens.issue(person=someone)
    token = tokens.live_of(someone).get()
    other = signed_in(Person.objects.create(username="other"))
    assert other.post("/keys/", {"act": "revoke", "key": token.pk}).status_code == 404
    assert other.post(f"/people/{someone.pk}/keys/", {"act": "sign_out"}).status_code == 404
    assert tokens.person_of(key) == someone
    theirs = signed_in(someone)
    admin = signed_in(Person.objects.create(username="admin", role=Role.ADMIN))
    admin.post(f"/people/{someone.pk}/keys/", {"act": "sign_out"})
    assert tokens.person_of(key) is None
    assert theirs.get("/").status_code == 302
    assert admin.get("/").status_code == 200
    assert sessions.sessions_of(someone) == []
