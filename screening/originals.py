"""The bytes of received files: named by their sha256, written once, never changed."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from screening.documents import Problem
from screening.models import Collection, Document, SourceFile

CHUNK = 1 << 20


def folder() -> Path:
    """Where the originals lie."""
    return Path(settings.DATA_DIR) / "originals"


def path_of(sha256: str) -> Path:
    """Where the bytes with this digest lie, whether or not they are there."""
    return folder() / sha256[:2] / sha256


def store(stream: BinaryIO) -> tuple[str, int]:
    """Keep the bytes of ``stream`` for ever; their sha256 (hexadecimal) and their number.

    Bytes that are there already are not written again. A crash leaves either all of them under their name or nothing.
    """
    waiting = folder() / "incoming"
    waiting.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=waiting)
    try:
        digest, size = hashlib.sha256(), 0
        with os.fdopen(descriptor, "wb") as file:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
                file.write(chunk)
                size += len(chunk)
            sha256 = digest.hexdigest()
            target = path_of(sha256)
            if target.exists() and target.stat().st_size == size:
                return sha256, size
            file.flush()
            os.fchmod(file.fileno(), 0o444)
            os.fsync(file.fileno())
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(name, target)
        _sync_folder(target.parent)
        return sha256, size
    finally:
        Path(name).unlink(missing_ok=True)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_original(sha256: str) -> BufferedReader:
    """The bytes with this digest. Raises FileNotFoundError if they are gone."""
    return path_of(sha256).open("rb")


@dataclass(slots=True)
class OriginalsReport:
    """What a check of everything found: how much was looked at, and what is wrong."""

    files: int = 0
    documents: int = 0
    bytes: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is missing and nothing has changed."""
        return not self.problems


def verify(collection: Collection | None = None) -> OriginalsReport:
    """Hash every original again, and every raw text; of one collection, or of all."""
    report = OriginalsReport()
    files = SourceFile.objects.order_by("sha256", "pk")
    documents = Document.objects.order_by("pk")
    if collection is not None:
        files = files.filter(collection=collection)
        documents = documents.filter(collection=collection)
    last = ""
    for sha256, size, path in files.values_list("sha256", "size", "original_path").iterator():
        if sha256 == last:
            continue
        last = sha256
        report.files += 1
        report.bytes += size
        report.problems += _file_problems(sha256, size, path)
    rows = documents.values_list("collection__slug", "doc_id", "raw", "raw_sha256")
    for slug, doc_id, raw, raw_sha256 in rows.iterator(chunk_size=500):
        report.documents += 1
        if hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest() != raw_sha256:
            report.problems.append(
                Problem(
                    "text_changed",
                    "The text of %(doc_id)s in %(collection)s has changed",
                    {"doc_id": doc_id, "collection": slug},
                )
            )
    return report


def _file_problems(sha256: str, size: int, path: str) -> Iterator[Problem]:
    params = {"path": path, "sha256": sha256}
    try:
        with open_original(sha256) as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
            length = stream.tell()
    except OSError:
        yield Problem(
            "original_missing", "The original of %(path)s is missing (sha256 %(sha256)s)", params
        )
        return
    if found != sha256 or length != size:
        yield Problem(
            "original_changed", "The original of %(path)s has changed (sha256 %(sha256)s)", params
        )
