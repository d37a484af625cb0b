"""Collections, their originals and documents, and the runs that find candidate pairs in them."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _


class Collection(models.Model):
    """A named set of documents."""

    slug = models.SlugField(_("short name"), max_length=80, unique=True, allow_unicode=True)
    name = models.CharField(_("name"), max_length=200)
    description = models.TextField(_("description"), blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name or self.slug


class Membership(models.Model):
    """A person's access to one collection; admins and auditors need none."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="memberships")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "person"], name="membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.collection_id}"


class SourceFile(models.Model):
    """A file as received. Its bytes lie under ``sha256`` in the originals store and never change."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="files")
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    media_type = models.CharField(max_length=100)
    original_path = models.CharField(max_length=1000)
    received_at = models.DateTimeField(auto_now_add=True)
    received_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "sha256", "original_path"], name="source_file_once"
            ),
        ]

    def __str__(self) -> str:
        return self.original_path


class DocumentImport(models.Model):
    """One hand-over of files to a collection, from upload to its report."""

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        CHECKED = "checked", _("To be confirmed")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        DISCARDED = "discarded", _("Discarded")

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="imports")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    confirmed = models.BooleanField(
        default=True, help_text="false: only say what would become of the files, then wait"
    )
    staging = models.CharField(
        max_length=200, blank=True, help_text="folder below the data directory"
    )
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    attempt = models.PositiveIntegerField(default=0)
    lease_expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    state__in=["queued", "running", "checked", "done", "failed", "discarded"]
                ),
                name="import_state_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"import {self.pk}"


class Document(models.Model):
    """A text: its ``doc_id`` alone is unique in its collection; ``raw`` and ``sha256`` never change.

    ``sha256`` is that of the original bytes where the text is a file of its own, else of ``raw`` in UTF-8;
    ``raw_sha256`` is always the latter.
    """

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="documents")
    doc_id = models.CharField(max_length=500)
    source_id = models.CharField(max_length=300, null=True)
    version = models.CharField(max_length=200, null=True)
    title = models.CharField(max_length=1000, null=True)
    original_path = models.CharField(max_length=1000, null=True)
    captured_at = models.CharField(max_length=64, null=True)
    raw = models.TextField()
    sha256 = models.CharField(max_length=64)
    raw_sha256 = models.CharField(max_length=64)
    chars = models.PositiveIntegerField()
    source_file = models.ForeignKey(SourceFile, on_delete=models.PROTECT, related_name="documents")
    locator = models.CharField(max_length=100, blank=True, help_text="row or part of the file")
    metadata = models.JSONField(default=dict)
    warnings = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "doc_id"], name="doc_id_once"),
        ]
        indexes = [models.Index(fields=["collection", "raw_sha256"], name="document_raw")]

    def __str__(self) -> str:
        return self.title or self.doc_id

    @property
    def key(self) -> tuple[str, str]:
        """What orders documents, and so decides left and right: compared by code point in Python."""
        return (self.collection.slug, self.doc_id)


class DocumentMetadata(models.Model):
    """A correction of what is known about a document: all of its metadata as they are from then on.

    The document itself keeps what came with the file. ``values``: field → text, for title, source_id, version,
    captured_at and the optional metadata; a field that is empty is missing.
    """

    insert_only: ClassVar[bool] = True

    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="corrections")
    number = models.PositiveIntegerField(help_text="1 for the first correction")
    values = models.JSONField()
    reason = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    digest_version = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["document", "number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="metadata_version_once"),
        ]

    def __str__(self) -> str:
        return f"metadata {self.number} of document {self.document_id}"


class TemplateEntry(models.Model):
    """An entry of a collection's template library: proposed from its texts, then confirmed or rejected by a person.

    ``entry``: fixed parts and the slots between them, whose digest names it. ``examples``: [{document, start, end,
    fixed: [[start, end], …]}, …] in raw code points. ``documents`` of ``looked_at`` texts have it.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", _("Proposed")
        CONFIRMED = "confirmed", _("Confirmed")
        REJECTED = "rejected", _("Rejected")

    class Level(models.TextChoices):
        EXACT = "exact", _("the same to the letter")
        PLAIN = "plain", _("the same but for punctuation, width and space")
        SLOTS = "slots", _("the same but for its slots")

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="template_entries"
    )
    digest = models.CharField(max_length=64)
    entry = models.JSONField()
    level = models.CharField(max_length=10, choices=Level.choices)
    documents = models.PositiveIntegerField()
    sources = models.PositiveIntegerField()
    looked_at = models.PositiveIntegerField()
    examples = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PROPOSED)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-documents", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "digest"], name="template_entry_once"),
            models.CheckConstraint(
                condition=Q(state__in=["proposed", "confirmed", "rejected"]),
                name="template_entry_state_is_known",
            ),
            models.CheckConstraint(
                condition=Q(state="proposed", decided_at=None)
                | (~Q(state="proposed") & Q(decided_at__isnull=False)),
                name="template_entry_decided_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk} {''.join(self.entry['parts'])[:60]}"


class ScreeningRun(models.Model):
    """One configuration applied to a fixed list of inputs; the row is the truth, the queue only carries its id.

    The input list and every file of the run lie under ``folder`` in the run store.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    config = models.JSONField()
    preset = models.CharField(max_length=40, blank=True)
    fingerprint = models.CharField(max_length=64)
    folder = models.CharField(max_length=200, blank=True)
    inputs = models.PositiveIntegerField(default=0)
    stage = models.CharField(max_length=40, blank=True)
    progress_done = models.PositiveBigIntegerField(default=0)
    progress_total = models.PositiveBigIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    attempt = models.PositiveIntegerField(default=0)
    lease_expires_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    funnel = models.JSONField(default=dict)
    candidate_count = models.PositiveIntegerField(null=True)
    supersedes = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")
    reference = models.ForeignKey(
        Collection, on_delete=models.PROTECT, null=True, blank=True, related_name="reference_runs"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed", "cancelled"]),
                name="run_state_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED, self.State.CANCELLED}


class DocumentPair(models.Model):
    """The identity of a pair; it outlives runs. ``low`` and ``high`` are ordered by primary key only."""

    low = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    high = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["low", "high"], name="pair_once"),
            models.CheckConstraint(condition=Q(low__lt=F("high")), name="pair_low_before_high"),
        ]

    def __str__(self) -> str:
        return f"{self.low_id}|{self.high_id}"

    @property
    def left(self) -> Document:
        """The document whose (collection, doc_id) comes first by code point."""
        return min(self.low, self.high, key=lambda document: document.key)

    @property
    def right(self) -> Document:
        return max(self.low, self.high, key=lambda document: document.key)


class Candidate(models.Model):
    """A pair found by one run. Evidence is offsets into the raw texts; the text is sliced when shown.

    ``excerpts``: [[left_start, left_end, right_start, right_end], …] longest first. ``fingerprints``, where there is a
    ``simhash_distance``: the exact ``ratio`` of the texts, and the nearest windows, if any. ``fact_changes``: as in
    candidates.jsonl. ``representative`` is false for pairs that a round lists rather than asks, with ``note`` saying why.
    """

    run = models.ForeignKey(ScreeningRun, on_delete=models.CASCADE, related_name="candidates")
    pair = models.ForeignKey(DocumentPair, on_delete=models.PROTECT, related_name="candidates")
    rank = models.PositiveIntegerField()
    channels = models.JSONField(default=list)
    minhash_estimate = models.FloatField(null=True)
    jaccard = models.FloatField()
    jaccard_folded = models.FloatField(null=True)
    containment = models.FloatField()
    simhash_distance = models.PositiveSmallIntegerField(null=True)
    fingerprints = models.JSONField(null=True)
    shared_shingles = models.JSONField(default=list)
    excerpts = models.JSONField(default=list)
    fact_changes = models.JSONField(default=list)
    suggestion = models.CharField(max_length=20, blank=True)
    representative = models.BooleanField(default=True)
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["run", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["run", "pair"], name="candidate_once"),
            models.UniqueConstraint(fields=["run", "rank"], name="candidate_rank_once"),
            models.CheckConstraint(
                condition=Q(jaccard__gte=0) & Q(jaccard__lte=1), name="candidate_jaccard_is_ratio"
            ),
        ]
        indexes = [
            # How many a round would ask stands on the page of a run; a million rows with their evidence are not read for it.
            models.Index(fields=["run"], condition=Q(representative=True), name="candidate_asked"),
        ]

    def __str__(self) -> str:
        return f"candidate {self.rank} of run {self.run_id}"
