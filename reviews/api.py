"""The API's routes about rounds, seats, judgments, arbitration, label sets and tables.

Each calls the function that the pages call, so permissions and blindness are the same. Left and right are always the
canonical ones here; only pages change sides.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile

from dedupreview.api import ApiError, Failure
from dedupreview.digests import timestamp
from dedupreview.people.access import may, person_of, within_reach
from dedupreview.people.models import Person
from reviews import arbitration, judging, labelsets, queue, tables
from reviews.errors import ReviewError
from reviews.models import (
    Answer,
    Arbitration,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    ReviewTable,
    RoundMember,
)
from reviews.outcomes import outcome_of
from screening.models import Collection, Document

router = Router(tags=["reviews"])
PART = RoundMember.Part
MAX_ID = 2**63 - 1


def _number(text: str) -> int:
    """An id as it stands in a path; whatever is none names nothing."""
    if not text.isascii() or not text.isdigit() or int(text) > MAX_ID:
        raise Http404
    return int(text)


def _rounds(person: Person) -> QuerySet[ReviewRound]:
    if may(person, "see_rounds"):
        return ReviewRound.objects.all()
    return ReviewRound.objects.filter(members__person=person, members__active=True)


def _round(request: HttpRequest, round_id: str) -> ReviewRound:
    return get_object_or_404(_rounds(person_of(request)), pk=_number(round_id))


def _item(request: HttpRequest, item_id: str) -> ReviewItem:
    items = ReviewItem.objects.select_related(
        "round", "candidate", "pair__low__collection", "pair__high__collection"
    )
    return get_object_or_404(
        items.filter(round__in=_rounds(person_of(request))), pk=_number(item_id)
    )


def _slot(request: HttpRequest, slot_id: str) -> ReviewSlot:
    slots = ReviewSlot.objects.select_related("item__round")
    return get_object_or_404(
        slots.filter(item__round__in=_rounds(person_of(request))), pk=_number(slot_id)
    )


def _refused(error: ReviewError) -> ApiError:
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
        "round_not_open",
        "not_in_conflict",
        "closed",
        "grace_over",
        "opinion_given",
        "recused",
    }
    return ApiError(409 if error.code in late else 400, error.code, str(error))


# --- Rounds and seats -------------------------------------------------------------------------------------------------


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
    rows = _rounds(person).select_related("collection").order_by("-id")
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
        slot = queue.claim(round=_round(request, round_id), person=person_of(request))
    except ReviewError as error:
        raise _refused(error) from error
    if isinstance(slot, queue.Nothing):
        return Status(204, None)
    item = _item(request, str(slot.item_id))
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
    how: str


class Done(Schema):
    ok: bool = True


@router.post(
    "/slots/{slot_id}/release",
    response={200: Done, 400: Failure, 403: Failure, 404: Failure, 409: Failure},
)
def release(request: HttpRequest, slot_id: str, data: ReleaseIn) -> Any:
    """Give a seat back: ``later`` returns to the caller, ``recuse`` never does."""
    try:
        queue.release(slot=_slot(request, slot_id), person=person_of(request), how=data.how)
    except ReviewError as error:
        raise _refused(error) from error
    return {"ok": True}


# --- Judgments --------------------------------------------------------------------------------------------------------


class AnswerIn(Schema):
    id: UUID
    label: str
    direction: str = ""
    reason_code: str = ""
    reason: str = ""
    kept: str | None = None


class JudgmentIn(AnswerIn):
    slot: str


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


def _side(item: ReviewItem, kept: str | None) -> str | None:
    """Which side ``kept`` names: a doc_id of the pair, else ``left`` or ``right`` as they stand."""
    if kept is not None:
        if kept == item.pair.left.doc_id:
            return "left"
        if kept == item.pair.right.doc_id:
            return "right"
    return kept


class SubmissionOut(Schema):
    status: str
    judgment: AnswerOut


class LapsedOut(Failure):
    judgment: AnswerOut | None = None


def _answer(row: Answer, by: Person) -> dict[str, Any]:
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
    """Submit a judgment: 201 stored, 200 the same id again, 409 the seat had lapsed (kept as surplus)."""
    item, slot = _item(request, item_id), _slot(request, data.slot)
    if slot.item_id != item.pk:
        raise Http404
    person = person_of(request)
    try:
        result = judging.submit(
            id=data.id,
            slot=slot,
            person=person,
            label=data.label,
            direction=data.direction,
            reason_code=data.reason_code,
            reason=data.reason,
            kept=_side(item, data.kept),
            shown={"by": "api", "scores": item.round.show_scores},
        )
    except ReviewError as error:
        raise _refused(error) from error
    row = _answer(result.judgment, person)
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
    item, person = _item(request, item_id), person_of(request)
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
        "judgments": [_answer(row, row.annotator) for row in judgments],
        "opinions": [_answer(row, row.arbitrator) for row in opinions],
        "arbitrations": [_answer(row, row.arbitrator) for row in arbitrations],
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


# --- Arbitration ------------------------------------------------------------------------------------------------------


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
    round, person = _round(request, round_id), person_of(request)
    if not (_arbitrates(round, person) or may(person, "see_rounds")):
        raise Http404
    ids = arbitration.conflicts(round=round).values_list("pk", flat=True)
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
    item, person = _item(request, item_id), person_of(request)
    try:
        opinion = arbitration.give_opinion(
            id=data.id,
            item=item,
            person=person,
            label=data.label,
            direction=data.direction,
            reason_code=data.reason_code,
            reason=data.reason,
            kept=_side(item, data.kept),
            shown={"by": "api", "scores": item.round.show_scores},
        )
        originals = arbitration.originals(item=item, person=person)
    except ReviewError as error:
        raise _refused(error) from error
    item.refresh_from_db()
    return {
        "opinion": _answer(opinion, person),
        "conflict": item.conflict,
        "revision": item.revision,
        "originals": [_answer(row, row.annotator) for row in originals],
    }


class ArbitrationIn(AnswerIn):
    reason: str
    based_on: list[UUID] = []
    cause_code: str = ""
    version: int | None = None


class DecisionOut(Schema):
    arbitration: AnswerOut
    saw_originals: bool
    based_on: list[str]


def _decision(row: Arbitration, person: Person) -> dict[str, Any]:
    return {
        "arbitration": _answer(row, person),
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
    item, person = _item(request, item_id), person_of(request)
    known = Arbitration.objects.filter(pk=data.id).exists()
    try:
        decision = arbitration.decide(
            id=data.id,
            item=item,
            person=person,
            label=data.label,
            direction=data.direction,
            reason_code=data.reason_code,
            reason=data.reason,
            kept=_side(item, data.kept),
            based_on=data.based_on,
            cause_code=data.cause_code,
            revision=data.version,
            shown={"by": "api", "scores": item.round.show_scores},
        )
    except ReviewError as error:
        raise _refused(error) from error
    return Status(200 if known else 201, _decision(decision, person))


# --- Label sets -------------------------------------------------------------------------------------------------------


@router.post("/label-sets", response={200: dict, 201: dict, 400: Failure, 404: Failure})
def add_label_set(
    request: HttpRequest,
    collection: Form[str],
    name: Form[str],
    file: UploadedFile = File(...),  # type: ignore[type-arg]  # noqa: B008
    dry_run: Form[bool] = False,
) -> Any:
    """Upload labelled pairs; with ``dry_run`` only the report is made."""
    if not may(request.user, "manage_label_sets"):
        raise Http404
    person = person_of(request)
    reachable = within_reach(Collection.objects.all(), person, through="memberships")
    row = get_object_or_404(reachable, slug=collection)
    try:
        report = labelsets.import_labels(
            collection=row,
            name=name,
            filename=file.name or "labels",
            data=file.read(),
            actor=person,
            dry_run=dry_run,
        )
    except ReviewError as error:
        raise ApiError(400, error.code, str(error)) from error
    return Status(200 if dry_run else 201, report.to_dict())


# --- Tables -----------------------------------------------------------------------------------------------------------


class TableOut(Schema):
    id: str
    round: str
    number: int
    state: str
    provisional: bool
    manifest_sha256: str
    key_fingerprint: str
    error: str


def _table_out(row: ReviewTable) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "round": str(row.round_id),
        "number": row.number,
        "state": row.state,
        "provisional": row.provisional,
        "manifest_sha256": row.manifest_sha256,
        "key_fingerprint": row.key_fingerprint,
        "error": row.error,
    }


@router.post("/rounds/{round_id}/tables", response={202: TableOut, 400: Failure, 404: Failure})
def make_table(request: HttpRequest, round_id: str) -> Any:
    """Ask for a signed table of the round; it is made in the background."""
    if not may(request.user, "manage_tables"):
        raise Http404
    try:
        row = tables.request_table(round=_round(request, round_id), actor=person_of(request))
    except tables.TableError as error:
        raise ApiError(400, "not_exported", str(error)) from error
    return Status(202, _table_out(row))


def _table(request: HttpRequest, table_id: str) -> ReviewTable:
    if not may(request.user, "see_tables"):
        raise Http404
    return get_object_or_404(ReviewTable, pk=_number(table_id))


@router.get("/tables/{table_id}", response={200: TableOut, 404: Failure})
def see_table(request: HttpRequest, table_id: str) -> Any:
    """The state and digests of a table."""
    return _table_out(_table(request, table_id))


@router.get("/tables/{table_id}/download", response={404: Failure})
def download_table(request: HttpRequest, table_id: str) -> Any:
    """The folder of a finished table as one zip."""
    row = _table(request, table_id)
    if row.state != ReviewTable.State.DONE or not tables.table_folder(row).is_dir():
        raise Http404
    disposition = content_disposition_header(True, tables.download_name(row)) or "attachment"
    return StreamingHttpResponse(
        tables.zip_stream(row),
        content_type="application/zip",
        headers={"Content-Disposition": disposition},
    )


class HistoryOut(Schema):
    judgments: list[AnswerOut]


@router.get("/judgments", response=HistoryOut)
def my_judgments(request: HttpRequest) -> Any:
    """The caller's own last 100 judgments."""
    person = person_of(request)
    rows = judging.history_of(person).select_related("kept").defer("kept__raw")[:100]
    return {"judgments": [_answer(row, person) for row in rows]}
