"""Every run that texts share with a fixed set of items, exactly: windows of bytes, indexed once and looked up in any text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screening.kernels import kernel, mix64
from screening.text.normalise import NormaliseOptions, normalise_many

PLACES = 64
"""Places of one window among the items that are followed from one place of a text; a bound for periodic texts."""

Bytes = NDArray[np.uint8]


@dataclass(slots=True)
class WindowText:
    """A normalised text: its bytes, the character of each byte, characters, raw offsets."""

    data: Bytes
    char_of: NDArray[np.int64]
    points: NDArray[np.uint32]
    offsets: NDArray[np.int32]


def window_text(raw: str, options: NormaliseOptions) -> WindowText:
    """The text as windows see it."""
    points, offsets, _ = normalise_many([raw], options)
    encoded = points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")
    data = np.frombuffer(encoded.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    return WindowText(data, np.cumsum((data & 0xC0) != 0x80, dtype=np.int64) - 1, points, offsets)


def whole_characters(text: WindowText, at: int, length: int) -> tuple[int, int]:
    """The characters that lie wholly within so many bytes: first and end."""
    first = int(text.char_of[at]) + (int(text.data[at]) & 0xC0 == 0x80)
    end = at + length
    cut = end < len(text.data) and int(text.data[end]) & 0xC0 == 0x80
    return first, int(text.char_of[end - 1]) + (0 if cut else 1)


@dataclass(slots=True)
class WindowIndex:
    """The windows of all items, sorted by hash, and a table of bits that says no quickly."""

    gram: int
    data: Bytes
    bounds: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    places: NDArray[np.int64]
    table: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Sequence[WindowText], gram: int) -> WindowIndex:
        """Index every window of every text that is long enough."""
        lengths = [len(text.data) for text in texts]
        bounds = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        data = np.concatenate([np.empty(0, dtype=np.uint8), *(text.data for text in texts)])
        count = sum(max(0, length - gram + 1) for length in lengths)
        hashes = np.empty(count, dtype=np.uint64)
        places = np.empty(count, dtype=np.int64)
        at = 0
        for start, length in zip(bounds.tolist(), lengths, strict=False):
            many = max(0, length - gram + 1)
            if many:
                _window_hashes(data[start : start + length], gram, hashes[at : at + many])
                places[at : at + many] = np.arange(start, start + many)
                at += many
        order = np.lexsort((places, hashes))
        size = 1 << max(10, int(count * 16).bit_length())
        table = np.zeros(size, dtype=np.uint8)
        table[(hashes & np.uint64(size - 1)).astype(np.int64)] = 1
        return cls(gram, data, bounds, hashes[order], places[order], table)

    def runs(self, text: Bytes) -> dict[int, list[tuple[int, int, int]]]:
        """Maximal shared runs of a window or more, by item: (place in the item, place in the text, length)."""
        if len(text) < self.gram or not len(self.hashes):
            return {}
        own = np.empty(len(text) - self.gram + 1, dtype=np.uint64)
        _window_hashes(text, self.gram, own)
        out = np.empty((1024, 3), dtype=np.int64)
        arguments = (text, own, self.data, self.bounds, self.hashes, self.places, self.table)
        count = _find(*arguments, self.gram, PLACES, out)
        if count > len(out):
            out = np.empty((count, 3), dtype=np.int64)
            _find(*arguments, self.gram, PLACES, out)
        found: dict[int, list[tuple[int, int, int]]] = {}
        items = np.searchsorted(self.bounds, out[:count, 0], side="right") - 1
        for i, (at, place, length) in zip(items.tolist(), out[:count].tolist(), strict=True):
            found.setdefault(i, []).append((at - int(self.bounds[i]), place, length))
        return found


@kernel
def _window_hashes(data: Any, gram: int, out: Any) -> None:
    """A rolling 64-bit hash of every window of ``gram`` bytes; equality is always checked on the bytes."""
    base = np.uint64(0xD6E8FEB86659FD93)
    power = np.uint64(1)
    for _ in range(gram):
        power *= base
    h = np.uint64(0)
    for i in range(data.shape[0]):
        h = h * base + np.uint64(data[i]) + np.uint64(1)
        if i >= gram:
            h -= power * (np.uint64(data[i - gram]) + np.uint64(1))
        if i >= gram - 1:
            out[i - gram + 1] = mix64(h)


@kernel
def _find(
    text: Any,
    own: Any,
    data: Any,
    bounds: Any,
    hashes: Any,
    places: Any,
    table: Any,
    gram: int,
    most: int,
    out: Any,
) -> int:
    """Runs (place among the items, place in the text, length) that begin where they do on both sides; their number."""
    mask = np.uint64(table.shape[0] - 1)
    found = 0
    for i in range(own.shape[0]):
        h = own[i]
        if table[h & mask] == 0:
            continue
        at = np.searchsorted(hashes, h)
        followed = 0
        while at < hashes.shape[0] and hashes[at] == h and followed < most:
            p = places[at]
            at += 1
            followed += 1
            item = np.searchsorted(bounds, p, side="right") - 1
            start, end = bounds[item], bounds[item + 1]
            if i > 0 and p > start and text[i - 1] == data[p - 1]:
                continue  # part of a run that began earlier
            length = 0
            while (
                p + length < end
                and i + length < text.shape[0]
                and text[i + length] == data[p + length]
            ):
                length += 1
            if length >= gram:
                if found < out.shape[0]:
                    out[found, 0], out[found, 1], out[found, 2] = p, i, length
                found += 1
    return found
