"""A record changed in the database behind the application's back is found."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from django.db import connection

from dedupreview import insert_only
from reviews.models import Arbitration, Judgment
from reviews.tables import TableError, verify_chain
from tests.tables import making


def tamper(statement: str, *params: str | int | uuid.UUID) -> None:
    """What somebody with the database file could do: take the triggers off first."""
    insert_only.remove()
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
    insert_only.install()


@pytest.mark.django_db
def test_untouched_records_are_fine(data_dir: Path) -> None:
    made = making.finished()
    making.exported(made.round)
    report = verify_chain(round=made.round)
    assert report.ok
    assert report.tables == 1
    assert report.records == Judgment.objects.count() + 2 * Arbitration.objects.count()


@pytest.mark.django_db
def test_a_changed_record_is_named(data_dir: Path) -> None:
    made = making.finished()
    making.exported(made.round)
    judgment = Judgment.objects.filter(label="template").first()
    assert judgment is not None
    key = judgment.pk.hex if connection.vendor == "sqlite" else judgment.pk
    tamper("UPDATE reviews_judgment SET label = 'copy' WHERE id = %s", key)
    report = verify_chain(round=made.round)
    assert [fault.code for fault in report.faults] == ["record_changed"]
    assert str(judgment.pk) in str(report.faults[0])


@pytest.mark.django_db
def test_a_removed_record_is_missed_by_the_tables_that_had_it(data_dir: Path) -> None:
    made = making.finished()
    making.exported(made.round)
    gone = Arbitration.objects.first()
    assert gone is not None
    key = gone.pk.hex if connection.vendor == "sqlite" else gone.pk
    tamper("DELETE FROM reviews_arbitration WHERE id = %s", key)
    report = verify_chain(round=made.round)
    assert [fault.code for fault in report.faults] == ["record_missing"]
    assert gone.digest in str(report.faults[0])


@pytest.mark.django_db
def test_a_record_changed_together_with_its_digest_is_missed_too(data_dir: Path) -> None:
    from reviews.records import seal

    made = making.finished()
    making.exported(made.round)
    judgment = Judgment.objects.filter(label="template").first()
    assert judgment is not None
    judgment.label = "copy"
    seal(judgment)
    key = judgment.pk.hex if connection.vendor == "sqlite" else judgment.pk
    tamper(
        "UPDATE reviews_judgment SET label = 'copy', digest = %s WHERE id = %s",
        *(judgment.digest, key),
    )
    report = verify_chain(round=made.round)
    assert [fault.code for fault in report.faults] == ["record_missing"]


@pytest.mark.django_db
def test_nothing_is_signed_over_a_changed_record(data_dir: Path) -> None:
    made = making.finished()
    judgment = Judgment.objects.filter(label="template").first()
    assert judgment is not None
    key = judgment.pk.hex if connection.vendor == "sqlite" else judgment.pk
    tamper("UPDATE reviews_judgment SET label = 'copy' WHERE id = %s", key)
    with pytest.raises(TableError) as refused:
        making.exported(made.round)
    assert str(judgment.pk) in str(refused.value)


@pytest.mark.django_db
def test_nothing_is_signed_over_a_changed_text(data_dir: Path) -> None:
    made = making.finished()
    document = made.round.items.first().pair.low
    type(document).objects.filter(pk=document.pk).update(raw=document.raw + "。")
    with pytest.raises(TableError) as refused:
        making.exported(made.round)
    assert document.doc_id in str(refused.value)
