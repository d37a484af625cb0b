"""Pieces and moves → rows of numbered segments."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import replace

from .model import (
    Change,
    ChangeKind,
    Comparison,
    CosmeticChange,
    Invisible,
    Layer,
    Move,
    Op,
    Row,
    RowKind,
    Segment,
)
from .moves import MovedBlock, move_groups
from .pieces import Inner, Piece
from .rows import Group
from .sides import ARTICLE, INVISIBLE, SideText

_LONG = 400
_SHOWN = 100
_STRENGTH: dict[Layer | None, int] = {
    None: 0,
    "numbering": 1,
    "layout": 2,
    "normalised": 3,
    "exact": 4,
}


class _Assembly:
    """Numbers changes in reading order while segments are written."""

    def __init__(self, left: SideText, right: SideText, moves: list[MovedBlock]) -> None:
        self.left, self.right, self.moves = left, right, moves
        self.changes: list[Change] = []
        self.cosmetic: list[CosmeticChange] = []
        self.move_numbers: dict[int, int] = {}
        self.move_changes: dict[int, int] = {}
        self.inner: dict[tuple[int, int], int] = {}
        self.places: dict[int, list[int | None]] = {}
        self.leaders = move_groups(moves)
        self.spans = self._move_spans()
        self.row = 0
        self.alone = False
        self.open: tuple[int, int] | None = None

    def _move_spans(self) -> dict[int, tuple[int, int, int, int]]:
        """Raw spans of each group of moves, by its first move."""
        spans: dict[int, tuple[int, int, int, int]] = {}
        for number, (move, leader) in enumerate(zip(self.moves, self.leaders, strict=True)):
            mine = [part for part in move.left.piece.left_parts if part.move == number]
            theirs = [part for part in move.right.piece.right_parts if part.move == number]
            first = spans.get(leader, (mine[0].start, 0, theirs[0].start, 0))
            spans[leader] = (first[0], mine[-1].end, first[2], theirs[-1].end)
        return spans

    def change(
        self, kind: ChangeKind, l0: int, l1: int, r0: int, r1: int, move: int | None = None
    ) -> int:
        number = len(self.changes) + 1
        self.changes.append(Change(number, kind, l0, l1, r0, r1, self.row, move))
        return number

    def paragraph(self, kind: ChangeKind, l0: int, l1: int, r0: int, r1: int) -> int:
        """A change, or its continuation where the paragraph before stands on this side alone too.

        A table of contents or a file's header is one thing that was left out; each article is one of its own.
        """
        if not self.alone:
            return self.change(kind, l0, l1, r0, r1)
        raw, start = (self.left.raw, l0) if kind == "delete" else (self.right.raw, r0)
        if self.open is not None and not ARTICLE.match(raw, start):
            number, row = self.open
            last = self.changes[number - 1]
            if last.kind == kind and row in (self.row, self.row - 1):
                if kind == "delete":
                    self.changes[number - 1] = replace(last, left_end=l1)
                else:
                    self.changes[number - 1] = replace(last, right_end=r1)
                self.open = number, self.row
                return number
        number = self.change(kind, l0, l1, r0, r1)
        self.open = number, self.row
        return number

    def move(self, index: int) -> tuple[int, int]:
        """Number of a move and of its change; its inner changes are numbered when it is met first."""
        leader = self.leaders[index]
        if leader not in self.move_numbers:
            number = self.move_numbers[leader] = len(self.move_numbers) + 1
            self.move_changes[leader] = self.change("move", *self.spans[leader], number)
            self.places[leader] = [None, None]
            for member, its_leader in enumerate(self.leaders[leader:], leader):
                if its_leader != leader:
                    break
                self._inner_changes(member, number)
        return self.move_numbers[leader], self.move_changes[leader]

    def _inner_changes(self, index: int, number: int) -> None:
        move = self.moves[index]
        mine = {p.gap: p for p in move.left.piece.left_parts if p.move == index and not p.equal}
        theirs = {p.gap: p for p in move.right.piece.right_parts if p.move == index and not p.equal}
        for gap in sorted(mine.keys() | theirs.keys()):
            a, b = mine.get(gap), theirs.get(gap)
            if gap < 0:
                l0, r0 = move.left.piece.l0, move.right.piece.r0
            else:
                block = move.blocks[gap]
                l0 = self.left.raw_at[block.i + block.size - 1] + 1
                r0 = self.right.raw_at[block.j + block.size - 1] + 1
            kind: ChangeKind = "replace" if a and b else "delete" if a else "insert"
            self.inner[index, gap] = self.change(
                kind,
                a.start if a else l0,
                a.end if a else l0,
                b.start if b else r0,
                b.end if b else r0,
                number,
            )


def _segment(side: SideText, op: Op, start: int, end: int, **more: object) -> Segment:
    text = side.raw[start:end]
    hide = (_SHOWN, len(text) - _SHOWN) if op == "equal" and len(text) > _LONG else None
    return Segment(op, text, start, end, hide=hide, **more)  # type: ignore[arg-type]


def _different(asm: _Assembly, piece: Piece, left: list[Segment], right: list[Segment]) -> None:
    """Segments of a piece that differs, with its moved parts."""
    mine = piece.left_parts or (
        [Inner(piece.l0, piece.l1, None, False)] if piece.l1 > piece.l0 else []
    )
    theirs = piece.right_parts or (
        [Inner(piece.r0, piece.r1, None, False)] if piece.r1 > piece.r0 else []
    )
    rest_left = [part for part in mine if part.move is None]
    rest_right = [part for part in theirs if part.move is None]
    together = len(rest_left) == len(rest_right) == 1
    shared: int | None = None
    for part in mine:
        if part.move is None:
            if together:
                other = rest_right[0]
                shared = asm.change("replace", part.start, part.end, other.start, other.end)
                left.append(
                    _segment(
                        asm.left, "replace", part.start, part.end, change=shared, layer="exact"
                    )
                )
            else:
                number = asm.paragraph("delete", part.start, part.end, piece.r0, piece.r0)
                left.append(
                    _segment(asm.left, "delete", part.start, part.end, change=number, layer="exact")
                )
        else:
            left.append(_moved(asm, asm.left, part, "delete", 0))
    for part in theirs:
        if part.move is None:
            op: Op = "replace" if together else "insert"
            number = shared or asm.paragraph("insert", piece.l1, piece.l1, part.start, part.end)
            right.append(
                _segment(asm.right, op, part.start, part.end, change=number, layer="exact")
            )
        else:
            right.append(_moved(asm, asm.right, part, "insert", 1))


def _moved(asm: _Assembly, side: SideText, part: Inner, op: Op, which: int) -> Segment:
    assert part.move is not None
    number, change = asm.move(part.move)
    place = asm.places[asm.leaders[part.move]]
    if place[which] is None:
        place[which] = asm.row
    if part.equal:
        return _segment(
            side, "move", part.start, part.end, change=change, move=number, layer="exact"
        )
    inner = asm.inner[part.move, part.gap]
    if asm.changes[inner - 1].kind == "replace":
        op = "replace"
    return _segment(side, op, part.start, part.end, change=inner, move=number, layer="exact")


def _cosmetic(asm: _Assembly, piece: Piece, left: list[Segment], right: list[Segment]) -> None:
    assert piece.layer is not None
    assert piece.reason is not None
    number = len(asm.cosmetic) + 1
    asm.cosmetic.append(
        CosmeticChange(
            number, piece.layer, piece.reason, piece.l0, piece.l1, piece.r0, piece.r1, asm.row
        )
    )
    more = {"cosmetic": number, "layer": piece.layer, "reason": piece.reason}
    if piece.l1 > piece.l0:
        left.append(_segment(asm.left, "cosmetic", piece.l0, piece.l1, **more))
    if piece.r1 > piece.r0:
        right.append(_segment(asm.right, "cosmetic", piece.r0, piece.r1, **more))


def _row(asm: _Assembly, group: Group, pieces: list[Piece]) -> Row:
    left: list[Segment] = []
    right: list[Segment] = []
    layer: Layer | None = None
    asm.alone = group.p0 == group.p1 or group.q0 == group.q1
    for piece in pieces:
        here: Layer | None = piece.layer
        if piece.op == "equal":
            left.append(_segment(asm.left, "equal", piece.l0, piece.l1))
            right.append(_segment(asm.right, "equal", piece.r0, piece.r1))
        elif piece.op == "cosmetic":
            _cosmetic(asm, piece, left, right)
        else:
            here = "exact"
            _different(asm, piece, left, right)
        if _STRENGTH[here] > _STRENGTH[layer]:
            layer = here
    if asm.open is not None and asm.alone and layer != "exact":
        # a line of mere marks between two paragraphs of one side does not part them
        asm.open = asm.open[0], asm.row
    moves = tuple(sorted({s.move for s in (*left, *right) if s.move is not None}))
    return Row(
        _row_kind(group, left, right, layer),
        tuple(left),
        tuple(right),
        group.p0 + 1 if group.p0 < group.p1 else None,
        group.q0 + 1 if group.q0 < group.q1 else None,
        moves,
        layer,
    )


def _row_kind(
    group: Group, left: list[Segment], right: list[Segment], layer: Layer | None
) -> RowKind:
    if group.p0 < group.p1 and group.q0 < group.q1:
        return "changed" if layer == "exact" else "equal"
    segments = left or right
    moved = sum(len(s.text) for s in segments if s.move is not None)
    if segments and moved >= 0.6 * sum(len(s.text) for s in segments):
        return "moved"
    return "left_only" if left else "right_only"


def _collapsed(rows: list[Row]) -> tuple[Row, ...]:
    """Mark rows in and beside which nothing differs exactly."""
    plain = [row.layer != "exact" for row in rows]
    result = []
    for at, row in enumerate(rows):
        around = plain[max(0, at - 1) : at + 2]
        if all(around) and len(rows) > 3:
            row = Row(
                row.kind,
                row.left,
                row.right,
                row.left_number,
                row.right_number,
                row.moves,
                row.layer,
                True,
            )
        result.append(row)
    return tuple(result)


def _invisible(left: SideText, right: SideText) -> tuple[Invisible, ...]:
    found = []
    for name, side in (("left", left), ("right", right)):
        for match in INVISIBLE.finditer(side.raw):
            char = match[0]
            label = unicodedata.name(char, "UNASSIGNED")
            found.append(Invisible(name, match.start(), f"U+{ord(char):04X}", label))  # type: ignore[arg-type]
    return tuple(found)


def assemble(
    engine: str,
    left: SideText,
    right: SideText,
    groups: list[Group],
    pieces: list[list[Piece]],
    moves: list[MovedBlock],
) -> Comparison:
    """Number everything in reading order and count it."""
    asm = _Assembly(left, right, moves)
    rows: list[Row] = []
    for index, (group, here) in enumerate(zip(groups, pieces, strict=True)):
        asm.row = index
        rows.append(_row(asm, group, here))
    moved = []
    for index, number in sorted(asm.move_numbers.items(), key=lambda item: item[1]):
        place = asm.places[index]
        inner = sum(1 for move, _ in asm.inner if asm.leaders[move] == index)
        moved.append(Move(number, *asm.spans[index], place[0] or 0, place[1] or 0, inner))
    counts: Counter[str] = Counter(change.kind for change in asm.changes)
    counts.update(change.layer for change in asm.cosmetic)
    counts.update(change.reason for change in asm.cosmetic)
    counts["exact"] = len(asm.changes)
    invisible = _invisible(left, right)
    return Comparison(
        engine,
        _collapsed(rows),
        tuple(asm.changes),
        tuple(asm.cosmetic),
        tuple(moved),
        invisible,
        dict(sorted(counts.items())),
    )
