"""The matching copy and the way back to the raw text."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screening.text.normalise import NormaliseOptions, normalise, normalise_many
from screening.text.table import build_table, composes_backwards, load_table, normalise_simply


def plain(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def test_every_code_point_becomes_what_unicodedata_says() -> None:
    wrong = []
    step = 4096
    for start in range(0, sys.maxunicode + 1, step):
        chars = [chr(cp) for cp in range(start, min(start + step, sys.maxunicode + 1))]
        texts = ["甲" + c + "乙" for c in chars if not 0xD800 <= ord(c) < 0xE000]
        points, _, bounds = normalise_many(texts, NormaliseOptions())
        for i, text in enumerate(texts):
            got = points[bounds[i] : bounds[i + 1]].tobytes().decode("utf-32-le")
            if got != plain(text):
                wrong.append(text)
    assert wrong == []


AWKWARD = "eaoＡ①㎡№½İßẞﬁ각가ᄀ\u1161\u11a8\u0301\u0327\u0308\u3099か\u200b\u200d\ufe0f\U000e0100葛⽂金〇○々ـ٣क\u09be\u09c7 ,。-"


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=AWKWARD, max_size=40))
def test_composing_sequences_give_what_whole_string_nfkc_gives(text: str) -> None:
    found = normalise(text)
    assert found.text == plain(text)
    assert len(found.offsets) == len(found.text)
    assert all(0 <= o < len(text) for o in found.offsets)
    assert list(found.offsets) == sorted(found.offsets)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_what_the_plain_definition_gives(text: str) -> None:
    assert normalise(text).text == plain(text)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("仓库面积３０㎡，编号№７", "仓库面积30m2编号no7"),
        ("⽅案⽴⽂", "方案立文"),
        ("金\u200b额合\u00ad计\ufeff", "金额合计"),
        ("葛\U000e0100城", "葛城"),
        ("İ区", "i区"),
        ("Straße", "STRASSE"),
        ("cafe\u0301", "CAFÉ"),
        ("\u1112\u1161\u11ab글", "한글"),
    ],
)
def test_spellings_of_one_text_meet(left: str, right: str) -> None:
    assert normalise(left).text == normalise(right).text != ""


def test_a_fragment_is_covered_exactly_in_the_raw_text() -> None:
    raw = "面积㎡\u200b数：合同总价"
    found = normalise(raw)
    at = found.text.index("合同总价")
    assert at == 5
    assert found.raw_span(at, at + 4) == (6, 10)
    turkish = normalise("İ7年度总结")
    assert turkish.raw_span(1, 6) == (1, 6)


def test_marks_belong_to_the_character_before_them() -> None:
    found = normalise("e\u0301甲")
    assert found.text == "é甲"
    assert found.raw_span(0, 1) == (0, 2)
    selector = normalise("葛\U000e0100城")
    assert selector.raw_span(0, 1) == (0, 2)


def test_one_character_that_becomes_two_keeps_one_place() -> None:
    found = normalise("共5㎡")
    assert found.text == "共5m2"
    assert found.offsets.tolist() == [0, 1, 2, 2]
    assert found.raw_span(3, 4) == (2, 3)


def test_signs_stay_where_they_belong_to_a_number() -> None:
    options = NormaliseOptions(keep="signs")
    assert normalise("增长-5.5%，见3.1节。A-B", options).text == "增长-5.5%见3.1节ab"
    assert normalise("增长−5％", options).text == "增长-5%"
    assert normalise("完。5", options).text == "完5"


def test_whitespace_only_keeps_punctuation() -> None:
    options = NormaliseOptions(keep="whitespace_only")
    found = normalise("甲，\u3000乙。\u200b\n丙！", options)
    assert found.text == "甲,乙。丙!"
    assert found.offsets.tolist() == [0, 1, 3, 4, 7, 8]


def test_lone_surrogates_and_nothing_at_all_pass() -> None:
    assert normalise("甲\ud800乙").text == "甲乙"
    assert normalise("").text == ""
    assert normalise("——！…").text == ""


def test_many_texts_at_once_are_the_texts_one_by_one() -> None:
    texts = ["甲乙", "", "e\u0301x", "㎡", "——", "A" * 50]
    points, offsets, bounds = normalise_many(texts, NormaliseOptions())
    for i, text in enumerate(texts):
        alone = normalise(text)
        assert points[bounds[i] : bounds[i + 1]].tobytes().decode("utf-32-le") == alone.text
        assert np.array_equal(offsets[bounds[i] : bounds[i + 1]], alone.offsets)


def test_the_table_is_cached_rebuilt_when_damaged_and_works_without_a_disk(tmp_path: Path) -> None:
    load_table.cache_clear()
    first = load_table(cache_dir=tmp_path)
    stored = next(tmp_path.iterdir())
    assert unicodedata.unidata_version in stored.name
    stored.write_bytes(b"not a table")
    load_table.cache_clear()
    again = load_table(cache_dir=tmp_path)
    assert np.array_equal(first.entries, again.entries)
    load_table.cache_clear()
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert np.array_equal(load_table(cache_dir=blocked).entries, first.entries)
    load_table.cache_clear()


def test_the_table_marks_exactly_what_composes() -> None:
    table = build_table()
    assert table.entries[ord("가")] > 0
    assert composes_backwards("\u0301")
    assert composes_backwards("\u1161")
    assert not composes_backwards("甲")
    assert not composes_backwards("\u200d")
    assert normalise_simply("Ａ１，", casefold=False) == "A1"
