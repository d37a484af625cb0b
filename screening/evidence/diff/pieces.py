"""Common blocks of two paragraphs → pieces: stretches of raw text that are equal, cosmetic or different."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from ..align import Block
from .model import Layer, Reason
from .sides import SideText, reason_of

_STEP = 256


class Inner(NamedTuple):
    """Part of one side of a piece, in raw offsets: moved text, or what differs inside and around it."""

    start: int
    end: int
    move: int | None
    equal: bool
    gap: int = -1


@dataclass(slots=True)
class Piece:
    """A stretch of both raw texts; ``op`` is equal, cosmetic or different."""

    op: str
    l0: int
    l1: int
    r0: int
    r1: int
    layer: Layer | None = None
    reason: Reason | None = None
    left_parts: list[Inner] = field(default_factory=list)
    right_parts: list[Inner] = field(default_factory=list)


class PieceWriter:
    """Collects the pieces of one row; adjacent pieces of one kind become one."""

    def __init__(self, left: SideText, right: SideText) -> None:
        self.left, self.right = left, right
        self.pieces: list[Piece] = []

    def _add(self, op: str, l0: int, l1: int, r0: int, r1: int) -> None:
        if l0 == l1 and r0 == r1:
            return
        layer: Layer | None = None
        reason: Reason | None = None
        if op == "cosmetic":
            found = reason_of(self.left.raw[l0:l1], self.right.raw[r0:r1])
            layer, reason = cast("tuple[Layer, Reason]", found)
        if self.pieces:
            last = self.pieces[-1]
            if last.op == op and last.l1 == l0 and last.r1 == r0 and last.reason == reason:
                last.l1, last.r1 = l1, r1
                return
        self.pieces.append(Piece(op, l0, l1, r0, r1, layer, reason))

    def _trimmed(self, op: str, l0: int, l1: int, r0: int, r1: int) -> None:
        """A stretch that differs, without the equal marks and spaces at its ends; words stay whole."""
        a, b = self.left.raw, self.right.raw
        limit = min(l1 - l0, r1 - r0)
        head = 0
        while head < limit and a[l0 + head] == b[r0 + head] and not a[l0 + head].isalnum():
            head += 1
        tail = 0
        while tail < limit - head and a[l1 - 1 - tail] == b[r1 - 1 - tail]:
            if a[l1 - 1 - tail].isalnum():
                break
            tail += 1
        self._add("equal", l0, l0 + head, r0, r0 + head)
        self._apart(op, l0 + head, l1 - tail, r0 + head, r1 - tail)
        self._add("equal", l1 - tail, l1, r1 - tail, r1)

    def _apart(self, op: str, l0: int, l1: int, r0: int, r1: int) -> None:
        """Marks or breaks where the other text has words: these are an insertion, not a replacement."""
        if op == "different" and l0 < l1 and r0 < r1:
            if _index(self.left, l0) == _index(self.left, l1):
                self._add("cosmetic", l0, l1, r0, r0)
                l0 = l1
            elif _index(self.right, r0) == _index(self.right, r1):
                self._add("cosmetic", l0, l0, r0, r1)
                r0 = r1
        self._add(op, l0, l1, r0, r1)

    def gap(self, l0: int, l1: int, r0: int, r1: int, exact: bool) -> None:
        """What lies between two common blocks; ``exact`` if comparable characters are among it."""
        if self.left.raw[l0:l1] == self.right.raw[r0:r1]:
            self._add("equal", l0, l1, r0, r1)
        else:
            self._trimmed("different" if exact else "cosmetic", l0, l1, r0, r1)

    def block(self, block: Block) -> None:
        """Comparable characters that agree one by one, and what stands between them."""
        a, b = self.left.raw_at, self.right.raw_at
        i, j, size = block
        for offset in range(0, size, _STEP):
            x, y, n = i + offset, j + offset, min(_STEP, size - offset)
            # up to the next character, so that what stands between two steps belongs to the first
            last = offset + n == size
            l0, r0 = a[x], b[y]
            l1 = a[x + n - 1] + 1 if last else a[x + n]
            r1 = b[y + n - 1] + 1 if last else b[y + n]
            if self.left.raw[l0:l1] == self.right.raw[r0:r1]:
                self._add("equal", l0, l1, r0, r1)
            else:
                self._one_by_one(x, y, n, l1, r1)

    def _one_by_one(self, x: int, y: int, n: int, l1: int, r1: int) -> None:
        a, b = self.left.raw_at, self.right.raw_at
        left, right = self.left.raw, self.right.raw
        for k in range(n):
            i, j = a[x + k], b[y + k]
            self._add("equal" if left[i] == right[j] else "cosmetic", i, i + 1, j, j + 1)
            i_next = a[x + k + 1] if k + 1 < n else l1
            j_next = b[y + k + 1] if k + 1 < n else r1
            if i + 1 < i_next or j + 1 < j_next:
                self.gap(i + 1, i_next, j + 1, j_next, exact=False)


def pieces_of(
    left: SideText, right: SideText, span: tuple[int, int, int, int], blocks: list[Block]
) -> list[Piece]:
    """Pieces that cover the raw span ``l0, l1, r0, r1`` given its common blocks (comparable indices)."""
    writer = PieceWriter(left, right)
    l0, l1, r0, r1 = span
    x, y = _index(left, l0), _index(right, r0)
    for block in blocks:
        i, j = left.raw_at[block.i], right.raw_at[block.j]
        writer.gap(l0, i, r0, j, exact=block.i > x or block.j > y)
        writer.block(block)
        x, y = block.i + block.size, block.j + block.size
        l0, r0 = left.raw_at[x - 1] + 1, right.raw_at[y - 1] + 1
    exact = _index(left, l1) > x or _index(right, r1) > y
    # empty paragraphs against nothing are layout, everything else without a partner is a change
    writer.gap(l0, l1, r0, r1, exact=exact)
    return writer.pieces


def _index(side: SideText, raw: int) -> int:
    return bisect_left(side.raw_at, raw)
