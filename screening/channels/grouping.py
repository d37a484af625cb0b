"""For channels that pair what has something in common: groups of documents as pairs, large groups as stars."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np

from screening import kernels
from screening.channels import Hits, Pairs, join, no_pairs, split
from screening.documents import InputDocument, Problem
from screening.text.corpus import Corpus


def pairs_of_groups(groups: Iterable[list[int]], cap: int) -> tuple[Pairs, int]:
    """All pairs within each group; above ``cap`` members each is joined to the first only. Also: how many groups were."""
    several = [members for members in groups if len(members) > 1]
    if not several:
        return no_pairs(), 0
    sizes = np.array([len(members) for members in several], dtype=np.int64)
    docs = np.array([d for members in several for d in members], dtype=np.int64)
    room = int(np.where(sizes <= cap, sizes * (sizes - 1) // 2, sizes - 1).sum())
    out = np.empty(room, dtype=np.uint64)
    found = kernels.group_pairs(docs, np.cumsum(sizes), cap, out)
    return np.sort(out[:found]), int((sizes > cap).sum())


def alike(corpus: Corpus, key: Callable[[InputDocument], Hashable | None], cap: int) -> Hits:
    """Pairs of *texts* whose documents have the same key; None and '' are no key. A whole channel in one call.

    Texts without a normalised character never pair, and equal texts are left to ``exact``.
    """
    groups: dict[Hashable, list[int]] = {}
    for d, document in enumerate(corpus.documents):
        if corpus.class_of[d] >= 0 and (value := key(document)):
            groups.setdefault(value, []).append(d)
    pairs, large = pairs_of_groups(groups.values(), cap)
    low, high = (corpus.class_of[side].astype(np.int64) for side in split(pairs))
    counts = {"groups": sum(len(members) > 1 for members in groups.values())}
    return Hits(np.unique(join(low, high)[low != high]), counts, _large(large, cap))


def _large(count: int, cap: int) -> list[Problem]:
    if not count:
        return []
    return [
        Problem(
            "large_shared_groups",
            "%(count)s groups hold more than %(cap)s texts each; each text was joined to the first of its group only.",
            {"count": count, "cap": cap},
        )
    ]
