"""Quantities with a unit: percentages, frequencies, money, durations, measures."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from .dates import is_day_of_month
from .drafts import NUMERAL, Draft, decimal_text, mantissa_of, scaled, whole
from .numerals import parse
from .units import CURRENCY_SIGNS, DURATION, MONEY, READABLE, SAME_DURATION, SCALE, UnitAt, unit_at

_PERCENT = re.compile(
    rf"(?P<sign>[+\-±负]|零下)?(?:(?P<n>{NUMERAL})(?:(?P<mark>%|‰|‱|个?百分点|成(?![立为功员果本品都交分长效套年人])))"
    rf"|(?P<base>百|千|万)分之(?P<m>{NUMERAL})|(?P<den>{NUMERAL})分之(?P<num>{NUMERAL}))"
)


_PERSON = re.compile("学生|老师|教师|职工|车|车间")
_FREQUENCY = re.compile(
    rf"(?:每|隔|逐|按)(?P<n>{NUMERAL}|半)?个?(?P<unit>工作日|天|日|周|星期|旬|月|季度|季|学期|学年|年度|年|小时|分钟|餐|班|届)"
    rf"(?P<day>[一二三四五六日天](?![次个名人份天]))?(?:[^\W\d第]{{0,4}}?(?P<times>{NUMERAL})次)?"
)


_TIMES_A = re.compile(
    rf"(?P<n>{NUMERAL}|半)个?(?P<unit>天|日|周|星期|月|季度|年)(?:内)?(?:[^\W\d第]{{0,4}}?)(?P<times>{NUMERAL})次"
)


_MONEY = re.compile(
    rf"(?P<cur>人民币|RMB|CNY|US\$|USD|HK\$|[¥￥$€£])(?P<sign>-)?(?P<n>{NUMERAL})(?P<about>[余多])?"
    r"(?P<unit>元整|圆整|元|圆|美元|USD)?"
)


_ERAS = frozenset(
    "康熙 雍正 乾隆 嘉庆 道光 咸丰 同治 光绪 宣统 顺治 崇祯 万历 洪武 永乐 明治 大正 昭和 平成 令和".split()
)
_CURRENCIES = ("美元", "美金", "欧元", "日元", "港元", "港币", "英镑", "新台币", "台币")
"""Before the numeral they name what the 元 behind it are: 港币三十万元."""
_JIAO = re.compile(r"(?P<j>[0-9一二三四五六七八九])角(?:(?P<f>[0-9一二三四五六七八九])分)?")


_PER_UNIT = re.compile(r"/(?:[A-Za-z]{1,3}[²³23]?|[人户天])")


def read_percent(text: str, at: int) -> Draft | None:
    match = _PERCENT.match(text, at)
    if match is None:
        return None
    sign = -1 if match["sign"] in ("-", "负", "零下") and is_signed(text, at, match["sign"]) else 1
    start = at if sign < 0 or match["sign"] in ("±", "+") else at + len(match["sign"] or "")
    plus_minus = "±" if match["sign"] == "±" else ""
    if match["den"]:
        denominator, numerator = parse(match["den"]), parse(match["num"])
        if not denominator or numerator is None:
            return None
        key = decimal_text(Fraction(sign * numerator) / Fraction(denominator))
        value = f"{decimal_text(sign * numerator)}/{decimal_text(denominator)}"
        return Draft("number", value, start, match.end(), key=key)
    number = parse(match["m"] if match["base"] else match["n"])
    if number is None:
        return None
    mark = match["mark"] or {"百": "%", "千": "‰", "万": "‱"}[match["base"]]
    if mark.endswith("百分点"):
        return Draft(
            "percent", f"{plus_minus}{decimal_text(sign * number)}个百分点", start, match.end()
        )
    factor = {"%": Fraction(1), "‰": Fraction(1, 10), "‱": Fraction(1, 100), "成": Fraction(10)}[
        mark
    ]
    if mark == "成" and match["n"] not in "一二三四五六七八九两":
        return None
    return Draft("percent", f"{plus_minus}{scaled(sign * number, factor)}%", start, match.end())


def is_signed(text: str, at: int, sign: str | None) -> bool:
    """Whether a minus before a number is its sign, not a dash between two things."""
    if sign != "-":
        return True
    if at == 0:
        return True
    before = text[at - 1]
    return (
        not (before.isascii() and before.isalnum())
        and before not in "%‰℃日月年号元时分万亿十百千一二三四五六七八九〇—-)"
    )


def read_frequency(text: str, at: int) -> Draft | None:
    match = _FREQUENCY.match(text, at)
    if match is not None:
        if text[at] == "按" and match["n"]:
            return None
        if text[at] in "按逐" and match.end() < len(text) and text[match.end()] in "期度份次":
            return None
        unit = {"天": "日", "星期": "周", "季": "季度", "年度": "年"}.get(
            match["unit"], match["unit"]
        )
        count = parse(match["n"]) if match["n"] else Decimal(1)
        if count is None:
            return None
        lead = "隔" if text[at] == "隔" else "每"
        value = f"{lead}{'' if count == 1 else decimal_text(count)}{unit}{match['day'] or ''}"
        if match["times"]:
            value += f"{decimal_text(parse(match['times']) or Decimal(0))}次"
        return Draft("frequency", value, at, match.end())
    if text[at] != "每":
        return None
    return _each(text, at)


def _each(text: str, at: int) -> Draft | None:
    """每户, 每平方米: what an amount is counted by."""
    start = at + 2 if text.startswith("一", at + 1) else at + 1
    unit = unit_at(text, start)
    if unit is not None and not unit.about:
        key = f"每{READABLE.get(unit.name, unit.name)}"
        return Draft("unit", f"每{unit.name}", at, unit.end, key=key)
    person = _PERSON.match(text, start)
    return Draft("unit", f"每{person[0]}", at, person.end()) if person else None


def read_times(text: str, at: int) -> Draft | None:
    """一年两次 as a frequency."""
    match = _TIMES_A.match(text, at)
    count = parse(match["n"]) if match else None
    if match is None or count is None:
        return None
    unit = {"天": "日", "星期": "周"}.get(match["unit"], match["unit"])
    lead = "" if count == 1 else decimal_text(count)
    times = decimal_text(parse(match["times"]) or Decimal(0))
    return Draft("frequency", f"每{lead}{unit}{times}次", at, match.end())


def read_money(text: str, at: int) -> Draft | None:
    match = _MONEY.match(text, at)
    if match is None:
        return None
    number = parse(match["n"])
    if number is None:
        return None
    currency = CURRENCY_SIGNS[match["cur"]]
    if match["unit"] in MONEY:
        currency = MONEY[match["unit"]][0]
    about = "+" if match["about"] else ""
    sign = "-" if match["sign"] else ""
    return Draft(
        "money",
        f"{sign}{decimal_text(number)}{about} {currency}",
        at,
        match.end(),
        mantissa_of(match["n"]),
    )


def with_unit(
    text: str, start: int, number: Decimal, numeral: str, unit: UnitAt, prefix: str
) -> Draft:
    """The quantity of a numeral at ``start`` with the unit behind it."""
    name, end = unit.name, unit.end
    about = "+" if unit.about or "余" in numeral or "多" in numeral else ""
    mantissa = mantissa_of(numeral)
    half = (
        Fraction(1, 2)
        if text.startswith("半", end) and name in ("年", "个月", "天", "小时")
        else Fraction(0)
    )
    if half:
        end += 1
    if name in MONEY:
        base, factor = MONEY[name]
        if base == "元":
            base = next((MONEY[c][0] for c in _CURRENCIES if text.endswith(c, 0, start)), base)
        amount = Fraction(number) * factor
        cents = _JIAO.match(text, end) if name == "元" else None
        if cents is not None:
            amount += Fraction(whole(cents["j"]) or 0, 10) + Fraction(whole(cents["f"]) or 0, 100)
            end = cents.end()
        per = _per_unit(text, end)
        return Draft(
            "money",
            f"{prefix}{decimal_text(amount)}{about} {base}{per}",
            start,
            end + len(per),
            mantissa,
        )
    if name == "年" and text[max(0, start - 2) : start] in _ERAS:
        return Draft("date", f"{text[start - 2 : start]}{decimal_text(number)}年", start - 2, end)
    if name in DURATION:
        if name == "日" and not about and is_day_of_month(text, start, end, number):
            return Draft("date", f"{int(number):02d}日", start, end)
        base, factor = DURATION[name]
        total = Fraction(number) + half
        key = f"{prefix}{decimal_text(total * factor)}{about}{base}"
        value = (
            key
            if numeral == "半"
            else f"{prefix}{decimal_text(total)}{about}{SAME_DURATION.get(name, name)}"
        )
        return Draft("duration", value, start, end, mantissa, key=key)
    base, factor = SCALE[name]
    per = _per_unit(text, end)
    key = f"{prefix}{scaled(number, factor)}{about} {base}{per}"
    value = f"{prefix}{decimal_text(number)}{about} {READABLE[name]}{per}"
    return Draft("number", value, start, end + len(per), mantissa, key=key)


def _per_unit(text: str, at: int) -> str:
    """``/吨`` of 元/吨, ``/L`` of mg/L."""
    if not text.startswith("/", at):
        return ""
    unit = unit_at(text, at + 1)
    if unit is not None and not unit.about:
        return text[at : unit.end]
    match = _PER_UNIT.match(text, at)
    return match[0] if match else ""
