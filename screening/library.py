"""The template library of a collection: fixed wording with slots, found again in any text; values in, places out.

An entry is what a form or a standing clause says in every text, with slots where texts fill in their own: numbers, dates,
names of places, anything. Only the fixed wording is ever greyed; what fills a slot stays content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from screening.text.normalise import NormaliseOptions, raw_span
from screening.windows import WindowIndex, WindowText, whole_characters, window_text

Level = Literal["exact", "plain", "slots"]

LEVELS: tuple[Level, ...] = ("exact", "plain", "slots")
"""How alike the places of an entry are: raw text, text without width, punctuation and space, or but for its slots."""

SlotKind = Literal["date", "number", "place", "text"]

SLOT_KINDS: tuple[SlotKind, ...] = ("date", "number", "place", "text")

ANCHOR = 24
"""Bytes of normalised UTF-8 by which fixed wording is looked up: 8 Chinese characters."""

HELD = 12
"""Characters of a fixed part that bring it back where the rest of it was varied; a shorter part must be there whole."""

GAP = 60
"""Normalised characters that a slot may take; further apart, two parts are two passages."""

FIXED_LEAST = 24
"""Fixed characters that an entry has at least."""

HELD_SHARE = 0.6
"""Share of an entry's fixed characters that a passage must have."""

MOST_SHARE = 0.8
"""Share of a text that may be greyed: a text of hardly anything but forms is content to whoever compares it."""

RULES = "fixed wording with slots/1"
"""Name and version of how entries are looked up; part of the digest of a library."""


class LibraryError(ValueError):
    """An entry that cannot be; ``template`` is the translation key, ``params`` fill it."""

    def __init__(self, template: str, **params: object) -> None:
        self.template = template
        self.params = params
        super().__init__(template % params)


@dataclass(frozen=True, slots=True)
class Entry:
    """``parts``: fixed wording (normalised text, 24 bytes or more each), ``slots[i]`` what lies between parts i and i + 1.

    Raises LibraryError for parts that are too short to be looked up.
    """

    parts: tuple[str, ...]
    slots: tuple[SlotKind, ...]

    def __post_init__(self) -> None:
        known = all(slot in SLOT_KINDS for slot in self.slots)
        if not self.parts or len(self.slots) != len(self.parts) - 1 or not known:
            raise LibraryError("An entry is fixed wording with one slot between two parts.")
        if self.fixed < FIXED_LEAST or any(_bytes(part) < ANCHOR for part in self.parts):
            raise LibraryError(
                "An entry has %(least)s fixed characters or more, and no part is too short to be looked up.",
                least=FIXED_LEAST,
            )

    @property
    def fixed(self) -> int:
        """Fixed characters."""
        return sum(map(len, self.parts))

    @property
    def digest(self) -> str:
        """Hex SHA-256 of its parts and slots: the entry's identity."""
        return _sha256([RULES, list(self.parts), list(self.slots)])

    def to_dict(self) -> dict[str, list[str]]:
        """Plain JSON values."""
        return {"parts": list(self.parts), "slots": list(self.slots)}

    @classmethod
    def from_dict(cls, values: Any) -> Entry:
        """The inverse of :meth:`to_dict`."""
        return cls(tuple(values["parts"]), tuple(values["slots"]))


@dataclass(frozen=True, slots=True)
class Passage:
    """Where an entry stands in a text, in raw code points: from ``start`` to ``end``, with ``fixed`` [start, end) greyed.

    ``entry`` is its number in the library. ``places`` are the same fixed stretches in normalised characters. ``held``:
    for each fixed stretch the part, and where in the part it begins.
    """

    entry: int
    start: int
    end: int
    fixed: tuple[tuple[int, int], ...]
    places: tuple[tuple[int, int], ...]
    held: tuple[tuple[int, int], ...]

    @property
    def characters(self) -> int:
        """Normalised characters of the fixed stretches."""
        return sum(end - start for start, end in self.places)


@dataclass(frozen=True, slots=True)
class _Hit:
    """Part ``part`` from its character ``at`` on stands at normalised [start, end)."""

    part: int
    at: int
    start: int
    end: int


