"""What is printed of many candidates at once, made column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING

import numpy as np

from screening.beside import Evidence, evidence_of
from screening.evidence.excerpts import SENTENCE_ENDS, shared_runs
from screening.text.corpus import Corpus, Ints
from screening.text.normalise import CodePoints, from_code_points, is_mark

if TYPE_CHECKING:
    from screening.result import ScreeningResult, TextPairs

EXCERPTS = 5
SHOWN_SHINGLES = 20

SHORT_TEXT = 2000
"""Up to this length a pair without a run of the usual length is searched for shorter ones."""

Span = tuple[int, int, int, int]
"""A shared passage in raw offsets: left start and end, right start and end."""


def scores_of(result: ScreeningResult, pair: Ints) -> list[list[float]]:
    """Estimate (NaN: none), Jaccard, folded Jaccard, containment; equal texts have 1."""
    columns = []
    scores = result.texts.scores
    for values in (scores.estimate, scores.jaccard, scores.jaccard_folded, scores.containment):
        column = np.ones(len(pair), dtype=np.float64)
        if values is scores.estimate and not result.matcher.rows:
            column[:] = np.nan
        column[pair >= 0] = values[pair[pair >= 0]]
        columns.append(column.tolist())
    return columns


def fingerprints_of(
    result: ScreeningResult, left: Ints, right: Ints, pair: Ints
) -> Iterable[Evidence | None]:
    """What the fingerprints of each pair say; None for all where SimHash is off."""
    near = result.beside.near
    if near is None:
        return repeat(None, len(pair))
    return evidence_of(near, result.corpus, result.texts.low, left, right, pair)


def shingles_of(
    result: ScreeningResult, left: Ints, right: Ints
) -> Iterator[tuple[str, ...]]:
    """The first shared distinct shingles of each pair, in the order of the left text."""
    corpus, matcher = result.corpus, result.matcher
    low, high = corpus.class_of[left].astype(np.int64), corpus.class_of[right].astype(np.int64)
    places = matcher.first_shared(low, high, SHOWN_SHINGLES)
    if matcher.words is not None:
        for c, spots in zip(low.tolist(), places.tolist(), strict=True):
            tokens, k = matcher.words.tokens(c), matcher.ks[0]
            yield tuple(" ".join(tokens[p : p + k]) for p in spots if p >= 0)
        return
    widths = [
        matcher.ks[i] for i in np.minimum(matcher.space_of[low], matcher.space_of[high]).tolist()
    ]
    counts = (places >= 0).sum(axis=1).tolist()
    reach = max(widths, default=0)
    starts = corpus.bounds[low][:, None] + np.maximum(places, 0)
    windows = starts[:, :, None] + np.arange(reach)
    last = max(0, len(corpus.points) - 1)
    text = from_code_points(corpus.points[np.minimum(windows, last)].ravel())
    step = SHOWN_SHINGLES * reach
    for row, (k, count) in enumerate(zip(widths, counts, strict=True)):
        base = row * step
        yield tuple([text[at : at + k] for at in range(base, base + count * reach, reach)])


def is_plain(result: ScreeningResult) -> bool:
    """Whether the shingles are characters of one width that JSON writes as themselves."""
    matcher = result.matcher
    one_width = matcher.words is None and len(matcher.ks) == 1
    return one_width and not _needs_escapes(result.corpus.points)


def shingle_texts(
    result: ScreeningResult, left: Ints, right: Ints, plain: bool
) -> Iterator[str]:
    """What :func:`shingles_of` gives, each as the inside of a JSON list; ``plain``: :func:`is_plain`."""
    matcher, points = result.matcher, result.corpus.points
    if not plain:
        for shingles in shingles_of(result, left, right):
            yield ",".join([_quoted(shingle) for shingle in shingles])
        return
    corpus, k = result.corpus, matcher.ks[0]
    low, high = corpus.class_of[left].astype(np.int64), corpus.class_of[right].astype(np.int64)
    places = matcher.first_shared(low, high, SHOWN_SHINGLES)
    starts = corpus.bounds[low][:, None] + np.maximum(places, 0)
    written = np.empty((len(low), SHOWN_SHINGLES, k + 3), dtype=np.uint32)
    written[:, :, 0] = written[:, :, k + 1] = ord('"')
    written[:, :, k + 2] = ord(",")
    last = max(0, len(points) - 1)
    for i in range(k):
        written[:, :, i + 1] = points[np.minimum(starts + i, last)]
    text = from_code_points(written.ravel())
    step = SHOWN_SHINGLES * (k + 3)
    sizes = ((places >= 0).sum(axis=1) * (k + 3)).tolist()
    for base, size in zip(range(0, len(text), step), sizes, strict=True):
        yield text[base : base + size - 1] if size else ""


def _needs_escapes(points: CodePoints) -> bool:
    """Whether JSON writes any of these characters otherwise than as itself."""
    return bool(((points < 0x20) | (points == ord('"')) | (points == ord("\\"))).any())


def passages_of(
    corpus: Corpus, texts: TextPairs, left: Ints, right: Ints, pair: Ints
) -> Iterator[list[Span]]:
    """The longest shared passages of pairs of documents in raw offsets; the whole text where it is equal.

    ``pair`` are rows of ``texts``, -1 where both documents have the same text.
    """
    runs = np.full((len(pair), EXCERPTS, 3), -1, dtype=np.int64)
    inside = pair >= 0
    runs[inside] = texts.runs[pair[inside]]
    swapped = inside.copy()
    swapped[inside] = corpus.class_of[left[inside]] != texts.low[pair[inside]]
    runs[swapped] = runs[swapped][:, :, [1, 0, 2]]
    runs[~inside, 0, :2] = 0
    runs[~inside, 0, 2] = corpus.doc_bounds[left[~inside] + 1] - corpus.doc_bounds[left[~inside]]
    _short_runs(corpus, left, right, runs)
    there = runs[:, :, 2] > 0
    row, at = np.nonzero(there)
    spans = []
    for side, docs in ((0, left), (1, right)):
        first = corpus.doc_bounds[docs[row]] + runs[row, at, side]
        final = first + runs[row, at, 2] - 1
        spans += [corpus.offsets[first].tolist(), (corpus.offsets[final] + 1).tolist()]
    found = zip(*spans, strict=True)
    documents = corpus.documents
    counts = there.sum(axis=1).tolist()
    for n, d, e in zip(counts, left.tolist(), right.tolist(), strict=True):
        a, b = documents[d].raw, documents[e].raw
        yield [_ended(a, b, *span) for span in islice(found, n)]


def _ended(a: str, b: str, start: int, end: int, begin: int, close: int) -> Span:
    """A passage with the marks behind it and the sentence end that both raw texts have there: what
    :func:`screening.evidence.excerpts.raw_excerpt` does, without its objects."""
    size, other = len(a), len(b)
    while end < size and is_mark(a[end]):
        end += 1
    while close < other and is_mark(b[close]):
        close += 1
    if end < size and close < other and a[end] == b[close] and a[end] in SENTENCE_ENDS:
        return start, end + 1, begin, close + 1
    return start, end, begin, close


def _short_runs(
    corpus: Corpus, left: Ints, right: Ints, runs: Ints
) -> None:
    """Fill in shorter passages for pairs of short texts that share none of the usual length."""
    for row in np.flatnonzero(runs[:, 0, 2] <= 0).tolist():
        a, b = int(corpus.class_of[left[row]]), int(corpus.class_of[right[row]])
        if a < 0 or b < 0 or max(corpus.lengths[a], corpus.lengths[b]) > SHORT_TEXT:
            continue
        found = shared_runs(
            corpus.folded[corpus.bounds[a] : corpus.bounds[a + 1]],
            corpus.folded[corpus.bounds[b] : corpus.bounds[b + 1]],
            3,
            EXCERPTS,
        )
        for spot, run in enumerate(found):
            runs[row, spot] = (run.left, run.right, run.length)
