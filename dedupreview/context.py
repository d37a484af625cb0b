"""What every page needs to know, and the language it is written in."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation

from dedupreview import health
from dedupreview.notices import notices_for
from dedupreview.people.access import PERMISSIONS, may

WORKERS_REMEMBERED = 2.0
"""Seconds for which the number of workers is remembered: a page and its polls ask the queue server once."""

_workers: tuple[float, int | None] = (float("-inf"), None)


def workers_now() -> int | None:
    """Living background workers, at most two seconds old; None if the queue server does not answer."""
    global _workers
    asked, count = _workers
    now = time.monotonic()
    if now - asked > WORKERS_REMEMBERED:
        count = health.workers_seen()
        _workers = (now, count)
    return count


def site(request: HttpRequest) -> dict[str, object]:
    """Context processor: ``may`` (what the person's role allows, by action); ``workers`` and ``notices`` are functions, asked only if used."""
    user = getattr(request, "user", None)
    return {
        "may": {action: may(user, action) for action in PERMISSIONS},
        "workers": workers_now,
        "notices": partial(notices_for, request),
        "languages": settings.LANGUAGES,
    }


def language(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: the language chosen on the page, else Chinese.

    The browser's own language is not asked: it says which browser was installed, not what an editor of Chinese texts
    reads, and two people at one desk should see the same words.
    """
    known = {code for code, _name in settings.LANGUAGES}

    def middleware(request: HttpRequest) -> HttpResponseBase:
        chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
        code = chosen if chosen in known else settings.LANGUAGE_CODE
        with translation.override(code):
            request.LANGUAGE_CODE = code
            response = get_response(request)
            response.headers.setdefault("Content-Language", code)
            return response

    return middleware
