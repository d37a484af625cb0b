"""Uploaded labelled pairs."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from screening.models import Collection, DocumentPair

PERSON = settings.AUTH_USER_MODEL


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
