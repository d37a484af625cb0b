"""The JSON API: one door, keys instead of cookies, every answer JSON, every error ``{detail, code}``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth import authenticate
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.security import HttpBearer

from dedupreview.errors import passing
from dedupreview.people import tokens
from dedupreview.people.models import Person

PREFIX = "/api/"


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


class DescribedAPI(NinjaAPI):
    """Describes for every operation the refusals that any call may meet, besides its own."""

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        schema = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        for operations in schema["paths"].values():
            for operation in operations.values():
                for status, words in _refusals_of(operation):
                    operation["responses"].setdefault(status, _described(words))
        return schema


def _refusals_of(operation: dict[str, Any]) -> list[tuple[int, str]]:
    found = [(503, "Nothing was stored: the database is busy or out of reach. Try again.")]
    if "security" in operation:
        found.append((401, "No valid key in the Authorization header"))
    if "requestBody" in operation:
        found += [(400, "The body cannot be read"), (413, "The body is too large")]
    if "requestBody" in operation or operation.get("parameters"):
        found.append((422, "A field is missing or is not what it should be"))
    return found


def _described(words: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Failure"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}


# Its own documentation page would load scripts from elsewhere; ours is views.api_docs, made from openapi.json.
api = DescribedAPI(
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
    """Nothing was stored, and the same call may well succeed soon: a client may try again."""
    if not passing(error):
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
    places = "; ".join(f"{_place(entry['loc'])}: {_fault(entry)}" for entry in error.errors)
    return failure(request, 422, "invalid", places)


def _place(location: tuple[Any, ...]) -> str:
    """``body.data.label`` is ``label`` to whoever sent it; the body itself is ``body``."""
    kind, *rest = (str(part) for part in location)
    if rest and kind == "body":
        rest = rest[1:]
    return ".".join(rest) or kind


def _fault(entry: dict[str, Any]) -> str:
    """What is wrong with a field, in the language of the request: the library's own words are English."""
    kind = str(entry["type"])
    if kind == "missing":
        return _("is missing")
    if kind.startswith("uuid"):
        return _("must be a UUID")
    words = {
        "string": _("must be a text"),
        "int": _("must be a whole number"),
        "bool": _("must be true or false"),
        "list": _("must be a list"),
        "dict": _("must be an object"),
        "model": _("must be an object"),
    }
    return words.get(kind.split("_")[0], _("is not what it should be"))


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    words = str(error)
    if error.status_code == 400:
        words = _("The body of the request cannot be read as JSON.")
    return failure(request, error.status_code, "bad_request", words)


def json_errors(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: whatever goes wrong below ``/api/``, also before or beside the API itself, is ``{detail, code}``."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        kind = response.headers.get("Content-Type", "")
        if response.status_code < 400 or not request.path.startswith(PREFIX) or "json" in kind:
            return response
        code, words = _refusal(response.status_code)
        answer = JsonResponse({"detail": words, "code": code}, status=response.status_code)
        for name in ("Allow", "Retry-After", "Content-Language"):
            if name in response.headers:
                answer.headers[name] = response.headers[name]
        return answer

    return middleware


def _refusal(status: int) -> tuple[str, str]:
    known = {
        404: ("not_found", _("There is no such thing within your reach.")),
        405: ("method_not_allowed", _("This address does not take that method.")),
        413: ("too_large", _("The request is too large.")),
        429: ("locked_out", _("Too many attempts. Try again in ten minutes.")),
        503: ("busy", _("Too many write at once; nothing was stored. Please try again.")),
    }
    if status >= 500:
        return known.get(status, ("error", _("Something went wrong here; it is in the log.")))
    return known.get(status, ("bad_request", _("The request cannot be understood.")))


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
