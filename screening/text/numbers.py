"""Document numbers (发文字号): the agency's code, the year and the serial, however they are typed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

HEAD_CHARACTERS = 800
HEAD_LINES = 15
"""The number of a document stands in its first lines, before the first sentence of its body."""


@dataclass(frozen=True, slots=True)
class DocumentNumber:
    """One document number: two spellings are the same number exactly when ``key`` is equal.

    ``raw`` is the spelling found; ``standard`` whether it is the prescribed one (GB/T 9704: 〔〕, Arabic digits, no
    spaces, no 第); ``start`` and ``end`` are code points of the text it was found in.
    """

    code: str
    year: int
    serial: int
    raw: str
    start: int = 0
    end: int = 0

    @property
    def key(self) -> tuple[str, int, int]:
        """(code, year, serial)."""
        return self.code, self.year, self.serial

    @property
    def standard(self) -> bool:
        """Whether the spelling is the prescribed one."""
        return self.raw == f"{self.code}〔{self.year}〕{self.serial}号"


_ZEROS = "0〇零○◯"
_HAN = {
    "一": 1,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "两": 2,
    **dict.fromkeys(_ZEROS[1:], 0),
}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_CONFUSED = str.maketrans(
    {"O": "0", "o": "0", "Ｏ": "0", "ｏ": "0", "l": "1", "I": "1", "ｌ": "1", "Ｉ": "1", "|": "1"}
)

_GAP = r"[^\S\r\n]*"
_PATTERN = re.compile(
    r"(?P<code>[^\W\d_]+(?:[(（][^\W\d_]{1,4}[)）][^\W\d_]*)?)"
    + _GAP
    + r"[〔\[【(（﹝［{｛〖]"
    + _GAP
    + r"(?P<year>[0-9０-９〇零○◯一二三四五六七八九OoＯｏlIｌＩ|]{3,4})"
    + _GAP
    + r"年?[〕\]】)）﹞］}｝〗]"
    + _GAP
    + r"(?:第"
    + _GAP
    + r")?(?P<serial>[0-9０-９〇零○◯一二三四五六七八九十百千OoＯｏlIｌＩ|]{1,9})"
    + _GAP
    + r"[号號]"
)
_LABEL = re.compile(r"(?:发文字号|发文號|发文号|文件编号|文件号|文号|字号|文號)[:：]?")
_SIGNER = re.compile(r"签发人[:：]?\S*")
_TITLE_IN_FRONT = re.compile(r"[》」』\"”]\s*$")


def numeral(text: str) -> int | None:
    """The value of Arabic digits of any width, Chinese digits (二〇二六) or a Chinese number (一百零三); else None."""
    digits = unicodedata.normalize("NFKC", text)
    if digits.isascii() and digits.isdigit():
        return int(digits)
    if all(c in _HAN for c in text):
        return int("".join(str(_HAN[c]) for c in text))
    total = pending = 0
    for c in text:
        if c in _HAN:
            pending = _HAN[c]
        elif c in _UNITS:
            total += (pending or 1) * _UNITS[c]
            pending = 0
        else:
            return None
    return total + pending


def _read(match: re.Match[str], confused: bool = False) -> DocumentNumber | None:
    year_text, serial_text = match["year"], match["serial"]
    if confused:
        year_text, serial_text = year_text.translate(_CONFUSED), serial_text.translate(_CONFUSED)
    year, serial = numeral(year_text), numeral(serial_text)
    if (
        year is None
        or serial is None
        or len(year_text) != 4
        or not 1900 <= year <= 2999
        or serial < 1
    ):
        return None
    code = unicodedata.normalize("NFKC", match["code"]).casefold()
    return DocumentNumber(code, year, serial, match[0], match.start(), match.end())


def numbers_in(text: str) -> Iterator[DocumentNumber]:
    """Every well-formed document number of a text, borne or cited."""
    for match in _PATTERN.finditer(text):
        number = _read(match)
        if number is not None:
            yield number


def parse_number(text: str) -> DocumentNumber | None:
    """The number that ``text`` as a whole is, brackets and a label around it allowed; None for anything else."""
    return _whole_line(text, confused=False)


def possible_number(text: str) -> DocumentNumber | None:
    """What a malformed number may have meant, letters O and l read as digits; to be checked by a person."""
    return None if _whole_line(text, confused=False) else _whole_line(text, confused=True)


def _whole_line(line: str, confused: bool) -> DocumentNumber | None:
    match = _PATTERN.search(line)
    if match is None:
        return None
    before, after = line[: match.start()], line[match.end() :]
    rest = _SIGNER.sub("", _LABEL.sub("", before) + after)
    if _TITLE_IN_FRONT.search(before) or any(c.isalnum() for c in rest):
        return None
    return _read(match, confused)


def head_lines(raw: str) -> Iterator[tuple[int, str]]:
    """(offset, line) of the first lines, up to the first that ends a sentence."""
    at = seen = 0
    for line in raw[:HEAD_CHARACTERS].splitlines(keepends=True):
        text = line.strip()
        if text:
            seen += 1
            if seen > HEAD_LINES or text[-1] in "。；;":
                return
            yield at, line
        at += len(line)


def own_number(raw: str) -> DocumentNumber | None:
    """The number that a document bears itself: the first in its head that stands on a line of its own.

    A number behind a title inside a sentence is a citation and never taken.
    """
    head = raw[:HEAD_CHARACTERS]
    if "号" not in head and "號" not in head:
        return None
    for at, line in head_lines(raw):
        number = parse_number(line)
        if number is not None:
            return DocumentNumber(*number.key, number.raw, number.start + at, number.end + at)
    return None


def doubtful_number(raw: str) -> DocumentNumber | None:
    """A malformed number in head position, as it may have been meant."""
    head = raw[:HEAD_CHARACTERS]
    if "号" not in head and "號" not in head:
        return None
    found = (possible_number(line) for _, line in head_lines(raw))
    return next((number for number in found if number is not None), None)


def cited_numbers(raw: str) -> tuple[DocumentNumber, ...]:
    """Numbers of other documents that a text mentions, in reading order."""
    own = own_number(raw)
    return tuple(n for n in numbers_in(raw) if own is None or n.key != own.key)
