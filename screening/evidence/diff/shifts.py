"""Articles that only count on: where one was put in, the numbers behind it are not what a reader looks for."""

from __future__ import annotations

import re
from bisect import bisect_right

from .pieces import Piece
from .rows import Group
from .sides import NUMERAL, SideText

_REFERENCE = re.compile(rf"第[ \u3000]?{NUMERAL}{{1,7}}[ \u3000]?[条章节](?:之{NUMERAL}{{1,3}})?")
_HEAD = re.compile(
    rf"[\s#*>]*(?P<number>{_REFERENCE.pattern}|[（(]{NUMERAL}{{1,3}}[）)]|{NUMERAL}{{1,3}}[、.．](?!\d))"
)
Span = tuple[int, int]


class _Numbers:
    """The article numbers of one raw text, in order, to be found by place."""

    def __init__(self, raw: str) -> None:
        self.spans = [match.span() for match in _REFERENCE.finditer(raw)]
        self.starts = [start for start, _ in self.spans]

    def around(self, start: int, end: int) -> Span | None:
        """The number that [start, end) lies in; an empty range must lie inside it."""
        at = bisect_right(self.starts, start) - 1
        if at < 0:
            return None
        span = self.spans[at]
        inside = span[0] < start < span[1] if start == end else end <= span[1]
        return span if inside else None


def _head(side: SideText, first: int, last: int) -> Span | None:
    """The number at the head of the one paragraph ``[first, last)``."""
    if last - first != 1:
        return None
    start, end = side.paragraphs[first]
    found = _HEAD.match(side.raw, start, end)
    return found.span("number") if found else None


def _plain(raw: str, span: Span) -> str:
    return "".join(raw[slice(*span)].split())


def mark_shifts(
    left: SideText, right: SideText, groups: list[Group], rows: list[list[Piece]]
) -> None:
    """Take numbers that only count on out of what differs: heads of paragraphs that stand side by side, and references
    that follow their article. A reference to another article than before stays a difference.
    """
    heads = [
        (_head(left, group.p0, group.p1), _head(right, group.q0, group.q1)) for group in groups
    ]
    moved: dict[str, str] = {}
    for one, other in heads:
        if one and other:
            number, becomes = _plain(left.raw, one), _plain(right.raw, other)
            # A number that two articles bear (in two parts of one text) says nothing about references.
            moved[number] = becomes if moved.get(number, becomes) == becomes else ""
    if all(number == becomes for number, becomes in moved.items()):
        return
    mine, theirs = _Numbers(left.raw), _Numbers(right.raw)
    for pieces, (one, other) in zip(rows, heads, strict=True):
        for piece in pieces:
            if piece.op != "different" or piece.left_parts or piece.right_parts:
                continue
            if (one and other and _within(piece, one, other)) or _follows(
                piece, mine, theirs, moved, left.raw, right.raw
            ):
                piece.op, piece.layer, piece.reason = "cosmetic", "numbering", "renumbered"


def _within(piece: Piece, one: Span, other: Span) -> bool:
    return (
        one[0] <= piece.l0 and piece.l1 <= one[1] and other[0] <= piece.r0 and piece.r1 <= other[1]
    )


def _follows(
    piece: Piece, mine: _Numbers, theirs: _Numbers, moved: dict[str, str], left: str, right: str
) -> bool:
    one, other = mine.around(piece.l0, piece.l1), theirs.around(piece.r0, piece.r1)
    return bool(one and other) and moved.get(_plain(left, one)) == _plain(right, other)  # type: ignore[arg-type]
