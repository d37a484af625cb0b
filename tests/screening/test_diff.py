from __future__ import annotations

import subprocess
import sys
import time

import pytest

from screening.evidence.diff import Comparison, Segment, compare, warm


def _marked(comparison: Comparison, side: str, *ops: str) -> list[str]:
    rows = (row.left if side == "left" else row.right for row in comparison.rows)
    return [segment.text for segments in rows for segment in segments if segment.op in ops]


def _checked(left: str, right: str) -> Comparison:
    """A comparison whose invariants hold: both texts rebuilt, offsets right, numbers 1..n in order."""
    comparison = compare(left, right)
    assert comparison.side("left") == left
    assert comparison.side("right") == right
    for text, segments in (
        (left, [s for row in comparison.rows for s in row.left]),
        (right, [s for row in comparison.rows for s in row.right]),
    ):
        at = 0
        for segment in segments:
            assert segment.start == at
            assert segment.text == text[segment.start : segment.end] != ""
            assert (segment.change is not None) == (segment.layer == "exact")
            at = segment.end
        assert at == len(text)
    assert [change.number for change in comparison.changes] == list(
        range(1, len(comparison.changes) + 1)
    )
    assert comparison.counts["exact"] == len(comparison.changes)
    return comparison


def test_one_inserted_digit_marks_the_two_numbers_and_nothing_else() -> None:
    comparison = _checked("每户每月补贴80元，按月发放", "每户每月补贴800元，按月发放")
    (change,) = comparison.changes
    assert (change.kind, change.left_start, change.left_end) == ("replace", 6, 8)
    assert (change.right_start, change.right_end) == (6, 9)


def test_one_inserted_character_is_one_marked_character() -> None:
    comparison = _checked("每户每月补贴若干，按月发放", "每户每月补贴款若干，按月发放")
    (change,) = comparison.changes
    assert (change.kind, change.right_start, change.right_end) == ("insert", 6, 7)
    assert change.left_start == change.left_end == 6


def test_two_edited_cells_of_a_long_table_are_few_marked_characters() -> None:
    cells = [f"第{n}号摊位面积{n + 20}平，租金{n * 50}元；" for n in range(1, 41)]
    left = "".join(cells)
    right = left.replace("面积25平", "面积52平").replace("租金1900元", "租金1990元")
    comparison = _checked(left, right)
    for side in ("left", "right"):
        assert sum(map(len, _marked(comparison, side, "delete", "insert", "replace"))) <= 6


def test_characters_outside_the_basic_plane_stay_whole() -> None:
    comparison = _checked("𠮷某到场", "𠮶某到场")
    assert _marked(comparison, "left", "replace") == ["𠮷"]
    assert _marked(comparison, "right", "replace") == ["𠮶"]


def test_markup_is_text_like_any_other() -> None:
    comparison = _checked(
        "月收入<2000元的，年收入>9000元的除外", "月收入<2500元的，年收入>9000元的除外"
    )
    assert _marked(comparison, "left", "replace") == ["2000"]
    assert _marked(comparison, "right", "replace") == ["2500"]


def test_signs_and_decimal_points_are_exact_changes() -> None:
    for left, right in (
        ("气温-5℃", "气温5℃"),
        ("投资2.75万元", "投资275万元"),
        ("占8%", "占8‰"),
        ("面积10²米", "面积102米"),
    ):
        assert _checked(left, right).counts["exact"] >= 1, (left, right)


def test_what_normalisation_removes_is_cosmetic_and_counted_by_reason() -> None:
    left = "（一）会员，须缴费。Ａ类５元；\n體育館開放。\n"
    right = "(一)会员,须缴费。a类5元；\n体育馆开放。\n"
    comparison = _checked(left, right)
    assert comparison.changes == ()
    assert comparison.counts["width"] >= 3
    assert comparison.counts["script"] == 2
    assert {change.layer for change in comparison.cosmetic} == {"normalised"}
    assert all(row.kind == "equal" for row in comparison.rows)


