"""Channel ``passages``: texts that share a long run of characters, wherever it stands in either."""

from __future__ import annotations

import numpy as np

from screening import kernels
from screening.channels import Hits, no_pairs
from screening.documents import Problem
from screening.text.corpus import Corpus
from screening.text.shingles import in_threads, slices

GRAM_SHARE = 0.75
"""Length of a fingerprinted gram, as a share of the passage: longer grams are rarer, shorter ones fewer."""


def winnowing(length: int) -> tuple[int, int]:
    """(gram, window) that find every shared run of ``length`` characters: gram + window - 1 = length."""
    gram = max(2, int(length * GRAM_SHARE))
    return gram, length - gram + 1


def find(corpus: Corpus, *, length: int, cap: int, threads: int) -> Hits:
    """Pairs of texts sharing a run of at least ``length`` folded characters.

    A fingerprint in more than ``cap`` texts joins each of them to the first only, and is reported.
    """
    gram, window = winnowing(length)
    hashes, docs, places = _fingerprints(corpus, gram, window, threads)
    if not len(hashes):
        return Hits(no_pairs())
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(ordered))
    del ordered, hashes
    parts = []
    above = largest = 0
    for lo, hi in slices(len(ends), 1 + len(docs) // 4_000_000):
        out = np.empty(1 << 20, dtype=np.uint64)
        arguments = (corpus.folded, corpus.bounds, order, ends, docs, places, length, cap, lo, hi)
        found, large, most = kernels.passage_pairs(*arguments, out)
        if found > len(out):
            out = np.empty(found, dtype=np.uint64)
            kernels.passage_pairs(*arguments, out)
        parts.append(np.unique(out[:found]))
        above, largest = above + large, max(largest, most)
    pairs = np.unique(np.concatenate(parts))
    return Hits(
        pairs,
        {"fingerprints": len(order), "buckets": len(ends), "large_buckets": int(above)},
        _report(int(above), cap, int(largest)),
    )


def _report(above: int, cap: int, largest: int) -> list[Problem]:
    if not above:
        return []
    return [
        Problem(
            "common_passages",
            "%(count)s fingerprints stand in more than %(cap)s texts (the most common in %(largest)s); "
            "each text was joined to the first that has it only.",
            {"count": above, "cap": cap, "largest": largest},
        )
    ]


def _fingerprints(
    corpus: Corpus, gram: int, window: int, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Winnowed grams of all texts: hash, text and place in ``corpus.folded``."""
    counts = np.zeros(corpus.size, dtype=np.int64)
    none64, none32 = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32)
    none = np.empty(0, dtype=np.int64)
    text, bounds = corpus.folded, corpus.bounds
    in_threads(
        lambda lo, hi: kernels.winnow(
            text, bounds, gram, window, lo, hi, True, counts, none64, none32, none
        ),
        corpus.size,
        threads,
    )
    firsts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    hashes = np.empty(firsts[-1], dtype=np.uint64)
    docs = np.empty(firsts[-1], dtype=np.int32)
    places = np.empty(firsts[-1], dtype=np.int64)
    in_threads(
        lambda lo, hi: kernels.winnow(
            text, bounds, gram, window, lo, hi, False, firsts, hashes, docs, places
        ),
        corpus.size,
        threads,
    )
    return hashes, docs, places
