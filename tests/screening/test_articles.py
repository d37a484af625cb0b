"""Statutes article by article: which article is which, what only moved its number, what went and what came."""

from __future__ import annotations

from screening.evidence.articles import ArticleRow, article_table, articles_of, has_articles
from screening.evidence.diff import compare

OLD = """青禾市公共书架管理办法

第一章 总则
第一条 为方便居民就近阅读，规范公共书架的设置与维护，制定本办法。
第二条 公共书架设在社区入口、公园凉亭等处，每处藏书不少于60册。
第三条 街道办事处每月检查一次书架，并登记损坏情况。
第四条 居民可以自由取阅，阅后放回原处；依照第三条登记的损坏图书不再上架。
第五条 本办法自2024年5月1日起施行。
"""
NEW = """青禾市公共书架管理办法

第一章 总则
第一条 为方便居民就近阅读，规范公共书架的设置与维护，制定本办法。
第二条 公共书架设在社区入口、公园凉亭等处，每处藏书不少于80册。
第三条 公共书架应当有遮雨设施，夜间有照明。
第四条 街道办事处每月检查一次书架，并登记损坏情况。
第五条 本办法自2024年5月1日起施行。
"""


def table(left: str, right: str) -> list[ArticleRow]:
    rows = article_table(compare(left, right), left, right)
    for side, raw in (("left", left), ("right", right)):
        parts = [getattr(row, f"{side}_segments") for row in rows if getattr(row, side)]
        text = "".join(segment.text for segments in parts for segment in segments)
        assert sorted(text) == sorted(raw), "every character stands in the table once"
        assert all(raw[s.start : s.end] == s.text for segments in parts for s in segments)
    return rows


def numbers(rows: list[ArticleRow]) -> list[tuple[str, str, str]]:
    return [
        (row.kind, row.left.number if row.left else "–", row.right.number if row.right else "–")
        for row in rows
        if (row.left and row.left.number) or (row.right and row.right.number)
    ]


def test_articles_are_known_by_their_words_not_their_numbers() -> None:
    assert numbers(table(OLD, NEW)) == [
        ("same", "第一条", "第一条"),
        ("changed", "第二条", "第二条"),
        ("right_only", "–", "第三条"),
        ("renumbered", "第三条", "第四条"),
        ("left_only", "第四条", "–"),
        ("same", "第五条", "第五条"),
    ]


def test_the_marks_of_an_article_are_those_of_the_comparison() -> None:
    row = next(row for row in table(OLD, NEW) if row.kind == "changed")
    assert [s.text for s in row.left_segments if s.op == "replace"] == ["60"]
    assert [s.text for s in row.right_segments if s.op == "replace"] == ["80"]


def test_an_article_that_moved_is_found_again() -> None:
    lines = OLD.split("\n")
    lines[3:7] = [lines[6], *lines[3:6]]
    kinds = {(left, right): kind for kind, left, right in numbers(table(OLD, "\n".join(lines)))}
    assert kinds[("第四条", "第四条")] == "same"
    assert not [kind for kind in kinds.values() if kind.endswith("only")]


def test_a_mention_of_an_article_begins_none() -> None:
    text = "第一条 甲事。\n第二条的规定不适用于此。\n第二条 乙事，依照\n第一条、第三条办理。\n第十条之一 丙事。\n"
    assert [a.number for a in articles_of(text)] == ["第一条", "第二条", "第十条之一"]
    assert "".join(text[a.start : a.end] for a in articles_of(text)) == text


def test_only_texts_of_articles_have_a_table() -> None:
    assert has_articles(OLD, NEW)
    assert not has_articles(OLD, "一篇没有条文的短讯。\n第一条消息来自城南。\n")
    assert numbers(table("没有条文。", "也没有。")) == []


def test_every_article_of_a_long_statute_has_its_row() -> None:
    left = "".join(
        f"第{n}条 第{n}类设施由第{n % 37}组维护，每{n}日检查一次。\n" for n in range(1, 1_500)
    )
    right = left.replace("第37组", "第38组").replace("每5", "每6")
    assert len(article_table(compare(left, right), left, right)) >= 1_499
