"""One text as the comparison reads it: comparable characters, paragraphs, invisible characters."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache
from itertools import compress

from ..facts.reading import fold_table

_INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
INVISIBLE = re.compile(f"[{_INVISIBLE}]")
_PUNCTUATION = "，。、；：？！“”‘’（）《》〈〉【】〔〕「」『』…—–·•,;:?!\"'()\\[\\]{}"
# signs that decide a value stay comparable: % ‰ + = / everywhere, - < > . * # beside digits
_LEFT_OUT = re.compile(
    rf"[\s{_INVISIBLE}{_PUNCTUATION}`|]+|[-<>](?![\d.])|\.(?!\d)|(?<!\d)[.*#]|\*(?!\d)"
)
_SPACE = re.compile(rf"[\s{_INVISIBLE}]*")
NUMERAL = r"[零〇○一二三四五六七八九十百千\d０-９]"
ARTICLE = re.compile(rf"[\s#*>]*第[ \u3000]?{NUMERAL}{{1,7}}[ \u3000]?条")
"""How a paragraph begins that is an article of its own."""
_PARAGRAPH = re.compile(r"[^\n\r]*(?:\r\n|[\n\r])(?:[ \t\u3000]*(?:\r\n|[\n\r]))*|[^\n\r]+")


@lru_cache(maxsize=1)
def _table() -> dict[int, str]:
    table = dict(fold_table())
    for first, last in ((0x2E80, 0x2FE0), (0xF900, 0xFB00)):
        for code in range(first, last):
            plain = unicodedata.normalize("NFKC", chr(code))
            if len(plain) == 1 and plain != chr(code):
                table[code] = table.get(ord(plain), plain)
    table.update({code: chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})
    table.update({0xFF21 + i: chr(ord("a") + i) for i in range(26)})
    table.update({ord("，"): ",", ord("；"): ";", ord("？"): "?", ord("！"): "!"})
    return table


class SideText:
    """A raw text, its comparable characters ``norm`` and the raw index of each (``raw_at``)."""

    __slots__ = ("ends", "norm", "paragraphs", "raw", "raw_at", "starts", "words")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        folded = raw.translate(_table())
        keep = bytearray(b"\1") * len(folded)
        for match in _LEFT_OUT.finditer(folded):
            start, end = match.span()
            keep[start:end] = bytes(end - start)
        self.norm = "".join(compress(folded, keep))
        self.raw_at = list(compress(range(len(folded)), keep))
        self.paragraphs = [match.span() for match in _PARAGRAPH.finditer(raw)]
        if self.paragraphs and self.paragraphs[0][0] != 0:
            self.paragraphs[0] = (0, self.paragraphs[0][1])
        self.starts = [bisect_left(self.raw_at, start) for start, _ in self.paragraphs]
        self.ends = [*self.starts[1:], len(self.norm)][: len(self.starts)]
        # where the words of a paragraph begin behind the number of its article
        self.words = [
            bisect_left(self.raw_at, head.end()) if (head := ARTICLE.match(raw, start)) else first
            for (start, _), first in zip(self.paragraphs, self.starts, strict=True)
        ]

    def key(self, paragraph: int) -> str:
        """Comparable characters of a paragraph."""
        return self.norm[self.starts[paragraph] : self.ends[paragraph]]


def reason_of(left: str, right: str) -> tuple[str, str]:
    """Layer and reason of a cosmetic difference between two slices."""
    if _SPACE.fullmatch(left) and _SPACE.fullmatch(right):
        if INVISIBLE.search(left) or INVISIBLE.search(right):
            return "layout", "invisible"
        return "layout", "break" if set("\r\n") & (set(left) | set(right)) else "space"
    if INVISIBLE.sub("", left) == INVISIBLE.sub("", right):
        return "layout", "invisible"
    if len(left) == len(right) == 1 and left.isalnum() and right.isalnum():
        if left.casefold() == right.casefold():
            return "normalised", "case"
        narrow = unicodedata.normalize("NFKC", left), unicodedata.normalize("NFKC", right)
        if narrow[0].casefold() == narrow[1].casefold():
            return "normalised", "width"
        return "normalised", "script"
    if unicodedata.normalize("NFKC", left) == unicodedata.normalize("NFKC", right):
        return "normalised", "width"
    return "normalised", "punctuation"