def test_a_place_name_is_not_folded_away() -> None:
    comparison = _checked("乾安县民政局公告", "干安县民政局公告")
    assert _marked(comparison, "left", "replace") == ["乾"]


def test_breaks_and_spaces_are_layout() -> None:
    left = "各社区应当在月底之前完成楼道清理，并报送照片。\n"
    right = "各社区应当在月底之前\n完成楼道清理， 并报送照片。\n"
    comparison = _checked(left, right)
    assert comparison.changes == ()
    assert {change.layer for change in comparison.cosmetic} == {"layout"}
    assert {change.reason for change in comparison.cosmetic} == {"break", "space"}


def test_hard_wrapped_lines_stand_beside_their_paragraph() -> None:
    text = (
        "甲" * 5
        + "社区食堂每日供应三餐，菜单提前一周公布，老人凭卡就餐，家属可以代为领取并登记姓名。"
    )
    wrapped = "\r\n".join(text[i : i + 12] for i in range(0, len(text), 12))
    comparison = _checked(text, wrapped)
    assert comparison.changes == ()
    assert len(comparison.rows) == 1


def test_invisible_characters_are_named() -> None:
    comparison = _checked("合\u200b同\u202e金额", "合同金额")
    assert [(i.side, i.start, i.code) for i in comparison.invisible] == [
        ("left", 1, "U+200B"),
        ("left", 3, "U+202E"),
    ]
    assert comparison.invisible[0].name == "ZERO WIDTH SPACE"
    assert comparison.changes == ()
    assert comparison.counts["invisible"] == 2
    assert not comparison.identical


def test_a_moved_paragraph_is_a_move_with_its_inner_change() -> None:
    one = "第一条 图书馆每日开放十小时，周一闭馆整理。\n"
    two = "第二条 借阅人应当在三十日内归还图书，并保持书页整洁完好。\n"
    three = "第三条 遗失图书的，按照定价赔偿并补办手续。\n"
    comparison = _checked(one + two + three, two.replace("三十", "六十") + one + three)
    (move,) = comparison.moves
    assert move.inner == 1
    assert move.left_row != move.right_row
    moved = [row for row in comparison.rows if row.kind == "moved"]
    assert [bool(row.left) for row in moved] == [False, True]
    assert [change.kind for change in comparison.changes] == ["move", "replace"]
    inner = comparison.changes[1]
    assert (one + two + three)[inner.left_start : inner.left_end] == "三十"
    assert inner.move == move.number


def test_paragraphs_that_moved_together_are_one_move() -> None:
    block = [f"第{n}点 本段落讲述第{n}个院落的修缮经过和用料来源。\n" for n in range(1, 8)]
    heading = ["二、附记\n"]
    rest = [f"其{n} 另有第{n}组照片由村民自行保存并可供查阅使用。\n" for n in range(1, 12)]
    left = "".join(block[:3] + heading + block[3:] + rest)
    right = "".join(rest + block[:3] + heading + block[3:])
    comparison = _checked(left, right)
    assert len(comparison.moves) == 1
    assert comparison.counts["exact"] == 1
    assert comparison.moves[0].inner == 0


def test_a_sentence_that_moved_inside_a_paragraph_is_a_move() -> None:
    sentence = "值班人员应当每小时巡查一次并在记录簿上签名。"
    a, b = (
        "冬季供暖期间锅炉房昼夜有人值守，不得离岗。",
        "发现漏水漏气的立即停机，并通知维修单位到场处理。",
    )
    comparison = _checked(sentence + a + b, a + b + sentence)
    assert len(comparison.moves) == 1
    assert "".join(_marked(comparison, "left", "move")) in (sentence, a + b)


