"""Opening rounds, their people, guideline, state and progress."""

from __future__ import annotations

import itertools

import pytest

from dedupreview.people.models import AuditEvent, Person, Role
from reviews import members, rounds
from reviews.judging import submit
from reviews.models import ReviewItem, ReviewRound, ReviewSlot, RoundMember, SeatLapse
from reviews.rounds import RoundError
from reviews.selection import Chosen, Selection, choose, in_family_order
from screening.models import Candidate, ScreeningRun
from tests.reviews.world import (
    claimed,
    collection,
    documents,
    finished_run,
    judge,
    new_id,
    person,
    world,
)

pytestmark = pytest.mark.django_db


def people(*names, role=Role.ANNOTATOR):
    return [person(name, role) for name in names]


def opened(run, **extra):
    extra.setdefault("name", "第一轮")
    if "annotators" not in extra:
        extra["annotators"] = people("a", "b")
    if "arbitrators" not in extra:
        extra["arbitrators"] = people("r", role=Role.ARBITRATOR)
    return rounds.open_round(run=run, **extra)


def run_of(*pairs, texts=10):
    docs = documents(collection(), texts)
    return finished_run(docs[0].collection, [(docs[a], docs[b]) for a, b in pairs])


def ranks(round):
    return [item.candidate.rank for item in round.items.order_by("position")]


def test_opening_makes_items_seats_members_access_guideline_and_a_record():
    run = run_of((0, 1), (2, 3))
    a, b = people("x", "y")
    (r,) = people("z", role=Role.ARBITRATOR)
    admin = person("boss", Role.ADMIN)
    round = opened(run, annotators=[a, b], arbitrators=[r], actor=admin, judgments=2)
    assert round.items.count() == 2
    assert ReviewSlot.objects.filter(item__round=round, state="free").count() == 4
    assert {(m.person, m.part) for m in round.members.all()} == {
        (a, "annotator"), (b, "annotator"), (r, "arbitrator"),
    }  # fmt: skip
    assert {m.person for m in run.collection.memberships.all()} == {a, b, r}
    assert round.guidelines.get().html.startswith("<h3>")
    event = AuditEvent.objects.get(action="round.open")
    assert (event.actor, event.subject_id) == (admin, str(round.pk))
    assert event.data["annotators"] == sorted([a.code, b.code])


def test_representatives_only_best_first_up_to_the_limit():
    run = run_of((0, 1), (2, 3), (4, 5), (6, 7))
    Candidate.objects.filter(run=run, rank=2).update(representative=False, note="one of 50 copies")
    assert sorted(ranks(opened(run, limit=2))) == [1, 3]
    other = [*people("c", "d")]
    every = rounds.open_round(
        run=run, name="二", annotators=other, arbitrators=people("e", role=Role.ARBITRATOR)
    )
    assert sorted(ranks(every)) == [1, 3, 4]


def test_families_stay_together_and_the_seed_decides_their_order():
    run = run_of((0, 1), (2, 3), (1, 4), (5, 6), (3, 7), (8, 9))
    chosen = choose(run, Selection()).pairs
    family_of = {1: "A", 3: "A", 2: "B", 5: "B", 4: "C", 6: "D"}
    rank_of = {c.pk: c.rank for c in Candidate.objects.filter(run=run)}
    orders = []
    for seed in range(8):
        order = [rank_of[c.candidate] for c in in_family_order(chosen, seed)]
        assert sorted(order) == [1, 2, 3, 4, 5, 6]
        families = [family_of[rank] for rank in order]
        changes = sum(one != other for one, other in itertools.pairwise(families))
        assert changes == 3
        assert order.index(1) < order.index(3)
        assert order.index(2) < order.index(5)
        orders.append(order)
    assert len({tuple(order) for order in orders}) > 1
    again = [rank_of[c.candidate] for c in in_family_order(chosen, 3)]
    assert again == orders[3]
    stored = opened(run, order_seed=3)
    assert (stored.order_seed, ranks(stored)) == (3, orders[3])


def test_a_long_chain_of_pairs_is_one_family_without_deep_recursion():
    chain = [Chosen(n, n, n, n + 1) for n in range(20_000)]
    assert in_family_order(chain, 1) == chain


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("too_few_people", {"judgments": 3}),
        ("judgments", {"judgments": 0}),
        ("judgments", {"judgments": 10}),
        ("no_arbitrator", {"arbitrators": []}),
        ("name", {"name": "  "}),
        ("limit", {"limit": 0}),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(code, change):
    run = run_of((0, 1))
    with pytest.raises(RoundError) as refusal:
        opened(run, **change)
    assert refusal.value.code == code
    assert str(refusal.value)
    assert not ReviewRound.objects.exists()


