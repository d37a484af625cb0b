"""The insert-only records of what people decided and signed."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from reviews.labels import Direction, Label, label_choices
from reviews.models.rounds import ReviewItem, ReviewRound, ReviewSlot
from screening.models import Document

PERSON = settings.AUTH_USER_MODEL


class Answer(models.Model):
    """What judgments, opinions and decisions have in common: a label, its direction and the reason."""

    insert_only: ClassVar[bool] = True

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    label = models.CharField(max_length=12, choices=label_choices)
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
