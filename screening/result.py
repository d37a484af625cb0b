"""What a run found: tables of numbers, and candidates made from them when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from screening.channels import Pairs, no_pairs, split
from screening.config import CHANNELS, ScreeningConfig
from screening.documents import InputDocument, Problem, Refusal
from screening.evidence.excerpts import Excerpt, Run, raw_excerpt, shared_runs
from screening.matching import Matcher, Scores
from screening.suggest import suggest
from screening.text.corpus import Corpus

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange

CHANNEL_BITS: Mapping[str, int] = {name: 1 << i for i, name in enumerate(CHANNELS)}
"""The bit of each channel in the ``flags`` of a table."""

EXCERPTS = 5
SHOWN_SHINGLES = 20

NOTES: tuple[str, ...] = ("", "equal_copies", "large_family", "same_passage")
"""Why a pair is listed and not asked; the index is stored in ``PairTable.note``."""


@dataclass(frozen=True, slots=True)
class FoundCandidate:
    """A pair that the run found; ``left`` and ``right`` index the documents as they were given to the run.

    ``left`` is the first by (collection, doc_id). ``rank`` counts from 1, the strongest evidence. ``jaccard_folded``
    is None where script folding changes nothing. ``minhash_estimate`` is None without signatures. ``excerpts`` are
    the first five, longest first, in raw code points. ``note`` says why a pair that is no ``representative`` need
    not be asked (a code of :data:`NOTES`).
    """

    left: int
    right: int
    rank: int
    channels: tuple[str, ...]
    minhash_estimate: float | None
    jaccard: float
    jaccard_folded: float | None
    containment: float
    simhash_distance: int | None
    shared_shingles: tuple[str, ...]
    excerpts: tuple[Excerpt, ...]
    fact_changes: tuple[FactChange, ...]
    suggestion: str
    representative: bool
    note: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something the run did not compare or list, and why; ``documents`` are keys (collection, doc_id)."""

    problem: Problem
    documents: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class TextPairs:
    """Pairs of distinct texts with everything measured on them; arrays of one length.

    ``measures`` columns: longest common run; characters of low, of high under shared runs; number of runs; characters
    of the shorter under rare shared grams; least number of texts that a shared gram stands in (0 unknown);
    thousandths of characters under shared grams, each weighed by 1 / (texts it stands in - 1).
    ``runs``: (pairs, 5, 3) the longest runs as (low place, high place, length), -1 beyond.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    flags: NDArray[np.uint8]
    scores: Scores
    measures: NDArray[np.int32]
    runs: NDArray[np.int32]

    @classmethod
    def blank(cls, pairs: Pairs) -> TextPairs:
        """These pairs, not measured or scored yet."""
        low, high = split(pairs)
        n = len(pairs)
        return cls(
            low, high, np.zeros(n, dtype=np.uint8), Scores.none(), np.zeros((n, 7), dtype=np.int32),
            np.full((n, EXCERPTS, 3), -1, dtype=np.int32),
        )

    @classmethod
    def none(cls) -> TextPairs:
        """No pairs."""
        return cls.blank(no_pairs())

    @classmethod
    def concatenate(cls, parts: Sequence[TextPairs]) -> TextPairs:
        """Unscored tables end to end."""
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("low", "high", "flags")),
            Scores.none(),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("measures", "runs")),
        )

    def select(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> TextPairs:
        """The table of these rows."""
        return TextPairs(
            self.low[rows], self.high[rows], self.flags[rows], self.scores.select(rows), self.measures[rows],
            self.runs[rows],
        )


@dataclass(slots=True)
class PairTable:
    """Pairs of documents (indices into ``Corpus.documents``, left < right) in rank order.

    ``text_pair`` is the row of :class:`TextPairs`, -1 where both documents have the same text.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    text_pair: NDArray[np.int64]
    flags: NDArray[np.uint8]
    representative: NDArray[np.bool_]
    note: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.left)

    def select(self, rows: NDArray[np.int64]) -> PairTable:
        """The table of these rows, in their order."""
        return PairTable(
            self.left[rows], self.right[rows], self.text_pair[rows], self.flags[rows], self.representative[rows],
            self.note[rows],
        )


@dataclass(slots=True)
class ScreeningResult:
    """Everything a run found. ``documents`` are as given; ``funnel`` and ``manifest`` are plain JSON values."""

    config: ScreeningConfig
    documents: Sequence[InputDocument]
    corpus: Corpus
    matcher: Matcher
    texts: TextPairs
    table: PairTable
    facts: list[tuple[FactChange, ...]]
    funnel: dict[str, Any]
    left_out: list[LeftOut]
    refusals: Sequence[Refusal]
    manifest: dict[str, Any] = field(default_factory=dict)

    @property
    def candidates(self) -> Candidates:
        """The candidates in rank order."""
        return Candidates(self)

    def scored_pairs(self) -> Iterator[tuple[frozenset[int], float]]:
        """Each candidate's documents (indices as given) and its exact Jaccard, without building candidates."""
        order = self.corpus.order
        scores = np.ones(len(self.table), dtype=np.float64)
        inside = self.table.text_pair >= 0
        scores[inside] = self.texts.scores.jaccard[self.table.text_pair[inside]]
        left, right = order[self.table.left].tolist(), order[self.table.right].tolist()
        for a, b, score in zip(left, right, scores.tolist(), strict=True):
            yield frozenset((a, b)), score


