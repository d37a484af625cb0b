"""Writing the texts of an import: in batches, each all or nothing, each harmless to repeat."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from screening import originals
from screening.documents import InputDocument, Problem
from screening.inserting import as_json, as_time, insert
from screening.intake.model import ReadDocument
from screening.intake.trees import Tree
from screening.models import Document, DocumentImport, SourceFile

CHUNK = 500
"""Rows in one statement; SQLite allows 32,766 parameters."""

LOCATOR_CHARS = 100


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of one text: ``added``, ``identical`` or ``refused``."""

    status: str
    problem: Problem | None = None
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Present:
    """A document that is there already."""

    raw_sha256: str
    file: int
    created_at: datetime
    metadata: tuple[Any, ...]


def _present(collection: int, doc_ids: Sequence[str]) -> dict[str, _Present]:
    """The documents of the collection that have one of these doc_ids."""
    found: dict[str, _Present] = {}
    rows = Document.objects.filter(collection=collection)
    for chunk in chunks(doc_ids, CHUNK):
        values = rows.filter(doc_id__in=chunk).values_list(
            "doc_id", "raw_sha256", "source_file_id", "created_at", *_METADATA
        )
        for doc_id, raw_sha256, file, created_at, *metadata in values:
            found[doc_id] = _Present(raw_sha256, file, created_at, tuple(metadata))
    return found


def _met(entry: ReadDocument, there: _Present) -> Saved:
    """The doc_id is taken: by the same text, or by another one."""
    document = entry.document
    if there.raw_sha256 != entry.raw_sha256:
        return Saved(
            "refused",
            Problem(
                "doc_id_taken",
                "The collection holds %(doc_id)s with another text; a version needs a doc_id of its own",
                {"doc_id": document.doc_id},
            ),
        )
    if there.metadata != _metadata_of(document):
        kept = Problem(
            "metadata_kept", "The text is there already; its metadata were left as they are"
        )
        return Saved("identical", warnings=(kept,))
    return Saved("identical")


@dataclass(frozen=True, slots=True)
class Planner:
    """Says what would become of texts, as :class:`Saver` would decide it now; ``collection`` None: it is to be made."""

    collection: int | None

    def save(self, entries: Sequence[ReadDocument]) -> dict[str, Saved]:
        """The result of each entry of a batch by its place; nothing is written."""
        present: dict[str, _Present] = {}
        if self.collection is not None:
            present = _present(self.collection, [entry.document.doc_id for entry in entries])
        return {
            entry.place: _met(entry, present[entry.document.doc_id])
            if entry.document.doc_id in present
            else Saved("added")
            for entry in entries
        }


@dataclass(slots=True)
class Saver:
    """Saves the texts of one import. ``again``: an earlier worker has begun it and may have saved some of them."""

    row: DocumentImport
    tree: Tree
    again: bool = False
    _files: dict[str, SourceFile] = field(default_factory=dict)
    _quick: bool = field(default_factory=lambda: _packs_quickly())

    def save(self, entries: Sequence[ReadDocument]) -> dict[str, Saved]:
        """Save a batch; the result by place."""
        if not entries:
            return {}
        try:
            return self._save(entries)
        except IntegrityError:
            # Another import has brought in one of the same doc_ids in between: look again, and refuse it this time.
            return self._save(entries)

    def _save(self, entries: Sequence[ReadDocument]) -> dict[str, Saved]:
        present = _present(self.row.collection_id, [entry.document.doc_id for entry in entries])
        fresh = [entry for entry in entries if entry.document.doc_id not in present]
        self.keep(entry.file for entry in (entries if self.again else fresh))
        now = as_time(timezone.now())
        with transaction.atomic():
            if self._quick:
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL default_toast_compression = 'lz4'")
            insert(Document, _FIELDS, [self._values(entry, now) for entry in fresh])
        results = {entry.place: Saved("added") for entry in fresh}
        for entry in entries:
            if there := present.get(entry.document.doc_id):
                results[entry.place] = self._again(entry, there)
        return results

    def _again(self, entry: ReadDocument, there: _Present) -> Saved:
        since = self.again and there.created_at >= self.row.created_at
        same_text = there.raw_sha256 == entry.raw_sha256
        if since and same_text and there.file == self._files[entry.file].pk:
            return Saved("added")  # by an earlier worker of this very import
        return _met(entry, there)

    def _values(self, entry: ReadDocument, now: Any) -> tuple[Any, ...]:
        """The row of a text, in the order of :data:`_FIELDS`."""
        document = entry.document
        warnings = [
            {"code": w.code, "template": w.template, "params": dict(w.params)}
            for w in entry.warnings
        ]
        return (
            self.row.collection_id,
            document.doc_id,
            document.source_id,
            document.version,
            document.title,
            document.original_path,
            document.captured_at,
            document.raw,
            document.sha256,
            entry.raw_sha256,
            len(document.raw),
            self._files[entry.file].pk,
            entry.locator[:LOCATOR_CHARS],
            as_json(dict(document.metadata)),
            as_json(warnings) if warnings else "[]",
            now,
        )

    def keep(self, files: Iterable[str]) -> None:
        """Keep the bytes of files of the hand-over, and have a row for each."""
        names = [name for name in dict.fromkeys(files) if name not in self._files]
        for chunk in chunks(names, CHUNK):
            rows = [self._file_row(name) for name in chunk]
            with transaction.atomic():
                SourceFile.objects.bulk_create(rows, ignore_conflicts=True)
                kept = SourceFile.objects.filter(
                    collection=self.row.collection_id, sha256__in=[row.sha256 for row in rows]
                )
                known = {(file.sha256, file.original_path): file for file in kept}
            for name, row in zip(chunk, rows, strict=True):
                self._files[name] = known[row.sha256, row.original_path]

    def _file_row(self, name: str) -> SourceFile:
        with self.tree.open(name) as stream:
            sha256, size = originals.store(stream)
        return SourceFile(
            collection_id=self.row.collection_id,
            sha256=sha256,
            size=size,
            media_type=_media_type(name),
            original_path=name[-1000:],
            received_by_id=self.row.created_by_id,
        )


_FIELDS = (
    "collection",
    "doc_id",
    "source_id",
    "version",
    "title",
    "original_path",
    "captured_at",
    "raw",
    "sha256",
    "raw_sha256",
    "chars",
    "source_file",
    "locator",
    "metadata",
    "warnings",
    "created_at",
)
_METADATA = ("source_id", "version", "title", "captured_at", "metadata")


def _packs_quickly() -> bool:
    """Whether the database can pack long texts with LZ4: for a third of the time that PostgreSQL's own way takes."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
        )
        row = cursor.fetchone()
    return bool(row and row[0])


def _metadata_of(document: InputDocument) -> tuple[Any, ...]:
    return (
        document.source_id,
        document.version,
        document.title,
        document.captured_at,
        dict(document.metadata),
    )


def _media_type(name: str) -> str:
    suffix = name.casefold().rpartition(".")[2]
    known = {"jsonl": "application/jsonl", "ndjson": "application/jsonl", "md": "text/markdown"}
    return (known.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream")[:100]


def chunks(values: Sequence[Any] | Iterable[Any], size: int) -> Iterator[list[Any]]:
    """``values`` in lists of at most ``size``."""
    values = list(values)
    for start in range(0, len(values), size):
        yield values[start : start + size]
