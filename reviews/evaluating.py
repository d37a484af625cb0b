"""A finished run against a set of labelled pairs: which rows enter, which half, and who looked at the acceptance half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dedupreview.people import audit
from dedupreview.people.models import AuditEvent, Person
from reviews.errors import ReviewError
from reviews.labels import Label
from reviews.models import LabelRow, LabelSet
from screening import frozen, measuring, runs
from screening.config import ScreeningConfig
from screening.evaluation import families
from screening.measuring import Record, Scored, records
from screening.models import Candidate, ScreeningRun
from screening.names import CHANNEL_NAMES
from screening.pipeline import screen

SCORES = ("jaccard", "containment", "minhash_estimate")
"""What a threshold may be put on."""

PARTS = ("tuning", "acceptance", "all")

CHECKED = 600
"""Texts of which an exhaustive check compares all pairs; of more, the first so many by the hash of their id."""

LOOK = "labels.acceptance_look"
CRITERION = "labels.acceptance_criterion"
REASON_MISSING = "Please say why the acceptance half is opened; every look is kept on record."
CRITERION_MISSING = "Please say before the half is opened what is to be reached: a label, a threshold, and the least recall and precision, from 0 to 1."
ELSEWHERE = "This label set belongs to another collection."
NOT_DONE = "The run is not finished."


class EvaluationError(ReviewError):
    """A run cannot be measured so."""


@dataclass(frozen=True)
class Labelled:
    """The rows of a label set that concern a run. ``absent``: rows whose documents were not in the run."""

    split: measuring.Split
    pairs: tuple[Scored, ...]
    absent: int

    def part(self, name: str) -> tuple[Scored, ...]:
        return self.pairs if name == "all" else tuple(getattr(self.split, name))


def labelled(run: ScreeningRun, label_set: LabelSet, score: str = "jaccard") -> Labelled:
    """Every labelled pair with its score in the run.

    :raises EvaluationError: if the label set is of another collection or the run is not finished.
    """
    if label_set.collection_id != run.collection_id:
        raise EvaluationError(ELSEWHERE, code="elsewhere")
    if run.state != ScreeningRun.State.DONE:
        raise EvaluationError(NOT_DONE, code="not_done")
    found = {
        row.pair_id: row
        for row in Candidate.objects.filter(run=run, pair__label_rows__label_set=label_set).only(
            "pair_id", "suggestion", *SCORES
        )
    }
    rows = list(
        label_set.rows.select_related("pair__low", "pair__high").defer(
            "pair__low__raw", "pair__high__raw"
        )
    )
    inside = [row for row in rows if _in_run(row, run)]
    pairs = [_scored(row, found.get(row.pair_id), score) for row in inside]
    given = {d: row.family for row in inside if row.family for d in _names(row)}
    connected = families((p.left, p.right, p.label) for p in pairs)
    named = tuple(
        replace(p, family=row.family or connected.get(p.left, p.left))
        for p, row in zip(pairs, inside, strict=True)
    )
    return Labelled(measuring.split(named, given), named, len(rows) - len(inside))


def _in_run(row: LabelRow, run: ScreeningRun) -> bool:
    """Whether both documents were there when the run fixed its inputs."""
    return max(row.pair.low.created_at, row.pair.high.created_at) <= run.created_at


def _names(row: LabelRow) -> tuple[str, str]:
    one, other = sorted((row.pair.low.doc_id, row.pair.high.doc_id))
    return one, other


def _scored(row: LabelRow, found: Candidate | None, score: str) -> Scored:
    low, high = row.pair.low, row.pair.high
    left, right = _names(row)
    return Scored(
        left=left,
        right=right,
        label=row.label,
        family="",
        score=None if found is None else float(getattr(found, score) or 0.0),
        suggestion=found.suggestion if found else "",
        source=_both(low.source_id, high.source_id),
        language=_both(low.metadata.get("language"), high.metadata.get("language")),
        line=row.line,
    )


def _both(one: Any, other: Any) -> str:
    """What both have, or the two in order."""
    return " | ".join(sorted({str(one or ""), str(other or "")} - {""}))


# --- The acceptance half ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Criterion:
    """What is to be reached on the acceptance half, said before anybody sees it.

    ``label`` against the rest at ``threshold`` of ``score``; ``recall`` and ``precision`` are the least that pass, 0 to 1.
    """

    label: str
    score: str
    threshold: float
    recall: float
    precision: float

    def check(self) -> None:
        """:raises EvaluationError: if it is none."""
        shares = (self.threshold, self.recall, self.precision)
        known = self.label in Label.values and self.score in SCORES
        if not known or self.label == Label.UNDECIDED or not all(0 <= s <= 1 for s in shares):
            raise EvaluationError(CRITERION_MISSING, code="criterion")

    def met_by(self, record: Record) -> bool:
        """Whether both shares are reached; what has no value reaches nothing."""
        recall, precision = record.recall.value, record.precision.value
        if recall is None or precision is None:
            return False
        return recall >= self.recall and precision >= self.precision


def look(
    *,
    run: ScreeningRun,
    label_set: LabelSet,
    part: str,
    reason: str,
    actor: Person,
    criterion: Criterion | None = None,
) -> AuditEvent:
    """Put on record that somebody opens labels that are kept for acceptance, and whether the run passed.

    The criterion goes on record first, then the result. ``part`` "all" is a look, never an acceptance.

    :raises EvaluationError: without a reason, or without a criterion for the acceptance half.
    """
    if not reason.strip():
        raise EvaluationError(REASON_MISSING, code="reason")
    subject: dict[str, Any] = {"subject_type": "label_set", "subject_id": label_set.pk}
    data: dict[str, Any] = {"run": run.pk, "part": part, "reason": reason.strip()[:500]}
    if part == "acceptance":
        if criterion is None:
            raise EvaluationError(CRITERION_MISSING, code="criterion")
        criterion.check()
        pairs = labelled(run, label_set, criterion.score).part(part)
        record = records(pairs, [criterion.threshold], positive=criterion.label)[0]
        data |= {
            "criterion": asdict(criterion),
            "result": _result(record),
            "passed": criterion.met_by(record),
            "looks_before": len(looks(label_set)),
        }
        said = {"run": run.pk, "criterion": asdict(criterion)}
        audit.record(actor=actor, action=CRITERION, data=said, **subject)
    return audit.record(actor=actor, action=LOOK, data=data, **subject)


def _result(record: Record) -> dict[str, Any]:
    return {
        "tp": record.tp,
        "fp": record.fp,
        "fn": record.fn,
        "tn": record.tn,
        "recall": record.recall.value,
        "precision": record.precision.value,
        "candidate_recall": record.candidate_recall.value,
        "families": record.families,
    }


def acceptance_of(run: ScreeningRun) -> AuditEvent | None:
    """The latest opening of an acceptance half for this run; its data says what was to be reached and was."""
    rows = AuditEvent.objects.filter(action=LOOK, data__run=run.pk, data__part="acceptance")
    return rows.order_by("pk").last()


def looks(label_set: LabelSet) -> list[AuditEvent]:
    """Every look at the acceptance half, the latest first."""
    rows = AuditEvent.objects.filter(
        action=LOOK, subject_type="label_set", subject_id=str(label_set.pk)
    )
    return list(rows.select_related("actor").order_by("-pk"))


# --- All pairs of a small collection ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Missed:
    """A pair that reaches the threshold and was not retrieved; ``chance`` is how often banding misses such a pair."""

    left: str
    right: str
    jaccard: float
    chance: float | None


@dataclass(frozen=True)
class Check:
    """All pairs of ``texts`` of ``total`` documents, scored exactly: ``reaching`` reach the threshold."""

    texts: int
    total: int
    threshold: float
    reaching: int
    missed: tuple[Missed, ...]
    curve: tuple[tuple[float, int, int], ...]


def exhaustive(run: ScreeningRun) -> Check:
    """Score every pair of the run's texts (or of a stated sample) and see which the run did not list."""
    config = ScreeningConfig.from_dict(run.config)
    documents, _keys = frozen.documents(runs.run_folder(run), run.collection)
    sample = sorted(documents, key=lambda d: (measuring.draw(d.doc_id), d.doc_id))[:CHECKED]
    result = screen(sample, replace(config, exhaustive=True), facts=False, threads=2)
    names = [d.doc_id for d in sample]
    scored: list[tuple[str, str, float]] = []
    for pair, score in result.scored_pairs():
        if score > 0:
            one, other = sorted(names[n] for n in pair)
            scored.append((one, other, score))
    reaching = [row for row in scored if row[2] >= config.threshold]
    listed = _listed(run, set(names))
    missed = [Missed(a, b, s, _chance(config, s)) for a, b, s in reaching if (a, b) not in listed]
    curve = measuring.observed_recall((s, (a, b) in listed) for a, b, s in scored)
    return Check(
        len(sample),
        len(documents),
        config.threshold,
        len(reaching),
        tuple(sorted(missed, key=lambda m: -m.jaccard)),
        tuple(curve),
    )


