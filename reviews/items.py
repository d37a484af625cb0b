"""What one person may see of one item: the only way from an item to a page or an API answer.

Blindness lives here. Until an item is closed, nobody but the author sees a judgment, except an arbitrator of the item
after their own opinion; that an item is in conflict, and how, is itself news about other people's answers.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from django.utils import timezone

from dedupreview.people.models import Person
from reviews import judging
from reviews.errors import ReviewError
from reviews.labels import Direction
from reviews.models import (
    Arbitration,
    GuidelineVersion,
    Judgment,
    Opinion,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    RoundMember,
)
from reviews.outcomes import Outcome, outcome_of
from screening.models import Candidate, Document

NOT_YOURS = "This pair is not one that you may see."

Part = Literal["annotator", "arbitrator", "reader"]


class ItemsError(ReviewError):
    """The item is not for this person: a page answers 404."""


@dataclass(frozen=True)
class Scores:
    """Figures that would sway a judgment; only for those who may see them."""

    rank: int
    channels: list[str]
    minhash_estimate: float | None
    jaccard: float
    jaccard_folded: float | None
    containment: float
    simhash_distance: int | None
    suggestion: str


@dataclass(frozen=True)
class PairView:
    """One item as one person may see it. ``left`` and ``right`` are canonical; ``swapped`` says how to show them.

    ``item`` is a copy whose ``state`` and ``conflict`` are those that may be shown.
    """

    item: ReviewItem
    part: Part
    state: str
    left: Document
    right: Document
    swapped: bool
    candidate: Candidate
    scores: Scores | None
    slot: ReviewSlot | None
    lease_expires_at: datetime | None
    own: list[Judgment]
    draft: dict[str, object]
    guideline: GuidelineVersion | None
    can_judge: bool
    can_correct: bool
    can_opine: bool
    can_decide: bool
    own_opinion: Opinion | None = None
    conflict: str = ""
    judgments: list[Judgment] = field(default_factory=list)
    opinions: list[Opinion] = field(default_factory=list)
    arbitrations: list[Arbitration] = field(default_factory=list)
    outcome: Outcome | None = None

    @property
    def shown_left(self) -> Document:
        return self.right if self.swapped else self.left

    @property
    def shown_right(self) -> Document:
        return self.left if self.swapped else self.right

    @property
    def side_order(self) -> str:
        """For ``shown.side_order``: which canonical side stood on the left."""
        return "right_left" if self.swapped else "left_right"


def is_swapped(item: ReviewItem, person: Person) -> bool:
    """Whether this person sees the right text on the left: by chance for each, and always the same for one."""
    seed = f"{item.round_id}|{item.pk}|{person.code}".encode()
    return hashlib.sha256(seed).digest()[0] % 2 == 1


def canonical_direction(direction: str, *, swapped: bool) -> str:
    """A direction said about the sides as shown, said about the canonical sides; and the other way round."""
    if not swapped:
        return direction
    mirror = {
        str(Direction.LEFT_FIRST): str(Direction.RIGHT_FIRST),
        str(Direction.RIGHT_FIRST): str(Direction.LEFT_FIRST),
    }
    return mirror.get(direction, direction)


def canonical_side(side: str, *, swapped: bool) -> str:
    """``left`` or ``right`` as shown, said about the canonical sides; and the other way round."""
    return {"left": "right", "right": "left"}.get(side, side) if swapped else side


def part_of(item: ReviewItem, person: Person) -> Part:
    """The part in which a person looks at an item.

    :raises ItemsError: if they have none: not a member, and neither admin nor auditor.
    """
    member = RoundMember.objects.filter(round_id=item.round_id, person=person).first()
    if member is not None:
        return "annotator" if member.part == RoundMember.Part.ANNOTATOR else "arbitrator"
    if person.is_auditor:
        return "reader"
    raise ItemsError(NOT_YOURS, code="not_yours")


def pair_view(item: ReviewItem, person: Person, *, now: datetime | None = None) -> PairView:
    """What may be shown of ``item`` to ``person``; everything else is absent, not merely hidden.

    The originals are part of it for an arbitrator after the opinion, but reading them is an act on record: pages call
    :func:`reviews.arbitration.originals` for them. Here they appear once the item is closed.

    :raises ItemsError: if the person has no business with the item.
    """
    moment = now or timezone.now()
    part = part_of(item, person)
    round = item.round
    closed = item.state == ReviewItem.State.CLOSED
    own = list(item.judgments.filter(annotator=person).order_by("created_at", "id"))
    opinion = item.opinions.filter(arbitrator=person).first()
    slot = _seat_of(item, person) if part == "annotator" else None
    revealed = closed or (part == "arbitrator" and opinion is not None)
    is_open = round.state == ReviewRound.State.OPEN
    may_arbitrate = part == "arbitrator" and is_open and not own and _active(item, person)
    in_conflict = item.state == ReviewItem.State.CONFLICT
    state = _shown_state(item, part)
    conflict = item.conflict if revealed else ""
    return PairView(
        item=_blinded(item, state, conflict),
        part=part,
        state=state,
        left=item.pair.left,
        right=item.pair.right,
        swapped=is_swapped(item, person),
        candidate=item.candidate,
        scores=_scores(item) if _may_see_scores(round, part, revealed) else None,
        slot=slot,
        lease_expires_at=slot.lease_expires_at if slot else None,
        own=own,
        draft=judging.draft_of(item, person),
        guideline=GuidelineVersion.objects.filter(
            round_id=item.round_id, number=round.guideline_version
        ).first(),
        can_judge=is_open and slot is not None,
        can_correct=is_open and _may_correct(item, own, moment),
        can_opine=may_arbitrate and in_conflict and opinion is None,
        can_decide=may_arbitrate and (in_conflict or bool(item.revision)),
        own_opinion=opinion,
        conflict=conflict,
        judgments=_all_judgments(item) if closed else [],
        opinions=list(item.opinions.select_related("arbitrator")) if closed else [],
        arbitrations=list(item.arbitrations.select_related("arbitrator").order_by("version"))
        if closed
        else [],
        outcome=outcome_of(item) if closed else None,
    )


def _blinded(item: ReviewItem, state: str, conflict: str) -> ReviewItem:
    """A copy for showing that tells no more than the view does; never to be saved."""
    shown = copy.copy(item)
    shown.state, shown.conflict = state, conflict
    return shown


def _seat_of(item: ReviewItem, person: Person) -> ReviewSlot | None:
    return item.slots.filter(annotator=person, state=ReviewSlot.State.CLAIMED).first()


def _active(item: ReviewItem, person: Person) -> bool:
    return RoundMember.objects.filter(round_id=item.round_id, person=person, active=True).exists()


def _shown_state(item: ReviewItem, part: Part) -> str:
    """An annotator does not learn that others disagree, nor that somebody has answered: only open or closed."""
    if part != "annotator" or item.state == ReviewItem.State.CLOSED:
        # Where one judgment is asked, a conflict can only mean that its author cannot tell.
        single = item.round.judgments_per_item == 1
        if part == "reader" and single and item.state == ReviewItem.State.CONFLICT:
            return str(ReviewItem.State.WAITING)
        return item.state
    return str(ReviewItem.State.OPEN)


def _may_see_scores(round: ReviewRound, part: Part, revealed: bool) -> bool:
    return round.show_scores or revealed or part == "reader"


def _scores(item: ReviewItem) -> Scores:
    found = item.candidate
    return Scores(
        rank=found.rank,
        channels=list(found.channels),
        minhash_estimate=found.minhash_estimate,
        jaccard=found.jaccard,
        jaccard_folded=found.jaccard_folded,
        containment=found.containment,
        simhash_distance=found.simhash_distance,
        suggestion=found.suggestion,
    )


def _may_correct(item: ReviewItem, own: list[Judgment], moment: datetime) -> bool:
    """Whether the page offers a correction: by time alone until the pair is closed.

    In a conflict the correction itself is refused; but if the offer vanished, reading the page would already tell the
    author that somebody disagrees.
    """
    first = next((j for j in own if j.counted and j.version == 1), None)
    if first is None or item.state == ReviewItem.State.CLOSED:
        return False
    minutes = (moment - first.created_at).total_seconds() / 60
    return minutes <= item.round.grace_minutes


def _all_judgments(item: ReviewItem) -> list[Judgment]:
    rows = item.judgments.select_related("annotator", "slot")
    return list(rows.order_by("slot__number", "created_at", "id"))
