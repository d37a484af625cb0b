"""The time that is left, as the first page tells it."""

from __future__ import annotations

from typing import Any

import pytest

from dedupreview.home import Queue, queues_of
from reviews.models import Judgment
from tests.reviews import world as small


@pytest.mark.parametrize(
    ("seconds", "judged", "pairs", "minutes", "hours"),
    [
        (None, 0, 40, None, None),
        (30.0, 40, 40, None, None),
        (30.0, 0, 40, 20, None),
        (2.0, 39, 40, 5, None),
        (33.0, 10, 100, 50, None),
        (60.0, 0, 100, 100, 1.5),
        (60.0, 0, 1000, 1000, 16.5),
    ],
)
def test_the_rest_is_told_in_five_minutes_or_half_hours(
    seconds: float | None, judged: int, pairs: int, minutes: int | None, hours: float | None
) -> None:
    queue = Queue(round=None, judged=judged, pairs=pairs, seconds=seconds)  # type: ignore[arg-type]
    assert (queue.minutes_left, queue.hours_left) == (minutes, hours)


def paces(times: list[int | None]) -> Any:
    world = small.world(len(times), annotators=2)
    who = world.annotators[0]
    for time in times:
        small.judge(world.round, who, active_ms=time)
    assert Judgment.objects.count() == len(times)
    return queues_of(who)[0].seconds


def test_a_pace_needs_five_measured_judgments(db: None) -> None:
    assert paces([20_000] * 4 + [None]) is None


def test_a_pace_is_the_median_without_interruptions(db: None) -> None:
    assert paces([10_000, 20_000, 30_000, 40_000, 500_000, 31 * 60_000, None]) == 30.0
