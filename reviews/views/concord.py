"""The page of agreement of a round: for those who oversee it; nothing of items that are still open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_safe

from dedupreview import charts
from dedupreview.people.access import may, require
from reviews import concord as services
from reviews.agreement import Measure
from reviews.labels import Label, label_sign
from reviews.models import ReviewRound
from reviews.tallies import tally_of

LABELS = [str(label) for label in Label.values]


@require("see_rounds")
@require_safe
def agreement(request: HttpRequest, round_id: int) -> HttpResponse:
    """How far people agree, label by label and person by person, and how long they take."""
    round = get_object_or_404(ReviewRound.objects.select_related("collection"), pk=round_id)
    tally = tally_of(round)
    found = services.concord_of(round, tally)
    work = services.workload(round, tally)
    days = tally.closed_by_day()
    private = may(request.user, "manage_rounds")
    context = {
        "round": round,
        "collection": round.collection,
        "found": found,
        "rows": _rows(found),
        "labels": [
            (label, found.measures.counts.get(label, 0), m, services.figure(m))
            for label, m in found.measures.per_label.items()
        ],
        "pairwise": [
            (one, other, m.n, services.figure(m)) for (one, other), m in found.pairwise.items()
        ],
        "confusion": _grid(found.confusion),
        "confusion_chart": _heat(found.confusion, _("Answers to the same pair")),
        "by_people": [
            (one, other, _grid(cells)) for (one, other), cells in found.by_people.items()
        ],
        "signs": {label: label_sign(label) for label in LABELS},
        "direction": (found.directions.n, services.figure(found.directions)),
        "work": work,
        "people": work.people if private else [],
        "days": days,
        "days_chart": _progress(days, round.items.count()),
        "said": _grid(tally.suggestions),
        "methods": _methods(round, found),
        "section": "rounds",
    }
    return render(request, "reviews/agreement.html", context)


def _rows(found: services.Concord) -> list[tuple[str, int, str, str]]:
    measured = found.measures
    named: list[tuple[str, Measure, str]] = [
        (_("Observed agreement"), measured.percent, _("the share of pairs of people who agree")),
        (
            _("Krippendorff's alpha"),
            measured.krippendorff_alpha,
            _("beyond chance, any number of people, gaps allowed"),
        ),
        (_("Gwet's AC1"), measured.gwet_ac1, _("beyond chance, steady when one label prevails")),
        (_("Fleiss' kappa"), measured.fleiss_kappa, _("beyond chance, equally many answers")),
        (_("Cohen's kappa"), measured.cohen_kappa, _("beyond chance, exactly two people")),
    ]
    return [(name, measure.n, services.figure(measure), words) for name, measure, words in named]


def _grid(cells: Mapping[tuple[str, str], int]) -> list[tuple[str, list[int]]]:
    """Rows of a table of all labels against all labels."""
    return [(row, [cells.get((row, column), 0) for column in LABELS]) for row in LABELS]


def _heat(cells: Mapping[tuple[str, str], int], title: str) -> SafeString:
    named = {(label_sign(a), label_sign(b)): number for (a, b), number in cells.items()}
    signs = [label_sign(label) for label in LABELS]
    return charts.heat(signs, signs, named, title)


def _progress(days: list[tuple[str, int]], items: int) -> SafeString | str:
    if len(days) < 2:
        return ""
    last = len(days) - 1
    points = [(n / last, closed / max(1, items)) for n, (_day, closed) in enumerate(days)]
    return charts.lines(
        {"": points},
        _("Closed pairs over time"),
        x_name=_("day"),
        x_ends=(days[0][0], days[-1][0]),
        y_ends=("0", str(items)),
    )


def _methods(round: ReviewRound, found: services.Concord) -> list[tuple[str, Any]]:
    """The paragraph in both languages, whatever the reader's."""
    both = []
    for code in ("zh-hans", "en"):
        with override(code):
            both.append((code, services.methods(round, found)))
    return both
