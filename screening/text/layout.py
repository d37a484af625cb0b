"""Short lines that repeat in a text: most likely furniture of its pages, not words of its author.

They are named when a text is read and stay in it; matching passes over them only where a configuration says so.
"""

from __future__ import annotations

import re
from collections import Counter

REPEATS = 3
SHORT_LINE = 30

_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_PAGE_NUMBER = re.compile(r"[-—–－·\s]*(?:第\s*)?\d{1,5}\s*(?:页|/\s*\d{1,5})?[-—–－·\s]*")


def repeated_lines(raw: str) -> dict[str, list[tuple[int, int]]]:
    """The short lines (30 characters at most) that come three times or more, and where each stands in ``raw``.

    Spans are [start, end) in code points without surrounding blanks. Lines that look alike but for their digits, such as
    page numbers, count as one; the key is the first of them.
    """
    if len(raw) < 2 * REPEATS - 1:
        return {}
    spans: dict[str, list[tuple[int, int]]] = {}
    first: dict[str, str] = {}
    for match in _LINE.finditer(raw):
        line = match.group()
        text = line.strip()
        if not text or len(text) > SHORT_LINE:
            continue
        start = match.start() + len(line) - len(line.lstrip())
        masked = re.sub(r"\d+", "0", text) if _PAGE_NUMBER.fullmatch(text) else text
        first.setdefault(masked, text)
        spans.setdefault(masked, []).append((start, start + len(text)))
    counts = Counter({masked: len(places) for masked, places in spans.items()})
    return {first[masked]: spans[masked] for masked, n in counts.most_common() if n >= REPEATS}


def layout_spans(raw: str) -> list[tuple[int, int]]:
    """Where the repeated short lines stand, in order."""
    return sorted(span for places in repeated_lines(raw).values() for span in places)
