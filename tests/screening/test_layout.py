"""Short lines that repeat: named, kept in the text, and passed over in matching only where a run asks for it."""

from __future__ import annotations

import pytest

from screening.config import ScreeningConfig
from screening.pipeline import screen
from screening.text.layout import layout_spans, repeated_lines
from screening.text.normalise import NormaliseOptions, normalise
from tests.screening.making import document

HEAD = "青禾市图书馆规章汇编"
LINES = (
    "本馆每周一闭馆整理图书，其余日期上午九时至下午五时开放，请读者相互转告。",
    "读者凭借阅证入馆，请勿携带食品和饮料；遇有特殊情况需要提前闭馆的，将张贴告示。",
    "自习室座位实行预约制，迟到三十分钟的座位自动释放，当日不得再次预约同一时段。",
)
PLAIN = "\n".join(LINES)
PRINTED = "".join(f"{HEAD}\r\n{line}\r\n- {n} -\r\n" for n, line in enumerate(LINES, 1))
SKIPPING = NormaliseOptions(skip_layout=True)


def test_repeated_lines_and_page_numbers_are_found_where_they_stand() -> None:
    found = repeated_lines(PRINTED)
    assert set(found) == {HEAD, "- 1 -"}
    assert [PRINTED[a:b] for a, b in layout_spans(PRINTED)] == [HEAD, "- 1 -", HEAD, "- 2 -", HEAD, "- 3 -"]  # fmt: skip
    assert repeated_lines(PLAIN) == {}
    assert repeated_lines(f"{HEAD}\n{PLAIN}\n{HEAD}") == {}  # twice is no layout


def test_matching_passes_over_them_only_if_told_and_offsets_lead_to_raw() -> None:
    assert normalise(PRINTED).text == normalise(PRINTED.replace("\r", "")).text
    assert HEAD in normalise(PRINTED).text
    skipped = normalise(PRINTED, SKIPPING)
    assert skipped.text == normalise(PLAIN).text
    assert all(
        normalise(PRINTED[place]).text == character
        for character, place in zip(skipped.text, skipped.offsets.tolist(), strict=True)
    )
    start = skipped.text.index("读者凭借阅证")
    left, right = skipped.raw_span(start, start + 6)
    assert PRINTED[left:right] == "读者凭借阅证"


def test_a_text_of_nothing_else_stays_whole() -> None:
    raw = f"{HEAD}\n" * 4
    assert normalise(raw, SKIPPING).text == HEAD * 4


@pytest.mark.parametrize("keep", ["alphanumeric", "signs", "whitespace_only"])
def test_it_goes_with_every_rule_of_what_is_kept(keep: str) -> None:
    options = NormaliseOptions(keep=keep, skip_layout=True)  # type: ignore[arg-type]
    assert HEAD not in normalise(PRINTED, options).text


def test_a_run_finds_the_printed_copy_equal_only_when_it_skips() -> None:
    texts = [document("A", PLAIN), document("B", PRINTED)]
    (usual,) = screen(texts, ScreeningConfig()).candidates
    assert usual.jaccard < 1
    (skipping,) = screen(texts, ScreeningConfig(skip_layout=True)).candidates
    assert (skipping.jaccard, skipping.channels[0]) == (1, "exact")
    for excerpt in skipping.excerpts:
        assert PRINTED[excerpt.right_start : excerpt.right_end].startswith(
            PLAIN[excerpt.left_start : excerpt.left_start + 5]
        )


def test_it_is_off_by_default_and_part_of_the_fingerprint() -> None:
    assert ScreeningConfig().skip_layout is False
    skipping = ScreeningConfig.from_dict({"skip_layout": True})
    assert skipping.fingerprint != ScreeningConfig().fingerprint
    assert skipping.to_dict()["skip_layout"] is True
    assert ScreeningConfig.from_dict(skipping.to_dict()) == skipping
