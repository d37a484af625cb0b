"""Where a quantity begins in a clean text, and what it is.

One search finds the places where a quantity can begin; a handful of anchored patterns decide there.
Every repetition is bounded, so that the time is linear in the length of the text whatever it holds.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .dates import read_clock, read_date, read_relative
from .drafts import NUMERAL, Draft, decimal_text, mantissa_of, whole
from .measures import is_signed, read_frequency, read_money, read_percent, read_times, with_unit
from .numerals import FRACTION_CHARS, parse, plain
from .units import IDIOMS, unit_at

_NUMERAL_CLASS = (
    rf"0-9零〇一二三四五六七八九十百千万亿两廿卅壹贰叁肆伍陆柒捌玖拾佰仟半{FRACTION_CHARS}"
)


TRIGGER = re.compile(
    # one character class first, so that the search is fast; then what makes it a beginning
    rf"[{_NUMERAL_CLASS}+\-±第每隔逐按上下今去明次翌当本民公负零星周人(¥￥$€£URCH]"
    rf"(?:(?<=[{_NUMERAL_CLASS}每隔¥￥$€£])|(?<=第)(?=[({_NUMERAL_CLASS}])|(?<=[+\-±负])(?=[{_NUMERAL_CLASS}])"
    r"|(?<=零)(?=下)|(?<=[逐按])(?=[天日周月季年])|(?<=[上下])(?=[半午月周])|(?<=[今去明])(?=年)|(?<=[次翌])(?=[年日月])"
    r"|(?<=当)(?=[年日月天])|(?<=本)(?=[年月周])|(?<=民)(?=国)|(?<=公)(?=元)|(?<=[星周])(?=[期一二三四五六日])"
    rf"|(?<=[(])(?=[{_NUMERAL_CLASS}])|(?<=人)(?=民币)|(?<=[URCH])(?=[SMNK]))"
)


_ARTICLE = re.compile(
    rf"第(?P<a>{NUMERAL})条(?P<z>之{NUMERAL})?"
    rf"(?P<rest>(?:第{NUMERAL}款)?(?:第[(]?{NUMERAL}[)]?项)?(?:第[(]?{NUMERAL}[)]?目)?)"
    rf"|第[(]?(?P<b>{NUMERAL})[)]?(?P<lv>款|项|目|章|节|编|部分)(?P<rest2>(?:第[(]?{NUMERAL}[)]?项)?)"
)


_LIST = re.compile(
    r"(?P<n>[一二三四五六七八九十]{1,3})、|[(](?P<p>[一二三四五六七八九十]{1,3}|\d{1,2})[)](?!项|款)"
    r"|(?P<d>\d{1,2}(?:\.\d{1,2}){1,3})(?=[\u4e00-\u9fff])|(?P<s>\d{1,2})(?:[、)]|\.(?!\d))"
)


_ORDINAL = re.compile(rf"第(?P<n>{NUMERAL})(?P<what>[\u4e00-\u9fff]?)")


_NO_ORDINALS = frozenset(("第三人", "第三者", "第三方"))
_NUMBER = re.compile(rf"(?P<sign>[+\-±负]|零下)?(?P<n>{NUMERAL}|半)")


_SENTENCE_EDGE = frozenset("\n。；;：:#")
_BRACKET_EDGE = _SENTENCE_EDGE | frozenset(".,，、")


_ARTICLE_LEVEL = re.compile(rf"第[(]?({NUMERAL})[)]?(条|款|项|目|章|节|编|部分)")


@lru_cache(maxsize=8192)
def _article_value(surface: str, insert: str | None) -> str:
    value = "第" + "".join(f"{whole(n)}{level}" for n, level in _ARTICLE_LEVEL.findall(surface))
    return f"{value}之{whole(insert[1:])}" if insert else value


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
    value = number if match["d"] else str(whole(number))
    return Draft("article_number", f"({value})", at, match.end(), "", True)


_DIGIT_STARTS = frozenset("0123456789") | frozenset(FRACTION_CHARS)


_UNCOUNTABLE = frozenset("本项条款号期章节届")


def _quantity(text: str, match: re.Match[str]) -> Draft | None:
    at = match.start()
    numeral, sign, end = match["n"], match["sign"], match.end()
    number = parse(numeral)
    if number is None:
        return None
    arabic = numeral[0] in _DIGIT_STARTS
    negative = sign in ("-", "负", "零下") and is_signed(text, at, sign)
    start = at if negative or sign == "±" else match.start("n")
    value_sign = -1 if negative else 1
    prefix = "±" if sign == "±" else ""
    unit = unit_at(text, end)
    if arabic and numeral[-1] == "千":
        # 120千米 is 120 of 千米
        kilo = unit_at(text, end - 1)
        if kilo is not None and kilo.end > end:
            unit, numeral = kilo, numeral[:-1]
            number = parse(numeral) or number
    if unit is not None and "." in numeral and unit.name in _UNCOUNTABLE and not unit.about:
        unit = None
    if unit is not None:
        draft = with_unit(text, start, number * value_sign, numeral, unit, prefix)
        # 千家万户 counts nothing
        idiom = numeral in "百千万亿" or (
            not arabic and text[match.start("n") : unit.end] in IDIOMS
        )
        return draft._replace(weak=True) if idiom else draft
    if text.startswith("半数", at):
        return Draft("number", "1/2", at, at + 2, key="0.5")
    if not arabic and not _says_a_number(numeral):
        return None
    return Draft(
        "number", f"{prefix}{decimal_text(number * value_sign)}", start, end, mantissa_of(numeral)
    )


def _says_a_number(numeral: str) -> bool:
    """Whether characters without a measure word are a number: 三百二十 and 〇五一二, not 一, 三五 or 千万."""
    if numeral in ("千万", "万一", "百十", "万千", "千百", "万万", "亿万"):
        return False
    return len(numeral) >= 3 or (len(numeral) == 2 and not set(numeral).isdisjoint("十百千万亿"))


def _ordinal(text: str, at: int) -> Draft | None:
    match = _ORDINAL.match(text, at)
    if match is None:
        return None
    number = parse(match["n"])
    if number is None:
        return None
    if match[0] in _NO_ORDINALS:
        return None
    quarter = text.startswith("季度", match.end("n"))
    if quarter:
        return Draft("date", f"Q{decimal_text(number)}", at, match.end("n") + 2)
    return Draft(
        "number", f"第{decimal_text(number)}{match['what']}", at, match.end(), plain(number)
    )


def _at(text: str, at: int) -> Draft | None:
    """The quantity that begins at ``at``, if one does."""
    char = text[at]
    if char == "第":
        return _article(text, at) or _ordinal(text, at)
    if char in "每隔逐按":
        return read_frequency(text, at)
    if char in "¥￥$€£URCH人":
        return read_money(text, at)
    if char in "今去明次翌当本星周上下":
        return read_relative(text, at) or (read_clock(text, at) if char in "上下" else None)
    if char in "民公":
        return read_date(text, at)
    if char == "(":
        edge = at == 0 or text[at - 1] in _BRACKET_EDGE
        return _list_head(text, at) if edge else None
    return _numeral(text, at)


_RATIO = re.compile(r"\d{1,4}:\d{1,8}(?![\d:])")
_DOTTED = re.compile(r"\d{1,4}(?:\.\d{1,4}){2,4}(?![.\d])")
_DATE_NEXT = frozenset("年月")


_CLOCK_NEXT = frozenset(":时点")


_PERCENT_NEXT = frozenset("%‰‱成个百分")


_TIMES_NEXT = frozenset("年月周天日星季个")


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
        percent = read_percent(text, at)
        if percent is not None:
            return percent
    arabic = match["n"][0] in _DIGIT_STARTS
    if after in _DATE_NEXT or (arabic and after and after in "-/."):
        date = read_date(text, at)
        if date is not None:
            return date
    if after in _CLOCK_NEXT:
        clock = read_clock(text, at)
        if clock is not None:
            return clock
        ratio = _RATIO.match(text, at)
        if ratio is not None:
            return Draft("number", ratio[0], at, ratio.end())
    if after in _TIMES_NEXT:
        times = read_times(text, at)
        if times is not None:
            return times
    dotted = _DOTTED.match(text, at)
    if dotted is not None:
        return Draft("number", dotted[0], at, dotted.end())
    return _quantity(text, match)


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
