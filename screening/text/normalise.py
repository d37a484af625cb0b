"""Raw text to its matching copy, with a way back: every normalised character knows its raw code point."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.text.layout import layout_spans
from screening.text.table import (
    CodePointTable,
    Keep,
    _kept,
    composes_backwards,
    load_table,
)

CodePoints = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class NormaliseOptions:
    """What of a text takes part in matching.

    ``keep``: ``alphanumeric`` letters and digits (default); ``whitespace_only`` everything but whitespace and
    invisible characters; ``signs`` also signs, decimal points, percent signs and the like beside digits.
    ``skip_layout``: short lines that repeat within a text take no part. ``cache_dir`` is where the code-point table is kept and is no part of the result.
    """

    keep: Keep = "alphanumeric"
    casefold: bool = True
    skip_layout: bool = False
    cache_dir: Path | None = field(default=None, compare=False)

    def table(self) -> CodePointTable:
        """The code-point table of these options."""
        return load_table(self.keep, self.casefold, self.cache_dir)


@dataclass(frozen=True, slots=True)
class Normalised:
    """A matching copy: ``offsets[i]`` (int32) is the raw index, in code points, where character i of ``text`` begins."""

    text: str
    offsets: NDArray[np.int32]
    raw: str = ""

    def raw_span(self, i: int, j: int) -> tuple[int, int]:
        """The raw range [start, end) of the normalised characters [i, j), combining marks included; i < j."""
        return raw_span(self.raw, self.offsets, i, j)


def raw_span(raw: str, offsets: NDArray[np.int32], i: int, j: int) -> tuple[int, int]:
    """The raw range [start, end) of the normalised characters [i, j) of a text with these ``offsets``; i < j."""
    return int(offsets[i]), with_marks(raw, int(offsets[j - 1]) + 1)


def with_marks(raw: str, end: int) -> int:
    """``end`` moved behind the combining marks and variation selectors that stand there."""
    size = len(raw)
    while end < size and is_mark(raw[end]):
        end += 1
    return end


@lru_cache(maxsize=1 << 16)
def is_mark(char: str) -> bool:
    """Whether a character belongs to the one before it."""
    return not char.isascii() and (unicodedata.category(char) == "Mn" or composes_backwards(char))


def code_points(text: str) -> CodePoints:
    """The code points of ``text`` as uint32; lone surrogates pass."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def from_code_points(points: NDArray[np.uint32]) -> str:
    """The inverse of :func:`code_points`."""
    return points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")


def normalise(raw: str, options: NormaliseOptions | None = None) -> Normalised:
    """NFKC, casefold and filter ``raw``; see :class:`NormaliseOptions`."""
    points, offsets, _ = normalise_many([raw], options or NormaliseOptions())
    return Normalised(from_code_points(points), offsets, raw)


def normalise_many(
    raws: list[str], options: NormaliseOptions
) -> tuple[CodePoints, NDArray[np.int32], NDArray[np.int64]]:
    """Normalise many texts at once.

    Returns the concatenated code points, for each its raw offset within its own text, and the bounds (n + 1).
    """
    table = options.table()
    raw = code_points("".join(raws))
    bounds = _bounds([len(text) for text in raws])
    lengths = np.zeros(len(raws), dtype=np.int64)
    slow = np.zeros(len(raws), dtype=np.uint8)
    kernels.normalise_lengths(raw, bounds, table.entries, table.starts, lengths, slow)
    composed = {int(d): _compose(raws[d], options) for d in np.flatnonzero(slow)}
    for d, (points, _) in composed.items():
        lengths[d] = len(points)
    out_bounds = _bounds(lengths)
    text = np.empty(out_bounds[-1], dtype=np.uint32)
    offsets = np.empty(out_bounds[-1], dtype=np.int32)
    kernels.normalise_fill(
        raw, bounds, table.entries, table.starts, table.tail, slow, out_bounds, text, offsets
    )
    for d, (points, places) in composed.items():
        text[out_bounds[d] : out_bounds[d + 1]] = points
        offsets[out_bounds[d] : out_bounds[d + 1]] = places
    if options.keep == "signs":
        text, offsets, out_bounds = _drop_loose_signs(text, offsets, out_bounds)
    if options.skip_layout:
        return _drop_layout(raws, text, offsets, out_bounds)
    return text, offsets, out_bounds


