"""Channel ``lines``: lines that stand in many texts of a source are named as boilerplate; texts that share rarer lines pair.

After CCNet (Wenzek et al. 2020, §3.1): lines are normalised, hashed with SHA-1 of which the first eight bytes count, and
counted by shard; here a shard is a source. Digits are kept, where CCNet makes them all 0: two amounts are two facts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.channels import Hits, Pairs, join, no_pairs, split
from screening.documents import Problem
from screening.text.corpus import Corpus, Ints
from screening.text.normalise import code_points

BREAKS = (0x0A, 0x0D, 0x2028, 0x2029)
SHOWN = 200
"""Repeated lines that a report names, the most frequent first."""

SHOWN_CHARACTERS = 200

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class RepeatedLine:
    """A line (normalised, its first 200 characters) that a source has more often than it should: how often, in how many documents."""

    source: str
    text: str
    characters: int
    times: int
    documents: int


@dataclass(frozen=True, slots=True)
class Lines:
    """Every line with a letter or digit. Line i belongs to document ``owner[i]`` and is its normalised characters
    ``start[i]`` to ``end[i]``; ``hashes[i]`` are the first eight bytes of its SHA-1; ``source[i]`` numbers ``sources``."""

    owner: Ints
    start: Ints
    end: Ints
    hashes: Hashes
    source: Ints
    sources: Sequence[str]


@dataclass(slots=True)
class LinesFound:
    """Pairs of *documents*, the repeated lines of each source, and the share of characters that they make up (0 to 1).

    ``marked`` are the rows of ``lines`` that are repeated.
    """

    hits: Hits
    lines: Lines
    marked: NDArray[np.bool_]
    repeated: tuple[RepeatedLine, ...]
    share: float


def line_hash(line: str) -> int:
    """The first eight bytes of the SHA-1 of a normalised line's UTF-8, as a number."""
    data = line.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha1(data, usedforsecurity=False).digest()[:8], "big")


def lines_of(corpus: Corpus) -> Lines:
    """The lines of all documents, as their raw texts are broken, each normalised like its document."""
    names = sorted({d.source_id or "" for d in corpus.documents})
    number = {name: n for n, name in enumerate(names)}
    owners, starts, ends, hashes, sources = [], [], [], [], []
    known: dict[str, int] = {}
    for d, document in enumerate(corpus.documents):
        c = int(corpus.class_of[d])
        if c < 0:
            continue
        text = corpus.text(c)
        edges = _edges(corpus, d)
        for a, b in pairwise(edges):
            if a == b:
                continue
            line = text[a:b]
            h = known.get(line)
            if h is None:
                h = known[line] = line_hash(line)
            owners.append(d)
            starts.append(a)
            ends.append(b)
            hashes.append(h)
            sources.append(number[document.source_id or ""])
    owner, start, end, source = (
        np.array(x, dtype=np.int64) for x in (owners, starts, ends, sources)
    )
    return Lines(owner, start, end, np.array(hashes, dtype=np.uint64), source, names)


def _edges(corpus: Corpus, d: int) -> list[int]:
    """Where the lines of a document begin and end in its normalised characters."""
    first, last = int(corpus.doc_bounds[d]), int(corpus.doc_bounds[d + 1])
    feeds = np.flatnonzero(np.isin(code_points(corpus.documents[d].raw), BREAKS))
    inner = np.searchsorted(corpus.offsets[first:last], feeds)
    return [0, *inner.tolist(), last - first]


