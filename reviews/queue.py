"""Who sits where: claiming, renewing and giving back seats.

Locks are always taken in the order round (shared), member, item, seat, so that two people can never wait for each other. What decides
is the conditional UPDATE of the seat; SKIP LOCKED on PostgreSQL only keeps fifty people from queueing for one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.db import connection, transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from dedupreview.people.models import Person
from reviews import quality
from reviews.errors import ReviewError
from reviews.models import (
    Judgment,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    RoundMember,
    SeatDecline,
    SeatLapse,
)

LIVE_STATES = [ReviewItem.State.OPEN.value, ReviewItem.State.WAITING.value]
ATTEMPTS = 5
"""How often a claim looks again after somebody else took the seat between search and claim."""

ROUND_NOT_OPEN = "This round is not open."
SEAT_NOT_YOURS = "This seat is not yours any more."
UNKNOWN_WAY = "Unknown way to give a seat back: %(how)s"


class QueueError(ReviewError):
    """A seat could not be claimed, renewed or given back."""


Kind = Literal["all_done", "taken", "not_eligible", "set_aside", "not_calibrated", "overdue"]


@dataclass(frozen=True)
class Nothing:
    """Why there is no seat for a person.

    ``all_done``: the person has answered every pair that still waits (or their quota), or none waits. ``taken``: others hold what is
    left, the first lease ends at ``until``. ``not_eligible``: not an active annotator of the round. ``set_aside``:
    the person has recused themselves from all that is left. ``not_calibrated``: they have not passed the round's
    calibration. ``overdue``: the round's deadline is over.
    """

    kind: Kind
    until: datetime | None = None


def claim(
    *, round: ReviewRound, person: Person, now: datetime | None = None
) -> ReviewSlot | Nothing:
    """Give ``person`` a seat for the length of the round's lease, or say why there is none.

    The seat that the person already holds comes first, with its lease renewed. Then the pairs after the last one they
    answered, then those before it, then what they put aside for later, longest ago first.

    :raises QueueError: if the round is frozen or closed.
    """
    moment = now or timezone.now()
    with transaction.atomic():
        current = share_round(round.pk)
        if current.state != ReviewRound.State.OPEN:
            raise QueueError(ROUND_NOT_OPEN, code="round_not_open")
        member = lock_member(round_id=current.pk, person=person)
        if member is None:
            return Nothing("not_eligible")
        lease = moment + timedelta(minutes=current.lease_minutes)
        own = _renew_own(current, person, lease)
        if own is not None:
            return own
        if current.deadline is not None and moment >= current.deadline:
            return Nothing("overdue")
        if not quality.may_begin(current, person):
            return Nothing("not_calibrated")
        if member.quota is not None and _answered(current, person) >= member.quota:
            return Nothing("all_done")
        for attempt in range(ATTEMPTS):
            slot = _take_next(current, person, moment, lease, wait=attempt == ATTEMPTS - 1)
            if slot is not None:
                return slot
            reason = _why_nothing(current, person, moment)
            if reason is not None:
                return reason
        return Nothing("taken", moment)


def share_round(round_id: int) -> ReviewRound:
    """The round as it is, kept so until the transaction ends: nobody freezes, closes or signs it in between.

    A shared lock: those who judge do not wait for each other. On SQLite there is one writer at a time anyway.
    """
    if connection.vendor != "postgresql":
        return ReviewRound.objects.get(pk=round_id)
    table = connection.ops.quote_name(ReviewRound._meta.db_table)
    query = f"SELECT * FROM {table} WHERE id = %s FOR SHARE"
    return ReviewRound.objects.raw(query, [round_id])[0]


def lock_member(
    *, round_id: int, person: Person, part: str = RoundMember.Part.ANNOTATOR
) -> RoundMember | None:
    """The person's active membership, locked: everything one person does in a round happens one after the other."""
    return (
        RoundMember.objects.select_for_update(of=("self",))
        .filter(round_id=round_id, person=person, part=part, active=True, person__is_active=True)
        .first()
    )


