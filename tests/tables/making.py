"""Rounds in every state, made through the services, and their exported tables."""

from __future__ import annotations

import random
import shutil
import uuid
from pathlib import Path
from typing import Any

from dedupreview.people.models import Person
from reviews import arbitration, judging, queue
from reviews.models import ReviewItem, ReviewRound, ReviewSlot
from reviews.tables import exporting
from tests.reviews.world import World, world

ANSWERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("copy", {"kept": "left"}),
    ("revision", {"direction": "left_first", "reason": "=1+1 条款\n“改”了"}),
    ("citation", {}),
    ("template", {"reason": "同一格式，𠮷😀"}),
    ("independent", {}),
    ("undecided", {"reason": "看不清"}),
)


def answer(round: ReviewRound, who: Person, label: str, **extra: Any) -> ReviewItem | None:
    """``who`` takes the next seat and answers; the item, or None if there is no seat for them."""
    slot = queue.claim(round=round, person=who)
    if not isinstance(slot, ReviewSlot):
        return None
    judging.submit(id=uuid.uuid4(), slot=slot, person=who, label=label, **extra)
    return slot.item


def arbitrate(item: ReviewItem, who: Person, label: str = "copy") -> None:
    """Opinion, originals, decision."""
    arbitration.give_opinion(id=uuid.uuid4(), item=item, person=who, label=label)
    originals = arbitration.originals(item=item, person=who)
    arbitration.decide(
        id=uuid.uuid4(),
        item=item,
        person=who,
        label=label,
        reason="两份文本逐字相同",
        based_on=[str(judgment.pk) for judgment in originals],
    )


def finished(pairs: int = 6) -> World:
    """A round in which every item is closed: one by arbitration of two labels, one of an undecided, the rest agreed."""
    made = world(pairs, annotators=2)
    first, second = made.annotators
    while True:
        slot = queue.claim(round=made.round, person=first)
        if not isinstance(slot, ReviewSlot):
            break
        label, extra = ANSWERS[(slot.item.position - 1) % len(ANSWERS)]
        judging.submit(id=uuid.uuid4(), slot=slot, person=first, label=label, **extra)
    while True:
        slot = queue.claim(round=made.round, person=second)
        if not isinstance(slot, ReviewSlot):
            break
        label, extra = ANSWERS[(slot.item.position - 1) % len(ANSWERS)]
        if slot.item.position == 3:
            label, extra = ANSWERS[0]
        judging.submit(id=uuid.uuid4(), slot=slot, person=second, label=label, **extra)
    for item in made.round.items.filter(state="conflict"):
        arbitrate(item, made.arbitrators[0])
    made.round.refresh_from_db()
    assert not made.round.items.exclude(state="closed").exists()
    return made


def random_state(seed: int, pairs: int = 8) -> World:
    """A round somewhere between untouched and finished."""
    chance = random.Random(seed)
    made = world(pairs, annotators=3, seats=chance.choice([1, 2, 3]))
    for _turn in range(chance.randrange(pairs * 3)):
        label, extra = chance.choice(ANSWERS)
        answer(made.round, chance.choice(made.annotators), label, **extra)
    for item in made.round.items.filter(state="conflict"):
        if chance.random() < 0.5:
            arbitrate(item, made.arbitrators[0], chance.choice(["copy", "independent"]))
    return made


def exported(round: ReviewRound) -> Path:
    """The folder of a fresh table of ``round``."""
    return exporting.table_folder(exporting.export_table(round=round))


def copied(table: Path, place: Path) -> Path:
    """A copy of a table's folder that may be damaged."""
    return Path(shutil.copytree(table, place / "copy"))
