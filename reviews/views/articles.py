"""The two texts of a pair article by article: a table of old and new wording, to read beside the columns or to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dedupreview.people.access import person_of, require
from reviews.pairtext import article_html
from reviews.reading import compared
from reviews.views.items import item_for
from screening.evidence.articles import ArticleRow, article_table, has_articles


@dataclass(frozen=True)
class Cell:
    """One side of an article: whose text it is (l or r, canonical), where it starts there, and its marked words."""

    side: str
    start: int | None
    html: SafeString | str


@dataclass(frozen=True)
class Line:
    """A line of the table, in the order of the sides as shown; or ``same`` articles that are folded into one line."""

    kind: str
    note: str
    first: Cell | None = None
    last: Cell | None = None
    same: list[Cell] = field(default_factory=list)


@require("see_home")
@never_cache
@require_GET
def articles(request: HttpRequest, item_id: int) -> HttpResponse:
    """Both texts as a table of articles, for whom the pair itself may be shown; 404 where the texts have none.

    ``?sides=`` lr or rl puts the canonical left on that side, as the reader had it; without it, as the pair page does.
    """
    view = item_for(person_of(request), item_id)
    left, right = view.left.raw, view.right.raw
    if not has_articles(left, right):
        raise Http404
    sides = request.GET.get("sides", "")
    swapped = sides == "rl" if sides in {"lr", "rl"} else view.swapped
    rows = article_table(compared(left, right), left, right)
    titles = [view.left.title or view.left.doc_id, view.right.title or view.right.doc_id]
    context = {
        "item": view.item,
        "lines": lines_of(rows, swapped=swapped),
        "titles": titles[::-1] if swapped else titles,
        "counts": _counts(rows, swapped=swapped),
    }
    return render(request, "reviews/articles.html", context)


def lines_of(rows: Sequence[ArticleRow], *, swapped: bool) -> list[Line]:
    """The table's lines: articles that do not differ fold into one line, whatever number they have kept."""
    lines: list[Line] = []
    for same, group in groupby(rows, key=lambda row: row.kind == "same"):
        if same:
            lines.append(_folded(list(group)))
            continue
        lines.extend(_line(row, swapped) for row in group)
    return lines


def _folded(rows: list[ArticleRow]) -> Line:
    numbers = [row.right.number for row in rows if row.right and row.right.number]
    words = ngettext(
        "%(n)s article without change", "%(n)s articles without change", len(numbers)
    ) % {"n": len(numbers)}
    if not numbers:
        words = _("without change")
    elif len(numbers) == 1:
        words = f"{numbers[0]} · {words}"
    else:
        words = f"{numbers[0]} … {numbers[-1]} · {words}"
    cells = [
        Cell("r", row.right.start, article_html(row.right_segments)) for row in rows if row.right
    ]
    return Line("same", words, same=cells)


def _line(row: ArticleRow, swapped: bool) -> Line:
    left = Cell("l", row.left.start if row.left else None, article_html(row.left_segments))
    right = Cell("r", row.right.start if row.right else None, article_html(row.right_segments))
    first, last = (right, left) if swapped else (left, right)
    return Line(row.kind, _note(row, swapped), first, last)


def _note(row: ArticleRow, swapped: bool) -> str:
    if row.left is None or row.right is None:
        here = row.left is not None
        return _("only left") if here != swapped else _("only right")
    one, other = row.left.number, row.right.number
    if one == other:
        return _("changed")
    if swapped:
        one, other = other, one
    move = f"{one} ↔ {other}"
    return f"{_('renumbered')} {move}" if row.kind == "renumbered" else f"{_('changed')} {move}"


def _counts(rows: Sequence[ArticleRow], *, swapped: bool) -> dict[str, int]:
    kinds = [row.kind for row in rows if (row.right or row.left).number]  # type: ignore[union-attr]
    only = [kinds.count("left_only"), kinds.count("right_only")]
    first, last = only[::-1] if swapped else only
    return {
        "changed": kinds.count("changed"),
        "renumbered": kinds.count("renumbered"),
        "first": first,
        "last": last,
        "same": kinds.count("same"),
        "all": len(kinds),
    }