def _chance(config: ScreeningConfig, score: float) -> float | None:
    """None without a MinHash join: then nothing was to be found that way."""
    if "minhash" not in config.channels:
        return None
    return measuring.chance_of_missing(score, *config.banding)


def _listed(run: ScreeningRun, names: set[str]) -> set[tuple[str, str]]:
    rows = run.candidates.values_list("pair__low__doc_id", "pair__high__doc_id")
    return {
        (min(a, b), max(a, b))
        for a, b in rows.iterator(chunk_size=10_000)
        if a in names and b in names
    }


# --- Runs side by side ------------------------------------------------------------------------------------------------

VARIED = ("k", "num_perm", "bands", "rows", "threshold", "channels", "unit", "dynamic_k")
"""Settings in which the runs of an experiment usually differ."""


@dataclass(frozen=True)
class Trial:
    """One run among others: its settings, its size, its time and its figures over the tuning half."""

    run: ScreeningRun
    settings: tuple[tuple[str, str], ...]
    seconds: float | None
    record: measuring.Record | None
    retrieved: dict[str, measuring.Share]


def trials(finished: Sequence[ScreeningRun], label_set: LabelSet | None) -> list[Trial]:
    """Runs of one collection side by side, measured on the tuning half only."""
    return [_trial(run, label_set) for run in finished]


