"""The record before a text folds; what a text says itself never does."""

from __future__ import annotations

import re

import pytest

from reviews import pairtext
from reviews.recordhead import record_head
from screening.evidence.diff import compare
from tests.pair import texts
from tests.pair.test_pairtext import shown

PORTAL = """索 引 号：
qh-2024-0017
主题分类：
文化、阅读
发文机关：
青禾市文化馆
成文日期：
2024年2月3日
发文字号：
青文〔2024〕7号
"""
IN_LINES = "来源：青禾晚报\n发布日期：2024-02-03\n浏览次数：318\n"
MATTER = "---\ntitle: 夜间开放\npublish_date: 2024-02-03\ntags:\n  - 图书馆\n---\n"


@pytest.mark.parametrize(("record", "lines"), [(PORTAL, 10), (IN_LINES, 3), (MATTER, 6)])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_record_of_one_side_folds_whole(record: str, lines: int, swapped: bool) -> None:
    for left, right in ((record + texts.RULE, texts.RULE), (texts.RULE, record + texts.REVISED)):
        comparison = compare(left, right)
        assert record_head(comparison.rows) == lines
        html = pairtext.render(comparison, swapped=swapped).html
        inside = re.findall(r'<details class="record">(.*?)</details>', html, re.DOTALL)
        assert len(inside) == 1
        assert inside[0].count('<div class="pr') == lines
        for raw, side in ((left, "l"), (right, "r")):
            assert shown(html, side).replace("\n", "") == raw.replace("\n", "")


@pytest.mark.parametrize(
    "opening",
    [
        "各社区图书馆：\n经研究，现将有关事项通知如下。\n请遵照执行。\n",
        "时间：周六上午\n地点：河堤公园\n主持：馆长\n",
        "来源：青禾晚报\n发布日期：2024-02-03\n",
        "---\n以下为附件。\n---\n",
        "---\ntitle: 没有结尾\n",
        "第一项：开放\n第二项：关闭\n标题：无\n",
        "标题：甲\n一段说明文字。\n又一段说明文字。\n来源：乙\n状态：丙\n",
    ],
)
def test_what_is_no_record_stays_in_sight(opening: str) -> None:
    comparison = compare(opening + texts.RULE, texts.RULE)
    assert record_head(comparison.rows) == 0
    assert "details" not in pairtext.render(comparison, swapped=False).html


def test_a_record_on_both_sides_is_compared_in_sight() -> None:
    other = PORTAL.replace("2024年2月3日", "2024年3月5日")
    assert record_head(compare(PORTAL + texts.RULE, other + texts.RULE).rows) == 0
    assert record_head(()) == 0


def test_a_text_that_is_nothing_but_a_record_is_still_whole() -> None:
    comparison = compare(PORTAL, "一句完全无关的话。\n")
    html = pairtext.render(comparison, swapped=False).html
    assert html.count("<details") == html.count("</details>")
    assert shown(html, "l").replace("\n", "") == PORTAL.replace("\n", "")


def test_among_texts_that_share_little_the_folds_stay_within_it() -> None:
    left = PORTAL + "".join(f"第{n}件旧事，与别处无关。\n" for n in "甲乙丙丁戊己庚辛")
    comparison = compare(left, texts.RULE)
    html = pairtext.render(comparison, swapped=False).html
    assert html.count("<details") == html.count("</details>")
    assert shown(html, "l").replace("\n", "") == left.replace("\n", "")