def test_people_who_do_not_fit_are_all_named():
    a, b = people("a", "b")
    gone = person("gone", is_active=False)
    auditor = person("reads", Role.AUDITOR)
    faults = rounds.people_faults(annotators=[a, b, b, gone], arbitrators=[a, auditor], judgments=2)
    assert [f.template for f in faults] == [
        rounds.TWICE, rounds.INACTIVE, rounds.BOTH_PARTS, rounds.READS_ONLY,
    ]  # fmt: skip
    assert [f.params["name"] for f in faults] == ["b", "gone", "a", "reads"]


def test_only_finished_runs_with_pairs():
    run = run_of((0, 1))
    ScreeningRun.objects.filter(pk=run.pk).update(state="running")
    run.refresh_from_db()
    with pytest.raises(RoundError) as refusal:
        opened(run)
    assert refusal.value.code == "run_not_done"
    empty = run_of()
    with pytest.raises(RoundError) as refusal:
        opened(empty, annotators=people("m", "n"), arbitrators=people("o"))
    assert refusal.value.code == "no_pairs"


def test_the_workload_before_opening():
    run = run_of((0, 1), (2, 3), (4, 5), (6, 7))
    work = rounds.workload(run=run, people=2)
    assert (work.pairs, work.seats, work.seconds_per_item, work.hours_per_person) == (4, 8, 45, 0.1)
    assert rounds.workload(run=run, people=2, judgments=3, limit=2).seats == 6
    assert rounds.workload(run=run, people=0).hours_per_person == 0


def test_the_workload_learns_from_what_reading_took():
    w = world(20, annotators=2)
    for number in range(20):
        judge(w.round, w.annotators[0], active_ms=(10 + number) * 1000)
    assert rounds.seconds_per_item() == 20
    judged = w.round.items.first().judgments.get()
    assert judged.active_ms


def test_progress_adds_up_at_every_step():
    w = world(3)
    a, b, _c = w.annotators

    def now():
        found = rounds.progress(w.round)
        assert found.items == found.open + found.waiting + found.conflict + found.closed == 3
        assert found.seats == 6
        return (found.open, found.waiting, found.conflict, found.closed, found.filled)

    assert now() == (3, 0, 0, 0, 0)
    claimed(w.round, a)
    assert now() == (3, 0, 0, 0, 0)
    judge(w.round, a)
    assert now() == (2, 1, 0, 0, 1)
    judge(w.round, b)
    assert now() == (2, 0, 0, 1, 2)
    judge(w.round, a)
    judge(w.round, b, "template")
    assert now() == (1, 0, 1, 1, 4)
    assert rounds.progress(w.round).percent_closed == 33
    assert rounds.own_progress(w.round, a) == rounds.OwnProgress(2, 3)


def test_replacing_a_person_keeps_their_judgments_and_deals_their_seats_again():
    w = world(2, seats=1, annotators=1)
    a = w.annotators[0]
    kept = judge(w.round, a).judgment
    held = claimed(w.round, a)
    members.remove_member(round=w.round, person=a, actor=w.admin)
    held.refresh_from_db()
    assert (held.state, held.annotator) == ("free", None)
    assert SeatLapse.objects.get().person == a
    newcomer = person("new")
    members.add_member(round=w.round, person=newcomer, part="annotator", actor=w.admin)
    assert claimed(w.round, newcomer).pk == held.pk
    assert w.round.items.filter(judgments=kept, state=ReviewItem.State.CLOSED).exists()
    assert w.round.collection.memberships.filter(person=newcomer).exists()
    assert list(AuditEvent.objects.filter(action__startswith="round.member").values_list("action", flat=True)) == [
        "round.member_removed", "round.member_added",
    ]  # fmt: skip


def test_nobody_changes_sides_in_mid_round():
    w = world(1)
    with pytest.raises(RoundError):
        members.add_member(round=w.round, person=w.annotators[0], part="arbitrator")
    for misfit in (person("i", is_active=False), person("au", Role.AUDITOR)):
        with pytest.raises(RoundError):
            members.add_member(round=w.round, person=misfit, part="annotator")
    with pytest.raises(RoundError):
        members.remove_member(round=w.round, person=person("stranger"))
    assert RoundMember.objects.get(person=w.annotators[0]).part == "annotator"


def test_freezing_re_opening_and_closing():
    w = world(1, seats=1)
    rounds.set_state(round=w.round, state="frozen", actor=w.admin)
    with pytest.raises(RoundError) as refusal:
        rounds.set_state(round=w.round, state="closed")
    assert refusal.value.code == "still_open"
    rounds.set_state(round=w.round, state="open")
    judge(w.round, w.annotators[0])
    assert rounds.set_state(round=w.round, state="closed").state == "closed"
    with pytest.raises(RoundError):
        rounds.set_state(round=w.round, state="lost")
    assert AuditEvent.objects.filter(action="round.state").count() == 3


