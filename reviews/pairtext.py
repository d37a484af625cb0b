"""The two texts of a comparison as HTML rows, and the change bar as SVG: built in one pass, each text escaped once.

A row is ``<div class="pr …">`` with the cell shown left, the gutter and the cell shown right. A cell says whose text it
is (``data-d``: l or r, canonical) and at which code point of it its paragraph starts (``data-s``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reviews.recordhead import record_head
from reviews.visible import visible_html
from screening.evidence.diff.model import Comparison, Row, Segment

LINE = 36
"""Characters of a line, to guess the height of a row that is not laid out yet."""
HEIGHTS = (2, 3, 4, 6, 9, 14, 22, 36, 60, 100, 200, 400, 800)
"""The heights, in lines, for which the style sheet has a class."""
LONG = 120
"""Characters from which an equal stretch may fold to its two ends when only changes are wanted."""
KIN = 0.5
"""Below this share of equal text the shared passages are what a reader looks for, not the changes."""
SHARED_RUN = 12
"""Characters from which a common stretch counts as shared text in such a pair."""
SHADED_RUN = 6
"""Shorter common stretches are chance, and shading them only noise."""
BINS = 240
"""Marks on the change bar are at least a 240th of its length, and merged where they would overlap."""
MOVES_DRAWN = 40

KINDS = {"equal": "eq", "changed": "ch", "left_only": "lo", "right_only": "ro", "moved": "mv"}


@dataclass(frozen=True)
class Rendered:
    """Rows and change bar, with what the counters say; ``equal_share`` is 0 to 1 of all characters."""

    html: SafeString
    strip: SafeString
    changes: int
    counts: dict[str, int]
    equal_share: float


def render(comparison: Comparison, *, swapped: bool) -> Rendered:
    """Both texts of ``comparison`` as rows; ``swapped`` puts the canonical right on the left."""
    laid = [_laid(row) for row in comparison.rows]
    partners = _partners(comparison)
    names = (_("left"), _("right"))
    moves = {change.move: change.number for change in comparison.changes if change.kind == "move"}
    numbers = [_numbers(row, moves) for row in comparison.rows]
    whose = [change.row for change in comparison.changes]
    share = _equal_share(comparison)
    kin = share < KIN
    far = _beside_the_shared(comparison.rows) if kin else [row.collapse for row in comparison.rows]
    out: list[str] = []
    folded: list[Row] = []
    head = record_head(comparison.rows)
    if head:
        out.append(_record(head))
    for index, row in enumerate(comparison.rows):
        if head and index == head:
            out.append((_fold(folded, kin) if folded else "") + "</details>")
            folded = []
        if far[index]:
            folded.append(row)
        elif folded:
            out.append(_fold(folded, kin))
            folded = []
        sides = (_cell(row.left, "l", names, moves), _cell(row.right, "r", names, moves))
        first, last = reversed(sides) if swapped else sides
        gutter = _gutter(
            row, numbers[index], partners.get(index), comparison, swapped, whose, index
        )
        out.append(
            f'<div class="{_classes(row, laid[index], far[index])}" id="r{index}">{first}'
            f'<div class="gut">{gutter}</div>{last}</div>'
        )
    if folded:
        out.append(_fold(folded, kin))
    if head and head == len(comparison.rows):
        out.append("</details>")
    return Rendered(
        html=mark_safe("".join(out)),
        strip=_shared_strip(comparison, laid) if kin else _strip(comparison, laid, swapped),
        changes=len(comparison.changes),
        counts=_counts(comparison, swapped),
        equal_share=share,
    )


def _laid(row: Row) -> int:
    """The height of a row in lines, guessed, as one of ``HEIGHTS`` or 1: the page's script reads it from the class."""
    longest = max(sum(len(s.text) for s in side) for side in (row.left, row.right))
    lines = -(-longest // LINE)
    return 1 if lines <= 1 else next((h for h in HEIGHTS if h >= lines), HEIGHTS[-1])


def _beside_the_shared(rows: Sequence[Row]) -> list[bool]:
    """Where texts share little, what they share is the news: which rows are neither shared nor next to such a row."""
    shared = [_shares(row) for row in rows]
    return [not any(shared[max(index - 1, 0) : index + 2]) for index in range(len(rows))]


def _shares(row: Row) -> bool:
    return any(
        s.op in {"equal", "move"} and len(s.text) >= SHARED_RUN for s in (*row.left, *row.right)
    )


def _classes(row: Row, lines: int, far: bool) -> str:
    classes = ["pr", KINDS[row.kind]]
    if far:
        classes.append("far")
    if lines > 1:
        classes.append(f"k{lines}")
    return " ".join(classes)


def _partners(comparison: Comparison) -> dict[int, int]:
    """For each row that holds one end of a move, the row of the other end (of its first move)."""
    partners: dict[int, int] = {}
    for move in comparison.moves:
        partners.setdefault(move.left_row, move.right_row)
        partners.setdefault(move.right_row, move.left_row)
    return {row: other for row, other in partners.items() if row != other}


def _numbers(row: Row, moves: Mapping[int | None, int]) -> list[int]:
    found = {s.change for s in (*row.left, *row.right) if s.change}
    found.update(moves[s.move] for s in (*row.left, *row.right) if s.move in moves)
    return sorted(found)


def _fold(rows: Sequence[Row], kin: bool) -> str:
    count = len(rows)
    if kin:
        words = ngettext(
            "%(n)s paragraph without shared text", "%(n)s paragraphs without shared text", count
        )
    else:
        words = ngettext("%(n)s equal paragraph", "%(n)s equal paragraphs", count)
        layers = {row.layer for row in rows}
        if "numbering" in layers:
            words = f"{words} · {_('Articles renumbered')}"
        if layers & {"layout", "normalised"}:
            words = f"{words} · {_('some differ in punctuation, layout or script only')}"
    return f'<div class="fold">{words % {"n": count}}</div>'


def _record(count: int) -> str:
    words = ngettext(
        "Record about the text, on one side only: %(n)s line",
        "Record about the text, on one side only: %(n)s lines",
        count,
    )
    return f'<details class="record"><summary>{words % {"n": count}}</summary>'


def _cell(
    segments: Sequence[Segment], side: str, names: tuple[str, str], moves: Mapping[int | None, int]
) -> str:
    if not segments:
        return f'<div class="cell none" data-d="{side}"></div>'
    last = len(segments)
    # The line break that ends a paragraph is the end of the cell; one that differs has its own mark before it.
    while last and not segments[last - 1].text.strip("\r\n"):
        last -= 1
    parts = [_segment(segment, moves) for segment in segments[: max(last - 1, 0)]]
    if last:
        parts.append(_segment(segments[last - 1], moves, closing=True))
    parts.extend(_break(segment) for segment in segments[last:] if segment.op != "equal")
    return (
        f'<div class="cell" dir="auto" data-d="{side}" data-s="{segments[0].start}"'
        f' data-a="{names[0]}" data-b="{names[1]}">{"".join(parts) or "<br>"}</div>'
    )


def article_html(segments: Sequence[Segment]) -> SafeString:
    """One side of an article, with the same marks as in the two columns."""
    moves: dict[int | None, int] = {}
    return mark_safe(
        "".join(
            _segment(segment, moves, closing=index == len(segments))
            for index, segment in enumerate(segments, 1)
        )
    )


def _break(segment: Segment) -> str:
    """A line break that only one side has: shown as a sign, for there is no letter to mark."""
    number = f' data-c="{segment.change}"' if segment.change else ""
    return (
        f'<mark class="minor"{number}><i class="z" data-c="¶" title="{_("line break")}"></i></mark>'
    )


def _segment(segment: Segment, moves: Mapping[int | None, int], *, closing: bool = False) -> str:
    text = segment.text.rstrip("\r\n") if closing else segment.text
    if segment.op == "equal" and segment.move is None:
        return _same(text, segment.hide)
    html = visible_html(text)
    if segment.op == "cosmetic":
        return f'<mark class="minor" title="{_reason(segment.reason)}">{html}</mark>'
    number = segment.change or moves.get(segment.move)
    named = f' data-c="{number}"' if number else ""
    if segment.op in {"move", "equal"}:
        return f'<span class="mt"{named}>{html}</span>'
    return f"<mark{named}>{html}</mark>"


def _same(text: str, hide: tuple[int, int] | None) -> str:
    if len(text) < SHADED_RUN:
        return visible_html(text)
    if hide is None or len(text) < LONG:
        return f'<span class="same">{visible_html(text)}</span>'
    start, end = hide
    return (
        f'<span class="same">{visible_html(text[:start])}'
        f'<span class="mid">{visible_html(text[start:end])}</span>'
        f'<i class="gap" data-n="{end - start:,}"></i>{visible_html(text[end:])}</span>'
    )


def _reason(reason: str | None) -> str:
    return {
        "punctuation": _("punctuation only"),
        "width": _("width only"),
        "script": _("traditional or simplified only"),
        "case": _("case only"),
        "space": _("spaces only"),
        "break": _("line break only"),
        "invisible": _("invisible characters only"),
        "renumbered": _("Articles renumbered"),
    }.get(reason or "", "")


def _counts(comparison: Comparison, swapped: bool) -> dict[str, int]:
    kinds = [change.kind for change in comparison.changes]
    only = (kinds.count("delete"), kinds.count("insert"))
    first, last = reversed(only) if swapped else only
    layout = sum(change.layer == "layout" for change in comparison.cosmetic)
    renumbered = sum(change.layer == "numbering" for change in comparison.cosmetic)
    return {
        "replaced": kinds.count("replace"),
        "first_only": first,
        "last_only": last,
        "moved": kinds.count("move"),
        "minor": len(comparison.cosmetic) - layout - renumbered,
        "layout": layout,
        "renumbered": renumbered,
    }


def _equal_share(comparison: Comparison) -> float:
    total = shared = 0
    for row in comparison.rows:
        for segment in (*row.left, *row.right):
            total += len(segment.text)
            if segment.op in {"equal", "cosmetic", "move"}:
                shared += len(segment.text)
    return shared / total if total else 1.0


SIGNS = {"changed": "≠", "moved": "⇄", "equal": "≠"}


def _gutter(
    row: Row,
    numbers: list[int],
    partner: int | None,
    comparison: Comparison,
    swapped: bool,
    whose: Sequence[int],
    index: int,
) -> str:
    """The numbers of the row's changes, and what kind of row it is, in a sign that needs no colour."""
    parts = []
    # A change that goes on from the row before is named there.
    numbers = [n for n in numbers if whose[n - 1] == index or row.kind == "moved"]
    if numbers:
        sign = SIGNS.get(row.kind) or ("◧" if (row.kind == "left_only") != swapped else "◨")
        first, last = numbers[0], numbers[-1]
        words = str(first) if first == last else f"{first}–{last}"
        place = f' id="change-{first}"' if whose[first - 1] == index else ""
        parts.append(
            f'<a class="go" href="#change-{first}"{place} data-go="{first}"'
            f' data-c="{first}" aria-label="{_("change %(number)s") % {"number": words}}">'
            f'<b aria-hidden="true">{sign}</b> {words}</a>'
        )
    if partner is not None:
        other = comparison.rows[partner]
        number = other.right_number if row.left else other.left_number
        words = _("para. %(number)s") % {"number": number or other.left_number}
        parts.append(f'<a class="to" href="#r{partner}">↕ {words}</a>')
    return "".join(parts)


# --- The change bar ---------------------------------------------------------------------------------------------------


def _strip(comparison: Comparison, lines: Sequence[int], swapped: bool) -> SafeString:
    """Where the changes lie, on a bar 1000 wide and 14 high: upper half the side shown left, lower half the right."""
    total = sum(lines) or 1
    before = [0, *accumulate(lines)]
    out = [_moves(comparison, before, lines, swapped)]
    for left, right, start, end, first, last in _merged(_marks(comparison, before, lines, total)):
        x, width = f"{start:.1f}", f"{max(end - start, 1000 / BINS):.1f}"
        upper, lower = (right, left) if swapped else (left, right)
        out.append(f'<a href="#change-{first}" tabindex="-1" data-to="{first}" data-end="{last}">')
        if upper:
            out.append(f'<rect class="l" x="{x}" y="0" width="{width}" height="7"/>')
        if lower:
            out.append(f'<rect class="r" x="{x}" y="7" width="{width}" height="7"/>')
        out.append(f'<rect class="hit" x="{x}" y="0" width="{width}" height="14"/></a>')
    return mark_safe("".join(out))


def _shared_strip(comparison: Comparison, lines: Sequence[int]) -> SafeString:
    """Where the shared text lies, in a pair that shares little: neighbouring rows are one mark."""
    total = sum(lines) or 1
    before = [0, *accumulate(lines)]
    out: list[str] = []
    start: int | None = None
    for index, row in enumerate([*comparison.rows, None]):
        if row is not None and _shares(row):
            start = index if start is None else start
        elif start is not None:
            x = 1000 * before[start] / total
            width = max(1000 * (before[index] - before[start]) / total, 1000 / BINS)
            place = f'x="{x:.1f}" width="{width:.1f}"'
            out.append(
                f'<a href="#r{start}" tabindex="-1" data-row="{start}"><rect class="s" {place} y="2"'
                f' height="10"/><rect class="hit" {place} y="0" height="14"/></a>'
            )
            start = None
    return mark_safe("".join(out))


Mark = tuple[bool, bool, float, float, int, int]


def _marks(
    comparison: Comparison, before: Sequence[int], lines: Sequence[int], total: int
) -> Iterator[Mark]:
    """(in left, in right, from, to, first change, last change) of every change, placed by offset within its row."""
    until = {
        segment.change: index
        for index, row in enumerate(comparison.rows)
        for segment in (*row.left, *row.right)
        if segment.change
    }
    for change in comparison.changes:
        if change.kind == "move":
            continue
        row = comparison.rows[change.row]
        places = []
        for side, from_, to in (
            (row.left, change.left_start, change.left_end),
            (row.right, change.right_start, change.right_end),
        ):
            if side and from_ < to:
                origin, chars = side[0].start, max(side[-1].end - side[0].start, 1)
                places.append(((from_ - origin) / chars, (to - origin) / chars))
        if not places:
            places = [(0.0, 0.0)]
        base, size = before[change.row], lines[change.row]
        start = 1000 * (base + size * min(max(min(p[0] for p in places), 0), 1)) / total
        end = 1000 * (base + size * min(max(p[1] for p in places), 1)) / total
        last = until.get(change.number, change.row)
        if last > change.row and change.kind in {"delete", "insert"}:
            end = 1000 * (before[last] + lines[last]) / total
        yield (
            change.left_start < change.left_end,
            change.right_start < change.right_end,
            start,
            max(start, end),
            change.number,
            change.number,
        )


def _merged(marks: Iterable[Mark]) -> Iterator[Mark]:
    """Marks that would touch become one, so that the bar stays small for any number of changes."""
    step = 1000 / BINS
    last: Mark | None = None
    for mark in marks:
        if last is not None and last[2] <= mark[2] < max(last[3], last[2] + step):
            last = (
                last[0] or mark[0],
                last[1] or mark[1],
                last[2],
                max(last[3], mark[3]),
                min(last[4], mark[4]),
                max(last[5], mark[5]),
            )
            continue
        if last is not None:
            yield last
        last = mark
    if last is not None:
        yield last


def _moves(
    comparison: Comparison, before: Sequence[int], lines: Sequence[int], swapped: bool
) -> str:
    """A line from where a moved block stands on one side to where it stands on the other."""
    total = before[-1] or 1
    out = []
    for move in comparison.moves[:MOVES_DRAWN]:
        ends = [
            1000 * (before[row] + lines[row] / 2) / total for row in (move.left_row, move.right_row)
        ]
        top, bottom = reversed(ends) if swapped else ends
        out.append(f'<path class="m" d="M{top:.1f} 0L{bottom:.1f} 14"/>')
    return "".join(out)
