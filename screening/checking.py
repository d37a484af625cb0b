"""The records of self-checks in the data directory: the last one, and the last one that a person accepted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from screening.selfcheck import Drift, WayRecord, drifts
from screening.writing import write_lines

LAST, ACCEPTED = "last.json", "accepted.json"


@dataclass(frozen=True, slots=True)
class Check:
    """What the page shows: the last record, whether there is an accepted one, and what differs between the two."""

    ways: list[WayRecord]
    has_accepted: bool
    drifts: list[Drift]


def folder() -> Path:
    """Where the records lie."""
    return Path(settings.DATA_DIR) / "selfcheck"


def read(name: str) -> list[WayRecord] | None:
    """A record; None where there is none or it cannot be read."""
    try:
        rows = json.loads((folder() / name).read_text("utf-8"))
        return [WayRecord.from_dict(row) for row in rows]
    except (OSError, ValueError, TypeError):
        return None


def write(name: str, records: Sequence[WayRecord]) -> None:
    """Replace a record."""
    folder().mkdir(parents=True, exist_ok=True)
    text = json.dumps([record.to_dict() for record in records], ensure_ascii=False, indent=1)
    write_lines(folder() / name, [text])


def last_check() -> Check | None:
    """The last self-check beside the accepted one; None where none was ever run."""
    now = read(LAST)
    if now is None:
        return None
    accepted = read(ACCEPTED)
    return Check(now, accepted is not None, drifts(accepted or [], now))
