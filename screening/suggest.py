"""A first reading of a pair for the table: transparent rules, never a judgment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange
    from screening.result import ScreeningResult

COPY_CONTAINMENT = 0.9
WHOLE_COVER = 0.5


def suggest(result: ScreeningResult, row: int, facts: Sequence[FactChange]) -> str:
    """One of copy, revision, citation, template, undecided.

    Equal normalised text is a copy only while no fact differs. Otherwise: most of the shorter text shared → revision
    where facts differ, copy where none does and nearly all is shared; rare grams scattered over the text → template;
    a long passage in otherwise different texts → citation.
    """
    pair = int(result.table.text_pair[row])
    substantive = any(change.substantive for change in facts)
    if pair < 0:
        return "revision" if substantive else "copy"
    texts = result.texts
    containment = float(texts.scores.containment[pair])
    jaccard = max(float(texts.scores.jaccard[pair]), float(texts.scores.jaccard_folded[pair]))
    low, high = int(texts.low[pair]), int(texts.high[pair])
    shorter = min(int(result.corpus.lengths[low]), int(result.corpus.lengths[high]))
    longest = int(texts.measures[pair, 0])
    if jaccard >= WHOLE_COVER or containment >= COPY_CONTAINMENT:
        if substantive:
            return "revision"
        return "copy" if containment >= COPY_CONTAINMENT else "undecided"
    if longest >= result.config.passage_length and 2 * longest >= int(texts.measures[pair, 1:3].max()):
        return "citation"
    covered = int(texts.measures[pair, 1:3].min())
    if covered >= result.config.template_share * shorter:
        return "template"
    return "undecided"
