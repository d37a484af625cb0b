"""Plots as SVG made on the server: classes and presentation attributes only, every text escaped.

Each plot is a picture of a table that stands beside it; nothing is only in the picture. Sizes are in units of the
view box; colours come from the style sheet by class (``tone-<label>``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 480, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 40


def frame(
    parts: Sequence[SafeString], title: str, *, width: int = WIDTH, height: int = HEIGHT
) -> SafeString:
    """The picture of ``parts``; ``title`` is what a screen reader says."""
    inside = format_html_join("", "{}", ((part,) for part in parts))
    return format_html(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        width,
        height,
        title,
        inside,
    )


def _x(share: float) -> str:
    return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.1f}"


def _y(share: float) -> str:
    return f"{HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM):.1f}"


def _axes(x_name: str, x_ends: tuple[str, str], y_ends: tuple[str, str]) -> list[SafeString]:
    base = HEIGHT - BOTTOM
    lines = format_html(
        '<line class="axis" x1="{0}" y1="{2}" x2="{1}" y2="{2}"/><line class="axis" x1="{0}" y1="{3}" x2="{0}" y2="{2}"/>',
        LEFT,
        WIDTH - RIGHT,
        base,
        TOP,
    )
    words = [
        (LEFT, base + 16, "start", x_ends[0]),
        (WIDTH - RIGHT, base + 16, "end", x_ends[1]),
        ((LEFT + WIDTH - RIGHT) // 2, base + 32, "middle", x_name),
        (LEFT - 6, base + 4, "end", y_ends[0]),
        (LEFT - 6, TOP + 8, "end", y_ends[1]),
    ]
    return [lines, *(_text(*word) for word in words)]


def _text(x: float | str, y: float | str, anchor: str, words: object) -> SafeString:
    return format_html('<text x="{}" y="{}" text-anchor="{}">{}</text>', x, y, anchor, words)


Points = Sequence[tuple[float, float | None]]
"""(x, y), both 0 to 1, rising in x; y None leaves a gap."""


def lines(
    series: Mapping[str, Points],
    title: str,
    *,
    x_name: str,
    x_ends: tuple[str, str] = ("0", "1"),
    y_ends: tuple[str, str] = ("0", "1"),
    dots: Points = (),
) -> SafeString:
    """Curves in one frame, each named at its end; ``dots`` are observations beside them."""
    parts = _axes(x_name, x_ends, y_ends)
    for number, (name, points) in enumerate(series.items()):
        known = [(x, y) for x, y in points if y is not None]
        if not known:
            continue
        way = " ".join(f"{_x(x)},{_y(y)}" for x, y in known)
        parts.append(format_html('<polyline class="curve curve-{}" points="{}"/>', number % 4, way))
        # Each curve bears its name at another place, and inside the frame: curves that meet are told apart.
        x, y = known[len(known) * (number + 1) // (len(series) + 1)]
        anchor = "end" if x > 0.85 else "start" if x < 0.15 else "middle"
        above = float(_y(y)) - 6
        parts.append(_text(_x(x), f"{above if above > TOP + 8 else above + 22:.1f}", anchor, name))
    parts += [
        format_html('<circle class="dot" cx="{}" cy="{}" r="4"/>', _x(x), _y(y))
        for x, y in dots
        if y is not None
    ]
    return frame(parts, title)


def histogram(
    rows: Mapping[str, Sequence[int]], names: Mapping[str, object], title: str, *, x_name: str
) -> SafeString:
    """Counts in equal bins from 0 to 1, one band of bars for each row; every band has its own name."""
    band, left = 46, 96
    height = TOP + band * len(rows) + BOTTOM
    most = max((max(row, default=0) for row in rows.values()), default=0) or 1
    parts: list[SafeString] = []
    for number, (label, row) in enumerate(rows.items()):
        base = TOP + band * (number + 1)
        step = (WIDTH - left - RIGHT) / max(1, len(row))
        parts.append(_text(left - 6, base - 4, "end", names.get(label, label)))
        for place, count in enumerate(row):
            tall = (band - 8) * count / most
            parts.append(
                format_html(
                    '<rect class="bar tone-{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>',
                    label,
                    f"{left + place * step + 0.5:.1f}",
                    f"{base - tall:.1f}",
                    f"{step - 1:.1f}",
                    f"{tall:.1f}",
                    count,
                )
            )
        parts.append(
            format_html(
                '<line class="axis" x1="{}" y1="{}" x2="{}" y2="{}"/>',
                left,
                base,
                WIDTH - RIGHT,
                base,
            )
        )
    foot = height - BOTTOM + 16
    parts += [_text(left, foot, "start", "0"), _text(WIDTH - RIGHT, foot, "end", "1")]
    parts.append(_text((left + WIDTH - RIGHT) // 2, foot + 16, "middle", x_name))
    return frame(parts, title, height=height)


def bars(rows: Sequence[tuple[object, int]], title: str) -> SafeString:
    """Horizontal bars, one for each (name, count), against the greatest of them: a funnel."""
    step, start = 28, 232
    most = max((count for _, count in rows), default=0) or 1
    parts: list[SafeString] = []
    for number, (name, count) in enumerate(rows):
        y = 8 + number * step
        wide = (WIDTH - start - 70) * count / most
        parts.append(_text(start - 8, y + 14, "end", str(name)[:18]))
        parts.append(
            format_html(
                '<rect class="bar" x="{}" y="{}" width="{}" height="{}"/>',
                start,
                y,
                f"{max(1.0, wide):.1f}",
                step - 10,
            )
        )
        parts.append(_text(f"{start + wide + 6:.1f}", y + 14, "start", count))
    return frame(parts, title, height=16 + step * len(rows))


def heat(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[str, str], int], title: str
) -> SafeString:
    """A grid of counts: the more, the fuller; each cell bears its number. ``cells`` by (row, column)."""
    side, left, top = 52, 90, 24
    most = max(cells.values(), default=0) or 1
    parts = [
        _text(left + side * n + side // 2, top - 8, "middle", name)
        for n, name in enumerate(columns)
    ]
    for r, row in enumerate(rows):
        parts.append(_text(left - 8, top + side * r + side // 2 + 4, "end", row))
        for c, column in enumerate(columns):
            count = cells.get((row, column), 0)
            parts.append(
                format_html(
                    '<rect class="cell" x="{}" y="{}" width="{}" height="{}" fill-opacity="{}"/>',
                    left + side * c,
                    top + side * r,
                    side - 2,
                    side - 2,
                    f"{0.75 * count / most:.3f}",
                )
            )
            middle = (left + side * c + side // 2 - 1, top + side * r + side // 2 + 4)
            parts.append(_text(*middle, "middle", count))
    return frame(
        parts, title, width=left + side * len(columns) + 8, height=top + side * len(rows) + 8
    )