def _drop_layout(
    raws: list[str], text: CodePoints, offsets: NDArray[np.int32], bounds: NDArray[np.int64]
) -> tuple[CodePoints, NDArray[np.int32], NDArray[np.int64]]:
    """Without the characters of repeated short lines; a text that holds nothing else stays as it is."""
    inner = np.ones(len(text), dtype=bool)
    for d, raw in enumerate(raws):
        spans = layout_spans(raw)
        if not spans:
            continue
        places = offsets[bounds[d] : bounds[d + 1]]
        edges = np.array(spans, dtype=np.int64)
        # A place lies in a span if as many spans have begun before it as none has ended.
        kept = np.searchsorted(edges[:, 0], places, "right") == np.searchsorted(edges[:, 1], places, "right")  # fmt: skip
        if kept.any():
            inner[bounds[d] : bounds[d + 1]] = kept
    before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(inner, dtype=np.int64)))
    return text[inner], offsets[inner], before[bounds]


def _bounds(lengths: list[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))


def _compose(raw: str, options: NormaliseOptions) -> tuple[CodePoints, NDArray[np.int32]]:
    """Whole-string NFKC for texts with composing sequences, cut where nothing composes across the cut."""
    starts = [i for i, c in enumerate(raw) if i == 0 or c.isascii() or not composes_backwards(c)]
    pieces: list[str] = []
    places: list[int] = []
    for start, end in zip(starts, [*starts[1:], len(raw)], strict=True):
        piece = unicodedata.normalize("NFKC", raw[start:end])
        piece = _kept(options.keep, piece.casefold() if options.casefold else piece)
        pieces.append(piece)
        places.extend(_places(raw, start, end, piece, options))
    return code_points("".join(pieces)), np.array(places, dtype=np.int32)


def _places(raw: str, start: int, end: int, piece: str, options: NormaliseOptions) -> list[int]:
    """Where the characters of a composed piece come from: their own raw character where the pieces add up."""
    if end - start > 1:
        alone = [
            _kept(options.keep, text.casefold() if options.casefold else text)
            for text in (unicodedata.normalize("NFKC", c) for c in raw[start:end])
        ]
        if "".join(alone) == piece:
            return [start + i for i, part in enumerate(alone) for _ in part]
    return [start] * len(piece)


_DIGITS = frozenset(range(0x30, 0x3A))


def _drop_loose_signs(
    text: CodePoints, offsets: NDArray[np.int32], bounds: NDArray[np.int64]
) -> tuple[CodePoints, NDArray[np.int32], NDArray[np.int64]]:
    """Of the signs keep a point or colon between digits, a sign before and a percent sign behind a digit."""
    digit = (text >= 0x30) & (text <= 0x39)
    before = np.concatenate((np.zeros(1, dtype=bool), digit[:-1])) if len(text) else digit
    after = np.concatenate((digit[1:], np.zeros(1, dtype=bool))) if len(text) else digit
    inner = np.ones(len(text), dtype=bool)
    edges = bounds[1:-1]
    before[edges[edges < len(text)]] = False
    after[edges[edges > 0] - 1] = False
    for points, rule in (
        (".:/", before & after),
        ("+-−", after & ~before),
        ("%‰‱°", before),
    ):
        inner &= ~np.isin(text, [ord(c) for c in points]) | rule
    kept_before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(inner, dtype=np.int64)))
    minus = text == ord("−")
    text = np.where(minus, np.uint32(ord("-")), text)
    return text[inner], offsets[inner], kept_before[bounds]
