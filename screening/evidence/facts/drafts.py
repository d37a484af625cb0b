"""Facts in offsets of the clean text, and numerals in patterns and in canonical text."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from .model import FactKind
from .numerals import FRACTION_CHARS, POWER_CHARS, parse, plain


class Draft(NamedTuple):
    """A fact in offsets of the clean text."""

    kind: FactKind
    value: str
    start: int
    end: int
    mantissa: str = ""
    heading: bool = False
    key: str = ""
    weak: bool = False


_ARABIC = (
    rf"(?:\d{{1,3}}(?:,\d{{3}}){{1,6}}(?!\d)|\d{{1,30}})(?:\.\d{{1,20}})?[{FRACTION_CHARS}]?[{POWER_CHARS}]{{0,3}}"
    r"(?:[余多]?[十百千万亿][万亿]?)?"
    rf"|[{FRACTION_CHARS}]"
)


_HAN = (
    r"[零〇一二三四五六七八九十百千万亿两廿卅壹贰叁肆伍陆柒捌玖拾佰仟]{1,20}"
    r"(?:点[零〇一二三四五六七八九]{1,8}[万亿]?|[余多][万亿])?"
)


NUMERAL = rf"(?:{_ARABIC}|{_HAN})"


def decimal_text(value: Decimal | Fraction) -> str:
    """Canonical text of a value; nine places for what has no finite decimals."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        value = (Decimal(value.numerator) / Decimal(value.denominator)).quantize(Decimal("1e-9"))
    return plain(value)


def scaled(number: Decimal, factor: Fraction | int) -> str:
    """Canonical text of ``number`` times ``factor``."""
    return decimal_text(Fraction(number) * factor)


def mantissa_of(numeral: str) -> str:
    """The numeral without its last 万, 亿 or 千 where digits stay: 五万 and 5 are both ``5``."""
    stem = numeral.rstrip("千万亿") or numeral
    value = parse(stem)
    return "" if value is None else plain(value)


def whole(text: str | None) -> int | None:
    """A whole number in either script; 元 and 正 are the first (month, year)."""
    if not text:
        return None
    if text in ("元", "正"):
        return 1
    value = parse(text)
    return None if value is None or value != int(value) else int(value)
