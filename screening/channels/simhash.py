"""Channel ``simhash``: texts, and windows of texts, whose 64-bit fingerprints differ in a few bits.

A fingerprint is that of Charikar 2002 over the words of the text, as the package ``simhash`` computes it: the hash of a
word is the last eight bytes of its MD5, and a bit is set where the words that have it weigh more than half of all.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, combinations, pairwise
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from screening import kernels, kernels_simhash
from screening.channels import Hits, Pairs, join, no_pairs, split
from screening.documents import Problem
from screening.text.corpus import Corpus, Ints
from screening.text.normalise import CodePoints
from screening.text.shingles import in_threads
from screening.text.splitting import Places, split_texts
from screening.text.words import STOP_WORDS, dictionary_digest, tokens_of

if TYPE_CHECKING:
    from screening.config import ScreeningConfig

Values = NDArray[np.uint64]
Weights = Literal["frequency", "tfidf"]

BITS = 64
SHOWN_WORDS = 50

LONG, LONG_LIMITS = 10_000, (5, 3)
"""Texts of so many characters and more: bits for a candidate, bits for a report."""

SHORT_LIMITS = (3, 2)
"""The same for shorter texts, chapters and windows."""

LEAST = 200
"""Below so many characters a text has no fingerprint: one other word turns too many bits."""

PRIMARY = 500
"""Below so many characters a fingerprint is evidence only and proposes nothing: MinHash does."""

WINDOW, STEP = 2000, 1000

SURE = 0.8
"""Ratio of the texts themselves from which a candidate beyond the distance of a report is reported all the same."""

DOUBTFUL = 0.5
"""Ratio below which nothing is reported, however near the fingerprints are."""

IDF_SCALE = 1000
"""Weights are whole numbers, so that a sum does not depend on its order."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One text: ``value`` as 16 hex digits, None for a text without words or too short; its heaviest words, heaviest first."""

    value: str | None
    words: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class Near:
    """What the channel found. Arrays of :meth:`columns` follow the pairs of texts that the run keeps.

    ``values`` and ``present`` are of the distinct texts. ``kept`` are the reported pairs of texts; ``windows`` holds, for
    each pair of ``window_pairs``, its nearest windows as places in the normalised texts of low and high (start, end, start,
    end), bits and thousandths of the ratio of the windows.
    """

    values: Values
    present: NDArray[np.bool_]
    hits: Hits
    kept: Pairs
    window_pairs: Pairs
    windows: NDArray[np.int64]
    distance: NDArray[np.int16] = field(default_factory=lambda: np.empty(0, dtype=np.int16))
    ratio: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def hex_of(self, c: int) -> str | None:
        """The fingerprint of text c, 16 hex digits; None where it has none."""
        return f"{int(self.values[c]):016x}" if c >= 0 and self.present[c] else None

    def compare(self, corpus: Corpus, low: Ints, high: Ints, threads: int) -> None:
        """Fill ``distance`` (-1: a text has no fingerprint) and ``ratio`` (NaN there) for these pairs of texts."""
        both = self.present[low] & self.present[high]
        self.distance = np.full(len(low), -1, dtype=np.int16)
        self.ratio = np.full(len(low), np.nan)
        bits = np.empty(int(both.sum()), dtype=np.int16)
        kernels_simhash.distances(self.values, low[both], high[both], bits)
        self.distance[both] = bits
        self.ratio[both] = text_ratios(corpus, low[both], high[both], threads)


def word_hash(word: str) -> int:
    """The last eight bytes of the MD5 of the word's UTF-8, as a number: the hash of the package ``simhash``."""
    digest = hashlib.md5(word.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[-8:], "big")


