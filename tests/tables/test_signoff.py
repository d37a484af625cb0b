"""Signatures under the stages of a round."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dedupreview.people.models import AuditEvent, Person
from reviews.models import SignOff
from reviews.tables import blockers, sign_off, verify_table
from reviews.tables.errors import TableError
from reviews.tables.signoff import WRONG_PASSWORDS
from tests.reviews import world as worlds
from tests.tables import making

PASSWORD = "correct horse"


def with_password(person: Person) -> Person:
    person.set_password(PASSWORD)
    person.save()
    return person


def sign(round: Any, stage: str, person: Person, **changes: str) -> SignOff:
    given = {"password": PASSWORD, "meaning": "本人确认标注完成"} | changes
    return sign_off(round=round, stage=stage, person=with_password(person), **given)


def sign_everything(made: worlds.World) -> None:
    sign(made.round, "annotation", made.annotators[0])
    sign(made.round, "arbitration", made.arbitrators[0])
    sign(made.round, "final", made.admin)


@pytest.mark.django_db
def test_three_stages_are_signed_and_stand_in_the_table(data_dir: Path) -> None:
    made = making.finished()
    sign_everything(made)
    folder = making.exported(made.round)
    rows = [json.loads(line) for line in (folder / "sign_offs.jsonl").open(encoding="utf-8")]
    assert [row["stage"] for row in rows] == ["annotation", "arbitration", "final"]
    assert all(row["current"] for row in rows)
    assert rows[2]["person"] == made.admin.code
    assert rows[0]["signed_digest"] != rows[1]["signed_digest"] == rows[2]["signed_digest"]
    assert verify_table(folder).ok
    assert AuditEvent.objects.filter(action="round.sign_off").count() == 3


@pytest.mark.django_db
def test_open_items_and_conflicts_block_with_a_list(data_dir: Path) -> None:
    made = worlds.world(3, annotators=2)
    first, second = made.annotators
    making.answer(made.round, first, "copy")
    making.answer(made.round, second, "citation")
    making.answer(made.round, first, "copy")
    with pytest.raises(TableError) as refused:
        sign(made.round, "final", made.admin)
    assert refused.value.code == "blocked"
    reasons = refused.value.reasons()
    assert len(reasons) == 4
    for item in made.round.items.all():
        assert any(str(item.pk) in reason for reason in reasons[1:])
    assert len(blockers(round=made.round, stage="annotation")) == 2
    assert SignOff.objects.count() == 0


@pytest.mark.django_db
def test_a_long_list_is_cut_and_counted(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviews.tables.signoff.LISTED", 2)
    made = worlds.world(5)
    found = blockers(round=made.round, stage="annotation")
    assert len(found) == 3
    assert found[-1][1] == {"count": 3}


@pytest.mark.django_db
def test_stages_come_in_order(data_dir: Path) -> None:
    made = making.finished(1)
    with pytest.raises(TableError) as refused:
        sign(made.round, "arbitration", made.arbitrators[0])
    assert refused.value.code == "blocked"
    sign(made.round, "annotation", made.annotators[0])
    assert sign(made.round, "arbitration", made.arbitrators[0]).stage == "arbitration"


@pytest.mark.django_db
def test_a_wrong_password_signs_nothing_and_too_many_wait(data_dir: Path) -> None:
    made = making.finished(1)
    signer = made.annotators[0]
    for _try in range(WRONG_PASSWORDS):
        with pytest.raises(TableError) as refused:
            sign(made.round, "annotation", signer, password="wrong")
        assert refused.value.code == "password"
    with pytest.raises(TableError) as locked:
        sign(made.round, "annotation", signer)
    assert locked.value.code == "locked"
    assert SignOff.objects.count() == 0
    assert sign(made.round, "annotation", made.annotators[1])


@pytest.mark.django_db
def test_only_those_concerned_sign(data_dir: Path) -> None:
    made = making.finished(1)
    refused = [
        ("annotation", made.arbitrators[0]),
        ("arbitration", made.annotators[0]),
        ("final", made.annotators[0]),
        ("final", made.arbitrators[0]),
        ("annotation", worlds.person("somebody")),
    ]
    for stage, person in refused:
        with pytest.raises(TableError) as error:
            sign(made.round, stage, person)
        assert error.value.code == "forbidden", (stage, person)
    for stage, meaning, code in (("later", "x", "stage"), ("annotation", " \n", "meaning")):
        with pytest.raises(TableError) as error:
            sign(made.round, stage, made.admin, meaning=meaning)
        assert error.value.code == code


@pytest.mark.django_db
def test_a_signature_over_other_records_is_not_current(data_dir: Path) -> None:
    made = making.finished()
    sign_everything(made)
    decided = made.round.items.filter(closed_by="arbitration").first()
    assert decided is not None
    from uuid import uuid4

    from reviews import arbitration

    arbitration.decide(
        id=uuid4(),
        item=decided,
        person=made.arbitrators[0],
        label="template",
        reason="重新核对后更正",
        revision=decided.revision,
    )
    folder = making.exported(made.round)
    rows = [json.loads(line) for line in (folder / "sign_offs.jsonl").open(encoding="utf-8")]
    assert [row["current"] for row in rows] == [True, False, False]
    assert verify_table(folder).ok
