"""Shingle keys and MinHash signatures of the distinct texts of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.text.corpus import Ints
from screening.text.normalise import code_points

PACKED_K = 3
"""Up to this k a key holds the code points themselves; beyond it is a 64-bit hash."""


@lru_cache(maxsize=16)
def permutations(num_perm: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """datasketch's affine permutations (a, b), each (num_perm,) uint32."""
    from datasketch import MinHash

    a, b = MinHash(num_perm=num_perm, seed=seed, scheme="affine32").permutations
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


def shingle_hash(shingle: str) -> int:
    """The recorded 32-bit hash of one character shingle: what ``hashfunc`` gives datasketch for the same signature."""
    points = code_points(shingle)
    keys = np.empty(1, dtype=np.uint64)
    bounds = np.array([0, len(points)], dtype=np.int64)
    only, k = np.zeros(1, dtype=np.int64), len(points)
    kernels.shingle_keys(points, bounds, only, k, k <= PACKED_K, 0, 1, bounds, keys)
    return int(kernels.shingle_hash32(keys[0]))


def slices(total: int, parts: int) -> list[tuple[int, int]]:
    """``total`` cut into at most ``parts`` ranges of about equal size."""
    edges = [total * i // parts for i in range(parts + 1)]
    return [(lo, hi) for lo, hi in pairwise(edges) if hi > lo]


def in_threads(work: Callable[[int, int], object], total: int, threads: int) -> None:
    """Call ``work(lo, hi)`` over slices of ``range(total)``; kernels release the GIL."""
    pieces = slices(total, max(1, threads) * 4) if threads > 1 else slices(total, 1)
    if len(pieces) < 2:
        for lo, hi in pieces:
            work(lo, hi)
        return
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(work, lo, hi) for lo, hi in pieces]:
            future.result()


@dataclass(slots=True)
class Shingles:
    """Windows of ``k`` symbols of many entries, as 64-bit keys, computed for the entries that somebody needs.

    ``keys[bounds[e]:bounds[e + 1]]`` are entry e's keys: after :meth:`fill` in text order, after :meth:`sort` its
    ``sizes[e]`` distinct keys first, rising.
    """

    symbols: NDArray[np.generic] = field(repr=False)
    symbol_bounds: Ints = field(repr=False)
    k: int
    packed: bool
    keys: NDArray[np.uint64]
    bounds: Ints
    sizes: Ints
    is_filled: NDArray[np.bool_] = field(repr=False)
    is_sorted: NDArray[np.bool_] = field(repr=False)

    def fill(self, entries: NDArray[np.int64], threads: int) -> None:
        """Compute the keys of these entries, once each."""
        wanted = np.zeros(len(self.sizes), dtype=bool)
        wanted[entries] = True
        todo = np.flatnonzero(wanted & ~self.is_filled)
        in_threads(
            lambda lo, hi: kernels.shingle_keys(
                self.symbols,
                self.symbol_bounds,
                todo,
                self.k,
                self.packed,
                lo,
                hi,
                self.bounds,
                self.keys,
            ),
            len(todo),
            threads,
        )
        self.is_filled[todo] = True

    def sort(self, entries: NDArray[np.int64], threads: int) -> None:
        """Sort and count the distinct keys of these entries, once each."""
        self.fill(entries, threads)
        wanted = np.zeros(len(self.sizes), dtype=bool)
        wanted[entries] = True
        todo = np.flatnonzero(wanted & ~self.is_sorted)
        in_threads(
            lambda lo, hi: kernels.sort_slices(self.keys, self.bounds, todo, lo, hi, self.sizes),
            len(todo),
            threads,
        )
        self.is_sorted[todo] = True

    def intersections(
        self, left: NDArray[np.int64], right: NDArray[np.int64], threads: int
    ) -> Ints:
        """Number of distinct shingles that the entries of each pair share; sorts what is not sorted yet."""
        self.sort(np.concatenate((left, right)), threads)
        shared = np.empty(len(left), dtype=np.int64)
        in_threads(
            lambda lo, hi: kernels.intersect_sorted(
                self.keys, self.bounds, self.sizes, left, right, lo, hi, shared
            ),
            len(left),
            threads,
        )
        return shared


def shingle(symbols: NDArray[np.generic], bounds: Ints, k: int, *, packed: bool) -> Shingles:
    """Room for the keys of every window of ``k`` symbols of each entry ``symbols[bounds[e]:bounds[e + 1]]``."""
    lengths = np.maximum(np.diff(bounds) - k + 1, 0)
    key_bounds = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    entries = len(lengths)
    return Shingles(
        symbols,
        bounds,
        k,
        packed,
        np.empty(key_bounds[-1], dtype=np.uint64),
        key_bounds,
        np.zeros(entries, dtype=np.int64),
        np.zeros(entries, dtype=bool),
        np.zeros(entries, dtype=bool),
    )


def sign(
    shingles: Shingles,
    num_perm: int,
    seed: int,
    threads: int,
    known: tuple[NDArray[np.int64], NDArray[np.uint32]] | None = None,
) -> NDArray[np.uint32]:
    """MinHash values (entries, num_perm) uint32; an entry without shingles has datasketch's empty signature.

    ``known``: entries whose signatures need not be computed, and these.
    """
    a, b = permutations(num_perm, seed)
    rows = np.empty((len(shingles.bounds) - 1, num_perm), dtype=np.uint32)
    todo = np.ones(len(rows), dtype=bool)
    if known is not None:
        rows[known[0]] = known[1]
        todo[known[0]] = False
    entries = np.flatnonzero(todo)
    shingles.fill(entries, threads)
    in_threads(
        lambda lo, hi: kernels.sign(shingles.keys, shingles.bounds, entries, a, b, lo, hi, rows),
        len(entries),
        threads,
    )
    return rows


def shingle_set(text: Sequence[str] | str, k: int) -> set[str]:
    """The definition in the plainest form: the set of windows of ``k`` characters (or joined words)."""
    if isinstance(text, str):
        return {text[i : i + k] for i in range(len(text) - k + 1)}
    return {" ".join(text[i : i + k]) for i in range(len(text) - k + 1)}
