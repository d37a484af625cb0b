"""What labels are called: the one table from which pages, files and readers take names, signs, keys and colours. No Django."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabelName:
    """A label's Chinese name, the one character beside its colour, the key that gives it, its colour on white."""

    zh: str
    sign: str
    key: str
    colour: str


LABELS: dict[str, LabelName] = {
    "copy": LabelName("副本", "副", "1", "#1d5c9f"),
    "revision": LabelName("有效修订", "修", "2", "#9a4700"),
    "citation": LabelName("公共引用", "引", "3", "#00634c"),
    "template": LabelName("模板", "模", "4", "#79397c"),
    "independent": LabelName("各自独立", "独", "5", "#4c5257"),
    "undecided": LabelName("不能判断", "?", "0", "#6a5700"),
}
"""By code, in the order in which they are offered. Colour never carries meaning alone: the sign stands beside it."""
