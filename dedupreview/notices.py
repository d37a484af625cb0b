"""What has happened or is about to, said on whatever page its person looks at: never who answered what.

A notice goes away when its page is opened or it is put away, and comes back when there is something new to say. What
was put away is remembered in the session.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dedupreview.home import conflicts_of
from dedupreview.people.access import may
from dedupreview.people.models import Person
from reviews.models import ReviewRound, ReviewSlot, ReviewTable
from screening.models import DocumentImport, ScreeningRun

NEWS_FOR = timedelta(hours=24)
"""How long a finished run, import or export is news."""
ENDING_SOON = timedelta(minutes=5)
"""How long before its end a seat is worth a word."""
SHOWN = 2
"""Notices on a page at most; the rest comes up as these go away."""
PUT_AWAY = "notices_put_away"
REMEMBERED = 200
"""Keys that a session remembers."""


@dataclass(frozen=True, slots=True)
class Notice:
    """``key`` names the notice and what it says: other words, other key. ``tone`` is info, warning or error.

    On the page ``said_on`` the same is said already.
    """

    key: str
    words: str
    url: str
    action: str
    tone: str = "info"
    said_on: str = ""


def notices_for(request: HttpRequest) -> list[Notice]:
    """The notices to show on the page that is looked at; those that lead to this page, or the one before, are put away."""
    person = getattr(request, "user", None)
    if not isinstance(person, Person):
        return []
    away = set(request.session.get(PUT_AWAY, []))
    path, before = page_looked_at(request), _page_before(request)
    shown = []
    for notice in notices_of(person):
        if notice.key in away:
            continue
        if notice.url in (path, before):
            put_away(request, [notice.key])
        elif notice.said_on != path:
            shown.append(notice)
    return shown[:SHOWN]


def put_away(request: HttpRequest, keys: Iterable[str]) -> None:
    """Remember that these need not be said again."""
    away = [key for key in request.session.get(PUT_AWAY, []) if key not in keys]
    request.session[PUT_AWAY] = [*away, *keys][-REMEMBERED:]


def page_looked_at(request: HttpRequest) -> str:
    """The page's path, also where only a part of it is asked for anew."""
    return urlsplit(request.headers.get("HX-Current-URL", "")).path or request.path


def _page_before(request: HttpRequest) -> str:
    """The page of this site that led here: what finished while it was open was seen there."""
    came_from = urlsplit(request.headers.get("Referer", ""))
    return came_from.path if came_from.netloc == request.get_host() else ""


def notices_of(person: Person) -> list[Notice]:
    """Everything worth saying to this person now, most urgent first."""
    found = _ending_seats(person)
    if may(person, "manage_runs"):
        found += [*_runs(person), *_imports(person)]
    if may(person, "manage_tables"):
        found += _tables(person)
    if may(person, "arbitrate"):
        found += _conflicts(person)
    return found


def _ending_seats(person: Person) -> list[Notice]:
    now = timezone.now()
    seats = ReviewSlot.objects.filter(
        annotator=person,
        state=ReviewSlot.State.CLAIMED,
        item__round__state="open",
        lease_expires_at__gt=now,
        lease_expires_at__lte=now + ENDING_SOON,
    ).select_related("item__round")
    return [
        Notice(
            f"seat-{seat.pk}-{seat.lease_expires_at:%Y%m%d%H%M%S}",
            _("Pair %(number)s of “%(round)s” is yours until %(time)s; then others may take it.")
            % {
                "number": seat.item.position,
                "round": seat.item.round.name,
                "time": timezone.localtime(seat.lease_expires_at).strftime("%H:%M"),
            },
            reverse("reviews:item", args=[seat.item_id]),
            _("Go on judging"),
            "warning",
        )
        for seat in seats
    ]


def _news(rows: QuerySet[Any], person: Person) -> QuerySet[Any]:
    """The person's own, finished within a day, newest first; one more than a page shows is enough."""
    since = timezone.now() - NEWS_FOR
    return rows.filter(created_by=person, finished_at__gt=since).order_by("-pk")[: SHOWN + 1]


def _over(
    kind: str,
    row: ScreeningRun | DocumentImport | ReviewTable,
    words: str,
    url: str,
    action: str,
    *,
    in_steps: bool = False,
) -> Notice:
    """A notice of what is over. What is done ``in_steps`` the first page tells in its steps, but not what stopped."""
    failed = row.state == "failed"
    said_on = reverse("home") if in_steps and not failed else ""
    key = f"{kind}-{row.pk}-{row.state}"
    return Notice(key, words, url, action, "error" if failed else "info", said_on)


def _runs(person: Person) -> list[Notice]:
    """Finished runs; one that a round was opened on has been looked at."""
    states = ScreeningRun.State
    used = ReviewRound.objects.filter(run=OuterRef("pk"))
    over = ScreeningRun.objects.filter(
        ~Exists(used), state__in=(states.DONE, states.FAILED)
    ).select_related("collection")
    found = []
    for run in _news(over, person):
        names = {"number": run.pk, "collection": run.collection}
        if run.state == states.FAILED:
            words = _("Run %(number)s of “%(collection)s” has stopped.") % names
        else:
            count = run.candidate_count or 0
            words = ngettext(
                "Run %(number)s of “%(collection)s” is done: %(count)s candidate pair.",
                "Run %(number)s of “%(collection)s” is done: %(count)s candidate pairs.",
                count,
            ) % {**names, "count": count}
        url = reverse("screening:run-detail", args=[run.pk])
        found.append(_over("run", run, words, url, _("Look at the run"), in_steps=True))
    return found


def _imports(person: Person) -> list[Notice]:
    """Finished imports; one whose collection was screened since has been looked at."""
    states = DocumentImport.State
    used = ScreeningRun.objects.filter(
        collection=OuterRef("collection"), created_at__gt=OuterRef("finished_at")
    )
    over = DocumentImport.objects.filter(
        ~Exists(used), state__in=(states.DONE, states.FAILED)
    ).select_related("collection")
    return [
        _over(
            "import",
            row,
            (
                _("The import into “%(collection)s” has stopped.")
                if row.state == states.FAILED
                else _("The import into “%(collection)s” is done.")
            )
            % {"collection": row.collection},
            reverse("screening:import-detail", args=[row.pk]),
            _("Look at it"),
            in_steps=True,
        )
        for row in _news(over, person)
    ]


def _tables(person: Person) -> list[Notice]:
    states = ReviewTable.State
    over = ReviewTable.objects.filter(state__in=(states.DONE, states.FAILED)).select_related(
        "round"
    )
    return [
        _over(
            "table",
            row,
            (
                _("Table %(number)s of “%(round)s” could not be made.")
                if row.state == states.FAILED
                else _("Table %(number)s of “%(round)s” is signed and ready.")
            )
            % {"number": row.number, "round": row.round.name},
            reverse("reviews:table-detail", args=[row.pk]),
            _("Look at the table"),
        )
        for row in _news(over, person)
    ]


def _conflicts(person: Person) -> list[Notice]:
    """One for each round; put away, it comes back when there are more."""
    return [
        Notice(
            f"conflicts-{round.pk}-{waiting}",
            ngettext(
                "%(count)s conflict in “%(round)s” is waiting for you.",
                "%(count)s conflicts in “%(round)s” are waiting for you.",
                waiting,
            )
            % {"count": waiting, "round": round.name},
            reverse("reviews:conflict-list", args=[round.pk]),
            _("To the conflicts"),
            said_on=reverse("home"),
        )
        for round, waiting in conflicts_of(person)
        if waiting
    ]
