"""The first page, the background banner and the pages for when something is wrong."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dedupreview import apidocs
from dedupreview.api import api
from dedupreview.errors import passing
from dedupreview.home import home_of
from dedupreview.notices import put_away
from dedupreview.pages import is_partial
from dedupreview.people.access import person_of, require

KEY_CHARS = 100
"""Longest key of a notice that is remembered."""


@require("see_home")
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What is next for this person."""
    return render(request, "home.html", home_of(person_of(request)))


@require("see_home")
@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """The API to read: every call with an example, made from the description that programs read."""
    address = request.build_absolute_uri("/").rstrip("/")
    context = {"calls": apidocs.calls(api.get_openapi_schema(), address), "address": address}
    return render(request, "api_docs.html", context)


@require("manage_runs")
@never_cache
@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """The banner that says whether anything works in the background; empty if all is well."""
    return render(request, "_workers.html")


@require("see_home")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notices(request: HttpRequest) -> HttpResponse:
    """The notices of the page that is looked at; POST puts one away."""
    if request.method == "POST":
        put_away(request, [request.POST.get("key", "")[:KEY_CHARS]])
        if not is_partial(request):
            back = request.POST.get("next", "")
            safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
            return redirect(back if safe else "home")
    return render(request, "_notices.html")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request could not be understood."""
    return render(request, "errors/400.html", status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: signed in, but this is not theirs."""
    return render(request, "errors/403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: not there, or not for this person; the page does not say which."""
    return render(request, "errors/404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: rendered without the request, whose session or database may be what failed.

    503 where the database was only busy or out of reach for a moment. Django calls this while it handles the error.
    """
    if passing(sys.exc_info()[1]):
        busy = HttpResponse(render(None, "errors/503.html").content, status=503)
        busy["Retry-After"] = "1"
        return busy
    return HttpResponse(render(None, "errors/500.html").content, status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that came too late or from elsewhere."""
    return render(request, "errors/csrf.html", status=403)


def locked_out(request: HttpRequest, *details: object) -> HttpResponse:
    """Too many wrong passwords: say how long to wait."""
    return render(request, "registration/locked_out.html", status=429)
