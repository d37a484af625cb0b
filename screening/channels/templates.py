"""Channel ``templates``: the same form with other content, by rare 12-character grams that two texts share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.channels import Hits, Pairs, no_pairs
from screening.documents import Problem
from screening.library import Library
from screening.text.corpus import Corpus
from screening.text.shingles import in_threads, slices


def find(
    corpus: Corpus, *, gram: int, cap: int, share: float, least: int, threads: int
) -> tuple[Hits, NDArray[np.uint8]]:
    """Pairs whose shared rare grams may cover enough of the shorter text, to be measured by the careful stage.

    Also returns, for each place of ``corpus.folded``, in how many texts the gram that begins there stands (0 for one
    text only, at most 255).
    """
    spread = np.zeros(len(corpus.folded), dtype=np.uint8)
    lengths = corpus.lengths
    entries, mask = _sorted_grams(corpus, gram, threads)
    if not len(entries):
        return Hits(no_pairs()), spread
    doc_of = np.repeat(np.arange(corpus.size, dtype=np.int32), lengths)
    none64, none32 = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    groups, postings, above = kernels.rare_postings(
        entries, mask, doc_of, cap, False, spread, none64, none32
    )
    ends = np.empty(groups, dtype=np.int64)
    docs = np.empty(postings, dtype=np.int32)
    kernels.rare_postings(entries, mask, doc_of, cap, True, spread, ends, docs)
    del entries, doc_of
    member_bounds = np.concatenate(
        ([0], np.cumsum(np.bincount(docs, minlength=corpus.size)))
    ).astype(np.int64)
    members = np.empty(postings, dtype=np.int32)
    kernels.invert_postings(ends, docs, member_bounds[:-1].copy(), members)
    def pairs_of(piece: tuple[int, int]) -> Pairs:
        arguments = (
            ends,
            docs,
            member_bounds,
            members,
            lengths,
            gram,
            share,
            least,
            *piece,
            corpus.size,
        )
        out = np.empty(1 << 20, dtype=np.uint64)
        found = kernels.template_pairs(*arguments, out)
        if found > len(out):
            out = np.empty(found, dtype=np.uint64)
            kernels.template_pairs(*arguments, out)
        return np.sort(out[:found])

    with ThreadPoolExecutor(max(1, threads)) as pool:
        parts = list(pool.map(pairs_of, slices(corpus.size, max(1, threads) * 4)))
    left_out = []
    if above:
        left_out.append(
            Problem(
                "common_grams",
                "%(count)s grams of %(gram)s characters stand in more than %(cap)s texts and were left to shading.",
                {"count": int(above), "gram": gram, "cap": cap},
            )
        )
    counts = {"rare_grams": int(groups), "common_grams": int(above)}
    return Hits(np.concatenate(parts), counts, left_out), spread


def _sorted_grams(corpus: Corpus, gram: int, threads: int) -> tuple[NDArray[np.uint64], np.uint64]:
    """Hash and place of every gram in one number each, sorted, and the mask of the hash."""
    bits = max(1, len(corpus.folded).bit_length())
    mask = np.uint64(((1 << 64) - 1) ^ ((1 << bits) - 1))
    firsts = np.concatenate(([0], np.cumsum(np.maximum(corpus.lengths - gram + 1, 0)))).astype(
        np.int64
    )
    entries = np.empty(firsts[-1], dtype=np.uint64)
    in_threads(
        lambda lo, hi: kernels.gram_entries(
            corpus.folded, corpus.bounds, gram, mask, lo, hi, firsts, entries
        ),
        corpus.size,
        threads,
    )
    entries.sort()
    return entries, mask


@dataclass(frozen=True, slots=True)
class Forms:
    """What a template library covers: ``before[i]`` places of the texts, end to end, before place i; ``texts`` it stands in."""

    library: Library
    before: NDArray[np.int64]
    texts: int

    def record(self) -> dict[str, Any]:
        """The version of the library and how much it covers, for the record of the run."""
        return {
            "digest": self.library.digest,
            "entries": len(self.library.entries),
            "texts": self.texts,
            "characters": int(self.before[-1]),
        }


def mask(corpus: Corpus, library: Library | None) -> Forms | None:
    """The places of all texts that the confirmed entries of a library cover; None without any."""
    if library is None or not library.entries:
        return None
    covered = np.zeros(len(corpus.points), dtype=bool)
    texts = 0
    for c in range(corpus.size):
        d = corpus.first(c)
        passages = library.passages(corpus.documents[d].raw)
        texts += bool(passages)
        offsets = corpus.offsets[corpus.doc_bounds[d] : corpus.doc_bounds[d + 1]]
        here = covered[corpus.bounds[c] : corpus.bounds[c + 1]]
        for passage in passages:
            for start, end in passage.fixed:
                here[np.searchsorted(offsets, start) : np.searchsorted(offsets, end)] = True
    before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(covered, dtype=np.int64)))
    return Forms(library, before, texts)