def test_added_and_removed_paragraphs_have_their_own_rows() -> None:
    kept = "本区各校应当按照课程计划开设体育课。\n"
    comparison = _checked(kept + "每学期组织一次运动会。\n", "附：联系方式见公告栏。\n" + kept)
    assert [row.kind for row in comparison.rows] == ["right_only", "equal", "left_only"]
    assert [change.kind for change in comparison.changes] == ["insert", "delete"]
    assert (comparison.rows[1].left_number, comparison.rows[1].right_number) == (1, 2)


def test_dense_rewording_is_shown_by_words_not_by_stray_characters() -> None:
    comparison = _checked(
        "由街道办事处负责组织实施并予以公告。", "由区文化旅游局牵头推进实施并予以公告。"
    )
    assert _marked(comparison, "left", "equal") == ["由", "实施并予以公告。"]


def test_replaced_words_and_numbers_are_marked_whole() -> None:
    comparison = _checked("奖金数额由国务院规定。", "奖金数额由国家规定。")
    assert _marked(comparison, "left", "replace") == ["国务院"]
    assert _marked(comparison, "right", "replace") == ["国家"]
    comparison = _checked("应当在三十日内付款", "应当在六十日内付款")
    assert _marked(comparison, "left", "replace") == ["三十"]


@pytest.mark.parametrize(
    ("left", "right", "marked"),
    [
        ("限20人报名", "限21人报名", (["20"], ["21"])),
        ("补助50元整", "补助500元整", (["50"], ["500"])),
        ("补助1500元整", "补助500元整", (["1500"], ["500"])),
        ("误差为3.14度", "误差为3.24度", (["3.14"], ["3.24"])),
        ("合计1,250,000元", "合计1,350,000元", (["1,250,000"], ["1,350,000"])),
        ("限２０人报名", "限21人报名", (["２０"], ["21"])),
        ("编为12345号", "编为13355号", (["12345"], ["13355"])),
        ("全文二十条不变", "全文二十一条不变", (["二十"], ["二十一"])),
        ("自2024年3月1日起", "自2025年7月1日起", (["2024年3月"], ["2025年7月"])),
        ("日期2024-03-11止", "日期2025-07-11止", (["2024-03"], ["2025-07"])),
        ("甲\t10\t20\t乙", "甲\t10\t30\t乙", (["20"], ["30"])),
        ("20人报名", "21人报名", (["20"], ["21"])),
        ("报名人数20", "报名人数21", (["20"], ["21"])),
    ],
)
def test_numbers_are_read_as_wholes(
    left: str, right: str, marked: tuple[list[str], list[str]]
) -> None:
    comparison = _checked(left, right)
    assert (
        _marked(comparison, "left", "replace"),
        _marked(comparison, "right", "replace"),
    ) == marked


def test_a_word_with_a_numeral_in_it_is_no_number() -> None:
    comparison = _checked("由统一平台受理", "由同一平台受理")
    assert _marked(comparison, "left", "replace") == ["统一"]
    digits = "1234567890" * 6
    comparison = _checked(f"码{digits}末", f"码{digits[:30]}9{digits[31:]}末")
    assert len(_marked(comparison, "left", "replace")[0]) == 1


def test_equal_rows_far_from_changes_are_marked_for_collapsing() -> None:
    lines = [f"第{n}项 说明文字各不相同，编号{n * 7}。\n" for n in range(1, 11)]
    comparison = _checked("".join(lines), "".join(lines[:9]) + lines[9].replace("说明", "提示"))
    assert [row.collapse for row in comparison.rows] == [True] * 8 + [False] * 2
    long = "平" * 700
    (row,) = _checked(long + "甲", long + "乙").rows
    assert row.left[0].hide == (100, 600)


def test_equal_and_empty_texts() -> None:
    same = "同一份通知。\n第二行。"
    assert _checked(same, same).identical
    assert _checked("", "").rows == ()
    (row,) = _checked("", "新文。").rows
    assert row.kind == "right_only"
    assert row.right[0] == Segment("insert", "新文。", 0, 3, change=1, layer="exact")


