"""The order of candidates, and which of them stand for the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.channels.templates import Forms
from screening.config import ScreeningConfig
from screening.matching import Floats
from screening.result import CHANNEL_BITS, NOTES, PairTable, TextPairs
from screening.text.corpus import Corpus, Ints

HALF_PASSAGE = 60.0
"""Characters that only two texts have which make half of the full evidence of a passage."""


def strength(
    texts: TextPairs, lengths: Ints, bounds: Ints | None = None, forms: Forms | None = None
) -> Floats:
    """Evidence of each pair of texts, 0 to 1.

    The greatest of: Jaccard (folded or not); nine tenths of the share of the shorter text under shared runs; nine
    tenths of w / (w + 60), where w counts shared characters, each weighed by 1 / (texts it stands in - 1): sixty
    characters that nobody else has are as good as half of everything. Where ``forms`` cover shared text, all three are
    those of what is left without them: a pair that shares a confirmed form and nothing else has no evidence.
    """
    shorter = np.maximum(np.minimum(lengths[texts.low], lengths[texts.high]), 1)
    jaccard = np.maximum(texts.scores.jaccard, texts.scores.jaccard_folded)
    cover = np.minimum(texts.measures[:, 1:3].max(axis=1) / shorter, 1.0)
    exclusive = texts.measures[:, 6] / 1000.0
    if forms is not None and bounds is not None:
        own, left = _beyond(texts, lengths, bounds, forms)
        touched = own < 1.0
        masked = np.minimum(own * cover * shorter / np.maximum(left, 1), 1.0)
        cover = np.where(touched, np.minimum(cover, masked), cover)
        jaccard = np.where(touched, np.minimum(jaccard, masked), jaccard)
        exclusive = exclusive * own
    passage = exclusive / (exclusive + HALF_PASSAGE)
    result: Floats = np.maximum(jaccard, 0.9 * np.maximum(cover, passage))
    return result


def _beyond(texts: TextPairs, lengths: Ints, bounds: Ints, forms: Forms) -> tuple[Floats, Ints]:
    """Share of each pair's shared text that no form covers, by its longest runs; characters of the shorter text left without forms."""
    starts = bounds[texts.low][:, None] + np.maximum(texts.runs[:, :, 0], 0)
    ends = starts + np.maximum(texts.runs[:, :, 2], 0)
    covered = (forms.before[ends] - forms.before[starts]).sum(axis=1)
    shared = np.maximum(texts.measures[:, 1], 1)
    shorter = np.where(lengths[texts.low] <= lengths[texts.high], texts.low, texts.high)
    under = forms.before[bounds[shorter + 1]] - forms.before[bounds[shorter]]
    own: Floats = np.maximum(1.0 - covered / shared, 0.0)
    return own, lengths[shorter] - under


def rank_pairs(
    corpus: Corpus,
    texts: TextPairs,
    table: PairTable,
    config: ScreeningConfig,
    forms: Forms | None = None,
) -> PairTable:
    """The table in rank order, strongest evidence first, with representatives and notes set.

    Equal texts come first, then equal document numbers count as half of everything; ties go by the keys of the documents.
    """
    inside = table.text_pair >= 0
    strengths = np.full(len(table), 2.0)
    strengths[inside] = strength(texts, corpus.lengths, corpus.bounds, forms)[table.text_pair[inside]]
    numbered = table.flags & CHANNEL_BITS["doc_number"] > 0
    strengths[numbered] = np.maximum(strengths[numbered], 0.5)
    # A cosine knows the topic and not the facts: what nothing else finds comes behind everything else.
    strengths[table.flags == CHANNEL_BITS["semantic"]] -= 2.0
    ranked = table.select(np.lexsort((table.right, table.left, -strengths)))
    _note_copies(corpus, ranked)
    _note_families(corpus, texts, ranked, config)
    return ranked


def _set_aside(table: PairTable, rows: NDArray[np.bool_], note: str) -> None:
    rows = rows & table.representative
    table.representative[rows] = False
    table.note[rows] = NOTES.index(note)


def _note_copies(corpus: Corpus, table: PairTable) -> None:
    """Of a group of equal texts ask its first document against each other spelling, and one pair of each spelling."""
    firsts = np.full(corpus.size, -1, dtype=np.int64)
    present = np.diff(corpus.member_bounds) > 0
    firsts[present] = corpus.members[corpus.member_bounds[:-1][present]]
    class_of = corpus.class_of
    inside = table.text_pair >= 0
    both_first = (firsts[class_of[table.left]] == table.left) & (
        firsts[class_of[table.right]] == table.right
    )
    numbered = table.flags & CHANNEL_BITS["doc_number"] > 0
    alone = numbered & (table.flags == CHANNEL_BITS["doc_number"])
    _set_aside(table, inside & ~both_first & ~alone, "equal_copies")
    for rows in _groups(table, class_of, ~inside):
        _note_spellings(corpus, table, rows)


def _groups(
    table: PairTable, class_of: NDArray[np.int32], wanted: NDArray[np.bool_]
) -> list[NDArray[np.int64]]:
    """Rows of equal texts, by text, where there is more than one."""
    rows = np.flatnonzero(wanted)
    texts = class_of[table.left[rows]]
    order = np.argsort(texts, kind="stable")
    edges = np.flatnonzero(np.diff(texts[order])) + 1
    return [part for part in np.split(rows[order], edges) if len(part) > 1]


def _note_spellings(corpus: Corpus, table: PairTable, rows: NDArray[np.int64]) -> None:
    """Set aside the pairs of one group of equal texts that say nothing new."""
    pairs = sorted(
        zip(table.left[rows].tolist(), table.right[rows].tolist(), rows.tolist(), strict=True)
    )
    first = pairs[0][0]
    spelling: dict[int, int] = {}
    known: dict[str, int] = {}
    for d in sorted({d for a, b, _ in pairs for d in (a, b)}):
        spelling[d] = known.setdefault(corpus.documents[d].raw, d)
    paired: set[int] = set()
    for a, b, row in pairs:
        new_spelling = a == first and spelling[b] == b
        same_spelling = spelling[a] == spelling[b] and spelling[a] == a and a not in paired
        if same_spelling:
            paired.add(a)
        if not new_spelling and not same_spelling:
            table.representative[row] = False
            table.note[row] = NOTES.index("equal_copies")


def _note_families(
    corpus: Corpus, texts: TextPairs, table: PairTable, config: ScreeningConfig
) -> None:
    """Where a passage or form stands in many texts, ask enough pairs to connect them and set the rest aside."""
    inside = np.flatnonzero((table.text_pair >= 0) & table.representative)
    spread = texts.measures[table.text_pair[inside], 5]
    flags = table.flags[inside]
    for channel, note in (("templates", "large_family"), ("passages", "same_passage")):
        bit = CHANNEL_BITS[channel]
        stronger = CHANNEL_BITS["minhash"] | CHANNEL_BITS["doc_number"]
        if channel == "passages":
            stronger |= CHANNEL_BITS["templates"]
        rows = inside[(flags & bit > 0) & (flags & stronger == 0) & (spread > config.family_size)]
        joins = np.zeros(len(rows), dtype=bool)
        kernels.spanning_pairs(table.left[rows], table.right[rows], len(corpus.documents), joins)
        aside = np.zeros(len(table), dtype=bool)
        aside[rows[~joins]] = True
        _set_aside(table, aside, note)
