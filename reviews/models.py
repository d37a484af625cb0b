"""Rounds, seats and the insert-only records of what people decided."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from reviews.labels import Direction, Label
from screening.models import Candidate, Collection, Document, DocumentPair, ScreeningRun

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
        ]

    def __str__(self) -> str:
        return self.name


class GuidelineVersion(models.Model):
    """The text that people judged by; ``html`` has passed the one sanitising function."""

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


class Answer(models.Model):
    """What judgments, opinions and decisions have in common: a label, its direction and the reason."""

    insert_only: ClassVar[bool] = True

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    label = models.CharField(max_length=12, choices=Label.choices)
    direction = models.CharField(max_length=12, choices=Direction.choices, blank=True)
    reason_code = models.CharField(max_length=30, blank=True)
    reason = models.TextField(blank=True)
    kept = models.ForeignKey(Document, on_delete=models.PROTECT, null=True, related_name="+")
    evidence = models.JSONField(default=list)
    shown = models.JSONField(default=dict)
    guideline_version = models.PositiveIntegerField()
    created_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    digest_version = models.PositiveSmallIntegerField()

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=(Q(label=Label.REVISION) & Q(direction__in=Direction.values))
                | (~Q(label=Label.REVISION) & Q(direction="")),
                name="%(class)s_direction_iff_revision",
            ),
            models.CheckConstraint(
                condition=Q(kept__isnull=True) | Q(label=Label.COPY),
                name="%(class)s_kept_only_of_copy",
            ),
        ]


class Judgment(Answer):
    """One annotator's answer. Insert-only; a correction is a new version that names the old one.

    ``counted`` is fixed at insert: true for the answers that fill the seat, false for surplus.
    """

    item = models.ForeignKey(ReviewItem, on_delete=models.PROTECT, related_name="judgments")
    slot = models.ForeignKey(ReviewSlot, on_delete=models.PROTECT, related_name="judgments")
    annotator = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="judgments")
    version = models.PositiveIntegerField(default=1)
    supersedes = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, related_name="superseded_by"
    )
    counted = models.BooleanField()
    checklist = models.JSONField(default=dict)
    active_ms = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            *Answer.Meta.constraints,
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(counted=True, version=1),
                name="one_counted_first_judgment_per_slot",
            ),
            models.UniqueConstraint(
                fields=["item", "annotator", "version"],
                condition=Q(counted=True),
                name="counted_version_once",
            ),
            models.CheckConstraint(
                condition=Q(version=1, supersedes__isnull=True)
                | Q(version__gt=1, supersedes__isnull=False),
                name="judgment_supersedes_iff_later_version",
            ),
            models.CheckConstraint(
                condition=Q(label__in=Label.values), name="judgment_label_is_known"
            ),
        ]
        indexes = [models.Index(fields=["annotator", "created_at"], name="judgment_of_person")]

    def __str__(self) -> str:
        return f"judgment {self.pk}"


class Opinion(Answer):
    """The arbitrator's own answer, given before the originals are revealed."""

    item = models.ForeignKey(ReviewItem, on_delete=models.PROTECT, related_name="opinions")
    arbitrator = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="opinions")

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            *Answer.Meta.constraints,
            models.UniqueConstraint(fields=["item", "arbitrator"], name="opinion_once"),
            models.CheckConstraint(
                condition=Q(label__in=Label.values), name="opinion_label_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"opinion {self.pk}"


class CauseCode(models.TextChoices):
    """Why people disagreed, as the arbitrator sees it."""

    OVERLOOKED = "overlooked", _("Something was overlooked")
    GUIDELINE = "guideline", _("The guideline is unclear")
    AMBIGUOUS = "ambiguous", _("The texts are ambiguous")
    SLIP = "slip", _("A slip of the key")
    FACT = "fact", _("A fact has to be checked")
    OTHER = "other", _("Other")


class Arbitration(Answer):
    """The arbitrator's decision on an item in conflict. ``based_on`` lists the ids of the judgments weighed."""

    item = models.ForeignKey(ReviewItem, on_delete=models.PROTECT, related_name="arbitrations")
    arbitrator = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="arbitrations")
    version = models.PositiveIntegerField(default=1)
    supersedes = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, related_name="superseded_by"
    )
    opinion = models.ForeignKey(Opinion, on_delete=models.PROTECT, null=True, related_name="+")
    saw_originals = models.BooleanField()
    based_on = models.JSONField(default=list)
    cause_code = models.CharField(max_length=12, choices=CauseCode.choices, blank=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            *Answer.Meta.constraints,
            models.UniqueConstraint(fields=["item", "version"], name="arbitration_version_once"),
            models.CheckConstraint(
                condition=Q(version=1, supersedes__isnull=True)
                | Q(version__gt=1, supersedes__isnull=False),
                name="arbitration_supersedes_iff_later_version",
            ),
            models.CheckConstraint(
                condition=Q(opinion__isnull=True) | Q(saw_originals=True),
                name="arbitration_with_opinion_saw_originals",
            ),
            models.CheckConstraint(
                condition=Q(label__in=Label.values), name="arbitration_label_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"arbitration {self.pk}"


class LabelSet(models.Model):
    """Uploaded labelled pairs: a named external source, never a person's judgment."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="label_sets")
    name = models.CharField(_("name"), max_length=200)
    filename = models.CharField(max_length=300)
    sha256 = models.CharField(
        max_length=64, help_text="of the uploaded bytes, kept in the originals store"
    )
    report = models.JSONField(default=dict)
    uploaded_by = models.ForeignKey(PERSON, on_delete=models.PROTECT, null=True, related_name="+")
    uploaded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="label_set_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class LabelRow(models.Model):
    """One accepted row of a label set. ``label`` is a :class:`Label` value or ``not_copy``."""

    label_set = models.ForeignKey(LabelSet, on_delete=models.CASCADE, related_name="rows")
    pair = models.ForeignKey(DocumentPair, on_delete=models.PROTECT, related_name="label_rows")
    label = models.CharField(max_length=12)
    label_as_written = models.CharField(max_length=100)
    line = models.PositiveIntegerField()
    reason = models.TextField(blank=True)
    annotator = models.CharField(max_length=200, blank=True)
    family = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["label_set", "line"]
        constraints = [
            models.UniqueConstraint(fields=["label_set", "line"], name="label_line_once"),
        ]

    def __str__(self) -> str:
        return f"line {self.line} of label set {self.label_set_id}"


class ReviewTable(models.Model):
    """An exported, signed snapshot of a round; its files lie under ``folder`` in the table store."""

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    round = models.ForeignKey(ReviewRound, on_delete=models.PROTECT, related_name="tables")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    folder = models.CharField(max_length=1000, blank=True)
    provisional = models.BooleanField(default=True)
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    chain_digest = models.CharField(max_length=64, blank=True)
    key_fingerprint = models.CharField(max_length=80, blank=True)
    previous = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(PERSON, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["round", "number"], name="table_number_once"),
        ]

    def __str__(self) -> str:
        return f"table {self.number} of round {self.round_id}"


class SignOff(models.Model):
    """A person's signature under a stage of a round, given by re-authentication; ``signed_digest`` is what was signed."""

    insert_only: ClassVar[bool] = True

    class Stage(models.TextChoices):
        ANNOTATION = "annotation", _("Annotation")
        ARBITRATION = "arbitration", _("Arbitration")
        FINAL = "final", _("Final review")

    round = models.ForeignKey(ReviewRound, on_delete=models.PROTECT, related_name="sign_offs")
    stage = models.CharField(max_length=12, choices=Stage.choices)
    person = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="sign_offs")
    meaning = models.TextField()
    signed_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    digest_version = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.stage} of round {self.round_id} by {self.person_id}"
