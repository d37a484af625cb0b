"""What a run found: tables of numbers, and candidates made from them when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from screening.beside import Beside, Evidence
from screening.channels import Pairs, no_pairs, split
from screening.columns import EXCERPTS, fingerprints_of, passages_of, scores_of, shingles_of
from screening.config import CHANNELS, ScreeningConfig
from screening.documents import InputDocument, Problem, Refusal
from screening.evidence.excerpts import Excerpt
from screening.matching import Matcher, Scores
from screening.suggest import SUGGESTIONS
from screening.text.corpus import Corpus

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange

CHANNEL_BITS: Mapping[str, int] = {
    name: 1 << i for i, name in enumerate((*CHANNELS, "semantic"))
}
"""The bit of each channel that makes pairs, in the ``flags`` of a table, which has room for sixteen."""

NOTES: tuple[str, ...] = ("", "equal_copies", "large_family", "same_passage")
"""Why a pair is listed and not asked; the index is stored in ``PairTable.note``."""


@dataclass(frozen=True, slots=True)
class FoundCandidate:
    """A pair that the run found; ``left`` and ``right`` index the documents as they were given to the run.

    ``left`` is the first by (collection, doc_id). ``rank`` counts from 1, the strongest evidence. ``jaccard_folded``
    is None where script folding changes nothing. ``minhash_estimate`` is None without signatures. ``excerpts`` are
    the first five, longest first, in raw code points. ``fingerprints`` is what SimHash says where that channel is on and both
    texts have one. ``note`` says why a pair that is no ``representative`` need
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
    fingerprints: Evidence | None = None


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
    flags: NDArray[np.uint16]
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
            np.zeros(n, dtype=np.uint16),
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
    flags: NDArray[np.uint16]
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
    beside: Beside = field(default_factory=Beside)

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
        (CHANNEL_NAMES[flags] for flags in table.flags[picked].tolist()),
        *scores_of(result, pair),
        shingles_of(result, left, right),
        passages_of(result.corpus, result.texts, left, right, pair),
        table.hint[picked].tolist(),
        table.representative[picked].tolist(),
        table.note[picked].tolist(),
        fingerprints_of(result, left, right, pair),
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
        near,
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
            simhash_distance=near.distance if near else None,
            shared_shingles=shingles,
            excerpts=tuple([Excerpt(*span) for span in spans]),
            fact_changes=facts,
            suggestion=SUGGESTIONS[hint],
            representative=asked,
            note=NOTES[note],
            fingerprints=near,
        )


CHANNEL_NAMES: tuple[tuple[str, ...], ...] = tuple(
    tuple(name for name, bit in CHANNEL_BITS.items() if flags & bit)
    for flags in range(1 << len(CHANNEL_BITS))
)
