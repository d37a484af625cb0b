"""Opinion, originals, decision: in this order, by somebody else, and never twice over."""

from __future__ import annotations

import uuid

import pytest

from dedupreview.people.models import AuditEvent, Role
from reviews import arbitration, judging, members, outcomes
from reviews.agreement import measures
from reviews.arbitration import ArbitrationError
from reviews.models import Arbitration, Judgment, Opinion, ReviewItem, ReviewRound, RoundMember
from reviews.records import is_intact, record_fields
from tests.reviews.world import claimed, judge, new_id, person, world

pytestmark = pytest.mark.django_db


def disputed(
    pairs: int = 1, *, arbitrators: int = 2, labels: tuple[str, str] = ("copy", "template")
):
    w = world(pairs, arbitrators=arbitrators)
    for _ in range(pairs):
        for someone, label in zip(w.annotators, labels, strict=False):
            judge(w.round, someone, label)
    return w


def opine(w, who=0, label="template", position=1, **extra):
    return arbitration.give_opinion(
        id=new_id(), item=w.item(position), person=w.arbitrators[who], label=label, **extra
    )


def decide(w, who=0, label="copy", position=1, **extra):
    extra.setdefault("reason", "两篇同出一稿")
    extra.setdefault("id", new_id())
    return arbitration.decide(
        item=w.item(position), person=w.arbitrators[who], label=label, **extra
    )


def code_of(call) -> str:
    with pytest.raises(ArbitrationError) as refusal:
        call()
    assert str(refusal.value)
    return refusal.value.code


def test_only_conflicts_wait_and_they_wait_in_order():
    w = world(3)
    for labels in (("copy", "template"), ("copy", "copy"), ("undecided", "undecided")):
        for someone, label in zip(w.annotators, labels, strict=False):
            judge(w.round, someone, label)
    assert [item.position for item in arbitration.conflicts(round=w.round)] == [1, 3]


def test_opinion_then_originals_then_decision():
    w = disputed()
    opinion = opine(w)
    seen = arbitration.originals(item=w.item(), person=w.arbitrators[0])
    assert {j.label for j in seen} == {"copy", "template"}
    decision = decide(w, cause_code="overlooked")
    item = w.item()
    assert (item.state, item.closed_by, item.revision) == ("closed", "arbitration", 1)
    assert item.conflict == "label"
    assert decision.opinion == opinion
    assert decision.saw_originals
    assert sorted(decision.based_on) == sorted(str(j.pk) for j in seen)
    assert is_intact(Arbitration.objects.get())
    assert is_intact(Opinion.objects.get())
    assert record_fields(decision)["arbitrator"] == w.arbitrators[0].code


@pytest.mark.parametrize(
    ("field", "value"),
    [("label", "citation"), ("saw_originals", False), ("based_on", []), ("cause_code", "slip"),
     ("version", 2), ("reason", "x"), ("opinion_id", None)],
)  # fmt: skip
def test_every_field_of_a_decision_is_under_its_digest(field, value):
    w = disputed()
    opine(w)
    decide(w)
    row = Arbitration.objects.get()
    assert is_intact(row)
    setattr(row, field, value)
    assert not is_intact(row)


def test_the_originals_are_refused_before_the_opinion_and_to_everybody_else():
    w = disputed()
    opine(w, who=0)
    readers = [
        w.arbitrators[1],
        w.annotators[0],
        w.annotators[2],
        w.admin,
        person("au", Role.AUDITOR),
    ]
    codes = [
        code_of(lambda who=who: arbitration.originals(item=w.item(), person=who)) for who in readers
    ]
    assert codes == ["opinion_first", *["not_an_arbitrator"] * 4]
    assert not AuditEvent.objects.filter(action="originals.read").exists()


def test_each_reading_of_the_originals_is_on_record():
    w = disputed()
    opine(w)
    for _ in range(2):
        arbitration.originals(item=w.item(), person=w.arbitrators[0])
    events = AuditEvent.objects.filter(action="originals.read", actor=w.arbitrators[0])
    assert [e.subject_id for e in events] == [str(w.item().pk)] * 2
    assert "copy" not in str([e.data for e in events])


