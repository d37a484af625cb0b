"""The API's routes about arbitration."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from dedupreview.api import Failure
from dedupreview.people.access import may, person_of
from dedupreview.people.models import Person
from reviews import arbitration as services
from reviews.api.common import (
    AnswerIn,
    AnswerOut,
    answer_out,
    item_of,
    one_of,
    refused,
    round_of,
)
from reviews.errors import ReviewError
from reviews.models import (
    Arbitration,
    CauseCode,
    ReviewRound,
    RoundMember,
)

router = Router(tags=["reviews"])
PART = RoundMember.Part


class ConflictOut(Schema):
    item: str


class ConflictsOut(Schema):
    items: list[ConflictOut]


def _arbitrates(round: ReviewRound, person: Person) -> bool:
    return RoundMember.objects.filter(
        round=round, person=person, part=PART.ARBITRATOR, active=True
    ).exists()


@router.get("/rounds/{round_id}/conflicts", response={200: ConflictsOut, 404: Failure})
def list_conflicts(request: HttpRequest, round_id: str) -> Any:
    """The items that wait for an arbitrator: ids only, for the round's arbitrators and admins."""
    round, person = round_of(request, round_id), person_of(request)
    if not (_arbitrates(round, person) or may(person, "see_rounds")):
        raise Http404
    ids = services.conflicts(round=round).values_list("pk", flat=True)
    return {"items": [{"item": str(pk)} for pk in ids]}


class OriginalsOut(Schema):
    opinion: AnswerOut
    conflict: str
    revision: int
    originals: list[AnswerOut]


@router.post(
    "/items/{item_id}/opinions",
    response={200: OriginalsOut, 400: Failure, 403: Failure, 404: Failure, 409: Failure},
)
def opine(request: HttpRequest, item_id: str, data: AnswerIn) -> Any:
    """Give the arbitrator's own answer; only then come the originals and the kind of conflict."""
    item, person = item_of(request, item_id), person_of(request)
    try:
        opinion = services.give_opinion(
            id=data.id,
            item=item,
            person=person,
            **data.fields(item),
        )
        originals = services.originals(item=item, person=person)
    except ReviewError as error:
        raise refused(error) from error
    item.refresh_from_db()
    return {
        "opinion": answer_out(opinion, person),
        "conflict": item.conflict,
        "revision": item.revision,
        "originals": [answer_out(row, row.annotator) for row in originals],
    }


class ArbitrationIn(AnswerIn):
    reason: str
    based_on: list[UUID] = []
    cause_code: str | None = one_of(*CauseCode.values, default=None)
    version: int | None = Field(
        None, description="the number of decisions that the caller knows of"
    )


class DecisionOut(Schema):
    arbitration: AnswerOut
    saw_originals: bool
    based_on: list[str]


def _decision(row: Arbitration, person: Person) -> dict[str, Any]:
    return {
        "arbitration": answer_out(row, person),
        "saw_originals": row.saw_originals,
        "based_on": row.based_on,
    }


@router.post(
    "/items/{item_id}/arbitrations",
    response={
        200: DecisionOut,
        201: DecisionOut,
        400: Failure,
        403: Failure,
        404: Failure,
        409: Failure,
    },
)
def decide(request: HttpRequest, item_id: str, data: ArbitrationIn) -> Any:
    """Decide an item in conflict; ``version`` is the number of decisions the caller has seen."""
    item, person = item_of(request, item_id), person_of(request)
    known = Arbitration.objects.filter(pk=data.id).exists()
    try:
        decision = services.decide(
            id=data.id,
            item=item,
            person=person,
            based_on=data.based_on,
            cause_code=data.cause_code or "",
            revision=data.version,
            **data.fields(item),
        )
    except ReviewError as error:
        raise refused(error) from error
    return Status(200 if known else 201, _decision(decision, person))
