"""Agreement between people, beyond chance and with its uncertainty. Pure: no Django.

Every measure is a function of how often each pattern of answers occurs, so a million pairs cost no more than a
thousand, and neither does the bootstrap. Where a measure has no value it is None with a reason: never nan, and never a
0 or 1 that nobody computed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Unit = Mapping[str, str | None] | Sequence[str | None]
"""The answers to one pair: by person, or in the fixed order of the people. None or absent: not answered."""
Floats = npt.NDArray[np.float64]
Formula = Callable[[Floats], Floats]
"""Weights of the patterns, shape (samples, patterns) → values, shape (samples,); nan where undefined."""

RESAMPLES = 1_000
LEVEL = 0.95
SEED = 20_260

NO_ANSWERS = "Not computable: nobody has answered yet."
NO_OVERLAP = "Not computable: no pair has two answers."
ONE_CATEGORY = "Not computable: only one category used."
NOT_TWO_PEOPLE = "Not computable: defined for exactly two people."
UNEVEN = "Not computable: the pairs have different numbers of answers."
LABEL_UNUSED = "Not computable: nobody used this label."


@dataclass(frozen=True)
class Measure:
    """A value with its bootstrap interval. ``n``: pairs it rests on. ``value`` None: undefined, ``reason`` says why.

    ``low`` and ``high`` bound the 95 % percentile interval over resampled pairs; None where it cannot be had.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""

    def as_json(self) -> dict[str, float | int | str | None]:
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Measures:
    """All measures of one table. ``counts``: how often each label was given."""

    percent: Measure
    cohen_kappa: Measure
    fleiss_kappa: Measure
    krippendorff_alpha: Measure
    gwet_ac1: Measure
    per_label: dict[str, Measure]
    counts: dict[str, int]

    def __getitem__(self, name: str) -> Measure:
        measure = getattr(self, name)
        if not isinstance(measure, Measure):
            raise KeyError(name)
        return measure

    def as_json(self) -> dict[str, object]:
        """As in agreement.json of an exported table."""
        named = {name: self[name].as_json() for name in NAMES}
        labels = {label: measure.as_json() for label, measure in self.per_label.items()}
        return {**named, "per_label": labels}


