"""Reads and compares facts in a process of its own: ``python -m screening.evidence.reader_process``.

Facts are read by Python code that holds the GIL, so threads would not help. A separate program rather than a fork:
forking a process with threads and compiled kernels in it is not safe, and a fresh one shares no memory by accident.

Standard input is one marshalled value ``(texts, jobs)``; standard output is one marshalled list of answers after
another, in order, :data:`BATCH` jobs each.
"""

from __future__ import annotations

import gc
import marshal
import sys
from collections.abc import Iterator, Mapping, Sequence

from screening.evidence.facts import FactChange, FactSheet, compare_facts, read_facts

Spans = list[tuple[int, int, int, int]]
Job = tuple[int, int, Spans | None]
"""(left text, right text, shared passages or None for the whole texts)."""
Answer = list[tuple[object, ...]]
"""The fields of each change of one pair."""

BATCH = 500
REMEMBERED = 3_000_000
"""Characters of which the readings are kept; one takes some 40 bytes."""

SHORT = 800
"""Texts of at most so many characters are compared whole even where they share one passage only."""

MARGIN = 16
PASSAGES = 3


def answers(texts: Mapping[int, str], jobs: Sequence[Job]) -> Iterator[Answer]:
    """The fact changes of each job; sheets are kept while there is room, jobs of one family should come together."""
    sheets: dict[int, FactSheet] = {}
    size = 0
    for left, right, spans in jobs:
        if spans is not None and max(len(texts[left]), len(texts[right])) > SHORT:
            yield _around(texts[left], texts[right], spans)
            continue
        while size > REMEMBERED and len(sheets) > 2:
            oldest = next(iter(sheets))
            del sheets[oldest]
            size -= len(texts[oldest])
        for number in (left, right):
            if number not in sheets:
                sheets[number] = read_facts(texts[number])
                size += len(texts[number])
        yield [_fields(change) for change in compare_facts(sheets[left], sheets[right], spans)]


def _around(left: str, right: str, spans: Spans) -> Answer:
    """Changes in and beside the longest shared passages of long texts that are otherwise different.

    Aligning all of two long texts for the sake of one quotation would take a hundred times longer.
    """
    found: dict[tuple[object, ...], None] = {}
    for left_start, left_end, right_start, right_end in spans[:PASSAGES]:
        a, b = max(0, left_start - MARGIN), max(0, right_start - MARGIN)
        for change in compare_facts(
            read_facts(left[a : left_end + MARGIN]),
            read_facts(right[b : right_end + MARGIN]),
            [(left_start - a, left_end - a, right_start - b, right_end - b)],
        ):
            found[_fields(change, a, b)] = None
    return list(found)


def _fields(change: FactChange, left: int = 0, right: int = 0) -> tuple[object, ...]:
    """The fields of a change, its offsets moved."""
    offsets = (
        (change.left_start, left),
        (change.left_end, left),
        (change.right_start, right),
        (change.right_end, right),
    )
    moved = (None if value is None else value + by for value, by in offsets)
    return (change.kind, change.left, change.right, *moved)


def main() -> None:
    """Answer the jobs on standard input."""
    gc.disable()  # sheets hold no cycles, and there are many of them to search
    texts, jobs = marshal.load(sys.stdin.buffer)
    batch: list[Answer] = []
    for answer in answers(texts, jobs):
        batch.append(answer)
        if len(batch) == BATCH:
            marshal.dump(batch, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            batch = []
    if batch:
        marshal.dump(batch, sys.stdout.buffer)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
