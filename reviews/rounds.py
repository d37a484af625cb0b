"""Opening a round, its people, its guideline and its progress."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Max, OuterRef, Subquery
from django.utils import timezone

from dedupreview.people import audit
from dedupreview.people.models import Person, Role
from reviews import guidelines, samechange
from reviews.errors import ReviewError
from reviews.models import (
    GuidelineVersion,
    Judgment,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    RoundMember,
)
from reviews.quality import Quality, mark_gold, with_gold
from reviews.selection import Chosen, Selection, choose, in_family_order
from screening.models import Membership, ScreeningRun

CHUNK = 2_000
"""Rows written at once."""
SECONDS_PER_ITEM = 45
"""Assumed until people have judged ``ENOUGH`` pairs."""
ENOUGH, RECENT = 20, 1_000

RUN_NOT_DONE = "The screening run is not finished, so it has no pairs to review."
NO_PAIRS = "There are no pairs to review."
ALL_DECIDED = (
    "All pairs of this run are decided already. They are asked again only on explicit request."
)
TOO_FEW_PEOPLE = "%(judgments)s judgments per pair need at least %(judgments)s annotators."
SEATS_1_TO_9 = "A pair can have 1 to 9 judgments."
NO_ARBITRATOR = "A round needs at least one arbitrator."
BOTH_PARTS = "%(name)s cannot both judge and arbitrate in one round."
TWICE = "%(name)s is named twice."
INACTIVE = "%(name)s is deactivated."
READS_ONLY = "%(name)s is an auditor and only reads."
NAME_MISSING = "Please give the round a name."
LIMIT_POSITIVE = "The number of pairs must be at least 1."
GUIDELINE_EMPTY = "The guideline is empty."
UNKNOWN_STATE = "Unknown state: %(state)s"
STILL_OPEN = "%(number)s pairs are not settled yet."


class RoundError(ReviewError):
    """A round could not be opened or changed."""


@dataclass(frozen=True)
class Workload:
    """What a round asks of people. ``seconds_per_item`` is the median reading time so far, else an assumption."""

    pairs: int
    seats: int
    seconds_per_item: int
    hours_per_person: float


@dataclass(frozen=True)
class Progress:
    """Counts from the rows themselves; ``items == open + waiting + conflict + closed``, always."""

    items: int
    open: int
    waiting: int
    conflict: int
    closed: int
    by_agreement: int
    by_arbitration: int
    seats: int
    filled: int

    @property
    def percent_closed(self) -> int:
        """Closed items in whole percent, rounded down, so that 100 means all of them."""
        return 100 * self.closed // self.items if self.items else 0


def workload(
    *,
    run: ScreeningRun,
    people: int,
    judgments: int = 2,
    limit: int | None = None,
    selection: Selection | None = None,
) -> Workload:
    """What a round over the pairs that :func:`open_round` would take asks of ``people`` annotators."""
    pairs = len(choose(run, _selection(selection, limit)).pairs)
    seats = pairs * judgments
    seconds = seconds_per_item()
    hours = seats * seconds / 3600 / people if people else 0.0
    return Workload(pairs, seats, seconds, round(hours, 1))


def seconds_per_item() -> int:
    """The median active reading time of the latest judgments, in seconds; 45 while there are fewer than 20."""
    times = Judgment.objects.filter(active_ms__isnull=False).order_by("-created_at")
    latest = list(times.values_list("active_ms", flat=True)[:RECENT])
    if len(latest) < ENOUGH:
        return SECONDS_PER_ITEM
    return max(1, round(statistics.median(int(value or 0) for value in latest) / 1000))


def open_round(
    *,
    run: ScreeningRun,
    name: str,
    annotators: Sequence[Person],
    arbitrators: Sequence[Person],
    judgments: int = 2,
    guideline: str = "",
    limit: int | None = None,
    order_seed: int = 1,
    show_scores: bool = False,
    selection: Selection | None = None,
    quality: Quality | None = None,
    actor: Person | None = None,
) -> ReviewRound:
    """Open a round over pairs of a finished run: by default all that are informative and not decided yet.

    ``selection`` narrows, samples or asks decided pairs again; ``quality`` hides known answers, makes the round a calibration, or
    sets a deadline; ``limit`` takes the best ranks only. Related texts stay together: pairs that share a document form a family; ``order_seed`` decides the order of the
    families, rank the order within one. Everybody named gets access to the collection.

    :raises RoundError: if the run is not finished or has no pairs, or the people do not fit.
    """
    if not name.strip():
        raise RoundError(NAME_MISSING, code="name")
    if limit is not None and limit < 1:
        raise RoundError(LIMIT_POSITIVE, code="limit")
    if run.state != ScreeningRun.State.DONE:
        raise RoundError(RUN_NOT_DONE, code="run_not_done")
    quality = quality or Quality()
    quality.check(len(annotators))
    if quality.pass_mark is not None:
        judgments = len(annotators)
    check_people(annotators=annotators, arbitrators=arbitrators, judgments=judgments)
    wanted = _selection(selection, limit)
    choice = choose(run, wanted)
    choice.pairs, known = with_gold(run, choice.pairs, quality, order_seed)
    ordered = in_family_order(choice.pairs, order_seed, samechange.signatures(choice.pairs))
    if not ordered:
        decided = choice.left_out["decided"] > 0
        raise RoundError(ALL_DECIDED if decided else NO_PAIRS, code="no_pairs")
    with transaction.atomic():
        opened = ReviewRound.objects.create(
            collection=run.collection,
            run=run,
            name=name.strip()[:200],
            judgments_per_item=judgments,
            order_seed=order_seed,
            show_scores=show_scores,
            selection={**wanted.to_dict(), "left_out": choice.left_out},
            created_by=actor,
            **quality.fields(),
        )
        text = guideline.strip() or guidelines.DEFAULT_TEXT
        _write_guideline(opened, 1, text, actor)
        for person in annotators:
            join(opened, person, RoundMember.Part.ANNOTATOR)
        for person in arbitrators:
            join(opened, person, RoundMember.Part.ARBITRATOR)
        _create_items(opened, ordered)
        mark_gold(opened, known)
        audit.record(
            actor=actor,
            action="round.open",
            subject_type="round",
            subject_id=opened.pk,
            data={
                "run": run.pk,
                "pairs": len(ordered),
                "judgments": judgments,
                "order_seed": order_seed,
                "annotators": sorted(person.code for person in annotators),
                "arbitrators": sorted(person.code for person in arbitrators),
            },
        )
    return opened


def _selection(selection: Selection | None, limit: int | None) -> Selection:
    wanted = selection or Selection()
    return wanted if limit is None else replace(wanted, limit=limit)


def people_faults(
    *, annotators: Sequence[Person], arbitrators: Sequence[Person], judgments: int
) -> list[RoundError]:
    """Everything that is wrong with the people of a round to be; empty if nothing is."""
    faults: list[RoundError] = []
    if not 1 <= judgments <= 9:
        faults.append(RoundError(SEATS_1_TO_9, code="judgments"))
    elif len(annotators) < judgments:
        faults.append(RoundError(TOO_FEW_PEOPLE, {"judgments": judgments}, code="too_few_people"))
    if not arbitrators:
        faults.append(RoundError(NO_ARBITRATOR, code="no_arbitrator"))
    seen: set[int] = set()
    for part in (annotators, arbitrators):
        for person in part:
            named = {"name": person.username}
            if person.pk in seen:
                both = part is arbitrators and person in annotators
                faults.append(RoundError(BOTH_PARTS if both else TWICE, named, code="people"))
            seen.add(person.pk)
            if not person.is_active:
                faults.append(RoundError(INACTIVE, named, code="people"))
            if person.role == Role.AUDITOR:
                faults.append(RoundError(READS_ONLY, named, code="people"))
    return faults


def check_people(
    *, annotators: Sequence[Person], arbitrators: Sequence[Person], judgments: int
) -> None:
    """:raises RoundError: the first of :func:`people_faults`."""
    for fault in people_faults(annotators=annotators, arbitrators=arbitrators, judgments=judgments):
        raise fault


def _create_items(opened: ReviewRound, ordered: Sequence[Chosen]) -> None:
    for start in range(0, len(ordered), CHUNK):
        items = ReviewItem.objects.bulk_create(
            ReviewItem(
                round=opened, pair_id=pair.pair, candidate_id=pair.candidate, position=position
            )
            for position, pair in enumerate(ordered[start : start + CHUNK], start + 1)
        )
        ReviewSlot.objects.bulk_create(
            ReviewSlot(item=item, number=number)
            for item in items
            for number in range(1, opened.judgments_per_item + 1)
        )


def join(round: ReviewRound, person: Person, part: str) -> None:
    """Give a person a part in a round, and access to its collection."""
    RoundMember.objects.create(round=round, person=person, part=part)
    Membership.objects.get_or_create(collection=round.collection, person=person)


def set_state(*, round: ReviewRound, state: str, actor: Person | None = None) -> ReviewRound:
    """Freeze, re-open or close a round. Frozen and closed rounds take no claims, judgments or decisions.

    :raises RoundError: for an unknown state, or closing while pairs are not settled.
    """
    if state not in ReviewRound.State.values:
        raise RoundError(UNKNOWN_STATE, {"state": str(state)[:20]}, code="state")
    with transaction.atomic():
        locked = ReviewRound.objects.select_for_update().get(pk=round.pk)
        unsettled = locked.items.exclude(state=ReviewItem.State.CLOSED).count()
        if state == ReviewRound.State.CLOSED and unsettled:
            raise RoundError(STILL_OPEN, {"number": unsettled}, code="still_open")
        before = locked.state
        locked.state = state
        locked.save(update_fields=["state"])
        audit.record(
            actor=actor,
            action="round.state",
            subject_type="round",
            subject_id=locked.pk,
            data={"from": str(before), "to": str(state)},
        )
    return locked


def publish_guideline(*, round: ReviewRound, text: str, actor: Person | None) -> GuidelineVersion:
    """Add the next version of a round's guideline; judgments from now on carry its number.

    :raises RoundError: if the text is empty.
    """
    if not text.strip():
        raise RoundError(GUIDELINE_EMPTY, code="guideline")
    with transaction.atomic():
        locked = ReviewRound.objects.select_for_update().get(pk=round.pk)
        last = locked.guidelines.aggregate(last=Max("number"))["last"] or 0
        version = _write_guideline(locked, last + 1, text.strip(), actor)
        locked.guideline_version = version.number
        locked.save(update_fields=["guideline_version"])
        audit.record(
            actor=actor,
            action="round.guideline",
            subject_type="round",
            subject_id=locked.pk,
            data={"number": version.number},
        )
    round.guideline_version = version.number
    return version


def _write_guideline(
    round: ReviewRound, number: int, text: str, actor: Person | None
) -> GuidelineVersion:
    return GuidelineVersion.objects.create(
        round=round,
        number=number,
        text=text,
        html=guidelines.sanitise(text),
        created_by=actor,
    )


def progress(round: ReviewRound) -> Progress:
    """The progress of a round, counted now from its items and seats.

    How many are in conflict says something about others' answers: not for annotators while items are open.
    """
    states = ReviewItem.State
    # Grouped by an index's leading columns, and seats looked at only where an item's state does not tell them: a round
    # of a million pairs is counted while somebody watches. Of two seats, a pair that waits has one filled.
    by_state: dict[str, int] = dict(
        round.items.order_by().values_list("state").annotate(number=Count("pk"))
    )
    arbitrated = round.items.filter(closed_by=ReviewItem.ClosedBy.ARBITRATION).count()
    closed, conflict = by_state.get(states.CLOSED, 0), by_state.get(states.CONFLICT, 0)
    partly = by_state.get(states.WAITING, 0)
    if round.judgments_per_item > 2 and partly:
        partly = ReviewSlot.objects.filter(
            item__round=round, item__state=states.WAITING, state=ReviewSlot.State.FILLED
        ).count()
    items = sum(by_state.values())
    return Progress(
        items=items,
        open=by_state.get(states.OPEN, 0),
        waiting=by_state.get(states.WAITING, 0),
        conflict=conflict,
        closed=closed,
        by_agreement=closed - arbitrated,
        by_arbitration=arbitrated,
        seats=items * round.judgments_per_item,
        filled=(closed + conflict) * round.judgments_per_item + partly,
    )


def pairs_in(round: ReviewRound) -> int:
    """How many pairs a round has: their positions run from 1 on, and none is ever added or taken out."""
    return round.items.aggregate(last=Max("position"))["last"] or 0


def pairs_of(rounds: Iterable[ReviewRound]) -> dict[int, int]:
    """Round → :func:`pairs_in`, in one query."""
    last = ReviewItem.objects.filter(round=OuterRef("pk")).order_by("-position")
    rows = ReviewRound.objects.filter(pk__in=[round.pk for round in rounds]).order_by()
    return dict(rows.values_list("pk", Subquery(last.values("position")[:1])))


def judged_in(round: ReviewRound, person: Person) -> int:
    """How many pairs of the round the person has answered, counted answers only.

    Judgments are insert-only, so what was counted up to some minutes ago need not be counted again: the number stands
    on every page of a pair, and a person may have answered forty thousand.
    """
    mine = Judgment.objects.filter(item__round=round, annotator=person, counted=True, version=1)
    key = (round.pk, round.created_at, person.pk)
    until, number = _judged.get(key, (None, 0))
    settled = timezone.now() - SETTLED
    if until is None or settled - until > SETTLED:
        since = mine.filter(created_at__gt=until) if until else mine
        number += since.filter(created_at__lte=settled).count()
        until = settled
        if len(_judged) >= 10_000:
            _judged.clear()
        _judged[key] = (until, number)
    return number + mine.filter(created_at__gt=until).count()


SETTLED = timedelta(minutes=10)
"""Nobody's clock is so wrong that a judgment would still come with an older time."""
_judged: dict[tuple[int, datetime, int], tuple[datetime, int]] = {}


def closed_in(rounds: Iterable[ReviewRound]) -> dict[int, int]:
    """Round → how many of its pairs are closed, by one look at the index of states."""
    rows = ReviewItem.objects.filter(round__in=rounds, state=ReviewItem.State.CLOSED)
    return dict(rows.order_by().values_list("round").annotate(number=Count("pk")))


@dataclass(frozen=True)
class OwnProgress:
    """What an annotator may know of the progress: their own answers, of how many pairs."""

    judged: int
    items: int


def own_progress(round: ReviewRound, person: Person) -> OwnProgress:
    """How many pairs of the round the person has judged (surplus included), of how many."""
    judged = Judgment.objects.filter(item__round=round, annotator=person, version=1)
    return OwnProgress(judged.values("item").distinct().count(), pairs_in(round))


def rounds_of(person: Person) -> Iterable[ReviewRound]:
    """The rounds in which a person has an active part, latest first."""
    return ReviewRound.objects.filter(members__person=person, members__active=True).distinct()