@dataclass(slots=True)
class Library:
    """Entries, in the order of their digests, ready to be looked up in texts; ``weights`` rank them where too much is greyed."""

    entries: tuple[Entry, ...]
    weights: tuple[int, ...] = ()
    _index: WindowIndex = field(init=False)
    _owner: list[tuple[int, int]] = field(init=False)
    _parts: list[WindowText] = field(init=False)

    def __post_init__(self) -> None:
        weights = self.weights or (0,) * len(self.entries)
        both = sorted(zip(self.entries, weights, strict=True), key=lambda one: one[0].digest)
        self.entries = tuple(entry for entry, _ in both)
        self.weights = tuple(weight for _, weight in both)
        options = NormaliseOptions()
        self._owner = [(e, p) for e, one in enumerate(self.entries) for p in range(len(one.parts))]
        self._parts = [window_text(self.entries[e].parts[p], options) for e, p in self._owner]
        self._index = WindowIndex.of(self._parts, ANCHOR)

    @property
    def digest(self) -> str:
        """Hex SHA-256 of the entries and their weights: the version of the library that a run records."""
        names = [entry.digest for entry in self.entries]
        return _sha256([RULES, names, list(self.weights)])

    def passages(self, raw: str) -> list[Passage]:
        """The entries that stand in a text, in its order; of places that two entries claim the weightier has them.

        Linear in the text. Together they grey at most :data:`MOST_SHARE` of it; the weightiest entries go first.
        """
        text = window_text(raw, NormaliseOptions())
        hits: dict[int, list[_Hit]] = {}
        for item, runs in self._index.runs(text.data).items():
            entry, part = self._owner[item]
            for at, place, length in runs:
                hit = self._hit(item, part, text, at, place, length)
                if hit is not None:
                    hits.setdefault(entry, []).append(hit)
        found = [
            passage
            for entry in sorted(hits)
            for passage in self._chained(entry, hits[entry], raw, text)
        ]
        return sorted(self._within_bounds(found, len(text.points)), key=lambda p: (p.start, p.entry))

    def _hit(
        self, item: int, part: int, text: WindowText, at: int, place: int, length: int
    ) -> _Hit | None:
        first, last = whole_characters(self._parts[item], at, length)
        start, _ = whole_characters(text, place, length)
        if last - first < min(HELD, len(self._parts[item].points)):
            return None
        return _Hit(part, first, start, start + last - first)

    def _chained(self, entry: int, hits: list[_Hit], raw: str, text: WindowText) -> list[Passage]:
        """Neighbouring hits of one entry, in its own order and at most :data:`GAP` apart, are one passage."""
        chains: list[list[_Hit]] = []
        for hit in sorted(hits, key=lambda h: (h.start, -h.end, h.part, h.at)):
            if chains:
                last = chains[-1][-1]
                if hit.end <= last.end and hit.start >= last.start:
                    continue
                onward = (hit.part, hit.at) > (last.part, last.at)
                if onward and last.end <= hit.start <= last.end + GAP:
                    chains[-1].append(hit)
                    continue
            chains.append([hit])
        needed = max(HELD, HELD_SHARE * self.entries[entry].fixed)
        return [
            _passage(entry, chain, raw, text)
            for chain in chains
            if sum(hit.end - hit.start for hit in chain) >= needed
        ]

    def _within_bounds(self, found: list[Passage], length: int) -> Iterable[Passage]:
        order = sorted(
            found, key=lambda p: (-self.weights[p.entry], -p.characters, p.start, p.entry)
        )
        taken = np.zeros(length, dtype=bool)
        left = int(MOST_SHARE * length)
        for passage in order:
            if passage.characters > left or any(taken[a:b].any() for a, b in passage.places):
                continue
            left -= passage.characters
            for a, b in passage.places:
                taken[a:b] = True
            yield passage

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: what a run freezes."""
        rows = zip(self.entries, self.weights, strict=True)
        return {"entries": [entry.to_dict() | {"weight": weight} for entry, weight in rows]}

    @classmethod
    def from_dict(cls, values: Any) -> Library:
        """The inverse of :meth:`to_dict`."""
        rows = values["entries"]
        return cls(tuple(map(Entry.from_dict, rows)), tuple(int(row["weight"]) for row in rows))


def shared_stretches(
    left: Sequence[Passage], right: Sequence[Passage]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The fixed stretches of either text that the other has under the same entry and part too, as raw [start, end).

    What only one of two texts has is what they differ in, whatever library it stands in.
    """
    names = [
        {(p.entry, part, at, b - a) for p in side for (part, at), (a, b) in _held(p)}
        for side in (left, right)
    ]
    both = names[0] & names[1]
    one, other = (
        [
            span
            for p in side
            for ((part, at), (a, b)), span in zip(_held(p), p.fixed, strict=True)
            if (p.entry, part, at, b - a) in both
        ]
        for side in (left, right)
    )
    return one, other


def _held(passage: Passage) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return list(zip(passage.held, passage.places, strict=True))


def without(
    stretches: Iterable[tuple[int, int]], facts: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The stretches less whatever lies in one of ``facts``: both as [start, end), the result in order."""
    cuts = sorted((a, b) for a, b in facts if b > a)
    kept: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        at = start
        for a, b in cuts:
            if b <= at or a >= end:
                continue
            if a > at:
                kept.append((at, a))
            at = b
        if at < end:
            kept.append((at, end))
    return kept


def _passage(entry: int, chain: list[_Hit], raw: str, text: WindowText) -> Passage:
    fixed = tuple(raw_span(raw, text.offsets, hit.start, hit.end) for hit in chain)
    return Passage(
        entry,
        fixed[0][0],
        fixed[-1][1],
        fixed,
        tuple((hit.start, hit.end) for hit in chain),
        tuple((hit.part, hit.at) for hit in chain),
    )


def greyed(places: NDArray[np.bool_], passages: Iterable[Passage]) -> None:
    """Mark the fixed stretches of ``passages`` among the normalised places of their text."""
    for passage in passages:
        for a, b in passage.places:
            places[a:b] = True


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _sha256(value: object) -> str:
    return hashlib.sha256(
        json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
    ).hexdigest()
