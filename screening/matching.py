"""MinHash candidates and exact scores over the distinct texts of a run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.channels import Hits, Pairs, join, minhash, no_pairs, split
from screening.config import ScreeningConfig, stratum_value
from screening.documents import InputDocument, Problem
from screening.growing import Kept, known_scores
from screening.text.corpus import Corpus, Ints
from screening.text.shingles import PACKED_K, Shingles, in_threads, shingle, sign
from screening.text.words import Words, tokenise

Floats = NDArray[np.float64]

_NONE = np.empty(0, dtype=np.int64)


@dataclass(slots=True)
class Scores:
    """Exact scores of pairs of texts, arrays of one length.

    ``shared``, ``left_size``, ``right_size`` count distinct shingles. ``jaccard`` is that of the unfolded texts,
    ``jaccard_folded`` that after script folding; ``containment`` is shared / smaller set. ``estimate`` is the share
    of equal signature values (NaN without signatures).
    """

    shared: Ints
    left_size: Ints
    right_size: Ints
    jaccard: Floats
    jaccard_folded: Floats
    containment: Floats
    estimate: Floats

    @classmethod
    def none(cls) -> Scores:
        """Scores of no pairs."""
        counts, floats = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
        return cls(counts, counts, counts, floats, floats, floats, floats)

    def select(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Scores:
        """The scores of these rows; none stay none."""
        if not len(self.shared):
            return self
        return Scores(*(getattr(self, f.name)[rows] for f in fields(self)))


class Scored(NamedTuple):
    """What was counted of pairs of texts, for a later run: ``sizes`` (2, n); ``folded`` NaN where folding changes neither."""

    low: Ints
    high: Ints
    shared: Ints
    sizes: Ints
    folded: Floats


def ratio(shared: Ints, total: Ints) -> Floats:
    """shared / total, 0 where both are 0."""
    return np.divide(shared, total, out=np.zeros(len(shared), dtype=np.float64), where=total > 0)


class Matcher:
    """Shingles and signatures of the texts, one space for every k in use.

    Entries are the distinct texts and, after them, the folded form of every text that folding changes. With lengths
    deciding k, a pair is compared at the smaller k of its two texts.
    """

    def __init__(
        self, corpus: Corpus, config: ScreeningConfig, threads: int, kept: Kept | None = None
    ) -> None:
        self.corpus = corpus
        self.kept = kept
        self.config = config
        self.threads = threads
        changed = np.flatnonzero(corpus.changed)
        self.text_of = np.concatenate((np.arange(corpus.size, dtype=np.int64), changed))
        self.folded_entry = np.arange(corpus.size, dtype=np.int64)
        self.folded_entry[changed] = corpus.size + np.arange(len(changed))
        self.words: Words | None = None
        self.symbols, self.bounds = self._symbols(changed)
        self.ks = sorted({k for _, k in config.dynamic_k}) or [config.k]
        self.space_of = self._own_space()
        packed = config.unit == "char"
        self.spaces: list[Shingles] = [
            shingle(self.symbols, self.bounds, k, packed=packed and k <= PACKED_K)
            for k in self.ks
        ]
        self.rows: list[NDArray[np.uint32]] = []
        self.signed = 0
        self.scored = Scored(_NONE, _NONE, _NONE, np.zeros((2, 0), dtype=np.int64), np.zeros(0))
        self.thresholds = _thresholds(corpus, config)

    def _symbols(self, changed: NDArray[np.int64]) -> tuple[NDArray[np.generic], Ints]:
        corpus = self.corpus
        if self.config.unit == "word":
            texts = [corpus.text(c) for c in range(corpus.size)]
            texts += [corpus.folded_text(int(c)) for c in changed]
            self.words = tokenise(texts, self.config.stop_words)
            return self.words.symbols, self.words.bounds
        if not len(changed):
            return corpus.points, corpus.bounds
        pieces = [corpus.folded[corpus.bounds[c] : corpus.bounds[c + 1]] for c in changed]
        lengths = np.cumsum([len(piece) for piece in pieces])
        return (
            np.concatenate((corpus.points, *pieces)),
            np.concatenate((corpus.bounds, corpus.bounds[-1] + lengths)),
        )

    def _own_space(self) -> NDArray[np.int64]:
        """For each text the index of its k in ``ks``."""
        own = np.zeros(self.corpus.size, dtype=np.int64)
        if not self.config.dynamic_k:
            return own
        lengths = self.corpus.lengths
        undecided = np.ones(len(own), dtype=bool)
        for below, k in self.config.dynamic_k:
            fits = undecided & ((lengths < below) if below else True)
            own[fits] = self.ks.index(k)
            undecided &= ~fits
        return own

    def sign(self) -> None:
        """Compute the signatures of every space, but for those that an earlier run kept."""
        config = self.config
        for space in self.spaces:
            known = self._kept_signatures(space.k)
            self.rows.append(sign(space, config.num_perm, config.seed, self.threads, known))
            self.signed += len(self.text_of) if known is None else int((known[1] < 0).sum())

    def _kept_signatures(self, k: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]] | None:
        """All signatures that are kept, and for each entry its row among them, -1 where it has none."""
        if self.kept is None or not self.kept.parts:
            return None
        stored, plain, folded = self.kept.signatures(k)
        size = self.corpus.size
        number = self.corpus.kept_class[self.text_of]
        row = np.full(len(number), -1, dtype=np.int64)
        old = number >= 0
        row[old] = plain[number[old]]
        old[:size] = False
        row[old] = folded[number[old]]
        return stored, row

    def find(self) -> Hits:
        """Pairs of texts to verify, from every space."""
        bands, width = self.config.banding
        parts: list[Pairs] = [no_pairs()]
        counts: dict[str, int] = {}
        left_out: list[Problem] = []
        for index, (space, rows) in enumerate(zip(self.spaces, self.rows, strict=True)):
            empty = (space.lengths == 0) | (self.space_of[self.text_of] < index)
            hits = minhash.find(
                rows,
                empty,
                bands=bands,
                width=width,
                threshold=float(self.thresholds.min(initial=1.0)),
                exact_below=self.config.exact_below,
                cap=self.config.bucket_cap,
            )
            low, high = split(hits.pairs)
            low, high = self.text_of[low], self.text_of[high]
            own = (np.minimum(self.space_of[low], self.space_of[high]) == index) & (low != high)
            parts.append(join(low[own], high[own]))
            for name, value in hits.counts.items():
                counts[name] = counts.get(name, 0) + value
            left_out += hits.left_out
        return Hits(np.unique(np.concatenate(parts)), counts, left_out)

    def reaches(
        self, low: NDArray[np.int64], high: NDArray[np.int64], scores: Scores
    ) -> NDArray[np.bool_]:
        """Whether a pair, as it is or folded, reaches the threshold of its texts (>= on the exact fraction)."""
        needed = np.minimum(self.thresholds[low], self.thresholds[high])
        verdict: NDArray[np.bool_] = np.maximum(scores.jaccard, scores.jaccard_folded) >= needed
        return verdict

    def score(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> Scores:
        """Exact scores of pairs of texts; what an earlier run kept of them is not computed again."""
        n = len(low)
        shared, sizes = np.zeros(n, dtype=np.int64), np.zeros((2, n), dtype=np.int64)
        folded = np.zeros(n, dtype=np.float64)
        todo = np.ones(n, dtype=bool)
        if self.kept is not None:
            number = self.corpus.kept_class
            at, *values = known_scores(self.kept, number[low], number[high])
            shared[at], sizes[:, at], folded[at] = values
            todo[at] = False
        estimate = np.full(n, np.nan)
        space_of = np.minimum(self.space_of[low], self.space_of[high]) if n else _NONE
        for index, space in enumerate(self.spaces):
            here = space_of == index
            if self.rows:
                estimate[here] = self._estimates(self.rows[index], low[here], high[here])
            new = np.flatnonzero(here & todo)
            left, right = low[new], high[new]
            shared[new] = space.intersections(left, right, self.threads)
            sizes[0, new], sizes[1, new] = space.sizes[left], space.sizes[right]
            folded[new] = self._folded(space, left, right)
        self.scored = Scored(low, high, shared, sizes, folded.copy())
        jaccard = ratio(shared, sizes[0] + sizes[1] - shared)
        unfolded = np.isnan(folded)
        folded[unfolded] = jaccard[unfolded]
        return Scores(
            shared, sizes[0], sizes[1], jaccard, folded, ratio(shared, sizes.min(axis=0)), estimate
        )

    def _folded(self, space: Shingles, left: NDArray[np.int64], right: NDArray[np.int64]) -> Floats:
        """Jaccard after folding; NaN where neither text changes."""
        result = np.full(len(left), np.nan)
        f_left, f_right = self.folded_entry[left], self.folded_entry[right]
        some = np.flatnonzero((f_left != left) | (f_right != right))
        if len(some):
            a, b = f_left[some], f_right[some]
            shared = space.intersections(a, b, self.threads)
            result[some] = ratio(shared, space.sizes[a] + space.sizes[b] - shared)
        return result

    def _estimates(
        self, rows: NDArray[np.uint32], left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> Floats:
        same = np.empty(len(left), dtype=np.int64)
        in_threads(
            lambda lo, hi: kernels.signature_matches(rows, left, right, lo, hi, same),
            len(left),
            self.threads,
        )
        result: Floats = same / rows.shape[1]
        return result

    def first_shared(
        self, low: NDArray[np.int64], high: NDArray[np.int64], shown: int = 20
    ) -> NDArray[np.int32]:
        """Places (symbols of the lower text) of the first shared distinct shingles, -1 beyond: (pairs, shown)."""
        places = np.full((len(low), shown), -1, dtype=np.int32)
        space_of = np.minimum(self.space_of[low], self.space_of[high]) if len(low) else low
        for index, space in enumerate(self.spaces):
            here = np.flatnonzero(space_of == index)
            left, right = low[here], high[here]
            places[here] = self._first_shared(space, left, right, shown)
        return places

    def _first_shared(
        self, space: Shingles, left: NDArray[np.int64], right: NDArray[np.int64], shown: int
    ) -> NDArray[np.int32]:
        space.sort(right, self.threads)
        out = np.empty((len(left), shown), dtype=np.int32)
        in_threads(
            lambda lo, hi: kernels.first_shared(
                self.symbols,
                self.bounds,
                left,
                right,
                space.k,
                space.packed,
                space.keys,
                space.places,
                space.sizes,
                shown,
                lo,
                hi,
                out,
            ),
            len(left),
            self.threads,
        )
        return out

    def pair_k(self, a: int, b: int) -> int:
        """The k at which two texts are compared."""
        return self.ks[int(min(self.space_of[a], self.space_of[b]))]


def _thresholds(corpus: Corpus, config: ScreeningConfig) -> Floats:
    """For each text the lowest threshold of its documents' strata."""
    result = np.full(corpus.size, config.threshold, dtype=np.float64)
    strata = [s for s in config.strata if s.threshold is not None]
    if not strata:
        return result
    result[:] = 2.0
    for d, document in enumerate(corpus.documents):
        c = int(corpus.class_of[d])
        if c >= 0:
            result[c] = min(result[c], _threshold(document, config))
    return result


def _threshold(document: InputDocument, config: ScreeningConfig) -> float:
    for stratum in config.strata:
        if (
            stratum.threshold is not None
            and stratum_value(document, stratum.field) == stratum.value
        ):
            return stratum.threshold
    return config.threshold