def _trial(run: ScreeningRun, label_set: LabelSet | None) -> Trial:
    took = (
        (run.finished_at - run.started_at).total_seconds()
        if run.finished_at and run.started_at
        else None
    )
    record, retrieved = None, {}
    if label_set is not None:
        pairs = labelled(run, label_set).part("tuning")
        threshold = float(run.config.get("threshold", 0.5))
        record = measuring.records(pairs, [threshold], resamples=200)[0]
        for label in sorted({p.label for p in measuring.decided(pairs)}):
            some = [p for p in pairs if p.label == label]
            retrieved[label] = measuring.Share(sum(p.score is not None for p in some), len(some))
    return Trial(run, _settings(run), took, record, retrieved)


def _settings(run: ScreeningRun) -> tuple[tuple[str, str], ...]:
    found = []
    for name in VARIED:
        value = run.config.get(name)
        words = _as_words(name, value) if isinstance(value, list) else str(value)
        found.append((name, words))
    try:
        bands, rows = ScreeningConfig.from_dict(run.config).banding
    except ValueError:
        return tuple(found)
    return tuple((n, str({"bands": bands, "rows": rows}.get(n, v))) for n, v in found)


def _as_words(name: str, value: list[Any]) -> str:
    """A setting that is a list: channels by the names people know, steps as they stand in the configuration."""
    return " · ".join(
        str(CHANNEL_NAMES.get(one, one)) if name == "channels" else str(one) for one in value
    )


def start_trials(
    run: ScreeningRun, changes: Sequence[dict[str, Any]], actor: Person
) -> list[ScreeningRun]:
    """Runs over the same collection with the configuration of ``run``, each with its own change."""
    base = ScreeningConfig.from_dict(run.config)
    started = []
    for change in changes:
        config = ScreeningConfig.from_dict({**base.to_dict(), **change})
        started.append(
            runs.start_run(collection=run.collection, config=config, preset=run.preset, actor=actor)
        )
    return started
