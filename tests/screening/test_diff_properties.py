from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from screening.evidence.align import matching_blocks
from screening.evidence.diff import compare
from screening.evidence.facts import fact_changes

PARTS = st.sampled_from(
    ["甲方应当", "在三十日内", "付款", "，", "。", "\n", "\r\n", " ", "\u3000", "\u200b", "\u202e", "5%", "-5%", "3.14", "體", "体",
     "Ａ", "a", "<b>", "&", "𠮷", "第一条", "每周一次检查设备并记录结果", "乙方可以随时查阅账目和原始凭证", "１", "e\u0301"]
)  # fmt: skip
TEXTS = st.lists(PARTS, max_size=40).map("".join)
ANY = st.one_of(TEXTS, st.text(max_size=60))


@settings(max_examples=300, deadline=None)
@given(ANY, ANY)
def test_both_texts_are_rebuilt_from_the_segments(left: str, right: str) -> None:
    comparison = compare(left, right)
    assert comparison.side("left") == left
    assert comparison.side("right") == right
    for segments, text in (
        ([s for row in comparison.rows for s in row.left], left),
        ([s for row in comparison.rows for s in row.right], right),
    ):
        assert all(text[s.start : s.end] == s.text for s in segments)
    assert comparison.identical == (left == right)


@settings(max_examples=300, deadline=None)
@given(ANY, ANY)
def test_equal_segments_pair_up(left: str, right: str) -> None:
    for row in compare(left, right).rows:
        mine = [s.text for s in row.left if s.op == "equal"]
        theirs = [s.text for s in row.right if s.op == "equal"]
        assert mine == theirs


@settings(max_examples=300, deadline=None)
@given(ANY, ANY)
def test_every_change_is_shown_and_every_number_leads_to_one(left: str, right: str) -> None:
    comparison = compare(left, right)
    shown = {s.change for row in comparison.rows for s in (*row.left, *row.right) if s.change}
    assert shown == {change.number for change in comparison.changes}
    cosmetic = {
        s.cosmetic for row in comparison.rows for s in (*row.left, *row.right) if s.cosmetic
    }
    assert cosmetic == {change.number for change in comparison.cosmetic}
    spans = [
        (c.left_start, c.left_end, c.right_start, c.right_end, c.row) for c in comparison.changes
    ]
    spans += [
        (c.left_start, c.left_end, c.right_start, c.right_end, c.row) for c in comparison.cosmetic
    ]
    for left_start, left_end, right_start, right_end, row in spans:
        assert 0 <= left_start <= left_end <= len(left)
        assert 0 <= right_start <= right_end <= len(right)
        assert 0 <= row < len(comparison.rows)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="甲乙丙", max_size=80), st.text(alphabet="甲乙丙", max_size=80))
def test_matching_blocks_match_and_rise(a: str, b: str) -> None:
    i_end = j_end = 0
    for i, j, size in matching_blocks(a, b):
        assert size > 0
        assert i >= i_end
        assert j >= j_end
        assert a[i : i + size] == b[j : j + size]
        i_end, j_end = i + size, j + size


@settings(max_examples=200, deadline=None)
@given(ANY, ANY)
def test_fact_changes_point_into_their_texts(left: str, right: str) -> None:
    for change in fact_changes(left, right):
        for start, end, text in (
            (change.left_start, change.left_end, left),
            (change.right_start, change.right_end, right),
        ):
            assert (start is None) == (end is None)
            if start is not None and end is not None:
                assert 0 <= start < end <= len(text)
        assert change.left is not None or change.right is not None
