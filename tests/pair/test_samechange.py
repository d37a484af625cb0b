"""Pairs that show the same change are recognised, asked one after the other, and said to be so."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reviews import queue, samechange
from reviews.models import ReviewItem, ReviewSlot
from reviews.samechange import same_change
from tests.pair import texts
from tests.pair.desk import Desk, signed_in

OLD, NEW = "联系电话：0000-1234。", "联系电话：0000-5678。"


def form(n: int, line: str) -> str:
    return f"第{n}社区服务站公告\n本站第{n}次开放日如期举行。\n请居民按楼栋分批前来，共{n}批。\n{line}\n"


def test_the_same_paragraphs_replaced_alike_whatever_else_and_whichever_side() -> None:
    one, other = (form(1, OLD), form(1, NEW)), (form(2, OLD), form(2, NEW))
    assert same_change(one, other)
    assert same_change(one, (other[1], other[0]))
    assert same_change(one, (form(2, OLD.replace("：", "： ")), form(2, NEW)))
    assert not same_change(one, (form(2, OLD), form(2, "联系电话：0000-9999。")))
    assert not same_change((form(1, OLD),) * 2, (form(2, OLD),) * 2)
    assert not same_change((texts.RULE, texts.REPORT_A), (texts.RULE, texts.REPORT_A))


@pytest.mark.django_db
def test_they_follow_one_another_and_only_the_own_last_answer_counts() -> None:
    odd = (texts.RULE, texts.REVISED)
    desk = Desk([(form(1, OLD), form(1, NEW)), odd, (form(2, OLD), form(2, NEW))])
    order = [
        item.candidate.rank
        for item in ReviewItem.objects.filter(round=desk.round).order_by("position")
    ]
    assert abs(order.index(1) - order.index(3)) == 1

    first, second = desk.annotators
    seen = {person: [] for person in desk.annotators}  # type: ignore[var-annotated]
    for person in (first, second):
        client = signed_in(person)
        while isinstance(slot := queue.claim(round=desk.round, person=person), ReviewSlot):
            page = client.get(reverse("reviews:item", args=[slot.item_id])).content.decode()
            seen[person].append((slot.item.candidate.rank, "data-same-change" in page))
            client.post(
                reverse("reviews:submit-judgment", args=[slot.item_id]),
                {"id": __import__("uuid").uuid4(), "slot": slot.pk, "label": "revision"},
            )
    for ranks in seen.values():
        assert [rank for rank, _note in ranks] == order
        noted = [rank for rank, note in ranks if note]
        assert noted == [order[max(order.index(1), order.index(3))]]


@pytest.mark.django_db
def test_what_nobody_shares_has_no_signature() -> None:
    from reviews.selection import Selection, choose

    desk = Desk([(form(1, OLD), form(1, NEW)), (texts.RULE, texts.REVISED)])
    assert samechange.signatures(choose(desk.run, Selection(again=True)).pairs) == {}
