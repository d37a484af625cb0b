"""Raw text → the clean text that fact rules read, with the way back to raw offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

NOISE = re.compile(r"(?:[^\w㎡\ue000-\ue00f]|_)+")
"""What the skeleton of a text leaves out."""

_KEEP_TRADITIONAL = "乾著瞭藉麽昇"
_LOOKALIKES = {
    "○": "〇", "◯": "〇", "−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-", "﹣": "-", "﹪": "%",
    "﹐": ",", "〜": "~", "～": "~", "∼": "~", "佈": "布", "笫": "第", "⽉": "月", "⽇": "日",
    "⼀": "一", "⼆": "二", "⼗": "十", "⼋": "八", "⻓": "长", "⽆": "无", "⾮": "非",
}  # fmt: skip

_BREAKS = re.compile(
    # a page mark alone on its line, with the line ends around it
    r"(?P<page>[ \t\u3000]*(?:\r\n|[\r\n\f])[\s\u200b]{0,20}"
    r"(?:[-—―─•·]{1,3}[ \u3000]{0,3}\d{1,4}[ \u3000]{0,3}[-—―─•·]{1,3}"
    r"|第[ \u3000]{0,2}\d{1,4}[ \u3000]{0,2}页(?:[ ,，/／\u3000]{0,3}共[ \u3000]{0,2}\d{1,4}[ \u3000]{0,2}页)?"
    r"|\d{1,4}[ \u3000]?[/／][ \u3000]?\d{1,4}|[Pp]age[ ]\d{1,4}(?:[ ]of[ ]\d{1,4})?)"
    r"[ \t\u3000]{0,20}(?:\r\n|[\r\n\f]|$)\s*)"
    r"|[\s\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad\ufe0f]+"
)
_LIST_HEAD = re.compile(
    r"[一二三四五六七八九十]{1,3}[、.是]|[(][一二三四五六七八九十\d]{1,3}[)]"
    r"|\d{1,3}(?:\.\d{1,3}){0,3}[、.)]|\d{1,3}(?:\.\d{1,3}){1,3}|第[零〇一二三四五六七八九十百千\d]{1,7}[条章节编款项]"
)
_NUMERAL_CHARS = frozenset("0123456789零〇一二三四五六七八九十百千万亿两廿卅.,")
_WORD_CHARS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


@lru_cache(maxsize=1)
def fold_table() -> dict[int, str]:
    """Character by character, so that offsets survive: width, signs, and the simplified script."""
    from opencc import OpenCC

    han = [chr(code) for code in range(0x4E00, 0x9FA6)]
    simple = OpenCC("t2s").convert("\n".join(han)).split("\n")
    table = {ord(a): b for a, b in zip(han, simple, strict=True) if a != b and len(b) == 1}
    for char in _KEEP_TRADITIONAL:
        table.pop(ord(char), None)
    for code in range(0xFF01, 0xFF5F):
        if code not in (0xFF0C, 0xFF1B, 0xFF1F, 0xFF01):
            table[code] = chr(code - 0xFEE0)
    table.update({ord(a): b for a, b in _LOOKALIKES.items()})
    # private characters mark facts in the skeleton, so a text may not bring its own
    table.update(dict.fromkeys(range(57344, 57360), "�"))
    return table


@dataclass(frozen=True, slots=True)
class CleanText:
    """Text for the rules: folded width and script, no spaces inside Chinese, no page marks.

    A break that must keep two words or two numbers apart stays as one space or line feed.
    """

    text: str
    _starts: tuple[int, ...]
    _shifts: tuple[int, ...]

    def raw(self, index: int) -> int:
        """Raw offset of the clean character ``index``."""
        return index + self._shifts[bisect_right(self._starts, index) - 1]

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Raw offsets of a non-empty clean span, end exclusive."""
        return self.raw(start), self.raw(end - 1) + 1


_INVISIBLE = frozenset("\u200b\u200c\u200d\u200e\u200f\u2028\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
                      "\u2066\u2067\u2068\u2069\ufeff\u00ad\ufe0f\u00a0")  # fmt: skip
_SENTENCE_END = frozenset("。;；:：!?！？")
_WRAPPED_LINE = 20


def _joint(folded: str, start: int, end: int, page_mark: bool) -> str:
    """What stays of the break ``folded[start:end]``: nothing inside a sentence, else a space or line feed."""
    if start == 0 or end >= len(folded):
        return "\n"
    before, after = folded[start - 1], folded[end]
    gap = folded[start:end]
    if gap == " " or gap == "\u3000":
        if before == "条" and gap == "\u3000":
            return " "
    elif "\n" in gap or "\r" in gap:
        if before in _SENTENCE_END:
            return "\n"
        if page_mark:
            return ""
        if gap.count("\n") > 1 or _LIST_HEAD.match(folded, end):
            return "\n"
        if before in _NUMERAL_CHARS and after in _NUMERAL_CHARS:
            # a long line that breaks off inside a number was wrapped by a program, not by its author
            line = start - 1 - max(folded.rfind("\n", 0, start), folded.rfind("\r", 0, start))
            return "" if line >= _WRAPPED_LINE else "\n"
    elif _INVISIBLE.issuperset(gap):
        return ""
    if before in _WORD_CHARS and (after in _WORD_CHARS or after == "-"):
        return " "
    if before in _NUMERAL_CHARS and after in _NUMERAL_CHARS:
        # 3.14 万元 is one number, 3 五 is two
        return "" if before in "0123456789" and after in "百千万亿" else " "
    return ""


def clean(raw: str) -> CleanText:
    """Fold and join ``raw``; every clean character keeps its raw offset. Linear time."""
    folded = raw.translate(fold_table())
    parts: list[str] = []
    starts, shifts = [0], [0]
    at = length = 0
    for match in _BREAKS.finditer(folded):
        start, end = match.span()
        piece = folded[at:start]
        joint = _joint(folded, start, end, match.lastgroup is not None)
        parts.append(piece)
        length += len(piece)
        if joint:
            parts.append(joint)
            starts.append(length)
            shifts.append(start - length)
            length += 1
        starts.append(length)
        shifts.append(end - length)
        at = end
    parts.append(folded[at:])
    return CleanText("".join(parts), tuple(starts), tuple(shifts))
