"""Who may do what: one table of roles, one decorator that asks it, one filter for what lies in reach."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase

from dedupreview.people.models import Person, Role

View = TypeVar("View", bound=Callable[..., HttpResponseBase])
Row = TypeVar("Row", bound=Model)

_ALL = frozenset(Role.values)
_ADMIN = frozenset({Role.ADMIN.value})
_OVERSIGHT = _ADMIN | {Role.AUDITOR.value}
_JUDGES = frozenset({Role.ANNOTATOR.value, Role.ARBITRATOR.value, Role.ADMIN.value})

PERMISSIONS: dict[str, frozenset[str]] = {
    # Everybody signed in; collections and documents only within reach, see within_reach().
    "see_home": _ALL,
    "see_documents": _ALL,
    # Scores and suggestions sway a judgment, so runs and candidates are not for those who only judge.
    "see_runs": _OVERSIGHT,
    "see_candidates": _OVERSIGHT,
    # Labels from outside sway a judgment too.
    "see_label_sets": _OVERSIGHT,
    "see_rounds": _OVERSIGHT,
    "see_tables": _OVERSIGHT,
    "see_audit": _OVERSIGHT,
    "manage_collections": _ADMIN,
    "manage_runs": _ADMIN,
    "manage_rounds": _ADMIN,
    "manage_label_sets": _ADMIN,
    "manage_tables": _ADMIN,
    "manage_people": _ADMIN,
    # Signing a stage of a round: whoever saw it through or oversees it.
    "sign_off": _ALL,
    # Which rounds and items is decided by RoundMember, row by row.
    "judge": _JUDGES,
    "arbitrate": _JUDGES,
}
"""The roles that may do each thing. Rules about single rows stand beside the functions that fetch them."""


def may(person: object, action: str) -> bool:
    """Whether the person's role allows the action; inactive and anonymous people may do nothing."""
    if not isinstance(person, Person) or not person.is_active:
        return False
    role = Role.ADMIN.value if person.is_superuser else person.role
    return role in PERMISSIONS[action]


def require(action: str) -> Callable[[View], View]:
    """Decorate a view: strangers are sent to the login page; for other roles the page does not exist (404)."""
    if action not in PERMISSIONS:
        raise KeyError(action)

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not may(request.user, action):
                raise Http404
            return view(request, *args, **kwargs)

        guarded.required_action = action  # type: ignore[attr-defined]
        return cast("View", guarded)

    return decorate


def person_of(request: HttpRequest) -> Person:
    """The signed-in person of a view behind :func:`require`."""
    assert isinstance(request.user, Person)
    return request.user


def within_reach(rows: QuerySet[Row], person: Person, *, through: str) -> QuerySet[Row]:
    """Only the rows the person may see: all for admins and auditors, else those of their collections.

    ``through`` is the path from the row to the collection's memberships, for example ``collection__memberships``.
    """
    if person.is_auditor:
        return rows
    return rows.filter(**{f"{through}__person": person})
