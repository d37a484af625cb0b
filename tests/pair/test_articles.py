"""The table of articles as a page: who may see it, what it folds, how it names the sides."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from reviews import queue
from reviews.models import ReviewSlot
from tests.pair import texts
from tests.pair.desk import Desk, signed_in

pytestmark = pytest.mark.django_db


def seated(desk: Desk) -> ReviewSlot:
    slot = queue.claim(round=desk.round, person=desk.annotators[0])
    assert isinstance(slot, ReviewSlot)
    return slot


def test_the_table_marks_changes_and_folds_what_is_the_same() -> None:
    desk = Desk([(texts.RULE, texts.REVISED)])
    client = signed_in(desk.annotators[0])
    item = seated(desk).item_id
    pair = client.get(reverse("reviews:item", args=[item])).content.decode()
    address = reverse("reviews:articles", args=[item])
    assert f'href="{address}"' in pair
    plain = client.get(address + "?sides=lr").content.decode()
    rows = re.findall(r'<tr class="(art \w+|folded)">', plain)
    assert rows.count("art changed") == 5
    assert rows.count("folded") == 2
    assert re.search(r'data-d="l".*?<mark[^>]*>1500</mark>', plain, re.DOTALL)
    swapped = client.get(address + "?sides=rl").content.decode()
    assert swapped.index("2000</mark>") < swapped.index("1500</mark>")
    assert plain.index("1500</mark>") < plain.index("2000</mark>")


def test_texts_without_articles_have_no_table_and_no_way_to_it() -> None:
    desk = Desk([(texts.REPORT_A, texts.REPORT_B)])
    client = signed_in(desk.annotators[0])
    item = seated(desk).item_id
    assert client.get(reverse("reviews:articles", args=[item])).status_code == 404
    page = client.get(reverse("reviews:item", args=[item])).content.decode()
    assert 'data-do="articles"' not in page


def test_it_is_for_those_who_may_see_the_pair() -> None:
    desk = Desk([(texts.RULE, texts.REVISED)])
    address = reverse("reviews:articles", args=[seated(desk).item_id])
    assert signed_in(desk.stranger).get(address).status_code == 404
    assert signed_in(desk.auditor).get(address).status_code == 200


def test_hostile_articles_are_text() -> None:
    one = "".join(f"第{n}条 <b>{n}</b>\u202e甲乙丙丁戊己。\n" for n in "一二三四")
    desk = Desk([(one, one.replace("戊己", "庚辛"))])
    html = signed_in(desk.annotators[0]).get(
        reverse("reviews:articles", args=[seated(desk).item_id])
    ).content.decode()  # fmt: skip
    assert "<b>" not in html
    assert "\u202e" not in html
    assert "&lt;b&gt;" in html
