"""What changed besides the facts is named, so that no list of facts is read as "nothing changed"."""

from __future__ import annotations

import pytest

from reviews.reading import reading_of
from reviews.wording import others_listed
from screening.evidence.diff import compare
from screening.evidence.facts import fact_changes
from tests.pair.desk import Desk

HEAD = "第一条 为方便居民借阅，制定本办法。\n第二条 窗口设在一楼，由值班人员看管。\n"


def others(left: str, right: str) -> dict[str, list[tuple[str, str]]]:
    """By kind, the words at each place on both sides."""
    found = others_listed(compare(left, right), fact_changes(left, right))
    return {
        one.kind: [(left[a:b] if a is not None else "", right[c:d] if c is not None else "") for a, b, c, d in one.places]
        for one in found
    }  # fmt: skip


def test_other_wording_is_counted_with_both_places() -> None:
    left, right = (
        HEAD + "第三条 借书须爱惜。\n",
        HEAD.replace("看管", "照料") + "第三条 借书须爱惜。\n",
    )
    assert fact_changes(left, right) == ()
    assert others(left, right) == {"wording": [("看管", "照料")]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("费用1500元。", "费用2000元。"),
        ("读者可以登记。", "读者应当登记。"),
        ("窗口每周开放。", "窗口每天开放。"),
        ("读者，可以登记。", "读者可以登记；"),
        ("读者应登记。", "讀者應登記。"),
    ],
)
def test_a_fact_a_mark_or_a_script_is_no_other_wording(old: str, new: str) -> None:
    assert others(HEAD + old, HEAD + new) == {}


def test_words_beside_a_fact_count_too() -> None:
    found = others(HEAD + "补助每月1500元，由区里发。", HEAD + "补助每月2000元，由街道的小卖部发。")
    assert list(found) == ["wording"]


def test_a_paragraph_of_one_side_has_its_own_name_and_lights_only_there() -> None:
    added = "第三条 雨天照常借阅，伞放门口。\n"
    assert others(HEAD, HEAD + added) == {"paragraph": [("", added)]}


def test_a_way_of_writing_is_named_as_such() -> None:
    found = others(HEAD + "每班十名志愿者到场。", HEAD + "每班10名志愿者到场。")
    assert found == {"style": [("十名", "10名")]}


@pytest.mark.django_db
def test_the_page_says_so_beside_the_checklist_and_not_where_all_differs() -> None:
    desk = Desk([(HEAD, HEAD.replace("看管", "照料")), ("甲乙丙丁" * 60, "戊己庚辛" * 60)])
    items = sorted(desk.round.items.all(), key=lambda item: item.candidate.rank)
    alike, unlike = (reading_of(item, sides="lr") for item in items)
    assert [(one.kind, len(one.places)) for one in alike.others] == [("wording", 1)]
    assert alike.facts == []
    assert unlike.others == []
