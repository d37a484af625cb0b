"""Channel ``exact``: identical bytes or identical normalised texts."""

from __future__ import annotations

import numpy as np

from screening import kernels
from screening.channels import Hits, no_pairs
from screening.documents import Problem
from screening.text.corpus import Corpus


def find(corpus: Corpus, cap: int) -> Hits:
    """Pairs of *documents* with the same normalised text; more than ``cap`` of them form a star, and are reported."""
    sizes = np.diff(corpus.member_bounds)
    several = np.flatnonzero(sizes > 1)
    if not len(several):
        return Hits(no_pairs(), {"groups": 0})
    inside = np.repeat(sizes > 1, sizes)
    docs = corpus.members[inside].astype(np.int64)
    sizes = sizes[several]
    room = int(np.where(sizes <= cap, sizes * (sizes - 1) // 2, sizes - 1).sum())
    out = np.empty(room, dtype=np.uint64)
    found = kernels.group_pairs(docs, np.cumsum(sizes), cap, out)
    large = int((sizes > cap).sum())
    left_out = []
    if large:
        left_out.append(
            Problem(
                "large_groups",
                "%(count)s groups hold more than %(cap)s equal texts (the largest %(largest)s); "
                "each text was joined to the first of its group only.",
                {"count": large, "cap": cap, "largest": int(sizes.max())},
            )
        )
    return Hits(np.sort(out[:found]), {"groups": len(several), "large_groups": large}, left_out)
