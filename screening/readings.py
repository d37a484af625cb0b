"""Changed facts of every candidate: each document is read once, each pair of different texts compared once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from screening.result import PairTable, TextPairs, pair_excerpts
from screening.text.corpus import Corpus

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange

WHOLE = 0.5
"""From this containment on whole texts are compared; below it only what surrounds shared passages."""


def read_changes(
    corpus: Corpus, texts: TextPairs, table: PairTable, report: Callable[[str, int, int], None]
) -> list[tuple[FactChange, ...]]:
    """Fact changes of every row of ``table``."""
    from screening.evidence.facts import compare_facts, read_facts

    sheets: dict[int, object] = {}
    result: list[tuple[FactChange, ...]] = []
    left, right, pair = table.left.tolist(), table.right.tolist(), table.text_pair.tolist()
    documents = corpus.documents
    for row, (d, e, p) in enumerate(zip(left, right, pair, strict=True)):
        if row % 2000 == 0:
            report("facts", row, len(left))
        if documents[d].raw == documents[e].raw or (p >= 0 and not texts.flags[p]):
            result.append(())
            continue
        for x in (d, e):
            if x not in sheets:
                sheets[x] = read_facts(documents[x].raw)
        spans = None
        if p >= 0 and texts.scores.containment[p] < WHOLE:
            spans = [
                (x.left_start, x.left_end, x.right_start, x.right_end)
                for x in pair_excerpts(corpus, texts, p, d, e, 3)
            ]
        result.append(compare_facts(sheets[d], sheets[e], spans))  # type: ignore[arg-type]
    return result