def _answered(round: ReviewRound, person: Person) -> int:
    """How many pairs of the round the person has answered."""
    mine = Judgment.objects.filter(item__round=round, annotator=person, version=1)
    return mine.values("item").distinct().count()


def _renew_own(round: ReviewRound, person: Person, lease: datetime) -> ReviewSlot | None:
    """The seat the person still holds, even after its lease if nobody else took it."""
    held = ReviewSlot.objects.filter(
        item__round=round, annotator=person, state=ReviewSlot.State.CLAIMED
    )
    for slot in held.order_by("-claimed_at", "pk"):
        mine = ReviewSlot.objects.filter(
            pk=slot.pk, annotator=person, state=ReviewSlot.State.CLAIMED
        )
        if mine.update(lease_expires_at=lease):
            slot.lease_expires_at = lease
            return slot
    return None


def available(moment: datetime) -> Q:
    """The condition of a seat that anybody may claim: free, or its lease is over."""
    return Q(state=ReviewSlot.State.FREE) | Q(
        state=ReviewSlot.State.CLAIMED, lease_expires_at__lte=moment
    )


def _declined(person: Person, how: str, item: str) -> Exists:
    return Exists(SeatDecline.objects.filter(item=OuterRef(item), person=person, how=how))


def _judged(person: Person, item: str) -> Exists:
    return Exists(Judgment.objects.filter(item=OuterRef(item), annotator=person))


def _seats_for(round: ReviewRound, person: Person, moment: datetime) -> QuerySet[ReviewSlot]:
    return ReviewSlot.objects.filter(
        available(moment), item__round=round, item__state__in=LIVE_STATES
    ).filter(~_judged(person, "item_id"), ~_declined(person, SeatDecline.How.RECUSE, "item_id"))


def _take_next(
    round: ReviewRound, person: Person, moment: datetime, lease: datetime, *, wait: bool
) -> ReviewSlot | None:
    seats = _seats_for(round, person, moment)
    later = _declined(person, SeatDecline.How.LATER, "item_id")
    # A free seat of a pair goes before one whose lease is over: its holder may still be about to answer.
    seats = seats.order_by("item__position", F("lease_expires_at").asc(nulls_first=True), "number")
    fresh = seats.filter(~later)
    # Going on after one's last answer keeps a family of related texts together, and keeps the search short: what lies
    # before is mostly answered by this person already.
    after = _last_answered(round, person)
    searches = [fresh.filter(item__position__gt=after), fresh.filter(item__position__lte=after)]
    aside = SeatDecline.objects.filter(
        item__round=round, person=person, how=SeatDecline.How.LATER
    ).order_by("created_at", "pk")
    for search in searches:
        slot = _take(search, person, moment, lease, wait=wait)
        if slot is not None:
            return slot
    for item_id in list(aside.values_list("item_id", flat=True)):
        slot = _take(seats.filter(item_id=item_id), person, moment, lease, wait=wait)
        if slot is not None:
            return slot
    return None


def _last_answered(round: ReviewRound, person: Person) -> int:
    """The position of the pair that the person answered last in this round; 0 before the first."""
    position = (
        Judgment.objects.filter(item__round=round, annotator=person)
        .order_by("-created_at")
        .values_list("item__position", flat=True)
        .first()
    )
    return position or 0


