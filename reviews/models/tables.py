"""Exported, signed snapshots."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from reviews.models.rounds import ReviewRound

PERSON = settings.AUTH_USER_MODEL


class ReviewTable(models.Model):
    """An exported, signed snapshot of a round; its files lie under ``folder`` in the table store."""

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    class Stage(models.TextChoices):
        PAIRS = "pairs", _("Reading the pairs and their judgments")
        DOCUMENTS = "documents", _("Checking the texts")
        WORKBOOK = "workbook", _("Writing the workbook")
        PACKING = "packing", _("Packing the zip, in megabytes")

    round = models.ForeignKey(ReviewRound, on_delete=models.PROTECT, related_name="tables")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    stage = models.CharField(max_length=12, choices=Stage.choices, blank=True)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
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
