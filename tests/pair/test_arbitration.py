"""Arbitration pages: opinion first, cards then, one decision at a time."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dedupreview.people.models import AuditEvent, Person
from reviews import judging, queue
from reviews.models import Arbitration, Opinion, ReviewItem, ReviewSlot, RoundMember
from tests.pair import texts
from tests.pair.desk import Desk, signed_in

pytestmark = pytest.mark.django_db


def judge(desk: Desk, who: Person, label: str, **fields: Any) -> None:
    slot = queue.claim(round=desk.round, person=who)
    assert isinstance(slot, ReviewSlot)
    judging.submit(id=uuid.uuid4(), slot=slot, person=who, label=label, **fields)


@pytest.fixture
def desk() -> Desk:
    """One pair in conflict: a1 says revision, a2 says copy."""
    made = Desk([(texts.RULE, texts.REVISED)])
    judge(made, made.annotators[0], "revision", direction="left_first", reason="金额变了")
    judge(made, made.annotators[1], "copy", reason="看着一样")
    return made


def send(client: Client, name: str, item: ReviewItem, **fields: Any) -> Any:
    return client.post(
        reverse(f"reviews:{name}", args=[item.pk]), {"id": str(uuid.uuid4())} | fields
    )


def arbitrate(client: Client, item: ReviewItem) -> str:
    response = client.get(reverse("reviews:arbitrate", args=[item.pk]))
    assert response.status_code == 200
    return response.content.decode()


def test_list_has_numbers_only(desk: Desk) -> None:
    client = signed_in(desk.arbitrators[0])
    html = client.get(reverse("reviews:conflict-list", args=[desk.round.pk])).content.decode()
    assert "第 1 对" in html
    codes = [person.code for person in desk.annotators]
    for word in ("有效修订", "副本", "判断不同", ">a1<", ">a2<", *codes):
        assert word not in html


def test_before_the_opinion_nothing_of_the_answers(desk: Desk) -> None:
    html = arbitrate(signed_in(desk.arbitrators[0]), desk.item())
    for word in ("金额变了", "看着一样", "判断不同", 'name="adopt"'):
        assert word not in html
    assert "请先独立判断" in html
    assert not AuditEvent.objects.filter(action="originals.read").exists()


def test_item_address_leads_to_arbitration(desk: Desk) -> None:
    response = signed_in(desk.arbitrators[0]).get(reverse("reviews:item", args=[desk.item().pk]))
    assert response["Location"] == reverse("reviews:arbitrate", args=[desk.item().pk])


def test_opinion_then_cards_without_names(desk: Desk) -> None:
    client = signed_in(desk.arbitrators[0])
    send(client, "give-opinion", desk.item(), label="revision", direction="left_first")
    html = arbitrate(client, desk.item())
    assert "金额变了" in html
    assert "看着一样" in html
    assert "判断不同" in html
    for person in desk.annotators:
        assert person.code not in html
        assert f">{person.username}<" not in html
    assert AuditEvent.objects.filter(action="originals.read").exists()


def test_order_of_cards_is_by_chance_but_stable(desk: Desk) -> None:
    orders = set()
    for arbitrator in desk.arbitrators:
        client = signed_in(arbitrator)
        send(client, "give-opinion", desk.item(), label="copy")
        first = re.findall(r"金额变了|看着一样", arbitrate(client, desk.item()))
        assert first == re.findall(r"金额变了|看着一样", arbitrate(client, desk.item()))
        orders.add(tuple(first))
    assert all(sorted(order) == sorted(("金额变了", "看着一样")) for order in orders)


def test_adopting_without_script_takes_the_card_s_answer(desk: Desk) -> None:
    client = signed_in(desk.arbitrators[0])
    send(client, "give-opinion", desk.item(), label="undecided", reason="看不清")
    original = desk.item().judgments.get(label="revision")
    response = send(
        client, "decide", desk.item(), adopt=str(original.pk), reason="金额与日期都变了", revision="0",
        cause_code="overlooked",
    )  # fmt: skip
    assert response.status_code == 302
    decision = Arbitration.objects.get()
    assert (decision.label, decision.direction) == ("revision", "left_first")
    assert decision.cause_code == "overlooked"
    assert decision.saw_originals is True
    item = ReviewItem.objects.get(pk=desk.item().pk)
    assert item.state == "closed"
    assert "金额与日期都变了" in arbitrate(client, item)


def test_decision_needs_a_reason_and_keeps_what_was_chosen(desk: Desk) -> None:
    client = signed_in(desk.arbitrators[0])
    send(client, "give-opinion", desk.item(), label="copy")
    response = send(client, "decide", desk.item(), label="revision", reason=" ", revision="0")
    assert response.status_code == 400
    html = response.content.decode()
    assert "请用文字写明理由" in html
    assert re.search(r'name="label" value="revision" checked', html)
    assert not Arbitration.objects.exists()


def test_two_arbitrators_the_second_sees_the_first_s_decision(desk: Desk) -> None:
    one, two = map(signed_in, desk.arbitrators)
    for client in (one, two):
        send(client, "give-opinion", desk.item(), label="copy")
    send(one, "decide", desk.item(), label="revision", reason="先到的理由", revision="0")
    late = send(two, "decide", desk.item(), label="copy", reason="后到的理由", revision="0")
    page = two.get(late.url)
    assert page.status_code == 409
    html = page.content.decode()
    assert "先到的理由" in html
    assert "后到的理由" in html
    assert Arbitration.objects.count() == 1
    again = two.get(reverse("reviews:arbitrate", args=[desk.item().pk]) + "?again=1")
    assert 'name="revision" value="1"' in again.content.decode()
    send(two, "decide", desk.item(), label="copy", reason="再议", revision="1")
    assert [d.version for d in Arbitration.objects.order_by("version")] == [1, 2]


def test_script_is_led_to_the_first_decision(desk: Desk) -> None:
    one, two = map(signed_in, desk.arbitrators)
    for client in (one, two):
        send(client, "give-opinion", desk.item(), label="copy")
    send(one, "decide", desk.item(), label="copy", reason="先到", revision="0")
    answer = two.post(
        reverse("reviews:decide", args=[desk.item().pk]),
        {"id": str(uuid.uuid4()), "label": "copy", "reason": "后到", "revision": "0"},
        headers={"X-Requested-With": "fetch"},
    )
    assert answer.json()["next"] == reverse("reviews:decided-meanwhile", args=[desk.item().pk])


def test_decision_sent_twice_is_one(desk: Desk) -> None:
    client = signed_in(desk.arbitrators[0])
    send(client, "give-opinion", desk.item(), label="copy")
    key = str(uuid.uuid4())
    for _time in range(2):
        send(client, "decide", desk.item(), id=key, label="copy", reason="一样", revision="0")
    assert Arbitration.objects.count() == 1


def test_judge_of_the_pair_and_strangers_get_404(desk: Desk) -> None:
    judged = desk.annotators[0]
    RoundMember.objects.filter(person=judged).update(part="arbitrator")
    for person in (judged, desk.annotators[1], desk.stranger):
        client = signed_in(person)
        assert client.get(reverse("reviews:arbitrate", args=[desk.item().pk])).status_code == 404
        for name in ("give-opinion", "decide"):
            assert send(client, name, desk.item(), label="copy", reason="x").status_code == 404
    assert not Opinion.objects.exists()
    assert not Arbitration.objects.exists()


def test_decision_before_opinion_in_the_page_is_not_offered(desk: Desk) -> None:
    html = arbitrate(signed_in(desk.arbitrators[0]), desk.item())
    assert reverse("reviews:decide", args=[desk.item().pk]) not in html
    assert 'name="cause_code"' not in html
