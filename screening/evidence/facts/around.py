"""What stands at a place of a text: words, names of bodies, lines. Each text is searched once, however often it is compared."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from .model import Fact, FactSheet
from .references import bodies
from .wording import Word, any_wording


class _Finds(NamedTuple):
    """What a search of a whole clean text found, in order and without overlap, with the clean spans."""

    found: list[tuple[Word, int, int]]
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, found: list[tuple[Word, int, int]]) -> _Finds:
        return cls(found, [x for _, x, _ in found], [y for _, _, y in found])


_BODY = Word("body", "")


def _words(sheet: FactSheet) -> _Finds:
    finds: _Finds | None = sheet.known.get("words")
    if finds is None:
        finds = sheet.known["words"] = _Finds.of(any_wording(sheet.reading.text))
    return finds


def _names(sheet: FactSheet) -> _Finds:
    finds: _Finds | None = sheet.known.get("names")
    if finds is None:
        spans = bodies(sheet.reading.text)
        finds = sheet.known["names"] = _Finds.of([(_BODY, x, y) for x, y in spans])
    return finds


def words_at(sheet: FactSheet, start: int, end: int) -> list[tuple[Fact, str]]:
    """Words in a stretch of the skeleton, or beside it where it is empty, with their surface."""
    finds = _words(sheet)
    a = sheet.clean_at(start)
    if end > start:
        b = sheet.clean_at(end - 1) + 1
        first, last = bisect_right(finds.ends, a), bisect_left(finds.starts, b)
    else:
        first, last = bisect_left(finds.ends, a), bisect_right(finds.starts, a)
    here = []
    for word, x, y in finds.found[first:last]:
        raw = sheet.reading.raw_span(x, y)
        fact = Fact(word.kind, word.key, *raw, word.key, "", False, word.negative, word.weak)
        here.append((fact, sheet.reading.text[x:y]))
    return here


def names_at(sheet: FactSheet, start: int, end: int) -> list[Fact]:
    """Names of bodies that a stretch of the skeleton touches; around it where it is empty."""
    finds = _names(sheet)
    if not finds.found:
        return []
    a = sheet.clean_at(start)
    b = sheet.clean_at(end - 1) + 1 if end > start else a
    here = []
    for _, x, y in finds.found[bisect_right(finds.ends, a) : bisect_left(finds.starts, b)]:
        name = sheet.reading.text[x:y]
        here.append(Fact("body", name, *sheet.reading.raw_span(x, y), name))
    return here


def own_lines(sheet: FactSheet, start: int, end: int) -> bool:
    """Whether a stretch of the skeleton spans lines or fills one: a head, a foot, a heading of its own."""
    text = sheet.reading.text
    a, last = sheet.clean_at(start), sheet.clean_at(end - 1)
    if text.find("\n", a, last) >= 0:
        return True
    if start <= 0:
        return False
    b = sheet.clean_at(end)
    if b < len(text) and text.find("\n", last + 1, b + 1) < 0:
        return False
    return a == 0 or text.find("\n", sheet.clean_at(start - 1) + 1, a) >= 0
