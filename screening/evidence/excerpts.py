"""Shared passages of two texts, moved ones included, in offsets of the raw text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.text.normalise import Normalised, code_points, raw_span

SENTENCE_ENDS = frozenset("。！？；…!?;.")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage that both texts have: raw code-point ranges [start, end) on either side."""

    left_start: int
    left_end: int
    right_start: int
    right_end: int


@dataclass(frozen=True, slots=True)
class Run:
    """A common run in normalised places: where it starts on either side, and its length."""

    left: int
    right: int
    length: int


def seed_length(min_length: int) -> int:
    """Length of the grams that find every run of ``min_length``: all places are indexed, so up to that length."""
    return max(1, min(12, min_length))


def shared_runs(
    left: NDArray[np.uint32], right: NDArray[np.uint32], min_length: int = 32, limit: int = 4096
) -> tuple[Run, ...]:
    """Maximal common runs of two normalised texts, longest first, mostly disjoint on both sides.

    Seed and extend over every place of both texts (linear time, also for periodic texts; there only the longest run
    of a place is followed). ``min_length`` >= 1 characters; at most ``limit`` runs.
    """
    if not len(left) or not len(right):
        return ()
    gram = seed_length(min_length)
    text = np.concatenate((left, right)).astype(np.uint32)
    bounds = np.array([0, len(left), len(text)], dtype=np.int64)
    measures = np.zeros((1, 7), dtype=np.int32)
    runs = np.full((1, limit, 3), -1, dtype=np.int32)
    low, high = np.array([0]), np.array([1])
    kernels.measure_pairs(
        text, bounds, low, high, np.empty(0, dtype=np.uint8), 0, gram, limit, 0, 1, measures, runs
    )
    return tuple(Run(int(a), int(b), int(n)) for a, b, n in runs[0] if n >= min_length)


def raw_excerpt(
    left_raw: str,
    left_offsets: NDArray[np.int32],
    right_raw: str,
    right_offsets: NDArray[np.int32],
    run: Run,
) -> Excerpt:
    """The raw ranges of a run; a sentence end that both raw texts have right behind it belongs to it."""
    left_start, left_end = raw_span(left_raw, left_offsets, run.left, run.left + run.length)
    right_start, right_end = raw_span(right_raw, right_offsets, run.right, run.right + run.length)
    return closed(left_raw, right_raw, left_start, left_end, right_start, right_end)


def closed(
    left_raw: str, right_raw: str, left_start: int, left_end: int, right_start: int, right_end: int
) -> Excerpt:
    """The excerpt, with the sentence end that both raw texts have right behind it where they have one."""
    if (
        left_end < len(left_raw)
        and right_end < len(right_raw)
        and left_raw[left_end] in SENTENCE_ENDS
        and left_raw[left_end] == right_raw[right_end]
    ):
        left_end, right_end = left_end + 1, right_end + 1
    return Excerpt(left_start, left_end, right_start, right_end)


def excerpts(left: Normalised, right: Normalised, min_length: int = 32) -> tuple[Excerpt, ...]:
    """Every shared passage of at least ``min_length`` normalised characters, longest first."""
    return tuple(
        raw_excerpt(left.raw, left.offsets, right.raw, right.offsets, run)
        for run in shared_runs(code_points(left.text), code_points(right.text), min_length)
    )
