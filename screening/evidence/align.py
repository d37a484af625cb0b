"""Which stretches two strings have in common, in order: exact where that is cheap, bounded always."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz.distance import Indel

EXACT_CELLS = 16_000_000
"""Size of an exact comparison: 4,000 × 4,000 characters take about .5 ms and 4 MB."""
_GRAMS = (24, 12, 6)
_ANCHOR = 16
_LOOSE = 80
"""Shorter texts are aligned as they are."""
_REMEMBERED = 4000
"""Characters of a text whose grams are remembered, some 140 bytes each."""
_FEW = 48
"""Edits up to which a pair counts as nearly equal, whatever it repeats inside."""


class Block(NamedTuple):
    """``left[i : i + size] == right[j : j + size]``."""

    i: int
    j: int
    size: int


def common_prefix(a: str, i: int, b: str, j: int, limit: int) -> int:
    """Length of the common run from ``a[i]``, ``b[j]``, at most ``limit``."""
    if limit <= 0 or a[i] != b[j]:
        return 0
    done, step = 1, 16
    while done < limit:
        step = min(step, limit - done)
        if a[i + done : i + done + step] == b[j + done : j + done + step]:
            done += step
            step *= 2
        elif step == 1:
            break
        else:
            step = max(1, step // 4)
            while step > 1 and a[i + done : i + done + step] != b[j + done : j + done + step]:
                step //= 2
            if a[i + done : i + done + step] != b[j + done : j + done + step]:
                break
    return done


def _suffix(a: str, a0: int, a1: int, b: str, b0: int, b1: int) -> int:
    limit = min(a1 - a0, b1 - b0)
    low, high = 0, limit
    if a[a1 - limit : a1] == b[b1 - limit : b1]:
        return limit
    while high - low > 1:
        middle = (low + high) // 2
        if a[a1 - middle : a1 - low] == b[b1 - middle : b1 - low]:
            low = middle
        else:
            high = middle
    return low


def _few_edits(a: str, b: str, most: int) -> list[Block] | None:
    """Myers' greedy comparison, given up after ``most`` edits: linear for nearly equal strings.

    Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1 (1986).
    """
    n, m = len(a), len(b)
    if abs(n - m) > most:
        return None
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(most + 1):
        trace.append(dict(furthest))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
            x = furthest.get(k + 1, 0) if down else furthest.get(k - 1, 0) + 1
            y = x - k
            if x > n or y > m or y < 0:
                continue
            x += common_prefix(a, x, b, y, min(n - x, m - y))
            furthest[k] = x
            if x >= n and x - k >= m:
                return _walk_back(trace, n, m)
    return None


def _walk_back(trace: list[dict[int, int]], n: int, m: int) -> list[Block]:
    blocks: list[Block] = []
    x, y = n, m
    for edits in range(len(trace) - 1, -1, -1):
        furthest = trace[edits]
        k = x - y
        down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
        before = k + 1 if down else k - 1
        px = furthest.get(before, 0)
        py = px - before
        sx, sy = (px, py + 1) if down else (px + 1, py)
        if edits == 0:
            sx, sy = 0, 0
        if x > sx:
            blocks.append(Block(sx, sy, x - sx))
        x, y = px, py
    blocks.reverse()
    return blocks


def rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Longest subsequence of ``pairs`` (sorted by the first) that also rises in the second."""
    if all(one[1] < other[1] for one, other in pairwise(pairs)):  # as most often
        return list(pairs)
    tails: list[int] = []
    ends: list[int] = []
    back: list[int] = []
    for index, (_, j) in enumerate(pairs):
        at = bisect_left(tails, j)
        back.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            ends.append(index)
        else:
            tails[at] = j
            ends[at] = index
    chain: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = back[index]
    chain.reverse()
    return chain


def _unique_grams(text: str, start: int, end: int, size: int) -> dict[str, int]:
    """Where each gram stands that occurs once in ``text[start:end]``."""
    count = end - start - size + 1
    places = {text[at : at + size]: at for at in range(start, end - size + 1)}
    if len(places) < count:  # a gram that recurs has only its last place there
        again = {text[at : at + size]: at for at in range(end - size, start - 1, -1)}
        places = {gram: at for gram, at in places.items() if again[gram] == at}
    return places


