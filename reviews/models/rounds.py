"""Rounds, their people, their items and the seats of an item."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from screening.models import Candidate, Collection, DocumentPair, ScreeningRun

PERSON = settings.AUTH_USER_MODEL


class ReviewRound(models.Model):
    """Candidates, people and rules. ``order_seed`` makes the order of the items repeatable."""

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        FROZEN = "frozen", _("Frozen")
        CLOSED = "closed", _("Closed")

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="rounds")
    run = models.ForeignKey(ScreeningRun, on_delete=models.PROTECT, related_name="rounds")
    name = models.CharField(_("name"), max_length=200)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    judgments_per_item = models.PositiveSmallIntegerField(_("judgments per pair"), default=2)
    order_seed = models.PositiveIntegerField(default=1)
    show_scores = models.BooleanField(_("show scores and suggestions"), default=False)
    grace_minutes = models.PositiveSmallIntegerField(default=10)
    lease_minutes = models.PositiveSmallIntegerField(default=30)
    guideline_version = models.PositiveIntegerField(default=1)
    selection = models.JSONField(
        default=dict, help_text="which pairs were taken from the run, and how many were left out"
    )
    deadline = models.DateTimeField(
        _("deadline"),
        null=True,
        help_text="no seats are given after it; answers to held ones count",
    )
    pass_mark = models.PositiveSmallIntegerField(
        null=True, help_text="percent of known answers to get right; makes the round a calibration"
    )
    calibration = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="calibrated_rounds"
    )
    created_by = models.ForeignKey(PERSON, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(judgments_per_item__gte=1) & Q(judgments_per_item__lte=9),
                name="round_seats_1_to_9",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "frozen", "closed"]), name="round_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(pass_mark__isnull=True) | Q(pass_mark__lte=100),
                name="round_pass_mark_is_percent",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class GuidelineVersion(models.Model):
    """The text that people judged by; ``html`` has passed the one sanitising function. Published once and for all."""

    insert_only: ClassVar[bool] = True

    round = models.ForeignKey(ReviewRound, on_delete=models.PROTECT, related_name="guidelines")
    number = models.PositiveIntegerField()
    text = models.TextField()
    html = models.TextField()
    created_by = models.ForeignKey(PERSON, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["round", "number"]
        constraints = [
            models.UniqueConstraint(fields=["round", "number"], name="guideline_number_once"),
        ]

    def __str__(self) -> str:
        return f"guideline {self.number} of round {self.round_id}"


class RoundMember(models.Model):
    """A person's part in one round: annotator or arbitrator, never both."""

    class Part(models.TextChoices):
        ANNOTATOR = "annotator", _("Annotator")
        ARBITRATOR = "arbitrator", _("Arbitrator")

    round = models.ForeignKey(ReviewRound, on_delete=models.PROTECT, related_name="members")
    person = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="round_memberships")
    part = models.CharField(max_length=10, choices=Part.choices)
    active = models.BooleanField(default=True)
    quota = models.PositiveIntegerField(
        null=True, help_text="pairs that the person judges at most; none means no limit"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "person"], name="round_member_once"),
            models.CheckConstraint(
                condition=Q(part__in=["annotator", "arbitrator"]), name="round_part_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} {self.part} of round {self.round_id}"


class ReviewItem(models.Model):
    """A pair in a round. ``revision`` counts decisions, for the optimistic lock between arbitrators."""

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        WAITING = "waiting", _("Waiting for more judgments")
        CONFLICT = "conflict", _("In conflict")
        CLOSED = "closed", _("Closed")

    class ClosedBy(models.TextChoices):
        AGREEMENT = "agreement", _("Agreement")
        ARBITRATION = "arbitration", _("Arbitration")

    class Conflict(models.TextChoices):
        LABEL = "label", _("Different labels")
        DIRECTION = "direction", _("Same label, opposite direction")
        UNDECIDED = "undecided", _("Somebody cannot tell")

    round = models.ForeignKey(ReviewRound, on_delete=models.PROTECT, related_name="items")
    pair = models.ForeignKey(DocumentPair, on_delete=models.PROTECT, related_name="review_items")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    closed_by = models.CharField(max_length=12, choices=ClosedBy.choices, blank=True)
    conflict = models.CharField(max_length=10, choices=Conflict.choices, blank=True)
    revision = models.PositiveIntegerField(default=0)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["round", "position"]
        constraints = [
            models.UniqueConstraint(fields=["round", "pair"], name="item_pair_once"),
            models.UniqueConstraint(fields=["round", "position"], name="item_position_once"),
            models.CheckConstraint(
                condition=Q(state__in=["open", "waiting", "conflict", "closed"]),
                name="item_state_is_known",
            ),
            models.CheckConstraint(
                condition=(Q(state="closed") & ~Q(closed_by="") & Q(closed_at__isnull=False))
                | (~Q(state="closed") & Q(closed_by="") & Q(closed_at__isnull=True)),
                name="item_closed_by_iff_closed",
            ),
            # The kind of conflict outlives the arbitration: it belongs to the record of how the item was closed.
            models.CheckConstraint(
                condition=(Q(state="conflict") & ~Q(conflict=""))
                | (Q(state__in=["open", "waiting"]) & Q(conflict=""))
                | (Q(state="closed", closed_by="agreement") & Q(conflict=""))
                | (Q(state="closed", closed_by="arbitration") & ~Q(conflict="")),
                name="item_conflict_iff_disputed",
            ),
        ]
        indexes = [
            models.Index(fields=["round", "state", "position"], name="item_queue"),
            # The next seat is looked for among live items in order; closed ones must not be walked over.
            models.Index(
                fields=["round", "position"],
                condition=Q(state__in=["open", "waiting"]),
                name="item_live_queue",
            ),
            models.Index(
                fields=["round"], condition=Q(closed_by="arbitration"), name="item_arbitrated"
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"


class ReviewSlot(models.Model):
    """One of an item's N seats. Who sits in it may change until it is filled; then it is a fact."""

    class State(models.TextChoices):
        FREE = "free", _("Free")
        CLAIMED = "claimed", _("Claimed")
        FILLED = "filled", _("Filled")

    item = models.ForeignKey(ReviewItem, on_delete=models.PROTECT, related_name="slots")
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.FREE)
    annotator = models.ForeignKey(PERSON, on_delete=models.PROTECT, null=True, related_name="slots")
    claimed_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["item", "number"]
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="slot_number_once"),
            models.UniqueConstraint(fields=["item", "annotator"], name="slot_annotator_once"),
            models.CheckConstraint(
                condition=Q(state="free", annotator__isnull=True)
                | Q(state__in=["claimed", "filled"], annotator__isnull=False),
                name="slot_annotator_iff_taken",
            ),
            models.CheckConstraint(
                condition=Q(state="claimed", lease_expires_at__isnull=False)
                | Q(state__in=["free", "filled"], lease_expires_at__isnull=True),
                name="slot_lease_iff_claimed",
            ),
        ]
        indexes = [models.Index(fields=["annotator", "state"], name="slot_of_person")]

    def __str__(self) -> str:
        return f"seat {self.number} of item {self.item_id}"


