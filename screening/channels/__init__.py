"""One file per way of finding a pair; each turns a corpus into :class:`Hits`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from screening.documents import Problem

Pairs = NDArray[np.uint64]
"""Pairs as low << 32 | high, sorted and distinct."""


@dataclass(slots=True)
class Hits:
    """What a channel found: pairs (of distinct texts, or of documents where the channel says so), counts, reports.

    ``counts`` go into the funnel as they are; ``left_out`` names every bucket that was not enumerated.
    """

    pairs: Pairs
    counts: Mapping[str, int] = field(default_factory=dict)
    left_out: list[Problem] = field(default_factory=list)


def split(pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The low and the high members."""
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(
        np.int64
    )


def join(low: NDArray[np.int64], high: NDArray[np.int64]) -> Pairs:
    """The inverse of :func:`split`; members may come in any order."""
    first, second = np.minimum(low, high), np.maximum(low, high)
    return (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)


def no_pairs() -> Pairs:
    """An empty set of pairs."""
    return np.empty(0, dtype=np.uint64)