def test_a_decision_without_opinion_says_so():
    w = disputed()
    decision = decide(w)
    assert (decision.opinion, decision.saw_originals, decision.based_on) == (None, False, [])


def test_without_opinion_nothing_can_be_based_on_the_originals():
    w = disputed()
    judgment = Judgment.objects.first()
    assert code_of(lambda: decide(w, based_on=[judgment.pk])) == "based_on"


def test_based_on_must_name_judgments_of_this_pair():
    w = disputed(2)
    opine(w)
    other = w.item(2).judgments.first()
    assert code_of(lambda: decide(w, based_on=[other.pk])) == "based_on"
    assert code_of(lambda: decide(w, based_on=["no-such"])) == "based_on"
    mine = w.item(1).judgments.first()
    assert decide(w, based_on=[mine.pk]).based_on == [str(mine.pk)]


@pytest.mark.parametrize("act", [opine, decide])
def test_whoever_judged_the_pair_never_arbitrates_it(act):
    w = disputed()
    RoundMember.objects.filter(round=w.round, person=w.annotators[0]).update(part="arbitrator")
    w.arbitrators[0] = w.annotators[0]
    assert code_of(lambda: act(w)) == "judged_it"
    assert not Opinion.objects.exists()
    assert not Arbitration.objects.exists()


def test_not_even_with_a_surplus_judgment():
    from datetime import timedelta

    from django.utils import timezone

    w = world(1, seats=1, arbitrators=1)
    a, b, _c = w.annotators
    now = timezone.now()
    slot = claimed(w.round, a, now=now)
    judge(w.round, b, "undecided", now=now + timedelta(hours=1))
    judging.submit(id=new_id(), slot=slot, person=a, label="copy")
    RoundMember.objects.filter(round=w.round, person=a).update(part="arbitrator")
    w.arbitrators[0] = a
    assert code_of(lambda: opine(w)) == "judged_it"


@pytest.mark.parametrize("act", [opine, decide])
def test_only_active_arbitrators_of_the_round(act):
    w = disputed()
    for outsider in (w.annotators[2], w.admin, person("other", Role.ARBITRATOR)):
        w.arbitrators[0] = outsider
        assert code_of(lambda: act(w)) == "not_an_arbitrator"
    left = w.arbitrators[1]
    members.remove_member(round=w.round, person=left)
    assert code_of(lambda: act(w, who=1)) == "not_an_arbitrator"


@pytest.mark.parametrize("act", [opine, decide])
@pytest.mark.parametrize("state", ["frozen", "closed"])
def test_only_while_the_round_is_open(act, state):
    w = disputed()
    ReviewRound.objects.update(state=state)
    assert code_of(lambda: act(w)) == "round_not_open"


@pytest.mark.parametrize("act", [opine, decide])
@pytest.mark.parametrize("labels", [("copy", "copy"), ("copy",), ()])
def test_only_pairs_in_conflict(act, labels):
    w = world(1)
    for someone, label in zip(w.annotators, labels, strict=False):
        judge(w.round, someone, label)
    assert code_of(lambda: act(w)) == "not_in_conflict"


def test_one_opinion_each_and_its_replay():
    w = disputed()
    item, who = w.item(), w.arbitrators[0]
    same = {"id": new_id(), "item": item, "person": who, "label": "template"}
    assert arbitration.give_opinion(**same) == arbitration.give_opinion(**same)
    assert code_of(lambda: arbitration.give_opinion(**{**same, "label": "copy"})) == "id_taken"
    assert code_of(lambda: arbitration.give_opinion(**{**same, "id": new_id()})) == "opinion_given"
    assert opine(w, who=1)
    assert Opinion.objects.count() == 2


def test_an_opinion_stays_replayable_after_the_decision():
    w = disputed()
    same = {"id": new_id(), "item": w.item(), "person": w.arbitrators[0], "label": "template"}
    given = arbitration.give_opinion(**same)
    decide(w)
    assert arbitration.give_opinion(**same) == given


def test_a_decision_needs_words():
    w = disputed()
    for reason in ("", " 　\n"):
        assert code_of(lambda reason=reason: decide(w, reason=reason)) == "reason"
    assert code_of(lambda: decide(w, cause_code="moon")) == "cause_code"
    assert not Arbitration.objects.exists()


