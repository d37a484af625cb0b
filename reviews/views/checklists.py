"""The list to go through before a run or a round is published."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from dedupreview.people.access import may, person_of, require
from reviews import checklist as services
from reviews.models import ReviewRound
from screening.reach import run_for


@require("see_runs")
@require_http_methods(["GET", "POST"])
def of_run(request: HttpRequest, run_id: int) -> HttpResponse:
    """The points of a run; a POST signs one."""
    run = run_for(request, run_id)
    if request.method == "POST":
        return _sign(request, "run", run.pk, "reviews:run-checklist")
    context = {"run": run, "collection": run.collection, "section": "collections"}
    return _page(request, context, services.of_run(run))


@require("see_rounds")
@require_http_methods(["GET", "POST"])
def of_round(request: HttpRequest, round_id: int) -> HttpResponse:
    """The points of a round; a POST signs one."""
    rows = ReviewRound.objects.select_related("collection", "run__collection")
    round = get_object_or_404(rows, pk=round_id)
    if request.method == "POST":
        return _sign(request, "round", round.pk, "reviews:round-checklist")
    context = {"round": round, "collection": round.collection, "section": "rounds"}
    return _page(request, context, services.of_round(round))


def _page(
    request: HttpRequest, context: dict[str, Any], points: list[services.Point]
) -> HttpResponse:
    context |= {"points": points, "met": sum(point.state == "met" for point in points)}
    return render(request, "reviews/checklist.html", context)


def _sign(request: HttpRequest, kind: str, key: int, page: str) -> HttpResponse:
    if not may(request.user, "manage_rounds"):
        raise Http404
    code, note = request.POST.get("point", ""), request.POST.get("note", "")
    try:
        services.sign(kind=kind, key=key, code=code, note=note, actor=person_of(request))
    except services.ChecklistError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Signed."))
    return redirect(page, key)
