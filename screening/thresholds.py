"""What a run's files say about labelled pairs: the rows of ``thresholds.csv`` and their breakdown in ``run.json``. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from screening import label_names, measuring
from screening.evaluation import LabelledPair, families
from screening.measuring import Record, Scored, Share
from screening.suggest import SUGGESTIONS

if TYPE_CHECKING:
    from screening.documents import InputDocument
    from screening.result import ScreeningResult

POSITIVE = "copy"
LABELS = tuple(code for code in label_names.LABELS if code != "undecided")

HEADER: tuple[str, ...] = (
    "threshold",
    "labelled",
    "found",
    "candidate_recall",
    "tp",
    "fp",
    "fn",
    "precision",
    "recall",
    "tn",
    "f1",
    "positives",
    "families",
    "precision_low",
    "precision_high",
    "recall_low",
    "recall_high",
    "candidate_recall_low",
    "candidate_recall_high",
    "f1_low",
    "f1_high",
)
"""One row for each threshold: copy against every other decided label, by the exact Jaccard. The first nine never move.

``low`` and ``high`` bound the 95 % interval over families.
"""


def scored(result: ScreeningResult, labels: Iterable[LabelledPair]) -> list[Scored]:
    """The labelled pairs whose documents are in the run, each once, with what the run says of them.

    Of a pair that is named twice the last label holds; pairs of a document with itself are left out.
    """
    documents = result.documents
    number = {d.doc_id: i for i, d in enumerate(documents)}
    named: dict[tuple[str, str], str] = {}
    for left, right, word in labels:
        label = {"1": "copy", "0": "not_copy"}.get(word.strip(), word.strip())
        if left != right and left in number and right in number:
            named[min(left, right), max(left, right)] = label
    wanted = {frozenset((number[a], number[b])): (a, b) for a, b in named}
    found: dict[tuple[str, str], tuple[float, str]] = {}
    for row, (pair, score) in enumerate(result.scored_pairs()):
        if pair in wanted:
            found[wanted[pair]] = score, SUGGESTIONS[int(result.table.hint[row])]
    family = families((a, b, label) for (a, b), label in named.items())
    pairs = []
    for (a, b), label in named.items():
        seen = found.get((a, b))
        one, other = documents[number[a]], documents[number[b]]
        source, language = (
            _both(one.source_id, other.source_id),
            _both(_language(one), _language(other)),
        )
        pairs.append(
            Scored(
                a,
                b,
                label,
                family.get(a, a),
                seen[0] if seen else None,
                seen[1] if seen else "",
                source,
                language,
            )
        )
    return pairs


def _language(document: InputDocument) -> object:
    return document.metadata.get("language")


def _both(one: object, other: object) -> str:
    """What both have, or the two in order."""
    return " | ".join(sorted({str(one or ""), str(other or "")} - {""}))


def rows(pairs: Sequence[Scored], thresholds: Sequence[float]) -> Iterator[list[object]]:
    """The rows of ``thresholds.csv``, in rising order; None where a denominator is empty."""
    found = sum(pair.score is not None for pair in measuring.decided(pairs))
    for r in measuring.records(pairs, thresholds, positive=POSITIVE):
        yield [
            r.threshold, r.labelled, found, r.candidate_recall.value, r.tp, r.fp, r.fn, r.precision.value, r.recall.value,
            r.tn, r.f1, r.recall.whole, r.families, *_ends(r.precision), *_ends(r.recall), *_ends(r.candidate_recall),
            r.f1_low, r.f1_high,
        ]  # fmt: skip


def _ends(share: Share) -> tuple[float | None, float | None]:
    return share.low, share.high


def breakdown(pairs: Sequence[Scored], thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """For each threshold the counts of each label against the rest, of each source and language, and every wrong pair."""
    plain = [
        replace(pair, family="") for pair in pairs
    ]  # counts only: intervals stand in the table
    return [
        {
            "threshold": float(threshold),
            "by_label": {
                label: _counts(measuring.records(plain, [threshold], positive=label)[0])
                for label in LABELS
            },
            "by_source": _by(plain, "source", threshold),
            "by_language": _by(plain, "language", threshold),
            "errors": [
                {
                    "left": pair.left,
                    "right": pair.right,
                    "label": pair.label,
                    "jaccard": pair.score,
                    "suggestion": pair.suggestion or None,
                    "why": why,
                }
                for pair, why in measuring.errors(pairs, threshold, POSITIVE)
            ],
        }
        for threshold in sorted(set(thresholds))
    ]


def _by(pairs: Sequence[Scored], name: str, threshold: float) -> dict[str, dict[str, Any]]:
    groups = measuring.by_group(pairs, lambda pair: str(getattr(pair, name)), threshold, POSITIVE)
    return {group: _counts(record) for group, record in groups.items()}


def _counts(record: Record) -> dict[str, Any]:
    return {
        "tp": record.tp,
        "fp": record.fp,
        "fn": record.fn,
        "tn": record.tn,
        "found": record.candidate_recall.part,
        "positives": record.candidate_recall.whole,
        "precision": record.precision.value,
        "recall": record.recall.value,
        "candidate_recall": record.candidate_recall.value,
        "f1": record.f1,
    }