def word_hashes(words: Sequence[str]) -> Values:
    """:func:`word_hash` of many words, in compiled loops where a word is short."""
    data = [w.encode("utf-8", "surrogatepass") for w in words]
    bounds = np.fromiter(accumulate(map(len, data), initial=0), dtype=np.int64)
    hashes = np.empty(len(data), dtype=np.uint64)
    joined = np.frombuffer(b"".join(data), dtype=np.uint8)
    kernels_simhash.md5_ends(joined, bounds, 0, len(data), hashes)
    for n in np.flatnonzero(np.diff(bounds) > kernels_simhash.MD5_ROOM).tolist():
        hashes[n] = word_hash(words[n])
    return hashes


def rules(config: ScreeningConfig) -> dict[str, Any]:
    """Everything that decides a fingerprint, in JSON values."""
    from importlib.metadata import version

    return {
        "bits": BITS,
        "dictionary": dictionary_digest(),
        "hash": "md5-low64/1",
        "jieba": version("jieba"),
        "stop_words": sorted(config.stop_words or STOP_WORDS),
        "weights": config.simhash_weights,
        "window": [WINDOW, STEP],
    }


def describe(text: str, config: ScreeningConfig) -> Fingerprint:
    """The fingerprint of one normalised (and folded) text, and the :data:`SHOWN_WORDS` that decide most of it."""
    counts = Counter(tokens_of(text, config.stop_words or STOP_WORDS))
    words = list(counts)
    weights = word_weights(words, (), config.simhash_weights)
    heavy = {w: int(weights[n]) * counts[w] for n, w in enumerate(words) if weights[n]}
    shown = sorted(heavy.items(), key=lambda item: (-item[1], item[0]))[:SHOWN_WORDS]
    if len(text) < LEAST or not heavy:
        return Fingerprint(None, tuple(shown))
    sums, total = [0] * BITS, sum(heavy.values())
    for word, weight in heavy.items():
        h = word_hash(word)
        for b in range(BITS):
            sums[b] += weight * (h >> b & 1)
    value = sum(1 << b for b in range(BITS) if 2 * sums[b] > total)
    return Fingerprint(f"{value:016x}", tuple(shown))


