"""Files that are one text: plain text and Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from screening.documents import Problem
from screening.intake import encodings
from screening.intake.cleaning import clean
from screening.intake.fields import field_of, metadata_of


@dataclass(frozen=True, slots=True)
class PlainText:
    """The text of a file, and what its front matter says."""

    raw: str
    metadata: dict[str, str | None] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()


def read_text(
    data: bytes, *, markdown: bool = False, encoding: str | None = None
) -> PlainText | Problem:
    """The text in ``data``; with ``markdown``, YAML front matter becomes metadata and no part of the text."""
    decoded = encodings.decode(data, encoding=encoding)
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
    warnings = (*warnings, *cleaned.warnings, *repeated_lines(cleaned.text))
    return PlainText(cleaned.text, metadata, warnings)


REPEATS = 3
SHORT_LINE = 30
_SHOWN_LINES = 5


def repeated_lines(text: str) -> tuple[Problem, ...]:
    """A warning about short lines (30 characters at most) that come three times or more: page furniture, most likely.

    Lines that look alike but for their digits, such as page numbers, count as one.
    """
    if text.count("\n") < REPEATS - 1:
        return ()
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for line in text.splitlines():
        line = line.strip()
        if line and len(line) <= SHORT_LINE:
            masked = re.sub(r"\d+", "0", line) if _PAGE_NUMBER.fullmatch(line) else line
            counts[masked] += 1
            first.setdefault(masked, line)
    found = [(masked, count) for masked, count in counts.most_common(50) if count >= REPEATS]
    if not found:
        return ()
    shown = ", ".join(f"“{first[masked]}” ×{count}" for masked, count in found[:_SHOWN_LINES])
    return (
        Problem(
            "repeated_lines",
            "Short lines that repeat, perhaps layout: %(lines)s; they were left in the text",
            {"lines": shown},
        ),
    )


_PAGE_NUMBER = re.compile(r"[-—–－·\s]*(?:第\s*)?\d{1,5}\s*(?:页|/\s*\d{1,5})?[-—–－·\s]*")


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
