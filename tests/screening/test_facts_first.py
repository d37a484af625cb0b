from __future__ import annotations

from screening.evidence.facts import extract_facts, fact_changes


def test_a_changed_frequency_and_amount_are_found_with_raw_positions() -> None:
    left, right = "巡查员每周到场一次，补助50元。", "巡查员每天到场一次，补助500元。"
    changes = fact_changes(left, right)
    assert [(c.kind, c.left, c.right) for c in changes] == [
        ("frequency", "每周", "每日"),
        ("money", "50 元", "500 元"),
    ]
    assert left[changes[1].left_start : changes[1].left_end] == "50元"
    assert right[changes[1].right_start : changes[1].right_end] == "500元"


def test_a_page_mark_inside_a_sentence_is_no_number() -> None:
    facts = extract_facts("各村应于三日\n— 1 —\n内报送名册。")
    assert [(f.kind, f.value) for f in facts] == [("duration", "3日")]
