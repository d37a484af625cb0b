"""Every repeated string of a set of texts, by suffix array and LCP intervals; arrays in, arrays out.

Texts are sequences of code points. Each is ended by a separator of its own, so that no repeat crosses from one into the
next. Sources: Abouelhoda, Kurtz, Ohlebusch 2004 (LCP intervals); Gusfield 1997, §7.12 (maximal repeats);
Hui 1992 (in how many texts a string stands).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screening.kernels import kernel

Ints = NDArray[np.int64]

LOOKED_AT = 200_000_000
"""Occurrences looked at, over the whole set, to leave out repeats that a longer one stands for; beyond it they are kept."""

_UNSET, _SEVERAL = -2, -3


@dataclass(frozen=True, slots=True)
class Repeats:
    """Repeats, longest first: ``lengths[r]`` symbols at ``places[bounds[r]:bounds[r + 1]]`` (rising).

    ``texts[r]``: in how many texts it stands. ``longest[p]``: the longest string that begins at place p and stands
    elsewhere too (0 below the least length).
    """

    lengths: Ints
    texts: Ints
    bounds: Ints
    places: Ints
    longest: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.lengths)


def find_repeats(
    points: NDArray[np.uint32], bounds: Ints, least: int, *, merged: bool = True
) -> Repeats:
    """Every maximal repeat of at least ``least`` symbols in the texts ``points[bounds[t]:bounds[t + 1]]``.

    A repeat stands at two or more places, in one text or several, and is maximal: not all of its places go on alike to
    the left, nor to the right. ``merged`` leaves out those for which a longer repeat speaks: it stands in the same texts,
    and every place of theirs lies inside a longer repeat. So every place that repeats is still covered, and
    everything that stands in more texts than what is around it is still listed. ``least`` is 1 or more.
    """
    if least < 1:
        raise ValueError("least is 1 or more")
    text, owner, start = _joined(points, bounds)
    longest = np.zeros(len(points), dtype=np.int32)
    if len(text) < 2:
        return _sorted([], np.empty(0, dtype=np.int32), start, owner, longest)
    from pydivsufsort import divsufsort, kasai

    suffixes = divsufsort(text.copy())
    common = kasai(text, suffixes)
    reach = np.zeros(len(text), dtype=np.int32)
    _longest(suffixes, common, least, reach)
    longest[:] = reach[owner >= 0]
    nodes = np.empty((max(16, len(text) // 8), 4), dtype=np.int64)
    arguments = (suffixes, common, text, owner, reach, least, merged)
    found = _intervals(*arguments, nodes)
    if found > len(nodes):
        nodes = np.empty((found, 4), dtype=np.int64)
        _intervals(*arguments, nodes)
    nodes = nodes[:found]
    if merged and found:
        kept = np.ones(found, dtype=bool)
        _spoken_for(nodes, suffixes, text, owner, LOOKED_AT, kept)
        nodes = nodes[kept]
    return _sorted(nodes[:, :3].tolist(), suffixes, start, owner, longest)


def _joined(
    points: NDArray[np.uint32], bounds: Ints
) -> tuple[NDArray[np.uint32], NDArray[np.int32], Ints]:
    """The texts end to end, each ended by its own separator: dense symbols; text of each symbol (-1: separator); and the
    place in ``points`` of each symbol."""
    count = len(bounds) - 1
    lengths = np.diff(bounds)
    _, dense = np.unique(points, return_inverse=True)
    total = len(points) + count
    ends = bounds[1:] + np.arange(count)
    inner = np.ones(total, dtype=bool)
    inner[ends] = False
    text = np.empty(total, dtype=np.uint32)
    text[inner] = dense.astype(np.uint32) + np.uint32(count)
    text[ends] = np.arange(count, dtype=np.uint32)
    owner = np.full(total, -1, dtype=np.int32)
    owner[inner] = np.repeat(np.arange(count, dtype=np.int32), lengths)
    start = np.cumsum(inner, dtype=np.int64) - 1
    return text, owner, start


def _sorted(
    nodes: list[list[int]],
    suffixes: NDArray[np.int32],
    start: Ints,
    owner: NDArray[np.int32],
    longest: NDArray[np.int32],
) -> Repeats:
    """The places of every node, longest repeat first, then by its first place."""
    rows = []
    for lo, hi, length in nodes:
        at = suffixes[lo : hi + 1].astype(np.int64)
        at.sort()
        rows.append((length, at))
    rows.sort(key=lambda row: (-row[0], int(row[1][0])))
    places = [start[at] for _, at in rows]
    return Repeats(
        np.array([length for length, _ in rows], dtype=np.int64),
        np.array([len(np.unique(owner[at])) for _, at in rows], dtype=np.int64),
        np.concatenate(([0], np.cumsum([len(p) for p in places]))).astype(np.int64),
        np.concatenate([np.empty(0, dtype=np.int64), *places]),
        longest,
    )


@kernel
def _longest(suffixes: Any, common: Any, least: int, out: Any) -> None:
    """For each place the longest common prefix with any other suffix, 0 below ``least``."""
    n = suffixes.shape[0]
    for i in range(n):
        best = common[i] if i + 1 < n else 0
        if i > 0 and common[i - 1] > best:
            best = common[i - 1]
        out[suffixes[i]] = best if best >= least else 0


@kernel
def _intervals(
    suffixes: Any,
    common: Any,
    text: Any,
    owner: Any,
    reach: Any,
    least: int,
    merged: bool,
    out: Any,
) -> int:
    """LCP intervals that are maximal repeats, as (first, last, length, flag) in ``out``; how many there are.

    With ``merged`` an interval that holds a longer repeat in as many texts, and no place of its own, is left out; flag 1
    says that it has a place of its own, so that nothing can speak for it.
    """
    n = suffixes.shape[0]
    texts = 0
    for i in range(n):
        if owner[i] + 1 > texts:
            texts = owner[i] + 1
    last = np.full(texts, -1, dtype=np.int64)
    height = 256
    stack = np.empty((height, 7), dtype=np.int64)
    # columns: length, first, repeated owners, left symbol, places of its own, most texts of a child, spare
    top = -1
    found = 0
    region = 0
    for i in range(n):
        before = common[i - 1] if i > 0 else 0
        if before < least:
            before = 0
        p = suffixes[i]
        # close what is longer than the common prefix of the suffixes i - 1 and i
        first = i - 1
        carried, carried_left, carried_texts = 0, -2, 0
        closed = False
        while top >= 0 and stack[top, 0] > before:
            length, first = stack[top, 0], stack[top, 1]
            repeated, left = stack[top, 2], stack[top, 3]
            size = i - first
            spread = size - repeated
            own = stack[top, 4] > 0
            if left == -3 and (own or not merged or stack[top, 5] < spread):
                if found < out.shape[0]:
                    out[found, 0], out[found, 1], out[found, 2] = first, i - 1, length
                    out[found, 3] = 1 if own else 0
                found += 1
            top -= 1
            carried, carried_left, carried_texts, closed = repeated, left, spread, True
            if top >= 0 and stack[top, 0] >= before:
                # hand over to the parent, which is open already
                stack[top, 2] += repeated
                stack[top, 3] = _join_left(stack[top, 3], left)
                if spread > stack[top, 5]:
                    stack[top, 5] = spread
                closed = False
        if before == 0:
            region = i
        elif top < 0 or stack[top, 0] < before:
            top += 1
            if top >= height:
                larger = np.empty((2 * height, 7), dtype=np.int64)
                larger[:height] = stack
                stack = larger
                height *= 2
            stack[top, 0], stack[top, 1] = before, first
            stack[top, 2], stack[top, 4], stack[top, 5] = 0, 0, 0
            stack[top, 3] = -2
            if closed:
                stack[top, 2], stack[top, 3], stack[top, 5] = carried, carried_left, carried_texts
            else:  # the suffix i - 1 is a direct member
                q = suffixes[i - 1]
                stack[top, 3] = text[q - 1] if q > 0 else -1
                _count_own(stack, top, reach, q)
        # the suffix i belongs to the innermost interval for now; where the next prefix is longer, a new one takes it
        after = common[i] if i + 1 < n else 0
        if before > 0:
            d = owner[p]
            if d >= 0 and last[d] >= region:
                lo, hi = 0, top
                while lo < hi:
                    mid = (lo + hi + 1) // 2
                    if stack[mid, 1] <= last[d]:
                        lo = mid
                    else:
                        hi = mid - 1
                stack[lo, 2] += 1
            if after <= before:
                stack[top, 3] = _join_left(stack[top, 3], text[p - 1] if p > 0 else -1)
                _count_own(stack, top, reach, p)
        if owner[p] >= 0:
            last[owner[p]] = i
    i = n
    while top >= 0:
        first, spread = stack[top, 1], i - stack[top, 1] - stack[top, 2]
        own = stack[top, 4] > 0
        if stack[top, 3] == -3 and (own or not merged or stack[top, 5] < spread):
            if found < out.shape[0]:
                out[found, 0], out[found, 1], out[found, 2] = first, i - 1, stack[top, 0]
                out[found, 3] = 1 if own else 0
            found += 1
        top -= 1
        if top >= 0:
            stack[top, 2] += stack[top + 1, 2]
            stack[top, 3] = _join_left(stack[top, 3], stack[top + 1, 3])
            if spread > stack[top, 5]:
                stack[top, 5] = spread
    return found


@kernel
def _join_left(one: Any, other: Any) -> Any:
    """The symbol before all places: theirs where they agree, -3 where they do not; -2 is nothing yet."""
    if one == -2:
        return other
    if other == -2 or one == other:
        return one
    return -3


@kernel
def _count_own(stack: Any, top: Any, reach: Any, p: Any) -> None:
    """Count place p as the interval's own where no longer repeat covers it."""
    length = stack[top, 0]
    if reach[p] == length and (p == 0 or reach[p - 1] <= length):
        stack[top, 4] += 1


