"""Arbitration: an own opinion first, then the originals, then the decision; nothing is ever overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from dedupreview.people import audit
from dedupreview.people.models import Person
from reviews import answers
from reviews.answers import Content
from reviews.errors import ReviewError
from reviews.judging import latest_counted
from reviews.models import (
    Arbitration,
    CauseCode,
    Draft,
    Judgment,
    Opinion,
    ReviewItem,
    ReviewRound,
    RoundMember,
)
from reviews.queue import lock_member, share_round
from reviews.records import item_for_record, seal

NOT_AN_ARBITRATOR = "You are not an arbitrator of this round."
ROUND_NOT_OPEN = "This round is not open."
NOT_IN_CONFLICT = "This pair is not in conflict."
JUDGED_IT = "You have judged this pair yourself, so you cannot arbitrate it."
OPINION_FIRST = "Give your own opinion first; then you see the original judgments."
OPINION_GIVEN = "You have already given your opinion on this pair."
DECIDED_MEANWHILE = "Somebody has decided this pair meanwhile. Look at that decision first."
UNKNOWN_CAUSE = "Unknown cause: %(cause)s"
BASED_ON_UNKNOWN = "The decision names a judgment that is not one of this pair."
BASED_ON_UNSEEN = "The decision names judgments that you have not been shown."


class ArbitrationError(ReviewError):
    """An opinion or decision could not be stored, or the originals may not be shown."""


def conflicts(*, round: ReviewRound) -> QuerySet[ReviewItem]:
    """The items of a round that wait for an arbitrator, in the round's order."""
    return round.items.filter(state=ReviewItem.State.CONFLICT).order_by("position")


def give_opinion(
    *,
    id: UUID,
    item: ReviewItem,
    person: Person,
    label: str,
    direction: str = "",
    reason_code: str = "",
    reason: str = "",
    kept: object = None,
    shown: Mapping[str, Any] | None = None,
    evidence: Sequence[Any] = (),
    now: datetime | None = None,
) -> Opinion:
    """Store the arbitrator's own answer, given before the originals are revealed.

    The same id with the same content returns the row that is there.

    :raises ArbitrationError: if the item is not in conflict, the person may not arbitrate it or has an opinion already.
    """
    moment = now or timezone.now()
    full = item_for_record(item.pk)
    content = answers.checked(
        ArbitrationError,
        item=full,
        label=label,
        direction=direction,
        reason_code=reason_code,
        reason=reason,
        kept=kept,
        evidence=evidence,
        shown=shown,
    )
    try:
        with transaction.atomic():
            return _give_opinion(id, full, person, content, moment)
    except IntegrityError:
        if Opinion.objects.filter(pk=id).exists():
            raise ArbitrationError(answers.OTHER_CONTENT, code="id_taken") from None
        raise


def _give_opinion(
    id: UUID, item: ReviewItem, person: Person, content: Content, moment: datetime
) -> Opinion:
    _check_arbitrator(item, person)
    known = Opinion.objects.filter(pk=id).first()
    if known is not None:
        own = known.item_id == item.pk and known.arbitrator_id == person.pk
        if own and content.same_as(known):
            return known
        raise ArbitrationError(answers.OTHER_CONTENT, code="id_taken")
    locked = _locked(item, person)
    if locked.state != ReviewItem.State.CONFLICT:
        raise ArbitrationError(NOT_IN_CONFLICT, code="not_in_conflict")
    if item.opinions.filter(arbitrator=person).exists():
        raise ArbitrationError(OPINION_GIVEN, code="opinion_given")
    opinion = Opinion(
        id=id,
        item=item,
        arbitrator=person,
        guideline_version=item.round.guideline_version,
        created_at=moment,
        **_columns(content),
    )
    seal(opinion)
    opinion.save(force_insert=True)
    Draft.objects.filter(item=item, person=person).delete()
    return opinion


def _columns(content: Content) -> dict[str, Any]:
    return {
        "label": content.label,
        "direction": content.direction,
        "reason_code": content.reason_code,
        "reason": content.reason,
        "kept": content.kept,
        "evidence": content.evidence,
        "shown": content.shown,
    }


def _check_arbitrator(item: ReviewItem, person: Person) -> None:
    """Share the round, lock the membership; refuse whoever is no arbitrator of the round."""
    item.round = share_round(item.round_id)
    member = lock_member(round_id=item.round_id, person=person, part=RoundMember.Part.ARBITRATOR)
    if member is None:
        raise ArbitrationError(NOT_AN_ARBITRATOR, code="not_an_arbitrator")


def _locked(item: ReviewItem, person: Person) -> ReviewItem:
    """The item as it is now, locked; refuse a round that is not open and a judge of the same pair."""
    locked = ReviewItem.objects.select_for_update(no_key=True).get(pk=item.pk)
    if item.round.state != ReviewRound.State.OPEN:
        raise ArbitrationError(ROUND_NOT_OPEN, code="round_not_open")
    if Judgment.objects.filter(item=item, annotator=person).exists():
        raise ArbitrationError(JUDGED_IT, code="judged_it")
    return locked


