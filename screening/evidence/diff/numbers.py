"""Numbers are read as wholes: 20 against 21, not a digit against a digit; 2024年3月 against 2025年7月, not two crumbs."""

from __future__ import annotations

import re
from bisect import bisect_left

from ..align import Block
from .sides import SideText

_NUMBER = re.compile(
    r"\d{1,3}(?:[,，]\d{3})+(?!\d)(?:[.．]\d+)?|\d+(?:[.．]\d+)?[万亿]?"
    r"|[零〇○一二三四五六七八九十百千万亿两廿卅]{2,}"
)
_LONGEST = 24
"""A longer run of digits is no number that anybody reads at a glance: there the digit is what there is to see."""
_JOINTS = frozenset({"年", "月", "-", "/", ".", "时", "点"})
"""What stands alone between two replaced parts of one date or time."""
_UNITS = "年月日号时分"


class Numbers:
    """The numbers of one text that are longer than a character, as ranges of its comparable characters."""

    def __init__(self, side: SideText) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        for match in _NUMBER.finditer(side.raw):
            start, end = match.span()
            if 1 < end - start <= _LONGEST:
                self.starts.append(bisect_left(side.raw_at, start))
                self.ends.append(bisect_left(side.raw_at, end))

    def around(self, at: int) -> tuple[int, int]:
        """How far the number that the place ``at`` cuts reaches back and on; (0, 0) if it cuts none."""
        index = bisect_left(self.starts, at) - 1
        if index >= 0 and at < self.ends[index]:
            return at - self.starts[index], self.ends[index] - at
        return 0, 0


def whole_numbers(
    texts: tuple[str, str], numbers: tuple[Numbers, Numbers], blocks: list[Block], *, ends: bool
) -> list[Block]:
    """``blocks`` without the parts of numbers that they share with a number that differs; they only ever shrink.

    ``texts``: the comparable characters, which ``blocks`` index. ``ends``: what lies before the first and behind the
    last block differs too (up to where blocks could reach), so that numbers cut there are made whole as well.
    """
    if not blocks:
        return blocks
    result = list(blocks)
    last = len(result) - 1
    for at in range(-1, last + 1):
        if not ends and at in {-1, last}:
            continue
        _part(numbers, result, at)
    whole = _joined(texts, [block for block in result if block.size > 0])
    return [block for block in whole if block.size > 0]


def _part(numbers: tuple[Numbers, Numbers], blocks: list[Block], at: int) -> None:
    """Shrink the blocks on both sides of the gap behind block ``at`` to the numbers that the gap cuts."""
    before = blocks[at] if at >= 0 else None
    after = blocks[at + 1] if at + 1 < len(blocks) else None
    if before and after and before.i + before.size == after.i and before.j + before.size == after.j:
        return
    head = tail = 0
    for which in (0, 1):
        if before:
            head = max(head, numbers[which].around(before[which] + before.size)[0])
        if after:
            tail = max(tail, numbers[which].around(after[which])[1])
    if before and head:
        blocks[at] = Block(before.i, before.j, max(before.size - head, 0))
    if after and tail:
        tail = min(tail, after.size)
        blocks[at + 1] = Block(after.i + tail, after.j + tail, after.size - tail)


def _joined(texts: tuple[str, str], blocks: list[Block]) -> list[Block]:
    """``blocks`` without a lone 年 or dash between two parts of a date that both differ; the unit behind goes along."""
    a, b = texts
    result = list(blocks)
    for at in range(1, len(result) - 1):
        before, joint, after = result[at - 1], result[at], result[at + 1]
        if joint.size != 1 or a[joint.i] not in _JOINTS:
            continue
        gaps = (
            a[before.i + before.size : joint.i], a[joint.i + 1 : after.i],
            b[before.j + before.size : joint.j], b[joint.j + 1 : after.j],
        )  # fmt: skip
        if not all(gap and gap.isdigit() for gap in gaps):
            continue
        result[at] = Block(joint.i, joint.j, 0)
        if after.size and a[after.i] in _UNITS:
            result[at + 1] = Block(after.i + 1, after.j + 1, after.size - 1)
    return result
