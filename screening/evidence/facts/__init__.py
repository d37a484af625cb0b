"""Facts of a text (dates, numbers, money, modality …) and which of them differ between two texts.

Everything is read from the raw text: normalised text has lost signs, decimals and units by design.
:func:`read_facts` reads one document once; :func:`compare_facts` compares two of these sheets.
"""

from __future__ import annotations

from collections.abc import Sequence

from .compare import SharedSpan, compare_facts
from .extract import cached_sheet, read_facts
from .model import KINDS, Fact, FactChange, FactKind, FactSheet

__all__ = [
    "KINDS",
    "Fact",
    "FactChange",
    "FactKind",
    "FactSheet",
    "compare_facts",
    "extract_facts",
    "fact_changes",
    "read_facts",
]


def extract_facts(text: str) -> tuple[Fact, ...]:
    """Facts of ``text`` in reading order, offsets in code points of ``text``."""
    return read_facts(text).facts


def fact_changes(
    left_raw: str, right_raw: str, alignment: Sequence[SharedSpan] | None = None
) -> tuple[FactChange, ...]:
    """Facts that two raw texts state differently; the reading of recent texts is remembered.

    ``alignment`` (passages known to be shared, raw offsets ``left_start, left_end, right_start,
    right_end``) confines the comparison to these passages and what touches them.
    """
    if left_raw == right_raw:
        return ()
    return compare_facts(cached_sheet(left_raw), cached_sheet(right_raw), alignment)