@lru_cache(maxsize=1)
def _idf() -> tuple[dict[str, float], float]:
    """jieba's own table of inverse document frequencies, and the value for words that it lacks."""
    import jieba

    # The file is read here: to import jieba.analyse loads a tagger of parts of speech that nobody needs.
    listed = (Path(jieba.__file__).parent / "analyse" / "idf.txt").read_text("utf-8").split()
    table = dict(zip(listed[::2], map(float, listed[1::2]), strict=True))
    return table, sorted(table.values())[len(table) // 2]


def word_weights(words: Sequence[str], stop_words: Sequence[str], kind: Weights) -> Ints:
    """What one occurrence of each word weighs: 0 for a stop word, else 1, or its inverse document frequency in thousandths.

    The frequencies are those that jieba brings along, not those of the collection: a text has the same fingerprint whatever
    it is screened with.
    """
    stops = frozenset(stop_words)
    if kind == "frequency":
        return np.array([w not in stops for w in words], dtype=np.int64)
    table, median = _idf()
    return np.array(
        [0 if w in stops else round(IDF_SCALE * table.get(w, median)) for w in words],
        dtype=np.int64,
    )


def prints_of(
    places: Places, weights: Ints, first: Ints, last: Ints, threads: int
) -> tuple[Values, NDArray[np.bool_]]:
    """Fingerprints of the words ``first[s]`` to ``last[s]`` of each segment, and whether it has any word that weighs."""
    hashes = word_hashes(places.vocabulary)
    values = np.zeros(len(first), dtype=np.uint64)
    totals = np.zeros(len(first), dtype=np.int64)
    in_threads(
        lambda lo, hi: kernels_simhash.fingerprints(
            places.words, hashes, weights, first, last, lo, hi, values, totals
        ),
        len(first),
        threads,
    )
    values[totals == 0] = 0
    return values, totals > 0


def limits(lengths: Ints, config: ScreeningConfig) -> tuple[Ints, Ints]:
    """(bits for a candidate, bits for a report) of texts of these lengths, -1 where they propose nothing.

    ``simhash_distance`` sets both for all lengths; 0 takes them from the length.
    """
    candidate = np.where(lengths >= LONG, LONG_LIMITS[0], SHORT_LIMITS[0])
    report = np.where(lengths >= LONG, LONG_LIMITS[1], SHORT_LIMITS[1])
    if config.simhash_distance:
        candidate[:] = report[:] = config.simhash_distance
    candidate[lengths < PRIMARY] = -1
    report[lengths < PRIMARY] = -1
    return candidate, report


# ------------------------------------------------------------------ the join


def plan(count: int, distance: int) -> tuple[int, int]:
    """(blocks, matching blocks) of the cheapest join of ``count`` fingerprints that misses no pair within ``distance``.

    With d + r blocks, d differing bits leave at least r blocks alike: each choice of r blocks is one sorted table. More
    matching blocks make more tables and fewer pairs in each. 0 matching blocks compare all with all.
    """
    best = (0.5 * count * count, 1, 0)
    for matched in range(1, 5):
        blocks = distance + matched
        width = BITS * matched / blocks
        tables = comb(blocks, matched)
        cost = tables * (100.0 * count + 0.5 * count * count / 2.0**width)
        best = min(best, (cost, blocks, matched))
    return best[1], best[2]


def near_pairs(values: Values, distance: int, shape: tuple[int, int] | None = None) -> Pairs:
    """Every pair of positions whose fingerprints differ in at most ``distance`` bits, sorted; all of them, none else.

    ``shape`` is a (blocks, matching blocks) to use in place of :func:`plan`'s. Source of the segments: Manku, Jain, Das
    Sarma 2007, §3. Raises ValueError where the shape would miss pairs.
    """
    blocks, matched = shape or plan(len(values), distance)
    if matched and blocks - matched < distance:
        raise ValueError(f"{blocks} blocks, {matched} alike, miss pairs at distance {distance}")
    edges = [BITS * b // blocks for b in range(blocks + 1)]
    masks = np.array(
        [((1 << hi) - 1) ^ ((1 << lo) - 1) for lo, hi in pairwise(edges)],
        dtype=np.uint64,
    )
    parts = [no_pairs()]
    for chosen in combinations(range(blocks), matched):
        parts.append(_table(values, distance, masks, np.array(chosen, dtype=np.int64)))
    return np.sort(np.concatenate(parts))


def _table(values: Values, distance: int, masks: Values, chosen: Ints) -> Pairs:
    """The pairs that one choice of blocks gives."""
    mask = np.uint64(0)
    for b in chosen:
        mask |= masks[b]
    order = np.argsort(values & mask, kind="stable")
    ordered = values[order]
    room = max(1024, len(values))
    while True:
        first, second = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        found = kernels_simhash.near_in_buckets(
            ordered, order, mask, masks, chosen, distance, first, second, room
        )
        if found <= room:
            return join(first[:found], second[:found])
        room = found


def near_groups(values: Values, distance: int, cap: int) -> tuple[Pairs, int]:
    """The pairs of :func:`near_pairs`, where more than ``cap`` owners of one fingerprint form a star around the first.

    Also returns how many fingerprints had more than ``cap`` owners.
    """
    distinct, inverse, sizes = np.unique(values, return_inverse=True, return_counts=True)
    members = np.argsort(inverse, kind="stable").astype(np.int32)
    bounds = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    several = sizes > 1
    inside = np.repeat(several, sizes)
    room = int(np.where(sizes <= cap, sizes * (sizes - 1) // 2, sizes - 1).sum())
    equal = np.empty(room, dtype=np.uint64)
    if room:
        found = kernels.group_pairs(
            members[inside].astype(np.int64), np.cumsum(sizes[several]), cap, equal
        )
        equal = equal[:found]
    low, high = split(near_pairs(distinct, distance))
    none = np.empty(0, dtype=np.int64)
    arguments = (low, high, members, bounds, cap * cap)
    count, _ = kernels.expand_pairs(*arguments, False, none, none, none)
    left, right, source = (np.empty(count, dtype=np.int64) for _ in range(3))
    kernels.expand_pairs(*arguments, True, left, right, source)
    pairs = np.unique(np.concatenate((equal, join(left, right))))
    return pairs, int((sizes > cap).sum())


# ------------------------------------------------------------------ the channel


def find(corpus: Corpus, config: ScreeningConfig, threads: int) -> Near:
    """Fingerprints of all texts and windows, and the pairs that the texts themselves bear out.

    A candidate is reported when its fingerprints are within the distance of a report and the exact ratio of the texts is at
    least :data:`DOUBTFUL`, or, between that distance and a candidate's, when the ratio is at least :data:`SURE`. A pair of windows
    counts likewise by the ratio of the windows.
    """
    places = split_texts(corpus.folded, corpus.bounds, threads)
    weights = word_weights(
        places.vocabulary, config.stop_words or STOP_WORDS, config.simhash_weights
    )
    values, present = prints_of(places, weights, places.bounds[:-1], places.bounds[1:], threads)
    present &= corpus.lengths >= LEAST
    whole, large = _whole_candidates(corpus, config, values, present)
    bits, ratio = _checked(corpus, values, whole, threads)
    _, report = limits(corpus.lengths, config)
    low, high = split(whole)
    kept = whole[_reported(bits, ratio, np.minimum(report[low], report[high]))]
    owner, start, end, prints = _windows(corpus, places, weights, threads)
    pairs, best, window_large = _window_pairs(owner, start, end, prints, config)
    ratios = _window_ratios(corpus, pairs, best, threads)
    best[:, 5] = np.round(1000 * ratios)
    limit = config.simhash_distance or SHORT_LIMITS[1]
    sure = _reported(best[:, 4], ratios, np.full(len(pairs), limit))
    hits = Hits(
        np.union1d(whole, pairs),
        {
            "fingerprints": int(present.sum()),
            "windows": len(owner),
            "near_texts": len(whole),
            "near_windows": len(pairs),
        },
        _report(large + window_large, config.bucket_cap),
    )
    return Near(
        values, present, hits, np.union1d(kept, pairs[sure]), pairs[sure], best[sure]
    )


def _reported(bits: Ints, ratio: NDArray[np.float64], limit: Ints) -> NDArray[np.bool_]:
    verdict: NDArray[np.bool_] = ((bits <= limit) & (ratio >= DOUBTFUL)) | (ratio >= SURE)
    return verdict


def _report(large: int, cap: int) -> list[Problem]:
    if not large:
        return []
    return [
        Problem(
            "large_fingerprints",
            "%(count)s fingerprints belong to more than %(cap)s texts or windows each; "
            "each was joined to the first of its fingerprint only.",
            {"count": large, "cap": cap},
        )
    ]


def _whole_candidates(
    corpus: Corpus, config: ScreeningConfig, values: Values, present: NDArray[np.bool_]
) -> tuple[Pairs, int]:
    """Pairs of texts within the distance of a candidate for the shorter of them."""
    candidate, _ = limits(corpus.lengths, config)
    candidate[~present] = -1
    parts, large = [no_pairs()], 0
    for distance in np.unique(candidate[candidate >= 0]).tolist():
        some = np.flatnonzero(candidate >= distance)
        pairs, above = near_groups(values[some], distance, config.bucket_cap)
        low, high = split(pairs)
        parts.append(join(some[low], some[high]))
        large = max(large, above)
    return np.unique(np.concatenate(parts)), large


def _checked(
    corpus: Corpus, values: Values, pairs: Pairs, threads: int
) -> tuple[Ints, NDArray[np.float64]]:
    """Bits and ratios of pairs; where folding changes a text, the better of both ratios."""
    low, high = split(pairs)
    bits = np.empty(len(pairs), dtype=np.int64)
    kernels_simhash.distances(values, low, high, bits)
    ratio = text_ratios(corpus, low, high, threads)
    again = np.flatnonzero(corpus.changed[low] | corpus.changed[high])
    if len(again):
        folded = text_ratios(corpus, low[again], high[again], threads, folded=True)
        ratio[again] = np.maximum(ratio[again], folded)
    return bits, ratio


def text_ratios(
    corpus: Corpus, low: Ints, high: Ints, threads: int, *, folded: bool = False
) -> NDArray[np.float64]:
    """Exact ratio of the normalised texts of each pair: 2 x longest common subsequence / both lengths, 0 to 1."""
    points = corpus.folded if folded else corpus.points
    first, last = corpus.bounds[:-1], corpus.bounds[1:]
    return _ratios(points, first[low], last[low], first[high], last[high], threads)


def _ratios(
    points: CodePoints, left: Ints, left_end: Ints, right: Ints, right_end: Ints, threads: int
) -> NDArray[np.float64]:
    """What ``rapidfuzz.distance.Indel.normalized_similarity`` gives for these spans, to the bit."""
    result = np.empty(len(left))
    in_threads(
        lambda lo, hi: kernels_simhash.indel_ratios(
            points, left, left_end, right, right_end, lo, hi, result
        ),
        len(left),
        threads,
    )
    return result


def _windows(
    corpus: Corpus, places: Places, weights: Ints, threads: int
) -> tuple[Ints, Ints, Ints, Values]:
    """Text, first and last place (in the text) and fingerprint of each window; nothing where no text is longer than one."""
    spans: list[tuple[int, int, int]] = []
    if (corpus.lengths > WINDOW).any():
        for c in np.flatnonzero(corpus.lengths >= PRIMARY).tolist():
            size = int(corpus.lengths[c])
            for start in range(0, max(1, size - WINDOW + STEP), STEP):
                spans.append((c, start, min(size, start + WINDOW)))
    owner, begin, end = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    base = corpus.bounds[owner]
    first = np.searchsorted(places.starts, base + begin)
    last = np.searchsorted(places.starts, base + end)
    values, present = prints_of(places, weights, first, last, threads)
    return owner[present], begin[present], end[present], values[present]


def _window_pairs(
    owner: Ints, start: Ints, end: Ints, values: Values, config: ScreeningConfig
) -> tuple[Pairs, NDArray[np.int64], int]:
    """Pairs of texts with near windows, and the nearest windows of each (first in the texts where several are)."""
    limit = config.simhash_distance or SHORT_LIMITS[0]
    pairs, large = near_groups(values, limit, config.bucket_cap)
    a, b = split(pairs)
    swap = owner[a] > owner[b]
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    cut = np.bincount(owner, minlength=1)[owner] > 1
    partial = (owner[a] != owner[b]) & (cut[a] | cut[b])
    a, b = a[partial], b[partial]
    bits = np.empty(len(a), dtype=np.int64)
    kernels_simhash.distances(values, a, b, bits)
    key = join(owner[a], owner[b])
    order = np.lexsort((start[b], start[a], bits, key))
    distinct, first = np.unique(key[order], return_index=True)
    a, b, bits = a[order][first], b[order][first], bits[order][first]
    best = np.column_stack((start[a], end[a], start[b], end[b], bits, np.zeros_like(bits)))
    return distinct, best, large


def _window_ratios(
    corpus: Corpus, pairs: Pairs, best: NDArray[np.int64], threads: int
) -> NDArray[np.float64]:
    """Exact ratios of the windows themselves, script folded."""
    low, high = split(pairs)
    left, right = corpus.bounds[low], corpus.bounds[high]
    start, end, begin, close = best[:, 0], best[:, 1], best[:, 2], best[:, 3]
    return _ratios(
        corpus.folded, left + start, left + end, right + begin, right + close, threads
    )