def test_the_same_decision_twice_is_one():
    w = disputed()
    id = new_id()
    assert decide(w, id=id) == decide(w, id=id)
    assert Arbitration.objects.count() == 1
    assert w.item().revision == 1
    assert code_of(lambda: decide(w, id=id, label="citation")) == "id_taken"


def test_the_second_arbitrator_is_told_of_the_decision_in_between():
    w = disputed()
    opine(w, who=0)
    opine(w, who=1)
    seen = w.item().revision
    decide(w, who=0, label="copy", revision=seen)
    late = lambda: decide(w, who=1, label="template", revision=seen)  # noqa: E731
    assert code_of(late) == "decided_meanwhile"
    assert code_of(lambda: decide(w, who=1, label="template")) == "decided_meanwhile"
    assert outcomes.outcome_of(w.item()).label == "copy"
    assert Arbitration.objects.count() == 1


def test_a_new_decision_is_a_new_version_and_the_old_one_stays():
    w = disputed()
    opine(w)
    first = decide(w, label="copy")
    before = Arbitration.objects.filter(pk=first.pk).values().get()
    judgments = list(Judgment.objects.order_by("pk").values())
    second = decide(w, who=1, label="citation", revision=1)
    assert (second.version, second.supersedes_id) == (2, first.pk)
    # The pair was settled, and so open to its readers, when the second decision was made.
    assert second.saw_originals
    assert Arbitration.objects.filter(pk=first.pk).values().get() == before
    assert list(Judgment.objects.order_by("pk").values()) == judgments
    assert outcomes.outcome_of(w.item()).label == "citation"
    assert w.item().revision == 2


def test_after_the_decision_an_annotator_can_no_longer_change_anything():
    w = disputed()
    decide(w)
    mine = w.item().judgments.get(annotator=w.annotators[0])
    with pytest.raises(judging.JudgingError) as refusal:
        judging.submit(id=new_id(), slot=mine.slot, person=w.annotators[0], label="revision")
    assert refusal.value.code == "closed"
    assert w.item().judgments.count() == 2


def test_an_arbitrator_may_end_with_cannot_tell_and_both_texts_stay():
    w = disputed()
    decide(w, label="undecided", reason="原件缺页")
    found = outcomes.outcome_of(w.item())
    assert (found.label, found.advice, found.review_status) == (
        "undecided",
        "保留双方",
        "arbitrated",
    )


def test_the_arbitrator_is_never_part_of_the_agreement():
    w = world(10)
    a, b = w.annotators[:2]
    for labels in (
        [("copy", "copy")] * 4 + [("template", "template")] * 3 + [("copy", "template")] * 3
    ):
        judge(w.round, a, labels[0])
        judge(w.round, b, labels[1])
    for item in arbitration.conflicts(round=w.round):
        decide(w, position=item.position)
    table = list(outcomes.first_answers(w.round))
    assert len(table) == 10
    assert measures(table).krippendorff_alpha.value == pytest.approx(14 / 33, abs=1e-12)


def test_only_the_first_blind_answers_make_the_agreement():
    w = world(1)
    a, b, _c = w.annotators
    first = judge(w.round, a, "copy").judgment
    judging.submit(id=new_id(), slot=first.slot, person=a, label="template")
    judge(w.round, b, "template")
    assert list(outcomes.first_answers(w.round)) == [{a.code: "copy", b.code: "template"}]


def test_no_agreement_from_pairs_that_are_not_settled():
    w = disputed()
    assert list(outcomes.first_answers(w.round)) == []


def test_somebody_elses_id_is_refused():
    w = disputed()
    known = opine(w)
    decision = decide(w)
    assert (
        code_of(
            lambda: arbitration.give_opinion(
                id=known.pk, item=w.item(), person=w.arbitrators[1], label="template"
            )
        )
        == "id_taken"
    )
    assert code_of(lambda: decide(w, who=1, id=decision.pk, revision=1)) == "id_taken"


def test_ids_of_judgments_and_decisions_do_not_meet():
    w = disputed()
    judgment = Judgment.objects.first()
    decision = decide(w, id=uuid.UUID(str(judgment.pk)))
    assert decision.pk == judgment.pk
    assert ReviewItem.objects.get().revision == 1
