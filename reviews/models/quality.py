"""What keeps judging good: known answers hidden among the pairs, and questions to the admin."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from reviews.models.labelsets import LabelRow
from reviews.models.rounds import ReviewItem, ReviewRound

PERSON = settings.AUTH_USER_MODEL


class GoldItem(models.Model):
    """An item whose answer is known from a label set. Nothing else about the item differs from the others."""

    item = models.OneToOneField(ReviewItem, on_delete=models.PROTECT, related_name="gold")
    label_row = models.ForeignKey(LabelRow, on_delete=models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return f"gold item {self.item_id}"


class Question(models.Model):
    """A question to the admin of a round. Only its author and the admins see it; ``guideline`` tells the others."""

    round = models.ForeignKey(ReviewRound, on_delete=models.PROTECT, related_name="questions")
    item = models.ForeignKey(ReviewItem, on_delete=models.PROTECT, null=True, related_name="+")
    person = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(PERSON, on_delete=models.PROTECT, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)
    guideline = models.PositiveIntegerField(
        null=True, help_text="number of the guideline version that carries the answer"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=(
                    Q(answer="")
                    & Q(answered_by__isnull=True)
                    & Q(answered_at__isnull=True)
                    & Q(guideline__isnull=True)
                )
                | (~Q(answer="") & Q(answered_at__isnull=False) & Q(guideline__isnull=False)),
                name="question_answered_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"question {self.pk}"
