"""Merged entries that people signed."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from screening.models import Collection

PERSON = settings.AUTH_USER_MODEL


class MergedEntry(models.Model):
    """A proposed entry for a group of copies, as a person signed it. Insert-only; no document is touched by it.

    ``members`` are doc_ids in code-point order; ``proposal`` is the whole proposal as JSON; a later signature of the
    same group is a new row.
    """

    insert_only: ClassVar[bool] = True

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="merged_entries"
    )
    person = models.ForeignKey(PERSON, on_delete=models.PROTECT, related_name="+")
    members = models.JSONField()
    proposal = models.JSONField()
    created_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    digest_version = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"entry {self.pk} of {self.collection_id}"
