"""Random operations of random people never break an invariant, whatever their order."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings

from reviews import arbitration, judging, members, outcomes, queue, rounds
from reviews.errors import ReviewError
from reviews.items import pair_view
from reviews.models import Arbitration, Judgment, Opinion, ReviewItem, ReviewRound, ReviewSlot
from reviews.records import is_intact, judgments_of
from tests.reviews.world import new_id, world

pytestmark = pytest.mark.django_db

SEATS, PAIRS, PEOPLE = 2, 3, 4
LABELS = ("copy", "template", "revision", "undecided")
OPERATIONS = ("claim", "claim", "claim", "submit", "submit", "submit", "late", "again", "aside", "recuse",
              "wait", "hour", "opine", "decide", "decide anew", "leave", "join", "freeze", "thaw")  # fmt: skip


class Story:
    """What happened so far, and what may happen next."""

    def __init__(self, seed: int) -> None:
        self.world = world(PAIRS, seats=SEATS, annotators=PEOPLE, arbitrators=2)
        self.round = self.world.round
        self.now = timezone.now()
        self.chance = random.Random(seed)
        self.ever_held: list[tuple[ReviewSlot, Any]] = []
        self.sent: list[dict] = []
        self.records: dict[Any, str] = {}
        self.happened: Counter[str] = Counter()

    def annotator(self):
        return self.chance.choice(self.world.annotators)

    def answer(self) -> dict:
        label = self.chance.choice(LABELS)
        direction = self.chance.choice(["", "left_first", "right_first"])
        return {
            "label": label,
            "reason": "看过原文",
            "direction": direction if label == "revision" else "",
        }

    def step(self, operation: str) -> None:
        try:
            getattr(self, "do_" + operation.replace(" ", "_"))()
            self.happened[operation] += 1
        except ReviewError as error:
            if error.code in ("refused", "json"):
                raise
            self.happened[f"{operation}: {error.code}"] += 1

    def do_claim(self):
        who = self.annotator()
        slot = queue.claim(round=self.round, person=who, now=self.now)
        if isinstance(slot, queue.Nothing):
            return
        assert slot.item.state in queue.LIVE_STATES
        assert not Judgment.objects.filter(item_id=slot.item_id, annotator=who).exists()
        assert not slot.item.declines.filter(person=who, how="recuse").exists()
        self.ever_held.append((slot, who))

    def send(self, **what):
        self.sent.append(what)
        done = judging.submit(**what, now=self.now)
        self.happened[done.status] += 1

    def do_submit(self):
        held = ReviewSlot.objects.filter(item__round=self.round, state="claimed").order_by("pk")
        if held:
            slot = self.chance.choice(list(held))
            self.send(id=new_id(), slot=slot, person=slot.annotator, **self.answer())

    def do_late(self):
        if self.ever_held:
            slot, who = self.chance.choice(self.ever_held)
            self.send(id=new_id(), slot=slot, person=who, **self.answer())

    def do_again(self):
        if self.sent:
            before = Judgment.objects.count()
            what = self.chance.choice(self.sent)
            known = Judgment.objects.filter(pk=what["id"]).exists()
            self.happened[judging.submit(**what, now=self.now).status] += 1
            assert Judgment.objects.count() == before + (not known)

    def give_back(self, how):
        held = ReviewSlot.objects.filter(item__round=self.round, state="claimed").order_by("pk")
        if held:
            slot = self.chance.choice(list(held))
            queue.release(slot=slot, person=slot.annotator, how=how, now=self.now)

    def do_aside(self):
        self.give_back("later")

    def do_recuse(self):
        self.give_back("recuse")

    def do_wait(self):
        self.now += timedelta(minutes=3)

    def do_hour(self):
        self.now += timedelta(hours=1)

    def do_opine(self):
        self.arbitrate(arbitration.give_opinion)

    def do_decide(self):
        self.arbitrate(arbitration.decide)

    def do_decide_anew(self):
        item = self.chance.choice(self.world.items)
        self.arbitrate(arbitration.decide, item=item, revision=item.revision)

    def arbitrate(self, act, item=None, **extra):
        item = item or self.chance.choice(self.world.items)
        who = self.chance.choice(self.world.arbitrators)
        act(id=new_id(), item=item, person=who, now=self.now, **self.answer(), **extra)

    def do_leave(self):
        members.remove_member(round=self.round, person=self.annotator())

    def do_join(self):
        for who in self.world.annotators:
            members.add_member(round=self.round, person=who, part="annotator")

    def do_freeze(self):
        if self.chance.random() < 0.3:
            rounds.set_state(round=self.round, state="frozen")

    def do_thaw(self):
        rounds.set_state(round=self.round, state="open")

    # --- Invariants ---------------------------------------------------------------------------------------------------

    def check(self) -> None:
        found = rounds.progress(self.round)
        assert found.items == found.open + found.waiting + found.conflict + found.closed == PAIRS
        states = Counter(self.check_item(item) for item in self.world.items)
        for state in ("open", "waiting", "conflict", "closed"):
            assert states[state] == getattr(found, state)
        assert found.filled == Judgment.objects.filter(
            item__round=self.round, counted=True, version=1
        ).count()  # fmt: skip
        self.check_records()

    def check_item(self, item: ReviewItem) -> str:
        first = list(item.judgments.filter(counted=True, version=1))
        assert len(first) == len({j.annotator_id for j in first}) <= SEATS
        filled = item.slots.filter(state="filled")
        assert {(s.pk, s.annotator_id) for s in filled} == {
            (j.slot_id, j.annotator_id) for j in first
        }
        latest = list(judging.latest_counted(item))
        assert len(latest) == len(first)
        decisions = list(item.arbitrations.order_by("version"))
        assert [d.version for d in decisions] == list(range(1, item.revision + 1))
        kind = judging.conflict_kind(latest) if len(first) == SEATS else ""
        expected = "open" if not first else "waiting" if len(first) < SEATS else "closed"
        if kind and not decisions:
            expected = "conflict"
        assert (item.state, item.conflict) == (expected, kind)
        outcome = outcomes.outcome_of(item)
        final = (
            decisions[-1].label if decisions else latest[0].label if expected == "closed" else ""
        )
        assert outcome.label == final
        return expected

    def check_records(self) -> None:
        """Nothing written before has changed or gone, and everything carries a true digest."""
        now: dict[Any, str] = {}
        for judgment in judgments_of(self.round.pk):
            assert is_intact(judgment)
            now["judgment", judgment.pk] = judgment.digest
        for model in (Opinion, Arbitration):
            for row in model.objects.filter(item__round=self.round):
                assert is_intact(row)
                now[model.__name__, row.pk] = row.digest
        assert self.records.items() <= now.items()
        self.records = now

    def check_blindness(self) -> None:
        for item in self.world.items:
            if item.state == ReviewItem.State.CLOSED:
                continue
            for who in (*self.world.annotators, self.world.admin):
                view = pair_view(item, who, now=self.now)
                assert all(j.annotator_id == who.pk for j in view.own)
                assert (view.judgments, view.opinions, view.outcome, view.conflict) == (
                    [],
                    [],
                    None,
                    "",
                )
                if view.part == "annotator":
                    assert view.state == "open"


@given(st.lists(st.sampled_from(OPERATIONS), min_size=10, max_size=45), st.integers(0, 2**32 - 1))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_people_do_the_invariants_hold(operations, seed):
    story = Story(seed)
    story.check()
    for operation in operations:
        story.step(operation)
        story.check()
    story.check_blindness()


def test_the_random_stories_reach_every_kind_of_event():
    """Else the property test would prove little."""
    happened: Counter[str] = Counter()
    for seed in range(12):
        story = Story(seed)
        for _ in range(60):
            story.step(story.chance.choice(OPERATIONS))
        story.check()
        happened += story.happened
    wanted = {
        "created",
        "corrected",
        "replayed",
        "lapsed",
        "opine",
        "decide",
        "decide anew",
        "recuse",
        "aside",
    }
    assert wanted <= set(happened), wanted - set(happened)
    assert ReviewRound.objects.count() == 12


@pytest.mark.parametrize(
    ("place", "instead"),
    [
        ("reviews.judging.settle", lambda **_: None),
        ("reviews.arbitration._close", lambda *_: None),
        ("reviews.queue.LIVE_STATES", ["open", "waiting", "conflict", "closed"]),
    ],
    ids=["an item is not settled", "a decision closes nothing", "a settled pair lives on"],
)
def test_a_broken_rule_is_noticed(
    monkeypatch: pytest.MonkeyPatch, place: str, instead: Any
) -> None:
    """Each rule that is taken away breaks a story: the checks after every step are not empty."""
    monkeypatch.setattr(place, instead)

    def tell() -> None:
        for seed in range(12):
            story = Story(seed)
            for _ in range(60):
                story.step(story.chance.choice(OPERATIONS))
                story.check()

    with pytest.raises(AssertionError):
        tell()
