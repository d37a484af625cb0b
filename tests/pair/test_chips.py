"""What a reader is told at once: beginnings that can be read, articles that only count on, which text is older."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import reverse

from reviews import queue, reading
from reviews.chips import earlier, facts_listed, quote, shifts
from reviews.models import ReviewItem, ReviewSlot
from screening.evidence.facts import FactChange, fact_changes
from screening.names import FACT_NAMES
from tests.pair import texts
from tests.pair.desk import Desk, signed_in

OLD = "第一条 窗口每周开放。\n第二条 借阅人应当登记。\n第三条 违反第二条的，停借三十日。\n第四条 依照第一条执行。\n"
NEW = (
    "第一条 窗口每周开放。\n第二条 本馆设咨询台。\n第三条 借阅人应当登记。\n第四条 违反第三条的，停借三十日。\n"
    "第五条 依照第三条执行。\n"
)


@pytest.mark.parametrize(
    ("raw", "start", "shown"),
    [
        ("第九条 申请人应当到场。", 2, "申请人应当到场。"),
        ("各部门应当按时上报。逾期不报的，通报批评。", 6, "逾期不报的，通报批评。"),
        ("## 仓库的管理办法", 0, "仓库的管理办法"),
        ("请见[库区平面图](图)", 2, "库区平面图](图)"),
        ("“开放日”活动定于周六。", 0, "“开放日”活动定于周六。"),
        ("人民政府办公室发布了三项规定", 1, "办公室发布了三项规定"),
        ("一共-5度", 2, "-5度"),
        ("，。", 0, "，。"),
    ],
)
def test_a_chip_begins_where_a_reader_can_begin(raw: str, start: int, shown: str) -> None:
    assert quote(raw, start, len(raw)) == shown


def test_a_long_passage_is_cut_and_says_so() -> None:
    assert quote("甲" * 60, 0, 60) == "甲" * 40 + "…"


def test_articles_that_count_on_are_one_entry_and_another_reference_is_not() -> None:
    changes = fact_changes(OLD, NEW)
    folded = shifts(changes, OLD, NEW)
    assert [(c.left, c.right) for c in folded] == [
        ("第2条", "第3条"),
        ("第3条", "第4条"),
        ("第2条", "第3条"),
        ("第4条", "第5条"),
    ]
    desk_facts = facts_listed(changes, OLD, NEW, "lr")
    numbers = [fact for fact in desk_facts if fact.kind == "article_number"]
    assert [(f.shifted, f.first, f.last, len(f.places)) for f in numbers] == [
        (False, "第一条", "第三条", 1),
        (True, "", "", 4),
    ]


def test_one_renumbered_article_is_shown_as_it_is() -> None:
    left, right = "第八条 档案室应当上锁。", "第九条 档案室应当上锁。"
    assert shifts(fact_changes(left, right), left, right) == ()


def document(published: str | None = None, version: str | None = None) -> Any:
    return SimpleNamespace(
        metadata={"published_on": published} if published else {}, version=version
    )


@pytest.mark.parametrize(
    ("one", "other", "first"),
    [
        (document("2024-05-01"), document("2023-12-31"), "right"),
        (document(version="2020-01-02"), document("2021-01-02"), "left"),
        (document("2024"), document("2024-03-01"), ""),
        (document("2024-03-01"), document("2024-03-01"), ""),
        (document(version="v2"), document("2024-03-01"), ""),
        (document(), document(), ""),
        (document(version="2.0.1"), document(version="2.1.0"), ""),
    ],
)
def test_the_older_text_is_named_only_where_both_say_so(one: Any, other: Any, first: str) -> None:
    assert earlier(one, other) == first


@pytest.mark.django_db
def test_both_sides_say_which_is_older_wherever_they_stand() -> None:
    meta = ({"version": "2020-06-01"}, {"version": "2024-06-01"})
    desk = Desk([(texts.RULE, texts.REVISED)], meta=meta)
    for sides, words in (("lr", ["较早", "较晚"]), ("rl", ["较晚", "较早"])):
        shown = reading.reading_of(desk.item(), sides=sides)
        assert [document.order for document in shown.documents] == words
    slot = queue.claim(round=desk.round, person=desk.annotators[0])
    assert isinstance(slot, ReviewSlot)
    html = signed_in(desk.annotators[0]).get(reverse("reviews:item", args=[slot.item_id]))
    assert html.content.decode().count('class="order"') == 2


@pytest.mark.django_db
def test_the_list_of_conflicts_names_the_texts_and_no_answer() -> None:
    meta = ({"title": "借阅规则（旧）"}, {"title": "借阅规则（新）"})
    desk = Desk([(texts.RULE, texts.REVISED)], meta=meta)
    ReviewItem.objects.update(state=ReviewItem.State.CONFLICT, conflict="label")
    page = signed_in(desk.arbitrators[0]).get(
        reverse("reviews:conflict-list", args=[desk.round.pk])
    )
    html = page.content.decode()
    assert "借阅规则（旧）" in html
    assert "借阅规则（新）" in html
    for word in ("副本", "有效修订", "公共引用", "结论不同"):
        assert word not in html


@pytest.mark.django_db
def test_the_other_script_is_compared_whole_and_nothing_is_folded_where_nothing_differs() -> None:
    desk = Desk([("借阅人应当登记。" * 300, "借閱人應當登記。" * 300)])
    candidate = desk.item().candidate
    candidate.containment, candidate.jaccard_folded = 0.1, 1.0
    candidate.save()
    shown = reading.reading_of(desk.item(), sides="lr", only=True)
    assert not shown.partly
    assert shown.changes == 0
    assert not shown.only


@pytest.mark.parametrize(
    ("surface", "name"), [("第十三条", "article_number"), ("第3条第二款", "article_number"), ("第十三名", "number"), ("13", "number")]
)
def test_a_rule_that_one_side_refers_to_is_not_called_a_number(surface: str, name: str) -> None:
    change = FactChange("number", surface, None, 0, len(surface), None, None)
    (fact,) = facts_listed([change], surface, "", "lr")
    assert (fact.kind, fact.name) == ("number", str(FACT_NAMES[name]))
