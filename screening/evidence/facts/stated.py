"""Dates that a text states about itself in its head: passed, published, amended, in force.

They stand in lines of their own, which a re-captured copy may have more or fewer of, so the comparison by common
context rightly passes over them. What two texts both state is compared here: 施行 on both sides with another date is
the difference that an editor looks for first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest

from .model import Fact, FactSheet

_HEAD = 900
"""Characters within which a text speaks about itself."""
_LINE = 160
_ACTS = re.compile("通过|施行|生效|公布|发布|修正|修订|印发|废止")


@dataclass(frozen=True, slots=True)
class Stated:
    """``by_act``: dates that stand first in a line in which an act follows; ``all``: every date of the head."""

    by_act: dict[str, list[Fact]]
    all: frozenset[str]


def stated_dates(sheet: FactSheet) -> Stated:
    """What the head of a text says of its own dates, in the order of the text."""
    if "stated" not in sheet.known:
        sheet.known["stated"] = _read(sheet)
    stated: Stated = sheet.known["stated"]
    return stated


def _read(sheet: FactSheet) -> Stated:
    text = sheet.reading.text
    by_act: dict[str, list[Fact]] = {}
    everything = set()
    for fact, (start, end) in zip(sheet.facts, sheet.spans, strict=True):
        if start >= _HEAD:
            break
        if fact.kind != "date":
            continue
        everything.add(fact.key)
        if text[:start].rstrip(" (").rpartition("\n")[2].strip():
            continue
        acts = _ACTS.findall(text[end : end + _LINE].partition("\n")[0])
        if acts:
            by_act.setdefault(acts[-1], []).append(fact)
    return Stated(by_act, frozenset(everything))


def differing(left: Stated, right: Stated) -> list[tuple[Fact | None, Fact | None]]:
    """Dates of an act that both texts state, but that the other head does not hold at all; in their order."""
    pairs: list[tuple[Fact | None, Fact | None]] = []
    for act in sorted(left.by_act.keys() & right.by_act.keys()):
        pairs.extend(
            zip_longest(
                [fact for fact in left.by_act[act] if fact.key not in right.all],
                [fact for fact in right.by_act[act] if fact.key not in left.all],
            )
        )
    return pairs