NAMES = ("percent", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")


def measures(
    table: Iterable[Unit],
    *,
    times: Sequence[int] | None = None,
    labels: Sequence[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Measures:
    """Measure the agreement in ``table``: one :data:`Unit` per pair, first blind answers only.

    ``times`` says how many pairs each unit stands for (default 1). Labels are compared as text without surrounding
    blanks. ``labels`` are listed in ``per_label`` even if unused.
    Cohen's kappa is defined for two people in all; for more see :func:`pairwise`. The bootstrap resamples pairs,
    seeded, and gives the same interval whatever the order of the pairs.
    """
    answers = _counted(table, times)
    patterns = _Patterns.of(answers, labels)
    people = sorted({person for unit, _n in answers for person in unit})
    boot = _Bootstrap(resamples, seed)
    return Measures(
        percent=_measure(patterns, _percent, boot),
        cohen_kappa=_cohen_measure(answers, people, boot),
        fleiss_kappa=_fleiss_measure(patterns, boot),
        krippendorff_alpha=_chance_corrected(patterns, _alpha, boot),
        gwet_ac1=_chance_corrected(patterns, _ac1, boot),
        per_label={
            label: _label_measure(patterns, index, boot)
            for index, label in enumerate(patterns.labels)
        },
        counts=patterns.label_counts(),
    )


def pairwise(
    table: Iterable[Unit],
    *,
    times: Sequence[int] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[tuple[str, str], Measure]:
    """Cohen's kappa of every two people, over the pairs that both answered."""
    answers = _counted(table, times)
    people = sorted({person for unit, _n in answers for person in unit})
    boot = _Bootstrap(resamples, seed)
    return {
        pair: _cohen_measure(answers, list(pair), boot)
        for pair in itertools.combinations(people, 2)
    }


Counted = Sequence[tuple[Mapping[str, str], int]]
"""Answers to a pair, and how many pairs were answered so."""


def _counted(table: Iterable[Unit], times: Sequence[int] | None) -> Counted:
    """Equal units together, so that a million pairs stay small in memory."""
    seen: dict[tuple[tuple[str, str], ...], int] = {}
    numbers = itertools.repeat(1) if times is None else times
    for unit, number in zip(table, numbers, strict=times is not None):
        key = tuple(sorted(_answers(unit).items()))
        seen[key] = seen.get(key, 0) + number
    return [(dict(key), number) for key, number in seen.items()]


def confusions(
    table: Iterable[Unit], *, times: Sequence[int] | None = None
) -> dict[tuple[str, str], dict[tuple[str, str], int]]:
    """For every two people, in the order of their names, how often each of their pairs of labels occurred."""
    found: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for unit, number in _counted(table, times):
        for one, other in itertools.combinations(sorted(unit), 2):
            found.setdefault((one, other), Counter())[unit[one], unit[other]] += number
    return {people: dict(cells) for people, cells in sorted(found.items())}


def _answers(unit: Unit) -> dict[str, str]:
    pairs: Iterable[tuple[str, str | None]]
    if isinstance(unit, Mapping):
        pairs = unit.items()
    else:
        pairs = ((f"{index:04}", label) for index, label in enumerate(unit))
    # A trailing blank from an uploaded set is no other opinion.
    return {person: label.strip() for person, label in pairs if label is not None}


@dataclass(frozen=True)
class _Patterns:
    """The table as patterns: ``counts[p, k]`` people gave label k, in ``weights[p]`` pairs."""

    labels: list[str]
    counts: Floats
    weights: Floats

    @classmethod
    def of(cls, answers: Counted, labels: Sequence[str]) -> _Patterns:
        used = {label for unit, _n in answers for label in unit.values()}
        known = [*labels, *sorted(used - set(labels))]
        place = {label: index for index, label in enumerate(known)}
        found: Counter[tuple[int, ...]] = Counter()
        for unit, number in answers:
            row = [0] * len(known)
            for label in unit.values():
                row[place[label]] += 1
            if any(row):
                found[tuple(row)] += number
        rows = sorted(found)
        counts = np.array(rows, dtype=np.float64).reshape(len(rows), len(known))
        return cls(known, counts, np.array([found[row] for row in rows], dtype=np.float64))

    @property
    def sizes(self) -> Floats:
        """Answers per pair, by pattern."""
        return np.asarray(self.counts.sum(axis=1))

    def only(self, keep: npt.NDArray[np.bool_]) -> _Patterns:
        return _Patterns(self.labels, self.counts[keep], self.weights[keep])

    def overlapping(self) -> _Patterns:
        """The pairs with at least two answers: only these say anything about agreement."""
        return self.only(self.sizes >= 2)

    def label_counts(self) -> dict[str, int]:
        totals = self.weights @ self.counts
        return {label: int(total) for label, total in zip(self.labels, totals, strict=True)}

    def pairs(self) -> int:
        return int(self.weights.sum())


@dataclass(frozen=True)
class _Bootstrap:
    resamples: int
    seed: int

    def interval(self, weights: Floats, formula: Formula) -> tuple[float | None, float | None]:
        """The percentile interval of ``formula`` when pairs are drawn anew; None if most draws have no value."""
        n = int(weights.sum())
        if n < 2 or self.resamples < 1:
            return None, None
        generator = np.random.default_rng(self.seed)
        drawn = generator.multinomial(n, weights / n, size=self.resamples).astype(np.float64)
        values = formula(drawn)
        values = values[np.isfinite(values)]
        if len(values) < self.resamples / 2:
            return None, None
        edge = (1 - LEVEL) / 2
        low, high = np.quantile(values, [edge, 1 - edge])
        return float(low), float(high)


def _finish(weights: Floats, formula: Formula, boot: _Bootstrap, reason: str) -> Measure:
    n = int(weights.sum())
    value = float(formula(weights[np.newaxis, :])[0])
    if not np.isfinite(value):
        return Measure(None, None, None, n, reason)
    return Measure(value, *boot.interval(weights, formula), n)


def _undefined(patterns: _Patterns) -> Measure | None:
    if not patterns.pairs():
        return Measure(None, None, None, 0, NO_ANSWERS)
    if not patterns.overlapping().pairs():
        return Measure(None, None, None, 0, NO_OVERLAP)
    return None


def _divide(above: Floats, below: Floats) -> Floats:
    """``above / below``; nan where there is nothing to divide by."""
    # Sums of products of whole numbers: what is zero in exact arithmetic is within rounding of it here.
    empty = np.abs(below) < 1e-12
    return np.where(empty, np.nan, above / np.where(empty, 1.0, below))


def _pair_agreement(counts: Floats) -> Floats:
    """The share of agreeing pairs of people, by pattern: Σₖ rₖ(rₖ−1) / r(r−1)."""
    sizes = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1)).sum(axis=1) / (sizes * (sizes - 1)))


def _percent(patterns: _Patterns) -> Formula:
    agreement = _pair_agreement(patterns.counts)
    return lambda weights: _divide(weights @ agreement, weights.sum(axis=1))


def _measure(
    patterns: _Patterns, make: Callable[[_Patterns], Formula], boot: _Bootstrap
) -> Measure:
    absent = _undefined(patterns)
    if absent is not None:
        return absent
    overlapping = patterns.overlapping()
    return _finish(overlapping.weights, make(overlapping), boot, NO_OVERLAP)


def _chance_corrected(
    patterns: _Patterns, make: Callable[[_Patterns], Formula], boot: _Bootstrap
) -> Measure:
    """A measure that compares with chance, and therefore needs two categories."""
    absent = _undefined(patterns)
    if absent is not None:
        return absent
    used = patterns if make is _ac1 else patterns.overlapping()
    n = patterns.overlapping().pairs()
    if int(((used.weights @ used.counts) > 0).sum()) < 2:
        return Measure(None, None, None, n, ONE_CATEGORY)
    measure = _finish(used.weights, make(used), boot, ONE_CATEGORY)
    return Measure(measure.value, measure.low, measure.high, n, measure.reason)


def _alpha(patterns: _Patterns) -> Formula:
    """Krippendorff's alpha for nominal data, missing answers allowed: 1 − Dₒ/Dₑ over coincidences.

    Source: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C.
    """
    counts = patterns.counts
    disagreement = patterns.sizes * (1 - _pair_agreement(counts))

    def formula(weights: Floats) -> Floats:
        totals = weights @ counts
        n = totals.sum(axis=1)
        observed = _divide(weights @ disagreement, n)
        expected = _divide(n * n - (totals * totals).sum(axis=1), n * (n - 1))
        return 1 - _divide(observed, expected)

    return formula


def _ac1(patterns: _Patterns) -> Formula:
    """Gwet's AC1 for any number of people, missing answers allowed.

    Agreement over pairs with two answers, prevalence over all; the categories are those used. Source: K. L. Gwet,
    Computing inter-rater reliability and its variance in the presence of high agreement (2008).
    """
    used = (patterns.weights @ patterns.counts) > 0
    sizes = patterns.sizes
    shares = patterns.counts[:, used] / sizes[:, np.newaxis]
    several = sizes >= 2
    agreement = np.zeros(len(sizes))
    agreement[several] = _pair_agreement(patterns.counts[several])
    categories = int(used.sum())

    def formula(weights: Floats) -> Floats:
        observed = _divide(weights @ agreement, weights @ several.astype(np.float64))
        prevalence = weights @ shares / weights.sum(axis=1, keepdims=True)
        expected = (prevalence * (1 - prevalence)).sum(axis=1) / (categories - 1)
        return _divide(observed - expected, 1 - expected)

    return formula


def _fleiss(patterns: _Patterns) -> Formula:
    """Fleiss' kappa: every pair has the same number of answers. Source: J. L. Fleiss (1971)."""
    counts = patterns.counts
    agreement = _pair_agreement(counts)

    def formula(weights: Floats) -> Floats:
        totals = weights @ counts
        shares = totals / totals.sum(axis=1, keepdims=True)
        expected = (shares * shares).sum(axis=1)
        observed = weights @ agreement / weights.sum(axis=1)
        return _divide(observed - expected, 1 - expected)

    return formula


def _fleiss_measure(patterns: _Patterns, boot: _Bootstrap) -> Measure:
    absent = _undefined(patterns)
    if absent is not None:
        return absent
    if len(set(patterns.sizes)) > 1:
        return Measure(None, None, None, patterns.pairs(), UNEVEN)
    return _chance_corrected(patterns, _fleiss, boot)


def _cohen_measure(answers: Counted, people: Sequence[str], boot: _Bootstrap) -> Measure:
    """Cohen's kappa of two people over the pairs that both answered. Source: J. Cohen (1960)."""
    if not people:
        return Measure(None, None, None, 0, NO_ANSWERS)
    if len(people) != 2:
        return Measure(None, None, None, 0, NOT_TWO_PEOPLE)
    one, other = people
    found: Counter[tuple[str, str]] = Counter()
    for unit, number in answers:
        if one in unit and other in unit:
            found[unit[one], unit[other]] += number
    if not found:
        return Measure(None, None, None, 0, NO_OVERLAP)
    cells = sorted(found)
    labels = sorted({label for cell in cells for label in cell})
    weights = np.array([found[cell] for cell in cells], dtype=np.float64)
    same = np.array([a == b for a, b in cells], dtype=np.float64)
    first = np.array([[a == label for label in labels] for a, _b in cells], dtype=np.float64)
    second = np.array([[b == label for label in labels] for _a, b in cells], dtype=np.float64)

    def formula(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        expected = ((weights @ first) * (weights @ second)).sum(axis=1) / (n * n)
        return _divide(weights @ same / n - expected, 1 - expected)

    return _finish(weights, formula, boot, ONE_CATEGORY)


def _label_measure(patterns: _Patterns, index: int, boot: _Bootstrap) -> Measure:
    """The agreement on one label: if somebody gave it, how likely is another answer to be the same.

    Specific agreement, Σ r(r−1)/(R−1) over Σ r, R answers to the pair, r of them this label. ``n``: pairs in which
    somebody gave it. Source: Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, 3rd ed., 18.1.
    """
    absent = _undefined(patterns)
    if absent is not None:
        return absent
    overlapping = patterns.overlapping()
    given = overlapping.counts[:, index]
    agreed = given * (given - 1) / (overlapping.sizes - 1)
    n = int(overlapping.weights[given > 0].sum())

    def formula(weights: Floats) -> Floats:
        return _divide(weights @ agreed, weights @ given)

    measure = _finish(overlapping.weights, formula, boot, LABEL_UNUSED)
    return Measure(measure.value, measure.low, measure.high, n, measure.reason)
