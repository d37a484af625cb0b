"""Proposals for a template library: what stands in many texts of a collection, numbers, dates and places aside; no Django.

A sample of the texts (the same for the same texts) is masked, its frequent segments are found by suffix array, and
segments that follow each other in most of their texts become one entry with a slot between them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from screening.documents import InputDocument
from screening.library import ANCHOR, FIXED_LEAST, Entry, Level, Library, Passage, SlotKind
from screening.repeats import find_repeats
from screening.text.normalise import NormaliseOptions, code_points, from_code_points, normalise_many

SAMPLE = 3_000_000
"""Characters among which frequent segments are looked for; of more, the texts of the smallest hashes are taken."""

TEXTS = 4
"""Texts in which an entry stands at least; versions of one text are one."""

SEGMENT = 12
"""Symbols of a segment at least; a masked number, date or name is one symbol."""

FOLLOWS = 0.6
"""Share of the texts of either segment in which the one follows the other, from which they are one entry."""

APART = 60
"""Normalised characters between two segments of one entry at most."""

SAME_TEXT = 0.75
"""Estimated Jaccard of 8-grams from which two texts are versions of one text: what they share is no template."""

SKETCH, BUCKETS = 64, 8
PLACES_LOOKED_AT = 2_000
EXAMPLES = 5

_N = "[0-9〇零一二三四五六七八九十百千万亿两]"
_MASKS = re.compile(
    rf"(?P<date>(?:[0-9]{{2,4}}|[〇零一二三四五六七八九]{{2,4}})年(?:{_N}{{1,3}}月(?:{_N}{{1,3}}[日号])?)?"
    rf"|{_N}{{1,3}}月{_N}{{1,3}}[日号])"
    rf"|(?P<number>[0-9]+{_N}*|{_N}{{2,}}|{_N}(?=[年月日号元个名人天时条款项章节届次季周岁份页期]))"
)
_SYMBOLS: dict[SlotKind, int] = {"date": 0x110001, "number": 0x110002, "place": 0x110003}
_KINDS: dict[int, SlotKind] = {symbol: kind for kind, symbol in _SYMBOLS.items()}
_FIRST_MASK = 0x110000


@dataclass(frozen=True, slots=True)
class Example:
    """One place of an entry: the document (index as given) and its passage."""

    document: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entry with ``documents`` and ``sources`` it stands in, how alike its places are, and its first few places."""

    entry: Entry
    documents: int
    sources: int
    level: Level
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Proposals:
    """``looked_at`` of the documents were in the sample; ``rows`` the entries of most documents first."""

    rows: tuple[Proposal, ...]
    looked_at: int


@dataclass(frozen=True, slots=True)
class _Segment:
    """A stretch of symbols at ``places`` (of all symbols end to end), which do not overlap those of other segments."""

    symbols: NDArray[np.uint32]
    places: tuple[int, ...]
    families: frozenset[int]


@dataclass(slots=True)
class _Masked:
    """Texts as symbols: ``bounds`` cut them into texts, symbol i covers the normalised characters ``at[i]`` to ``at[i + 1]``."""

    symbols: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    at: NDArray[np.int64]


def propose(
    documents: Sequence[InputDocument],
    *,
    texts: int = TEXTS,
    sources: int = 1,
    sample: int = SAMPLE,
) -> Proposals:
    """The entries that a sample of ``documents`` proposes, each in at least ``texts`` texts and ``sources`` sources.

    Depends on the texts and their ids only, not on their order. Linear in the sample but for sorting.
    """
    chosen = _sample(documents, sample)
    points, _, bounds = normalise_many([documents[d].raw for d in chosen], NormaliseOptions())
    distinct: dict[bytes, int] = {}
    for n, (lo, hi) in enumerate(pairwise(bounds.tolist())):
        if hi > lo:
            distinct.setdefault(points[lo:hi].tobytes(), n)
    rows = [points[bounds[n] : bounds[n + 1]] for n in distinct.values()]
    family = _families(rows)
    masked = _masked([from_code_points(row) for row in rows])
    entries = _entries(masked, family, _segments(masked, family, texts))
    return Proposals(
        tuple(_counted(documents, chosen, entries, texts, sources)), len(chosen)
    )


