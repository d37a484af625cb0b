"""Blindness at its source: what one person may see of one item."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from django.db.models import Model

from dedupreview.people.models import Role
from reviews import arbitration, judging
from reviews.items import ItemsError, canonical_direction, canonical_side, is_swapped, pair_view
from tests.reviews.world import claimed, judge, new_id, person, world

pytestmark = pytest.mark.django_db

SECRETS = ("甲的理由", "乙的理由")


def everything(value: object, seen: frozenset[int] = frozenset()) -> str:
    """All text that can be reached from a view through the fields that were loaded."""
    if id(value) in seen:
        return ""
    seen = seen | {id(value)}
    if isinstance(value, Model):
        fields = {k: v for k, v in vars(value).items() if k not in ("_state",)}
        return " ".join(everything(v, seen) for v in fields.values())
    if dataclasses.is_dataclass(value):
        return " ".join(everything(getattr(value, f.name), seen) for f in dataclasses.fields(value))
    if isinstance(value, dict):
        return " ".join(everything(v, seen) for v in value.values())
    if isinstance(value, (list, tuple)):
        return " ".join(everything(v, seen) for v in value)
    return str(value)


def disputed():
    w = world(1, arbitrators=2)
    judge(w.round, w.annotators[0], "copy", reason=SECRETS[0])
    judge(w.round, w.annotators[1], "template", reason=SECRETS[1])
    return w


@pytest.mark.parametrize("judged", [1, 2])
def test_while_a_pair_is_open_nobody_sees_anothers_judgment(judged):
    w = world(1, arbitrators=2)
    for number in range(judged):
        judge(w.round, w.annotators[number], ["copy", "template"][number], reason=SECRETS[number])
    auditor = person("auditor-x", Role.AUDITOR)
    for who in (*w.annotators, *w.arbitrators, w.admin, auditor):
        text = everything(pair_view(w.item(), who))
        own = [s for n, s in enumerate(SECRETS[:judged]) if who == w.annotators[n]]
        for secret in SECRETS:
            assert (secret in text) == (secret in own), (who, secret)


def test_an_annotator_does_not_learn_that_others_disagree():
    w = disputed()
    for who in w.annotators:
        view = pair_view(w.item(), who)
        assert (view.state, view.conflict, view.outcome) == ("open", "", None)
        assert (view.item.state, view.item.conflict) == ("open", "")
        assert "label" not in everything(view).split()


def test_an_admin_sees_that_there_is_a_conflict_but_not_of_which_kind():
    w = disputed()
    view = pair_view(w.item(), w.admin)
    assert (view.part, view.state, view.conflict, view.judgments) == ("reader", "conflict", "", [])


def test_where_one_judgment_is_asked_a_conflict_is_not_shown_to_readers():
    w = world(1, seats=1)
    judge(w.round, w.annotators[0], "undecided")
    assert pair_view(w.item(), w.admin).state == "waiting"
    assert pair_view(w.item(), w.arbitrators[0]).state == "conflict"


def test_the_kind_of_conflict_comes_after_ones_own_opinion():
    w = disputed()
    first, second = w.arbitrators
    view = pair_view(w.item(), first)
    assert (view.conflict, view.can_opine, view.can_decide) == ("", True, True)
    arbitration.give_opinion(id=new_id(), item=w.item(), person=first, label="copy")
    view = pair_view(w.item(), first)
    assert (view.conflict, view.can_opine, view.can_decide) == ("label", False, True)
    assert pair_view(w.item(), second).conflict == ""


def test_the_other_arbitrators_opinion_is_hidden_until_the_end():
    w = disputed()
    first, second = w.arbitrators
    arbitration.give_opinion(
        id=new_id(), item=w.item(), person=first, label="copy", reason="丙的理由"
    )
    assert "丙的理由" not in everything(pair_view(w.item(), second))
    assert "丙的理由" not in everything(pair_view(w.item(), w.admin))


def test_once_closed_everybody_of_the_round_sees_everything():
    w = disputed()
    arbitration.decide(
        id=new_id(), item=w.item(), person=w.arbitrators[0], label="copy", reason="裁定"
    )
    for who in (*w.annotators, *w.arbitrators, w.admin):
        view = pair_view(w.item(), who)
        text = everything(view)
        assert all(secret in text for secret in SECRETS)
        assert view.outcome.label == "copy"
        assert [a.reason for a in view.arbitrations] == ["裁定"]
        assert not view.can_correct


def test_a_stranger_sees_nothing():
    w = world(1)
    for stranger in (person("s1"), person("s2", Role.ARBITRATOR)):
        with pytest.raises(ItemsError):
            pair_view(w.item(), stranger)


def test_scores_are_hidden_from_those_who_judge_unless_the_round_shows_them():
    w = world(1)
    a, r = w.annotators[0], w.arbitrators[0]
    assert pair_view(w.item(), a).scores is None
    assert pair_view(w.item(), r).scores is None
    assert pair_view(w.item(), w.admin).scores.jaccard == 0.8
    w.round.show_scores = True
    w.round.save()
    assert pair_view(w.item(), a).scores.suggestion == "copy"


def test_what_one_may_do():
    w = world(1)
    a, b, _c = w.annotators
    assert not pair_view(w.item(), a).can_judge
    slot = claimed(w.round, a)
    view = pair_view(w.item(), a)
    assert (view.can_judge, view.slot, view.can_correct) == (True, slot, False)
    done = judging.submit(id=new_id(), slot=slot, person=a, label="copy")
    view = pair_view(w.item(), a)
    assert (view.can_judge, view.can_correct, view.own) == (False, True, [done.judgment])
    late = done.judgment.created_at + timedelta(minutes=10, seconds=1)
    assert not pair_view(w.item(), a, now=late).can_correct
    judge(w.round, b)
    assert not pair_view(w.item(), a).can_correct


def test_the_offer_to_correct_does_not_tell_that_somebody_disagrees():
    w = world(1)
    a, b, _c = w.annotators
    mine = judge(w.round, a, "copy").judgment
    before = pair_view(w.item(), a).can_correct
    judge(w.round, b, "template")
    assert pair_view(w.item(), a).can_correct == before is True
    with pytest.raises(judging.JudgingError):
        judging.submit(id=new_id(), slot=mine.slot, person=a, label="citation")


def test_the_sides_are_dealt_by_person_and_stay_so():
    w = world(40, annotators=2)
    a, b = w.annotators
    mine = [is_swapped(item, a) for item in w.items]
    assert mine == [is_swapped(item, a) for item in w.items]
    assert mine != [is_swapped(item, b) for item in w.items]
    assert 5 < sum(mine) < 35


def test_answers_about_shown_sides_become_answers_about_canonical_ones():
    for said, meant in [("left_first", "right_first"), ("right_first", "left_first"),
                        ("same_origin", "same_origin"), ("unknown", "unknown"), ("", "")]:  # fmt: skip
        assert canonical_direction(said, swapped=True) == meant
        assert canonical_direction(said, swapped=False) == said
    assert canonical_side("left", swapped=True) == "right"
    assert canonical_side("left", swapped=False) == "left"
    w = world(12)
    for item in w.items:
        view = pair_view(item, w.annotators[0])
        assert (view.shown_left == view.right) == view.swapped
        assert view.left.key < view.right.key
        assert view.side_order == ("right_left" if view.swapped else "left_right")


def test_the_form_of_an_uploaded_label_set_is_empty():
    from reviews import labelsets

    w = world(1)
    pair = w.item().pair
    csv = f"left,right,label\n{pair.left.doc_id},{pair.right.doc_id},citation\n".encode()
    labelsets.import_labels(collection=w.round.collection, name="外部", filename="x.csv", data=csv)
    claimed(w.round, w.annotators[0])
    view = pair_view(w.item(), w.annotators[0])
    assert (view.draft, view.own, view.outcome) == ({}, [], None)
    assert "citation" not in everything(view)
