"""The people of a round in mid-round: joining, leaving, quotas, keeping away."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dedupreview.people import audit
from dedupreview.people.models import Person, Role
from reviews.models import ReviewRound, ReviewSlot, RoundMember, SeatDecline
from reviews.queue import note_lapse
from reviews.rounds import BOTH_PARTS, INACTIVE, READS_ONLY, RoundError, join
from screening.models import Document, Membership

NOT_A_MEMBER = "%(name)s takes no part in this round."
QUOTA_POSITIVE = "A quota is at least 1."


def add_member(
    *, round: ReviewRound, person: Person, part: str, actor: Person | None = None
) -> RoundMember:
    """Add a person in mid-round, or take one back who had left; the part of a person never changes.

    :raises RoundError: for a deactivated person, an auditor, or somebody with the other part.
    """
    named = {"name": person.username}
    if not person.is_active:
        raise RoundError(INACTIVE, named, code="people")
    if person.role == Role.AUDITOR:
        raise RoundError(READS_ONLY, named, code="people")
    with transaction.atomic():
        member = RoundMember.objects.select_for_update().filter(round=round, person=person).first()
        if member is None:
            join(round, person, part)
        elif member.part != part:
            raise RoundError(BOTH_PARTS, named, code="people")
        else:
            RoundMember.objects.filter(pk=member.pk).update(active=True)
            Membership.objects.get_or_create(collection=round.collection, person=person)
        _record_people(round, person, "round.member_added", part, actor)
        return RoundMember.objects.get(round=round, person=person)


def remove_member(*, round: ReviewRound, person: Person, actor: Person | None = None) -> None:
    """Let a person leave a round: their judgments stay, the seats they hold are dealt again.

    :raises RoundError: if they take no part in it.
    """
    with transaction.atomic():
        member = RoundMember.objects.select_for_update().filter(round=round, person=person).first()
        if member is None:
            raise RoundError(NOT_A_MEMBER, {"name": person.username}, code="people")
        RoundMember.objects.filter(pk=member.pk).update(active=False)
        held = ReviewSlot.objects.filter(
            item__round=round, annotator=person, state=ReviewSlot.State.CLAIMED
        )
        for slot in held:
            note_lapse(
                slot_id=slot.pk,
                person_id=person.pk,
                claimed_at=slot.claimed_at,
                moment=timezone.now(),
            )
            ReviewSlot.objects.filter(
                pk=slot.pk, annotator=person, state=ReviewSlot.State.CLAIMED
            ).update(
                state=ReviewSlot.State.FREE, annotator=None, claimed_at=None, lease_expires_at=None
            )
        _record_people(round, person, "round.member_removed", member.part, actor)


def replace_member(
    *, round: ReviewRound, person: Person, by: Person, actor: Person | None = None
) -> RoundMember:
    """Let ``by`` take the part of ``person``, both or neither: judgments stay, seats held are dealt again.

    :raises RoundError: as :func:`add_member` and :func:`remove_member`.
    """
    with transaction.atomic():
        member = RoundMember.objects.filter(round=round, person=person, active=True).first()
        if member is None:
            raise RoundError(NOT_A_MEMBER, {"name": person.username}, code="people")
        remove_member(round=round, person=person, actor=actor)
        return add_member(round=round, person=by, part=member.part, actor=actor)


def set_quota(
    *, round: ReviewRound, person: Person, quota: int | None, actor: Person | None = None
) -> None:
    """Let a person judge at most ``quota`` pairs of a round; None lifts the limit. What is judged stays.

    :raises RoundError: if they take no part in the round, or the number is below 1.
    """
    if quota is not None and quota < 1:
        raise RoundError(QUOTA_POSITIVE, code="quota")
    with transaction.atomic():
        changed = RoundMember.objects.filter(round=round, person=person).update(quota=quota)
        if not changed:
            raise RoundError(NOT_A_MEMBER, {"name": person.username}, code="people")
        _record_people(round, person, "round.quota", str(quota), actor)


def keep_away(
    *, round: ReviewRound, person: Person, document: Document, actor: Person | None = None
) -> int:
    """Recuse a person from every pair of a document (its author, say); how many pairs that concerns.

    A seat that they hold at such a pair is dealt again; judgments given before stay.
    """
    with transaction.atomic():
        touched = round.items.filter(Q(pair__low=document) | Q(pair__high=document))
        rows = [
            SeatDecline(item=item, person=person, how=SeatDecline.How.RECUSE)
            for item in touched.only("pk")
        ]
        SeatDecline.objects.bulk_create(rows, ignore_conflicts=True)
        ReviewSlot.objects.filter(
            item__in=touched, annotator=person, state=ReviewSlot.State.CLAIMED
        ).update(
            state=ReviewSlot.State.FREE, annotator=None, claimed_at=None, lease_expires_at=None
        )
        _record_people(round, person, "round.kept_away", f"document {document.pk}", actor)
    return len(rows)


def _record_people(
    round: ReviewRound, person: Person, action: str, part: str, actor: Person | None
) -> None:
    audit.record(
        actor=actor,
        action=action,
        subject_type="round",
        subject_id=round.pk,
        data={"person": person.code, "part": str(part)},
    )
