"""The values that fact reading hands out."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from .reading import NOISE, CleanText

FactKind = Literal[
    "date",
    "number",
    "frequency",
    "duration",
    "money",
    "unit",
    "percent",
    "document_number",
    "article_number",
    "negation",
    "modality",
    "condition",
    "conclusion",
    "body",
    "style",
]

KINDS: tuple[FactKind, ...] = (
    "date",
    "number",
    "frequency",
    "duration",
    "money",
    "unit",
    "percent",
    "document_number",
    "article_number",
    "negation",
    "modality",
    "condition",
    "conclusion",
    "body",
    "style",
)
"""Every kind a change can have, in the order in which counters show them."""


class Fact(NamedTuple):
    """One fact as a text states it.

    ``value`` is canonical and readable (``31400 元``, ``2026-03-05``, ``6个月``); ``key`` also settles
    units (公顷 and 亩, 年 and 个月), so that two facts of one kind say the same exactly when their keys
    are equal. ``start`` and ``end`` are code points of the raw text, end exclusive. ``mantissa`` is the
    number without its multiplier or unit (``5`` for 五万元), empty where there is none. ``heading`` marks
    a number that names an article or list entry rather than refers to one; ``negative`` is the polarity
    of a word; a ``weak`` word says something only against another word in its place.
    """

    kind: FactKind
    value: str
    start: int
    end: int
    key: str
    mantissa: str = ""
    heading: bool = False
    negative: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class FactChange:
    """A fact that the two texts of a pair state differently.

    ``left`` and ``right`` are canonical values, the surface texts for kind ``style``; ``None`` where
    a side does not state the fact at all. Offsets are code points of the raw texts, ``None`` likewise.
    """

    kind: FactKind
    left: str | None
    right: str | None
    left_start: int | None
    left_end: int | None
    right_start: int | None
    right_end: int | None

    @property
    def substantive(self) -> bool:
        """Whether the meaning may differ: all but mere renumbering and ways of writing."""
        return self.kind not in ("article_number", "style")


@dataclass(frozen=True)
class FactSheet:
    """The facts of one document and what aligning them needs; read once, compared many times.

    ``skeleton`` is the text without spaces and punctuation, each fact replaced by one private-use
    character of its class; ``places[i]`` is the index in ``skeleton`` of fact ``i``, ``spans[i]`` its
    span in the clean text ``reading.text``. ``known`` keeps what was looked up in the whole text once.
    """

    reading: CleanText
    facts: tuple[Fact, ...]
    spans: tuple[tuple[int, int], ...]
    skeleton: str
    places: tuple[int, ...]
    known: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def surface(self, index: int) -> str:
        """Text of fact ``index`` without spaces, width folded."""
        start, end = self.spans[index]
        return self.reading.text[start:end]

    def span_of(self, fact: Fact) -> tuple[int, int]:
        """Clean span of one of the facts."""
        return self.spans[bisect_left(self.facts, fact.start, key=lambda other: other.start)]

    @cached_property
    def _way_back(self) -> array[int]:
        """Clean index of every skeleton index, and of the end."""
        cleans = array("i")
        text = self.reading.text
        at = 0
        for start, end in [*self.spans, (len(text), len(text))]:
            for noise in NOISE.finditer(text, at, start):
                if noise.start() > at:
                    cleans.extend(range(at, noise.start()))
                at = noise.end()
            if start > at:
                cleans.extend(range(at, start))
            cleans.append(start)
            at = end
        return cleans

    def place_of(self, index: int) -> int:
        """Skeleton index of what stands at a clean index or next behind it."""
        return bisect_left(self._way_back, index)

    def clean_at(self, place: int) -> int:
        """Clean index of a skeleton index; the end of the clean text for the end of the skeleton."""
        return self._way_back[place]
