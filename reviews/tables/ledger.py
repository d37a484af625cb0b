"""Checking the records in the database itself, against their digests and against the tables made from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

from reviews.models import ReviewRound, ReviewTable, SignOff
from reviews.records import Record, is_intact, record_fields
from reviews.tables import reading
from reviews.tables.exporting import table_folder
from reviews.tables.verify import Fault


@dataclass
class LedgerReport:
    """``records`` were checked against ``tables`` earlier tables."""

    records: int
    tables: int
    faults: tuple[Fault, ...]

    @property
    def ok(self) -> bool:
        return not self.faults


def verify_chain(*, round: ReviewRound) -> LedgerReport:
    """Find records of ``round`` that were changed or removed behind the application's back.

    Every record must match its own digest, and every record of every finished table must still be there with the digest
    it had then.
    """
    faults: list[Fault] = []
    known: set[str] = set()
    for record in _records(round):
        if not is_intact(record):
            params = {"kind": record_fields(record)["record"], "id": str(record.pk)}
            faults.append(
                Fault(
                    "record_changed", _("The %(kind)s %(id)s was changed in the database."), params
                )
            )
        known.add(record.digest)
    done = ReviewTable.objects.filter(round=round, state=ReviewTable.State.DONE).order_by("number")
    for table in done:
        faults += _gone(table, known)
    return LedgerReport(len(known), len(done), tuple(faults))


def _records(round: ReviewRound) -> Iterator[Record]:
    for entry in reading.walk(round, "default"):
        yield from entry.records()
    yield from SignOff.objects.filter(round=round).select_related("person").order_by("id")


def _gone(table: ReviewTable, known: set[str]) -> Iterator[Fault]:
    path = table_folder(table) / "records.jsonl"
    params: dict[str, object] = {"table": table.number}
    try:
        with path.open("rb") as file:
            for line in file:
                row = json.loads(line)
                if row["digest"] not in known:
                    gone = params | {"digest": row["digest"]}
                    yield Fault(
                        "record_missing",
                        _("A record of table %(table)s is no longer in the database: %(digest)s"),
                        gone,
                    )
    except (OSError, ValueError, KeyError, TypeError):
        yield Fault("table_unreadable", _("The files of table %(table)s cannot be read."), params)
