"""The sweeper goes on whatever happens, and says each trouble once."""

from __future__ import annotations

import logging

import pytest
from django.db import OperationalError
from redis.exceptions import ConnectionError as QueueGone

from dedupreview import sweeper
from dedupreview.sweeper import Sweeper

calls: list[str] = []
answers: list[object] = []


def sweep() -> int:
    calls.append("sweep")
    answer = answers.pop(0) if answers else 0
    if isinstance(answer, Exception):
        raise answer
    return int(str(answer))


def advance() -> bool:
    calls.append("advance")
    return calls.count("advance") == 2


@pytest.fixture
def one(db: None) -> Sweeper:
    calls.clear()
    answers.clear()
    return Sweeper(sweeps=(f"{__name__}.sweep",), until_done=(f"{__name__}.advance",))


def test_it_counts_and_finishes_what_can_be_finished(one: Sweeper) -> None:
    answers.extend([2, 0, 0])
    assert [one.once(), one.once(), one.once()] == [2, 0, 0]
    assert calls == ["sweep", "advance", "sweep", "advance", "sweep"]


def test_a_missing_queue_is_said_once_and_so_is_its_return(
    one: Sweeper, caplog: pytest.LogCaptureFixture
) -> None:
    answers.extend([QueueGone("no socket")] * 3)
    with caplog.at_level(logging.WARNING, logger=sweeper.__name__):
        for _ in range(5):
            one.once()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "no socket" in caplog.records[0].getMessage()
    assert "again" in caplog.records[1].getMessage()


@pytest.mark.parametrize("error", [OperationalError("database is locked"), ZeroDivisionError()])
def test_nothing_stops_it(one: Sweeper, error: Exception) -> None:
    answers.extend([error, 3])
    assert one.once() == 0
    assert one.once() == 3


def test_what_it_really_calls_is_there() -> None:
    real = Sweeper()
    assert len(real.sweeps) == len(sweeper.SWEEPS)
    assert len(real.unfinished) == len(sweeper.UNTIL_DONE)
