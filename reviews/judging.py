"""Judgments: insert-only, idempotent, counted once per seat.

One submission is one transaction. It shares the round, locks the member, then the item, then changes the seat by compare-and-set, then
inserts the judgment; the last seat's judgment settles the item in the same transaction. No counter is updated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from dedupreview.people.models import Person
from reviews import answers, queue
from reviews.answers import Content
from reviews.errors import ReviewError
from reviews.labels import Direction, Label
from reviews.models import (
    Draft,
    Judgment,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    RoundMember,
    SeatDecline,
    SeatLapse,
)
from reviews.records import item_for_record, seal

NOT_A_MEMBER = "You are not an annotator of this round."
ROUND_NOT_OPEN = "This round is not open."
NEVER_YOURS = "You have no seat at this pair."
RECUSED = "You have recused yourself from this pair."
ITEM_CLOSED = "This pair is settled; your judgment can no longer be changed."
GRACE_OVER = "The time for corrections (%(minutes)s minutes) is over."
JUDGED_MEANWHILE = (
    "You have already judged this pair in another window (version %(version)s), so nothing was stored. "
    "Reload the page: as long as the time for corrections runs, you can correct it there."
)
BAD_TIME = "The reading time must be a whole number of milliseconds."
MAX_ACTIVE_MS = 24 * 3600 * 1000


class JudgingError(ReviewError):
    """A judgment or draft could not be stored."""


@dataclass(frozen=True)
class Submission:
    """What became of a submission. ``lapsed``: kept as surplus, because somebody else has the seat."""

    judgment: Judgment
    status: Literal["created", "replayed", "lapsed", "corrected"]


@dataclass(frozen=True)
class _Extra:
    checklist: dict[str, Any]
    active_ms: int | None
    seen: int | None


def submit(
    *,
    id: UUID,
    slot: ReviewSlot,
    person: Person,
    label: str,
    direction: str = "",
    reason_code: str = "",
    reason: str = "",
    kept: object = None,
    evidence: Sequence[Any] = (),
    checklist: Mapping[str, Any] | None = None,
    shown: Mapping[str, Any] | None = None,
    active_ms: int | None = None,
    seen: int | None = None,
    now: datetime | None = None,
) -> Submission:
    """Store the judgment of ``person`` for the pair of ``slot``.

    ``id`` is made by the client: the same id with the same content returns the row that is there. Where the person's
    counted judgment exists and the pair is not settled, this is a correction: a new version, within the grace time.
    ``seen`` is the number of own counted versions that the person had before them, so that a forgotten window corrects
    nothing unknowingly; none means that they do not care. ``direction`` and ``kept`` are about the canonical left and
    right, whatever sides the page showed.

    :raises JudgingError: for content that does not fit, an id used for other content, a seat that was never the
        person's, a settled pair, a round that is not open, or a version that the person had not seen.
    """
    item = item_for_record(slot.item_id)
    content = answers.checked(
        JudgingError,
        item=item,
        label=label,
        direction=direction,
        reason_code=reason_code,
        reason=reason,
        kept=kept,
        evidence=evidence,
        shown=shown,
    )
    extra = _Extra(
        answers.stored_json(JudgingError, dict(checklist or {})), _checked_time(active_ms), seen
    )
    try:
        with transaction.atomic():
            return _submit(id, item, slot.pk, person, content, extra, now)
    except IntegrityError:
        # Everything of one person is in sequence, so only somebody else's row with this id can be in the way.
        if Judgment.objects.filter(pk=id).exists():
            raise JudgingError(answers.OTHER_CONTENT, code="id_taken") from None
        raise


def _checked_time(active_ms: int | None) -> int | None:
    if active_ms is None:
        return None
    if isinstance(active_ms, bool) or not isinstance(active_ms, int) or active_ms < 0:
        raise JudgingError(BAD_TIME, code="active_ms")
    return min(active_ms, MAX_ACTIVE_MS)


def _submit(
    id: UUID,
    item: ReviewItem,
    slot_id: int,
    person: Person,
    content: Content,
    extra: _Extra,
    now: datetime | None,
) -> Submission:
    round = queue.share_round(item.round_id)
    member = (
        RoundMember.objects.select_for_update()
        .filter(round_id=item.round_id, person=person, part=RoundMember.Part.ANNOTATOR)
        .first()
    )
    if member is None:
        raise JudgingError(NOT_A_MEMBER, code="not_a_member")
    replay = _replay(id, item, person, content)
    if replay is not None:
        return replay
    locked = ReviewItem.objects.select_for_update(no_key=True).get(pk=item.pk)
    # Behind the locks, so that the times of one person's versions follow the versions.
    moment = now or timezone.now()
    if round.state != ReviewRound.State.OPEN:
        raise JudgingError(ROUND_NOT_OPEN, code="round_not_open")
    item.state = locked.state
    latest = item.judgments.filter(annotator=person).order_by("-counted", "-version").first()
    if latest is not None and latest.counted:
        _check_correction(item, round, latest, extra.seen, moment)
        judgment = _insert(id, latest.slot, person, item, round, content, extra, moment, latest)
        _forget_draft(item, person)
        return Submission(judgment, "corrected")
    seat = None
    if latest is None and member.active:
        seat = _fill_seat(item, slot_id, person)
    if seat is None:
        return _keep_surplus(id, item, slot_id, person, round, content, extra, moment, latest)
    judgment = _insert(id, seat, person, item, round, content, extra, moment, None)
    settle(item=item, round=round, now=moment)
    _forget_draft(item, person)
    return Submission(judgment, "created")


def _replay(id: UUID, item: ReviewItem, person: Person, content: Content) -> Submission | None:
    """The answer to an id that is known already: the same row, and the same news about it."""
    known = Judgment.objects.filter(pk=id).first()
    if known is None:
        return None
    same = known.item_id == item.pk and known.annotator_id == person.pk and content.same_as(known)
    if not same:
        raise JudgingError(answers.OTHER_CONTENT, code="id_taken")
    return Submission(known, "replayed" if known.counted else "lapsed")


def _check_correction(
    item: ReviewItem, round: ReviewRound, latest: Judgment, seen: int | None, moment: datetime
) -> None:
    if seen is not None and seen != latest.version:
        raise JudgingError(JUDGED_MEANWHILE, {"version": latest.version}, code="judged_meanwhile")
    if item.state not in queue.LIVE_STATES:
        raise JudgingError(ITEM_CLOSED, code="closed")
    first = item.judgments.get(annotator_id=latest.annotator_id, counted=True, version=1)
    if moment > first.created_at + timedelta(minutes=round.grace_minutes):
        raise JudgingError(GRACE_OVER, {"minutes": round.grace_minutes}, code="grace_over")


def _fill_seat(item: ReviewItem, slot_id: int, person: Person) -> ReviewSlot | None:
    """Fill the person's seat by compare-and-set; None if they hold none that could count.

    The seat they hold now counts, even if the page still names one that they lost. So does a seat of theirs that
    nobody took after they had put the pair aside.
    """
    if item.state not in queue.LIVE_STATES:
        return None
    filled = {"state": ReviewSlot.State.FILLED, "annotator": person, "lease_expires_at": None}
    claimed = ReviewSlot.objects.filter(item=item, annotator=person, state=ReviewSlot.State.CLAIMED)
    mine = claimed.first()
    if mine is not None:
        return mine if claimed.filter(pk=mine.pk).update(**filled) else None
    declined = SeatDecline.objects.filter(item=item, person=person)
    if declined.filter(how=SeatDecline.How.RECUSE).exists():
        raise JudgingError(RECUSED, code="recused")
    if not _once_held(item, person):
        raise JudgingError(NEVER_YOURS, code="not_yours")
    free = ReviewSlot.objects.filter(pk=slot_id, item=item, state=ReviewSlot.State.FREE)
    if free.update(**filled):
        return ReviewSlot.objects.get(pk=slot_id)
    return None


def _once_held(item: ReviewItem, person: Person) -> bool:
    return (
        SeatLapse.objects.filter(slot__item=item, person=person).exists()
        or SeatDecline.objects.filter(item=item, person=person, how=SeatDecline.How.LATER).exists()
    )


def _keep_surplus(
    id: UUID,
    item: ReviewItem,
    slot_id: int,
    person: Person,
    round: ReviewRound,
    content: Content,
    extra: _Extra,
    moment: datetime,
    latest: Judgment | None,
) -> Submission:
    """Keep a late answer: not counted, not lost. A person who never had a seat here is refused."""
    if latest is None and not _once_held(item, person):
        raise JudgingError(NEVER_YOURS, code="not_yours")
    slot = ReviewSlot.objects.get(pk=slot_id)
    judgment = _insert(id, slot, person, item, round, content, extra, moment, latest, counted=False)
    _forget_draft(item, person)
    return Submission(judgment, "lapsed")


def _insert(
    id: UUID,
    slot: ReviewSlot,
    person: Person,
    item: ReviewItem,
    round: ReviewRound,
    content: Content,
    extra: _Extra,
    moment: datetime,
    before: Judgment | None,
    *,
    counted: bool = True,
) -> Judgment:
    judgment = Judgment(
        id=id,
        item=item,
        slot=slot,
        annotator=person,
        version=before.version + 1 if before else 1,
        supersedes=before,
        counted=counted,
        label=content.label,
        direction=content.direction,
        reason_code=content.reason_code,
        reason=content.reason,
        kept=content.kept,
        evidence=content.evidence,
        shown=content.shown,
        checklist=extra.checklist,
        active_ms=extra.active_ms,
        guideline_version=round.guideline_version,
        created_at=moment,
    )
    seal(judgment)
    judgment.save(force_insert=True)
    return judgment


def settle(*, item: ReviewItem, round: ReviewRound, now: datetime) -> None:
    """Bring the state of a locked item up to date with its seats: waiting, closed by agreement, or in conflict."""
    filled = item.slots.filter(state=ReviewSlot.State.FILLED).count()
    if filled < round.judgments_per_item:
        changes: dict[str, Any] = {"state": ReviewItem.State.WAITING}
    else:
        kind = conflict_kind(list(latest_counted(item)))
        changes = (
            {"state": ReviewItem.State.CONFLICT, "conflict": kind}
            if kind
            else {
                "state": ReviewItem.State.CLOSED,
                "closed_by": ReviewItem.ClosedBy.AGREEMENT,
                "closed_at": now,
            }
        )
    ReviewItem.objects.filter(pk=item.pk, state__in=queue.LIVE_STATES).update(**changes)
    for field, value in changes.items():
        setattr(item, field, value)


def latest_counted(item: ReviewItem) -> QuerySet[Judgment]:
    """The counted judgments of an item that no later version replaces, by seat."""
    return item.judgments.filter(counted=True, superseded_by__isnull=True).order_by("slot__number")


def conflict_kind(judgments: Sequence[Judgment]) -> str:
    """Why these judgments do not close their item; empty if they agree.

    ``undecided`` if anybody cannot tell, even if all of them cannot; ``label`` for different labels; ``direction`` for
    revisions with two known directions. ``unknown`` contradicts nothing: it says nothing.
    """
    labels = {judgment.label for judgment in judgments}
    if Label.UNDECIDED in labels:
        return str(ReviewItem.Conflict.UNDECIDED)
    if len(labels) > 1:
        return str(ReviewItem.Conflict.LABEL)
    known = {judgment.direction for judgment in judgments} - {"", Direction.UNKNOWN}
    return str(ReviewItem.Conflict.DIRECTION) if len(known) > 1 else ""


def save_draft(*, item: ReviewItem, person: Person, data: Mapping[str, Any]) -> Draft:
    """Keep what the person has typed for a pair; the last call wins.

    :raises JudgingError: if the person takes no part in the round, or the data is no JSON or too long.
    """
    if not RoundMember.objects.filter(round_id=item.round_id, person=person).exists():
        raise JudgingError(NOT_A_MEMBER, code="not_a_member")
    stored = answers.stored_json(JudgingError, dict(data))
    draft, _created = Draft.objects.update_or_create(
        item=item, person=person, defaults={"data": stored}
    )
    return draft


def draft_of(item: ReviewItem, person: Person) -> dict[str, Any]:
    """What :func:`save_draft` kept; empty if nothing."""
    data = Draft.objects.filter(item=item, person=person).values_list("data", flat=True).first()
    return dict(data or {})


def _forget_draft(item: ReviewItem, person: Person) -> None:
    Draft.objects.filter(item=item, person=person).delete()


def history_of(person: Person) -> QuerySet[Judgment]:
    """The person's own judgments, latest first, all versions and surplus; nobody else's."""
    return (
        Judgment.objects.filter(annotator=person)
        .select_related("item__round", "slot")
        .order_by("-created_at", "-id")
    )


def standing_of(person: Person) -> QuerySet[Judgment]:
    """:func:`history_of` without what a later version of one's own replaces."""
    # The few corrections of one person are looked up first; joined, every judgment there is would be read.
    replaced = Judgment.objects.filter(annotator=person, supersedes__isnull=False)
    return history_of(person).exclude(pk__in=replaced.order_by().values("supersedes"))