@kernel
def _spoken_for(nodes: Any, suffixes: Any, text: Any, owner: Any, budget: int, kept: Any) -> None:
    """Clear ``kept`` for repeats that, one symbol longer to the left, stand in the same texts."""
    most = 0
    for r in range(nodes.shape[0]):
        size = nodes[r, 1] - nodes[r, 0] + 1
        if size > most:
            most = size
    keys = np.empty(most, dtype=np.uint64)
    for r in range(nodes.shape[0]):
        if nodes[r, 3] == 1:
            continue
        first, size = nodes[r, 0], nodes[r, 1] - nodes[r, 0] + 1
        budget -= size
        if budget < 0:
            return
        for i in range(size):
            p = suffixes[first + i]
            left = np.uint64(text[p - 1]) if p > 0 else np.uint64(0xFFFFFFFF)
            keys[i] = (left << np.uint64(32)) | np.uint64(owner[p])
        part = np.sort(keys[:size])
        texts, best = 0, 0
        # how many texts all places stand in, and how many those behind one symbol do
        inside = 0
        members = 0
        for i in range(size):
            if i == 0 or part[i] >> np.uint64(32) != part[i - 1] >> np.uint64(32):
                inside, members = 0, 0
            members += 1
            if i == 0 or part[i] != part[i - 1]:
                inside += 1
            if members > 1 and inside > best:
                best = inside
        for i in range(size):
            keys[i] = np.uint64(owner[suffixes[first + i]])
        part = np.sort(keys[:size])
        for i in range(size):
            if i == 0 or part[i] != part[i - 1]:
                texts += 1
        if best == texts:
            kept[r] = False
