"""Labelled pairs against what a run found: threshold records, intervals by family, errors with their reason. Pure.

An empty denominator gives None, never 0 or 1. Intervals resample families, not pairs: pairs of one family are no
independent observations.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from screening.evaluation import families

Floats = NDArray[np.float64]

RESAMPLES, LEVEL, SEED = 1000, 0.95, 20_260
FEWEST_RESAMPLES, MOST_DRAWN = 100, 5_000_000
BINS = 20


@dataclass(frozen=True, slots=True)
class Scored:
    """A labelled pair and what the run says of it.

    ``score`` is None where the pair was not retrieved; ``suggestion`` is then empty. ``label`` is one of the design's
    or ``not_copy``; ``family`` names what belongs together.
    """

    left: str
    right: str
    label: str
    family: str
    score: float | None
    suggestion: str = ""
    source: str = ""
    language: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """``part`` of ``whole`` with its 95 % interval over families; ``value`` None where ``whole`` is 0."""

    part: int
    whole: int
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None


@dataclass(frozen=True, slots=True)
class Record:
    """Counts at one threshold. ``positives`` have the label looked for, ``found`` those of them that were retrieved.

    A pair counts as accepted when it was retrieved and its score is at least ``threshold``.
    """

    threshold: float
    tp: int
    fp: int
    fn: int
    tn: int
    precision: Share
    recall: Share
    candidate_recall: Share
    f1: float | None
    f1_low: float | None
    f1_high: float | None
    families: int

    @property
    def labelled(self) -> int:
        return self.tp + self.fp + self.fn + self.tn


def decided(pairs: Iterable[Scored]) -> list[Scored]:
    """Without the pairs that nobody could decide."""
    return [pair for pair in pairs if pair.label and pair.label != "undecided"]


def records(
    pairs: Sequence[Scored],
    thresholds: Sequence[float],
    *,
    positive: str = "copy",
    resamples: int = RESAMPLES,
) -> list[Record]:
    """One record for each threshold, rising: pairs labelled ``positive`` against all other decided ones."""
    known = decided(pairs)
    if (
        positive != "copy"
    ):  # what is no copy may be anything, so it says nothing about another label
        known = [pair for pair in known if pair.label != "not_copy"]
    names = sorted({pair.family for pair in known})
    place = {name: n for n, name in enumerate(names)}
    family = np.array([place[pair.family] for pair in known], dtype=np.int64)
    wanted = np.array([pair.label == positive for pair in known], dtype=bool)
    scores = np.array([-1.0 if p.score is None else p.score for p in known], dtype=np.float64)
    drawn = _draws(len(names), resamples)
    return [
        _record(float(t), wanted, scores, family, len(names), drawn)
        for t in sorted(set(thresholds))
    ]


def _draws(count: int, resamples: int) -> Floats:
    """How often each family is drawn, (resamples, families); none where an interval would say nothing.

    Of very many families fewer samples are drawn: the interval of a sum over so many hardly depends on their number, and
    a hundred thousand labels must not need a gigabyte.
    """
    if count < 2 or resamples < 1:
        return np.empty((0, count))
    number = min(resamples, max(FEWEST_RESAMPLES, MOST_DRAWN // count))
    generator = np.random.default_rng(SEED)
    return generator.multinomial(count, np.full(count, 1 / count), number).astype(np.float64)


def _record(
    threshold: float,
    wanted: NDArray[np.bool_],
    scores: Floats,
    family: NDArray[np.int64],
    count: int,
    drawn: Floats,
) -> Record:
    accepted = scores >= threshold

    def by_family(rows: NDArray[np.bool_]) -> Floats:
        return np.bincount(family[rows], minlength=count).astype(np.float64)

    tp, fp = by_family(wanted & accepted), by_family(~wanted & accepted)
    fn, found = by_family(wanted & ~accepted), by_family(wanted & (scores >= 0))
    hits, wrong, missed = (int(part.sum()) for part in (tp, fp, fn))
    f1 = _interval(2 * tp, 2 * tp + fp + fn, drawn)
    below = 2 * hits + wrong + missed
    return Record(
        threshold,
        tp=hits,
        fp=wrong,
        fn=missed,
        tn=len(wanted) - hits - wrong - missed,
        precision=_share(tp, tp + fp, drawn),
        recall=_share(tp, tp + fn, drawn),
        candidate_recall=_share(found, tp + fn, drawn),
        f1=2 * hits / below if below else None,
        f1_low=f1[0],
        f1_high=f1[1],
        families=count,
    )


def _share(part: Floats, whole: Floats, drawn: Floats) -> Share:
    return Share(int(part.sum()), int(whole.sum()), *_interval(part, whole, drawn))


def _interval(part: Floats, whole: Floats, drawn: Floats) -> tuple[float | None, float | None]:
    """Percentile interval of Σ part / Σ whole; None where most draws have no value."""
    if not len(drawn):
        return None, None
    below = drawn @ whole
    values = (drawn @ part)[below > 0] / below[below > 0]
    if len(values) < len(drawn) / 2:
        return None, None
    edge = (1 - LEVEL) / 2
    low, high = np.quantile(values, [edge, 1 - edge])
    return float(low), float(high)


def by_group(
    pairs: Sequence[Scored], group: Callable[[Scored], str], threshold: float, positive: str
) -> dict[str, Record]:
    """The record of each source or language by name; ``group`` gives the name of a pair."""
    parts: dict[str, list[Scored]] = {}
    for pair in pairs:
        parts.setdefault(group(pair), []).append(pair)
    return {name: records(parts[name], [threshold], positive=positive)[0] for name in sorted(parts)}


ERRORS = ("not_retrieved", "below_threshold", "label_differs")


def errors(
    pairs: Iterable[Scored], threshold: float, positive: str = "copy"
) -> list[tuple[Scored, str]]:
    """The pairs that the threshold gets wrong, each with a code of :data:`ERRORS`, in their order."""
    found = []
    for pair in decided(pairs):
        accepted = pair.score is not None and pair.score >= threshold
        if pair.label == positive and not accepted:
            found.append((pair, ERRORS[0] if pair.score is None else ERRORS[1]))
        elif pair.label != positive and accepted:
            found.append((pair, ERRORS[2]))
    return found


def suggestions(pairs: Iterable[Scored]) -> dict[tuple[str, str], int]:
    """How often each label (first) met each suggestion (second; ``independent`` where not retrieved)."""
    return dict(
        Counter(
            (pair.label, pair.suggestion or ("independent" if pair.score is None else "undecided"))
            for pair in decided(pairs)
        )
    )


def histogram(pairs: Iterable[Scored]) -> dict[str, list[int]]:
    """For each label the retrieved pairs in :data:`BINS` equal bins of the score; the last includes 1."""
    bins: dict[str, list[int]] = {}
    for pair in decided(pairs):
        row = bins.setdefault(pair.label, [0] * BINS)
        if pair.score is not None:
            row[min(BINS - 1, int(pair.score * BINS))] += 1
    return bins


def observed_recall(pairs: Iterable[tuple[float, bool]]) -> list[tuple[float, int, int]]:
    """(middle of the bin, retrieved, all) over tenths of the exact score; what the S-curve predicts."""
    bins = [[0, 0] for _ in range(10)]
    for score, retrieved in pairs:
        row = bins[min(9, int(score * 10))]
        row[0] += retrieved
        row[1] += 1
    return [((n + 0.5) / 10, hit, total) for n, (hit, total) in enumerate(bins) if total]


def chance_of_missing(score: float, bands: int, rows: int) -> float:
    """(1 − sʳ)ᵇ: how often two texts of this similarity share no band."""
    return float((1 - score**rows) ** bands)


# --- Tuning and acceptance --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Split:
    """Pairs to tune on and pairs to accept by. ``crossing`` join families of both parts and belong to neither.

    ``shared`` counts documents that stand in both parts: 0, or the split leaks.
    """

    tuning: tuple[Scored, ...]
    acceptance: tuple[Scored, ...]
    crossing: tuple[Scored, ...]
    shared: int


def split(pairs: Sequence[Scored], given: Mapping[str, str] | None = None) -> Split:
    """Halves by family, decided by the name of the family alone, so that more labels move no family.

    ``given`` names the family of documents that a label set names one for; the others are connected by copy and
    revision labels.
    """
    connected = families((p.left, p.right, p.label) for p in pairs)
    named = given or {}
    links = [(d, f"\0{name}", "copy") for d, name in sorted(named.items())]
    if links:
        both = [(p.left, p.right, p.label) for p in pairs]
        connected = families([*both, *links])
    parts: tuple[list[Scored], list[Scored]] = ([], [])
    crossing = []
    for pair in pairs:
        sides = {_half(connected.get(d, d)) for d in (pair.left, pair.right)}
        if len(sides) > 1:
            crossing.append(pair)
        else:
            parts[sides.pop()].append(pair)
    documents = [{d for p in part for d in (p.left, p.right)} for part in parts]
    return Split(
        tuple(parts[0]), tuple(parts[1]), tuple(crossing), len(documents[0] & documents[1])
    )


def _half(family: str) -> int:
    return draw(family)[0] & 1


def draw(name: str) -> bytes:
    """A lot for ``name``, the same everywhere: who is drawn depends on nobody else."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
