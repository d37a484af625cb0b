"""A file of the pairs of a round as the answer to a request, for the page and the API alike."""

from __future__ import annotations

from django.http import StreamingHttpResponse

from reviews.exchange.pairs import FILES, Kind, write_file
from reviews.models import ReviewItem, ReviewRound


def settled_in(round: ReviewRound) -> int:
    """How many pairs of the round are closed, and so have a conclusion to hand on."""
    return round.items.filter(state=ReviewItem.State.CLOSED).count()


def attachment(round: ReviewRound, name: str, kind: Kind) -> StreamingHttpResponse:
    """The file as a download that is made while it is sent."""
    response = StreamingHttpResponse(write_file(round, name, kind), content_type=FILES[name])
    response["Content-Disposition"] = f'attachment; filename="round-{round.pk}-{kind}-{name}"'
    return response
