"""What merely counts on is not what a reader looks for; another reference is. A block of one side is one change."""

from __future__ import annotations

import pytest

from screening.evidence.diff import Comparison, compare

OLD = (
    "第一条 开放窗口设在一楼大厅。\n第二条 借阅人应当凭证登记。\n第三条 违反第二条的，停借三十日。\n"
    "第四条 依照第一条办理续借。\n"
)
NEW = (
    "第一条 开放窗口设在一楼大厅。\n第二条 值班员轮流当值，不设夜班。\n第三条 借阅人应当凭证登记。\n"
    "第四条 违反第三条的，停借三十日。\n第五条 依照第三条办理续借。\n"
)


def _changed(comparison: Comparison, left: str, right: str) -> list[tuple[str, str]]:
    assert comparison.side("left") == left
    assert comparison.side("right") == right
    return [
        (left[c.left_start : c.left_end], right[c.right_start : c.right_end])
        for c in comparison.changes
    ]


def test_numbers_that_count_on_are_no_changes_and_another_reference_is_one() -> None:
    comparison = compare(OLD, NEW)
    assert _changed(comparison, OLD, NEW) == [
        ("", "第二条 值班员轮流当值，不设夜班。\n"),
        ("一", "三"),
    ]
    shifted = [change for change in comparison.cosmetic if change.layer == "numbering"]
    assert [OLD[c.left_start : c.left_end] for c in shifted] == ["二", "三", "二", "四"]
    assert comparison.counts["renumbered"] == 4
    back = compare(NEW, OLD)
    assert len(back.changes) == 2
    assert back.counts["renumbered"] == 4


def test_rows_with_nothing_but_numbers_that_count_on_fold_away() -> None:
    body = "".join(f"第{{}}条 第{n}项工作由专人负责到底，并留存记录。\n" for n in range(12))
    digits = [str(n) for n in range(3, 15)]
    left = "第1条 总的要求。\n第2条 具体安排如下。\n" + body.format(*digits)
    right = "第1条 总的要求。\n" + body.format(*(str(int(n) - 1) for n in digits))
    comparison = compare(left, right)
    assert _changed(comparison, left, right) == [("第2条 具体安排如下。\n", "")]
    assert sum(row.collapse for row in comparison.rows) >= 10


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("依照第十条的规定执行到底。", "依照第十一条的规定执行到底。"),
        ("共十条规定需要执行到底。", "共十一条规定需要执行到底。"),
    ],
)
def test_a_number_that_no_heading_explains_stays_a_change(left: str, right: str) -> None:
    assert len(compare(left, right).changes) == 1


def test_a_header_or_table_of_contents_of_one_side_is_one_change() -> None:
    body = "第一条 总的要求是安全第一。\n第二条 各组应当按时交接。\n"
    head = "title: 交接办法\ndate: 2024-05-01\n---\n目录\n第一章 总则\n第二章 交接\n"
    comparison = compare(head + body, body)
    assert [text for text, _ in _changed(comparison, head + body, body)] == [head]
    rows = [row for row in comparison.rows if row.kind == "left_only"]
    assert len(rows) >= 5


def test_each_article_of_one_side_is_a_change_of_its_own() -> None:
    body = "第一条 总的要求是安全第一。\n"
    more = "第二条 各组应当按时交接。\n第三条 交接簿留存一年。\n"
    comparison = compare(body, body + more)
    assert [text for _, text in _changed(comparison, body, body + more)] == more.splitlines(True)


def test_rows_that_differ_in_layout_only_fold_away_too() -> None:
    body = [f"第{n}项 由专人负责到底，并留存记录。" for n in range(1, 9)]
    left, right = "\n".join(body), "\n".join(f"{one}  " for one in body) + "\n补充一段新的说明。\n"
    rows = compare(left, right).rows
    assert [row.layer for row in rows[:5]] == ["layout"] * 5
    assert all(row.collapse for row in rows[:5])
