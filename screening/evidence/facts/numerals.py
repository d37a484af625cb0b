"""Numerals, in digits or in characters, to exact decimals."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

_DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_DIGITS |= {str(i): i for i in range(10)}
_MULTIPLIERS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_FRACTIONS = {
    "½": "0.5", "¼": "0.25", "¾": "0.75", "⅕": "0.2", "⅖": "0.4", "⅗": "0.6", "⅘": "0.8", "⅛": "0.125",
    "⅜": "0.375", "⅝": "0.625", "⅞": "0.875", "⅓": "0.33333333", "⅔": "0.66666667", "⅙": "0.16666667",
}  # fmt: skip
_POWERS = {c: i for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_FINANCIAL = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟", "一二三四五六七八九十百千")

FRACTION_CHARS = "".join(_FRACTIONS)
POWER_CHARS = "".join(_POWERS)


def plain(value: Decimal) -> str:
    """Shortest exact notation without exponent: ``31400``, ``0.5``, ``-3``."""
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _arabic(text: str) -> Decimal:
    """Digits with sign, thousands separators, vulgar fraction, power and multipliers (``-3.5万``)."""
    sign = 1
    if text[0] in "+-":
        sign = -1 if text[0] == "-" else 1
        text = text[1:]
    multiplier = 1
    while text and text[-1] in _MULTIPLIERS:
        multiplier *= _MULTIPLIERS[text[-1]]
        text = text[:-1]
    exponent = ""
    while text and text[-1] in _POWERS:
        exponent = str(_POWERS[text[-1]]) + exponent
        text = text[:-1]
    extra = Decimal(0)
    if text and text[-1] in _FRACTIONS:
        extra = Decimal(_FRACTIONS[text[-1]])
        text = text[:-1]
    number = Decimal(text.replace(",", "") or "0") + extra
    if exponent:
        number = number ** min(int(exponent), 30)
    return sign * number * multiplier


def _small(text: str) -> int | None:
    """Characters below 万: 三百二十, 一百零五, 廿三, 百二."""
    text = text.replace("廿", "二十").replace("卅", "三十")
    total, digit, last = 0, None, 1
    zero = False
    for char in text:
        if char in _MULTIPLIERS:
            unit = _MULTIPLIERS[char]
            total += (1 if digit is None else digit) * unit
            digit, last, zero = None, unit, False
        elif char in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[char]
            zero = zero or digit == 0
    if digit:
        # 一百二 is 120 in speech, 一百零二 is 102
        total += digit * (last // 10 if last >= 100 and not zero else 1)
    return total


def _chinese(text: str) -> Decimal | None:
    """Whole number in characters, by place value or digit by digit."""
    text = text.translate(_FINANCIAL)
    if not any(char in "十百千万亿廿卅" for char in text):
        return Decimal("".join(str(_DIGITS[char]) for char in text))
    import cn2an  # takes longer to import than this whole package

    try:
        return Decimal(cn2an.cn2an(text.replace("〇", "零"), "smart"))
    except (ValueError, KeyError):
        pass
    total = Decimal(0)
    for unit in ("亿", "万"):
        head, mark, tail = text.partition(unit)
        if mark:
            part = _small(head) if head else 1
            if part is None:
                return None
            total += part * _MULTIPLIERS[unit]
            text = tail
    rest = _small(text) if text else 0
    return None if rest is None else total + rest


@lru_cache(maxsize=65536)
def parse(text: str) -> Decimal | None:
    """Value of one numeral without unit, ``None`` where the characters make no number.

    Takes ``3.14万``, ``1,234,567``, ``1½``, ``10²``, ``二〇二六``, ``三十二``, ``二点五``, ``半``,
    ``三万五千``, ``-5``, ``负五``, ``叁万``.
    """
    if not text or len(text) > 40:
        return None
    text = text.replace("余", "").replace("多", "")
    if text == "半":
        return Decimal("0.5")
    if text[0] == "负":
        value = parse(text[1:])
        return None if value is None else -value
    head = text.lstrip("+-")
    if head and (head[0].isascii() or head[0] in _FRACTIONS):
        try:
            return _arabic(text)
        except ArithmeticError:
            return None
    whole, point, decimals = text.partition("点")
    if point:
        multiplier = 1
        while decimals and decimals[-1] in _MULTIPLIERS:
            multiplier *= _MULTIPLIERS[decimals[-1]]
            decimals = decimals[:-1]
        base = _chinese(whole) if whole else Decimal(0)
        if base is None or not decimals or not all(char in _DIGITS for char in decimals):
            return None
        fraction = Decimal("0." + "".join(str(_DIGITS[char]) for char in decimals))
        return (base + fraction) * multiplier
    return _chinese(text)
