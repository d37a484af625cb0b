"""Counts of a round in blocks: what the rows say, whatever was remembered, and on both kinds of database the same."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviews import agreement, concord, tallies
from reviews.labels import Label
from reviews.models import ReviewItem, ReviewRound
from reviews.outcomes import first_answers
from tests.reviews.world import World, judge, world

pytestmark = pytest.mark.django_db

LABELS = ("copy", "copy", "revision", "template", "undecided")


def played(pairs: int, *, seats: int = 2, annotators: int = 3, seed: int = 1) -> World:
    made = world(pairs, seats=seats, annotators=annotators)
    generator = random.Random(seed)
    for who in made.annotators[:seats]:
        for _ in range(pairs):
            label = generator.choice(LABELS)
            way = generator.choice(["left_first", "right_first", "unknown"])
            extra = {"direction": way} if label == "revision" else {}
            judge(made.round, who, label, active_ms=generator.randint(1, 90_000), **extra)
    return made


def close(made: World, states: tuple[str, ...] = ("conflict",)) -> None:
    """As an arbitrator would leave them; how is of no importance here."""
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    made.round.items.filter(state__in=states).update(
        state="closed", closed_by="arbitration", closed_at=now, conflict="label"
    )


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("block", [4, 50_000])
def test_blocks_give_what_the_rows_one_by_one_give(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, seats: int, block: int
) -> None:
    del data_dir
    monkeypatch.setattr(tallies, "BLOCK", block)
    made = played(14, seats=seats)
    close(made)
    found = concord.concord_of(made.round)
    by_rows = agreement.measures(first_answers(made.round), labels=Label.values)
    assert found.measures == by_rows
    assert found.answers.items == 14
    assert found.people == seats
    # and once more from the files
    assert concord.concord_of(made.round) == found


def test_of_very_many_people_no_names_are_kept_and_the_measures_stay(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del data_dir
    made = played(10)
    close(made)
    before = concord.concord_of(made.round)
    monkeypatch.setattr(tallies, "MOST_NAMED", 2)  # three annotators are too many now
    after = concord.concord_of(made.round)
    assert after.by_people == {}
    assert after.pairwise == {}
    for name in ("percent", "krippendorff_alpha", "gwet_ac1", "fleiss_kappa"):
        assert after.measures[name] == before.measures[name]
    assert after.measures.per_label == before.measures.per_label
    assert after.confusion == before.confusion
    assert after.directions == before.directions


def test_places_of_unnamed_answers_are_not_taken_for_two_people(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del data_dir
    monkeypatch.setattr(tallies, "MOST_NAMED", 2)
    made = world(3, annotators=3)
    for one, other in ((0, 1), (1, 2), (0, 2)):
        for who in (one, other):
            judge(made.round, made.annotators[who], "copy")
    found = concord.concord_of(made.round)
    assert found.people == 3
    assert found.measures.cohen_kappa.reason == agreement.NOT_TWO_PEOPLE


def test_what_is_remembered_gives_way_when_another_pair_closes(data_dir: Path) -> None:
    made = world(2, annotators=2)
    for number, label in enumerate(("copy", "template"), 1):
        for who in made.annotators:
            judge(made.round, who, label)
        tally = tallies.tally_of(made.round)
        assert sum(tally.patterns.values()) == number
        assert sum(tally.suggestions.values()) == number
        assert sum(tally.quarters.values()) == number
    (file,) = (data_dir / "cache" / "tallies").rglob("*.json")
    file.write_text('{"state": [1, 2, 1], "patterns": 7}', "utf-8")
    assert tallies.tally_of(made.round) == tally
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("no folder", "utf-8")  # nothing can be kept: counted all the same
    assert tallies.tally_of(made.round) == tally


def test_nothing_of_open_pairs_is_in_a_file(data_dir: Path) -> None:
    made = world(2, annotators=2)
    judge(made.round, made.annotators[0], "template")
    tallies.tally_of(made.round)
    assert not (data_dir / "cache" / "tallies").exists()
    judge(made.round, made.annotators[1], "copy")
    assert made.round.items.filter(state=ReviewItem.State.CONFLICT).exists()
    assert tallies.tally_of(made.round).patterns == {}


def test_the_sweep_counts_beforehand_and_no_reader_counts_again(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del data_dir
    made = played(6)
    close(made)
    monkeypatch.setattr(tallies, "_next_sweep", 0.0)
    monkeypatch.setattr(tallies, "_swept", {})
    assert tallies.sweep() == 0
    by_rows = tallies._count(made.round, 0, named=True)

    def nobody(*_given: object, **_named: object) -> tallies.Tally:
        raise AssertionError("counted again")

    monkeypatch.setattr(tallies, "_count", nobody)
    assert tallies.tally_of(made.round) == by_rows
    tallies.sweep()  # within the minute nothing is looked at


def test_days_are_those_of_the_place(data_dir: Path) -> None:
    del data_dir
    made = world(3)
    moments = (
        datetime(2026, 3, 1, 15, 59, tzinfo=UTC),  # 23:59 in Shanghai
        datetime(2026, 3, 1, 16, 0, tzinfo=UTC),
        datetime(2026, 3, 4, 1, 0, tzinfo=UTC),
    )
    for item, moment in zip(made.items, moments, strict=True):
        ReviewItem.objects.filter(pk=item.pk).update(
            state="closed", closed_by="agreement", closed_at=moment
        )
    days = tallies.tally_of(ReviewRound.objects.get(pk=made.round.pk)).closed_by_day()
    assert days == [("2026-03-01", 1), ("2026-03-02", 2), ("2026-03-04", 3)]
