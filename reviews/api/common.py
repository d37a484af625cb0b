"""What the API's routes about rounds share: fetching within reach, refusals as HTTP errors, answers as JSON."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Schema
from pydantic import Field

from dedupreview.api import ApiError
from dedupreview.digests import timestamp
from dedupreview.people.access import may, person_of
from dedupreview.people.models import Person
from reviews.errors import ReviewError
from reviews.labels import Direction, Label, ReasonCode
from reviews.models import (
    Answer,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
)

MAX_ID = 2**63 - 1


def number(text: str) -> int:
    """An id as it stands in a path; whatever is none names nothing."""
    if not text.isascii() or not text.isdigit() or int(text) > MAX_ID:
        raise Http404
    return int(text)


def rounds_of(person: Person) -> QuerySet[ReviewRound]:
    if may(person, "see_rounds"):
        return ReviewRound.objects.all()
    return ReviewRound.objects.filter(members__person=person, members__active=True)


def round_of(request: HttpRequest, round_id: str) -> ReviewRound:
    return get_object_or_404(rounds_of(person_of(request)), pk=number(round_id))


def item_of(request: HttpRequest, item_id: str) -> ReviewItem:
    items = ReviewItem.objects.select_related(
        "round", "candidate", "pair__low__collection", "pair__high__collection"
    )
    return get_object_or_404(
        items.filter(round__in=rounds_of(person_of(request))), pk=number(item_id)
    )


def slot_of(request: HttpRequest, slot_id: str) -> ReviewSlot:
    slots = ReviewSlot.objects.select_related("item__round")
    return get_object_or_404(
        slots.filter(item__round__in=rounds_of(person_of(request))), pk=number(slot_id)
    )


def refused(error: ReviewError) -> ApiError:
    """A refusal as an HTTP error: 403 for who may not, 409 for what came too late, 400 for what does not fit."""
    if error.code in {
        "not_an_arbitrator",
        "judged_it",
        "not_a_member",
        "not_yours",
        "opinion_first",
    }:
        return ApiError(403, error.code, str(error))
    late = {
        "lapsed",
        "id_taken",
        "decided_meanwhile",
        "judged_meanwhile",
        "round_not_open",
        "not_in_conflict",
        "closed",
        "grace_over",
        "opinion_given",
        "recused",
    }
    return ApiError(409 if error.code in late else 400, error.code, str(error))


def one_of(*values: str, default: Any = ...) -> Any:
    """A field whose values the description lists; whatever else comes is refused in words, by the service."""
    optional = [] if default is ... else ["", None]
    return Field(default, json_schema_extra={"enum": [*values, *optional]})


class AnswerIn(Schema):
    id: UUID
    label: str = one_of(*Label.values)
    direction: str | None = one_of(*Direction.values, default=None)
    reason_code: str | None = one_of(*ReasonCode.values, default=None)
    reason: str | None = None
    kept: str | None = Field(None, description="the doc_id of one of the two texts, left or right")

    def fields(self, item: ReviewItem) -> dict[str, Any]:
        """What the services want to know of an answer to ``item``."""
        return {
            "label": self.label,
            "direction": self.direction or "",
            "reason_code": self.reason_code or "",
            "reason": self.reason or "",
            "kept": side_of(item, self.kept),
            "shown": {"by": "api", "scores": item.round.show_scores},
        }


class AnswerOut(Schema):
    id: str
    by: str
    version: int | None
    counted: bool | None
    label: str
    direction: str
    reason_code: str
    reason: str
    kept: str | None
    created_at: str
    digest: str


def side_of(item: ReviewItem, kept: str | None) -> str | None:
    """Which side ``kept`` names: a doc_id of the pair, else ``left`` or ``right`` as they stand."""
    if kept is not None:
        if kept == item.pair.left.doc_id:
            return "left"
        if kept == item.pair.right.doc_id:
            return "right"
    return kept


def answer_out(row: Answer, by: Person) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "by": by.code,
        "version": getattr(row, "version", None),
        "counted": getattr(row, "counted", None),
        "label": row.label,
        "direction": row.direction,
        "reason_code": row.reason_code,
        "reason": row.reason,
        "kept": row.kept.doc_id if row.kept else None,
        "created_at": timestamp(row.created_at),
        "digest": row.digest,
    }