def _sample(documents: Sequence[InputDocument], most: int) -> list[int]:
    """Documents in the order of their keys; where there are too many characters, those of the smallest hashes."""
    by_hash = sorted(range(len(documents)), key=lambda d: (documents[d].sha256, documents[d].key))
    chosen: list[int] = []
    size = 0
    for d in by_hash:
        if chosen and size + len(documents[d].raw) > most:
            continue
        size += len(documents[d].raw)
        chosen.append(d)
    return sorted(chosen, key=lambda d: documents[d].key)


def _families(rows: Sequence[NDArray[np.uint32]]) -> list[int]:
    """For each text the first of its versions, by sketches of the smallest hashes of its 8-grams."""
    parent = list(range(len(rows)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    sketches = [_sketch(row) for row in rows]
    buckets: dict[int, list[int]] = defaultdict(list)
    for n, sketch in enumerate(sketches):
        for key in sketch[:BUCKETS].tolist():
            for other in buckets[key][:BUCKETS]:
                if root(other) != root(n) and _alike(sketches[other], sketch) >= SAME_TEXT:
                    parent[max(root(other), root(n))] = min(root(other), root(n))
            buckets[key].append(n)
    return [root(n) for n in range(len(rows))]


def _sketch(row: NDArray[np.uint32]) -> NDArray[np.uint64]:
    width = min(8, len(row))
    keys = np.zeros(len(row) - width + 1, dtype=np.uint64)
    for i in range(width):
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + row[i : i + len(keys)].astype(np.uint64)
    keys ^= keys >> np.uint64(29)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(32)
    return np.unique(keys)[:SKETCH]


def _alike(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    union = np.union1d(one, other)[:SKETCH]
    both = np.intersect1d(one, other, assume_unique=True)
    return float(np.isin(union, both, assume_unique=True).mean())


@lru_cache(maxsize=1)
def _places_by_head() -> dict[str, tuple[str, ...]]:
    """Names of places of two characters or more in jieba's own dictionary, by their first two; the longest first."""
    import jieba

    found: dict[str, list[str]] = defaultdict(list)
    with jieba.get_module_res("dict.txt") as file:
        for line in file:
            word, _, kind = line.decode("utf-8").rstrip().rpartition(" ")
            word = word.partition(" ")[0]
            if kind == "ns" and len(word) > 1:
                found[word[:2]].append(word)
    return {head: tuple(sorted(words, key=lambda w: (-len(w), w))) for head, words in found.items()}


def _named(text: str) -> Iterator[tuple[int, int, SlotKind]]:
    """Numbers, dates and names of places in a normalised text, as [start, end) and kind, in order and disjoint."""
    known = _places_by_head()
    heads = _heads()
    points = code_points(text)
    keys = (points[:-1].astype(np.uint64) << np.uint64(32)) | points[1:] if len(points) > 1 else heads[:0]
    candidates = np.flatnonzero(np.isin(keys, heads)).tolist()
    masks = [(m.start(), m.end(), _kind(m)) for m in _MASKS.finditer(text)]
    starts = [start for start, _, _ in masks]
    found = list(masks)
    last = 0
    for i in candidates:
        if i < last:
            continue
        for word in known[text[i : i + 2]]:
            if not text.startswith(word, i):
                continue
            end = i + len(word)
            at = bisect_right(starts, end - 1) - 1
            if at < 0 or masks[at][1] <= i:
                found.append((i, end, "place"))
                last = end
            break
    yield from sorted(found)


@lru_cache(maxsize=1)
def _heads() -> NDArray[np.uint64]:
    pairs = [code_points(head).astype(np.uint64) for head in _places_by_head()]
    return np.sort(
        np.array([(int(a) << 32) | int(b) for a, b in pairs], dtype=np.uint64)
    )


def _kind(match: re.Match[str]) -> SlotKind:
    return "date" if match.lastgroup == "date" else "number"


def _masked(texts: Sequence[str]) -> _Masked:
    symbols: list[NDArray[np.uint32]] = []
    places: list[NDArray[np.int64]] = []
    bounds, offset = [0], 0
    for text in texts:
        points = code_points(text).copy()
        kept = np.ones(len(points), dtype=bool)
        for start, end, kind in _named(text):
            points[start] = _SYMBOLS[kind]
            kept[start + 1 : end] = False
        symbols.append(points[kept])
        places.append(np.flatnonzero(kept) + offset)
        offset += len(points)
        bounds.append(bounds[-1] + len(symbols[-1]))
    return _Masked(
        np.concatenate([np.empty(0, dtype=np.uint32), *symbols]),
        np.array(bounds, dtype=np.int64),
        np.concatenate([np.empty(0, dtype=np.int64), *places, [offset]]).astype(np.int64),
    )


def _segments(masked: _Masked, family: Sequence[int], texts: int) -> list[_Segment]:
    """Frequent segments that do not overlap: those that cover most go first, the rest keeps what they leave."""
    repeats = find_repeats(masked.symbols, masked.bounds, SEGMENT)
    owner = np.searchsorted(masked.bounds, repeats.places, side="right") - 1
    families = np.array(family, dtype=np.int64)[owner]
    weighed = []
    for r in np.flatnonzero(repeats.texts >= texts).tolist():
        lo, hi = int(repeats.bounds[r]), int(repeats.bounds[r + 1])
        count = len(np.unique(families[lo:hi]))
        if count >= texts:
            weighed.append((-count * int(repeats.lengths[r]), int(repeats.places[lo]), r))
    covered = np.zeros(len(masked.symbols), dtype=bool)
    found = []
    for _, _, r in sorted(weighed):
        lo = int(repeats.bounds[r])
        hi = min(int(repeats.bounds[r + 1]), lo + PLACES_LOOKED_AT)
        segment = _uncovered(
            masked, covered, repeats.places[lo:hi], families[lo:hi], int(repeats.lengths[r]), texts
        )
        if segment is not None:
            found.append(segment)
    return found


def _uncovered(
    masked: _Masked,
    covered: NDArray[np.bool_],
    places: NDArray[np.int64],
    families: NDArray[np.int64],
    length: int,
    texts: int,
) -> _Segment | None:
    """The longest stretch of a repeat that at least half of its places have to themselves; claims them."""
    taken = covered[places[:, None] + np.arange(length)]
    free = np.concatenate(([False], 2 * taken.sum(axis=0) <= len(places), [False]))
    edges = np.flatnonzero(free[1:] != free[:-1]).reshape(-1, 2)
    if not len(edges):
        return None
    first, last = edges[np.argmax(edges[:, 1] - edges[:, 0])].tolist()
    own = ~taken[:, first:last].any(axis=1)
    if last - first < SEGMENT or len(np.unique(families[own])) < texts:
        return None
    kept: list[int] = []
    names = set()
    for place, name in sorted(zip((places[own] + first).tolist(), families[own].tolist(), strict=True)):
        if kept and place < kept[-1] + last - first:
            continue  # a repetition that overlaps itself
        kept.append(place)
        names.add(name)
    if len(names) < texts:
        return None
    for place in kept:
        covered[place : place + last - first] = True
    return _Segment(masked.symbols[kept[0] : kept[0] + last - first], tuple(kept), frozenset(names))


def _entries(masked: _Masked, family: Sequence[int], segments: Sequence[_Segment]) -> list[Entry]:
    """Chains of segments that follow each other in most of their texts, as entries; equal ones once."""
    onward = _followers(masked, family, segments)
    heads = set(range(len(segments))) - set(onward.values())
    used: set[int] = set()
    found: dict[str, Entry] = {}
    for start in [*sorted(heads), *range(len(segments))]:  # the second are circles, cut where they are met
        chain, at = [], start
        while at not in used:
            used.add(at)
            chain.append(at)
            if at not in onward:
                break
            at = onward[at]
        entry = _entry([segments[n].symbols for n in chain])
        if entry is not None:
            found.setdefault(entry.digest, entry)
    return list(found.values())


def _followers(
    masked: _Masked, family: Sequence[int], segments: Sequence[_Segment]
) -> dict[int, int]:
    """Which segment follows which, where each is the other's usual neighbour."""
    spots = sorted((p, n) for n, segment in enumerate(segments) for p in segment.places)
    texts = np.searchsorted(masked.bounds, [p for p, _ in spots], side="right") - 1
    names: dict[tuple[int, int], set[int]] = defaultdict(set)
    for ((p, n), (q, m)), (t, u) in zip(pairwise(spots), pairwise(texts.tolist()), strict=True):
        end = p + len(segments[n].symbols)
        if t == u and n != m and masked.at[q] - masked.at[end] <= APART:
            names[n, m].add(family[t])
    best: dict[int, int] = {}
    before: set[int] = set()
    for (n, m), seen in sorted(names.items(), key=lambda one: (-len(one[1]), one[0])):
        most = max(len(segments[n].families), len(segments[m].families))
        if n not in best and m not in before and len(seen) >= FOLLOWS * most:
            best[n] = m
            before.add(m)
    return best


def _entry(symbols: Sequence[NDArray[np.uint32]]) -> Entry | None:
    """Fixed parts and slots of a chain of segments; None where too little is fixed."""
    parts: list[str] = []
    between: list[set[SlotKind]] = []
    kinds: set[SlotKind] = set()
    for row in symbols:
        for piece in np.split(row, np.flatnonzero(np.diff(row >= _FIRST_MASK)) + 1):
            if piece[0] >= _FIRST_MASK:
                kinds |= {_KINDS[symbol] for symbol in piece.tolist()}
                continue
            text = from_code_points(piece)
            if len(text.encode()) < ANCHOR:  # too short to be looked up: part of the slot
                kinds.add("text")
                continue
            if parts:
                between.append(kinds or {"text"})
            parts.append(text)
            kinds = set()
        kinds.add("text")
    if not parts or sum(map(len, parts)) < FIXED_LEAST:
        return None
    slots = tuple(next(iter(k - {"text"} or k)) if len(k - {"text"}) < 2 else "text" for k in between)
    return Entry(tuple(parts), slots)


def _counted(
    documents: Sequence[InputDocument],
    chosen: Sequence[int],
    entries: Sequence[Entry],
    texts: int,
    sources: int,
) -> list[Proposal]:
    """The entries with what looking them up in the texts gives: the same look-up that a run does."""
    library = Library(tuple(entries), tuple(entry.fixed for entry in entries))
    places: dict[int, list[Example]] = defaultdict(list)
    for d in chosen:
        for passage in library.passages(documents[d].raw):
            places[passage.entry].append(Example(d, passage))
    found = []
    for e, entry in enumerate(library.entries):
        seen = Counter(example.document for example in places[e])
        names = {documents[d].source_id or "" for d in seen}
        if len(seen) < texts or len(names) < sources:
            continue
        level = _level(documents, entry, places[e])
        found.append(Proposal(entry, len(seen), len(names), level, tuple(places[e][:EXAMPLES])))
    return sorted(found, key=lambda one: (-one.documents, -one.entry.fixed, one.entry.digest))


def _level(documents: Sequence[InputDocument], entry: Entry, places: Sequence[Example]) -> Level:
    if entry.slots:
        return "slots"
    raws = {documents[x.document].raw[x.passage.start : x.passage.end] for x in places}
    return "exact" if len(raws) == 1 else "plain"
