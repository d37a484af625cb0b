"""Two fact sheets → the facts that changed."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import Indel

from .model import Fact, FactChange, FactSheet


SharedSpan = tuple[int, int, int, int]
"""left_start, left_end, right_start, right_end: raw code points, ends exclusive."""

_MARGIN = 100


def _near(start: int, end: int, spans: Sequence[SharedSpan], side: int) -> bool:
    return any(start < s[side + 1] + _MARGIN and end > s[side] - _MARGIN for s in spans)


def _change(a: Fact, b: Fact, left: FactSheet, right: FactSheet, i: int, j: int) -> FactChange | None:
    if a.kind == b.kind and a.value == b.value:
        if left.surfaces[i] == right.surfaces[j]:
            return None
        return FactChange("style", left.surfaces[i], right.surfaces[j], a.start, a.end, b.start, b.end)
    kind = a.kind
    return FactChange(kind, a.value, b.value, a.start, a.end, b.start, b.end)


def compare_facts(
    left: FactSheet, right: FactSheet, shared_spans: Sequence[SharedSpan] | None = None
) -> tuple[FactChange, ...]:
    """Facts stated differently by two texts, in the order of the left text.

    ``shared_spans`` confines the answer to facts within 100 characters of a shared passage.
    """
    at_left = {place: i for i, place in enumerate(left.places)}
    at_right = {place: i for i, place in enumerate(right.places)}
    changes = []
    for block in Indel.opcodes(left.skeleton, right.skeleton):
        if block.tag != "equal":
            continue
        shift = block.dest_start - block.src_start
        for place in range(block.src_start, block.src_end):
            i = at_left.get(place)
            j = at_right.get(place + shift)
            if i is None or j is None:
                continue
            if shared_spans is not None and not _near(
                left.facts[i].start, left.facts[i].end, shared_spans, 0
            ):
                continue
            change = _change(left.facts[i], right.facts[j], left, right, i, j)
            if change is not None:
                changes.append(change)
    return tuple(changes)
