"""Counts over the closed items of a round, kept in blocks below the data directory.

A closed item is never opened again and its first judgments never change. A block of items is therefore counted anew only
when more of it is closed than before, and what a round of a million pairs costs is counting the blocks that moved. The
files can be deleted at any time; nothing but counts of closed items is in them.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Max
from django.utils import timezone

from reviews.models import Judgment, ReviewItem, ReviewRound, ReviewSlot, RoundMember
from screening.models import Candidate

BLOCK = 50_000
"""Positions of a round that are counted together."""
MOST_NAMED = 12
"""With more annotators patterns are kept without names: there would be nearly as many as items."""
LONGEST_MS = 30 * 60 * 1000
"""A judgment that took longer than half an hour was interrupted: it says nothing about the work."""
QUARTER = 900
"""Seconds: no time zone's day begins within a quarter of an hour."""
SWEEP_SECONDS = 60
SWEPT_AT_ONCE = 4
FORM = 1
"""Of the files; another form is counted anew."""

Answer = tuple[str, str, str]
"""(person's key or "", label, direction) of one judgment."""
Pattern = tuple[Answer, ...]


@dataclass(frozen=True)
class Tally:
    """Counted first judgments of closed items.

    ``patterns``: answers to an item → items. ``tenths``: (person, tenths of a second) → judgments with a usable time.
    ``quarters``: quarter of an hour since 1970 → items closed in it. ``suggestions``: (first seat's label, suggestion of
    the run) → items closed by agreement. ``people``: person → judgments.
    """

    patterns: Counter[Pattern] = field(default_factory=Counter)
    tenths: Counter[tuple[int, int]] = field(default_factory=Counter)
    quarters: Counter[int] = field(default_factory=Counter)
    suggestions: Counter[tuple[str, str]] = field(default_factory=Counter)
    people: Counter[int] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        for name in NAMES:
            mine, theirs = getattr(self, name), getattr(other, name)
            for key, number in theirs.items():
                mine[key] += number

    def closed_by_day(self) -> list[tuple[str, int]]:
        """(day in the server's time zone, items closed until its end)."""
        zone = timezone.get_default_timezone()
        days: Counter[str] = Counter()
        for quarter, number in self.quarters.items():
            days[datetime.fromtimestamp(quarter * QUARTER, zone).date().isoformat()] += number
        total, found = 0, []
        for day in sorted(days):
            total += days[day]
            found.append((day, total))
        return found


NAMES = ("patterns", "tenths", "quarters", "suggestions", "people")


def tally_of(round: ReviewRound) -> Tally:
    """The counts of a round as it stands: blocks in which nothing was closed since are read, the others counted."""
    whole = Tally()
    named = _named(round)
    for block in range(_blocks(round)):
        closed = _closed(round, block).count()
        if closed:
            whole.add(_kept(round, block, closed, named=named))
    return whole


_next_sweep = 0.0
_swept: dict[tuple[int, int, bool], int] = {}
"""(round, block, named) → items that were closed when the block was last looked at here."""


def sweep() -> int:
    """Count beforehand what has been closed, so that no reader waits for it; 0, as nothing is put back.

    Looks once a minute, and counts few blocks at a time: other sweeps have their turn in between.
    """
    global _next_sweep
    if time.monotonic() < _next_sweep:
        return 0
    turns = SWEPT_AT_ONCE
    for round in ReviewRound.objects.all():
        named = _named(round)
        for block in range(_blocks(round)):
            closed = _closed(round, block).count()
            if not closed or _swept.get((round.pk, block, named)) == closed:
                continue
            if not turns:
                return 0
            turns -= 1
            _kept(round, block, closed, named=named)
            _swept[round.pk, block, named] = closed
    _next_sweep = time.monotonic() + SWEEP_SECONDS
    return 0


def _named(round: ReviewRound) -> bool:
    annotators = round.members.filter(part=RoundMember.Part.ANNOTATOR)
    return annotators.count() <= MOST_NAMED


def _blocks(round: ReviewRound) -> int:
    last = round.items.aggregate(last=Max("position"))["last"]
    return 0 if last is None else int(last) // BLOCK + 1


def _closed(round: ReviewRound, block: int) -> Any:
    within = (block * BLOCK, (block + 1) * BLOCK - 1)
    return round.items.filter(state=ReviewItem.State.CLOSED, position__range=within)


# --- Files ------------------------------------------------------------------------------------------------------------


def _kept(round: ReviewRound, block: int, closed: int, *, named: bool) -> Tally:
    # The moment of creation tells rounds of two databases apart that bear one number.
    folder = Path(settings.DATA_DIR) / "cache" / "tallies"
    path = folder / f"{round.pk}-{round.created_at.timestamp():.6f}" / f"{block}.json"
    state = [FORM, closed, int(named)]
    found = _read(path, state)
    if found is None:
        found = _count(round, block, named=named)
        # Without the file the next reader counts again; that is no reason to show nothing.
        with contextlib.suppress(OSError):
            _write(path, state, found)
    return found