def originals(*, item: ReviewItem, person: Person) -> list[Judgment]:
    """Every judgment of the item, all versions and surplus, for an arbitrator who has given their opinion.

    Each reading is put on record.

    :raises ArbitrationError: before the opinion, and for anybody who is no arbitrator of the round.
    """
    with transaction.atomic():
        membership = RoundMember.objects.filter(
            round_id=item.round_id, person=person, part=RoundMember.Part.ARBITRATOR, active=True
        )
        if not membership.exists():
            raise ArbitrationError(NOT_AN_ARBITRATOR, code="not_an_arbitrator")
        if Judgment.objects.filter(item=item, annotator=person).exists():
            raise ArbitrationError(JUDGED_IT, code="judged_it")
        opinion = Opinion.objects.filter(item=item, arbitrator=person).first()
        if opinion is None:
            raise ArbitrationError(OPINION_FIRST, code="opinion_first")
        audit.record(
            actor=person,
            action="originals.read",
            subject_type="item",
            subject_id=item.pk,
            data={"opinion": str(opinion.pk)},
        )
        return list(
            Judgment.objects.filter(item=item)
            .select_related("annotator", "slot", "kept")
            .defer("kept__raw")
            .order_by("slot__number", "created_at", "id")
        )


def decide(
    *,
    id: UUID,
    item: ReviewItem,
    person: Person,
    label: str,
    reason: str,
    direction: str = "",
    reason_code: str = "",
    kept: object = None,
    based_on: Sequence[UUID | str] = (),
    cause_code: str = "",
    revision: int | None = None,
    shown: Mapping[str, Any] | None = None,
    evidence: Sequence[Any] = (),
    now: datetime | None = None,
) -> Arbitration:
    """Decide an item in conflict, or decide it anew as a further version.

    ``revision`` is the number of decisions the person has seen (``item.revision``); none means that they have seen
    none, so that nobody replaces a decision unknowingly. ``based_on`` names the judgments weighed; after an opinion
    it defaults to those that counted.

    :raises ArbitrationError: if the person may not arbitrate the item, somebody decided meanwhile, the reason is
        missing, or ``based_on`` names judgments of another pair or that the person has not been shown.
    """
    moment = now or timezone.now()
    full = item_for_record(item.pk)
    content = answers.checked(
        ArbitrationError,
        item=full,
        label=label,
        direction=direction,
        reason_code=reason_code,
        reason=reason,
        kept=kept,
        evidence=evidence,
        shown=shown,
    )
    if not content.reason:
        raise ArbitrationError(answers.REASON_MISSING, code="reason")
    if cause_code and cause_code not in CauseCode.values:
        raise ArbitrationError(UNKNOWN_CAUSE, {"cause": str(cause_code)[:40]}, code="cause_code")
    weighed = sorted({str(judgment) for judgment in based_on})
    try:
        with transaction.atomic():
            return _decide(id, full, person, content, weighed, cause_code, revision or 0, moment)
    except IntegrityError:
        if Arbitration.objects.filter(pk=id).exists():
            raise ArbitrationError(answers.OTHER_CONTENT, code="id_taken") from None
        raise


def _decide(
    id: UUID,
    item: ReviewItem,
    person: Person,
    content: Content,
    based_on: list[str],
    cause_code: str,
    revision: int,
    moment: datetime,
) -> Arbitration:
    _check_arbitrator(item, person)
    known = Arbitration.objects.filter(pk=id).first()
    if known is not None:
        own = known.item_id == item.pk and known.arbitrator_id == person.pk
        if own and content.same_as(known) and known.cause_code == cause_code:
            return known
        raise ArbitrationError(answers.OTHER_CONTENT, code="id_taken")
    locked = _locked(item, person)
    _check_decidable(locked, revision)
    opinion = item.opinions.filter(arbitrator=person).first()
    # A settled pair is open to its readers: whoever decides it anew has had the originals before them.
    saw = opinion is not None or locked.state == ReviewItem.State.CLOSED
    decision = Arbitration(
        id=id,
        item=item,
        arbitrator=person,
        version=revision + 1,
        supersedes=item.arbitrations.filter(version=revision).first(),
        opinion=opinion,
        saw_originals=saw,
        based_on=_weighed(item, based_on, saw),
        cause_code=cause_code,
        guideline_version=item.round.guideline_version,
        created_at=moment,
        **_columns(content),
    )
    seal(decision)
    decision.save(force_insert=True)
    _close(item, revision, moment)
    Draft.objects.filter(item=item, person=person).delete()
    return decision


def _check_decidable(locked: ReviewItem, revision: int) -> None:
    arbitrated = locked.closed_by == ReviewItem.ClosedBy.ARBITRATION
    if locked.state != ReviewItem.State.CONFLICT and not arbitrated:
        raise ArbitrationError(NOT_IN_CONFLICT, code="not_in_conflict")
    if locked.revision != revision:
        raise ArbitrationError(DECIDED_MEANWHILE, code="decided_meanwhile")


def _close(item: ReviewItem, revision: int, moment: datetime) -> None:
    closed = ReviewItem.objects.filter(pk=item.pk, revision=revision).update(
        state=ReviewItem.State.CLOSED,
        closed_by=ReviewItem.ClosedBy.ARBITRATION,
        closed_at=moment,
        revision=revision + 1,
    )
    if not closed:
        raise ArbitrationError(DECIDED_MEANWHILE, code="decided_meanwhile")


def _weighed(item: ReviewItem, based_on: list[str], saw: bool) -> list[str]:
    if not saw:
        if based_on:
            raise ArbitrationError(BASED_ON_UNSEEN, code="based_on")
        return []
    if not based_on:
        return sorted(str(judgment.pk) for judgment in latest_counted(item))
    known = {str(pk) for pk in item.judgments.values_list("pk", flat=True)}
    if not known.issuperset(based_on):
        raise ArbitrationError(BASED_ON_UNKNOWN, code="based_on")
    return based_on
