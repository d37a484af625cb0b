"""Guideline text: written by an admin in plain text with a little markup, shown as sanitised HTML."""

from __future__ import annotations

import re

import bleach

TAGS = frozenset(
    ["p", "br", "h3", "h4", "ul", "ol", "li", "b", "strong", "i", "em", "code", "blockquote", "a"]
)
ATTRIBUTES = {"a": ["href", "title"]}
PROTOCOLS = frozenset(["http", "https", "mailto"])

DEFAULT_TEXT = """\
# 怎样判断一对材料

先独立阅读左右两篇的原文，再看改动与证据。相似度高不等于是副本：以原文里的事实为准。

- 副本：同一篇文章的再次采集，只有版式、标点、繁简或采集缺损的差别。
- 有效修订：同一文件的前后版本，日期、数字、条件或措辞有实质改动。请尽量给出先后方向。
- 公共引用：两篇不同的文章引用了同一段公开文字，或一篇引用另一篇。
- 模板：同一套表格或格式，填写的内容不同。
- 各自独立：话题相同而文字各异，或一篇解读另一篇。
- 不能判断：证据不足时选它，并写明缺什么；由仲裁人处理。

判断只代表您自己的看法。在这一对结束以前，任何人都看不到他人的判断。
"""
"""What a round opens with when the admin writes nothing."""

_HEADING = re.compile(r"^(#{1,2}) +(.+)$")
_BULLET = re.compile(r"^[-*] +(.+)$")


def sanitise(text: str) -> str:
    """The HTML of a guideline: the one place where text written by a user becomes markup.

    Lines beginning with ``#`` or ``##`` are headings, with ``-`` list entries; a blank line ends a paragraph. Of HTML in
    the text only ``TAGS`` pass, links only to http, https and mailto; everything else is shown as it was typed.
    """
    return bleach.clean(
        _blocks(text), tags=TAGS, attributes=ATTRIBUTES, protocols=PROTOCOLS, strip=False
    )


def _blocks(text: str) -> str:
    blocks: list[str] = []
    entries: list[str] = []
    lines: list[str] = []

    def flush() -> None:
        if entries:
            blocks.append("<ul>" + "".join(f"<li>{entry}</li>" for entry in entries) + "</ul>")
        if lines:
            blocks.append("<p>" + "<br>".join(lines) + "</p>")
        entries.clear()
        lines.clear()

    for line in (*text.splitlines(), ""):
        stripped = line.strip()
        bullet = _BULLET.match(stripped)
        heading = _HEADING.match(stripped)
        if bullet:
            if lines:
                flush()
            entries.append(bullet[1])
            continue
        if entries or heading or not stripped:
            flush()
        if heading:
            level = 3 if len(heading[1]) == 1 else 4
            blocks.append(f"<h{level}>{heading[2]}</h{level}>")
        elif stripped:
            lines.append(stripped)
    return "\n".join(blocks)
