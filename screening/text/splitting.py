"""Words with their places, of whole collections: jieba's own words from jieba's own dictionary, in compiled loops.

The same as ``jieba.cut(text, HMM=False)``, word for word; jieba itself reads about 0.3 million characters a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from screening import kernels_simhash as kernels
from screening.text.corpus import Ints
from screening.text.normalise import CodePoints, code_points, from_code_points
from screening.text.shingles import in_threads, slices

CHUNK = 4_000_000
"""Characters whose words are gathered at a time."""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """jieba's words and prefixes as an open hash table: ``keys`` 0 where empty, ``values`` NaN for a mere prefix."""

    keys: NDArray[np.uint64]
    values: NDArray[np.float64]
    log_total: float


@dataclass(frozen=True, slots=True)
class Places:
    """The words of many texts in order.

    ``vocabulary[words[i]]`` is word i, which begins at place ``starts[i]`` of all texts end to end;
    ``bounds`` cut words into texts.
    """

    vocabulary: list[str]
    words: NDArray[np.int32]
    starts: Ints
    bounds: Ints


_built: dict[tuple[int, int], Dictionary] = {}


def dictionary() -> Dictionary:
    """The dictionary that jieba would use now, words that were added to it included."""
    import jieba

    jieba.initialize()
    freq, total = jieba.dt.FREQ, jieba.dt.total
    key = (len(freq), total)
    if key not in _built:
        _built.clear()
        _built[key] = _build(freq, total)
    return _built[key]


def _build(freq: dict[str, int], total: int) -> Dictionary:
    points = code_points("".join(freq))
    bounds = np.fromiter(accumulate(map(len, freq), initial=0), dtype=np.int64)
    logs = np.fromiter(
        (math.log(n) if n else math.nan for n in freq.values()), dtype=np.float64, count=len(freq)
    )
    size = 1 << max(4, (2 * len(freq)).bit_length())
    keys, values = np.zeros(size, dtype=np.uint64), np.empty(size, dtype=np.float64)
    kernels.fill_dictionary(points, bounds, logs, keys, values)
    return Dictionary(keys, values, math.log(total))


def split_texts(points: CodePoints, bounds: Ints, threads: int) -> Places:
    """The words of the texts ``points[bounds[t]:bounds[t + 1]]``."""
    known = dictionary()
    counts = np.zeros(len(bounds) - 1, dtype=np.int64)
    parts: dict[int, tuple[Ints, NDArray[np.uint64]]] = {}

    def work(lo: int, hi: int) -> None:
        for first, last in _pieces(bounds, lo, hi):
            room = int(bounds[last] - bounds[first])
            starts, hashes = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.uint64)
            found = kernels.split_words(
                points, bounds, first, last, known.keys, known.values, known.log_total,
                starts, hashes, counts,
            )  # fmt: skip
            parts[first] = starts[:found].copy(), hashes[:found].copy()

    in_threads(work, len(counts), threads)
    ordered = [parts[first] for first in sorted(parts)]
    starts = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in ordered)])
    hashes = np.concatenate([np.empty(0, dtype=np.uint64), *(part[1] for part in ordered)])
    edges = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    distinct, example, words = np.unique(hashes, return_index=True, return_inverse=True)
    ends = np.append(starts[1:], len(points))
    text_ends = bounds[1:][counts > 0]
    ends[edges[1:][counts > 0] - 1] = text_ends
    vocabulary = [
        from_code_points(points[a:b])
        for a, b in zip(starts[example].tolist(), ends[example].tolist(), strict=True)
    ]
    assert len(vocabulary) == len(distinct)
    return Places(vocabulary, words.astype(np.int32), starts, edges)


def _pieces(bounds: Ints, lo: int, hi: int) -> list[tuple[int, int]]:
    """Ranges of texts of about CHUNK characters."""
    size = int(bounds[hi] - bounds[lo])
    return [(lo + a, lo + b) for a, b in slices(hi - lo, 1 + size // CHUNK)]
