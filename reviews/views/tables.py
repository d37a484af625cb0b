"""Exporting, reading and downloading signed review tables."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dedupreview.pages import STOP_POLLING, is_partial
from dedupreview.people.access import person_of, require
from reviews import tables as services
from reviews.models import ReviewRound, ReviewTable

UNDER_WAY = (ReviewTable.State.QUEUED, ReviewTable.State.RUNNING)


@require("manage_tables")
@require_POST
def export(request: HttpRequest, round_id: int) -> HttpResponse:
    """Ask for a table of the round; while one is being made, that one is shown."""
    round = get_object_or_404(ReviewRound, pk=round_id)
    table = round.tables.filter(state__in=UNDER_WAY).first()
    if table is None:
        try:
            table = services.request_table(round=round, actor=person_of(request))
        except services.TableError as error:
            messages.error(request, str(error))
            return redirect("reviews:round-detail", round_id=round.pk)
    else:
        messages.info(request, _("A table of this round is already being made."))
    return redirect("reviews:table-detail", table_id=table.pk)


@require("see_tables")
@never_cache
@require_safe
def table_detail(request: HttpRequest, table_id: int) -> HttpResponse:
    """One table: its state, its digests, the key it is signed with and how a stranger verifies it."""
    table = _table(table_id)
    over = table.state not in UNDER_WAY
    context = {
        "table": table,
        "round": table.round,
        "collection": table.round.collection,
        "over": over,
        "polled": is_partial(request),
        "section": "rounds",
    }
    if not is_partial(request):
        return render(request, "reviews/table_detail.html", context)
    response = render(request, "reviews/_table.html", context)
    if over:
        response.status_code = STOP_POLLING
    return response


def _table(table_id: int) -> ReviewTable:
    rows = ReviewTable.objects.select_related("round__collection", "previous")
    return get_object_or_404(rows, pk=table_id)


@require("see_tables")
@require_safe
def download(request: HttpRequest, table_id: int) -> StreamingHttpResponse:
    """The folder of a finished table as one zip."""
    table = _table(table_id)
    if table.state != ReviewTable.State.DONE or not services.table_folder(table).is_dir():
        raise Http404
    return StreamingHttpResponse(
        services.zip_stream(table),
        content_type="application/zip",
        headers={
            "Content-Disposition": content_disposition_header(True, services.download_name(table))
        },
    )
