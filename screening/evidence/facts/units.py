"""Units and measure words: what may follow a numeral, and the base unit it counts in."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

_SCALED: dict[str, dict[str, Fraction | int]] = {
    "m": {"米": 1, "公尺": 1, "m": 1, "千米": 1000, "公里": 1000, "km": 1000, "华里": 500, "厘米": Fraction(1, 100),
          "公分": Fraction(1, 100), "分米": Fraction(1, 10), "cm": Fraction(1, 100), "毫米": Fraction(1, 1000), "mm": Fraction(1, 1000),
          "海里": 1852, "dm": Fraction(1, 10), "微米": Fraction(1, 10**6), "μm": Fraction(1, 10**6)},
    "m2": {"平方米": 1, "平米": 1, "平方": 1, "㎡": 1, "m2": 1, "m²": 1, "平方千米": 10**6, "平方公里": 10**6,
           "km2": 10**6, "km²": 10**6, "㎢": 10**6, "公顷": 10**4, "hm2": 10**4, "hm²": 10**4, "ha": 10**4,
           "亩": Fraction(2000, 3), "平方厘米": Fraction(1, 10**4), "cm2": Fraction(1, 10**4),
           "cm²": Fraction(1, 10**4), "平方分米": Fraction(1, 100), "平方毫米": Fraction(1, 10**6)},
    "m3": {"立方米": 1, "立方": 1, "m3": 1, "m³": 1, "㎥": 1, "升": Fraction(1, 1000), "公升": Fraction(1, 1000),
           "L": Fraction(1, 1000), "毫升": Fraction(1, 10**6), "mL": Fraction(1, 10**6),
           "ml": Fraction(1, 10**6), "立方分米": Fraction(1, 1000), "立方厘米": Fraction(1, 10**6)},
    "kg": {"千克": 1, "公斤": 1, "kg": 1, "KG": 1, "㎏": 1, "吨": 1000, "t": 1000, "斤": Fraction(1, 2),
           "市斤": Fraction(1, 2), "克": Fraction(1, 1000), "g": Fraction(1, 1000), "毫克": Fraction(1, 10**6),
           "mg": Fraction(1, 10**6), "㎎": Fraction(1, 10**6), "微克": Fraction(1, 10**9),
           "μg": Fraction(1, 10**9)},
    "℃": {"℃": 1, "°C": 1, "摄氏度": 1},
    "W": {"瓦": 1, "W": 1, "千瓦": 1000, "kW": 1000, "KW": 1000, "兆瓦": 10**6, "MW": 10**6},
    "kWh": {"千瓦时": 1, "kWh": 1, "KWh": 1, "兆瓦时": 1000, "MWh": 1000},
    "MB": {"MB": 1, "GB": 1024, "TB": 1024 * 1024, "KB": Fraction(1, 1024)},
    "Pa": {"帕": 1, "Pa": 1, "千帕": 1000, "kPa": 1000, "兆帕": 10**6, "MPa": 10**6},
    "人": {"人": 1, "名": 1, "位": 1, "口人": 1},
    "次": {"次": 1, "回": 1},
}  # fmt: skip

_MONEY: dict[str, tuple[str, Fraction | int]] = {
    "元": ("元", 1), "圆": ("元", 1), "块钱": ("元", 1), "块": ("元", 1), "元整": ("元", 1), "圆整": ("元", 1),
    "元人民币": ("元", 1), "角": ("元", Fraction(1, 10)), "分钱": ("元", Fraction(1, 100)), "美元": ("USD", 1),
    "美金": ("USD", 1), "欧元": ("EUR", 1), "日元": ("JPY", 1), "港元": ("HKD", 1), "港币": ("HKD", 1),
    "英镑": ("GBP", 1), "韩元": ("KRW", 1), "卢布": ("RUB", 1), "新台币": ("TWD", 1), "台币": ("TWD", 1),
    "澳元": ("AUD", 1), "加元": ("CAD", 1), "瑞士法郎": ("CHF", 1),
}  # fmt: skip

CURRENCY_SIGNS = {"¥": "元", "￥": "元", "人民币": "元", "RMB": "元", "CNY": "元", "US$": "USD", "USD": "USD",
                  "$": "USD", "HK$": "HKD", "€": "EUR", "£": "GBP"}  # fmt: skip

_DURATION: dict[str, tuple[str, Fraction | int]] = {
    "年": ("个月", 12), "周年": ("个月", 12), "个年": ("个月", 12), "个月": ("个月", 1), "个季度": ("个月", 3), "月内": ("个月", 1),
    "周": ("日", 7), "星期": ("日", 7), "个星期": ("日", 7), "个周": ("日", 7), "礼拜": ("日", 7),
    "天": ("日", 1), "日": ("日", 1), "昼夜": ("日", 1), "个工作日": ("个工作日", 1), "工作日": ("个工作日", 1),
    "个交易日": ("个交易日", 1), "个自然日": ("日", 1), "个昼夜": ("日", 1),
    "小时": ("分钟", 60), "个小时": ("分钟", 60), "个钟头": ("分钟", 60), "h": ("分钟", 60), "分钟": ("分钟", 1),
    "min": ("分钟", 1), "秒": ("分钟", Fraction(1, 60)), "秒钟": ("分钟", Fraction(1, 60)), "学年": ("学年", 1), "学期": ("学期", 1),
    "个学期": ("学期", 1),
}  # fmt: skip

_COUNTED = (
    "周岁 岁 级 等 倍 个 件 份 项 条 款 户 家 台 套 辆 处 座 所 间 栋 幢 层 类 种 期 批 轮 届 例 起 宗 笔 页 字 卷 册 本 场 组 队 "
    "门 科 只 头 匹 棵 株 粒 枚 块 片 张 支 根 把 盏 票 股 手 代 步 档 班 节 课时 学时 学分 学位 分贝 dB 度 公里时 度电 码 像素 "
    "车道 车位 床位 床 亩次 机组 架 艘 列 段 线 路 道 孔 口 井 桶 箱 袋 瓶 盒 罐 支队 支 盘 篇 首 幅 章 集 部 款次 席 桌 人份 "
    "号楼 号 单元 室 日龄 月龄 批次 频次 车次 架次 班次 台次 人年 元次 pH V A Hz kHz MHz km/h 伏 安 安培 赫兹 环 点 分 寸 尺 丈 "
    "里 村 乡 镇 县 市 省 区 国 组别 大类 小类 方面 名次 成员 班组 企业 单位 部门 学校 省份 城市 家企业 人次 字节 比特 位数 工日 盎司 磅 英寸 英尺 英里 加仑"
).split()

SCALE: dict[str, tuple[str, Fraction | int]] = {
    name: (base, factor) for base, group in _SCALED.items() for name, factor in group.items()
}
SCALE |= {name: (name, 1) for name in _COUNTED if name not in SCALE}
MONEY = _MONEY
READABLE: dict[str, str] = {name: name for name in SCALE}
"""One name for all spellings of a unit: ㎡ and m2 are 平方米."""
for _group in _SCALED.values():
    _first: dict[Fraction | int, str] = {}
    for _name, _factor in _group.items():
        READABLE[_name] = _first.setdefault(_factor, _name)
SAME_DURATION = {
    "天": "日",
    "个月": "个月",
    "星期": "周",
    "个星期": "周",
    "礼拜": "周",
    "个周": "周",
    "工作日": "个工作日",
    "个自然日": "日",
    "个小时": "小时",
    "个钟头": "小时",
    "h": "小时",
    "min": "分钟",
    "秒钟": "秒",
    "个年": "年",
}
DURATION = _DURATION

IDIOMS = frozenset(
    "一部 一起 一线 一道 一路 一代 一度 一回 一口 一手 一流 一点 一分 十分 三农 一环 一段 万分 百度 百分 千方 万方 万里 千里 四方 "
    "一方 一片 一块 一国 百姓 一村 一县 一乡 一镇 一省 一步 三角 一席 一股 一列 一班 一支 一只 一头 一方面".split()
)
"""Numeral and measure word that together say no quantity: 一起, 十分, 百分."""

_NAMES = frozenset([*SCALE, *MONEY, *DURATION])
_LENGTHS = tuple(range(max(map(len, _NAMES)), 0, -1))
_FIRST = frozenset(name[0] for name in _NAMES)
_ABOUT = frozenset("余多几来")


_PART_OF_A_WORD: dict[str, frozenset[str]] = {
    "所": frozenset("列示述附称有规需在得涉指"),
    "本": frozenset("院法办规案市省校企公单标着条"),
    "名": frozenset("称义"),
    "位": frozenset("置于"),
    "代": frozenset("表码理替"),
    "类": frozenset("似"),
    "组": frozenset("织成"),
    "部": frozenset("分门署位"),
    "批": frozenset("准复评"),
    "处": frozenset("理罚置以于在分"),
    "起": frozenset("草诉步始源"),
    "场": frozenset("地所合"),
    "章": frozenset("程"),
    "道": frozenset("路歉"),
    "分": frozenset("别配开析工担公"),
    "回": frozenset("复答避收"),
    "期": frozenset("间限"),
    "节": frozenset("约能日"),
    "口": frozenset("头"),
    "科": frozenset("学技"),
    "线": frozenset("路上下"),
}
"""A measure word before one of these is the beginning of another word: 所列, 处理, 部分."""


class UnitAt(NamedTuple):
    """A unit found behind a numeral: its name, where it ends, whether 余 or 多 stood before it."""

    name: str
    end: int
    about: bool


def unit_at(text: str, at: int) -> UnitAt | None:
    """The longest unit or measure word at ``at``, if there is one."""
    about = text[at : at + 1] in _ABOUT and at < len(text)
    if about:
        at += 1
    if text[at : at + 1] not in _FIRST:
        return None
    for length in _LENGTHS:
        name = text[at : at + length]
        if name in _NAMES:
            end = at + len(name)
            if (
                name[-1].isascii()
                and text[end : end + 1].isascii()
                and text[end : end + 1].isalnum()
            ):
                return None
            if text[end : end + 1] in _PART_OF_A_WORD.get(name, ()):
                return None
            return UnitAt(name, end, about)
    return None
