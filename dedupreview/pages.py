"""What list pages and downloads have in common."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

STOP_POLLING = 286
"""The status at which htmx stops asking again."""


class KnownCount(Paginator):  # type: ignore[type-arg]
    """A paginator that is told how many rows there are, where counting them would cost more than the page."""

    def __init__(self, rows: Any, per_page: int, total: int) -> None:
        super().__init__(rows, per_page)
        self.count = total


def page_of(
    request: HttpRequest, rows: Any, per_page: int, total: int | None = None, *, key: str = ""
) -> Page[Any]:
    """The page that the address asks for; anything that is no page number is the first, beyond the end the last.

    ``rows`` must have an order that ends in something unique, or rows would repeat from page to page. ``key``: one field
    that is unique among ``rows`` and orders them. Then a page is found in an index of that field alone, from the nearer
    end, and nothing is joined to the rows before it: the last page of a million is not slower than the first by much.
    """
    paginator = Paginator(rows, per_page) if total is None else KnownCount(rows, per_page, total)
    try:
        number = int(request.GET.get("page", "1")[:9])
    except ValueError:
        number = 1
    page = paginator.page(min(max(number, 1), paginator.num_pages))
    if key:
        found = _keys(rows, key, paginator.count, (page.number - 1) * per_page, per_page)
        page.object_list = list(rows.filter(**{f"{key}__in": found}).order_by(key))
    return page


def _keys(rows: Any, key: str, count: int, start: int, length: int) -> list[Any]:
    """The keys of ``length`` rows from ``start`` on."""
    end = min(start + length, count)
    if start <= count // 2:
        return list(rows.order_by(key).values_list(key, flat=True)[start:end])
    backwards = rows.order_by(f"-{key}").values_list(key, flat=True)
    return list(backwards[count - end : count - start])


def is_partial(request: HttpRequest) -> bool:
    """Whether htmx asks for a part of the page."""
    return request.headers.get("HX-Request") == "true"
