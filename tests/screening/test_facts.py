from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from cn2an import cn2an

from screening.evidence.facts import (
    KINDS,
    FactChange,
    compare_facts,
    extract_facts,
    fact_changes,
    read_facts,
)
from screening.evidence.facts.numerals import parse

SENTENCES = Path(__file__).with_name("fact_sentences.jsonl")
Key = tuple[str, str | None, str | None]


def _changes(left: str, right: str) -> list[Key]:
    """Kind and canonical values; of a way of writing only the kind."""
    found = fact_changes(left, right)
    return [
        ("style", None, None) if c.kind == "style" else (c.kind, c.left, c.right) for c in found
    ]


def _table() -> list[tuple[str, str, list[Key]]]:
    rows = []
    for line in SENTENCES.read_text("utf-8").splitlines():
        row = json.loads(line)
        expected = [(c["kind"], c.get("left"), c.get("right")) for c in row["changes"]]
        rows.append((row["left"], row["right"], expected))
    return rows


def test_sentences_give_their_changes_with_precision_and_recall_of_95_percent() -> None:
    rows = _table()
    assert len(rows) >= 150
    right: Counter[str] = Counter()
    false: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    report = []
    for left_text, right_text, expected in rows:
        got, want = Counter(_changes(left_text, right_text)), Counter(expected)
        for key, times in (got & want).items():
            right[key[0]] += times
        for key, times in (got - want).items():
            false[key[0]] += times
        for key, times in (want - got).items():
            missed[key[0]] += times
        if got != want:
            report.append(f"{left_text} | {right_text}: {dict(got)} for {dict(want)}")
    kinds = set(right) | set(missed)
    assert kinds == set(KINDS), "a kind has no sentence"
    message = "\n".join(report)
    for kind in KINDS:
        assert right[kind] / (right[kind] + false[kind]) >= 0.85, f"precision of {kind}\n{message}"
        assert right[kind] / (right[kind] + missed[kind]) >= 0.85, f"recall of {kind}\n{message}"
    total = sum(right.values())
    assert total / (total + sum(false.values())) >= 0.95, message
    assert total / (total + sum(missed.values())) >= 0.95, message


def test_changes_are_the_same_seen_from_the_other_side() -> None:
    for left, right, _ in _table():
        there = Counter(_changes(left, right))
        back = Counter((kind, b, a) for kind, a, b in _changes(right, left))
        assert there == back, (left, right)


def test_a_text_never_differs_from_itself() -> None:
    for left, right, _ in _table():
        assert compare_facts(read_facts(left), read_facts(left)) == ()
        assert fact_changes(right, right) == ()


def test_positions_are_code_points_of_the_raw_text() -> None:
    left = "📌 𠮷村：巡查员每周\u200b到场一次，补助５０元。"
    right = "𠮷村：巡查员每天到场一次，补助５００元。"
    changes = fact_changes(left, right)
    assert [(c.kind, c.left, c.right) for c in changes] == [
        ("frequency", "每周1次", "每日1次"),
        ("money", "50 元", "500 元"),
    ]
    assert left[changes[0].left_start : changes[0].left_end] == "每周\u200b到场一次"
    assert left[changes[1].left_start : changes[1].left_end] == "５０元"
    assert right[changes[1].right_start : changes[1].right_end] == "５００元"


def test_one_side_without_the_fact_has_no_position_there() -> None:
    (change,) = fact_changes("材料不应退回。会员名单应公开。", "材料不应退回。会员名单公开。")
    assert (change.kind, change.left, change.right) == ("modality", "应当", None)
    assert change.right_start is None
    assert change.right_end is None
    assert change.substantive


