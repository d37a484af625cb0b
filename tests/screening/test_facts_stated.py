"""Dates that a text states of itself: passed, published, in force."""

from __future__ import annotations

from screening.evidence.facts import fact_changes

HEAD = "# 青禾市河道管理办法\n\n{passed}2019年3月1日 施行\n\n"
BODY = (
    "第一条 为了加强河道管理，保障防洪安全，制定本办法。\n\n第二条 河道管理范围内禁止倾倒垃圾。\n"
)


def test_dates_that_a_text_states_of_itself_are_compared_though_their_lines_are_its_own() -> None:
    first = "2018年12月3日 市人民政府第八次常务会议通过\n\n"
    later = (
        first
        + "2023年10月16日 市人民政府第二次常务会议修正\n\n2023年10月20日 市人民政府第三次会议通过\n\n"
    )
    old = HEAD.format(passed=first) + BODY
    new = HEAD.format(passed=later).replace("2019年3月1日", "2023年11月1日") + BODY
    dates = {(c.left, c.right) for c in fact_changes(old, new) if c.kind == "date"}
    assert dates == {("2019-03-01", "2023-11-01"), (None, "2023-10-20")}


def test_a_copy_that_tells_its_history_in_one_paragraph_states_the_same_dates() -> None:
    lines = "2018年12月3日 常务会议通过\n\n2023年10月16日 常务会议修正\n\n"
    prose = "（2018年12月3日常务会议通过 根据2023年10月16日常务会议决定修正）\n\n"
    bare = ""
    texts = [HEAD.format(passed=head) + BODY for head in (lines, prose, bare)]
    for other in texts[1:]:
        assert not [c for c in fact_changes(texts[0], other) if c.kind == "date"]
