"""A first reading of a pair from its evidence: a small linear model with printed numbers, and its reasons in words.

It orders work, is checked after closing and fills the column ``suggestion``; it is never a judgment, and nobody who
judges blind sees it. The numbers are in :mod:`screening.suggest_numbers`; ``tests/bench/bench_suggestion.py`` makes and
measures them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screening.config import CHANNELS
from screening.documents import InputDocument, Problem
from screening.suggest_numbers import CENTRES, INTERCEPTS, SPREADS, WEIGHTS
from screening.text.corpus import Corpus

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange
    from screening.result import PairTable, TextPairs

Floats = NDArray[np.float64]

SUGGESTIONS: tuple[str, ...] = ("undecided", "copy", "revision", "citation", "template")
"""What a listed pair may be called; pairs that share too little to be listed are taken as ``independent``."""

ALIKE_IN_MEANING = 1 << len(CHANNELS)
"""Flags of a pair that only a model of meaning finds: perhaps a text and its interpretation, by words no copy of anything."""

FEATURES: tuple[str, ...] = (
    "jaccard",
    "containment",
    "cover",
    "longest_share",
    "longest",
    "breaks",
    "spread",
    "exclusive",
    "size_ratio",
    "fact_changed",
    "facts",
    "renumbered",
    "same_title",
    "other_version",
)
"""Columns of :func:`features`.

``jaccard`` (folded where greater), ``containment``: shares of shingles. ``cover``: the lesser share of a text under shared
runs. ``longest_share``: longest run / shorter text. ``longest``: ln(1 + its characters). ``breaks``: ln(1 + shared runs in
1,000 characters). ``spread``: ln(1 + texts a shared gram stands in). ``exclusive``: ln(1 + characters that only these two
share). ``size_ratio``: shorter / longer text. ``fact_changed``: 1 if a substantive fact differs; ``facts``, ``renumbered``:
ln(1 + how many). ``same_title``, ``other_version``: 1 if equal, or different. NaN: not known, which speaks for nothing.
"""

_MINOR = ("article_number", "style")
_NOT_LETTERS = re.compile(r"[\W\d_]+")


def suggest(
    corpus: Corpus,
    texts: TextPairs,
    table: PairTable,
    changes: Sequence[tuple[FactChange, ...]],
) -> NDArray[np.uint8]:
    """Index into :data:`SUGGESTIONS` for each row of ``table``.

    ``changes`` are the fact changes of each row, or empty where facts were not read. Texts that are equal once
    normalized are copies, or a revision where their facts differ: equal characters are not equal statements.
    """
    values = features(corpus, texts, table, changes)
    choice = classify(values)
    copy, revision = SUGGESTIONS.index("copy"), SUGGESTIONS.index("revision")
    choice[table.text_pair < 0] = copy
    changed = values[:, FEATURES.index("fact_changed")] > 0
    choice[(table.text_pair < 0) & changed] = revision
    choice[table.flags == ALIKE_IN_MEANING] = SUGGESTIONS.index("undecided")
    return choice


def classify(values: Floats) -> NDArray[np.uint8]:
    """Index into :data:`SUGGESTIONS` for each row of ``values`` (rows, :data:`FEATURES`)."""
    scores = scores_of(values)
    # Rounded, so that the last bit of a logarithm on another machine decides nothing.
    choice: NDArray[np.uint8] = (np.argmax(np.round(scores, 9), axis=1) + 1).astype(np.uint8)
    return choice


def scores_of(values: Floats) -> Floats:
    """Scores (rows, labels) of copy, revision, citation, template; the greatest is suggested."""
    scores = np.empty((len(values), len(INTERCEPTS)))
    for label, (intercept, weights) in enumerate(zip(INTERCEPTS, WEIGHTS, strict=True)):
        total = np.full(len(values), intercept)
        for column, weight in enumerate(weights):  # in a fixed order: a sum must not depend on BLAS
            scaled = (values[:, column] - CENTRES[column]) / SPREADS[column]
            total += weight * np.where(np.isnan(scaled), 0.0, scaled)
        scores[:, label] = total
    return scores


def features(
    corpus: Corpus,
    texts: TextPairs,
    table: PairTable,
    changes: Sequence[tuple[FactChange, ...]],
) -> Floats:
    """What the suggestion goes by, (rows, :data:`FEATURES`); symmetric in the two documents."""
    values = np.zeros((len(table), len(FEATURES)))
    by_text = _of_texts(corpus, texts)
    inside = table.text_pair >= 0
    width = by_text.shape[1]
    values[inside, :width] = by_text[table.text_pair[inside]]
    values[~inside, :width] = _of_equal(corpus, table.left[~inside])
    counts = np.full((len(table), 2), np.nan)
    if changes:
        counts = np.array([_counts(row) for row in changes], dtype=np.float64)
    values[:, width] = np.where(np.isnan(counts[:, 0]), np.nan, counts[:, 0] > 0)
    values[:, width + 1 : width + 3] = np.log1p(counts)
    titles = _codes(_letters(d.title) for d in corpus.documents)
    versions = _codes((d.version or "").strip() for d in corpus.documents)
    values[:, width + 3] = _equal(titles, table)
    values[:, width + 4] = 1 - _equal(versions, table)
    return values


def _equal(codes: NDArray[np.int64], table: PairTable) -> Floats:
    """1 where both documents of a row have the same code, 0 where another, NaN where one has none."""
    left, right = codes[table.left], codes[table.right]
    return np.where((left < 0) | (right < 0), np.nan, (left == right).astype(np.float64))


def _of_texts(corpus: Corpus, texts: TextPairs) -> Floats:
    """The first nine columns, for each pair of texts."""
    low, high = corpus.lengths[texts.low], corpus.lengths[texts.high]
    shorter = np.maximum(np.minimum(low, high), 1)
    longest, runs = texts.measures[:, 0], texts.measures[:, 3]
    cover = np.minimum(
        texts.measures[:, 1] / np.maximum(low, 1), texts.measures[:, 2] / np.maximum(high, 1)
    )
    columns = (
        np.maximum(texts.scores.jaccard, texts.scores.jaccard_folded),
        texts.scores.containment,
        cover,
        longest / shorter,
        np.log1p(longest),
        np.log1p(1000 * runs / shorter),
        np.log1p(texts.measures[:, 5]),
        np.log1p(texts.measures[:, 6] / 1000),
        shorter / np.maximum(np.maximum(low, high), 1),
    )
    return np.stack([np.asarray(c, dtype=np.float64) for c in columns], axis=1)


def _of_equal(corpus: Corpus, left: NDArray[np.int64]) -> Floats:
    """The first nine columns of documents whose texts are equal: one run over everything."""
    length = np.maximum(corpus.lengths[corpus.class_of[left]], 1).astype(np.float64)
    one = np.ones(len(left))
    whole = np.log1p(length)
    return np.stack(
        (one, one, one, one, whole, np.log1p(1000 / length), 0 * one, whole, one), axis=1
    )


def _counts(changes: tuple[FactChange, ...]) -> tuple[int, int]:
    """Changes of substance, and articles that only bear another number."""
    if not changes:
        return 0, 0
    kinds = [change.kind for change in changes]
    return sum(kind not in _MINOR for kind in kinds), kinds.count("article_number")


def _letters(title: str | None) -> str:
    return _NOT_LETTERS.sub("", title) if title else ""


def _codes(values: Iterable[str]) -> NDArray[np.int64]:
    """Equal numbers for equal strings, -1 for the empty one."""
    known: dict[str, int] = {"": -1}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


# --- In words ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is kept of a pair, enough to say why it is suggested as what it is.

    ``longest`` and ``shorter`` are characters of the raw texts, shares lie in 0 to 1, ``facts`` counts changes of substance.
    """

    jaccard: float
    containment: float
    longest: int
    shorter: int
    passages: int
    facts: int
    renumbered: int
    same_title: bool
    versions: tuple[str, str] | None

    @classmethod
    def of(
        cls,
        left: InputDocument,
        right: InputDocument,
        *,
        jaccard: float,
        containment: float,
        passages: Sequence[int],
        kinds: Sequence[str],
    ) -> Evidence:
        """From two documents, the lengths of their shared passages and the kinds of their changed facts."""
        one, other = (left.version or "").strip(), (right.version or "").strip()
        return cls(
            jaccard=jaccard,
            containment=containment,
            longest=max(passages, default=0),
            shorter=max(1, min(len(left.raw), len(right.raw))),
            passages=len(passages),
            facts=sum(kind not in _MINOR for kind in kinds),
            renumbered=sum(kind == "article_number" for kind in kinds),
            same_title=bool(_letters(left.title)) and _letters(left.title) == _letters(right.title),
            versions=(one, other) if one and other and one != other else None,
        )


