"""What comes out of a pair, and the advice that follows from it."""

from __future__ import annotations

import pytest

from reviews import arbitration
from reviews.outcomes import outcome_of, outcomes
from tests.reviews.world import judge, new_id, world

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("label", "advice"),
    [("copy", "建议合并检索入口"), ("revision", "有效修订"), ("citation", "公共引用"),
     ("template", "保留双方"), ("independent", "保留双方")],
)  # fmt: skip
def test_the_advice_of_each_label(label, advice):
    w = world(1)
    for someone in w.annotators[:2]:
        judge(w.round, someone, label)
    found = outcome_of(w.item())
    assert (found.label, found.advice) == (label, advice)
    assert (found.by, found.review_status, found.state) == ("agreement", "agreed", "closed")


def test_before_and_in_conflict():
    w = world(1)
    assert outcome_of(w.item()).advice == "保留双方"
    judge(w.round, w.annotators[0], "copy")
    found = outcome_of(w.item())
    assert (found.label, found.advice, found.review_status) == ("", "保留双方", "pending")
    judge(w.round, w.annotators[1], "template")
    found = outcome_of(w.item())
    assert (found.label, found.advice, found.review_status) == ("", "待仲裁", "conflict")


@pytest.mark.parametrize(
    ("given", "expected"),
    [(("left_first", "left_first"), "left_first"), (("left_first", "unknown"), "left_first"),
     (("unknown", "unknown"), "unknown"), (("same_origin", "same_origin"), "same_origin")],
)  # fmt: skip
def test_the_direction_that_was_given(given, expected):
    w = world(1)
    for someone, direction in zip(w.annotators, given, strict=False):
        judge(w.round, someone, "revision", direction=direction)
    assert outcome_of(w.item()).direction == expected


@pytest.mark.parametrize(
    ("kept", "expected"),
    [(("left", "left"), "left"), (("left", None), "left"), (("left", "right"), None), ((None, None), None)],
)  # fmt: skip
def test_the_entry_kept_is_the_one_nobody_contradicts(kept, expected):
    w = world(1)
    for someone, side in zip(w.annotators, kept, strict=False):
        judge(w.round, someone, "copy", kept=side)
    side = {"left": w.item().pair.left.pk, None: None}[expected]
    assert outcome_of(w.item()).kept == side


def test_all_at_once_is_the_same_as_one_by_one_and_needs_no_query_per_item(
    django_assert_num_queries,
):
    w = world(12)
    kinds = [("copy", "copy"), ("copy", "template"), ("revision", "revision"), ("template",)] * 3
    for labels in kinds:
        for someone, label in zip(w.annotators, labels, strict=False):
            judge(w.round, someone, label)
    for item in list(arbitration.conflicts(round=w.round))[:2]:
        arbitration.decide(
            id=new_id(), item=item, person=w.arbitrators[0], label="citation", reason="x"
        )
    single = [outcome_of(item) for item in w.items]
    with django_assert_num_queries(3):
        together = list(outcomes(w.round))
    assert together == single
    assert {o.review_status for o in together} == {"agreed", "conflict", "arbitrated", "pending"}
    assert [o.item_id for o in together] == [item.pk for item in w.items]
