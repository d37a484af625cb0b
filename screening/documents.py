"""What a text is while it is being screened: plain values, no database behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Role = Literal["subject", "reference"]

OPTIONAL_METADATA: tuple[str, ...] = (
    "doc_number",
    "issuer",
    "published_on",
    "author",
    "licence",
    "original_source",
    "attachments",
    "language",
    "doc_type",
)
"""Metadata that a document may carry; every one of them may be missing."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a person must be told about a file, row or field.

    ``template`` is English with ``%(name)s`` places and serves as the translation key; ``params`` fill it.
    ``code`` is stable and meant for programs.
    """

    code: str
    template: str
    params: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        return self.template % dict(self.params)


@dataclass(frozen=True, slots=True)
class InputDocument:
    """One text as it enters a run.

    ``sha256`` is that of the original bytes for a text that is a file of its own, else that of the raw text in UTF-8.
    ``raw_sha256`` is that of the raw text where it is on record.
    ``metadata`` holds only the names of :data:`OPTIONAL_METADATA`. Order and identity are those of
    ``(collection, doc_id)``, compared by code point.
    """

    doc_id: str
    raw: str
    sha256: str
    collection: str = ""
    source_id: str | None = None
    version: str | None = None
    title: str | None = None
    original_path: str | None = None
    captured_at: str | None = None
    metadata: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))
    role: Role = "subject"
    raw_sha256: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The identity by which documents are ordered and named."""
        return (self.collection, self.doc_id)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file or row that did not become a document, and why.

    ``place`` names it for a person: a relative path, with ``:line`` or ``#row`` where it applies.
    """

    place: str
    problem: Problem
    doc_id: str | None = None
    sha256: str | None = None
