"""Rules for dates, numbers, money, units, percentages, durations, frequencies and article numbers.

All rules run on clean text (see :mod:`.reading`). One search finds the places where a quantity can
begin; a handful of anchored patterns decide there. Every repetition is bounded, so that the time is
linear in the length of the text whatever it holds.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from .model import FactKind
from .numerals import FRACTION_CHARS, POWER_CHARS, parse, plain
from .units import (
    CURRENCY_SIGNS,
    DURATION,
    IDIOMS,
    MONEY,
    READABLE,
    SAME_DURATION,
    SCALE,
    UnitAt,
    unit_at,
)


class Draft(NamedTuple):
    """A fact in offsets of the clean text."""

    kind: FactKind
    value: str
    start: int
    end: int
    mantissa: str = ""
    heading: bool = False
    key: str = ""


_ARABIC = (
    rf"(?:\d{{1,3}}(?:,\d{{3}}){{1,6}}(?!\d)|\d{{1,30}})(?:\.\d{{1,20}})?[{FRACTION_CHARS}]?[{POWER_CHARS}]{{0,3}}[十百千万亿]{{0,3}}"
    rf"|[{FRACTION_CHARS}]"
)
_HAN = (
    r"[零〇一二三四五六七八九十百千万亿两廿卅壹贰叁肆伍陆柒捌玖拾佰仟]{1,20}"
    r"(?:点[零〇一二三四五六七八九]{1,8}[万亿]?)?"
)
_N = rf"(?:{_ARABIC}|{_HAN})"
_D2 = r"(?:\d{1,2}|[〇一二三四五六七八九十]{1,3}|元|正)"

_NUMERAL_CLASS = (
    rf"0-9零〇一二三四五六七八九十百千万亿两廿卅壹贰叁肆伍陆柒捌玖拾佰仟半{FRACTION_CHARS}"
)
TRIGGER = re.compile(
    # one character class first, so that the search is fast; then what makes it a beginning
    rf"[{_NUMERAL_CLASS}+\-±第每隔逐按上下今去明次翌当本民公负零星周人¥￥$€£URCH]"
    rf"(?:(?<=[{_NUMERAL_CLASS}每隔¥￥$€£])|(?<=第)(?=[({_NUMERAL_CLASS}])|(?<=[+\-±负])(?=[{_NUMERAL_CLASS}])"
    r"|(?<=零)(?=下)|(?<=[逐按])(?=[天日周月季年])|(?<=[上下])(?=[半午月周])|(?<=[今去明])(?=年)|(?<=[次翌])(?=[年日月])"
    r"|(?<=当)(?=[年日月天])|(?<=本)(?=[年月周])|(?<=民)(?=国)|(?<=公)(?=元)|(?<=[星周])(?=[期一二三四五六日])"
    r"|(?<=人)(?=民币)|(?<=[URCH])(?=[SMNK]))"
)
_DATE = re.compile(
    rf"(?:(?P<era>民国|公元前?)?(?P<y>\d{{1,4}}|[零〇一二三四五六七八九十百千两]{{1,6}}|元)年)?"
    rf"(?:(?P<m>{_D2})月份?(?:(?P<d>{_D2})[日号](?!楼))?)?(?P<part>[底末初]|[上中下]旬|上半年|下半年|度)?"
)
_ISO = re.compile(
    r"(?P<y>(?:18|19|20)\d{2})(?P<sep>[-/.])(?P<m>0?[1-9]|1[0-2])(?:(?P=sep)(?P<d>0?[1-9]|[12]\d|3[01]))?(?![\d.])"
)
_QUARTER = re.compile(r"第?([一二三四1-4])季度")
_PER_UNIT = re.compile(
    r"/(?:[A-Za-z]{1,3}[²³23]?|[\u4e00-\u9fff]{1,3}?(?=[^\u4e00-\u9fff]|$)|[人户亩吨月年天日次米])"
)
_DAY_TO = re.compile(rf"(?:日|号)?(?:至|到|-|~|—{{1,2}})(?P<d>{_D2})[日号]")
_CLOCK = re.compile(
    r"(?P<half>凌晨|上午|中午|下午|晚上|晚|早上|早)?(?P<h>[01]?\d|2[0-4]|[一二三四五六七八九十]{1,3})"
    r"(?:[:](?P<m>[0-5]\d)(?:[:][0-5]\d)?(?!\d)|[时点](?!间|代|期|候|效|刻)(?:(?P<m2>\d{1,2}|[零〇一二三四五六七八九十]{1,3})分|(?P<m3>半)|整)?)"
)
_RELATIVE = re.compile(
    r"(?:上半年|下半年|今年|去年|明年|次年|翌年|当年|本年度?|近年|本月|次月|上月|下月|当月|当日|当天|次日|翌日"
    r"|本周|下周|上周|(?:星期|周)[一二三四五六日天](?!年))"
)
_PERCENT = re.compile(
    rf"(?P<sign>[+\-±负]|零下)?(?:(?P<n>{_N})(?:(?P<mark>%|‰|‱|个?百分点|成(?![立为功员果本品都交分长效套年人])))"
    rf"|(?P<base>百|千|万)分之(?P<m>{_N})|(?P<den>{_N})分之(?P<num>{_N}))"
)
_FREQUENCY = re.compile(
    rf"(?:每|隔|逐|按)(?P<n>{_N}|半)?个?(?P<unit>工作日|天|日|周|星期|月|季度|季|学期|学年|年度|年|小时|分钟)"
    rf"(?P<day>[一二三四五六日天](?![次个名人份天]))?(?:至少|不少于|最多|不超过|各)?(?:开展|进行|召开|组织)?(?:(?P<times>{_N})次)?"
)
_TIMES_A = re.compile(
    rf"(?P<n>{_N}|半)个?(?P<unit>天|日|周|星期|月|季度|年)(?:内)?(?:不少于|不超过|至少)?(?P<times>{_N})次"
)
_PER = re.compile(
    r"每(?:一)?(?P<unit>人|户|亩|公顷|平方米|立方米|吨|公斤|千克|件|次|台|套|辆|家|村|个|名|位|车|间|间房|学时|课时|学生|老师|股|份)"
)
_MONEY = re.compile(
    rf"(?P<cur>人民币|RMB|CNY|US\$|USD|HK\$|[¥￥$€£])(?P<sign>-)?(?P<n>{_N})(?P<about>[余多])?"
    r"(?P<unit>元整|圆整|元|圆|美元|USD)?"
)
_JIAO = re.compile(r"(?P<j>[0-9一二三四五六七八九])角(?:(?P<f>[0-9一二三四五六七八九])分)?")
_ARTICLE = re.compile(
    rf"第(?P<a>{_N})条(?P<z>之{_N})?"
    rf"(?P<rest>(?:第{_N}款)?(?:第[(]?{_N}[)]?项)?(?:第[(]?{_N}[)]?目)?)"
    rf"|第[(]?(?P<b>{_N})[)]?(?P<lv>款|项|目|章|节|编|部分)(?P<rest2>(?:第[(]?{_N}[)]?项)?)"
)
_LIST = re.compile(
    r"(?P<n>[一二三四五六七八九十]{1,3})、|[(](?P<p>[一二三四五六七八九十]{1,3}|\d{1,2})[)](?!项|款)"
    r"|(?P<d>\d{1,2}(?:\.\d{1,2}){1,3})(?=[\u4e00-\u9fff])|(?P<s>\d{1,2})(?:[、)]|\.(?!\d))"
)
_ORDINAL = re.compile(rf"第(?P<n>{_N})(?P<what>[\u4e00-\u9fff]?)")
_NUMBER = re.compile(rf"(?P<sign>[+\-±负]|零下)?(?P<n>{_N}|半)")
_DAY_AFTER = frozenset("内前后以之起止")
_SENTENCE_EDGE = frozenset("\n。；;：:")


def _num(value: Decimal | Fraction) -> str:
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        value = (Decimal(value.numerator) / Decimal(value.denominator)).quantize(Decimal("1e-9"))
    return plain(value)


def _scaled(number: Decimal, factor: Fraction | int) -> str:
    return _num(Fraction(number) * factor)


def _mantissa(numeral: str) -> str:
    """The numeral without its last 万, 亿 or 千 where digits stay: 五万 and 5 are both ``5``."""
    stem = numeral.rstrip("千万亿") or numeral
    value = parse(stem)
    return "" if value is None else plain(value)


def _small(text: str | None) -> int | None:
    if not text:
        return None
    if text in ("元", "正"):
        return 1
    value = parse(text)
    return None if value is None or value != int(value) else int(value)


def _year(match: re.Match[str]) -> str | None:
    """Year of a date match in the common era, ``None`` where the digits are no year but a duration."""
    text, era = match["y"], match["era"]
    year = _small(text)
    if year is None:
        return None
    if era == "民国":
        return str(1911 + year)
    if era or 1000 <= year <= 2999:
        return str(year)
    if len(text) == 2 and match["m"] and (text.isdigit() or not set(text) & set("十百千")):
        return str(1900 + year if year >= 40 else 2000 + year)
    return None


def _date(text: str, at: int) -> Draft | None:
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
    month, day = _small(match["m"]), _small(match["d"])
    if month is not None and not 1 <= month <= 12:
        return None
    end = match.end()
    part = match["part"] or ""
    if part == "度" and (month or text[at:end].endswith("角度")):
        end, part = end - 1, ""
    value = (
        f"{year or '----'}" + (f"-{month:02d}" if month else "") + (f"-{day:02d}" if day else "")
    )
    if part and part != "度":
        value += f" {part}"
    if not part and year and not month:
        quarter = _QUARTER.match(text, end)
        if quarter:
            return Draft("date", f"{value}-Q{_small(quarter[1])}", at, quarter.end())
    if day:
        until = _DAY_TO.match(text, end)
        if until:
            value += f"/{_small(until['d']) or 0:02d}"
            end = until.end()
    return Draft("date", value, at, end)


def _clock(text: str, at: int) -> Draft | None:
    match = _CLOCK.match(text, at)
    if match is None:
        return None
    hour = _small(match["h"])
    minute = 30 if match["m3"] else _small(match["m"] or match["m2"]) or 0
    if (
        hour is None
        or hour > 24
        or (not match["m"] and not match["h"].isdigit() and not match["half"])
    ):
        return None
    if match["half"] in ("下午", "晚上", "晚") and hour < 12:
        hour += 12
    return Draft("date", f"{hour:02d}:{minute:02d}", at, match.end())


def _percent(text: str, at: int) -> Draft | None:
    match = _PERCENT.match(text, at)
    if match is None:
        return None
    sign = -1 if match["sign"] in ("-", "负", "零下") and _signed(text, at, match["sign"]) else 1
    start = at if sign < 0 or match["sign"] in ("±", "+") else at + len(match["sign"] or "")
    plus_minus = "±" if match["sign"] == "±" else ""
    if match["den"]:
        denominator, numerator = parse(match["den"]), parse(match["num"])
        if not denominator or numerator is None:
            return None
        value = _num(Fraction(sign * numerator) / Fraction(denominator))
        return Draft("number", value, start, match.end(), match["num"])
    number = parse(match["m"] if match["base"] else match["n"])
    if number is None:
        return None
    mark = match["mark"] or {"百": "%", "千": "‰", "万": "‱"}[match["base"]]
    if mark.endswith("百分点"):
        return Draft("percent", f"{plus_minus}{_num(sign * number)}个百分点", start, match.end())
    factor = {"%": Fraction(1), "‰": Fraction(1, 10), "‱": Fraction(1, 100), "成": Fraction(10)}[
        mark
    ]
    if mark == "成" and match["n"] not in "一二三四五六七八九两":
        return None
    return Draft("percent", f"{plus_minus}{_scaled(sign * number, factor)}%", start, match.end())


def _signed(text: str, at: int, sign: str | None) -> bool:
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


def _frequency(text: str, at: int) -> Draft | None:
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
        value = f"{lead}{'' if count == 1 else _num(count)}{unit}{match['day'] or ''}"
        if match["times"]:
            value += f"{_num(parse(match['times']) or Decimal(0))}次"
        return Draft("frequency", value, at, match.end())
    per = _PER.match(text, at)
    if per is not None:
        return Draft("unit", f"每{per['unit']}", at, per.end())
    return None


def _money(text: str, at: int) -> Draft | None:
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
        "money", f"{sign}{_num(number)}{about} {currency}", at, match.end(), _mantissa(match["n"])
    )


_ARTICLE_LEVEL = re.compile(rf"第[(]?({_N})[)]?(条|款|项|目|章|节|编|部分)")


@lru_cache(maxsize=8192)
def _article_value(surface: str, insert: str | None) -> str:
    value = "第" + "".join(f"{_small(n)}{level}" for n, level in _ARTICLE_LEVEL.findall(surface))
    return f"{value}之{_small(insert[1:])}" if insert else value


def _article(text: str, at: int) -> Draft | None:
    match = _ARTICLE.match(text, at)
    if match is None:
        return None
    value = _article_value(match[0], match["z"])
    after = text[match.end() : match.end() + 1]
    edge = at == 0 or text[at - 1] in _SENTENCE_EDGE or text[at - 1] == "#"
    heading = edge and not match["rest"] and after not in "、和或及至到规所的"
    return Draft("article_number", value, at, match.end(), "", heading)


def _list_head(text: str, at: int) -> Draft | None:
    match = _LIST.match(text, at)
    if match is None:
        return None
    number = match["n"] or match["p"] or match["d"] or match["s"]
    value = number if match["d"] else str(_small(number))
    return Draft("article_number", f"({value})", at, match.end(), "", True)


def _quantity(text: str, match: re.Match[str]) -> Draft | None:
    at = match.start()
    numeral, sign, end = match["n"], match["sign"], match.end()
    number = parse(numeral)
    if number is None:
        return None
    arabic = numeral[0] in "0123456789" or numeral[0] in FRACTION_CHARS
    negative = sign in ("-", "负", "零下") and _signed(text, at, sign)
    start = at if negative or sign == "±" else match.start("n")
    value_sign = -1 if negative else 1
    prefix = "±" if sign == "±" else ""
    unit = unit_at(text, end)
    if unit is not None and not arabic and text[match.start("n") : unit.end] in IDIOMS:
        unit = None
        if len(numeral) == 1:
            return None
    if unit is not None and "." in numeral and unit.name in _UNCOUNTABLE and not unit.about:
        unit = None
    if unit is not None:
        return _with_unit(text, start, number * value_sign, numeral, unit, prefix)
    if not arabic and not _says_a_number(numeral):
        return None
    return Draft("number", f"{prefix}{_num(number * value_sign)}", start, end, _mantissa(numeral))


def _says_a_number(numeral: str) -> bool:
    """Whether characters without a measure word are a number: 三百二十 and 〇五一二, not 一, 三五 or 千万."""
    if numeral in ("千万", "万一", "百十", "万千", "千百", "万万", "亿万"):
        return False
    return len(numeral) >= 3 or (len(numeral) == 2 and not set(numeral).isdisjoint("十百千万亿"))


def _with_unit(
    text: str, start: int, number: Decimal, numeral: str, unit: UnitAt, prefix: str
) -> Draft | None:
    name, end = unit.name, unit.end
    about = "+" if unit.about else ""
    mantissa = _mantissa(numeral)
    half = (
        Fraction(1, 2)
        if text.startswith("半", end) and name in ("年", "个月", "天", "小时")
        else Fraction(0)
    )
    if half:
        end += 1
    if name in MONEY:
        base, factor = MONEY[name]
        amount = Fraction(number) * factor
        cents = _JIAO.match(text, end) if name == "元" else None
        if cents is not None:
            amount += Fraction(_small(cents["j"]) or 0, 10) + Fraction(_small(cents["f"]) or 0, 100)
            end = cents.end()
        per = _per_unit(text, end)
        return Draft(
            "money", f"{prefix}{_num(amount)}{about} {base}{per}", start, end + len(per), mantissa
        )
    if name in DURATION:
        if name == "日" and not about and _is_day_of_month(text, start, end, number):
            return Draft("date", f"----{int(number):02d}", start, end)
        base, factor = DURATION[name]
        total = Fraction(number) + half
        key = f"{prefix}{_num(total * factor)}{about}{base}"
        value = (
            key
            if numeral == "半"
            else f"{prefix}{_num(total)}{about}{SAME_DURATION.get(name, name)}"
        )
        return Draft("duration", value, start, end, mantissa, key=key)
    base, factor = SCALE[name]
    per = _per_unit(text, end)
    key = f"{prefix}{_scaled(number, factor)}{about} {base}{per}"
    value = f"{prefix}{_num(number)}{about} {READABLE[name]}{per}"
    return Draft("number", value, start, end + len(per), mantissa, key=key)


def _per_unit(text: str, at: int) -> str:
    """``/吨`` of 元/吨, ``/L`` of mg/L, ``/人·月``."""
    if not text.startswith("/", at):
        return ""
    match = _PER_UNIT.match(text, at)
    return match[0] if match else ""


def _is_day_of_month(text: str, start: int, end: int, number: Decimal) -> bool:
    if not 1 <= number <= 31 or number != int(number):
        return False
    if text[end : end + 1] and text[end] in _DAY_AFTER:
        return False
    return start > 0 and text[start - 1] in "月至到于-~—" and text[end : end + 1] not in ("拘",)


def _ordinal(text: str, at: int) -> Draft | None:
    match = _ORDINAL.match(text, at)
    if match is None:
        return None
    number = parse(match["n"])
    if number is None:
        return None
    quarter = text.startswith("季度", match.end("n"))
    if quarter:
        return Draft("date", f"Q{_num(number)}", at, match.end("n") + 2)
    return Draft("number", f"第{_num(number)}{match['what']}", at, match.end(), plain(number))


_DIGIT_STARTS = frozenset("0123456789") | frozenset(FRACTION_CHARS)


def _at(text: str, at: int) -> Draft | None:
    """The quantity that begins at ``at``, if one does."""
    char = text[at]
    if char == "第":
        return _article(text, at) or _ordinal(text, at)
    if char in "每隔逐按":
        return _frequency(text, at)
    if char in "¥￥$€£URCH人":
        return _money(text, at)
    if char in "今去明次翌当本星周上下":
        relative = _RELATIVE.match(text, at)
        if relative:
            return Draft(
                "date", relative[0].replace("星期", "周").replace("天", "日"), at, relative.end()
            )
        return _clock(text, at) if char in "上下" else None
    if char in "民公":
        return _date(text, at)
    return _numeral(text, at)


_DATE_NEXT = frozenset("年月")
_CLOCK_NEXT = frozenset(":时点")
_PERCENT_NEXT = frozenset("%‰‱成个百分")
_TIMES_NEXT = frozenset("年月周天日星季个")
_UNCOUNTABLE = frozenset("本项条款号期章节届")
_DECIMAL_CLAUSE = re.compile(r"\d{1,2}(?:\.\d{1,2}){1,3}$")


def _numeral(text: str, at: int) -> Draft | None:
    if at == 0 or text[at - 1] in _SENTENCE_EDGE:
        head = _list_head(text, at)
        if head is not None:
            number = _NUMBER.match(text, at)
            unit = unit_at(text, number.end()) if number else None
            if unit is None or unit.name in _UNCOUNTABLE:
                return head
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    after = text[match.end() : match.end() + 1]
    if after in _PERCENT_NEXT:
        percent = _percent(text, at)
        if percent is not None:
            return percent
    arabic = match["n"][0] in _DIGIT_STARTS
    if after in _DATE_NEXT or (arabic and after and after in "-/."):
        date = _date(text, at)
        if date is not None:
            return date
    if after in _CLOCK_NEXT:
        clock = _clock(text, at)
        if clock is not None:
            return clock
    if after in _TIMES_NEXT:
        times = _times(text, at)
        if times is not None:
            return times
    return _quantity(text, match)


def _times(text: str, at: int) -> Draft | None:
    """一年两次 as a frequency."""
    match = _TIMES_A.match(text, at)
    count = parse(match["n"]) if match else None
    if match is None or count is None:
        return None
    unit = {"天": "日", "星期": "周"}.get(match["unit"], match["unit"])
    lead = "" if count == 1 else _num(count)
    times = _num(parse(match["times"]) or Decimal(0))
    return Draft("frequency", f"每{lead}{unit}{times}次", at, match.end())


def quantities(text: str, taken: list[tuple[int, int]] | None = None) -> list[Draft]:
    """Every quantity of a clean text, in order, outside the spans ``taken`` (sorted) by other rules."""
    found: list[Draft] = []
    spans = iter([*(taken or ()), (len(text) + 1, len(text) + 1)])
    block = next(spans)
    search = TRIGGER.search
    at = 0
    while match := search(text, at):
        at = match.start()
        while at >= block[1]:
            block = next(spans)
        if at >= block[0]:
            at = block[1]
            continue
        draft = _at(text, at)
        if draft is None or draft.end > block[0]:
            at = _skip(text, at)
            continue
        if (
            draft.kind == "number"
            and found
            and found[-1].end == at
            and _DECIMAL_CLAUSE.match(text[at : draft.end])
        ):
            draft = draft._replace(kind="article_number", value=f"({draft.value})", heading=True)
        found.append(draft)
        at = draft.end
    return found


_RUN = re.compile(r"[0-9零〇一二三四五六七八九十百千万亿两廿卅壹贰叁肆伍陆柒捌玖拾佰仟.]{1,40}")


def _skip(text: str, at: int) -> int:
    """Where to go on when nothing begins at ``at``: behind the whole run of numeral characters."""
    run = _RUN.match(text, at)
    return run.end() if run else at + 1
