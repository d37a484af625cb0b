"""Dates and times of day, in any notation."""

from __future__ import annotations

import re
from decimal import Decimal

from .drafts import Draft, whole

_D2 = r"(?:\d{1,2}|[〇一二三四五六七八九十]{1,3}|元|正)"


_DATE = re.compile(
    rf"(?:(?P<era>民国|公元前?)?(?P<y>\d{{1,4}}|[零〇一二三四五六七八九十百千两]{{1,6}}|元)年)?"
    rf"(?:(?P<m>{_D2})月份?(?:(?P<d>{_D2})[日号](?!楼))?)?(?P<part>[底末初]|[上中下]旬|上半年|下半年|度)?"
)


_ISO = re.compile(
    r"(?P<y>(?:18|19|20)\d{2})(?P<sep>[-/.])(?P<m>0?[1-9]|1[0-2])(?:(?P=sep)(?P<d>0?[1-9]|[12]\d|3[01]))?(?![\d.])"
)


_QUARTER = re.compile(r"第?([一二三四1-4])季度")


_DAY_TO = re.compile(rf"(?:日|号)?(?:至|到|-|~|—{{1,2}})(?P<d>{_D2})[日号]")


_CLOCK = re.compile(
    r"(?P<half>凌晨|上午|中午|下午|晚上|晚|早上|早)?(?P<h>[01]?\d|2[0-4]|[一二三四五六七八九十]{1,3})"
    r"(?:[:](?P<m>[0-5]\d)(?:[:][0-5]\d)?(?!\d)|[时点](?!间|代|期|候|效|刻)(?:(?P<m2>\d{1,2}|[零〇一二三四五六七八九十]{1,3})分|(?P<m3>半)|整)?)"
)


_RELATIVE = re.compile(
    r"(?:上半年|下半年|今年|去年|明年|次年|翌年|当年|本年度?|近年|本月|次月|上月|下月|当月|当日|当天|次日|翌日"
    r"|本周|下周|上周|(?:星期|周)[一二三四五六日天](?!年))"
)


_COMPARED = frozenset("少于 多于 低于 高于 短于 长于 小于 大于 等于".split())
"""不得少于7日 is a length of time, 早于7日 a day."""
_DAY_AFTER = frozenset("内前后以之起止")


def _year(match: re.Match[str]) -> str | None:
    """Year of a date match in the common era, ``None`` where the digits are no year but a duration."""
    text, era = match["y"], match["era"]
    year = whole(text)
    if year is None:
        return None
    if era == "民国":
        return str(1911 + year)
    if era or 1000 <= year <= 2999:
        return str(year)
    if len(text) == 2 and match["m"] and (text.isdigit() or not set(text) & set("十百千")):
        return str(1900 + year if year >= 40 else 2000 + year)
    return None


def _date_value(year: str, month: int | None, day: int | None) -> str:
    """``2026-03-05``, ``2026-03``, ``2026``; without a year ``03-05`` or ``03月``."""
    parts = [year] if year else []
    parts += [f"{number:02d}" for number in (month, day) if number]
    return "-".join(parts) if year or day else f"{month:02d}月"


def read_date(text: str, at: int) -> Draft | None:
    iso = _ISO.match(text, at)
    if iso and not (iso["sep"] == "." and not iso["d"]):
        value = f"{iso['y']}-{int(iso['m']):02d}" + (f"-{int(iso['d']):02d}" if iso["d"] else "")
        return Draft("date", value, at, iso.end())
    match = _DATE.match(text, at)
    if match is None or not (match["y"] or match["m"]):
        return None
    year = _year(match) if match["y"] else ""
    if year is None or (match["y"] == "元" and not match["era"]):
        return None
    month, day = whole(match["m"]), whole(match["d"])
    if month is not None and not 1 <= month <= 12:
        return None
    end = match.end()
    part = match["part"] or ""
    if part == "度" and (month or text[at:end].endswith("角度")):
        end, part = end - 1, ""
    value = _date_value(year, month, day)
    if part and part != "度":
        value += f" {part}"
    if not part and year and not month:
        quarter = _QUARTER.match(text, end)
        if quarter:
            return Draft("date", f"{value}-Q{whole(quarter[1])}", at, quarter.end())
    if day:
        until = _DAY_TO.match(text, end)
        if until:
            value += f"/{whole(until['d']) or 0:02d}"
            end = until.end()
    return Draft("date", value, at, end)


def read_clock(text: str, at: int) -> Draft | None:
    match = _CLOCK.match(text, at)
    if match is None:
        return None
    hour = whole(match["h"])
    minute = 30 if match["m3"] else whole(match["m"] or match["m2"]) or 0
    if (
        hour is None
        or hour > 24
        or (not match["m"] and not match["h"].isdigit() and not match["half"])
    ):
        return None
    if match["half"] in ("下午", "晚上", "晚") and hour < 12:
        hour += 12
    return Draft("date", f"{hour:02d}:{minute:02d}", at, match.end())


def is_day_of_month(text: str, start: int, end: int, number: Decimal) -> bool:
    if not 1 <= number <= 31 or number != int(number):
        return False
    if text[end : end + 1] and text[end] in _DAY_AFTER:
        return False
    if text[max(0, start - 2) : start] in _COMPARED:
        return False
    return start > 0 and text[start - 1] in "月至到于-~—" and text[end : end + 1] not in ("拘",)


def read_relative(text: str, at: int) -> Draft | None:
    """今年, 下半年, 次日, 星期三."""
    match = _RELATIVE.match(text, at)
    if match is None:
        return None
    return Draft("date", match[0].replace("星期", "周").replace("天", "日"), at, match.end())
