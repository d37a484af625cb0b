"""Blocks that stand elsewhere: seeds among what differs, extended over small inner changes."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from ..align import Block, common_prefix
from .pieces import Inner, Piece
from .sides import SideText
from .words import inner_blocks

SEED = 12
LEAST = 16
"""Comparable characters that a block must have in common with its other place."""
_JUMP = 24
_RESEED = 6
_CANDIDATES = 8


class Stretch(NamedTuple):
    """Comparable characters ``[start, end)`` of one side that differ, and the piece they are in."""

    start: int
    end: int
    piece: Piece


class MovedBlock(NamedTuple):
    """Common blocks of one move, and the stretches they lie in.

    ``whole``: both stretches are paragraphs without a partner, so that what the blocks leave of them
    is part of the move too.
    """

    left: Stretch
    right: Stretch
    blocks: list[Block]
    whole: bool = False


def _stretches(side: SideText, pieces: list[Piece], is_left: bool, least: int) -> list[Stretch]:
    found = []
    for piece in pieces:
        if piece.op != "different":
            continue
        low, high = (piece.l0, piece.l1) if is_left else (piece.r0, piece.r1)
        start, end = bisect_left(side.raw_at, low), bisect_left(side.raw_at, high)
        if end - start >= least:
            found.append(Stretch(start, end, piece))
    return found


def _seeds(right: SideText, stretches: list[Stretch]) -> dict[str, list[tuple[int, int]]]:
    seeds: dict[str, list[tuple[int, int]]] = {}
    for number, stretch in enumerate(stretches):
        for at in range(stretch.start, stretch.end - SEED + 1):
            places = seeds.setdefault(right.norm[at : at + SEED], [])
            if len(places) < _CANDIDATES:
                places.append((at, number))
    return seeds


def find_moves(left: SideText, right: SideText, pieces: list[Piece]) -> list[MovedBlock]:
    """Moved blocks among the differing pieces, in the order of the left text, none overlapping."""
    mine = _stretches(left, pieces, True, LEAST)
    theirs = _stretches(right, pieces, False, LEAST)
    if not mine or not theirs:
        return []
    search = _Search(left.norm, right.norm, theirs, _seeds(right, theirs))
    moves: list[MovedBlock] = []
    for stretch in mine:
        at = low = stretch.start
        while at <= stretch.end - SEED:
            best = search.best(at, stretch.end)
            if best is None:
                at += 1
                continue
            move = search.whole(stretch, best[2]) if low == stretch.start else None
            move = move or search.grown(stretch, low, at, best)
            if move is None:
                at += 1
                continue
            moves.append(move)
            at = low = stretch.end if move.whole else move.blocks[-1].i + move.blocks[-1].size
    if any(move.whole for move in moves):
        _with_neighbours(
            search, moves, _stretches(left, pieces, True, 1), _stretches(right, pieces, False, 1)
        )
    return moves


def _with_neighbours(
    search: _Search, moves: list[MovedBlock], mine: list[Stretch], theirs: list[Stretch]
) -> None:
    """Short paragraphs (headings) beside a moved one moved with it if they stand beside it there too."""
    gone = {move.left.start for move in moves}
    by_start = {s.start: s for s in mine}, {s.start: s for s in theirs}
    by_end = {s.end: s for s in mine}, {s.end: s for s in theirs}
    for move in [move for move in moves if move.whole]:
        for forward, (lefts, rights) in ((True, by_start), (False, by_end)):
            a, b = move.left, move.right
            while True:
                x = lefts.get(a.end if forward else a.start)
                y = rights.get(b.end if forward else b.start)
                if x is None or y is None or x.start in gone or not search.same(x, y):
                    break
                gone.add(x.start)
                blocks = [Block(x.start, y.start, x.end - x.start)]
                moves.append(MovedBlock(x, y, blocks, True))
                a, b = x, y
    moves.sort(key=lambda move: move.blocks[0].i)


class _Search:
    """Where a stretch of the left text may have come to stand; places found are taken."""

    def __init__(
        self, a: str, b: str, theirs: list[Stretch], seeds: dict[str, list[tuple[int, int]]]
    ) -> None:
        self.a, self.b, self.theirs, self.seeds = a, b, theirs, seeds
        self.taken = bytearray(len(b) + 1)

    def best(self, at: int, end: int) -> tuple[int, int, int] | None:
        """Longest free common run from ``at``: its size, its place on the right, its stretch."""
        best: tuple[int, int, int] | None = None
        for place, number in self.seeds.get(self.a[at : at + SEED], ()):
            limit = min(end - at, self.theirs[number].end - place)
            free = self.taken.find(1, place, place + limit)
            if free >= 0:
                limit = free - place
            size = common_prefix(self.a, at, self.b, place, limit)
            if size >= SEED and (best is None or size > best[0]):
                best = (size, place, number)
        return best

    def _take(self, start: int, end: int) -> None:
        self.taken[start:end] = b"\1" * (end - start)

    def same(self, x: Stretch, y: Stretch) -> bool:
        """Whether two paragraphs without partners are equal; the place is taken if they are."""
        alone = x.piece.r0 == x.piece.r1 and y.piece.l0 == y.piece.l1
        if not alone or self.a[x.start : x.end] != self.b[y.start : y.end]:
            return False
        if self.taken.find(1, y.start, y.end) >= 0:
            return False
        self._take(y.start, y.end)
        return True

    def whole(self, stretch: Stretch, number: int) -> MovedBlock | None:
        """A paragraph without a partner that is, for the most part, one on the other side."""
        other = self.theirs[number]
        alone = stretch.piece.r0 == stretch.piece.r1 and other.piece.l0 == other.piece.l1
        if not alone or self.taken.find(1, other.start, other.end) >= 0:
            return None
        size_left, size_right = stretch.end - stretch.start, other.end - other.start
        if not 0.5 <= size_left / size_right <= 2:
            return None
        inner = inner_blocks(self.a[stretch.start : stretch.end], self.b[other.start : other.end])
        if sum(block.size for block in inner) < 0.6 * max(size_left, size_right):
            return None
        self._take(other.start, other.end)
        blocks = [Block(i + stretch.start, j + other.start, size) for i, j, size in inner]
        return MovedBlock(stretch, other, blocks, True)

    def grown(
        self, stretch: Stretch, low: int, at: int, best: tuple[int, int, int]
    ) -> MovedBlock | None:
        """The run found, extended over small inner changes; ``None`` if it stays too short."""
        size, place, number = best
        other = self.theirs[number]
        back = 0
        while at - back > low and place - back > other.start and not self.taken[place - back - 1]:
            if self.a[at - back - 1] != self.b[place - back - 1]:
                break
            back += 1
        blocks = [Block(at - back, place - back, size + back)]
        _extend(self.a, self.b, blocks, stretch.end, other.end, self.taken)
        if sum(block.size for block in blocks) < LEAST:
            return None
        self._take(blocks[0].j, blocks[-1].j + blocks[-1].size)
        return MovedBlock(stretch, other, blocks)


def move_groups(moves: list[MovedBlock]) -> list[int]:
    """For each move the first one it continues: paragraphs that moved together are one move."""
    leaders: list[int] = []
    for index, move in enumerate(moves):
        if index and _continues(moves[index - 1], move):
            leaders.append(leaders[-1])
        else:
            leaders.append(index)
    return leaders


def _continues(before: MovedBlock, after: MovedBlock) -> bool:
    if before.left is after.left:
        return False
    ends = (before.left.end, before.right.end)
    starts = (after.left.start, after.right.start)
    if not (before.whole and after.whole):
        last, first = before.blocks[-1], after.blocks[0]
        ends, starts = (last.i + last.size, last.j + last.size), (first.i, first.j)
    return ends == starts


def _extend(a: str, b: str, blocks: list[Block], a_end: int, b_end: int, taken: bytearray) -> None:
    """Go on behind a small inner change, as long as common text follows within a few characters."""
    while True:
        last = blocks[-1]
        i, j = last.i + last.size, last.j + last.size
        ahead: dict[str, int] = {}
        for y in range(min(_JUMP, b_end - j - _RESEED) + 1):
            ahead.setdefault(b[j + y : j + y + _RESEED], y)
        best: tuple[int, int, int] | None = None
        for x in range(min(_JUMP, a_end - i - _RESEED) + 1):
            found = ahead.get(a[i + x : i + x + _RESEED])
            if found is not None and (best is None or x + found < best[0]):
                best = (x + found, x, found)
        if best is None:
            return
        _, x, y = best
        limit = min(a_end - i - x, b_end - j - y)
        size = common_prefix(a, i + x, b, j + y, limit)
        if size < _RESEED or taken.find(1, j, j + y + size) >= 0:
            return
        blocks.append(Block(i + x, j + y, size))


def cut_moves(left: SideText, right: SideText, moves: list[MovedBlock]) -> None:
    """Write the moved parts into the pieces they lie in; moves are numbered by their index here."""
    by_piece: dict[int, list[tuple[int, MovedBlock]]] = {}
    for number, move in enumerate(moves):
        by_piece.setdefault(id(move.left.piece), []).append((number, move))
    for here in by_piece.values():
        piece = here[0][1].left.piece
        spans = [(n, [(b.i, b.size) for b in m.blocks], m.whole) for n, m in here]
        piece.left_parts = _parts(left, piece.l0, piece.l1, spans)
    by_piece = {}
    for number, move in enumerate(moves):
        by_piece.setdefault(id(move.right.piece), []).append((number, move))
    for here in by_piece.values():
        piece = here[0][1].right.piece
        here.sort(key=lambda item: item[1].blocks[0].j)
        spans = [(n, [(b.j, b.size) for b in m.blocks], m.whole) for n, m in here]
        piece.right_parts = _parts(right, piece.r0, piece.r1, spans)


def _parts(
    side: SideText, start: int, end: int, moves: list[tuple[int, list[tuple[int, int]], bool]]
) -> list[Inner]:
    """One side of a piece as moved and other parts; left-out characters go with what stands before them."""
    parts: list[Inner] = []
    at = start
    raw_at = side.raw_at
    for number, blocks, whole in moves:
        for index, (first, size) in enumerate(blocks):
            low = raw_at[first]
            if index == 0 and bisect_left(raw_at, at) == first:
                low = at
            if low > at:
                parts.append(Inner(at, low, number if index or whole else None, False, index - 1))
            following = first + size
            high = min(raw_at[following] if following < len(raw_at) else end, end)
            parts.append(Inner(low, high, number, True))
            at = high
        if whole and at < end:
            parts.append(Inner(at, end, number, False, len(blocks) - 1))
            at = end
    if at < end:
        parts.append(Inner(at, end, None, False))
    return parts