@lru_cache(maxsize=64)
def _remembered(text: str, size: int) -> dict[str, int]:
    return _unique_grams(text, 0, len(text), size)


def _grams_of(text: str, start: int, end: int, size: int) -> dict[str, int]:
    """:func:`_unique_grams`, remembered for whole short texts: the pairs of one family come after each other."""
    if end - start == len(text) <= _REMEMBERED:
        return _remembered(text, size)
    return _unique_grams(text, start, end, size)


def _anchors(a: str, a0: int, a1: int, b: str, b0: int, b1: int, size: int) -> list[Block]:
    """Runs around grams that occur once on each side, in an order common to both."""
    left, right = _grams_of(a, a0, a1, size), _grams_of(b, b0, b1, size)
    pairs = [(left[gram], right[gram]) for gram in left.keys() & right.keys()]
    pairs.sort()
    blocks: list[Block] = []
    i_end, j_end = a0, b0
    for i, j in rising(pairs):
        if i < i_end or j < j_end:
            continue
        size_here = common_prefix(a, i, b, j, min(a1 - i, b1 - j))
        back = _suffix(a, i_end, i, b, j_end, j)
        blocks.append(Block(i - back, j - back, size_here + back))
        i_end, j_end = i + size_here, j + size_here
    return blocks


def matching_blocks(a: str, b: str) -> list[Block]:
    """Common stretches of two strings in rising order, none overlapping, none adjacent on both sides.

    The longest common subsequence where the strings are short or nearly equal; else what lies between
    runs around unique grams. Stretches too large for either and without any such run count as
    different. Same answer for the same strings always; time and memory bounded for any input.
    """
    found: list[Block] = []
    _align(a, 0, len(a), b, 0, len(b), 0, found)
    return _joined(found)


def _joined(found: list[Block]) -> list[Block]:
    found.sort()
    merged: list[Block] = []
    for block in found:
        if merged:
            last = merged[-1]
            if last.i + last.size == block.i and last.j + last.size == block.j:
                merged[-1] = Block(last.i, last.j, last.size + block.size)
                continue
        merged.append(block)
    return merged


def anchored_blocks(a: str, b: str) -> list[Block]:
    """As :func:`matching_blocks`, but held together by long runs that occur once in each.

    What two texts repeat (a line for every amendment, a phrase in every article) then aligns with its like rather than
    with whatever makes the longest common subsequence.
    """
    found: list[Block] = []
    i = j = 0
    anchors = _anchors(a, 0, len(a), b, 0, len(b), _ANCHOR) if min(len(a), len(b)) > _LOOSE else []
    for block in [*anchors, Block(len(a), len(b), 0)]:
        _align(a, i, block.i, b, j, block.j, 0, found)
        if block.size:
            found.append(block)
        i, j = block.i + block.size, block.j + block.size
    return _joined(found)


def _align(
    a: str, a0: int, a1: int, b: str, b0: int, b1: int, level: int, found: list[Block]
) -> None:
    if a0 < a1 and b0 < b1:
        head = common_prefix(a, a0, b, b0, min(a1 - a0, b1 - b0))
        if head:
            found.append(Block(a0, b0, head))
            a0, b0 = a0 + head, b0 + head
        tail = _suffix(a, a0, a1, b, b0, b1)
        if tail:
            a1, b1 = a1 - tail, b1 - tail
            found.append(Block(a1, b1, tail))
    if a0 >= a1 or b0 >= b1:
        return
    if (a1 - a0) * (b1 - b0) <= EXACT_CELLS:
        for op in Indel.opcodes(a[a0:a1], b[b0:b1]):
            if op.tag == "equal":
                found.append(
                    Block(a0 + op.src_start, b0 + op.dest_start, op.src_end - op.src_start)
                )
        return
    few = _few_edits(a[a0:a1], b[b0:b1], _FEW)
    if few is not None:
        found.extend(Block(a0 + i, b0 + j, size) for i, j, size in few)
        return
    for deeper in range(level, len(_GRAMS)):
        blocks = _anchors(a, a0, a1, b, b0, b1, _GRAMS[deeper])
        if blocks:
            i, j = a0, b0
            for block in [*blocks, Block(a1, b1, 0)]:
                _align(a, i, block.i, b, j, block.j, deeper, found)
                if block.size:
                    found.append(block)
                i, j = block.i + block.size, block.j + block.size
            return
