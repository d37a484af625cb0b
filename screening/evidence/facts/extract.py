"""One document → its fact sheet."""

from __future__ import annotations

import re
from functools import lru_cache

from .drafts import Draft
from .model import Fact, FactKind, FactSheet
from .quantities import quantities
from .reading import NOISE, CleanText, clean
from .references import document_numbers
from .wording import Word, wording

MASKS: dict[FactKind, str] = {
    "article_number": "\ue001",
    "modality": "\ue002",
    "negation": "\ue002",
    "condition": "\ue003",
    "document_number": "\ue004",
}
NUMERIC_MASK = "\ue000"
_MASK = re.compile("[\ue000-\ue00f]")
_LIMIT_WORDS = {"内": "以内", "前": "以前", "后": "以后"}
_Item = tuple[int, int, Draft | None, Word | None]


def _items(text: str) -> list[_Item]:
    """All facts of a clean text in order: quantities and numbers first, words where none of those is."""
    numbers = document_numbers(text)
    drafts = quantities(text, [(d.start, d.end) for d in numbers])
    items: list[_Item] = [(d.start, d.end, d, None) for d in numbers]
    for draft in drafts:
        items.append((draft.start, draft.end, draft, None))
        limit = _LIMIT_WORDS.get(text[draft.end : draft.end + 1])
        if limit is not None and draft.kind in ("duration", "date"):
            word = Word("condition", limit)
            items.append((draft.end, draft.end + 1, None, word))
    items.sort(key=lambda item: item[0])
    merged: list[_Item] = []
    rest = iter([*items, (len(text) + 1, len(text) + 1, None, None)])
    following = next(rest)
    for word, start, end in wording(text):
        while following[0] < start:
            merged.append(following)
            following = next(rest)
        if end <= following[0] and (not merged or merged[-1][1] <= start):
            merged.append((start, end, None, word))
    while following[0] <= len(text):
        merged.append(following)
        following = next(rest)
    return merged


def _fact(item: _Item, reading: CleanText) -> Fact:
    start, end, draft, word = item
    raw_start, raw_end = reading.raw_span(start, end)
    if draft is not None:
        key = draft.key or draft.value
        return Fact(
            draft.kind,
            draft.value,
            raw_start,
            raw_end,
            key,
            draft.mantissa,
            draft.heading,
            False,
            draft.weak,
        )
    assert word is not None
    return Fact(
        word.kind, word.key, raw_start, raw_end, word.key, "", False, word.negative, word.weak
    )


def read_facts(raw: str) -> FactSheet:
    """Read the facts of one text; linear in its length. The sheet can be kept and compared many times."""
    reading = clean(raw)
    text = reading.text
    items = _items(text)
    parts: list[str] = []
    at = 0
    for start, end, draft, word in items:
        parts.append(text[at:start])
        kind = draft.kind if draft is not None else word.kind if word is not None else "number"
        parts.append(MASKS.get(kind, NUMERIC_MASK))
        at = end
    parts.append(text[at:])
    skeleton = NOISE.sub("", "".join(parts))
    return FactSheet(
        reading,
        tuple(_fact(item, reading) for item in items),
        tuple((item[0], item[1]) for item in items),
        skeleton,
        tuple(mask.start() for mask in _MASK.finditer(skeleton)),
    )


@lru_cache(maxsize=64)
def cached_sheet(raw: str) -> FactSheet:
    """:func:`read_facts`, remembered for the texts read last."""
    return read_facts(raw)
