"""Claiming, keeping and giving back seats."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dedupreview.people.models import Person
from reviews import judging, members, queue, rounds
from reviews.models import ReviewItem, ReviewRound, ReviewSlot, RoundMember, SeatLapse
from reviews.queue import Nothing, QueueError
from tests.reviews.world import claimed, judge, new_id, person, world

pytestmark = pytest.mark.django_db

NOW = timezone.now()


def later(**delta: float):
    return NOW + timedelta(**delta)


def test_two_people_get_the_two_seats_of_a_pair_and_a_third_gets_none():
    w = world(1)
    a, b, c = w.annotators
    first, second = claimed(w.round, a), claimed(w.round, b)
    assert first.item_id == second.item_id
    assert {first.number, second.number} == {1, 2}
    refused = queue.claim(round=w.round, person=c)
    assert isinstance(refused, Nothing)
    assert refused.kind == "taken"


def test_a_second_person_still_sees_a_pair_that_the_first_has_answered_and_a_third_does_not():
    w = world(1)
    a, b, c = w.annotators
    judge(w.round, a)
    assert claimed(w.round, b).item_id == w.item().pk
    judge(w.round, b)
    assert queue.claim(round=w.round, person=c) == Nothing("all_done")


def test_the_seat_one_has_comes_back_with_a_longer_lease():
    w = world(3)
    a = w.annotators[0]
    first = claimed(w.round, a, now=NOW)
    again = claimed(w.round, a, now=later(minutes=5))
    assert again.pk == first.pk
    assert again.lease_expires_at == later(minutes=35)
    assert ReviewSlot.objects.filter(annotator=a).count() == 1


def test_a_lapsed_seat_that_nobody_took_is_still_ones_own():
    w = world(2)
    a = w.annotators[0]
    first = claimed(w.round, a, now=NOW)
    assert claimed(w.round, a, now=later(hours=3)).pk == first.pk


def test_a_lapsed_seat_goes_to_the_next_person_and_the_loss_is_on_record():
    w = world(1, seats=1)
    a, b, _c = w.annotators
    seat = claimed(w.round, a, now=NOW)
    assert queue.claim(round=w.round, person=b, now=later(minutes=29)) == Nothing(
        "taken", later(minutes=30)
    )
    taken = claimed(w.round, b, now=later(minutes=30))
    assert taken.pk == seat.pk
    assert SeatLapse.objects.get().person == a
    assert queue.claim(round=w.round, person=a, now=later(minutes=31)) == Nothing(
        "taken", later(minutes=60)
    )


def test_a_free_seat_goes_before_a_lapsed_one():
    w = world(1)
    a, b, _c = w.annotators
    seat = claimed(w.round, a, now=NOW)
    assert claimed(w.round, b, now=later(hours=1)).pk != seat.pk


def test_nobody_gets_two_seats_of_one_pair():
    w = world(2)
    a, b, c = w.annotators
    held = claimed(w.round, a, now=NOW)
    claimed(w.round, b, now=later(hours=1))
    # c takes what a let lapse; a may then sit in none of the two seats while b and c do.
    taken = claimed(w.round, c, now=later(hours=1))
    assert taken.pk == held.pk
    other = claimed(w.round, a, now=later(hours=1))
    assert other.item_id != held.item_id


def test_a_pair_one_has_answered_never_returns():
    w = world(2)
    a = w.annotators[0]
    seen = [judge(w.round, a).judgment.item_id for _ in range(2)]
    assert len(set(seen)) == 2
    assert queue.claim(round=w.round, person=a) == Nothing("all_done")


def test_later_returns_after_the_others_and_in_the_order_put_aside():
    w = world(3)
    a = w.annotators[0]
    order = [item.pk for item in w.items]
    for minute in (1, 2):
        slot = claimed(w.round, a)
        queue.release(slot=slot, person=a, how="later", now=later(minutes=minute))
    got = [judge(w.round, a).judgment.item_id for _ in range(3)]
    assert got == [order[2], order[0], order[1]]


def test_putting_aside_again_moves_to_the_end():
    w = world(2)
    a = w.annotators[0]
    first = w.item(1).pk
    for minute in range(3):
        slot = claimed(w.round, a)
        # The row of a first time carries the real time, so the others must count from it.
        moment = timezone.now() + timedelta(minutes=minute)
        queue.release(slot=slot, person=a, how="later", now=moment)
    # put aside: 1, 2, 1 again; so 2 comes next.
    assert claimed(w.round, a).item_id != first


def test_putting_aside_frees_the_seat_for_others_at_once():
    w = world(1, seats=1)
    a, b, _c = w.annotators
    queue.release(slot=claimed(w.round, a), person=a, how="later")
    assert claimed(w.round, b).item_id == w.item().pk


def test_recused_never_returns_and_others_are_not_affected():
    w = world(1, seats=1)
    a, b, _c = w.annotators
    queue.release(slot=claimed(w.round, a), person=a, how="recuse")
    assert queue.claim(round=w.round, person=a) == Nothing("set_aside")
    assert claimed(w.round, b)


def test_nothing_left_is_told_apart():
    w = world(2, seats=1)
    a, b, _c = w.annotators
    assert queue.claim(round=w.round, person=w.arbitrators[0]) == Nothing("not_eligible")
    assert queue.claim(round=w.round, person=person("stranger")) == Nothing("not_eligible")
    queue.release(slot=claimed(w.round, a), person=a, how="recuse")
    judge(w.round, a)
    assert queue.claim(round=w.round, person=a) == Nothing("set_aside")
    held = claimed(w.round, b, now=NOW)
    assert queue.claim(round=w.round, person=w.annotators[2], now=NOW) == Nothing(
        "taken", held.lease_expires_at
    )
    judge(w.round, b)
    for someone in w.annotators:
        assert queue.claim(round=w.round, person=someone) == Nothing("all_done")


@pytest.mark.parametrize("state", ["frozen", "closed"])
def test_a_round_that_is_not_open_gives_no_seats(state):
    w = world(1)
    slot = claimed(w.round, w.annotators[0])
    ReviewRound.objects.update(state=state)
    for call in (
        lambda: queue.claim(round=w.round, person=w.annotators[1]),
        lambda: queue.renew(slot=slot, person=w.annotators[0]),
        lambda: judging.submit(id=new_id(), slot=slot, person=w.annotators[0], label="copy"),
    ):
        with pytest.raises((QueueError, judging.JudgingError)) as refusal:
            call()
        assert refusal.value.code == "round_not_open"


def test_whoever_left_gets_no_seat_and_what_they_held_is_dealt_again():
    w = world(1, seats=1)
    a, b, _c = w.annotators
    claimed(w.round, a)
    members.remove_member(round=w.round, person=a, actor=w.admin)
    assert queue.claim(round=w.round, person=a) == Nothing("not_eligible")
    assert claimed(w.round, b)
    members.add_member(round=w.round, person=a, part=RoundMember.Part.ANNOTATOR)
    assert queue.claim(round=w.round, person=a).kind == "taken"


def test_a_deactivated_person_gets_no_seat():
    w = world(1)
    a = w.annotators[0]
    Person.objects.filter(pk=a.pk).update(is_active=False)
    a.refresh_from_db()
    assert queue.claim(round=w.round, person=a) == Nothing("not_eligible")


def test_renewing_extends_and_refuses_what_is_no_longer_ones_own():
    w = world(1, seats=1)
    a, b, _c = w.annotators
    seat = claimed(w.round, a, now=NOW)
    assert queue.renew(slot=seat, person=a, now=later(minutes=20)) == later(minutes=50)
    with pytest.raises(QueueError) as refusal:
        queue.renew(slot=seat, person=b)
    assert refusal.value.code == "lapsed"
    claimed(w.round, b, now=later(hours=2))
    with pytest.raises(QueueError):
        queue.renew(slot=seat, person=a)
    with pytest.raises(QueueError):
        queue.release(slot=seat, person=a, how="later")


def test_a_seat_that_is_filled_cannot_be_given_back():
    w = world(1)
    a = w.annotators[0]
    slot = claimed(w.round, a)
    judging.submit(id=new_id(), slot=slot, person=a, label="copy")
    for how in ("later", "recuse"):
        with pytest.raises(QueueError):
            queue.release(slot=slot, person=a, how=how)
    slot.refresh_from_db()
    assert slot.state == ReviewSlot.State.FILLED


def test_only_two_ways_to_give_back():
    w = world(1)
    with pytest.raises(QueueError) as refusal:
        queue.release(slot=claimed(w.round, w.annotators[0]), person=w.annotators[0], how="burn")
    assert refusal.value.code == "how"


def test_going_on_after_the_last_answer_and_round_again():
    w = world(4)
    a, b, _c = w.annotators
    order = [item.pk for item in w.items]
    slots = [claimed(w.round, a)]
    queue.release(slot=slots[0], person=a, how="later")
    assert judge(w.round, a).judgment.item_id == order[1]
    assert claimed(w.round, a).item_id == order[2]
    assert claimed(w.round, b).item_id == order[0]


def test_the_order_is_whole_when_all_scores_are_equal():
    w = world(120, annotators=2)
    a = w.annotators[0]
    seen = [judge(w.round, a).judgment.item_id for _ in range(120)]
    assert len(set(seen)) == 120
    assert seen == [item.pk for item in w.items]


def test_the_next_seat_costs_few_queries(django_assert_max_num_queries):
    w = world(30)
    a, b, _c = w.annotators
    for _ in range(10):
        judge(w.round, a)
        judge(w.round, b)
    with django_assert_max_num_queries(12):
        claimed(w.round, a)


def test_closed_and_disputed_pairs_are_not_offered():
    w = world(2, annotators=3)
    a, b, c = w.annotators
    for someone, label in ((a, "copy"), (b, "template")):
        judge(w.round, someone, label)
    assert w.item(1).state == ReviewItem.State.CONFLICT
    assert claimed(w.round, c).item_id == w.item(2).pk


def test_a_quota_ends_a_persons_part_and_not_the_round():
    w = world(3)
    a, b, _c = w.annotators
    members.set_quota(round=w.round, person=a, quota=2, actor=w.admin)
    judge(w.round, a)
    held = claimed(w.round, a)
    assert claimed(w.round, a) == held
    judge(w.round, a)
    assert queue.claim(round=w.round, person=a) == Nothing("all_done")
    assert claimed(w.round, b)
    members.set_quota(round=w.round, person=a, quota=None)
    assert claimed(w.round, a).item == w.item(3)
    with pytest.raises(rounds.RoundError):
        members.set_quota(round=w.round, person=a, quota=0)
    with pytest.raises(rounds.RoundError):
        members.set_quota(round=w.round, person=person("stranger"), quota=2)


def test_whoever_is_kept_away_from_a_document_gets_none_of_its_pairs():
    w = world(2, seats=1)
    a, b, _c = w.annotators
    held = claimed(w.round, a)
    number = members.keep_away(round=w.round, person=a, document=held.item.pair.low, actor=w.admin)
    assert number == 1
    assert claimed(w.round, a).item_id == w.item(2).pk
    assert claimed(w.round, b).pk == held.pk
    with pytest.raises(judging.JudgingError) as refusal:
        judging.submit(id=new_id(), slot=held, person=a, label="copy")
    assert refusal.value.code in ("not_yours", "recused")