@pytest.mark.parametrize(
    ("kind", "substantive"),
    [("article_number", False), ("style", False), ("number", True), ("negation", True)],
)
def test_only_renumbering_and_style_are_not_substantive(kind: str, substantive: bool) -> None:
    change = FactChange(kind, "a", "b", 0, 1, 0, 1)  # type: ignore[arg-type]
    assert change.substantive is substantive


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3.14万", "31400"),
        ("1,234,567", "1234567"),
        ("1½", "1.5"),
        ("10²", "100"),
        ("二〇二六", "2026"),
        ("两千零一十", "2010"),
        ("两亿三千万", "230000000"),
        ("三万五", "35000"),
        ("一百二", "120"),
        ("廿三", "23"),
        ("伍佰万", "5000000"),
        ("-0.5", "-0.5"),
        ("负五", "-5"),
        ("半", "0.5"),
        ("一点五万", "15000"),
        ("100000万", "1000000000"),
    ],
)
def test_numerals_are_read_exactly(text: str, value: str) -> None:
    number = parse(text)
    assert number is not None
    assert number == type(number)(value)


def test_characters_with_place_value_agree_with_the_library() -> None:
    for text in (
        "十",
        "十五",
        "二十",
        "一百零五",
        "三千二百",
        "四万零七十",
        "五百六十七万八千九百",
    ):
        assert parse(text) == cn2an(text, "smart")


@pytest.mark.parametrize(
    "notation", ["二〇三一年", "二○三一年", "二零三一年", "两千零三十一年", "２０３１年"]
)
def test_a_year_is_the_same_in_every_notation(notation: str) -> None:
    assert [(f.kind, f.value) for f in extract_facts(notation)] == [("date", "2031")]


def test_a_clause_number_behind_an_amount_is_no_part_of_it() -> None:
    facts = extract_facts("3.1新馆造价2750.06万元3.2展厅分两层布置")
    assert [(f.kind, f.value) for f in facts] == [
        ("article_number", "(3.1)"),
        ("money", "27500600 元"),
        ("article_number", "(3.2)"),
        ("number", "2 层"),
    ]


@pytest.mark.parametrize("mark", ["— 7 —", "- 7 -", "第7页", "第 7 页 共 9 页", "7/9"])
def test_a_page_mark_inside_a_sentence_is_no_number(mark: str) -> None:
    assert fact_changes("各村应于三日内报送名册。", f"各村应于三日\n{mark}\n内报送名册。") == ()


def test_hard_wraps_and_zero_width_characters_change_no_fact() -> None:
    text = "经办人核对身份以后应当在收到完整的申请材料之日起二十个工作日内核对全部材料，并缴存保证金30万元整。"
    wrapped = text.replace("二十个", "二\r\n十个").replace("30万", "3\u200b0\u2060万")
    assert [(f.kind, f.value) for f in extract_facts(wrapped)] == [
        (f.kind, f.value) for f in extract_facts(text)
    ]


def test_traditional_script_states_the_same_facts() -> None:
    assert (
        fact_changes(
            "工廠應當每週檢測兩次，罰款五萬元以下。", "工厂应当每周检测两次，罚款五万元以下。"
        )
        == ()
    )


def test_a_paragraph_that_moved_changes_no_fact() -> None:
    one, two = (
        "甲区拨款30万元，用于修缮旧桥和附属道路。",
        "乙区拨款50万元，用于新建码头和候船大厅。",
    )
    filler = "本通报所列事项由各区自行组织实施并接受监督。"
    assert [c for c in fact_changes(one + filler + two, two + filler + one) if c.substantive] == []


def test_shared_passages_confine_the_comparison() -> None:
    shared = "申请人应当在三十日内缴纳罚款五百元。"
    other = shared.replace("五百", "九百")
    left = shared + "正" * 300 + "会费每年200元，按期缴纳不误。"
    right = other + "正" * 300 + "会费每年300元，按期缴纳不误。"
    assert len(fact_changes(left, right)) == 2
    spans = [(0, len(shared), 0, len(other))]
    (change,) = fact_changes(left, right, spans)
    assert (change.left, change.right) == ("500 元", "900 元")


