"""The values that fact reading hands out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as a text states it.

    ``value`` is canonical: two facts of one kind say the same exactly when their values are equal.
    ``start`` and ``end`` are code points of the raw text, end exclusive. ``mantissa`` is the number
    without its multiplier or unit (``5`` for 五万元), empty where there is none. ``heading`` marks
    the number that names an article or a list entry rather than refers to one.
    """

    kind: FactKind
    value: str
    start: int
    end: int
    mantissa: str = ""
    heading: bool = False


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


@dataclass(frozen=True, slots=True)
class FactSheet:
    """The facts of one document and what aligning them needs; read once, compared many times.

    ``skeleton`` is the text without spaces and punctuation, each fact of ``facts`` that takes part in
    the alignment replaced by one private-use character; ``places[i]`` is the index in ``skeleton`` of
    fact ``i``. ``origin[j]`` is the raw offset of skeleton character ``j``. ``bodies`` are names of
    bodies: they stay in the skeleton, with ``(fact, first, last)`` as skeleton indices.
    ``surfaces[i]`` is the text of fact ``i`` without spaces.
    """

    facts: tuple[Fact, ...]
    surfaces: tuple[str, ...]
    skeleton: str
    places: tuple[int, ...]
    bodies: tuple[tuple[Fact, int, int], ...] = field(default=())