def find(corpus: Corpus, *, times: int, least: int, cap: int) -> LinesFound:
    """Count lines by source, name those that stand more than ``times`` times, and pair documents by the others.

    Two documents pair when the different lines that they share, none of them repeated in the source of either, have ``least``
    characters or more in all. A line in more than ``cap`` documents joins each to the first of them only, and is reported.
    """
    lines = lines_of(corpus)
    if not len(lines.owner):
        return LinesFound(Hits(no_pairs()), lines, np.zeros(0, dtype=bool), (), 0.0)
    order = np.lexsort((lines.owner, lines.hashes, lines.source))
    source, hashes = lines.source[order], lines.hashes[order]
    new = (source[1:] != source[:-1]) | (hashes[1:] != hashes[:-1])
    edges = np.concatenate(([0], np.flatnonzero(new) + 1, [len(order)]))
    counts = np.diff(edges)
    marked = np.zeros(len(order), dtype=bool)
    marked[order] = np.repeat(counts > times, counts)
    repeated = _named(corpus, lines, order, edges, times)
    sizes = lines.end - lines.start
    share = float(sizes[marked].sum() / sizes.sum())
    pairs, large = _pairs(lines, ~marked, least, cap)
    counted = {
        "lines": len(lines.owner),
        "distinct_lines": len(np.unique(lines.hashes)),
        "repeated_lines": int((counts > times).sum()),
        "repeated_characters": int(sizes[marked].sum()),
    }
    return LinesFound(Hits(pairs, counted, _report(large, cap)), lines, marked, repeated, share)


def _named(
    corpus: Corpus, lines: Lines, order: Ints, edges: Ints, times: int
) -> tuple[RepeatedLine, ...]:
    """The most frequent lines, most frequent first, then by source and text; ``order`` sorts by source, line, document."""
    counts = np.diff(edges)
    many = np.flatnonzero(counts > times)
    some = many[np.argsort(-counts[many], kind="stable")[:SHOWN]]
    result = []
    for lo, hi in zip(edges[some].tolist(), edges[some + 1].tolist(), strict=True):
        at = int(order[lo])
        text = corpus.text(int(corpus.class_of[lines.owner[at]]))[lines.start[at] : lines.end[at]]
        holders = len(np.unique(lines.owner[order[lo:hi]]))
        name = lines.sources[int(lines.source[at])]
        result.append(RepeatedLine(name, text[:SHOWN_CHARACTERS], len(text), hi - lo, holders))
    return tuple(sorted(result, key=lambda r: (-r.times, r.source, r.text)))


def _pairs(lines: Lines, usable: NDArray[np.bool_], least: int, cap: int) -> tuple[Pairs, int]:
    """Pairs of documents by the characters of the different lines that they share; how many lines were above ``cap``."""
    rows = np.flatnonzero(usable)
    # A line counts once for a document that has it several times.
    order = rows[np.lexsort((lines.owner[rows], lines.hashes[rows]))]
    hashes, owner = lines.hashes[order], lines.owner[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (hashes[1:] != hashes[:-1]) | (owner[1:] != owner[:-1])
    order, hashes, owner = order[fresh], hashes[fresh], owner[fresh]
    if not len(order):
        return no_pairs(), 0
    ends = np.append(np.flatnonzero(hashes[1:] != hashes[:-1]) + 1, len(hashes))
    sizes = np.diff(np.concatenate(([0], ends)))
    several = sizes > 1
    inside = np.repeat(several, sizes)
    pair_counts = np.where(sizes <= cap, sizes * (sizes - 1) // 2, sizes - 1)[several]
    out = np.empty(int(pair_counts.sum()), dtype=np.uint64)
    if not len(out):
        return no_pairs(), 0
    found = kernels.group_pairs(owner[inside], np.cumsum(sizes[several]), cap, out)
    length = (lines.end - lines.start)[order][ends[several] - 1]
    weight = np.repeat(length, pair_counts)
    distinct, which = np.unique(out[:found], return_inverse=True)
    shared = np.bincount(which, weights=weight, minlength=len(distinct))
    return distinct[shared >= least], int((sizes > cap).sum())


def _report(large: int, cap: int) -> list[Problem]:
    if not large:
        return []
    return [
        Problem(
            "common_lines",
            "%(count)s lines stand in more than %(cap)s documents each; "
            "each document was joined to the first that has the line only.",
            {"count": large, "cap": cap},
        )
    ]


def text_pairs(corpus: Corpus, pairs: Pairs) -> Pairs:
    """Pairs of documents as pairs of distinct texts; those of one text are left out."""
    low, high = split(pairs)
    a, b = corpus.class_of[low].astype(np.int64), corpus.class_of[high].astype(np.int64)
    return np.unique(join(a[a != b], b[a != b]))
