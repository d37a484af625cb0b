"""The API's routes about judgments and settled items."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from pydantic import Field

from dedupreview.api import Failure
from dedupreview.people.access import may, person_of
from reviews import judging
from reviews.api.common import (
    AnswerIn,
    AnswerOut,
    answer_out,
    item_of,
    refused,
    slot_of,
)
from reviews.errors import ReviewError
from reviews.models import (
    ReviewItem,
)
from reviews.outcomes import outcome_of

router = Router(tags=["reviews"])


class JudgmentIn(AnswerIn):
    slot: str
    version: int | None = Field(
        None, description="the number of own judgments of the pair that the caller knows of"
    )


class SubmissionOut(Schema):
    status: str
    judgment: AnswerOut


class LapsedOut(Failure):
    judgment: AnswerOut | None = None


@router.post(
    "/items/{item_id}/judgments",
    response={
        200: SubmissionOut,
        201: SubmissionOut,
        400: Failure,
        403: Failure,
        404: Failure,
        409: LapsedOut,
    },
)
def judge(request: HttpRequest, item_id: str, data: JudgmentIn) -> Any:
    """Submit a judgment: 201 stored, 200 the same id again, 409 the seat had lapsed (kept as surplus).

    With another id, within the grace time, it corrects one's own judgment; ``status`` says so. ``version`` refuses that
    (409) where the caller's view is out of date: 0 takes a first judgment only.
    """
    item, slot = item_of(request, item_id), slot_of(request, data.slot)
    if slot.item_id != item.pk:
        raise Http404
    person = person_of(request)
    try:
        result = judging.submit(
            id=data.id,
            slot=slot,
            person=person,
            seen=data.version,
            **data.fields(item),
        )
    except ReviewError as error:
        raise refused(error) from error
    row = answer_out(result.judgment, person)
    if result.status == "lapsed":
        late = _("The seat had lapsed; the judgment is kept as surplus and does not count.")
        return Status(409, {"detail": late, "code": "lapsed", "judgment": row})
    status = 200 if result.status == "replayed" else 201
    return Status(status, {"status": result.status, "judgment": row})


class OutcomeOut(Schema):
    label: str | None
    direction: str | None
    kept: str | None
    by: str | None
    advice: str
    review_status: str


class ItemOut(Schema):
    id: str
    round: str
    state: str
    left: str
    right: str
    judgments: list[AnswerOut]
    opinions: list[AnswerOut]
    arbitrations: list[AnswerOut]
    outcome: OutcomeOut | None


def _kept(item: ReviewItem, pk: int | None) -> str | None:
    sides = {item.pair.low_id: item.pair.low, item.pair.high_id: item.pair.high}
    return sides[pk].doc_id if pk in sides else None


@router.get("/items/{item_id}", response={200: ItemOut, 404: Failure})
def see_item(request: HttpRequest, item_id: str) -> Any:
    """The caller's own answers while the item is open, everything once it is closed."""
    item, person = item_of(request, item_id), person_of(request)
    closed = item.state == ReviewItem.State.CLOSED
    judgments = item.judgments.select_related("annotator", "kept").defer("kept__raw")
    opinions = item.opinions.select_related("arbitrator", "kept").defer("kept__raw")
    arbitrations = item.arbitrations.select_related("arbitrator", "kept").defer("kept__raw")
    if not closed:
        judgments = judgments.filter(annotator=person)
        opinions = opinions.filter(arbitrator=person)
        arbitrations = arbitrations.filter(arbitrator=person)
    outcome = outcome_of(item) if closed else None
    # Whether a second person has answered, or has answered differently, is not for those who still may judge.
    state = item.state if closed or may(person, "see_rounds") else ReviewItem.State.OPEN
    return {
        "id": str(item.pk),
        "round": str(item.round_id),
        "state": state,
        "left": item.pair.left.doc_id,
        "right": item.pair.right.doc_id,
        "judgments": [answer_out(row, row.annotator) for row in judgments],
        "opinions": [answer_out(row, row.arbitrator) for row in opinions],
        "arbitrations": [answer_out(row, row.arbitrator) for row in arbitrations],
        "outcome": outcome
        and {
            "label": outcome.label or None,
            "direction": outcome.direction or None,
            "kept": _kept(item, outcome.kept),
            "by": outcome.by or None,
            "advice": str(outcome.advice),
            "review_status": outcome.review_status,
        },
    }


class HistoryOut(Schema):
    judgments: list[AnswerOut]


@router.get("/judgments", response=HistoryOut)
def my_judgments(request: HttpRequest) -> Any:
    """The caller's own last 100 judgments."""
    person = person_of(request)
    rows = judging.history_of(person).select_related("kept").defer("kept__raw")[:100]
    return {"judgments": [answer_out(row, person) for row in rows]}
