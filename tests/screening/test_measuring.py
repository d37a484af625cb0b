"""Threshold records by hand, intervals by family, and a split that leaks nothing."""

from __future__ import annotations

import random

import pytest

from screening import measuring
from screening.measuring import Scored


def pair(n: int, label: str, score: float | None, family: str = "", **more: str) -> Scored:
    return Scored(f"a{n}", f"b{n}", label, family or f"f{n}", score, **more)


TABLE = [
    pair(1, "copy", 0.95),
    pair(2, "copy", 0.80),
    pair(3, "copy", 0.60),
    pair(4, "copy", None),
    pair(5, "revision", 0.92),
    pair(6, "revision", 0.40),
    pair(7, "template", 0.75),
    pair(8, "independent", None),
    pair(9, "undecided", 0.99),
    pair(10, "not_copy", 0.55),
]
"""Ten labelled pairs; number 9 is decided by nobody, number 4 was never retrieved."""


@pytest.mark.parametrize(
    ("threshold", "counts", "precision", "recall", "f1"),
    [
        # by hand:   tp fp fn tn
        (0.5, (3, 3, 1, 2), (3, 6), (3, 4), 6 / 10),
        (0.7, (2, 2, 2, 3), (2, 4), (2, 4), 4 / 8),
        (0.9, (1, 1, 3, 4), (1, 2), (1, 4), 2 / 6),
        (1.0, (0, 0, 4, 5), (0, 0), (0, 4), 0.0),
    ],
)
def test_a_confusion_table_by_hand(threshold, counts, precision, recall, f1) -> None:  # type: ignore[no-untyped-def]
    (record,) = measuring.records(TABLE, [threshold])
    assert (record.tp, record.fp, record.fn, record.tn) == counts
    assert record.labelled == 9
    assert (record.precision.part, record.precision.whole) == precision
    assert (record.recall.part, record.recall.whole) == recall
    assert record.f1 == pytest.approx(f1)
    # One of four copies was never retrieved: no threshold brings it back.
    assert (record.candidate_recall.part, record.candidate_recall.whole) == (3, 4)


def test_candidate_recall_is_not_recall_and_nothing_divided_by_nothing_is_empty() -> None:
    low = measuring.records(TABLE, [0.9])[0]
    assert low.recall.value == 0.25
    assert low.candidate_recall.value == 0.75
    assert measuring.records(TABLE, [1.0])[0].precision.value is None
    none = measuring.records([pair(1, "revision", 0.3)], [0.5])[0]
    assert (none.recall.value, none.candidate_recall.value, none.f1) == (None, None, None)
    assert measuring.records([], [0.5])[0].labelled == 0


def test_another_label_against_the_rest_leaves_out_what_is_only_known_not_to_be_a_copy() -> None:
    record = measuring.records(TABLE, [0.5], positive="revision")[0]
    assert (record.tp, record.fp, record.fn, record.tn) == (1, 4, 1, 2)


def test_every_error_has_its_reason() -> None:
    found = [(p.left, why) for p, why in measuring.errors(TABLE, 0.7)]
    assert found == [
        ("a3", "below_threshold"),
        ("a4", "not_retrieved"),
        ("a5", "label_differs"),
        ("a7", "label_differs"),
    ]


def test_intervals_know_that_a_family_is_one_observation() -> None:
    """Forty pairs of two families say less than forty pairs of forty families."""
    apart = [pair(n, "copy", 0.9 if n % 2 else 0.3) for n in range(40)]
    together = [pair(n, "copy", 0.9 if n % 2 else 0.3, family="xy"[n % 2]) for n in range(40)]
    wide = measuring.records(together, [0.5])[0].recall
    narrow = measuring.records(apart, [0.5])[0].recall
    assert wide.value == narrow.value == 0.5
    assert (wide.low, wide.high) == (0.0, 1.0)
    assert narrow.low is not None
    assert narrow.high is not None
    assert 0.3 < narrow.low < 0.5 < narrow.high < 0.7
    assert measuring.records(random.Random(1).sample(apart, 40), [0.5])[0].recall == narrow


def test_groups_and_histogram_count_everything_once() -> None:
    some = [pair(1, "copy", 0.9, source="甲"), pair(2, "copy", None, source="乙")]
    parts = measuring.by_group(some, lambda p: p.source, 0.5, "copy")
    assert {name: (r.tp, r.fn) for name, r in parts.items()} == {"甲": (1, 0), "乙": (0, 1)}
    bins = measuring.histogram([*TABLE, pair(11, "copy", 1.0)])
    assert sum(map(sum, bins.values())) == 8
    assert bins["copy"][19] == 2
    assert bins["template"][15] == 1
    assert "undecided" not in bins


def test_the_suggestion_is_set_against_the_label() -> None:
    some = [
        pair(1, "copy", 0.9, suggestion="copy"),
        pair(2, "copy", 0.9, suggestion="revision"),
        pair(3, "independent", None),
    ]
    assert measuring.suggestions(some) == {
        ("copy", "copy"): 1,
        ("copy", "revision"): 1,
        ("independent", "independent"): 1,
    }


def test_the_predicted_miss_is_that_of_the_banding() -> None:
    assert measuring.chance_of_missing(0.5, 30, 4) == pytest.approx((15 / 16) ** 30)
    assert measuring.chance_of_missing(1.0, 30, 4) == 0.0
    assert measuring.observed_recall([(0.95, True), (1.0, True), (0.5, False)]) == [
        (0.55, 0, 1),
        (0.95, 2, 2),
    ]


def test_no_family_is_in_both_halves() -> None:
    generator = random.Random(4)
    labels = ["copy", "revision", "citation", "independent"]
    some = []
    for n in range(400):
        one, other = generator.sample(range(300), 2)
        label = labels[min(3, int(generator.random() * 5))]
        some.append(Scored(f"d{one}", f"d{other}", label, "", 0.5, line=n))
    halves = measuring.split(some[:150])
    assert halves.shared == 0
    assert len(halves.tuning) + len(halves.acceptance) + len(halves.crossing) == 150
    assert halves.tuning
    assert halves.acceptance
    for p in halves.crossing:
        assert p.label in ("citation", "independent")
    named = dict.fromkeys(("d1", "d2"), "法甲")
    given = [Scored(f"d{n % 3}", f"x{n}", "template", "", 0.5) for n in range(60)]
    both = measuring.split(given, named)
    sides = [{p.left for p in part} & set(named) for part in (both.tuning, both.acceptance)]
    assert sorted(sides, key=len) == [set(), set(named)]
