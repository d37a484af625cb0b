"""How well people agreed in a round, and how long they took: closed items only, first blind judgments only.

What occurs how often is counted in :mod:`reviews.tallies`; the measures are computed on the patterns of answers, so that
neither time nor memory of a page grows with the pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from dedupreview.people.models import Person
from reviews import agreement
from reviews.agreement import Measure, Measures
from reviews.labels import Direction, Label
from reviews.models import ReviewItem, ReviewRound
from reviews.tallies import Tally, tally_of

UNSETTLED = (ReviewItem.State.OPEN, ReviewItem.State.WAITING, ReviewItem.State.CONFLICT)

NO_DIRECTIONS = "Not computable: no pair has two directions."


@dataclass(frozen=True)
class Answers:
    """Patterns of answers: ``units[i]`` by person code, given in ``times[i]`` closed items; ``directions`` likewise."""

    units: list[dict[str, str]]
    times: list[int]
    directions: list[dict[str, str]]

    @property
    def items(self) -> int:
        return sum(self.times)


@dataclass(frozen=True)
class Concord:
    """Everything that the page of agreement shows. ``confusion``: unordered pairs of answers, both ways counted."""

    answers: Answers
    measures: Measures
    pairwise: dict[tuple[str, str], Measure]
    confusion: dict[tuple[str, str], int]
    by_people: dict[tuple[str, str], dict[tuple[str, str], int]]
    directions: Measure
    people: int
    open_items: int


def answers_of(tally: Tally) -> Answers:
    """The counted first judgments of closed items, as patterns with their counts, by person code.

    Of very many people the codes are not kept: such answers bear ``#1``, ``#2`` and so on.
    """
    code = {str(pk): code for pk, code in Person.objects.values_list("pk", "code")}
    units, times, directions = [], [], []
    for pattern, number in sorted(tally.patterns.items()):
        seats = [
            (code[person] if person else f"#{place}", label, way)
            for place, (person, label, way) in enumerate(pattern, 1)
        ]
        units.append({who: label for who, label, _way in seats})
        directions.append({who: way for who, _label, way in seats if way})
        times.append(number)
    return Answers(units, times, directions)


def concord_of(round: ReviewRound, tally: Tally | None = None) -> Concord:
    """The agreement of a round so far; nothing of an item that is still open."""
    tally = tally or tally_of(round)
    answers = answers_of(tally)
    labels = [str(label) for label in Label.values]
    people = len(tally.people)
    measured = agreement.measures(answers.units, times=answers.times, labels=labels)
    if people > 2:  # the places of unnamed answers are no people
        none = Measure(None, None, None, 0, agreement.NOT_TWO_PEOPLE)
        measured = replace(measured, cohen_kappa=none)
    named = all(person for pattern in tally.patterns for person, _label, _way in pattern)
    return Concord(
        answers=answers,
        measures=measured,
        pairwise=agreement.pairwise(answers.units, times=answers.times, resamples=200)
        if named and people > 2
        else {},
        confusion=_all_against_all(answers),
        by_people=agreement.confusions(answers.units, times=answers.times) if named else {},
        directions=_directions(answers),
        people=people,
        open_items=round.items.filter(state__in=UNSETTLED).count(),
    )


def _all_against_all(answers: Answers) -> dict[tuple[str, str], int]:
    """Ordered pairs of labels that two people gave to one item, each pair of people counted both ways."""
    found: Counter[tuple[str, str]] = Counter()
    for unit, number in zip(answers.units, answers.times, strict=True):
        given = list(unit.values())
        for place, one in enumerate(given):
            for other in given[place + 1 :]:
                found[one, other] += number
                found[other, one] += number
    return dict(found)


def _directions(answers: Answers) -> Measure:
    """The share of pairs of people who name the same direction, where both call it a revision and both know it."""
    known = [
        {p: way for p, way in unit.items() if way != Direction.UNKNOWN}
        for unit in answers.directions
    ]
    percent = agreement.measures(known, times=answers.times, resamples=200).percent
    if percent.value is None:
        return Measure(None, None, None, percent.n, NO_DIRECTIONS)
    return percent


# --- Time ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pace:
    """How long judgments of closed items took. ``name`` is empty for all together; hours of one person are private.

    ``seconds`` is the median of active time, ``per_hour`` pairs in an hour at that pace; None without measured times.
    """

    name: str
    judgments: int
    seconds: float | None

    @property
    def per_hour(self) -> float | None:
        return 3600 / self.seconds if self.seconds else None


@dataclass(frozen=True)
class Workload:
    """``seats_left`` judgments are still to be given, about ``hours_left`` at the median pace."""

    overall: Pace
    people: list[Pace]
    seats_left: int

    @property
    def hours_left(self) -> float | None:
        seconds = self.overall.seconds
        return self.seats_left * seconds / 3600 if seconds is not None else None


def workload(round: ReviewRound, tally: Tally | None = None) -> Workload:
    """Times of the counted first judgments of closed items, by person; who sees them is for the caller to decide."""
    tally = tally or tally_of(round)
    code = dict(Person.objects.filter(pk__in=tally.people).values_list("pk", "code"))
    times: dict[str, Counter[int]] = {}
    everything: Counter[int] = Counter()
    for (person, tenth), number in tally.tenths.items():
        times.setdefault(code[person], Counter())[tenth] += number
        everything[tenth] += number
    unfinished = (ReviewItem.State.OPEN, ReviewItem.State.WAITING)
    live = round.items.filter(state__in=unfinished)
    filled = live.filter(slots__state="filled").count()
    return Workload(
        overall=_pace("", everything),
        people=[_pace(code, some) for code, some in sorted(times.items())],
        seats_left=live.count() * round.judgments_per_item - filled,
    )


def _pace(name: str, tenths: Counter[int]) -> Pace:
    """From how often each tenth of a second occurred; the lower of two middle values."""
    total, seen = sum(tenths.values()), 0
    for tenth in sorted(tenths):
        seen += tenths[tenth]
        if 2 * seen >= total:
            return Pace(name, total, max(tenth, 1) / 10)
    return Pace(name, 0, None)


# --- In words ---------------------------------------------------------------------------------------------------------


def figure(measure: Measure) -> str:
    """``0.743 (0.61 – 0.85)``, or the reason why there is none (“未定义：…”), in the active language."""
    if measure.value is None:
        return _(measure.reason)
    if measure.low is None or measure.high is None:
        return f"{measure.value:.3f}"
    return f"{measure.value:.3f} ({measure.low:.3f} – {measure.high:.3f})"


METHODS = (
    "In the round “%(round)s”, %(items)s pairs were closed after %(seats)s independent judgments each by %(people)s people "
    "who saw neither each other's answers nor, unless the round says otherwise, scores or suggestions; %(open)s pairs were still "
    "open and do not enter. Agreement was computed from the first blind judgment of every seat: observed agreement %(percent)s, "
    "Krippendorff's alpha (nominal) %(alpha)s, Gwet's AC1 %(ac1)s, Fleiss' kappa %(fleiss)s, Cohen's kappa %(cohen)s. "
    "Brackets give 95 %% percentile intervals of %(resamples)s bootstrap samples over pairs. Answers by label: %(labels)s."
)


def methods(round: ReviewRound, found: Concord) -> str:
    """A paragraph for a paper or a report, in the active language, with the figures filled in."""
    measured = found.measures
    return _(METHODS) % {
        "round": round.name,
        "items": found.answers.items,
        "seats": round.judgments_per_item,
        "people": found.people,
        "open": found.open_items,
        "percent": figure(measured.percent),
        "alpha": figure(measured.krippendorff_alpha),
        "ac1": figure(measured.gwet_ac1),
        "fleiss": figure(measured.fleiss_kappa),
        "cohen": figure(measured.cohen_kappa),
        "resamples": agreement.RESAMPLES,
        "labels": _by_label(measured.counts),
    }


def _by_label(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{Label(label).label} {n}" for label, n in counts.items())
