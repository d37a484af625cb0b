"""The order of candidates, and which of them stand for the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from screening.matching import Floats
from screening.config import ScreeningConfig
from screening.result import CHANNEL_BITS, PairTable, TextPairs
from screening.text.corpus import Corpus, Ints


def strength(texts: TextPairs, lengths: Ints) -> Floats:
    """Evidence of each pair of texts, 0 to 1: how much of them is shared and how rare that is."""
    shorter = np.maximum(np.minimum(lengths[texts.low], lengths[texts.high]), 1)
    jaccard = np.maximum(texts.scores.jaccard, texts.scores.jaccard_folded)
    cover = np.minimum(texts.measures[:, 1:3].max(axis=1) / shorter, 1.0)
    exclusive = texts.measures[:, 6] / 1000.0
    passage = exclusive / (exclusive + 60.0)
    result: Floats = np.maximum(jaccard, 0.9 * np.maximum(cover, passage))
    return result


def rank_pairs(corpus: Corpus, texts: TextPairs, table: PairTable, config: ScreeningConfig) -> PairTable:
    """The table in rank order, strongest evidence first; ties by the keys of the documents."""
    strengths = np.ones(len(table), dtype=np.float64)
    inside = table.text_pair >= 0
    if inside.any():
        strengths[inside] = strength(texts, corpus.lengths)[table.text_pair[inside]]
    strengths[table.flags & CHANNEL_BITS["exact"] > 0] = 2.0
    order = np.lexsort((table.right, table.left, -strengths))
    return table.select(order)
