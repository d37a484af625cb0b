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
    """The affine permutations (a, b) of datasketch's scheme ``affine32``, each (num_perm,) uint32.

    Drawn as datasketch 2 draws them, without a second for loading it and SciPy; a test compares the two.
    """
    draw = np.random.RandomState(seed)
    a = draw.randint(0, 1 << 31, num_perm, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    return a, draw.randint(0, 1 << 32, num_perm, dtype=np.uint32)


def shingle_hash(shingle: str) -> int:
    """The recorded 32-bit hash of one character shingle: what ``hashfunc`` gives datasketch for the same signature."""
    points = code_points(shingle)
    keys = np.empty(1, dtype=np.uint64)
    bounds = np.array([0, len(points)], dtype=np.int64)
    only, k = np.zeros(1, dtype=np.int64), len(points)
    places = np.array([[0, 1]], dtype=np.int64)
    kernels.shingle_keys(points, bounds, only, k, k <= PACKED_K, 0, 1, places, keys)
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

    ``keys[places[e, 0]:places[e, 1]]`` are entry e's keys: after :meth:`fill` in text order, after :meth:`sort` its
    ``sizes[e]`` distinct keys first, rising. ``lengths``: windows of each entry.
    """

    symbols: NDArray[np.generic] = field(repr=False)
    symbol_bounds: Ints = field(repr=False)
    k: int
    packed: bool
    keys: NDArray[np.uint64]
    places: Ints
    lengths: Ints
    sizes: Ints
    is_filled: NDArray[np.bool_] = field(repr=False)
    is_sorted: NDArray[np.bool_] = field(repr=False)

    def fill(self, entries: NDArray[np.int64], threads: int) -> None:
        """Compute the keys of these entries, once each."""
        wanted = np.zeros(len(self.sizes), dtype=bool)
        wanted[entries] = True
        todo = np.flatnonzero(wanted & ~self.is_filled)
        if not len(todo):
            return
        ends = len(self.keys) + np.cumsum(self.lengths[todo])
        self.places[todo, 0], self.places[todo, 1] = ends - self.lengths[todo], ends
        room = np.empty(int(self.lengths[todo].sum()), dtype=np.uint64)
        self.keys = np.concatenate((self.keys, room)) if len(self.keys) else room
        in_threads(
            lambda lo, hi: kernels.shingle_keys(
                self.symbols,
                self.symbol_bounds,
                todo,
                self.k,
                self.packed,
                lo,
                hi,
                self.places,
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
        if not len(todo):
            return
        in_threads(
            lambda lo, hi: kernels.sort_slices(self.keys, self.places, todo, lo, hi, self.sizes),
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
                self.keys, self.places, self.sizes, left, right, lo, hi, shared
            ),
            len(left),
            threads,
        )
        return shared


def shingle(symbols: NDArray[np.generic], bounds: Ints, k: int, *, packed: bool) -> Shingles:
    """Room for the keys of every window of ``k`` symbols of each entry ``symbols[bounds[e]:bounds[e + 1]]``."""
    lengths = np.maximum(np.diff(bounds) - k + 1, 0)
    entries = len(lengths)
    return Shingles(
        symbols,
        bounds,
        k,
        packed,
        np.empty(0, dtype=np.uint64),
        np.zeros((entries, 2), dtype=np.int64),
        lengths,
        np.zeros(entries, dtype=np.int64),
        np.zeros(entries, dtype=bool),
        np.zeros(entries, dtype=bool),
    )


def sign(
    shingles: Shingles,
    num_perm: int,
    seed: int,
    threads: int,
    known: tuple[NDArray[np.uint32], NDArray[np.int64]] | None = None,
) -> NDArray[np.uint32]:
    """MinHash values (entries, num_perm) uint32; an entry without shingles has datasketch's empty signature.

    ``known``: signatures that need not be computed, and for each entry its row among them or -1.
    """
    a, b = permutations(num_perm, seed)
    count = len(shingles.lengths)
    if known is None or not len(known[0]):
        rows, entries = np.empty((count, num_perm), dtype=np.uint32), np.arange(count)
    else:
        rows, entries = known[0][np.maximum(known[1], 0)], np.flatnonzero(known[1] < 0)
    shingles.fill(entries, threads)
    in_threads(
        lambda lo, hi: kernels.sign(shingles.keys, shingles.places, entries, a, b, lo, hi, rows),
        len(entries),
        threads,
    )
    return rows


def shingle_set(text: Sequence[str] | str, k: int) -> set[str]:
    """The definition in the plainest form: the set of windows of ``k`` characters (or joined words)."""
    if isinstance(text, str):
        return {text[i : i + k] for i in range(len(text) - k + 1)}
    return {" ".join(text[i : i + k]) for i in range(len(text) - k + 1)}
