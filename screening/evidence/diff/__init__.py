"""The comparison of two raw texts, for a person to read.

Paragraphs are set side by side first, then compared character by character, dense changes word by word;
blocks that stand elsewhere are moves. Layers: exact changes, differences that normalisation removes
(width, punctuation, script, case), layout (spaces, breaks, invisible characters), and article numbers
that only count on. All offsets
are code points of the raw texts. The same texts give the same comparison always: nothing depends on
time, load or hash seed.
"""

from __future__ import annotations

from ..align import Block
from ..facts.reading import fold_table
from .model import (
    Change,
    Comparison,
    CosmeticChange,
    Invisible,
    Move,
    Row,
    Segment,
)
from .moves import cut_moves, find_moves
from .numbering import assemble
from .numbers import Numbers, whole_numbers
from .pieces import Piece, pieces_of
from .rows import Group, paragraph_groups
from .shifts import mark_shifts
from .sides import INVISIBLE, SideText
from .words import inner_blocks, tokenizer

__all__ = [
    "ENGINE_VERSION",
    "INVISIBLE",
    "Change",
    "Comparison",
    "CosmeticChange",
    "Invisible",
    "Move",
    "Row",
    "Segment",
    "compare",
    "warm",
]

ENGINE_VERSION = "3"
"""Changes whenever the same two texts may be shown differently; stored with every judgment."""


def warm() -> None:
    """Load the word list and the script table now rather than with the first comparison."""
    tokenizer()
    fold_table()


def _span(side: SideText, first: int, last: int) -> tuple[int, int]:
    """Raw span of paragraphs ``[first, last)``; an empty range stands where the next one begins."""
    ends = len(side.raw)
    start = side.paragraphs[first][0] if first < len(side.paragraphs) else ends
    return (start, side.paragraphs[last - 1][1]) if last > first else (start, start)


def _row_pieces(
    left: SideText, right: SideText, numbers: tuple[Numbers, Numbers], group: Group
) -> list[Piece]:
    l0, l1 = _span(left, group.p0, group.p1)
    r0, r1 = _span(right, group.q0, group.q1)
    blocks: list[Block] = []
    if group.p0 < group.p1 and group.q0 < group.q1:
        a0, a1 = left.starts[group.p0], left.ends[group.p1 - 1]
        b0, b1 = right.starts[group.q0], right.ends[group.q1 - 1]
        inner = inner_blocks(left.norm[a0:a1], right.norm[b0:b1])
        blocks = [Block(i + a0, j + b0, size) for i, j, size in inner]
        blocks = whole_numbers((left.norm, right.norm), numbers, blocks, ends=True)
    return pieces_of(left, right, (l0, l1, r0, r1), blocks)


def compare(left: str, right: str) -> Comparison:
    """Compare two raw texts; pure and deterministic, bounded in time and memory for any input.

    2 × 50,000 characters take about .1 s when nearly identical and less than 1 s when unrelated.
    """
    a, b = SideText(left), SideText(right)
    groups = paragraph_groups(a, b)
    numbers = Numbers(a), Numbers(b)
    rows = [_row_pieces(a, b, numbers, group) for group in groups]
    moves = [
        move._replace(
            blocks=whole_numbers((a.norm, b.norm), numbers, move.blocks, ends=False) or move.blocks
        )
        for move in find_moves(a, b, [piece for row in rows for piece in row])
    ]
    cut_moves(a, b, moves)
    mark_shifts(a, b, groups, rows)
    return assemble(ENGINE_VERSION, a, b, groups, rows, moves)
