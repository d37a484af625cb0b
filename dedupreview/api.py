"""The JSON API: one door, keys instead of cookies, every answer JSON, every error ``{detail, code}``."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import authenticate
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer

from dedupreview.people import tokens
from dedupreview.people.models import Person


class Failure(Schema):
    detail: str
    code: str


class ApiError(Exception):
    """Stops a call with an HTTP status, a sentence for a person and a code for a program."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail


class BearerKey(HttpBearer):
    """``Authorization: Bearer …`` with a key from ``POST /tokens``."""

    def authenticate(self, request: HttpRequest, token: str) -> Person | None:
        person = tokens.person_of(token)
        if person is not None:
            request.user = person
        return person


# No documentation page: it would load its scripts from elsewhere. The schema is at openapi.json.
api = NinjaAPI(
    title="dedupreview",
    version="1",
    auth=BearerKey(),
    docs_url=None,
    openapi_url="/openapi.json",
    urls_namespace="api",
)


def failure(request: HttpRequest, status: int, code: str, detail: str) -> HttpResponse:
    return api.create_response(request, {"detail": detail, "code": code}, status=status)


@api.exception_handler(ApiError)
def _api_error(request: HttpRequest, error: ApiError) -> HttpResponse:
    return failure(request, error.status, error.code, error.detail)


@api.exception_handler(AuthenticationError)
def _unauthenticated(request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
    return failure(
        request, 401, "unauthenticated", _("Send a valid key in the Authorization header.")
    )


@api.exception_handler(OperationalError)
def _busy(request: HttpRequest, error: OperationalError) -> HttpResponse:
    """SQLite has one writer at a time and waits its set time for it: a client may try again, nothing was stored."""
    if "locked" not in str(error):
        raise error
    words = _("Too many write at once; nothing was stored. Please try again.")
    answer = failure(request, 503, "busy", words)
    answer["Retry-After"] = "1"
    return answer


@api.exception_handler(Http404)
def _missing(request: HttpRequest, _error: Http404) -> HttpResponse:
    return failure(request, 404, "not_found", _("There is no such thing within your reach."))


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    places = "; ".join(
        f"{'.'.join(str(part) for part in entry['loc'][1:])}: {entry['msg']}"
        for entry in error.errors
    )
    return failure(request, 422, "invalid", places)


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    return failure(request, error.status_code, "bad_request", str(error))


class Credentials(Schema):
    username: str
    password: str


class Key(Schema):
    token: str


@api.post("/tokens", auth=None, response={200: Key, 401: Failure, 429: Failure}, tags=["people"])
def make_token(request: HttpRequest, data: Credentials) -> Any:
    """Exchange a name and password for a key; attempts are throttled as on the login page."""
    person = authenticate(request, username=data.username, password=data.password)
    if getattr(request, "axes_locked_out", False):
        raise ApiError(429, "locked_out", _("Too many attempts. Try again in ten minutes."))
    if not isinstance(person, Person):
        raise ApiError(401, "bad_credentials", _("Name or password is wrong."))
    return {"token": tokens.issue(person=person)}
