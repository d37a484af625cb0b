"""Handing the pairs of a round to other labelling tools."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dedupreview.people.access import require
from reviews.exchange import FILES, KINDS, attachment, settled_in
from reviews.models import ReviewRound


@require("see_tables")
@never_cache
@require_safe
def exchange(request: HttpRequest, round_id: int) -> HttpResponse:
    """The files that the round can be handed out as, without labels and with those of closed pairs."""
    round = get_object_or_404(ReviewRound.objects.select_related("collection"), pk=round_id)
    context = {
        "round": round,
        "collection": round.collection,
        "pairs": round.items.count(),
        "settled": settled_in(round),
        "section": "rounds",
    }
    return render(request, "reviews/exchange.html", context)


@require("see_tables")
@never_cache
@require_safe
def exchange_file(
    request: HttpRequest, round_id: int, kind: str, file: str
) -> StreamingHttpResponse:
    """One of those files."""
    round = get_object_or_404(ReviewRound, pk=round_id)
    if kind not in KINDS or file not in FILES:
        raise Http404
    return attachment(round, file, kind)
