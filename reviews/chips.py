"""Small things that a reader of a pair is told at once: readable beginnings, counted-on articles, which text is older."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from screening.evidence.diff.words import tokenizer
from screening.evidence.facts import FactChange
from screening.models import Document
from screening.names import FACT_NAMES

LAST = {"body": 1, "article_number": 2}
"""Kinds that decide least come last: an article put in near the front renumbers a hundred others."""
PLACES_GIVEN = 300
"""Places through which a chip leads; nobody presses it more often, and the page stays small."""
QUOTE = 40
"""Characters of a passage that its chip shows."""
_AHEAD = 24
"""Characters within which a passage that begins inside a sentence may begin anew for its chip."""
_STOP = re.compile(r"[。！？；：，、\n\r]\s*|(?<=条)\s")
_FRESH = frozenset("。！？；\n\r")
_OPENING = frozenset("《“‘「『〔（【(\"'[<¥￥$€£-+")
_HEAD = re.compile(r"^[\s#*>（(]*$")
_RULE = re.compile(
    r"(?:第[\d零〇一二三四五六七八九十百千两]+(?:[编章节条款项目]|之[一二三四五六七八九十])+)+"
)
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?![\d.])")


@dataclass(frozen=True)
class Fact:
    """A fact change as shown, with every place where it occurs.

    ``places`` are code points of the canonical left and right raw text: (left start, left end, right start, right end).
    """

    kind: str
    name: str
    first: str
    last: str
    places: tuple[tuple[int | None, int | None, int | None, int | None], ...]
    shifted: bool = False
    """One entry for all places of its kind, without their words, such as articles that merely count on."""

    @property
    def spots(self) -> str:
        """The places for the page's script: four numbers with commas, empty for none, places with semicolons."""
        return ";".join(
            ",".join("" if n is None else str(n) for n in place)
            for place in self.places[:PLACES_GIVEN]
        )


def in_order(first: Any, last: Any, sides: str) -> Any:
    """Two things of the canonical sides in the order in which ``sides`` shows them."""
    return (first, last) if sides == "lr" else (last, first)


def facts_listed(changes: Sequence[FactChange], left: str, right: str, sides: str) -> list[Fact]:
    """The fact changes, what decides most first; one that recurs with the same words is one entry with its places."""
    places: dict[tuple[str, str, str], list[Any]] = {}
    shifted = shifts(changes, left, right)
    folded = set(shifted)
    for change in changes:
        if change in folded:
            continue
        one = _surface(left, change.left_start, change.left_end, change.left)
        other = _surface(right, change.right_start, change.right_end, change.right)
        spot = (change.left_start, change.left_end, change.right_start, change.right_end)
        places.setdefault((change.kind, *in_order(one, other, sides)), []).append(spot)
    facts = [
        Fact(kind, _name(kind, first, last), first, last, tuple(spots))
        for (kind, first, last), spots in places.items()
    ]
    if shifted:
        spots = tuple((c.left_start, c.left_end, c.right_start, c.right_end) for c in shifted)
        facts.append(Fact("article_number", str(_("Articles renumbered")), "", "", spots, True))
    return sorted(facts, key=lambda fact: (fact.shifted, LAST.get(fact.kind, 0)))


def _name(kind: str, first: str, last: str) -> str:
    """What a fact is called; a rule that only one side refers to is no number in an editor's eyes."""
    if kind == "number" and any(_RULE.fullmatch(words) for words in (first, last)):
        kind = "article_number"
    return str(FACT_NAMES.get(kind, kind))


def _surface(raw: str, start: int | None, end: int | None, value: str | None) -> str:
    """The fact as the text writes it: an editor looks for the words, not for our canonical value."""
    if start is None or end is None:
        return value or ""
    text = " ".join(raw[start:end].split())
    return text if len(text) <= 40 else text[:39] + "…"


def quote(raw: str, start: int, end: int) -> str:
    """The beginning of ``raw[start:end]`` for a chip: from a sentence, clause or word on, without marks before it.

    For showing only; the passage itself keeps its offsets.
    """
    at = start
    if start and raw[start - 1] not in _FRESH:
        found = _STOP.search(raw, start, min(end, start + _AHEAD))
        at = found.end() if found and found.end() < end else _word(raw, start, end)
    while at < end and not (raw[at].isalnum() or raw[at] in _OPENING):
        at += 1
    # Brackets of a link or a tag are no opening that a reader knows.
    while at + 1 < end and raw[at] in "[<-" and not raw[at + 1].isdigit():
        at += 1
    if at >= end:
        at = start
    text = (
        " ".join(raw[at : at + QUOTE].split())
        if end - at > QUOTE
        else " ".join(raw[at:end].split())
    )
    return text + ("…" if end - at > QUOTE else "")


def _word(raw: str, start: int, end: int) -> int:
    """The first place from ``start`` on where a word begins."""
    at = max(0, start - 8)
    for word in tokenizer().cut(raw[at : start + 8], HMM=False):
        if at >= start:
            return min(at, end)
        at += len(word)
    return start


def shifts(changes: Sequence[FactChange], left: str, right: str) -> tuple[FactChange, ...]:
    """Changes of article numbers that only count on: headings, and references that follow their article.

    A reference that goes elsewhere than its article went is another rule, and not among them. Where neither text has
    headings, nothing is; one change alone is shown as it is.
    """
    numbers = [change for change in changes if change.kind == "article_number"]
    heads = {
        (change.left, change.right)
        for change in numbers
        if _heads_line(left, change.left_start) and _heads_line(right, change.right_start)
    }
    moved = {_article(one or ""): _article(other or "") for one, other in heads}
    found = tuple(
        change
        for change in numbers
        if change.left is not None
        and change.right is not None
        and (
            (change.left, change.right) in heads
            or (
                moved.get(_article(change.left)) == _article(change.right)
                and _rest(change.left) == _rest(change.right)
            )
        )
    )
    return found if len(found) > 1 else ()


def _article(value: str) -> str:
    return value.partition("条")[0]


def _rest(value: str) -> str:
    return value.partition("条")[2]


def _heads_line(raw: str, start: int | None) -> bool:
    if start is None:
        return False
    line = max(raw.rfind("\n", 0, start), raw.rfind("\r", 0, start)) + 1
    return start - line < 12 and bool(_HEAD.match(raw[line:start]))


def earlier(left: Document, right: Document) -> str:
    """``left`` or ``right``: which canonical side says of itself that it is older; empty where they do not say."""
    one, other = _said(left), _said(right)
    shared = min(len(one), len(other))
    if not shared or one[:shared] == other[:shared]:
        return ""
    return "left" if one < other else "right"


def _said(document: Document) -> str:
    """The day of publication, or a version that is a date; never when somebody captured it."""
    for value in (document.metadata.get("published_on"), document.version):
        found = _DAY.match(str(value or ""))
        if found:
            return found[0]
    return ""
