"""Files that are one text: plain text and Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from screening.documents import Problem
from screening.intake import encodings
from screening.intake.cleaning import clean
from screening.intake.fields import field_of, metadata_of
from screening.text import layout


@dataclass(frozen=True, slots=True)
class PlainText:
    """The text of a file, and what its front matter says."""

    raw: str
    metadata: dict[str, str | None] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()


def read_text(
    data: bytes, *, markdown: bool = False, chosen: str | None = None
) -> PlainText | Problem:
    """The text in ``data``; with ``markdown``, YAML front matter becomes metadata and no part of the text.

    ``chosen``: the encoding that a person chose where two are plausible.
    """
    decoded = encodings.decode_or_chosen(data, chosen)
    if isinstance(decoded, Problem):
        return decoded
    text, found = front_matter(decoded.text) if markdown else (decoded.text, {})
    return finished(text, found, decoded.warnings)


def finished(
    text: str, found: Mapping[str, object], warnings: tuple[Problem, ...] = ()
) -> PlainText | Problem:
    """What a reader has found, cleaned: no text is a problem, and layout that repeats is named but not cut."""
    cleaned = clean(text)
    if isinstance(cleaned, Problem):
        return cleaned
    metadata = metadata_of(found)
    if isinstance(metadata, Problem):
        return metadata
    warnings = (*warnings, *cleaned.warnings, *_layout(cleaned.text))
    return PlainText(cleaned.text, metadata, warnings)


_SHOWN_LINES = 5


def _layout(text: str) -> tuple[Problem, ...]:
    """A warning about short lines that repeat: page furniture, most likely."""
    found = layout.repeated_lines(text)
    if not found:
        return ()
    shown = ", ".join(f"“{line}” ×{len(at)}" for line, at in list(found.items())[:_SHOWN_LINES])
    return (
        Problem(
            "repeated_lines",
            "Short lines that repeat, perhaps layout: %(lines)s; they were left in the text",
            {"lines": shown},
        ),
    )


_FENCE = re.compile(r"\ufeff?---[ \t]*\r?\n")
_FENCE_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.MULTILINE)
_YAML_LINE = re.compile(r"(?:[^\s:#\-][^:]*:(?:\s.*)?|\s+.*|-\s.*|#.*|)\r?")
_LONGEST_FRONT_MATTER = 20_000


def front_matter(text: str) -> tuple[str, dict[str, object]]:
    """``text`` without YAML front matter, and its plain ``key: value`` lines whose key we know.

    What merely stands between two rules is no front matter: every line must look like YAML.
    """
    opening = _FENCE.match(text)
    if not opening:
        return text, {}
    closing = _FENCE_END.search(text, opening.end(), opening.end() + _LONGEST_FRONT_MATTER)
    if not closing:
        return text, {}
    lines = text[opening.end() : closing.start()].split("\n")
    if not all(_YAML_LINE.fullmatch(line) for line in lines) or not any(
        ":" in line for line in lines
    ):
        return text, {}
    found: dict[str, object] = {}
    for line in lines:
        key, colon, value = line.partition(":")
        name = field_of(key) if colon and not line[:1].isspace() else None
        value = value.strip().strip("\"'")
        if name and value and name not in {"doc_id", "raw", "path", "sha256"}:
            found.setdefault(name, value)
    return text[closing.end() :], found
