"""The record about a text that a page or a repository puts before it: no part of what the text says, but long."""

from __future__ import annotations

import re
from collections.abc import Sequence

from screening.evidence.diff.model import Row

FIELDS = frozenset(
    "索引号 主题分类 主题词 分类 类别 发文机关 发文机构 发布机关 发布机构 制定机关 成文日期 生成日期 发布日期 公布日期 施行日期 实施日期 生效日期 "
    "标题 名称 文件名称 信息名称 发文字号 文号 文件编号 有效性 时效性 效力 效力级别 效力等级 状态 公开方式 公开形式 公开范围 公开日期 来源 信息来源 "
    "作者 编辑 责任编辑 责编 字体 字号 浏览次数 点击数 阅读次数 打印 分享 采集时间 抓取时间 网址 链接 关键词 标签 摘要".split()
)
"""Names of fields as portals write them, without spaces."""

LEAST = 3
"""Fields that make a record; two of them have to be known by name."""
LONGEST = 14
"""Characters of a field's name at most."""
_FIELD = re.compile(rf"\s*([^\s:：。，；][^:：。，；]{{0,{LONGEST - 1}}})[:：]")
_SPACES = re.compile(r"\s+")


def record_head(rows: Sequence[Row]) -> int:
    """How many rows at the beginning are a record that only one side has: front matter, or the fields of a portal's page."""
    kind = rows[0].kind if rows else ""
    if kind not in ("left_only", "right_only"):
        return 0
    lines: list[str] = []
    for row in rows:
        if row.kind != kind:
            break
        lines.append("".join(s.text for s in (row.left or row.right)))
    return _front_matter(lines) or _fields(lines)


def _front_matter(lines: Sequence[str]) -> int:
    """YAML between two lines of three hyphens, with a field right behind the first."""
    if len(lines) < LEAST or lines[0].strip() != "---" or not _FIELD.match(lines[1]):
        return 0
    return next((n for n, line in enumerate(lines[1:], 2) if line.strip() == "---"), 0)


def _fields(lines: Sequence[str]) -> int:
    """Fields, each with at most one line of value behind it, from the first line on."""
    names: list[str] = []
    end = 0
    for number, line in enumerate(lines):
        found = _FIELD.match(line)
        if found is None:
            if number > end or not names:
                break
            continue
        names.append(_SPACES.sub("", found[1]))
        # A name without a value has it on the next line.
        end = number + 1 + (not line[found.end() :].strip())
    known = sum(name in FIELDS for name in names)
    return min(end, len(lines)) if len(names) >= LEAST and known >= 2 else 0
