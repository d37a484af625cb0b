"""Guideline text becomes harmless markup."""

from __future__ import annotations

import pytest

from reviews.guidelines import DEFAULT_TEXT, sanitise


def test_headings_lists_and_paragraphs():
    html = sanitise("# 甲\n\n一行\n又一行\n- 子\n- 丑\n\n## 乙\n末")
    assert html == (
        "<h3>甲</h3>\n<p>一行<br>又一行</p>\n<ul><li>子</li><li>丑</li></ul>\n<h4>乙</h4>\n<p>末</p>"
    )


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        '<a href="data:text/html,x">x</a>',
        '<p style="position:fixed" onclick="x()">x</p>',
        "<svg><script>x</script></svg>",
        "<!-- <b> --><iframe src=//x>",
        '<b title="x" class="y">z</b>',
        '<math><mi//xlink:href="data:x,<script>alert(4)</script>">',
    ],
)
def test_nothing_dangerous_survives(attack):
    from html.parser import HTMLParser

    found = []

    class Look(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append(tag)
            for name, value in attrs:
                assert (tag, name) in {("a", "href"), ("a", "title")}
                assert name != "href" or value.startswith(("http://", "https://", "mailto:"))

    Look().feed(sanitise(attack))
    assert set(found) <= {"p", "b", "a", "br"}


def test_what_is_not_allowed_is_shown_as_typed():
    assert "&lt;script&gt;alert(1)" in sanitise("<script>alert(1)</script>")
    assert "3 &lt; 4 &amp; 5" in sanitise("3 < 4 & 5")


def test_allowed_markup_passes():
    assert '<a href="https://example.org/x">规程</a>' in sanitise(
        '见 <a href="https://example.org/x">规程</a>'
    )
    assert "<strong>必须</strong>" in sanitise("<strong>必须</strong>")


def test_the_default_names_every_label():
    html = sanitise(DEFAULT_TEXT)
    for word in ("副本", "有效修订", "公共引用", "模板", "各自独立", "不能判断"):
        assert f"<li>{word}：" in html
