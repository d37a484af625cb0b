"""Lines of a PDF page, and pages set in two columns: read one column after the other, not straight across."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace

LEAST_LINES = 5
"""Lines that a column has at least."""
CROSSING = 0.25
"""The share of lines that may cross the gutter: headings over both columns, tables."""


@dataclass(slots=True)
class Line:
    """One line of a page: its text and where it stands, in points from the lower left corner.

    ``gaps``: (index in ``text``, left, right) of blanks wider than the line is high. ``column``: 0 where the line runs
    over the whole page, else 1 or 2.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    page: int
    furniture: bool = False
    gaps: tuple[tuple[int, float, float], ...] = ()
    column: int = 0

    @property
    def height(self) -> float:
        return max(1.0, self.top - self.bottom)

    @property
    def is_row(self) -> bool:
        """Whether the line is the row of a table: blanks of two characters and more divide it."""
        return any(right - left > 2 * self.height for _, left, right in self.gaps)


def in_columns(lines: list[Line]) -> list[Line]:
    """The lines in reading order: as they are, unless the page is set in two columns."""
    gutter = _gutter([line for line in lines if line.text.strip()])
    if gutter is None:
        return lines
    ordered: list[Line] = []
    columns: tuple[list[Line], list[Line]] = ([], [])
    for line in lines:
        pieces = list(_split(line, gutter))
        if not pieces:
            # What runs over both columns divides what stands above it from what stands below.
            ordered += columns[0] + columns[1]
            columns = ([], [])
            ordered.append(line)
        for piece in pieces:
            columns[piece.column - 1].append(piece)
    return ordered + columns[0] + columns[1]


def _gutter(lines: list[Line]) -> float | None:
    """The place of the blank between two columns, if there are two."""
    if len(lines) < LEAST_LINES:
        return None
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    width = right - left
    places = [left + width * share / 100 for share in range(35, 66)]
    best = max(places, key=lambda place: (-sum(_crosses(line, place) for line in lines), -abs(place - left - width / 2)))  # fmt: skip
    if sum(_crosses(line, best) for line in lines) > CROSSING * len(lines):
        return None
    sides: tuple[list[Line], list[Line]] = ([], [])
    for line in lines:
        for piece in _split(line, best):
            sides[piece.column - 1].append(piece)
    for side in sides:
        full = [piece for piece in side if piece.right - piece.left > 0.3 * width]
        # Columns of prose are full to their edge; columns of a table are not.
        if len(side) < LEAST_LINES or len(full) < 0.6 * len(side):
            return None
        if statistics.median(len(piece.text.strip()) for piece in side) < 8:
            return None
    return best


def _crosses(line: Line, place: float) -> bool:
    if not line.left < place < line.right:
        return False
    return not any(before <= place <= after for _, before, after in line.gaps)


def _split(line: Line, place: float) -> Iterator[Line]:
    """The parts of a line left and right of the gutter; nothing for a line that crosses it."""
    if line.right <= place or line.left >= place:
        yield replace(line, column=1 if line.right <= place else 2)
        return
    for index, before, after in line.gaps:
        if before <= place <= after:
            yield replace(line, text=line.text[:index].rstrip(), right=before, column=1, gaps=())
            yield replace(line, text=line.text[index:].lstrip(), left=after, column=2, gaps=())
            return