def reasons(suggestion: str, seen: Evidence) -> list[Problem]:
    """Why the evidence reads as ``suggestion``: sentences (template and params), the weightiest first."""
    found = [*_overlap(suggestion, seen), *_facts(seen), *_metadata(seen)]
    return found if suggestion != "undecided" else []


def _overlap(suggestion: str, seen: Evidence) -> list[Problem]:
    share = {"percent": round(100 * seen.containment)}
    passage = {
        "longest": seen.longest,
        "percent": max(1, round(100 * min(1.0, seen.longest / seen.shorter))),
    }
    if suggestion in ("copy", "revision"):
        whole = Problem(
            "most_is_shared",
            "%(percent)s %% of the fragments of the shorter text are in the other one.",
            share,
        )
        run = Problem(
            "one_run",
            "The longest passage that both have counts %(longest)s characters, %(percent)s %% of the shorter text.",
            passage,
        )
        return [whole, run] if seen.longest else [whole]
    if suggestion == "citation":
        return [
            Problem(
                "one_passage",
                "A passage of %(longest)s characters is shared, %(percent)s %% of the shorter text; the rest is different.",
                passage,
            )
        ]
    return [
        Problem(
            "scattered",
            "Both share the wording of a form in %(n)s or more separate passages, the longest of %(longest)s characters; between them the content differs.",
            {"n": seen.passages, "longest": seen.longest},
        )
    ]


def _facts(seen: Evidence) -> list[Problem]:
    if seen.facts:
        return [
            Problem(
                "facts_differ",
                "Facts that are stated differently: %(n)s (dates, numbers, conditions and the like).",
                {"n": seen.facts},
            )
        ]
    if seen.renumbered:
        return [
            Problem(
                "renumbered",
                "No fact differs, but articles bear other numbers: %(n)s.",
                {"n": seen.renumbered},
            )
        ]
    return [Problem("facts_equal", "No date, number or condition is stated differently.")]


def _metadata(seen: Evidence) -> list[Problem]:
    found = []
    if seen.same_title:
        found.append(Problem("same_title", "Both bear the same title."))
    if seen.versions:
        left, right = seen.versions
        found.append(
            Problem(
                "other_version",
                "They name different versions: %(left)s and %(right)s.",
                {"left": left, "right": right},
            )
        )
    return found
