"""What a run found: tables of numbers, and candidates made from them when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from screening.channels import Pairs, no_pairs, split
from screening.config import CHANNELS, ScreeningConfig
from screening.documents import InputDocument, Problem, Refusal
from screening.evidence.excerpts import Excerpt, closed, shared_runs
from screening.matching import Matcher, Scores
from screening.suggest import SUGGESTIONS
from screening.text.corpus import Corpus
from screening.text.normalise import from_code_points, with_marks

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange

CHANNEL_BITS: Mapping[str, int] = {name: 1 << i for i, name in enumerate(CHANNELS)}
"""The bit of each channel in the ``flags`` of a table."""

EXCERPTS = 5
SHOWN_SHINGLES = 20

SHORT_TEXT = 2000
"""Up to this length a pair without a run of the usual length is searched for shorter ones."""

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
    of the shorter under rare shared grams; how many texts a shared gram typically stands in (0 unknown);
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
            low,
            high,
            np.zeros(n, dtype=np.uint8),
            Scores.none(),
            np.zeros((n, 7), dtype=np.int32),
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
            low=np.concatenate([part.low for part in parts]),
            high=np.concatenate([part.high for part in parts]),
            flags=np.concatenate([part.flags for part in parts]),
            scores=Scores.none(),
            measures=np.concatenate([part.measures for part in parts]),
            runs=np.concatenate([part.runs for part in parts]),
        )

    def select(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> TextPairs:
        """The table of these rows."""
        return TextPairs(
            self.low[rows],
            self.high[rows],
            self.flags[rows],
            self.scores.select(rows),
            self.measures[rows],
            self.runs[rows],
        )


@dataclass(slots=True)
class PairTable:
    """Pairs of documents (indices into ``Corpus.documents``, left < right) in rank order.

    ``text_pair`` is the row of :class:`TextPairs`, -1 where both documents have the same text. ``hint`` is the index of
    the suggestion.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    text_pair: NDArray[np.int64]
    flags: NDArray[np.uint8]
    representative: NDArray[np.bool_]
    note: NDArray[np.uint8]
    hint: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.left)

    def select(self, rows: NDArray[np.int64]) -> PairTable:
        """The table of these rows, in their order."""
        return PairTable(
            self.left[rows],
            self.right[rows],
            self.text_pair[rows],
            self.flags[rows],
            self.representative[rows],
            self.note[rows],
            self.hint[rows],
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
    table = result.table
    picked = np.arange(rows.start, rows.stop, rows.step)
    left, right, pair = table.left[picked], table.right[picked], table.text_pair[picked]
    order = result.corpus.order
    columns = zip(
        rows,
        order[left].tolist(),
        order[right].tolist(),
        (_CHANNEL_NAMES[flags] for flags in table.flags[picked].tolist()),
        *_scores(result, pair),
        _shared_shingles(result, left, right),
        excerpts_of(result.corpus, result.texts, left, right, pair),
        table.hint[picked].tolist(),
        table.representative[picked].tolist(),
        table.note[picked].tolist(),
        strict=True,
    )
    for (
        row,
        a,
        b,
        channels,
        estimate,
        jaccard,
        folded,
        containment,
        shingles,
        spans,
        hint,
        asked,
        note,
    ) in columns:
        facts = result.facts[row] if result.facts else ()
        yield FoundCandidate(
            left=a,
            right=b,
            rank=row + 1,
            channels=channels,
            minhash_estimate=None if estimate != estimate else estimate,
            jaccard=jaccard,
            jaccard_folded=None if folded == jaccard else folded,
            containment=containment,
            simhash_distance=None,
            shared_shingles=shingles,
            excerpts=spans,
            fact_changes=facts,
            suggestion=SUGGESTIONS[hint],
            representative=asked,
            note=NOTES[note],
        )


_CHANNEL_NAMES: tuple[tuple[str, ...], ...] = tuple(
    tuple(name for name, bit in CHANNEL_BITS.items() if flags & bit)
    for flags in range(1 << len(CHANNELS))
)


def _scores(result: ScreeningResult, pair: NDArray[np.int64]) -> list[list[float]]:
    """Estimate (NaN: none), Jaccard, folded Jaccard, containment; equal texts have 1."""
    columns = []
    scores = result.texts.scores
    for values in (scores.estimate, scores.jaccard, scores.jaccard_folded, scores.containment):
        column = np.ones(len(pair), dtype=np.float64)
        if values is scores.estimate and not result.matcher.rows:
            column[:] = np.nan
        column[pair >= 0] = values[pair[pair >= 0]]
        columns.append(column.tolist())
    return columns


def _shared_shingles(
    result: ScreeningResult, left: NDArray[np.int64], right: NDArray[np.int64]
) -> Iterator[tuple[str, ...]]:
    """The first shared distinct shingles of each pair, in the order of the left text."""
    corpus, matcher = result.corpus, result.matcher
    low, high = corpus.class_of[left].astype(np.int64), corpus.class_of[right].astype(np.int64)
    places = matcher.first_shared(low, high, SHOWN_SHINGLES)
    if matcher.words is not None:
        for c, spots in zip(low.tolist(), places.tolist(), strict=True):
            tokens, k = matcher.words.tokens(c), matcher.ks[0]
            yield tuple(" ".join(tokens[p : p + k]) for p in spots if p >= 0)
        return
    widths = [
        matcher.ks[i] for i in np.minimum(matcher.space_of[low], matcher.space_of[high]).tolist()
    ]
    counts = (places >= 0).sum(axis=1).tolist()
    reach = max(widths, default=0)
    starts = corpus.bounds[low][:, None] + np.maximum(places, 0)
    windows = starts[:, :, None] + np.arange(reach)
    last = max(0, len(corpus.points) - 1)
    text = from_code_points(corpus.points[np.minimum(windows, last)].ravel())
    step = SHOWN_SHINGLES * reach
    for row, (k, count) in enumerate(zip(widths, counts, strict=True)):
        base = row * step
        yield tuple([text[at : at + k] for at in range(base, base + count * reach, reach)])


def excerpts_of(
    corpus: Corpus,
    texts: TextPairs,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    pair: NDArray[np.int64],
) -> Iterator[tuple[Excerpt, ...]]:
    """The longest shared passages of pairs of documents in raw offsets; the whole text where it is equal."""
    runs = np.full((len(pair), EXCERPTS, 3), -1, dtype=np.int64)
    inside = pair >= 0
    runs[inside] = texts.runs[pair[inside]]
    swapped = inside.copy()
    swapped[inside] = corpus.class_of[left[inside]] != texts.low[pair[inside]]
    runs[swapped] = runs[swapped][:, :, [1, 0, 2]]
    runs[~inside, 0, :2] = 0
    runs[~inside, 0, 2] = corpus.doc_bounds[left[~inside] + 1] - corpus.doc_bounds[left[~inside]]
    _short_runs(corpus, left, right, runs)
    there = runs[:, :, 2] > 0
    row, at = np.nonzero(there)
    spans = []
    for side, docs in ((0, left), (1, right)):
        first = corpus.doc_bounds[docs[row]] + runs[row, at, side]
        final = first + runs[row, at, 2] - 1
        spans += [corpus.offsets[first].tolist(), (corpus.offsets[final] + 1).tolist()]
    found = zip(*spans, strict=True)
    documents = corpus.documents
    counts = there.sum(axis=1).tolist()
    for n, d, e in zip(counts, left.tolist(), right.tolist(), strict=True):
        a, b = documents[d].raw, documents[e].raw
        yield tuple(
            [
                closed(a, b, ls, with_marks(a, le), rs, with_marks(b, re))
                for ls, le, rs, re in islice(found, n)
            ]
        )


def _short_runs(
    corpus: Corpus, left: NDArray[np.int64], right: NDArray[np.int64], runs: NDArray[np.int64]
) -> None:
    """Fill in shorter passages for pairs of short texts that share none of the usual length."""
    for row in np.flatnonzero(runs[:, 0, 2] <= 0).tolist():
        a, b = int(corpus.class_of[left[row]]), int(corpus.class_of[right[row]])
        if a < 0 or b < 0 or max(corpus.lengths[a], corpus.lengths[b]) > SHORT_TEXT:
            continue
        found = shared_runs(
            corpus.folded[corpus.bounds[a] : corpus.bounds[a + 1]],
            corpus.folded[corpus.bounds[b] : corpus.bounds[b + 1]],
            3,
            EXCERPTS,
        )
        for spot, run in enumerate(found):
            runs[row, spot] = (run.left, run.right, run.length)
