"""The pages that set runs against labelled pairs: thresholds, errors, an exhaustive check, runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dedupreview import charts
from dedupreview.people.access import may, person_of, require
from reviews import evaluating as services
from reviews.labels import Label
from reviews.models import LabelSet
from screening import measuring
from screening.config import ConfigError, ScreeningConfig
from screening.figures import funnel_of
from screening.frozen import InputsChanged
from screening.models import Collection, ScreeningRun
from screening.reach import run_for
from screening.runs import RunsError, in_words

DEFAULT_THRESHOLDS = (0.5, 0.7, 0.9)
MOST_ERRORS = 300
LABELS = [str(label) for label in Label.values if label != Label.UNDECIDED]

ERROR_WORDS = {
    "not_retrieved": gettext_lazy("not retrieved"),
    "below_threshold": gettext_lazy("below the threshold"),
    "label_differs": gettext_lazy("the label is another one"),
}
PART_WORDS = {
    "tuning": gettext_lazy("Tuning half"),
    "acceptance": gettext_lazy("Acceptance half"),
    "all": gettext_lazy("All labels"),
}
SCORE_WORDS = {
    "jaccard": gettext_lazy("exact Jaccard"),
    "containment": gettext_lazy("containment"),
    "minhash_estimate": gettext_lazy("MinHash estimate"),
}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "k": [{"k": k, "dynamic_k": []} for k in (3, 5, 7)],
    "num_perm": [{"num_perm": n, "bands": 0, "rows": 0} for n in (64, 128, 256)],
    "bands": [{"bands": b, "rows": r, "num_perm": b * r} for b, r in ((16, 4), (32, 4), (16, 8))],
    "channels": [
        {"channels": ["exact", "minhash"]},
        {"channels": ["exact", "minhash", "passages"]},
        {"channels": ["exact", "doc_number", "minhash", "passages", "templates"]},
    ],
}
"""Experiments that one press starts, by the setting that they vary."""


@require("see_label_sets")
@require_http_methods(["GET", "POST"])
def evaluation(request: HttpRequest, run_id: int) -> HttpResponse:
    """A run against a label set. What is kept for acceptance opens only by a POST with a reason, which is recorded."""
    run = run_for(request, run_id)
    sets = list(run.collection.label_sets.order_by("-pk"))
    chosen = request.GET.get("labels", "")
    label_set = next((s for s in sets if str(s.pk) == chosen), sets[0] if sets else None)
    context: dict[str, Any] = {
        "run": run,
        "collection": run.collection,
        "sets": sets,
        "label_set": label_set,
        "section": "collections",
    }
    if label_set is None or run.state != ScreeningRun.State.DONE:
        return render(request, "reviews/evaluation.html", context)
    part = "tuning"
    if request.method == "POST":
        part = _open(request, run, label_set) or part
    score = _one_of(request.GET.get("score", ""), services.SCORES)
    positive = _one_of(request.GET.get("label", ""), LABELS)
    found = services.labelled(run, label_set, score)
    thresholds = _thresholds(request.GET.get("thresholds", ""))
    context |= _figures(run, found, part, score, positive, thresholds)
    context["looks"] = services.looks(label_set)
    if "exhaustive" in request.GET:
        context |= _exhaustive(run)
    return render(request, "reviews/evaluation.html", context)


def _open(request: HttpRequest, run: ScreeningRun, label_set: LabelSet) -> str:
    """The part that is opened deliberately; empty if it was refused."""
    if not may(request.user, "manage_label_sets"):
        raise Http404
    part = _one_of(request.POST.get("part", ""), ("acceptance", "all"))
    try:
        services.look(
            run=run,
            label_set=label_set,
            part=part,
            reason=request.POST.get("reason", ""),
            actor=person_of(request),
            criterion=_criterion(request) if part == "acceptance" else None,
        )
    except services.EvaluationError as error:
        messages.error(request, str(error))
        return ""
    return part


def _criterion(request: HttpRequest) -> services.Criterion | None:
    """What the form says is to be reached; None if a number is missing."""
    try:
        numbers = [float(request.POST[name]) for name in ("threshold", "recall", "precision")]
    except (KeyError, ValueError):
        return None
    label = request.POST.get("label", "")
    return services.Criterion(label, request.POST.get("score", services.SCORES[0]), *numbers)


def _one_of(value: str, known: Sequence[str]) -> str:
    return value if value in known else known[0]


def _thresholds(text: str) -> list[float]:
    """Numbers of 0 to 1 in a list that a person typed; anything else is passed over."""
    found = set()
    for word in text.replace("，", ",").replace(" ", ",").split(",")[:50]:
        try:
            value = float(word)
        except ValueError:
            continue
        if 0 <= value <= 1:
            found.add(value)
    return sorted(found) or list(DEFAULT_THRESHOLDS)


def _figures(
    run: ScreeningRun,
    found: services.Labelled,
    part: str,
    score: str,
    positive: str,
    thresholds: list[float],
) -> dict[str, Any]:
    pairs = found.part(part)
    threshold = float(run.config.get("threshold", 0.5))
    errors = measuring.errors(pairs, threshold, positive)
    bins = measuring.histogram(pairs)
    fine = measuring.records(pairs, [n / 50 for n in range(51)], positive=positive, resamples=0)
    said = measuring.suggestions(pairs)
    return {
        "part": part,
        "part_words": PART_WORDS[part],
        "found": found,
        "score": score,
        "scores": SCORE_WORDS.items(),
        "positive": positive,
        "labels": [(label, Label(label).label) for label in LABELS],
        "thresholds": ", ".join(f"{t:g}" for t in thresholds),
        "records": measuring.records(pairs, thresholds, positive=positive),
        "by_label": [
            (label, measuring.records(pairs, [threshold], positive=label)[0]) for label in LABELS
        ],
        "by_source": measuring.by_group(pairs, lambda p: p.source, threshold, positive).items(),
        "by_language": measuring.by_group(pairs, lambda p: p.language, threshold, positive).items(),
        "threshold": threshold,
        "errors": [(pair, ERROR_WORDS[why]) for pair, why in errors[:MOST_ERRORS]],
        "error_count": len(errors),
        "seconds": _seconds(run),
        "suggested": [(row, [said.get((row, c), 0) for c in LABELS]) for row in LABELS],
        "histogram": charts.histogram(
            bins, _names(), _("Scores by label"), x_name=str(SCORE_WORDS[score])
        ),
        "bins": bins.items(),
        "edges": [f"{n / measuring.BINS:.2f}" for n in range(measuring.BINS)],
        "curves": _curves(fine),
        "fine": fine[::5],
        "funnel_chart": charts.bars(
            [(r.name, r.number) for r in funnel_of(run.funnel)], _("Funnel")
        ),
        "funnel": funnel_of(run.funnel),
    }


def _names() -> dict[str, object]:
    return {str(label): Label(label).label for label in Label.values} | {
        "not_copy": _("Not a copy")
    }


def _seconds(run: ScreeningRun) -> float | None:
    if run.finished_at is None or run.started_at is None:
        return None
    return (run.finished_at - run.started_at).total_seconds()


def _curves(fine: list[measuring.Record]) -> list[SafeString]:
    """Precision, recall and F1 over the threshold; precision over recall."""
    over = {
        _("precision"): [(r.threshold, r.precision.value) for r in fine],
        _("recall"): [(r.threshold, r.recall.value) for r in fine],
        "F1": [(r.threshold, r.f1) for r in fine],
    }
    both = sorted(
        (r.recall.value, r.precision.value)
        for r in fine
        if r.recall.value is not None and r.precision.value is not None
    )
    return [
        charts.lines(over, _("Precision, recall and F1 over the threshold"), x_name=_("threshold")),
        charts.lines({_("precision"): both}, _("Precision over recall"), x_name=_("recall")),
    ]


def _exhaustive(run: ScreeningRun) -> dict[str, Any]:
    try:
        check = services.exhaustive(run)
    except ConfigError as error:
        return {"check_error": _(error.template) % error.params}
    except (OSError, InputsChanged) as error:
        return {"check_error": in_words(error)}
    config = ScreeningConfig.from_dict(run.config)
    predicted = (
        [(s / 50, 1 - measuring.chance_of_missing(s / 50, *config.banding)) for s in range(51)]
        if "minhash" in config.channels
        else []
    )
    return {
        "check": check,
        "check_chart": charts.lines(
            {_("predicted"): predicted},
            _("S-curve of the banding with what was retrieved"),
            x_name=_("similarity"),
            dots=[(x, hit / total) for x, hit, total in check.curve],
        ),
    }


@require("see_label_sets")
@require_safe
def experiments(request: HttpRequest, collection_id: int) -> HttpResponse:
    """The finished runs of a collection side by side, measured on the tuning half of a label set."""
    collection = get_object_or_404(Collection, pk=collection_id)
    sets = list(collection.label_sets.order_by("-pk"))
    chosen = request.GET.get("labels", "")
    label_set = next((s for s in sets if str(s.pk) == chosen), sets[0] if sets else None)
    finished = collection.runs.filter(state=ScreeningRun.State.DONE).select_related("collection")
    context = {
        "collection": collection,
        "sets": sets,
        "label_set": label_set,
        "trials": services.trials(list(finished.order_by("-pk")[:20]), label_set),
        "varied": services.VARIED,
        "variants": list(VARIANTS),
        "section": "collections",
    }
    return render(request, "reviews/experiments.html", context)


@require("manage_runs")
@require_POST
def start_experiment(request: HttpRequest, run_id: int) -> HttpResponse:
    """Start the runs of one experiment from the configuration of a run."""
    run = run_for(request, run_id)
    changes = VARIANTS.get(request.POST.get("vary", ""))
    if changes is None:
        messages.error(request, _("Unknown experiment."))
        return redirect("reviews:experiments", collection_id=run.collection_id)
    try:
        started = services.start_trials(run, changes, person_of(request))
    except ConfigError as error:
        messages.error(request, _(error.template) % error.params)
    except RunsError as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request,
            _("Runs started: %(n)s. They appear here as they finish.") % {"n": len(started)},
        )
    return redirect("reviews:experiments", collection_id=run.collection_id)
