"""What keeps judging good: known answers hidden among the pairs, calibration rounds with a pass mark, deadlines.

A gold item is an item like any other: it is chosen before the order is drawn, has seats, lease and arbitration as all
have, and nothing that an annotator can read mentions it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dedupreview.people.models import Person
from reviews.errors import ReviewError
from reviews.labels import Label
from reviews.models import (
    GoldItem,
    Judgment,
    LabelRow,
    LabelSet,
    ReviewItem,
    ReviewRound,
    RoundMember,
)
from reviews.selection import Chosen
from screening.models import Candidate, ScreeningRun

NO_GOLD = "The label set has no pair that this run found too, so there is no known answer to hide."
GOLD_NEEDED = "A calibration round needs a label set with known answers."
TOO_MANY_SEATS = "In a calibration round everybody judges every pair: at most 9 people."
PERCENT = "The pass mark is a percentage from 1 to 100."
NOT_CALIBRATION = "The round chosen for calibration has no pass mark."
NOT_CLOSED = "Results are shown once the round is closed."
NOT_COPY = "not_copy"


class QualityError(ReviewError):
    """Known answers, a pass mark or a deadline that do not fit."""


@dataclass(frozen=True)
class Quality:
    """What a round does for quality; the default: nothing.

    ``gold``: a label set, ``hidden``: how many of its pairs go among the others, drawn with the round's seed.
    ``pass_mark`` in percent makes it a calibration round: only known answers, judged by everybody.
    ``calibration``: people judge here only after passing that round. ``deadline``: no seats are given after it.
    """

    gold: LabelSet | None = None
    hidden: int = 20
    pass_mark: int | None = None
    calibration: ReviewRound | None = None
    deadline: datetime | None = None

    def check(self, people: int) -> None:
        """:raises QualityError: if the parts do not fit together."""
        if self.pass_mark is not None:
            if not 1 <= self.pass_mark <= 100:
                raise QualityError(PERCENT, code="pass_mark")
            if self.gold is None:
                raise QualityError(GOLD_NEEDED, code="gold")
            if people > 9:
                raise QualityError(TOO_MANY_SEATS, code="too_many_people")
        if self.calibration is not None and self.calibration.pass_mark is None:
            raise QualityError(NOT_CALIBRATION, code="calibration")

    def fields(self) -> dict[str, Any]:
        """The columns of the round."""
        return {
            "pass_mark": self.pass_mark,
            "calibration": self.calibration,
            "deadline": self.deadline,
        }


def with_gold(
    run: ScreeningRun, chosen: Sequence[Chosen], quality: Quality, seed: int
) -> tuple[list[Chosen], dict[int, int]]:
    """``chosen`` with the known pairs among them, and pair → label row of those that are known.

    Only pairs that the run itself found: another one would show by its missing evidence.

    :raises QualityError: if there is none.
    """
    if quality.gold is None:
        return list(chosen), {}
    known = _known(quality.gold)
    found = {
        row[1]: Chosen(*row)
        for row in Candidate.objects.filter(run=run, pair__in=known)
        .order_by("rank")
        .values_list("pk", "pair_id", "pair__low_id", "pair__high_id")
    }
    if quality.pass_mark is None:
        # Among others, a pair that is decided stays decided, unless the selection asks it again itself.
        asked = {pair.pair for pair in chosen}
        closed = ReviewItem.objects.filter(
            pair__in=found, state=ReviewItem.State.CLOSED, round__pass_mark__isnull=True
        )
        for pair in set(closed.values_list("pair", flat=True)) - asked:
            del found[pair]
    if not found:
        raise QualityError(NO_GOLD, code="gold")
    keys = sorted(found)
    drawn = set(random.Random(f"gold|{seed}").sample(keys, min(quality.hidden, len(keys))))
    gold = {key: known[key] for key in drawn}
    if quality.pass_mark is not None:
        return [found[key] for key in keys if key in drawn], gold
    return [*chosen, *(found[key] for key in keys if key in drawn - asked)], gold


def _known(gold: LabelSet) -> dict[int, int]:
    """Pair → label row, where the set says one thing about the pair and it is something to be right or wrong about."""
    rows: dict[int, list[tuple[int, str]]] = {}
    usable = LabelRow.objects.filter(label_set=gold).exclude(label=Label.UNDECIDED)
    for key, pair, label in usable.order_by("line").values_list("pk", "pair_id", "label"):
        rows.setdefault(pair, []).append((key, label))
    return {
        pair: found[0][0]
        for pair, found in rows.items()
        if len({label for _k, label in found}) == 1
    }


def mark_gold(round: ReviewRound, known: dict[int, int]) -> None:
    """Note which items of a new round have a known answer."""
    items = round.items.filter(pair__in=known).values_list("pk", "pair_id")
    GoldItem.objects.bulk_create(
        GoldItem(item_id=item, label_row_id=known[pair]) for item, pair in items
    )


@dataclass(frozen=True)
class Score:
    """How a person did on the known answers: ``right`` of ``answered``, of ``known`` in the round."""

    right: int
    answered: int
    known: int

    @property
    def percent(self) -> int | None:
        """Right ones of the answered ones, in whole percent, rounded down; None before the first answer."""
        return 100 * self.right // self.answered if self.answered else None

    def passes(self, mark: int) -> bool:
        """Whether everything is answered and enough of it is right."""
        complete = bool(self.known) and self.answered == self.known
        return complete and self.right * 100 >= mark * self.known


def is_right(label: str, known: str) -> bool:
    """Whether an answer fits a known one; of a copy-or-not set every definite other label is right for ``not_copy``."""
    if known == NOT_COPY:
        return label not in (Label.COPY, Label.UNDECIDED)
    return label == known


def score(round: ReviewRound, person: Person) -> Score:
    """A person's first answers against the known ones; corrections come too late to be a measure."""
    rows = Judgment.objects.filter(
        item__round=round, item__gold__isnull=False, annotator=person, version=1
    ).values_list("item_id", "label", "item__gold__label_row__label")
    answers = {item: is_right(label, known) for item, label, known in rows.order_by("-created_at")}
    known = GoldItem.objects.filter(item__round=round).count()
    return Score(sum(answers.values()), len(answers), known)


def may_begin(round: ReviewRound, person: Person) -> bool:
    """Whether a person has passed the calibration that the round asks for."""
    calibration = round.calibration
    if calibration is None:
        return True
    return score(calibration, person).passes(calibration.pass_mark or 0)


def results(round: ReviewRound) -> list[tuple[RoundMember, Score]]:
    """Everybody's score, for admins.

    :raises QualityError: before the round is closed: until then a score would tell what somebody answered.
    """
    unsettled = round.items.exclude(state=ReviewItem.State.CLOSED).exists()
    if round.state != ReviewRound.State.CLOSED or unsettled:
        raise QualityError(NOT_CLOSED, code="not_closed")
    members = round.members.filter(part=RoundMember.Part.ANNOTATOR).select_related("person")
    return [(m, score(round, m.person)) for m in members.order_by("person__username", "pk")]
