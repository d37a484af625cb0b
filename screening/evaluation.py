"""How well a run finds what people labelled: threshold tables and candidate recall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screening.result import ScreeningResult

POSITIVE = frozenset({"copy"})
"""Labels that a threshold on similarity is to accept; every other decided label is to be rejected."""

FAMILY = frozenset({"copy", "revision", "1"})
"""Labels that make two documents one family: they come from one text, so they must not be split."""

UNDECIDED = frozenset({"undecided", ""})

LabelledPair = tuple[str, str, str]
"""(left doc_id, right doc_id, label) with the labels of the design; ``1`` and ``0`` mean copy and not_copy."""


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """Counts at one threshold over the labelled pairs whose documents are in the run.

    ``labelled`` decided pairs; ``found`` those among the candidates; ``candidate_recall`` found positives / positives;
    ``tp`` and ``fp`` have a similarity of at least ``threshold``, ``fn`` are positives below it or not found. A ratio
    with an empty denominator is None.
    """

    threshold: float
    labelled: int
    found: int
    candidate_recall: float | None
    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None


def threshold_rows(
    result: ScreeningResult, labels: Iterable[LabelledPair] | None, thresholds: Sequence[float]
) -> list[ThresholdRow]:
    """One row for each threshold (in rising order), by the exact Jaccard of the candidates."""
    pairs = decided(labels or ())
    numbers = {d.doc_id: i for i, d in enumerate(result.documents)}
    known = {
        pair: label for pair, label in pairs.items() if pair[0] in numbers and pair[1] in numbers
    }
    wanted = {frozenset((numbers[a], numbers[b])): (a, b) for a, b in known}
    scores: dict[tuple[str, str], float] = {}
    for pair, score in result.scored_pairs():
        if pair in wanted:
            scores[wanted[pair]] = score
    return [threshold_row(known, scores, threshold) for threshold in sorted(thresholds)]


def decided(labels: Iterable[LabelledPair]) -> dict[tuple[str, str], bool]:
    """Pairs in code-point order of doc_id, with whether they are positive; undecided and self pairs are left out."""
    result: dict[tuple[str, str], bool] = {}
    for left, right, label in labels:
        name = {"1": "copy", "0": "not_copy"}.get(label.strip(), label.strip())
        if left != right and name not in UNDECIDED:
            result[(min(left, right), max(left, right))] = name in POSITIVE
    return result


def threshold_row(
    labels: dict[tuple[str, str], bool], scores: dict[tuple[str, str], float], threshold: float
) -> ThresholdRow:
    """Counts at one threshold; ``scores`` holds the labelled pairs that are candidates."""
    above = {pair for pair, score in scores.items() if score >= threshold}
    positives = {pair for pair, positive in labels.items() if positive}
    tp = len(positives & above)
    fp = sum(1 for pair in above if not labels[pair])
    found = sum(1 for pair in positives if pair in scores)
    return ThresholdRow(
        threshold=float(threshold),
        labelled=len(labels),
        found=sum(1 for pair in labels if pair in scores),
        candidate_recall=_ratio(found, len(positives)),
        tp=tp,
        fp=fp,
        fn=len(positives) - tp,
        precision=_ratio(tp, tp + fp),
        recall=_ratio(tp, len(positives)),
    )


def families(labels: Iterable[LabelledPair]) -> dict[str, str]:
    """The family of each document: connected components over copy and revision labels, named by their first doc_id.

    Documents that no such label names are families of their own and not listed.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for left, right, label in labels:
        if label in FAMILY:
            one, other = sorted((root(left), root(right)))
            parent[other] = one
    return {name: root(name) for name in sorted(parent)}


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
