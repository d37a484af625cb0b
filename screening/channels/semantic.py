"""Channel ``semantic``: texts that a model puts close together, whatever their words: the weakest evidence of all.

A cosine knows the topic, not the facts: "may not" and "may" score as high as the same sentence twice. A pair that
only this channel finds is therefore ranked behind every other and is never suggested as a copy or a revision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from screening.channels import Hits, Pairs, no_pairs
from screening.meaning import Model, Vectors, vectors_of

NEIGHBOURS = 10
"""Nearest texts of each text that are looked at: a topic with a thousand texts would pair each with each."""

BLOCK = 1024


def find(
    raws: Sequence[str],
    model: Model,
    *,
    threshold: float = 0.0,
    neighbours: int = NEIGHBOURS,
    tick: Callable[[int, int], object] = lambda done, total: None,
) -> Hits:
    """Pairs of texts (indices of ``raws``) whose cosine reaches ``threshold`` (0: the model's own).

    Each text is paired with at most so many nearest others; how many more there were is in the counts.
    """
    vectors = vectors_of(raws, model, tick)
    least = threshold or model.threshold
    parts: list[Pairs] = [no_pairs()]
    more = 0
    for lo in range(0, len(vectors), BLOCK):
        found, beyond = _near(vectors, lo, min(lo + BLOCK, len(vectors)), least, neighbours)
        parts.append(found)
        more += beyond
    counts = {"texts": len(vectors), "beyond_neighbours": more}
    return Hits(np.unique(np.concatenate(parts)), counts)


def _near(vectors: Vectors, lo: int, hi: int, least: float, neighbours: int) -> tuple[Pairs, int]:
    """Pairs of the texts ``lo`` to ``hi`` with their nearest, and how many near ones were more than ``neighbours``.

    Cosines are rounded, so that the last bit of a sum, which differs between machines, decides nothing.
    """
    cosines = np.round(vectors[lo:hi] @ vectors.T, 4)
    cosines[np.arange(hi - lo), np.arange(lo, hi)] = -1.0
    near = cosines >= least
    count = min(neighbours, len(vectors))
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    rows = np.repeat(np.arange(hi - lo), count)
    columns = order.ravel()
    kept = near[rows, columns]
    one, other = (rows[kept] + lo).astype(np.uint64), columns[kept].astype(np.uint64)
    pairs = (np.minimum(one, other) << np.uint64(32)) | np.maximum(one, other)
    return pairs, int(near.sum()) - int(kept.sum())