def _read(path: Path, state: list[int]) -> Tally | None:
    """The counts in a file, if they are those of this state; None if not, or if there is no such file."""
    try:
        record = json.loads(path.read_text("utf-8"))
        if record["state"] != state:
            return None
        return Tally(
            Counter({tuple(map(tuple, key)): n for key, n in record["patterns"]}),
            Counter({(person, tenth): n for person, tenth, n in record["tenths"]}),
            Counter(dict(record["quarters"])),
            Counter({(label, said): n for label, said, n in record["suggestions"]}),
            Counter(dict(record["people"])),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, state: list[int], tally: Tally) -> None:
    record = {
        "state": state,
        "patterns": [[key, n] for key, n in tally.patterns.items()],
        "tenths": [[*key, n] for key, n in tally.tenths.items()],
        "quarters": [[key, n] for key, n in tally.quarters.items()],
        "suggestions": [[*key, n] for key, n in tally.suggestions.items()],
        "people": [[key, n] for key, n in tally.people.items()],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(record, file, separators=(",", ":"))
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


# --- Counting ---------------------------------------------------------------------------------------------------------

TABLES = {
    "judgment": Judgment._meta.db_table,
    "item": ReviewItem._meta.db_table,
    "slot": ReviewSlot._meta.db_table,
    "candidate": Candidate._meta.db_table,
}
ITEMS = "i.round_id = %s AND i.state = 'closed' AND i.position BETWEEN %s AND %s"
FIRST = "j.counted AND j.version = 1"


def _count(round: ReviewRound, block: int, *, named: bool) -> Tally:
    """Count one block in the database: what comes back is counts, not rows."""
    within = [round.pk, block * BLOCK, (block + 1) * BLOCK - 1]
    patterns: Counter[Pattern] = Counter()
    for text, number in _rows(_patterns_query(named=named), within):
        patterns[_pattern(text)] += number
    people: Counter[int] = Counter()
    tenths: Counter[tuple[int, int]] = Counter()
    for person, tenth, number in _rows(_times_query(), within):
        people[person] += number
        if tenth is not None and 0 < tenth <= LONGEST_MS // 100:
            tenths[person, tenth] += number
    return Tally(
        patterns,
        tenths,
        Counter({int(quarter): n for quarter, n in _rows(_quarters_query(), within)}),
        Counter({(label, said): n for label, said, n in _rows(_suggestions_query(), within)}),
        people,
    )


def _rows(query: str, within: list[int]) -> Iterable[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, within)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _pattern(text: str) -> Pattern:
    """ "person:label:direction,…" in one order, whatever the database's."""
    answers: list[Answer] = []
    for seat in text.split(","):
        person, label, direction = seat.split(":")
        answers.append((person, label, direction))
    return tuple(sorted(answers))


def _patterns_query(*, named: bool) -> str:
    person = "j.annotator_id" if named else "''"
    seat = f"{person} || ':' || j.label || ':' || j.direction"
    joined = (
        f"string_agg({seat}, ',')"
        if connection.vendor == "postgresql"
        else f"group_concat({seat}, ',')"
    )
    return f"""SELECT pattern, COUNT(*) FROM (
            SELECT {joined} AS pattern
            FROM {TABLES["item"]} i JOIN {TABLES["judgment"]} j ON j.item_id = i.id
            WHERE {ITEMS} AND {FIRST} GROUP BY i.id
        ) AS of_items GROUP BY pattern"""


def _times_query() -> str:
    return f"""SELECT j.annotator_id, j.active_ms / 100 AS tenth, COUNT(*)
        FROM {TABLES["item"]} i JOIN {TABLES["judgment"]} j ON j.item_id = i.id
        WHERE {ITEMS} AND {FIRST} GROUP BY j.annotator_id, tenth"""


def _quarters_query() -> str:
    quarter = (
        f"floor(extract(epoch FROM i.closed_at) / {QUARTER})"
        if connection.vendor == "postgresql"
        else f"CAST(strftime('%%s', i.closed_at) AS integer) / {QUARTER}"
    )
    return f"""SELECT {quarter} AS quarter, COUNT(*)
        FROM {TABLES["item"]} i WHERE {ITEMS} GROUP BY quarter"""


def _suggestions_query() -> str:
    return f"""SELECT j.label, c.suggestion, COUNT(*)
        FROM {TABLES["item"]} i JOIN {TABLES["judgment"]} j ON j.item_id = i.id
        JOIN {TABLES["slot"]} s ON s.id = j.slot_id JOIN {TABLES["candidate"]} c ON c.id = i.candidate_id
        WHERE {ITEMS} AND i.closed_by = 'agreement' AND s.number = 1 AND {FIRST} GROUP BY j.label, c.suggestion"""
