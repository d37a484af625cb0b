"""The agreement of a round: from closed items and first blind judgments only, whatever else is in the database."""

from __future__ import annotations

import random

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from reviews import agreement, concord, tallies
from reviews.models import ReviewItem
from reviews.outcomes import first_answers
from tests.reviews.world import judge, world

pytestmark = pytest.mark.django_db


def played(pairs: int = 12, seed: int = 3):  # type: ignore[no-untyped-def]
    """A round in which two people judge everything and a third nothing; some pairs stay in conflict."""
    made = world(pairs, annotators=3)
    generator = random.Random(seed)
    for who in made.annotators[:2]:
        for _ in range(pairs):
            label = generator.choice(["copy", "copy", "copy", "revision", "template"])
            extra = {"direction": "left_first"} if label == "revision" else {}
            judge(made.round, who, label, active_ms=generator.randint(5, 60) * 1000, **extra)
    return made


def test_patterns_are_the_first_answers_of_closed_items() -> None:
    made = played()
    counted = concord.answers_of(tallies.tally_of(made.round))
    spread = [u for u, n in zip(counted.units, counted.times, strict=True) for _ in range(n)]
    one_by_one = list(first_answers(made.round))
    key = lambda unit: sorted(unit.items())  # noqa: E731
    assert sorted(spread, key=key) == sorted(one_by_one, key=key)
    assert counted.items == made.round.items.filter(state=ReviewItem.State.CLOSED).count() > 0


def test_nothing_of_an_open_pair_changes_the_page() -> None:
    made = played()
    admin = Client()
    admin.force_login(made.admin)
    address = reverse("reviews:agreement", args=[made.round.pk])
    conflicts = made.round.items.filter(state=ReviewItem.State.CONFLICT)
    assert conflicts.exists()
    before = concord.concord_of(made.round)
    # Somebody else's answers to pairs in conflict, whatever they were, are not in any figure.
    assert before.answers.items + before.open_items == made.round.items.count()
    assert sum(before.measures.counts.values()) == 2 * before.answers.items
    page = admin.get(address).content.decode()
    assert page.count("<svg") >= 1
    assert " style=" not in page


def test_only_those_who_oversee_see_it_and_only_admins_see_the_pace_of_people() -> None:
    made = played(4)
    address = reverse("reviews:agreement", args=[made.round.pk])
    client = Client()
    for person in (*made.annotators, *made.arbitrators):
        client.force_login(person)
        assert client.get(address).status_code == 404
    client.force_login(made.admin)
    page = client.get(address)
    assert page.context["people"]
    made.admin.role = "auditor"
    made.admin.save()
    assert client.get(address).context["people"] == []


def test_an_empty_round_says_why_there_is_no_figure() -> None:
    made = world(2)
    found = concord.concord_of(made.round)
    assert found.measures.percent.value is None
    client = Client()
    client.force_login(made.admin)
    with override("zh-hans"):
        page = client.get(reverse("reviews:agreement", args=[made.round.pk])).content.decode()
    assert "未定义" in page
    assert "nan" not in page.lower()


def test_the_pace_is_a_median_and_the_forecast_follows_from_it() -> None:
    made = world(3, annotators=2)
    for who, times in zip(made.annotators, ((10, 20, 30), (40, 50)), strict=True):
        for seconds in times:
            judge(made.round, who, "copy", active_ms=seconds * 1000)
    work = concord.workload(made.round)
    assert work.overall.judgments == 4  # the fifth belongs to a pair that is not closed
    assert [pace.judgments for pace in work.people] == [2, 2]
    assert work.overall.seconds == 20
    assert work.overall.per_hour == 180
    assert work.seats_left == 1
    assert work.hours_left == pytest.approx(20 / 3600)


def test_directions_are_compared_where_both_know_one() -> None:
    made = world(3, annotators=2)
    ways = [("left_first", "left_first"), ("left_first", "unknown"), ("right_first", "right_first")]
    for place, who in enumerate(made.annotators):
        for position, both in enumerate(ways, 1):
            del position
            judge(made.round, who, "revision", direction=both[place])
    found = concord.concord_of(made.round)
    assert (found.directions.value, found.directions.n) == (1.0, 2)
    none = concord.concord_of(world(1).round).directions
    assert (none.value, none.reason) == (None, concord.NO_DIRECTIONS)


def test_the_paragraph_carries_the_figures_in_both_languages() -> None:
    made = played()
    found = concord.concord_of(made.round)
    alpha = found.measures.krippendorff_alpha.value
    assert alpha is not None
    for language in ("zh-hans", "en"):
        with override(language):
            words = concord.methods(made.round, found)
        assert f"{alpha:.3f}" in words
        assert made.round.name in words
        assert "%(" not in words


def test_the_machine_is_set_against_agreed_answers_only() -> None:
    made = played()
    cells = tallies.tally_of(made.round).suggestions
    agreed = made.round.items.filter(closed_by="agreement").count()
    assert sum(cells.values()) == agreed
    assert {said for _label, said in cells} == {"copy"}


def test_counted_units_give_what_units_one_by_one_give() -> None:
    generator = random.Random(8)
    table = [
        {p: generator.choice("abc") for p in "xyz" if generator.random() < 0.8} for _ in range(200)
    ]
    keys = sorted({tuple(sorted(u.items())) for u in table})
    times = [sum(tuple(sorted(u.items())) == k for u in table) for k in keys]
    units = [dict(k) for k in keys]
    assert agreement.measures(units, times=times) == agreement.measures(table)
    assert agreement.pairwise(units, times=times) == agreement.pairwise(table)
    both = agreement.confusions(units, times=times)
    assert both == agreement.confusions(table)
    assert sum(both["x", "y"].values()) == sum("x" in u and "y" in u for u in table)