class Candidates(Sequence[FoundCandidate]):
    """The candidates of a result, each built when it is looked at."""

    def __init__(self, result: ScreeningResult) -> None:
        self._result = result

    def __len__(self) -> int:
        return len(self._result.table)

    @overload
    def __getitem__(self, index: int) -> FoundCandidate: ...
    @overload
    def __getitem__(self, index: slice) -> list[FoundCandidate]: ...
    def __getitem__(self, index: int | slice) -> FoundCandidate | list[FoundCandidate]:
        rows = range(len(self))[index]
        if isinstance(rows, range):
            return list(build(self._result, rows))
        return next(build(self._result, range(rows, rows + 1)))

    def __iter__(self) -> Iterator[FoundCandidate]:
        for start in range(0, len(self), 4096):
            yield from build(self._result, range(start, min(start + 4096, len(self))))


def build(result: ScreeningResult, rows: range) -> Iterator[FoundCandidate]:
    """Candidates of these rows of the table."""
    table, texts, corpus = result.table, result.texts, result.corpus
    picked = np.arange(rows.start, rows.stop, rows.step)
    classes = corpus.class_of[table.left[picked]].astype(np.int64), corpus.class_of[table.right[picked]].astype(np.int64)
    places = result.matcher.first_shared(*classes, SHOWN_SHINGLES)
    order = corpus.order
    for position, row in enumerate(rows):
        left, right = int(table.left[row]), int(table.right[row])
        pair = int(table.text_pair[row])
        c_left, c_right = int(classes[0][position]), int(classes[1][position])
        jaccard, folded, containment, estimate = _scores(result, pair, c_left)
        flags = int(table.flags[row])
        facts = result.facts[row] if result.facts else ()
        k = result.matcher.pair_k(c_left, c_right)
        yield FoundCandidate(
            left=int(order[left]),
            right=int(order[right]),
            rank=row + 1,
            channels=tuple(name for name, bit in CHANNEL_BITS.items() if flags & bit),
            minhash_estimate=estimate,
            jaccard=jaccard,
            jaccard_folded=folded,
            containment=containment,
            simhash_distance=None,
            shared_shingles=result.matcher.shingle_texts(c_left, k, places[position]),
            excerpts=pair_excerpts(corpus, texts, pair, left, right, k),
            fact_changes=facts,
            suggestion=suggest(result, row, facts),
            representative=bool(table.representative[row]),
            note=NOTES[int(table.note[row])],
        )


def _scores(result: ScreeningResult, pair: int, text: int) -> tuple[float, float | None, float, float | None]:
    if pair < 0:
        return 1.0, None, 1.0, 1.0 if result.matcher.rows else None
    scores = result.texts.scores
    jaccard, folded = float(scores.jaccard[pair]), float(scores.jaccard_folded[pair])
    estimate = float(scores.estimate[pair])
    return (
        jaccard,
        None if folded == jaccard else folded,
        float(scores.containment[pair]),
        None if estimate != estimate else estimate,
    )


def pair_excerpts(
    corpus: Corpus, texts: TextPairs, pair: int, left: int, right: int, k: int
) -> tuple[Excerpt, ...]:
    """The longest shared passages of two documents in raw offsets; the whole text where it is equal."""
    runs = _runs(corpus, texts, pair, left, right, k)
    l_doc, r_doc = corpus.documents[left], corpus.documents[right]
    l_places = corpus.offsets[corpus.doc_bounds[left] : corpus.doc_bounds[left + 1]]
    r_places = corpus.offsets[corpus.doc_bounds[right] : corpus.doc_bounds[right + 1]]
    return tuple(raw_excerpt(l_doc.raw, l_places, r_doc.raw, r_places, run) for run in runs)


def _runs(corpus: Corpus, texts: TextPairs, pair: int, left: int, right: int, k: int) -> list[Run]:
    if pair < 0:
        return [Run(0, 0, int(corpus.doc_bounds[left + 1] - corpus.doc_bounds[left]))]
    swapped = corpus.class_of[left] != texts.low[pair]
    found = [Run(int(b), int(a), int(n)) if swapped else Run(int(a), int(b), int(n)) for a, b, n in texts.runs[pair] if n > 0]
    if found:
        return found
    low, high = int(corpus.class_of[left]), int(corpus.class_of[right])
    bounds = corpus.bounds
    if max(bounds[low + 1] - bounds[low], bounds[high + 1] - bounds[high]) > 2000:
        return []
    return list(
        shared_runs(
            corpus.folded[bounds[low] : bounds[low + 1]], corpus.folded[bounds[high] : bounds[high + 1]], k, EXCERPTS
        )
    )
