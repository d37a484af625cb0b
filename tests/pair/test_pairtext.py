"""The texts as HTML: all of both of them, nothing else, and a change bar that stays small."""

from __future__ import annotations

import html as html_lib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews import pairtext
from reviews.visible import visible_html
from screening.evidence.diff import compare
from tests.pair import texts

LETTERS = st.text(alphabet="甲乙丙一二。，\n<>&\"' 1", max_size=60)


def shown(html: str, side: str) -> str:
    """What a reader sees of one side, paragraph by paragraph."""
    cells = re.findall(rf'data-d="{side}" data-s="\d+"[^>]*>(.*?)</div>', html, re.DOTALL)
    return "".join(html_lib.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in cells)


@settings(max_examples=60, deadline=None)
@given(LETTERS, LETTERS, st.booleans())
def test_both_texts_are_whole(left: str, right: str, swapped: bool) -> None:
    html = pairtext.render(compare(left, right), swapped=swapped).html
    for raw, side in ((left, "l"), (right, "r")):
        # Only the break that ends a paragraph is not written: the row ends there.
        assert shown(html, side).replace("\n", "") == raw.replace("\n", "")


@pytest.mark.parametrize(("one", "other"), [(texts.RULE, texts.REVISED), (texts.RULE, texts.MOVED)])
def test_cells_know_where_they_start(one: str, other: str) -> None:
    html = pairtext.render(compare(one, other), swapped=False).html
    for raw, side in ((one, "l"), (other, "r")):
        starts = [int(n) for n in re.findall(rf'data-d="{side}" data-s="(\d+)"', html)]
        assert starts == sorted(starts)
        for start in starts:
            assert start == 0 or raw[start - 1] == "\n"


def test_swapping_exchanges_columns_and_counters() -> None:
    comparison = compare("甲段。\n共同的一段文字，足够长。\n", "共同的一段文字，足够长。\n")
    plain = pairtext.render(comparison, swapped=False)
    swapped = pairtext.render(comparison, swapped=True)
    assert (plain.counts["first_only"], plain.counts["last_only"]) == (1, 0)
    assert (swapped.counts["first_only"], swapped.counts["last_only"]) == (0, 1)
    assert "◧" in plain.html
    assert "◨" in swapped.html
    assert plain.html.index('data-d="l"') < plain.html.index('data-d="r"')
    assert swapped.html.index('data-d="r"') < swapped.html.index('data-d="l"')
    assert 'class="l"' in plain.strip
    assert 'class="r"' not in plain.strip
    assert 'class="r"' in swapped.strip


def test_move_is_linked_both_ways_and_drawn() -> None:
    rendered = pairtext.render(compare(texts.RULE, texts.MOVED), swapped=False)
    assert rendered.counts["moved"] == 1
    assert '<path class="m"' in rendered.strip
    links = re.findall(r'class="to" href="#r(\d+)"', rendered.html)
    assert len(links) == 2
    assert all(f'id="r{number}"' in rendered.html for number in links)


def test_change_bar_stays_small_for_thousands_of_changes() -> None:
    left = "".join(f"第{n}段写的是{n}。\n" for n in range(4_000))
    right = "".join(f"第{n}段写的是{n + 7}。\n" for n in range(4_000))
    rendered = pairtext.render(compare(left, right), swapped=False)
    assert rendered.changes > 3_000
    assert rendered.strip.count("<a ") <= pairtext.BINS + 1
    covered: set[int] = set()
    for first, last in re.findall(r'data-to="(\d+)" data-end="(\d+)"', rendered.strip):
        covered.update(range(int(first), int(last) + 1))
    assert covered == set(range(1, rendered.changes + 1))


def test_long_texts_are_rendered_with_few_marks() -> None:
    left = (texts.RULE * 210)[:50_000]
    right = left.replace("1500元", "2000元", 9).replace("两人", "三人", 5)
    compare(texts.RULE, texts.REVISED)
    rendered = pairtext.render(compare(left, right), swapped=False)
    assert len(rendered.html) < 20 * len(left)


def test_minor_differences_are_named_not_numbered() -> None:
    rendered = pairtext.render(compare("两人，其中一人。", "两人,其中一人。"), swapped=False)
    assert rendered.changes == 0
    assert rendered.counts["minor"] == 1
    assert '<mark class="minor"' in rendered.html


def test_equal_rows_fold_but_stay_on_the_page() -> None:
    filler = "".join(f"第{n}段没有变化。\n" for n in range(40))
    rendered = pairtext.render(compare(filler + "甲", filler + "乙"), swapped=False)
    assert 'class="fold"' in rendered.html
    assert "第20段没有变化" in rendered.html


def test_texts_that_share_little_fold_to_what_they_share() -> None:
    one = "".join(f"甲文第{n}段说海港与灯塔。\n" for n in range(20)) + texts.STATEMENT + "\n"
    other = "".join(f"乙篇{n}：山路、茶园。\n" for n in range(20)) + texts.STATEMENT + "\n"
    rendered = pairtext.render(compare(one, other), swapped=False)
    assert rendered.equal_share < pairtext.KIN
    rows = re.findall(
        r'<div class="(pr[^"]*)"[^>]*>(.*?)(?=<div class="pr|$)', rendered.html, re.DOTALL
    )
    kept = [html for classes, html in rows if "far" not in classes]
    assert any(texts.STATEMENT in html for html in kept)
    assert len(kept) <= 4
    # The bar shows where the shared text is: one place.
    assert rendered.strip.count("<a ") == 1
    assert "没有相同文字" in rendered.html or "without shared text" in rendered.html


@pytest.mark.parametrize(
    "character", ["\u202e", "\u2066", "\u200b", "\ufeff", "\x07", "\u2028", "\U000e0041", "\u3164"]
)
def test_what_cannot_be_seen_is_named_and_taken_out(character: str) -> None:
    html = visible_html(f"甲{character}<乙>")
    assert character not in html
    assert f"U+{ord(character):04X}" in html
    assert "&lt;乙&gt;" in html


def test_ordinary_text_is_left_alone() -> None:
    text = "全角　空格\t制表\n换行 é 𠮷 😀"
    assert visible_html(text) == text
