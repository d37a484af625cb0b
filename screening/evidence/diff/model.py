"""What a comparison of two texts hands out: rows of segments, numbered changes, moves, counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Op = Literal["equal", "delete", "insert", "replace", "move", "cosmetic"]
RowKind = Literal["equal", "changed", "left_only", "right_only", "moved"]
ChangeKind = Literal["delete", "insert", "replace", "move"]
Layer = Literal["exact", "normalised", "layout", "numbering"]
Reason = Literal[
    "punctuation", "width", "script", "case", "space", "break", "invisible", "renumbered"
]
Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one text in one state.

    ``start`` and ``end`` are code points of the raw text, ``text`` is that slice. ``change`` is the
    number of an exact change, ``cosmetic`` that of a cosmetic one, ``move`` that of the move it is part
    of (also on deletions and insertions inside a moved block). ``hide`` is the part of a long equal
    stretch that may be collapsed, as indices of ``text``.
    """

    op: Op
    text: str
    start: int
    end: int
    change: int | None = None
    cosmetic: int | None = None
    layer: Layer | None = None
    reason: Reason | None = None
    move: int | None = None
    hide: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Paragraphs that belong side by side. The segments of a side, row after row, are its whole text.

    ``left_number`` and ``right_number`` count paragraphs from 1, ``None`` for an empty side. ``moves``
    are the moves whose block lies in this row. ``layer`` is the strongest difference in the row, ``None``
    where both sides are equal to the code point; a row of kind ``equal`` may differ in layout or
    normalised characters. ``collapse`` says that nothing in or beside the row differs exactly.
    """

    kind: RowKind
    left: tuple[Segment, ...]
    right: tuple[Segment, ...]
    left_number: int | None
    right_number: int | None
    moves: tuple[int, ...] = ()
    layer: Layer | None = None
    collapse: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """An exact difference, numbered from 1 in reading order; for a move, both places.

    Offsets are code points; for a mere insertion the left span is empty and says where, and vice versa.
    ``row`` is the index of the row that shows it first; paragraphs that follow one another on one side only are one
    change, each article of a statute its own.
    """

    number: int
    kind: ChangeKind
    left_start: int
    left_end: int
    right_start: int
    right_end: int
    row: int
    move: int | None = None
    layer: Layer = "exact"


@dataclass(frozen=True, slots=True)
class CosmeticChange:
    """A difference of width, punctuation, script, case, space, line break or invisible characters, or a number that
    counts on.
    """

    number: int
    layer: Layer
    reason: Reason
    left_start: int
    left_end: int
    right_start: int
    right_end: int
    row: int


@dataclass(frozen=True, slots=True)
class Move:
    """A block that stands elsewhere in the other text; ``inner`` is the number of changes inside it."""

    number: int
    left_start: int
    left_end: int
    right_start: int
    right_end: int
    left_row: int
    right_row: int
    inner: int


@dataclass(frozen=True, slots=True)
class Invisible:
    """An invisible character: zero width, direction, soft hyphen … ``code`` as ``U+200B``."""

    side: Side
    start: int
    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole comparison. ``counts`` has the kinds, layers and reasons that occur, and always ``exact``."""

    engine: str
    rows: tuple[Row, ...]
    changes: tuple[Change, ...]
    cosmetic: tuple[CosmeticChange, ...]
    moves: tuple[Move, ...]
    invisible: tuple[Invisible, ...]
    counts: Mapping[str, int]

    def side(self, side: Side) -> str:
        """The text of one side, put together again from the segments."""
        rows = (row.left if side == "left" else row.right for row in self.rows)
        return "".join(segment.text for segments in rows for segment in segments)

    @property
    def identical(self) -> bool:
        """Whether the two texts are equal, code point by code point."""
        return not (self.changes or self.cosmetic)
