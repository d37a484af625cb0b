"""What stands at a place of a text: words, names of bodies, lines. Each text is searched once, however often it is compared."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

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


Name = tuple[Fact, tuple[int, int]]
"""A body's name and its clean span."""


def _named(sheet: FactSheet, first: int, last: int) -> list[Name]:
    here = []
    for _, x, y in _names(sheet).found[first:last]:
        name = sheet.reading.text[x:y]
        here.append((Fact("body", name, *sheet.reading.raw_span(x, y), name), (x, y)))
    return here


def names_at(sheet: FactSheet, start: int, end: int) -> list[Name]:
    """Names of bodies that a stretch of the skeleton touches; around it where it is empty."""
    finds = _names(sheet)
    if not finds.found:
        return []
    a = sheet.clean_at(start)
    b = sheet.clean_at(end - 1) + 1 if end > start else a
    return _named(sheet, bisect_right(finds.ends, a), bisect_left(finds.starts, b))


def beside(
    sheet: FactSheet, place: int, others: list[Name], other: FactSheet, start: int, end: int
) -> list[Name]:
    """The name that ends or begins at an empty ``place``, where one of ``others`` grew beyond what was put in."""
    if not others or end <= start:
        return []
    (x, y), a, b = others[0][1], other.clean_at(start), other.clean_at(end - 1) + 1
    finds, at = _names(sheet), sheet.clean_at(place)
    if x < a and y <= b and place:
        at = sheet.clean_at(place - 1) + 1
        first = bisect_left(finds.ends, at)
        return _named(sheet, first, first + 1) if finds.ends[first : first + 1] == [at] else []
    if y > b and x >= a:
        first = bisect_left(finds.starts, at)
        return _named(sheet, first, first + 1) if finds.starts[first : first + 1] == [at] else []
    return []


_SENTENCE = re.compile("[\n。;；!！?？]")
_FULL_STOP = re.compile("[。;；!！?？]")
_NEAR = 10
"""Characters of the skeleton on each side of a fact that say what it speaks of."""
_FAR = 60
"""Characters of the clean text, marks and spaces among them, that are looked at for these at most."""


def _near(sheet: FactSheet, span: tuple[int, int], edge: re.Pattern[str]) -> tuple[str, str]:
    """What stands before and behind a clean span in its sentence, without spaces and marks."""
    text, (start, end) = sheet.reading.text, span
    p, q = sheet.place_of(start), sheet.place_of(end)
    floor = max(sheet.clean_at(max(0, p - _NEAR)), start - _FAR)
    marks = [mark.end() for mark in edge.finditer(text, floor, start)]
    top = min(sheet.clean_at(min(len(sheet.skeleton), q + _NEAR)), end + _FAR)
    mark = edge.search(text, end, top)
    before = sheet.skeleton[sheet.place_of(marks[-1] if marks else floor) : p]
    return before, sheet.skeleton[q : sheet.place_of(mark.start() if mark else top)]


def alike_around(
    left: FactSheet, one: tuple[int, int], right: FactSheet, other: tuple[int, int]
) -> float:
    """How alike the words around two clean spans are within their sentences, 0 to 1; 1 where there are none."""
    before, behind = _near(left, one, _SENTENCE)
    before_other, behind_other = _near(right, other, _SENTENCE)
    if not (before or behind) or not (before_other or behind_other):
        # a signature's date in a line of its own belongs to the line before it
        before, behind = _near(left, one, _FULL_STOP)
        before_other, behind_other = _near(right, other, _FULL_STOP)
    length = len(before) + len(behind) + len(before_other) + len(behind_other)
    if not length:
        return 1.0
    common = LCSseq.similarity(before, before_other) + LCSseq.similarity(behind, behind_other)
    return 2 * common / length


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
