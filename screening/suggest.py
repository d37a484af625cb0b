"""A first reading of a pair for the table: transparent rules, never a judgment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screening.config import ScreeningConfig
from screening.text.corpus import Corpus

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange
    from screening.result import PairTable, TextPairs

SUGGESTIONS: tuple[str, ...] = ("undecided", "copy", "revision", "citation", "template")

CONTAINED = 0.9
"""Share of the smaller shingle set from which on one text counts as contained in the other."""

MOSTLY_SHARED = 0.5


def hints(
    corpus: Corpus, texts: TextPairs, table: PairTable, config: ScreeningConfig
) -> NDArray[np.uint8]:
    """Index into :data:`SUGGESTIONS` for each row, before facts are read.

    Equal texts, or one contained in the other by nine tenths: copy. Half of all shingles shared: revision. Otherwise
    by the way the sharing lies: one passage that makes most of it: citation; many runs over the text: template.
    """
    low, high = texts.low, texts.high
    jaccard = np.maximum(texts.scores.jaccard, texts.scores.jaccard_folded)
    longest, covered = texts.measures[:, 0], texts.measures[:, 1:3]
    shorter = np.minimum(corpus.lengths[low], corpus.lengths[high])
    by_pair = np.zeros(len(low), dtype=np.uint8)
    by_pair[covered.min(axis=1) >= config.template_share * shorter] = SUGGESTIONS.index("template")
    passage = (longest >= config.passage_length) & (2 * longest >= covered.max(axis=1))
    by_pair[passage] = SUGGESTIONS.index("citation")
    by_pair[jaccard >= MOSTLY_SHARED] = SUGGESTIONS.index("revision")
    contained = (texts.scores.containment >= CONTAINED) & (jaccard >= MOSTLY_SHARED)
    by_pair[contained] = SUGGESTIONS.index("copy")
    result = np.full(len(table), SUGGESTIONS.index("copy"), dtype=np.uint8)
    inside = table.text_pair >= 0
    result[inside] = by_pair[table.text_pair[inside]]
    return result


def with_facts(suggestion: str, facts: Iterable[FactChange]) -> str:
    """A copy whose facts differ is suggested as a revision: equal characters are not equal statements."""
    if suggestion == "copy" and any(change.substantive for change in facts):
        return "revision"
    return suggestion
