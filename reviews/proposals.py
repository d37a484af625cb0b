"""The entry that a group of copies might have: proposed from its documents, which stay as they are (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?\Z", re.ASCII | re.DOTALL)
"""A date that can be compared with others: ISO 8601, with or without a time."""


@dataclass(frozen=True)
class Copy:
    """A document of the group. ``chars`` is the length of its raw text; ``metadata`` as design §1."""

    doc_id: str
    title: str
    chars: int
    raw_sha256: str
    source_id: str = ""
    original_path: str = ""
    captured_at: str = ""
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Proposal:
    """A merged entry to sign; every ``…_from`` is the doc_id of the document that gave the value."""

    members: tuple[str, ...]
    title: str
    title_from: str
    text_from: str
    text_sha256: str
    text_chars: int
    date: str
    date_from: str
    attachments: tuple[str, ...]
    sources: tuple[str, ...]
    paths: tuple[str, ...]
    licences: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


def propose(copies: Sequence[Copy]) -> Proposal:
    """Longest title, fullest text, earliest date; attachments, sources, paths and licences of all, nothing lost.

    Ties go to the smallest doc_id. The date is the earliest ``published_on``, else the earliest time of capture;
    what is no ISO date cannot be compared and is left to the documents. ``copies`` must not be empty.
    """
    ordered = sorted(copies, key=lambda one: one.doc_id)
    titled = max(ordered, key=lambda one: len(one.title))
    fullest = max(ordered, key=lambda one: one.chars)
    date, dated = _earliest(ordered)
    return Proposal(
        members=tuple(one.doc_id for one in ordered),
        title=titled.title,
        title_from=titled.doc_id if titled.title else "",
        text_from=fullest.doc_id,
        text_sha256=fullest.raw_sha256,
        text_chars=fullest.chars,
        date=date,
        date_from=dated,
        attachments=_union(_values(one, "attachments") for one in ordered),
        sources=_union([one.source_id, *_values(one, "original_source")] for one in ordered),
        paths=_union([one.original_path] for one in ordered),
        licences=_union(_values(one, "licence") for one in ordered),
    )


def _earliest(copies: Sequence[Copy]) -> tuple[str, str]:
    published = [(value, one.doc_id) for one in copies for value in _values(one, "published_on")]
    captured = [(one.captured_at, one.doc_id) for one in copies]
    for dates in (published, captured):
        comparable = [entry for entry in dates if DATE.match(entry[0])]
        if comparable:
            return min(comparable)
    return "", ""


def _values(copy: Copy, name: str) -> list[str]:
    """A field of the metadata as a list of texts: one value, several, or none."""
    value = (copy.metadata or {}).get(name)
    if value is None:
        return []
    several = value if isinstance(value, list | tuple) else [value]
    return [one if isinstance(one, str) else str(one) for one in several if one not in (None, "")]


def _union(values: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for some in values for value in some if value))
