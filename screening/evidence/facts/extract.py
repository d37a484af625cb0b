"""One document → its fact sheet."""

from __future__ import annotations

import re
from functools import lru_cache

from .model import Fact, FactSheet
from .quantities import quantities
from .reading import CleanText, clean

MASKS = {"article_number": "\ue001", "document_number": "\ue004"}
NUMERIC_MASK = "\ue000"
_NOISE = re.compile(r"[^\w\ue000-\ue00f㎡%‰]+|_+")


def _skeleton(text: str, drafts: list) -> tuple[str, list[int]]:
    parts: list[str] = []
    places: list[int] = []
    at = length = 0
    for draft in drafts:
        piece = _NOISE.sub("", text[at : draft.start])
        parts.append(piece)
        length += len(piece)
        places.append(length)
        parts.append(MASKS.get(draft.kind, NUMERIC_MASK))
        length += 1
        at = draft.end
    parts.append(_NOISE.sub("", text[at:]))
    return "".join(parts), places


def read_facts(raw: str) -> FactSheet:
    """Read the facts of one text; linear in its length. The sheet can be kept and compared many times."""
    reading: CleanText = clean(raw)
    drafts = quantities(reading.text)
    facts = []
    for draft in drafts:
        start, end = reading.raw_span(draft.start, draft.end)
        facts.append(Fact(draft.kind, draft.value, start, end, draft.mantissa, draft.heading))
    skeleton, places = _skeleton(reading.text, drafts)
    surfaces = tuple(reading.text[d.start : d.end] for d in drafts)
    return FactSheet(tuple(facts), surfaces, skeleton, tuple(places))


@lru_cache(maxsize=4096)
def cached_sheet(raw: str) -> FactSheet:
    """:func:`read_facts`, remembered for the texts read last."""
    return read_facts(raw)