def _prose(seed: int, size: int) -> str:
    """Text without sense and without repetition, in lines of about 100 characters."""
    state, chars = seed, []
    for at in range(size):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        chars.append("\n" if at % 100 == 99 else chr(0x4E00 + (state >> 33) % 3000))
    return "".join(chars)


PERIODIC = "平安" * 50_000


@pytest.mark.parametrize(
    ("left", "right", "seconds"),
    [
        pytest.param(_prose(1, 50_000), _prose(1, 25_000) + "新" + _prose(1, 50_000)[25_000:], 0.3, id="near"),
        pytest.param(_prose(1, 50_000), _prose(2, 50_000), 1.5, id="unrelated"),
        pytest.param(
            _prose(1, 50_000), _prose(1, 50_000)[25_000:] + _prose(1, 25_000), 1.5, id="half moved"
        ),
        pytest.param("国" * 50_000, "国" * 40_000 + "民", 1.5, id="one character"),
        pytest.param(PERIODIC, PERIODIC[:50_000] + "X" + PERIODIC[50_001:] + "平", 1.5, id="periodic"),
        pytest.param("甲乙" * 25_000, "乙甲丙" * 16_000, 1.5, id="two periods"),
        pytest.param(
            _prose(3, 200_000).replace("\n", ""), _prose(3, 200_000).replace("\n", "")[7:] + "尾", 1.5,
            id="one long line",
        ),
        pytest.param("a\n" * 10_000, "b\n" * 10_000, 3, id="short lines"),
        pytest.param("，。" * 25_000, "。，" * 25_000, 1.5, id="punctuation"),
    ],
)  # fmt: skip
def test_time_is_bounded(left: str, right: str, seconds: float) -> None:
    warm()
    began = time.process_time()
    comparison = compare(left, right)
    assert time.process_time() - began < seconds
    assert comparison.side("left") == left
    assert comparison.side("right") == right


def test_an_insertion_into_periodic_text_is_one_change() -> None:
    comparison = _checked(PERIODIC, PERIODIC[:50_000] + "X" + PERIODIC[50_000:])
    assert [(c.kind, c.right_start, c.right_end) for c in comparison.changes] == [
        ("insert", 50_000, 50_001)
    ]


def test_the_result_depends_on_nothing_but_the_texts() -> None:
    script = (
        "from screening.evidence.diff import compare\n"
        "a = '第一条 甲方负责供货，乙方按月付款，并承担运费。' * 3\n"
        "b = '第二条 乙方负责验货，甲方按季付款，不承担运费。' * 3\n"
        "print(compare(a, b))"
    )
    outputs = set()
    for seed in ("0", "1", "77"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1


def test_a_heading_in_a_table_of_contents_does_not_tear_articles_apart() -> None:
    first = "第一条 为了规范公园管理，改善人居环境，制定本办法。\n"
    second = "第二条 本市行政区域内的公园适用本办法。\n"
    left = "第一章 总则\n" + first + "第二章 建设\n" + second
    contents = "目录\n第一章 总则\n第二章 建设\n"
    right = (
        contents
        + "第一章 总则\n"
        + first.replace("改善人居", "提升人居")
        + "第二章 建设\n"
        + second
    )
    comparison = _checked(left, right)
    assert comparison.moves == ()
    changed = [row for row in comparison.rows if row.kind == "changed"]
    assert [(row.left_number, row.right_number) for row in changed] == [(2, 5)]


def test_a_mark_replaced_by_words_is_an_insertion() -> None:
    comparison = _checked("遵守商业道德。\n诚实守信。\n", "遵守商业道德，公平竞争；\n诚实守信。\n")
    assert [change.kind for change in comparison.changes] == ["insert"]
    assert {change.reason for change in comparison.cosmetic} == {"punctuation"}
