"""Bloom filters over 128-bit keys: "was this seen before?", with a stated share of wrong yeses and never a wrong no."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screening.kernels import kernel, mix64

ERROR = 0.001
HASHES = 10

Keys = NDArray[np.uint64]
"""(n, 2): 128 bits for each thing."""


def keys_of(texts: Iterable[bytes]) -> Keys:
    """The first 128 bits of SHA-256 of each text."""
    digests = b"".join(hashlib.sha256(text).digest()[:16] for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, 2)


def bits_for(capacity: int, error: float, hashes: int) -> int:
    """Bits that hold ``capacity`` keys at this share of wrong yeses: m = -k n / ln(1 - p^(1/k)), in whole words.

    Source: Bloom 1970; Broder and Mitzenmacher 2004, §2: p = (1 - e^(-kn/m))^k.
    """
    return 64 * ceil(-hashes * capacity / log(1.0 - error ** (1.0 / hashes)) / 64)


@dataclass(slots=True)
class BloomFilter:
    """``bits`` as 64-bit words, ``hashes`` places a key; ``count`` keys were new when they were added.

    Places are h1 + i * h2, mixed: double hashing costs nothing in error (Kirsch and Mitzenmacher 2006).
    """

    capacity: int
    error: float
    hashes: int
    bits: NDArray[np.uint64]
    count: int = 0

    @classmethod
    def empty(cls, capacity: int, error: float = ERROR, hashes: int = HASHES) -> BloomFilter:
        """A filter that keeps its promise up to ``capacity`` keys; 0 < error < 1, 1 to 64 hashes."""
        if capacity < 1 or not 0 < error < 1 or not 1 <= hashes <= 64:
            raise ValueError("capacity from 1, error between 0 and 1, hashes from 1 to 64")
        words = bits_for(capacity, error, hashes) // 64
        return cls(capacity, error, hashes, np.zeros(words, dtype=np.uint64))

    def holds(self, keys: Keys) -> NDArray[np.bool_]:
        """Whether each key was, as far as the filter knows, added before."""
        answers = np.zeros(len(keys), dtype=np.bool_)
        _look(self.bits, keys, self.hashes, False, answers)
        return answers

    def add(self, keys: Keys) -> NDArray[np.bool_]:
        """Add keys in their order; for each whether it was there before, from this call's earlier keys too."""
        answers = np.zeros(len(keys), dtype=np.bool_)
        _look(self.bits, keys, self.hashes, True, answers)
        self.count += int((~answers).sum())
        return answers

    @property
    def error_now(self) -> float:
        """The share of wrong yeses at the present filling: the share of set bits to the power of the hashes."""
        return float((np.bitwise_count(self.bits).sum() / (64 * len(self.bits))) ** self.hashes)


@kernel
def _look(bits: Any, keys: Any, hashes: int, add: bool, answers: Any) -> None:
    size = np.uint64(64 * bits.shape[0])
    for n in range(keys.shape[0]):
        there = True
        step = keys[n, 1] | np.uint64(1)
        at = keys[n, 0]
        for _ in range(hashes):
            place = mix64(at) % size
            word, bit = place >> np.uint64(6), np.uint64(1) << (place & np.uint64(63))
            if bits[word] & bit == np.uint64(0):
                there = False
                if not add:
                    break
                bits[word] |= bit
            at += step
        answers[n] = there
