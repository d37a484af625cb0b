"""Many people at the same few pairs, with leases that run out under their hands. Also a program."""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

SPEED = 60
"""The contest's clock: a lease of one minute lasts one second."""
LABELS = ("copy", "template")


class Clock:
    """The time as one contender's machine has it: ``SPEED`` times as fast, and now and then set wrong by minutes."""

    def __init__(self, start: float, chance: random.Random, jumps: float) -> None:
        self.start, self.chance, self.jumps = start, chance, jumps
        self.wrong_by = 0.0

    def now(self) -> datetime:
        if self.chance.random() < self.jumps:
            self.wrong_by = self.chance.choice([0.0, -90.0, 45.0, 75.0])
        passed = (time.time() - self.start) * SPEED + self.wrong_by
        return datetime.fromtimestamp(self.start, UTC) + timedelta(seconds=passed)


def contend(
    round_id: int,
    person_id: int,
    *,
    start: float,
    seconds: float,
    seed: int,
    jumps: float = 0.0,
    told: list[str] | None = None,
) -> Counter[str]:
    """Claim, dawdle and submit (sometimes twice) until nothing is left or the time is over; what happened.

    ``jumps``: how often the contender's clock is set anew. ``told`` receives the id of every judgment said to be kept.
    """
    from dedupreview.people.models import Person
    from reviews import judging, queue
    from reviews.models import ReviewRound
    from tests.reviews.world import new_id

    chance = random.Random(seed)
    clock = Clock(start, chance, jumps)
    who, round = Person.objects.get(pk=person_id), ReviewRound.objects.get(pk=round_id)
    happened: Counter[str] = Counter()
    while time.time() < start + seconds:
        slot = queue.claim(round=round, person=who, now=clock.now())
        if isinstance(slot, queue.Nothing):
            happened[slot.kind] += 1
            if slot.kind == "all_done":
                break
            time.sleep(chance.uniform(0.02, 0.2))
            continue
        happened["claimed"] += 1
        time.sleep(chance.choice([0.0, 0.02, 0.2, 1.2, 2.0]))
        what: dict[str, Any] = {
            "id": new_id(),
            "slot": slot,
            "person": who,
            "label": chance.choice(LABELS),
        }
        for _ in range(chance.choice([1, 1, 2])):
            try:
                happened[judging.submit(**what, now=clock.now()).status] += 1
            except judging.JudgingError as error:
                # Two windows of one person: the other one has answered, and the pair is settled or it is long ago.
                if error.code not in ("closed", "grace_over"):
                    raise
                happened[error.code] += 1
            else:
                if told is not None:
                    told.append(str(what["id"]))
    return happened


def faults(round_id: int, *, seats: int) -> list[str]:
    """Everything that is wrong with a round after the contest; empty if nothing is."""
    from reviews.models import Judgment, ReviewItem, ReviewRound, ReviewSlot
    from reviews.records import is_intact, judgments_of

    found = []
    round = ReviewRound.objects.get(pk=round_id)
    for item in round.items.all():
        first = list(Judgment.objects.filter(item=item, counted=True, version=1))
        if len(first) != seats or len({j.annotator_id for j in first}) != seats:
            found.append(f"item {item.pk}: {len(first)} counted judgments")
        if {j.slot_id for j in first} != set(item.slots.values_list("pk", flat=True)):
            found.append(f"item {item.pk}: seats and judgments differ")
        if item.state not in (ReviewItem.State.CLOSED, ReviewItem.State.CONFLICT):
            found.append(f"item {item.pk}: {item.state}")
    for slot in ReviewSlot.objects.filter(item__round=round):
        holders = set(slot.judgments.filter(counted=True).values_list("annotator_id", flat=True))
        if slot.state != ReviewSlot.State.FILLED or holders != {slot.annotator_id}:
            found.append(f"seat {slot.pk}: {slot.state} {holders}")
    found += [f"judgment {j.pk}: digest" for j in judgments_of(round_id) if not is_intact(j)]
    return found


def main(pairs: str, people: str, seconds: str) -> None:
    """A contest of so many processes on the database of the settings; prints what happened and what is wrong."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from tests.reviews.world import world

    call_command("migrate", verbosity=0)
    made = world(int(pairs), annotators=int(people), lease_minutes=1)
    keys = [person.pk for person in made.annotators]
    # No connection may cross the fork.
    connections.close_all()
    with multiprocessing.get_context("fork").Pool(len(keys)) as pool:
        start = time.time() + 0.5
        jobs = [
            pool.apply_async(
                contend,
                (made.round.pk, key),
                {"start": start, "seconds": float(seconds), "seed": key},
            )
            for key in keys
        ]
        happened = sum((job.get(float(seconds) + 30) for job in jobs), Counter())
    print(json.dumps({"happened": happened, "faults": faults(made.round.pk, seats=2)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
