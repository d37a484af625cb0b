"""Script folding: one code point to one, so that places in a folded text are places in the text itself."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_BLOCKS = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0x20000, 0x31350))


@lru_cache(maxsize=1)
def folding_table() -> NDArray[np.uint32]:
    """``table[cp]``: the simplified form of a traditional or variant character, else ``cp``.

    OpenCC's t2s character by character. Without phrases it folds too much (乾安 → 干安): good for finding, never for
    showing. Characters that would become several stay as they are.
    """
    from opencc import OpenCC

    table = np.arange(0x31350, dtype=np.uint32)
    chars = [chr(cp) for low, high in _BLOCKS for cp in range(low, high)]
    converted = OpenCC("t2s").convert("\n".join(chars)).split("\n")
    for char, folded in zip(chars, converted, strict=True):
        if len(folded) == 1 and folded != char:
            table[ord(char)] = ord(unicodedata.normalize("NFKC", folded))
    return table


def fold(points: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Folded copy of normalised code points, same length; the array itself where nothing changes."""
    table = folding_table()
    folded = table[np.minimum(points, np.uint32(len(table) - 1))]
    beyond = points >= len(table)
    if beyond.any():
        folded[beyond] = points[beyond]
    return points if np.array_equal(folded, points) else folded
