"""How well people agreed in a round, and how long they took: closed items only, first blind judgments only.

The database counts how often each pattern of answers occurs; the measures are then computed on the patterns, so the
cost of a page does not grow with the memory of a million pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.core.cache import cache
from django.db import connection
from django.db.models import Count, F
from django.db.models.functions import TruncDate
from django.utils.translation import gettext as _

from dedupreview.people.models import Person
from reviews import agreement
from reviews.agreement import Measure, Measures
from reviews.labels import Direction, Label
from reviews.models import Judgment, ReviewItem, ReviewRound

MOST_PEOPLE = 12
"""Of more people, only the confusion of all against all is shown."""

LONGEST_MS = 30 * 60 * 1000
"""A judgment that took longer than half an hour was interrupted: it says nothing about the work."""

KEPT_SECONDS = 24 * 3600

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


def patterns(round: ReviewRound) -> Answers:
    """The counted first judgments of closed items, as patterns with their counts."""
    code = dict(Person.objects.values_list("pk", "code"))
    units, times, directions = [], [], []
    for pattern, number in _pattern_counts(round):
        seats = [seat.split(":") for seat in pattern.split(",")]
        units.append({code[int(person)]: label for person, label, _way in seats})
        directions.append({code[int(person)]: way for person, _label, way in seats if way})
        times.append(number)
    return Answers(units, times, directions)


def _pattern_counts(round: ReviewRound) -> Iterable[tuple[str, int]]:
    """("person:label:direction,…", how many items) of the closed items of a round."""
    seat = "j.annotator_id || ':' || j.label || ':' || j.direction"
    joined = (
        f"string_agg({seat}, ',' ORDER BY j.annotator_id)"
        if connection.vendor == "postgresql"
        else f"group_concat({seat}, ',')"
    )
    query = f"""
        SELECT pattern, COUNT(*) FROM (
            SELECT {joined} AS pattern
            FROM {Judgment._meta.db_table} j
            JOIN {ReviewItem._meta.db_table} i ON i.id = j.item_id
            WHERE i.round_id = %s AND i.state = %s AND j.counted AND j.version = 1
            GROUP BY j.item_id
        ) AS of_items GROUP BY pattern ORDER BY pattern
    """

    def count() -> list[tuple[str, int]]:
        with connection.cursor() as cursor:
            cursor.execute(query, [round.pk, ReviewItem.State.CLOSED.value])
            return list(cursor.fetchall())

    return _kept(round, "patterns", count)


T = TypeVar("T")


def _kept(round: ReviewRound, name: str, count: Callable[[], T]) -> T:
    """What ``count`` gives, remembered until another item is closed.

    A closed item is never opened again and its first judgments never change, so that the number of closed items and the
    moment of the latest tell whether the counts still hold.
    """
    closed = round.items.filter(state=ReviewItem.State.CLOSED)
    latest = closed.order_by("-closed_at").values_list("closed_at", flat=True).first()
    if latest is None:
        return count()
    key = f"concord:{name}:{round.pk}:{closed.count()}:{latest.timestamp()}"
    found: T | None = cache.get(key)
    if found is None:
        found = count()
        cache.set(key, found, KEPT_SECONDS)
    return found


def concord_of(round: ReviewRound) -> Concord:
    """The agreement of a round so far; nothing of an item that is still open."""
    answers = patterns(round)
    labels = [str(label) for label in Label.values]
    people = {code for unit in answers.units for code in unit}
    by_people = (
        agreement.confusions(answers.units, times=answers.times)
        if len(people) <= MOST_PEOPLE
        else {}
    )
    return Concord(
        answers=answers,
        measures=agreement.measures(answers.units, times=answers.times, labels=labels),
        pairwise=agreement.pairwise(answers.units, times=answers.times, resamples=200)
        if 2 < len(people) <= MOST_PEOPLE
        else {},
        confusion=_all_against_all(answers),
        by_people=by_people,
        directions=_directions(answers),
        people=len(people),
        open_items=round.items.exclude(state=ReviewItem.State.CLOSED).count(),
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


def workload(round: ReviewRound) -> Workload:
    """Times of the counted first judgments of closed items, by person; who sees them is for the caller to decide."""
    rows = Judgment.objects.filter(
        item__round=round,
        item__state=ReviewItem.State.CLOSED,
        counted=True,
        version=1,
        active_ms__gt=0,
        active_ms__lte=LONGEST_MS,
    )
    tenths = rows.annotate(tenth=F("active_ms") / 100).values_list("annotator__code", "tenth")
    grouped = tenths.annotate(number=Count("pk")).order_by()
    times: dict[str, Counter[int]] = {}
    for code, tenth, number in _kept(round, "times", lambda: list(grouped)):
        times.setdefault(code, Counter())[int(tenth)] += number
    everything = sum(times.values(), Counter())
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


def closed_by_day(round: ReviewRound) -> list[tuple[str, int]]:
    """(day, items closed until its end)."""
    days = (
        round.items.filter(closed_at__isnull=False)
        .annotate(day=TruncDate("closed_at"))
        .values_list("day")
        .annotate(number=Count("pk"))
        .order_by("day")
    )
    total, found = 0, []
    for day, number in _kept(round, "days", lambda: list(days)):
        total += number
        found.append((day.isoformat(), total))
    return found


def against_suggestions(round: ReviewRound) -> dict[tuple[str, str], int]:
    """(label, suggestion) → how many items closed by agreement; a check of the machine after the fact."""
    rows = Judgment.objects.filter(
        item__round=round,
        item__closed_by=ReviewItem.ClosedBy.AGREEMENT,
        counted=True,
        version=1,
        slot__number=1,
    )
    counts = rows.values_list("label", "item__candidate__suggestion").annotate(number=Count("pk"))
    kept = _kept(round, "suggestions", lambda: list(counts.order_by()))
    return {(label, said): number for label, said, number in kept}


# --- In words ---------------------------------------------------------------------------------------------------------


def figure(measure: Measure) -> str:
    """``0.743 (0.61 – 0.85)``, or 未定义 with the reason, in the active language."""
    if measure.value is None:
        return _("undefined: %(reason)s") % {"reason": _(measure.reason)}
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
