"""The API's routes about rounds and seats."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status

from dedupreview.api import Failure
from dedupreview.digests import timestamp
from dedupreview.people.access import person_of
from reviews import queue
from reviews.api.common import (
    item_of,
    one_of,
    refused,
    round_of,
    rounds_of,
    slot_of,
)
from reviews.errors import ReviewError
from reviews.models import (
    ReviewItem,
    RoundMember,
    SeatDecline,
)
from screening.models import Document

router = Router(tags=["reviews"])


class RoundOut(Schema):
    id: str
    name: str
    collection: str
    state: str
    part: str | None
    judgments_per_item: int
    guideline_version: int


class RoundsOut(Schema):
    rounds: list[RoundOut]


@router.get("/rounds", response=RoundsOut)
def list_rounds(request: HttpRequest) -> Any:
    """The rounds within the caller's reach, newest first, with the caller's own part."""
    person = person_of(request)
    parts = dict(
        RoundMember.objects.filter(person=person, active=True).values_list("round_id", "part")
    )
    rows = rounds_of(person).select_related("collection").order_by("-id")
    return {
        "rounds": [
            {
                "id": str(row.pk),
                "name": row.name,
                "collection": row.collection.slug,
                "state": row.state,
                "part": parts.get(row.pk),
                "judgments_per_item": row.judgments_per_item,
                "guideline_version": row.guideline_version,
            }
            for row in rows
        ]
    }


class TextOut(Schema):
    doc_id: str
    source_id: str | None
    version: str | None
    title: str | None
    captured_at: str | None
    raw: str


class Excerpt(Schema):
    text: str
    left_start: int
    right_start: int


class Evidence(Schema):
    excerpts: list[Excerpt]
    fact_changes: list[dict[str, Any]]
    scores: dict[str, Any] | None = None


class ClaimOut(Schema):
    item: str
    slot: str
    lease_expires_at: str
    left: TextOut
    right: TextOut
    evidence: Evidence


def _text(document: Document) -> dict[str, Any]:
    return {
        "doc_id": document.doc_id,
        "source_id": document.source_id,
        "version": document.version,
        "title": document.title,
        "captured_at": document.captured_at,
        "raw": document.raw,
    }


def _evidence(item: ReviewItem) -> dict[str, Any]:
    found, raw = item.candidate, item.pair.left.raw
    scores = None
    if item.round.show_scores:
        scores = {
            "rank": found.rank,
            "channels": found.channels,
            "jaccard": found.jaccard,
            "containment": found.containment,
            "suggestion": found.suggestion,
        }
    return {
        "excerpts": [
            {"text": raw[start:end], "left_start": start, "right_start": right}
            for start, end, right, _right_end in found.excerpts
        ],
        "fact_changes": found.fact_changes,
        "scores": scores,
    }


@router.post(
    "/rounds/{round_id}/claim", response={200: ClaimOut, 204: None, 409: Failure, 404: Failure}
)
def claim(request: HttpRequest, round_id: str) -> Any:
    """Take a seat, or get back the one the caller holds; 204 where there is nothing to do."""
    try:
        slot = queue.claim(round=round_of(request, round_id), person=person_of(request))
    except ReviewError as error:
        raise refused(error) from error
    if isinstance(slot, queue.Nothing):
        return Status(204, None)
    item = item_of(request, str(slot.item_id))
    assert slot.lease_expires_at is not None
    return {
        "item": str(item.pk),
        "slot": str(slot.pk),
        "lease_expires_at": timestamp(slot.lease_expires_at),
        "left": _text(item.pair.left),
        "right": _text(item.pair.right),
        "evidence": _evidence(item),
    }


class ReleaseIn(Schema):
    how: str = one_of(*SeatDecline.How.values)


class Done(Schema):
    ok: bool = True


@router.post(
    "/slots/{slot_id}/release",
    response={200: Done, 400: Failure, 403: Failure, 404: Failure, 409: Failure},
)
def release(request: HttpRequest, slot_id: str, data: ReleaseIn) -> Any:
    """Give a seat back: ``later`` returns to the caller, ``recuse`` never does."""
    try:
        queue.release(slot=slot_of(request, slot_id), person=person_of(request), how=data.how)
    except ReviewError as error:
        raise refused(error) from error
    return {"ok": True}
