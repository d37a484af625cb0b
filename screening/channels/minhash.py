"""Channel ``minhash``: texts whose Jaccard similarity reaches the threshold, by banded MinHash signatures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.channels import Hits, Pairs, no_pairs
from screening.documents import Problem

SAFETY = 6.0
"""Standard errors below the threshold at which a small collection still verifies: a miss has odds below 1e-8."""


def candidate_probability(similarity: float, bands: int, rows: int) -> float:
    """P(s) = 1 - (1 - s**rows)**bands: the chance that a pair of this Jaccard similarity shares a band.

    Source: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, §3.4.2.
    """
    return float(1.0 - (1.0 - similarity**rows) ** bands)


def find(
    rows: NDArray[np.uint32],
    empty: NDArray[np.bool_],
    *,
    bands: int,
    width: int,
    threshold: float,
    exact_below: int,
    cap: int,
) -> Hits:
    """Pairs of entries (rows of signatures) to verify; ``empty`` entries have no shingles and meet nobody."""
    if len(rows) <= exact_below:
        return close(rows, empty, threshold)
    return banded(rows, empty, bands=bands, width=width, cap=cap)


def close(rows: NDArray[np.uint32], empty: NDArray[np.bool_], threshold: float) -> Hits:
    """Every pair whose estimate is not far below the threshold: for collections small enough to compare all."""
    perms = rows.shape[1]
    error = (threshold * (1.0 - threshold) / perms) ** 0.5
    least = max(0, int(np.floor(perms * (threshold - SAFETY * error))))
    out = np.empty(max(1024, 4 * len(rows)), dtype=np.uint64)
    found = kernels.close_signatures(rows, empty, least, 0, len(rows), out)
    if found > len(out):
        out = np.empty(found, dtype=np.uint64)
        kernels.close_signatures(rows, empty, least, 0, len(rows), out)
    pairs = np.sort(out[:found])
    return Hits(pairs, {"compared": len(rows) * (len(rows) - 1) // 2})


def banded(
    rows: NDArray[np.uint32], empty: NDArray[np.bool_], *, bands: int, width: int, cap: int
) -> Hits:
    """Pairs that share a band, by sorting band hashes; a bucket above ``cap`` is a star around its first entry."""
    present = np.flatnonzero(~empty)
    if len(present) < 2:
        return Hits(no_pairs())
    used = rows if len(present) == len(rows) else rows[present]
    hashes = np.empty(len(used), dtype=np.uint64)
    parts: list[Pairs] = []
    buckets = large = largest = 0
    for band in range(bands):
        kernels.band_hashes(used, band, width, hashes)
        found, several, above, most = bucket_pairs(hashes, present, cap)
        parts.append(found)
        buckets, large, largest = buckets + several, large + above, max(largest, most)
    pairs = np.unique(np.concatenate(parts))
    left_out = []
    if large:
        left_out.append(
            Problem(
                "large_buckets",
                "%(count)s MinHash buckets hold more than %(cap)s texts (the largest %(largest)s); "
                "each text was joined to the first of its bucket only.",
                {"count": large, "cap": cap, "largest": largest},
            )
        )
    return Hits(pairs, {"buckets": buckets, "large_buckets": large}, left_out)


def bucket_pairs(
    hashes: NDArray[np.uint64], owners: NDArray[np.int64], cap: int
) -> tuple[Pairs, int, int, int]:
    """Pairs of owners with equal hashes; also the number of shared buckets, of those above ``cap``, and the largest."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    equal = np.flatnonzero(ordered[1:] == ordered[:-1])  # few, so that only these are looked at again
    if not len(equal):
        return no_pairs(), 0, 0, 0
    new = np.concatenate(([True], np.diff(equal) > 1))
    starts = equal[new]
    sizes = np.diff(np.concatenate((np.flatnonzero(new), [len(equal)]))) + 1
    first = np.repeat(starts - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    docs = owners[order[first + np.arange(len(first))]]
    group_ends = np.cumsum(sizes)
    room = int(np.where(sizes <= cap, sizes * (sizes - 1) // 2, sizes - 1).sum())
    out = np.empty(room, dtype=np.uint64)
    found = kernels.group_pairs(docs, group_ends, cap, out)
    return out[:found], len(sizes), int((sizes > cap).sum()), int(sizes.max())
