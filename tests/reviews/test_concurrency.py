"""The same few pairs, many people, leases of a second: two counted judgments a pair, extras kept, no error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections

from reviews import arbitration, judging, queue
from reviews.models import Arbitration, Judgment, ReviewItem, ReviewSlot, SeatLapse
from tests.reviews.contest import contend, faults
from tests.reviews.world import claimed, judge, new_id, world

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def at_once(count: int, act) -> list[Any]:
    """Results of ``act(n)`` in ``count`` threads that start together, each with its own connection; errors are raised."""
    barrier = threading.Barrier(count)

    def one(number: int) -> Any:
        try:
            barrier.wait(20)
            return act(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return [future.result(60) for future in [pool.submit(one, n) for n in range(count)]]


def test_forty_threads_on_postgres(postgres):
    assert connection.vendor == "postgresql"
    w = world(10, annotators=20, lease_minutes=1)
    start = time.time()
    # Two windows for each person.
    people = [person.pk for person in w.annotators] * 2
    happened = at_once(
        40, lambda n: contend(w.round.pk, people[n], start=start, seconds=25, seed=n)
    )
    total: Counter[str] = sum(happened, Counter())
    assert faults(w.round.pk, seats=2) == []
    assert total["created"] == 20
    assert total["lapsed"] >= 1, total
    assert SeatLapse.objects.exists()
    surplus = Judgment.objects.filter(counted=False)
    assert surplus.exists()
    assert not surplus.filter(item__state__in=["open", "waiting"]).exists()


def test_nobody_gets_a_seat_twice_on_postgres(postgres):
    """One judgment a pair, everybody presses the button together, again and again."""
    w = world(24, seats=1, annotators=8)
    for _ in range(3):
        slots = at_once(8, lambda n: queue.claim(round=w.round, person=w.annotators[n]))
        assert all(isinstance(slot, ReviewSlot) for slot in slots)
        assert len({slot.pk for slot in slots}) == 8
        at_once(
            8,
            lambda n, slots=slots: judging.submit(
                id=new_id(), slot=slots[n], person=w.annotators[n], label="copy"
            ),
        )
    assert Judgment.objects.filter(counted=True).count() == 24
    assert not w.round.items.exclude(state=ReviewItem.State.CLOSED).exists()


def test_the_two_last_judgments_settle_a_pair_once_on_postgres(postgres):
    w = world(8, annotators=2)
    for position in range(1, 9):
        slots = [claimed(w.round, person) for person in w.annotators]
        at_once(
            2,
            lambda n, slots=slots, position=position: judging.submit(
                id=new_id(), slot=slots[n], person=w.annotators[n],
                label=("copy", "template")[n if position % 2 else 0],
            ),
        )  # fmt: skip
        assert w.item(position).state == ("conflict" if position % 2 else "closed")


def test_the_same_submission_from_ten_windows_is_one_judgment_on_postgres(postgres):
    w = world(1)
    a = w.annotators[0]
    same = {"id": new_id(), "slot": claimed(w.round, a), "person": a, "label": "copy"}
    done = at_once(10, lambda n: judging.submit(**same).status)
    assert sorted(done) == ["created"] + ["replayed"] * 9
    assert Judgment.objects.count() == 1


def test_two_arbitrators_decide_once_on_postgres(postgres):
    w = world(1, arbitrators=4)
    judge(w.round, w.annotators[0], "copy")
    judge(w.round, w.annotators[1], "template")
    item = w.item()

    def decide(number):
        try:
            return arbitration.decide(
                id=new_id(), item=item, person=w.arbitrators[number], label="copy", reason="x"
            ).version
        except arbitration.ArbitrationError as error:
            return error.code

    assert sorted(map(str, at_once(4, decide))) == ["1"] + ["decided_meanwhile"] * 3
    assert Arbitration.objects.count() == 1
    assert w.item().revision == 1


def test_freezing_waits_for_judgments_under_way_on_postgres(postgres):
    """What is frozen stays as it was: no judgment slips in between."""
    from reviews import rounds

    w = world(12, seats=1, annotators=12)
    slots = [claimed(w.round, person) for person in w.annotators]

    def act(number):
        if number == 12:
            rounds.set_state(round=w.round, state="frozen")
            return Judgment.objects.count()
        try:
            return judging.submit(
                id=new_id(), slot=slots[number], person=w.annotators[number], label="copy"
            ).status
        except judging.JudgingError as error:
            return error.code

    results = at_once(13, act)
    assert set(results[:12]) <= {"created", "round_not_open"}
    assert results[12] == results.count("created") == Judgment.objects.count()


def test_eight_processes_on_sqlite(short_dir):
    environment = {
        **os.environ,
        "DEDUPREVIEW_DATA_DIR": str(short_dir),
        "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
    }
    environment.pop("DATABASE_URL", None)
    done = subprocess.run(
        [sys.executable, "-m", "tests.reviews.contest", "10", "8", "25"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["faults"] == []
    assert result["happened"]["created"] == 20
