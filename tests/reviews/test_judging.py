"""Judgments: what is stored, what is refused, what counts."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from reviews import judging, queue
from reviews.judging import JudgingError
from reviews.models import Draft, Judgment, ReviewItem, ReviewRound, ReviewSlot
from reviews.records import is_intact, record_fields
from tests.reviews.world import claimed, judge, new_id, person, world

pytestmark = pytest.mark.django_db

NOW = timezone.now()


def code_of(call) -> str:
    with pytest.raises(JudgingError) as refusal:
        call()
    assert str(refusal.value)
    return refusal.value.code


# --- What is stored ---------------------------------------------------------------------------------------------------


def test_a_judgment_fills_the_seat_and_carries_its_digest():
    w = world(1)
    a = w.annotators[0]
    slot = claimed(w.round, a)
    done = judging.submit(
        id=new_id(),
        slot=slot,
        person=a,
        label="copy",
        kept="left",
        evidence=[{"left": [0, 4], "right": [0, 4]}],
        checklist={"dates": True},
        shown={"side_order": "right_left", "scores": False},
        active_ms=41_000,
        now=NOW,
    )
    stored = Judgment.objects.get()
    assert (done.status, done.judgment) == ("created", stored)
    assert stored.counted
    assert stored.reason_code == "same_text"
    assert stored.kept == w.item().pair.left
    assert stored.guideline_version == 1
    assert stored.created_at == NOW
    assert is_intact(stored)
    fields = record_fields(stored)
    assert fields["annotator"] == a.code
    assert fields["kept"] == w.item().pair.left.doc_id
    assert a.username not in str(fields)
    slot.refresh_from_db()
    assert (slot.state, slot.lease_expires_at) == (ReviewSlot.State.FILLED, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("label", "template"),
        ("reason", "x"),
        ("reason_code", "layout_only"),
        ("shown", {"scores": True}),
        ("evidence", [1]),
        ("checklist", {"dates": False}),
        ("active_ms", 1),
        ("counted", False),
        ("version", 2),
        ("guideline_version", 2),
        ("created_at", NOW + timedelta(microseconds=1)),
    ],
)
def test_every_content_field_is_under_the_digest(field, value):
    w = world(1)
    done = judge(w.round, w.annotators[0], now=NOW)
    judgment = Judgment.objects.get(pk=done.judgment.pk)
    assert is_intact(judgment)
    setattr(judgment, field, value)
    assert not is_intact(judgment)


def test_the_text_that_was_judged_is_under_the_digest():
    w = world(1)
    judgment = judge(w.round, w.annotators[0]).judgment
    judgment.item.pair.left.raw_sha256 = "f" * 64
    assert not is_intact(judgment)


def test_a_revision_without_direction_is_unknown_and_keeps_the_canonical_one():
    w = world(2)
    a = w.annotators[0]
    assert judge(w.round, a, "revision").judgment.direction == "unknown"
    swapped = judge(
        w.round, a, "revision", direction="left_first", shown={"side_order": "right_left"}
    )
    assert swapped.judgment.direction == "left_first"
    assert swapped.judgment.shown["side_order"] == "right_left"


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_entry_kept_may_be_named_by_side_key_or_document(side):
    w = world(3)
    a = w.annotators[0]
    for position in (1, 2, 3):
        pair = w.item(position).pair
        document = getattr(pair, side)
        spelling = [side, str(document.pk), document][position - 1]
        assert judge(w.round, a, kept=spelling).judgment.kept == document


# --- What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("label", {"label": "duplicate"}),
        ("label", {"label": "not_copy"}),
        ("label", {"label": ""}),
        ("direction", {"label": "copy", "direction": "left_first"}),
        ("direction", {"label": "revision", "direction": "sideways"}),
        ("reason_code", {"label": "copy", "reason_code": "same_form"}),
        ("reason", {"label": "undecided"}),
        ("reason", {"label": "undecided", "reason": " \n　"}),
        ("reason", {"label": "copy", "reason_code": "other"}),
        ("reason", {"label": "copy", "reason": "字" * 5001}),
        ("reason", {"label": "copy", "reason": "a\x00b"}),
        ("reason", {"label": "copy", "reason": "a\ud800b"}),
        ("kept", {"label": "template", "kept": "left"}),
        ("kept", {"label": "copy", "kept": "middle"}),
        ("kept", {"label": "copy", "kept": 10**9}),
        ("json", {"label": "copy", "shown": {"score": float("nan")}}),
        ("json", {"label": "copy", "shown": {"n": 2**60}}),
        ("json", {"label": "copy", "shown": {"t": "\x00"}}),
        ("json", {"label": "copy", "shown": {"t": "\udfff"}}),
        ("json", {"label": "copy", "shown": {"t": object()}}),
        ("json", {"label": "copy", "evidence": ["x" * 70_000]}),
        ("json", {"label": "copy", "checklist": {"t": float("inf")}}),
        ("active_ms", {"label": "copy", "active_ms": -1}),
        ("active_ms", {"label": "copy", "active_ms": True}),
    ],
)
def test_content_that_does_not_fit_is_refused_and_leaves_nothing(code, content):
    w = world(1)
    a = w.annotators[0]
    slot = claimed(w.round, a)
    assert code_of(lambda: judging.submit(id=new_id(), slot=slot, person=a, **content)) == code
    assert not Judgment.objects.exists()
    slot.refresh_from_db()
    assert slot.state == ReviewSlot.State.CLAIMED


def test_a_seat_that_was_never_ones_own_is_refused():
    w = world(1)
    a, b, _c = w.annotators
    slot = claimed(w.round, a)
    for someone, code in ((b, "not_yours"), (person("x"), "not_a_member"), (w.admin, "not_a_member"),
                          (w.arbitrators[0], "not_a_member")):  # fmt: skip
        assert (
            code_of(
                lambda someone=someone: judging.submit(
                    id=new_id(), slot=slot, person=someone, label="copy"
                )
            )
            == code
        )
    assert not Judgment.objects.exists()


def test_a_free_seat_cannot_be_answered_without_claiming():
    w = world(1)
    slot = w.item().slots.first()
    assert (
        code_of(
            lambda: judging.submit(id=new_id(), slot=slot, person=w.annotators[0], label="copy")
        )
        == "not_yours"
    )


def test_after_recusing_no_answer_is_taken():
    w = world(1)
    a = w.annotators[0]
    slot = claimed(w.round, a)
    queue.release(slot=slot, person=a, how="recuse")
    assert (
        code_of(lambda: judging.submit(id=new_id(), slot=slot, person=a, label="copy")) == "recused"
    )


# --- Sending twice ----------------------------------------------------------------------------------------------------


def test_the_same_submission_twice_is_one_judgment():
    w = world(2)
    a = w.annotators[0]
    slot = claimed(w.round, a)
    same = {
        "id": new_id(),
        "slot": slot,
        "person": a,
        "label": "revision",
        "direction": "left_first",
    }
    first = judging.submit(**same, active_ms=1000)
    second = judging.submit(**same, active_ms=1900, shown={"scrolled": True})
    assert (first.status, second.status) == ("created", "replayed")
    assert first.judgment == second.judgment
    assert Judgment.objects.count() == 1
    assert claimed(w.round, a).item_id == w.item(2).pk


def test_a_replay_is_known_even_when_the_pair_is_settled_meanwhile():
    w = world(1)
    a, b, _c = w.annotators
    slot = claimed(w.round, a)
    same = {"id": new_id(), "slot": slot, "person": a, "label": "copy"}
    judging.submit(**same)
    judge(w.round, b)
    assert judging.submit(**same).status == "replayed"


@pytest.mark.parametrize(
    "other",
    [{"label": "template"}, {"label": "copy", "reason": "x"}, {"label": "copy", "kept": "left"}],
)
def test_the_same_id_with_other_content_is_refused(other):
    w = world(1)
    a = w.annotators[0]
    slot = claimed(w.round, a)
    id = new_id()
    judging.submit(id=id, slot=slot, person=a, label="copy")
    assert code_of(lambda: judging.submit(id=id, slot=slot, person=a, **other)) == "id_taken"
    assert Judgment.objects.get().label == "copy"


def test_somebody_elses_id_is_refused():
    w = world(1)
    a, b, _c = w.annotators
    known = judge(w.round, a).judgment
    slot = claimed(w.round, b)
    assert (
        code_of(lambda: judging.submit(id=known.pk, slot=slot, person=b, label="copy"))
        == "id_taken"
    )


def test_two_tabs_never_make_two_counted_first_judgments():
    w = world(1)
    a = w.annotators[0]
    slot = claimed(w.round, a)
    judging.submit(id=new_id(), slot=slot, person=a, label="copy")
    second = judging.submit(id=new_id(), slot=slot, person=a, label="template")
    assert second.status == "corrected"
    assert (second.judgment.version, second.judgment.supersedes.label) == (2, "copy")
    assert Judgment.objects.filter(counted=True, version=1).count() == 1
    assert [j.label for j in judging.latest_counted(w.item())] == ["template"]


# --- Corrections ------------------------------------------------------------------------------------------------------


def correct(slot, who, label="template", **extra):
    return judging.submit(id=new_id(), slot=slot, person=who, label=label, **extra)


def test_a_correction_changes_no_byte_of_the_first_judgment():
    w = world(1)
    a = w.annotators[0]
    first = judge(w.round, a).judgment
    before = Judgment.objects.filter(pk=first.pk).values().get()
    correct(first.slot, a)
    assert Judgment.objects.filter(pk=first.pk).values().get() == before


def test_the_grace_time_counts_from_the_first_judgment():
    w = world(1)
    a = w.annotators[0]
    slot = judge(w.round, a, now=NOW).judgment.slot
    correct(slot, a, now=NOW + timedelta(minutes=9))
    correct(slot, a, "citation", now=NOW + timedelta(minutes=10))
    assert (
        code_of(lambda: correct(slot, a, now=NOW + timedelta(minutes=10, seconds=1)))
        == "grace_over"
    )
    assert [j.version for j in w.item().judgments.order_by("version")] == [1, 2, 3]


@pytest.mark.parametrize("other", ["copy", "template"])
def test_the_closing_judgment_ends_the_grace_time(other):
    w = world(1)
    a, b, _c = w.annotators
    slot = judge(w.round, a, now=NOW).judgment.slot
    judge(w.round, b, other, now=NOW)
    assert code_of(lambda: correct(slot, a, now=NOW)) == "closed"
    assert w.item().judgments.count() == 2


def test_what_counts_at_the_end_is_the_correction():
    w = world(1)
    a, b, _c = w.annotators
    correct(judge(w.round, a).judgment.slot, a, "template")
    judge(w.round, b, "template")
    item = w.item()
    assert (item.state, item.closed_by) == (ReviewItem.State.CLOSED, "agreement")


# --- Late answers -----------------------------------------------------------------------------------------------------


def test_a_late_answer_to_a_seat_that_somebody_took_is_kept_and_not_counted():
    w = world(1, seats=1)
    a, b, _c = w.annotators
    slot = claimed(w.round, a, now=NOW)
    claimed(w.round, b, now=NOW + timedelta(hours=1))
    late = judging.submit(
        id=new_id(), slot=slot, person=a, label="template", now=NOW + timedelta(hours=1)
    )
    assert (late.status, late.judgment.counted) == ("lapsed", False)
    assert is_intact(late.judgment)
    slot.refresh_from_db()
    assert slot.annotator == b
    done = judging.submit(
        id=new_id(), slot=slot, person=b, label="copy", now=NOW + timedelta(hours=1)
    )
    assert done.status == "created"
    item = w.item()
    assert (item.state, item.closed_by) == (ReviewItem.State.CLOSED, "agreement")
    assert w.item().judgments.filter(counted=True).get().annotator == b


def test_a_late_answer_after_the_seat_is_filled_is_kept_too_and_so_is_its_replay():
    w = world(1, seats=1)
    a, b, _c = w.annotators
    slot = claimed(w.round, a, now=NOW)
    judge(w.round, b, now=NOW + timedelta(hours=1))
    same = {"id": new_id(), "slot": slot, "person": a, "label": "template"}
    assert judging.submit(**same).status == "lapsed"
    assert judging.submit(**same).status == "lapsed"
    assert w.item().judgments.count() == 2
    assert queue.claim(round=w.round, person=a) == queue.Nothing("all_done")


def test_a_late_answer_counts_while_nobody_took_the_seat():
    w = world(1, seats=1)
    a = w.annotators[0]
    slot = claimed(w.round, a, now=NOW)
    done = judging.submit(
        id=new_id(), slot=slot, person=a, label="copy", now=NOW + timedelta(days=2)
    )
    assert (done.status, done.judgment.counted) == ("created", True)


def test_an_answer_counts_for_the_seat_one_holds_even_if_the_page_names_a_lost_one():
    w = world(1)
    a, b, c = w.annotators
    lost = claimed(w.round, a, now=NOW)
    hour = NOW + timedelta(hours=1)
    other = claimed(w.round, b, now=hour)
    assert claimed(w.round, c, now=hour).pk == lost.pk
    queue.release(slot=other, person=b, how="later", now=hour)
    now_held = claimed(w.round, a, now=hour)
    assert now_held.pk == other.pk
    done = judging.submit(id=new_id(), slot=lost, person=a, label="copy", now=hour)
    assert (done.status, done.judgment.slot_id) == ("created", other.pk)


def test_whoever_left_the_round_is_kept_as_surplus():
    from reviews import members

    w = world(1)
    a = w.annotators[0]
    slot = claimed(w.round, a)
    members.remove_member(round=w.round, person=a)
    done = judging.submit(id=new_id(), slot=slot, person=a, label="copy")
    assert (done.status, done.judgment.counted) == ("lapsed", False)
    assert w.item().state == ReviewItem.State.OPEN


# --- Settling ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "state", "conflict"),
    [
        ([("copy", ""), ("copy", "")], "closed", ""),
        ([("copy", ""), ("template", "")], "conflict", "label"),
        ([("revision", "left_first"), ("revision", "left_first")], "closed", ""),
        ([("revision", "left_first"), ("revision", "right_first")], "conflict", "direction"),
        ([("revision", "left_first"), ("revision", "same_origin")], "conflict", "direction"),
        ([("revision", "left_first"), ("revision", "")], "closed", ""),
        ([("revision", ""), ("revision", "unknown")], "closed", ""),
        ([("undecided", ""), ("undecided", "")], "conflict", "undecided"),
        ([("undecided", ""), ("copy", "")], "conflict", "undecided"),
        ([("undecided", "")], "conflict", "undecided"),
        ([("copy", "")], "closed", ""),
        ([("copy", ""), ("copy", ""), ("copy", "")], "closed", ""),
        ([("copy", ""), ("copy", ""), ("template", "")], "conflict", "label"),
        ([("copy", ""), ("template", ""), ("citation", "")], "conflict", "label"),
    ],
)
def test_the_last_seat_settles_the_pair(answers, state, conflict):
    w = world(1, seats=len(answers))
    for number, (someone, (label, direction)) in enumerate(
        zip(w.annotators, answers, strict=False)
    ):
        assert w.item().state == ("waiting" if number else "open")
        judge(w.round, someone, label, direction=direction)
    item = w.item()
    assert (item.state, item.conflict) == (state, conflict)
    assert (item.closed_by, item.closed_at is None) == (
        ("agreement", False) if state == "closed" else ("", True)
    )


def test_a_tie_is_never_broken_by_chance():
    for _ in range(10):
        w = world(1)
        judge(w.round, w.annotators[0], "copy")
        judge(w.round, w.annotators[1], "template")
        item = w.item()
        assert (item.state, item.closed_by, item.conflict) == ("conflict", "", "label")


# --- Drafts and history -----------------------------------------------------------------------------------------------


def test_a_draft_is_kept_and_gone_after_the_judgment():
    w = world(1)
    a, b, _c = w.annotators
    slot = claimed(w.round, a)
    judging.save_draft(item=slot.item, person=a, data={"reason": "写到一半"})
    judging.save_draft(item=slot.item, person=a, data={"reason": "写完"})
    assert judging.draft_of(slot.item, a) == {"reason": "写完"}
    assert judging.draft_of(slot.item, b) == {}
    judging.submit(id=new_id(), slot=slot, person=a, label="copy")
    assert not Draft.objects.exists()


def test_a_draft_of_a_stranger_is_refused():
    w = world(1)
    assert (
        code_of(lambda: judging.save_draft(item=w.item(), person=person("x"), data={}))
        == "not_a_member"
    )


def test_the_history_is_ones_own():
    w = world(2)
    a, b, _c = w.annotators
    mine = judge(w.round, a, now=NOW).judgment
    judge(w.round, b, now=NOW)
    second = correct(mine.slot, a, now=NOW) if w.item().state == "waiting" else None
    third = judge(w.round, a, now=NOW + timedelta(minutes=1)).judgment
    assert second is None
    assert list(judging.history_of(a)) == [third, mine]


def test_judgments_from_an_uploaded_set_or_suggestion_never_count():
    w = world(3)
    assert {c.suggestion for c in w.run.candidates.all()} == {"copy"}
    assert not Judgment.objects.exists()
    from reviews import rounds

    now = rounds.progress(w.round)
    assert (now.items, now.open, now.closed, now.filled) == (3, 3, 0, 0)


def test_guideline_version_is_that_of_the_moment():
    from reviews import rounds

    w = world(2)
    a = w.annotators[0]
    assert judge(w.round, a).judgment.guideline_version == 1
    rounds.publish_guideline(round=w.round, text="新的一版", actor=w.admin)
    assert judge(w.round, a).judgment.guideline_version == 2
    assert ReviewRound.objects.get().guidelines.count() == 2


def test_an_unknown_slot_id_of_another_pair_does_not_fill_it():
    w = world(2)
    a = w.annotators[0]
    claimed(w.round, a)
    other = w.item(2).slots.first()
    assert (
        code_of(lambda: judging.submit(id=uuid.uuid4(), slot=other, person=a, label="copy"))
        == "not_yours"
    )
