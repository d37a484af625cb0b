"""Blocks that stand elsewhere: seeds among what differs, extended over small inner changes."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from ..align import Block, common_prefix
from .pieces import Inner, Piece
from .sides import SideText

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
    """Common blocks of one move, and the stretches they lie in."""

    left: Stretch
    right: Stretch
    blocks: list[Block]


def _stretches(side: SideText, pieces: list[Piece], is_left: bool) -> list[Stretch]:
    found = []
    for piece in pieces:
        if piece.op != "different":
            continue
        low, high = (piece.l0, piece.l1) if is_left else (piece.r0, piece.r1)
        start, end = bisect_left(side.raw_at, low), bisect_left(side.raw_at, high)
        if end - start >= LEAST:
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
    mine, theirs = _stretches(left, pieces, True), _stretches(right, pieces, False)
    if not mine or not theirs:
        return []
    seeds = _seeds(right, theirs)
    taken = bytearray(len(right.norm) + 1)
    moves: list[MovedBlock] = []
    for stretch in mine:
        at = stretch.start
        while at <= stretch.end - SEED:
            best: tuple[int, int, int] | None = None
            for place, number in seeds.get(left.norm[at : at + SEED], ()):
                other = theirs[number]
                limit = min(stretch.end - at, other.end - place)
                free = taken.find(1, place, place + limit)
                if free >= 0:
                    limit = free - place
                size = common_prefix(left.norm, at, right.norm, place, limit)
                if size >= SEED and (best is None or size > best[0]):
                    best = (size, place, number)
            if best is None:
                at += 1
                continue
            size, place, number = best
            blocks = [Block(at, place, size)]
            _extend(left.norm, right.norm, blocks, stretch.end, theirs[number].end, taken)
            if sum(block.size for block in blocks) < LEAST:
                at += 1
                continue
            last = blocks[-1]
            taken[place : last.j + last.size] = b"\1" * (last.j + last.size - place)
            moves.append(MovedBlock(stretch, theirs[number], blocks))
            at = last.i + last.size
    return moves


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
        piece.left_parts = _parts(left, piece.l0, piece.l1, [(n, [(b.i, b.size) for b in m.blocks]) for n, m in here])
    by_piece = {}
    for number, move in enumerate(moves):
        by_piece.setdefault(id(move.right.piece), []).append((number, move))
    for here in by_piece.values():
        piece = here[0][1].right.piece
        here.sort(key=lambda item: item[1].blocks[0].j)
        piece.right_parts = _parts(right, piece.r0, piece.r1, [(n, [(b.j, b.size) for b in m.blocks]) for n, m in here])


def _parts(
    side: SideText, start: int, end: int, moves: list[tuple[int, list[tuple[int, int]]]]
) -> list[Inner]:
    """One side of a piece as moved and other parts; left-out characters go with what stands before them."""
    parts: list[Inner] = []
    at = start
    raw_at = side.raw_at
    for number, blocks in moves:
        for index, (first, size) in enumerate(blocks):
            low = raw_at[first]
            if index == 0 and bisect_left(raw_at, at) == first:
                low = at
            if low > at:
                parts.append(Inner(at, low, number if index else None, False, index - 1))
            following = first + size
            high = min(raw_at[following] if following < len(raw_at) else end, end)
            parts.append(Inner(low, high, number, True))
            at = high
            if index + 1 < len(blocks) and blocks[index + 1][0] == following:
                # nothing stands here on this side where the other place has something
                continue
    if at < end:
        parts.append(Inner(at, end, None, False))
    return parts
