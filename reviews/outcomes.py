"""What came out of a pair: derived from the records, never stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from reviews.labels import ADVICE, ADVICE_IN_CONFLICT, ADVICE_PENDING, Direction
from reviews.models import Arbitration, Judgment, ReviewItem, ReviewRound
from reviews.plainrows import ArbitrationRow, ItemRow, JudgmentRow

CHUNK = 2_000
"""Items whose records are read together."""

By = Literal["", "agreement", "arbitration"]
ReviewStatus = Literal["pending", "conflict", "agreed", "arbitrated"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one item. ``label``, ``direction`` and ``kept`` are empty until the item is closed.

    ``kept`` is the primary key of the document to keep an entry for. ``advice`` is the retention advice of design §1,
    in Chinese: advice, never an action. ``answers`` are the ids of the records that decided.
    """

    item_id: int
    pair_id: int
    label: str
    direction: str
    kept: int | None
    state: str
    by: By
    advice: str
    review_status: ReviewStatus
    answers: tuple[str, ...] = ()


def outcome_of(item: ReviewItem) -> Outcome:
    """The outcome of one item."""
    return next(_derived([item]))


def outcomes_of(items: Sequence[ReviewItem]) -> list[Outcome]:
    """The outcomes of these items, in their order: three queries."""
    return list(_derived(items))


def outcomes(round: ReviewRound) -> Iterator[Outcome]:
    """The outcomes of all items of a round, in the round's order, read in chunks: three queries per 2,000 items."""
    items = round.items.order_by("position").iterator(chunk_size=CHUNK)
    while chunk := list(islice(items, CHUNK)):
        yield from _derived(chunk)


def _derived(items: Sequence[ReviewItem]) -> Iterator[Outcome]:
    agreed = [i.pk for i in items if i.closed_by == ReviewItem.ClosedBy.AGREEMENT]
    decided = [i.pk for i in items if i.closed_by == ReviewItem.ClosedBy.ARBITRATION]
    judgments: dict[int, list[Judgment]] = defaultdict(list)
    if agreed:
        counted = Judgment.objects.filter(
            item__in=agreed, counted=True, superseded_by__isnull=True
        ).only("id", "item_id", "label", "direction", "kept_id")
        for judgment in counted.order_by("slot__number"):
            judgments[judgment.item_id].append(judgment)
    decisions: dict[int, Arbitration] = {}
    if decided:
        rows = Arbitration.objects.filter(item__in=decided).order_by("version")
        for decision in rows.only("id", "item_id", "label", "direction", "kept_id"):
            decisions[decision.item_id] = decision
    for item in items:
        yield outcome_from(item, judgments.get(item.pk, []), decisions.get(item.pk))


def outcome_from(
    item: ReviewItem | ItemRow,
    judgments: Sequence[Judgment] | Sequence[JudgmentRow],
    decision: Arbitration | ArbitrationRow | None,
) -> Outcome:
    """The outcome of an item whose standing judgments and standing decision are at hand; no query."""
    if decision is not None:
        return _closed(item, [decision], "arbitration", "arbitrated")
    if item.state == ReviewItem.State.CLOSED and judgments:
        return _closed(item, judgments, "agreement", "agreed")
    disputed = item.state == ReviewItem.State.CONFLICT
    return Outcome(
        item_id=item.pk,
        pair_id=item.pair_id,
        label="",
        direction="",
        kept=None,
        state=item.state,
        by="",
        advice=ADVICE_IN_CONFLICT if disputed else ADVICE_PENDING,
        review_status="conflict" if disputed else "pending",
    )


def _closed(
    item: ReviewItem | ItemRow,
    answers: Sequence[Judgment | JudgmentRow | Arbitration | ArbitrationRow],
    by: By,
    status: ReviewStatus,
) -> Outcome:
    label = answers[0].label
    return Outcome(
        item_id=item.pk,
        pair_id=item.pair_id,
        label=label,
        direction=_common_direction(answer.direction for answer in answers),
        kept=_common(answer.kept_id for answer in answers),
        state=item.state,
        by=by,
        # An arbitrator may end with "cannot tell": then both texts stay, as before.
        advice=ADVICE.get(label, ADVICE_PENDING),
        review_status=status,
        answers=tuple(str(answer.pk) for answer in answers),
    )


def _common_direction(directions: Iterable[str]) -> str:
    """The direction that was given; who said ``unknown`` contradicts nobody. Two known ones never close an item."""
    given = set(directions)
    known = given - {"", Direction.UNKNOWN}
    if known:
        return min(known)
    return str(Direction.UNKNOWN) if Direction.UNKNOWN in given else ""


def _common(kept: Iterable[int | None]) -> int | None:
    """The entry to keep, if everybody who named one named the same."""
    named = {pk for pk in kept if pk is not None}
    return named.pop() if len(named) == 1 else None


def first_answers(round: ReviewRound) -> Iterator[dict[str, str]]:
    """Person code → label of the counted first judgments, for each closed item in the round's order.

    What agreement is measured on: blind answers only, before any correction; never an arbitrator's, and nothing of an
    item that is still open.
    """
    rows = Judgment.objects.filter(
        item__round=round, item__state=ReviewItem.State.CLOSED, counted=True, version=1
    ).order_by("item__position", "slot__number")
    values = rows.values_list("item_id", "annotator__code", "label")
    current: int | None = None
    answers: dict[str, str] = {}
    for item_id, code, label in values.iterator(chunk_size=CHUNK):
        if item_id != current and answers:
            yield answers
            answers = {}
        current = item_id
        answers[code] = label
    if answers:
        yield answers