@pytest.mark.parametrize(
    "text",
    [
        "省" * 60 + "〔2026年",
        "省发〔" + " " * 50_000 + "x",
        "一、" * 20_000,
        "9" * 50_000,
        "一" * 50_000,
        "百分之" * 20_000,
        "1,2" * 20_000,
        "\n- 1" * 20_000,
        "A1-" * 20_000,
        "不" * 50_000,
        "局" * 50_000,
        "第" * 50_000,
    ],
)
def test_hostile_texts_are_read_in_linear_time(text: str) -> None:
    read_facts("预热")
    began = time.process_time()
    read_facts(text)
    # A bound that the case itself sets; in CPU time, so that a busy machine does not break it.
    assert time.process_time() - began < 1


def test_two_thousand_pairs_a_second_once_the_facts_are_read() -> None:
    clause = (
        "第{n}条 经办机构应当在{d}日内核对材料，逾期的处{m}元以上罚款，并每月公开{t}次处理结果。"
    )
    left = "\n".join(clause.format(n=n, d=n + 3, m=n * 100, t=n) for n in range(1, 16))
    right = left.replace("处500元", "处800元").replace("应当在6日内", "可以在9日内")
    a, b = read_facts(left), read_facts(right)
    changes = compare_facts(a, b)
    assert [(c.kind, c.left, c.right) for c in changes] == [
        ("modality", "应当", "可以"),
        ("duration", "6日", "9日"),
        ("money", "500 元", "800 元"),
    ]


PASSED = "2016年8月27日 第十届示范区代表大会常务委员会第二十三次会议通过\n"
AMENDED = "2024年11月8日 第十四届示范区代表大会常务委员会第十二次会议《关于修改〈示范区代表大会常务委员会监督办法〉的决定》修正）\n"
BODY = (
    "## 第一章 总则\n第一条 为了{}示范区代表大会常务委员会依法行使监督职权，制定本办法。\n"
    "第二条 示范区代表大会常务委员会依据本办法的规定行使监督职权，{}向社会公布年度报告。\n"
    "第三条 监督工作围绕中心任务，突出重点，注重实效，做到有计划、有步骤、有结果，听取各方面的意见。\n"
    "第四条 被监督的部门应当如实提供材料，不得隐瞒，不得拖延，并在规定的期限内答复所提出的问题。\n"
)
NAME = "示范区代表大会常务委员会监督办法\n"


def test_a_line_put_in_beside_its_like_sets_no_day_against_an_ordinal() -> None:
    left = "# " + NAME + PASSED + AMENDED + NAME + BODY.format("保障", "并")
    right = "# " + NAME + "示范区代表大会\n常务委员会监督办法\n" + PASSED + BODY.format("规范", "按时")
    for one, other in ((left, right), (right, left)):
        for change in fact_changes(one, other):
            assert change.kind == "body" or None in (change.left, change.right), change


def test_an_article_put_in_begins_with_its_own_number() -> None:
    left = "第一条 窗口每周开放。第二条 借阅人应当登记。"
    right = "第一条 窗口每周开放。第二条 本馆设咨询台。第三条 借阅人应当登记。"
    found = [(c.kind, c.left, c.right) for c in fact_changes(left, right)]
    assert found == [("article_number", "第2条", "第3条")]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("现将甲某等撤销之诉案等四个案例发布。", "现将乙某等非法买卖案等四个案例发布。"),
        ("拒不改正、逾期拒缴的，处以罚款若干。", "没收物品及非法所得的，处以罚款若干。"),
    ],
)
def test_words_of_different_things_are_not_set_against_each_other(left: str, right: str) -> None:
    assert [c for c in fact_changes(left, right) if c.kind in ("conclusion", "condition")] == []


def test_of_one_subject_must_and_may_differ_whatever_follows() -> None:
    left = "未达到前条标准的，主管登记机关应当依法进行调查。"
    right = "未达到前条标准的，主管登记机关可以要求补报材料。"
    assert ("modality", "应当", "可以") in _changes(left, right)
