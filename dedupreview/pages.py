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


def page_of(request: HttpRequest, rows: Any, per_page: int, total: int | None = None) -> Page[Any]:
    """The page that the address asks for; anything that is no page number is the first, beyond the end the last.

    ``rows`` must have an order that ends in something unique, or rows would repeat from page to page.
    """
    paginator = Paginator(rows, per_page) if total is None else KnownCount(rows, per_page, total)
    try:
        number = int(request.GET.get("page", "1")[:9])
    except ValueError:
        number = 1
    return paginator.page(min(max(number, 1), paginator.num_pages))


def is_partial(request: HttpRequest) -> bool:
    """Whether htmx asks for a part of the page."""
    return request.headers.get("HX-Request") == "true"