def test_a_second_round_disturbs_no_decided_pair():
    w = world(1, seats=1)
    judge(w.round, w.annotators[0])
    before = ReviewItem.objects.filter(round=w.round).values().get()
    second = {"run": w.run, "name": "第二轮", "annotators": w.annotators, "judgments": 1,
              "arbitrators": w.arbitrators}  # fmt: skip
    with pytest.raises(RoundError) as refusal:
        rounds.open_round(**second)
    assert refusal.value.template == rounds.ALL_DECIDED
    assert rounds.workload(run=w.run, people=2).pairs == 0
    again = rounds.open_round(**second, selection=Selection(again=True))
    slot = claimed(again, w.annotators[0])
    submit(id=new_id(), slot=slot, person=w.annotators[0], label="template")
    assert ReviewItem.objects.filter(round=w.round).values().get() == before


def test_guideline_versions_add_up_and_old_ones_stay():
    w = world(1)
    rounds.publish_guideline(round=w.round, text="# 二\n<script>x</script>", actor=w.admin)
    w.round.refresh_from_db()
    assert w.round.guideline_version == 2
    first, second = w.round.guidelines.order_by("number")
    assert "<script" not in second.html
    assert "&lt;script" in second.html
    assert first.text != second.text
    with pytest.raises(RoundError):
        rounds.publish_guideline(round=w.round, text=" \n", actor=w.admin)


def test_people_with_records_cannot_be_deleted():
    from django.db.models import ProtectedError

    w = world(1)
    judge(w.round, w.annotators[0])
    for someone in (w.annotators[0], w.arbitrators[0], w.admin):
        with pytest.raises(ProtectedError):
            someone.delete()
    assert Person.objects.filter(pk=w.annotators[0].pk).exists()


# --- Selection --------------------------------------------------------------------------------------------------------


def varied_run():
    """Twelve pairs: four of each suggestion, found by three channels, from Jaccard 0.05 to 0.6."""
    run = run_of(*[(2 * n, 2 * n + 1) for n in range(12)], texts=24)
    for found in Candidate.objects.filter(run=run):
        found.suggestion = ("copy", "revision", "citation")[found.rank % 3]
        found.channels = [["minhash"], ["passages"], ["minhash", "passages"]][found.rank // 5]
        found.jaccard = found.rank / 20
        found.save()
    return run


def chosen_ranks(run, **wanted):
    choice = choose(run, Selection(**wanted))
    rank_of = dict(Candidate.objects.filter(run=run).values_list("pk", "rank"))
    total = len(choice.pairs) + sum(choice.left_out.values())
    assert total == Candidate.objects.filter(run=run).count()
    return [rank_of[pair.candidate] for pair in choice.pairs], choice.left_out


def test_filters_by_channel_suggestion_and_similarity():
    run = varied_run()
    assert chosen_ranks(run)[0] == list(range(1, 13))
    assert chosen_ranks(run, channels=("passages",))[0] == list(range(5, 13))
    assert chosen_ranks(run, suggestions=("copy",))[0] == [3, 6, 9, 12]
    ranks, left_out = chosen_ranks(run, jaccard=(0.2, 0.3), limit=2)
    assert ranks == [4, 5]
    assert (left_out["filtered"], left_out["over_limit"]) == (9, 1)


def test_a_stratified_sample_is_even_and_repeatable():
    run = varied_run()
    ranks, left_out = chosen_ranks(run, sample=2, seed=7)
    suggestions = [rank % 3 for rank in ranks]
    assert sorted(suggestions) == [0, 0, 1, 1, 2, 2]
    assert ranks == sorted(ranks)
    assert left_out["not_sampled"] == 6
    assert chosen_ranks(run, sample=2, seed=7)[0] == ranks
    assert any(chosen_ranks(run, sample=2, seed=seed)[0] != ranks for seed in range(5))
    # What one stratum gives does not depend on the others.
    alone, _left_out = chosen_ranks(run, sample=2, seed=7, suggestions=("copy",))
    assert alone == [rank for rank in ranks if rank % 3 == 0]


def test_what_was_taken_and_left_out_is_stored_with_the_round():
    run = varied_run()
    Candidate.objects.filter(run=run, rank__gt=10).update(representative=False)
    round = opened(run, selection=Selection(suggestions=("copy",)), limit=2)
    assert round.selection["suggestions"] == ["copy"]
    assert round.selection["limit"] == 2
    assert round.selection["left_out"] == {
        "decided": 0, "filtered": 7, "not_sampled": 0, "over_limit": 1, "not_representative": 2,
    }  # fmt: skip


def test_decided_pairs_are_left_out_of_another_run_too():
    w = world(3, seats=1)
    judge(w.round, w.annotators[0])
    decided = w.item().pair_id
    pairs = [(c.pair.low, c.pair.high) for c in w.run.candidates.all()]
    later = finished_run(w.round.collection, pairs)
    choice = choose(later, Selection())
    assert decided not in {pair.pair for pair in choice.pairs}
    assert choice.left_out["decided"] == 1