def _take(
    seats: QuerySet[ReviewSlot], person: Person, moment: datetime, lease: datetime, *, wait: bool
) -> ReviewSlot | None:
    """Claim the first of ``seats`` by compare-and-set; None if there is none or somebody was quicker."""
    if connection.features.has_select_for_update_skip_locked:
        seats = seats.select_for_update(skip_locked=not wait, of=("self",))
    slot = seats.first()
    if slot is None:
        return None
    before = (slot.annotator_id, slot.claimed_at)
    taken = ReviewSlot.objects.filter(
        available(moment), pk=slot.pk, annotator_id=slot.annotator_id
    ).update(
        state=ReviewSlot.State.CLAIMED,
        annotator=person,
        claimed_at=moment,
        lease_expires_at=lease,
    )
    if not taken:
        return None
    if before[0] is not None:
        note_lapse(slot_id=slot.pk, person_id=before[0], claimed_at=before[1], moment=moment)
    return ReviewSlot.objects.get(pk=slot.pk)


def note_lapse(
    *, slot_id: int, person_id: int, claimed_at: datetime | None, moment: datetime
) -> None:
    """Put on record that a person lost a seat, so that a late answer of theirs is known for one."""
    lapse = SeatLapse(slot_id=slot_id, person_id=person_id, claimed_at=claimed_at, lapsed_at=moment)
    SeatLapse.objects.bulk_create([lapse], ignore_conflicts=True)


def _why_nothing(round: ReviewRound, person: Person, moment: datetime) -> Nothing | None:
    """The reason that there was no seat; None if one has come free meanwhile."""
    waiting = ReviewItem.objects.filter(round=round, state__in=LIVE_STATES).filter(
        ~_judged(person, "pk")
    )
    mine = waiting.filter(~_declined(person, SeatDecline.How.RECUSE, "pk"))
    # In this order: both sets only shrink, so what still waits after "mine" was empty is what the person keeps away from.
    if not mine.exists():
        return Nothing("set_aside" if waiting.exists() else "all_done")
    if _seats_for(round, person, moment).exists():
        return None
    until = ReviewSlot.objects.filter(item__in=mine, state=ReviewSlot.State.CLAIMED).aggregate(
        first=Min("lease_expires_at")
    )["first"]
    return Nothing("taken", until)


def renew(*, slot: ReviewSlot, person: Person, now: datetime | None = None) -> datetime:
    """Extend the lease of a seat that ``person`` still holds; returns its new end.

    :raises QueueError: if somebody else has it, it is filled, or the round is not open.
    """
    moment = now or timezone.now()
    round = ReviewRound.objects.get(items__slots=slot)
    if round.state != ReviewRound.State.OPEN:
        raise QueueError(ROUND_NOT_OPEN, code="round_not_open")
    lease = moment + timedelta(minutes=round.lease_minutes)
    mine = ReviewSlot.objects.filter(pk=slot.pk, annotator=person, state=ReviewSlot.State.CLAIMED)
    if not mine.update(lease_expires_at=lease):
        raise QueueError(SEAT_NOT_YOURS, code="lapsed")
    return lease


def release(*, slot: ReviewSlot, person: Person, how: str, now: datetime | None = None) -> None:
    """Give a seat back: ``later`` returns to the person after the others, ``recuse`` never does.

    :raises QueueError: if ``how`` is neither, or the person does not hold the seat.
    """
    if how not in SeatDecline.How.values:
        raise QueueError(UNKNOWN_WAY, {"how": str(how)[:20]}, code="how")
    moment = now or timezone.now()
    with transaction.atomic():
        item_id = ReviewSlot.objects.values_list("item_id", flat=True).get(pk=slot.pk)
        round_id = ReviewItem.objects.values_list("round_id", flat=True).get(pk=item_id)
        lock_member(round_id=round_id, person=person)
        freed = ReviewSlot.objects.filter(
            pk=slot.pk, annotator=person, state=ReviewSlot.State.CLAIMED
        ).update(
            state=ReviewSlot.State.FREE, annotator=None, claimed_at=None, lease_expires_at=None
        )
        if not freed:
            raise QueueError(SEAT_NOT_YOURS, code="lapsed")
        # Putting the same pair aside again moves it to the end once more.
        SeatDecline.objects.update_or_create(
            item_id=item_id, person=person, how=how, defaults={"created_at": moment}
        )
