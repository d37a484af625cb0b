"""Word units: jieba tokens of the normalised text, with a stop-word list that keeps every negation and modal."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

STOP_WORDS: tuple[str, ...] = tuple(
    "的 了 着 地 之 其 此 该 这 那 这些 那些 这个 那个 与 和 及 以及 并 而 且 或 或者 在 于 自 从 由 对 对于 关于 为 为了 "
    "是 有 也 就 都 又 还 等 等等 吗 呢 吧 啊 呀 把 被 给 向 往 以 因 因为 所以 但 但是 如 如果 则 即 我 你 他 她 它 我们 你们 "
    "他们 她们 它们 自己 所 a an the of to in on and or is are".split()
)
"""Frequent words without content. Words that carry negation, obligation or permission (不 未 无 非 不得 禁止 应当 可以 …)
are never in it: removing them would make opposite rules equal."""


@dataclass(slots=True)
class Words:
    """Tokens of many texts: ``symbols`` are 64-bit hashes of words, ``bounds`` cut them into texts."""

    vocabulary: list[str]
    numbers: NDArray[np.int32]
    symbols: NDArray[np.uint64]
    bounds: NDArray[np.int64]

    def tokens(self, text: int) -> list[str]:
        """The words of one text in order."""
        return [self.vocabulary[n] for n in self.numbers[self.bounds[text] : self.bounds[text + 1]]]


def tokens_of(text: str, stop_words: Sequence[str] = ()) -> list[str]:
    """jieba's words of ``text`` (accurate mode, no guessing of new words) without ``stop_words``.

    New-word guessing is off: it depends on the sentence around a word and made equal passages unequal.
    """
    import jieba

    stops = frozenset(stop_words)
    return [word for word in jieba.cut(text, HMM=False) if word not in stops]


def tokenise(texts: Sequence[str], stop_words: Sequence[str] = ()) -> Words:
    """Tokenise every text; equal words have equal symbols in every process (BLAKE2b, 8 bytes)."""
    numbers: list[int] = []
    lengths: list[int] = []
    known: dict[str, int] = {}
    for text in texts:
        words = tokens_of(text, stop_words)
        lengths.append(len(words))
        numbers.extend(known.setdefault(word, len(known)) for word in words)
    hashes = np.array(
        [
            int.from_bytes(
                hashlib.blake2b(w.encode("utf-8", "surrogatepass"), digest_size=8).digest(),
                "little",
            )
            for w in known
        ],
        dtype=np.uint64,
    )
    of_text = np.array(numbers, dtype=np.int32)
    bounds = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))
    return Words(
        list(known), of_text, hashes[of_text] if len(of_text) else np.empty(0, np.uint64), bounds
    )


@lru_cache(maxsize=1)
def dictionary_digest() -> str:
    """SHA-256 of the word list that this process would use, user words included."""
    import jieba

    jieba.initialize()
    digest = hashlib.sha256()
    for word in sorted(jieba.dt.FREQ):
        digest.update(f"{word}\t{jieba.dt.FREQ[word]}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def word_rules(stop_words: Sequence[str]) -> dict[str, Any]:
    """What decides word units: part of the fingerprint, so that two dictionaries never mix."""
    return {
        "dictionary": dictionary_digest(),
        "jieba": version("jieba"),
        "stop_words": sorted(stop_words),
    }