class SeatLapse(models.Model):
    """A seat that was taken from its holder after the lease ran out (or when they left the round).

    It is what tells a late answer, kept as surplus, from an answer to a seat that the person never held.
    """

    slot = models.ForeignKey(ReviewSlot, on_delete=models.PROTECT, related_name="lapses")
    person = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="+")
    claimed_at = models.DateTimeField(null=True)
    lapsed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slot", "person"], name="lapse_once"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} lost seat {self.slot_id}"


class SeatDecline(models.Model):
    """A person put an item aside: ``later`` returns to them, ``recuse`` never does."""

    class How(models.TextChoices):
        LATER = "later", _("Later")
        RECUSE = "recuse", _("Recused")

    item = models.ForeignKey(ReviewItem, on_delete=models.PROTECT, related_name="declines")
    person = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="+")
    how = models.CharField(max_length=8, choices=How.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "person", "how"], name="decline_once"),
            models.CheckConstraint(
                condition=Q(how__in=["later", "recuse"]), name="decline_how_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} {self.how} {self.item_id}"


class Draft(models.Model):
    """What a person has typed for an item and not yet submitted."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="drafts")
    person = models.ForeignKey(PERSON, on_delete=models.CASCADE, related_name="+")
    data = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "person"], name="draft_once"),
        ]

    def __str__(self) -> str:
        return f"draft of {self.person_id} for {self.item_id}"
