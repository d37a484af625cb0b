"""Which paragraphs belong side by side."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ..align import EXACT_CELLS, Block, matching_blocks, rising
from .sides import SideText

_SHARE = 0.3
"""Part of the shorter paragraph that must recur in the other for the two to stand side by side."""


class Group(NamedTuple):
    """Paragraphs ``[p0, p1)`` of the left beside ``[q0, q1)`` of the right; one range may be empty."""

    p0: int
    p1: int
    q0: int
    q1: int


def _codes(left: SideText, right: SideText) -> tuple[str, str]:
    """Each different paragraph as one character, so that paragraphs align like characters."""
    table: dict[str, str] = {}

    def code(side: SideText, paragraph: int) -> str:
        # a line of mere punctuation is known by its raw text
        key = side.key(paragraph) or f"\0{side.raw[slice(*side.paragraphs[paragraph])]}"
        found = table.get(key)
        if found is None:
            number = len(table) + 0x100
            found = table[key] = chr(number if number < 0xD800 else number + 0x800)
        return found

    a = "".join(code(left, p) for p in range(len(left.paragraphs)))
    b = "".join(code(right, q) for q in range(len(right.paragraphs)))
    return a, b


def _linked(left: SideText, right: SideText, gap: Group) -> list[Group]:
    """Paragraphs of a gap that share enough text, joined where one faces several."""
    a0, a1 = left.starts[gap.p0], left.ends[gap.p1 - 1]
    b0, b1 = right.starts[gap.q0], right.ends[gap.q1 - 1]
    shared: dict[tuple[int, int], int] = {}
    for block in matching_blocks(left.norm[a0:a1], right.norm[b0:b1]):
        if block.size >= 2:
            _credit(left, right, Block(block.i + a0, block.j + b0, block.size), shared)
    groups: list[Group] = []
    for (p, q), size in sorted(shared.items()):
        shorter = min(left.ends[p] - left.words[p], right.ends[q] - right.words[q])
        if size < _SHARE * shorter:
            continue
        if groups and (p < groups[-1].p1 or q < groups[-1].q1):
            last = groups[-1]
            groups[-1] = Group(last.p0, max(last.p1, p + 1), last.q0, max(last.q1, q + 1))
        else:
            groups.append(Group(p, p + 1, q, q + 1))
    return groups


def _credit(
    left: SideText, right: SideText, block: Block, shared: dict[tuple[int, int], int]
) -> None:
    i, j, rest = block
    while rest > 0:
        p, q = bisect_right(left.starts, i) - 1, bisect_right(right.starts, j) - 1
        size = min(rest, left.ends[p] - i, right.ends[q] - j)
        if size <= 0:
            return
        # two articles are not one because both have a number
        words = size - max(0, left.words[p] - i, right.words[q] - j)
        if words > 0:
            shared[p, q] = shared.get((p, q), 0) + words
        i, j, rest = i + size, j + size, rest - size


def paragraph_groups(left: SideText, right: SideText) -> list[Group]:
    """All paragraphs of both texts in groups, in the order of either text.

    Paragraphs that occur once on each side hold the texts together; a heading that also stands in a
    table of contents does not.
    """
    a, b = _codes(left, right)
    once_a, once_b = _once(a), _once(b)
    pairs = sorted((p, once_b[code]) for code, p in once_a.items() if code in once_b)
    groups: list[Group] = []
    p = q = 0
    for p_next, q_next in [*rising(pairs), (len(a), len(b))]:
        _between(left, right, (a, b), Group(p, p_next, q, q_next), groups)
        if p_next < len(a) and q_next < len(b):
            groups.append(Group(p_next, p_next + 1, q_next, q_next + 1))
        p, q = p_next + 1, q_next + 1
    return groups


def _once(codes: str) -> dict[str, int]:
    """Where each paragraph stands that occurs only once."""
    seen: dict[str, int] = {}
    for at, code in enumerate(codes):
        seen[code] = -1 if code in seen else at
    return {code: at for code, at in seen.items() if at >= 0}


def _between(
    left: SideText, right: SideText, codes: tuple[str, str], gap: Group, groups: list[Group]
) -> None:
    """Groups of a gap: equal paragraphs at its ends, then what shares text."""
    a, b = codes
    p0, p1, q0, q1 = gap
    while p0 < p1 and q0 < q1 and a[p0] == b[q0]:
        groups.append(Group(p0, p0 + 1, q0, q0 + 1))
        p0, q0 = p0 + 1, q0 + 1
    tail: list[Group] = []
    while p0 < p1 and q0 < q1 and a[p1 - 1] == b[q1 - 1]:
        p1, q1 = p1 - 1, q1 - 1
        tail.append(Group(p1, p1 + 1, q1, q1 + 1))
    blocks: list[Block] = []
    if p0 < p1 and q0 < q1:
        size = (left.ends[p1 - 1] - left.starts[p0]) * (right.ends[q1 - 1] - right.starts[q0])
        if size > EXACT_CELLS:
            blocks = matching_blocks(a[p0:p1], b[q0:q1])
    p, q = p0, q0
    for block in [*blocks, Block(p1 - p0, q1 - q0, 0)]:
        i, j = p0 + block.i, q0 + block.j
        linked = _linked(left, right, Group(p, i, q, j)) if p < i and q < j else []
        for group in [*linked, Group(i, i, j, j)]:
            _alone(groups, p, group.p0, q, group.q0)
            if group.p0 < group.p1:
                groups.append(group)
            p, q = group.p1, group.q1
        groups.extend(Group(i + n, i + n + 1, j + n, j + n + 1) for n in range(block.size))
        p, q = i + block.size, j + block.size
    groups.extend(reversed(tail))


def _alone(groups: list[Group], p0: int, p1: int, q0: int, q1: int) -> None:
    groups.extend(Group(p, p + 1, q0, q0) for p in range(p0, p1))
    groups.extend(Group(p1, p1, q, q + 1) for q in range(q0, q1))
