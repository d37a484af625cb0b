"""The automatic numbers of a Word text: 第一条, （二）, 3.1 stand in no paragraph, but in the reader's eyes they do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from lxml import etree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
LEVELS = 9
LARGEST = 99_999

_DIGITS = "〇一二三四五六七八九"
_UNITS = ("", "十", "百", "千", "万")


def chinese(number: int) -> str:
    """``number`` (0 to 99999) as it is counted in Chinese: 12 is 十二, 105 is 一百零五."""
    if number == 0:
        return "零"
    digits = [int(digit) for digit in str(number)]
    text, gap = "", False
    for place, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True):
        if digit == 0:
            gap = True
            continue
        text += ("零" if gap and text else "") + _DIGITS[digit] + _UNITS[place]
        gap = False
    return text.removeprefix("一") if text.startswith("一十") else text


def _roman(number: int) -> str:
    text = ""
    for value, letters in (
        (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
        (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ):  # fmt: skip
        times, number = divmod(number, value)
        text += letters * times
    return text


def _letters(number: int) -> str:
    # Word counts a … z, aa, bb, …
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def shown(number: int, form: str) -> str:
    """``number`` in one of Word's formats; formats that are not known count in digits."""
    if form == "none":
        return ""
    if not 0 <= number <= LARGEST:
        return str(number)
    if form.startswith(("chinese", "japanese", "taiwanese", "ideographDigital")) and (
        "Digit" not in form or number <= 10
    ):
        return chinese(number)
    if "Digit" in form:
        return "".join(_DIGITS[int(digit)] for digit in str(number))
    if form in {"upperRoman", "lowerRoman"} and number < 5000:
        return _roman(number) if form == "upperRoman" else _roman(number).lower()
    if form in {"upperLetter", "lowerLetter"} and 1 <= number <= 260:
        return _letters(number).upper() if form == "upperLetter" else _letters(number)
    if form in {"decimalEnclosedCircle", "decimalEnclosedCircleChinese"} and 1 <= number <= 20:
        return chr(0x2460 + number - 1)
    if form == "ideographTraditional" and 1 <= number <= 10:
        return "甲乙丙丁戊己庚辛壬癸"[number - 1]
    if form == "ideographZodiac" and 1 <= number <= 12:
        return "子丑寅卯辰巳午未申酉戌亥"[number - 1]
    if form == "decimalZero":
        return f"{number:02}"
    if form == "decimalFullWidth":
        return "".join(chr(0xFF10 + int(digit)) for digit in str(number))
    return str(number)


@dataclass(slots=True)
class Level:
    """One level of a list: what it starts at, how it counts, and the text around the numbers."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    suffix: str = "tab"
    restart: int | None = None
    """It starts anew after any of so many upper levels; 0: never, as articles count on through chapters; None: after all."""


def _value(element: etree._Element | None, name: str, default: str = "") -> str:
    found = element.find(W + name) if element is not None else None
    return default if found is None else found.get(W + "val", default)


def _number(text: str, default: int) -> int:
    return int(text) if re.fullmatch(r"\d{1,5}", text) else default


def _level(element: etree._Element) -> Level:
    return Level(
        _number(_value(element, "start", "1"), 1),
        _value(element, "numFmt", "decimal"),
        _value(element, "lvlText"),
        _value(element, "suff", "tab"),
        _number(restart, 0) if (restart := _value(element, "lvlRestart")) else None,
    )


@dataclass(slots=True)
class Numbering:
    """The lists of a Word file, counting while its paragraphs are read in order."""

    lists: dict[str, tuple[str, dict[int, Level]]] = field(default_factory=dict)
    styles: dict[str, tuple[str, int]] = field(default_factory=dict)
    _counts: dict[str, list[int | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, numbering: etree._Element | None, styles: etree._Element | None) -> Numbering:
        """From the roots of numbering.xml and styles.xml, either of which may be missing."""
        found = cls()
        if numbering is not None:
            found._read_lists(numbering)
        if styles is not None:
            found._read_styles(styles)
        return found

    def _read_lists(self, root: etree._Element) -> None:
        abstract: dict[str, dict[int, Level]] = {}
        for element in root.iter(W + "abstractNum"):
            levels = {
                _number(level.get(W + "ilvl", ""), 0): _level(level)
                for level in element.iter(W + "lvl")
            }
            abstract[element.get(W + "abstractNumId", "")] = levels
        for element in root.iter(W + "num"):
            name = _value(element, "abstractNumId")
            levels = dict(abstract.get(name, {}))
            own = f"num {element.get(W + 'numId', '')}"
            overridden = False
            for override in element.iter(W + "lvlOverride"):
                at = _number(override.get(W + "ilvl", ""), 0)
                inner = override.find(W + "lvl")
                level = _level(inner) if inner is not None else levels.get(at, Level())
                start = _value(override, "startOverride")
                if start:
                    level = replace(level, start=_number(start, 1))
                    overridden = True
                levels[at] = level
            # Lists of one abstract definition count on together unless one of them starts anew.
            counter = own if overridden else name
            self.lists[element.get(W + "numId", "")] = (counter, levels)

    def _read_styles(self, root: etree._Element) -> None:
        direct: dict[str, tuple[str, int]] = {}
        parents: dict[str, str] = {}
        for style in root.iter(W + "style"):
            name = style.get(W + "styleId", "")
            parents[name] = _value(style, "basedOn")
            properties = style.find(f"{W}pPr/{W}numPr")
            if properties is not None:
                level = _number(_value(properties, "ilvl", "0"), 0)
                direct[name] = (_value(properties, "numId"), level)
        for name in parents:
            ancestor, steps = name, 0
            while ancestor and ancestor not in direct and steps < 20:
                ancestor, steps = parents.get(ancestor, ""), steps + 1
            if ancestor in direct:
                self.styles[name] = direct[ancestor]

    def before(self, paragraph: etree._Element) -> str:
        """The number that Word shows before this paragraph, with what separates it; empty for most."""
        properties = paragraph.find(W + "pPr")
        if properties is None:
            return ""
        own = properties.find(W + "numPr")
        number, level = self.styles.get(_value(properties, "pStyle"), ("", 0))
        if own is not None:
            number = _value(own, "numId", number)
            level = _number(_value(own, "ilvl", str(level)), 0)
        if number in ("", "0") or number not in self.lists or not 0 <= level < LEVELS:
            return ""
        counter, levels = self.lists[number]
        if level not in levels:
            return ""
        return self._next(counter, levels, level)

    def _next(self, counter: str, levels: dict[int, Level], level: int) -> str:
        counts = self._counts.setdefault(counter, [None] * LEVELS)
        here = counts[level]
        counts[level] = levels[level].start if here is None else here + 1
        for deeper in range(level + 1, LEVELS):
            restart = levels.get(deeper, Level()).restart
            if restart is None or level < restart:
                counts[deeper] = None
        for higher in range(level):
            if counts[higher] is None:
                counts[higher] = levels.get(higher, Level()).start
        rule = levels[level]
        if rule.form == "bullet":
            return ""

        def number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            count = counts[at]
            return shown(count if count is not None else 1, levels.get(at, Level()).form)

        text = re.sub(r"%([1-9])", number, rule.text)
        return text + {"tab": " ", "space": " "}.get(rule.suffix, "") if text else ""
