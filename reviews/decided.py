"""What is decided in a collection: the latest conclusion of each pair, over all its rounds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from reviews.labels import Direction, Label
from reviews.models import ReviewItem, ReviewRound
from reviews.outcomes import Outcome, outcomes_of
from reviews.relations import Judged, pair_of
from screening.models import Collection, DocumentPair

CHUNK = 2_000
BULK = ("low__raw", "high__raw", "low__metadata", "high__metadata")


def decided(collection: Collection, *, round: ReviewRound | None = None) -> list[Judged]:
    """One conclusion for each pair that is closed somewhere: of several rounds the one that closed it last.

    Documents are primary keys. ``round`` asks for the conclusions of one round only. Nothing of an open item is read,
    and nothing of a calibration round: there people are tried, not pairs.
    """
    items = ReviewItem.objects.filter(
        round__collection=collection,
        round__pass_mark__isnull=True,
        state=ReviewItem.State.CLOSED,
    ).select_related("pair")
    if round is not None:
        items = items.filter(round=round)
    latest: dict[int, Judged] = {}
    rows = items.order_by("closed_at", "pk").iterator(chunk_size=CHUNK)
    while chunk := list(islice(rows, CHUNK)):
        latest.update(_judged(chunk))
    return list(latest.values())


def _judged(items: list[ReviewItem]) -> Iterator[tuple[int, Judged]]:
    outcomes = outcomes_of(items)
    directed = [o.pair_id for o in outcomes if o.direction in _KNOWN]
    first: dict[int, tuple[int, int]] = {}
    pairs = DocumentPair.objects.filter(pk__in=directed).defer(*BULK)
    for pair in pairs.select_related("low__collection", "high__collection"):
        first[pair.pk] = (pair.left.pk, pair.right.pk)
    for item, outcome in zip(items, outcomes, strict=True):
        pair_ids = pair_of(item.pair.low_id, item.pair.high_id)
        earlier = _earlier(outcome, first.get(item.pair_id))
        yield item.pair_id, Judged(pair_ids, outcome.label, earlier)


_KNOWN = (Direction.LEFT_FIRST, Direction.RIGHT_FIRST)


def _earlier(outcome: Outcome, sides: tuple[int, int] | None) -> int | None:
    if outcome.label != Label.REVISION or sides is None:
        return None
    return sides[0] if outcome.direction == Direction.LEFT_FIRST else sides[1]
