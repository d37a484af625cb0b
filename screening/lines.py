"""The lines of ``candidates.jsonl`` and ``normalized.jsonl``, put together by hand: a general encoder takes three times as long for the same bytes.

:func:`candidate_line` is the line of one candidate; :class:`CandidateLines` makes the same bytes for all of a run,
column by column, in a third of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING

import numpy as np

from screening.beside import Evidence
from screening.columns import Span, fingerprints_of, is_plain, passages_of, scores_of, shingle_texts
from screening.documents import InputDocument
from screening.evidence.excerpts import Excerpt
from screening.result import CHANNEL_NAMES, FoundCandidate, ScreeningResult
from screening.suggest import SUGGESTIONS

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange

NO_DISTANCE = '"simhash_distance":null'

EXCERPT_LIMIT = 2000
"""Characters of one excerpt that are printed; a longer one carries its full ``length`` beside the beginning."""


def candidate_line(candidate: FoundCandidate, left: InputDocument, right: InputDocument) -> str:
    """One line of ``candidates.jsonl`` as a JSON object, without the line feed."""
    changes = ",".join([_change(change) for change in candidate.fact_changes])
    shingles = ",".join([_quoted(shingle) for shingle in candidate.shared_shingles])
    excerpts = ",".join([_excerpt(excerpt, left.raw) for excerpt in candidate.excerpts])
    return (
        f'{{"left":{_quoted(left.doc_id)},"right":{_quoted(right.doc_id)},'
        f'"left_source":{_text(left.source_id)},"right_source":{_text(right.source_id)},'
        f'"left_version":{_text(left.version)},"right_version":{_text(right.version)},'
        f'"rank":{candidate.rank},"channels":{_names(candidate.channels)},'
        f'"minhash_estimate":{_number(candidate.minhash_estimate)},"jaccard":{candidate.jaccard!r},'
        f'"jaccard_folded":{_number(candidate.jaccard_folded)},"containment":{candidate.containment!r},'
        f'{_near(candidate.fingerprints)},"shared_shingles":[{shingles}],'
        f'"raw_excerpts":[{excerpts}],"fact_changes":[{changes}],'
        f'"suggestion":{_quoted(candidate.suggestion)},"review_status":"pending"}}'
    )


class CandidateLines:
    """The lines of all candidates of a result, without building the candidates."""

    def __init__(self, result: ScreeningResult) -> None:
        self._result = result
        documents = result.corpus.documents
        self._raw = [d.raw for d in documents]
        self._ids = [_quoted(d.doc_id) for d in documents]
        self._sources = [_text(d.source_id) for d in documents]
        self._versions = [_text(d.version) for d in documents]

    @cached_property
    def _plain(self) -> bool:
        return is_plain(self._result)

    def of(self, first: int, end: int) -> Iterator[str]:
        """The lines of the rows ``first`` to ``end`` of the table, each with its line feed."""
        for head, tail in zip(self.heads(first, end), self.tails(first, end), strict=True):
            yield head + tail

    def tails(self, first: int, end: int) -> Iterator[str]:
        """The ends of these lines: what the facts tell."""
        result = self._result
        facts = result.facts[first:end] if result.facts else [()] * (end - first)
        for changes, hint in zip(facts, result.table.hint[first:end].tolist(), strict=True):
            if changes:
                yield f'{",".join([_change(change) for change in changes])}{_ENDS[hint]}'
            else:
                yield _ENDS[hint]

    def heads(self, first: int, end: int) -> Iterator[str]:
        """The same lines as far as their changed facts, which are read meanwhile."""
        result, table = self._result, self._result.table
        some = np.arange(first, end)
        left, right, pair = table.left[some], table.right[some], table.text_pair[some]
        ids, sources, versions, raws = self._ids, self._sources, self._versions, self._raw
        columns = zip(
            range(first + 1, end + 1),
            left.tolist(),
            right.tolist(),
            table.flags[some].tolist(),
            *scores_of(result, pair),
            shingle_texts(result, left, right, self._plain),
            passages_of(result.corpus, result.texts, left, right, pair),
            fingerprints_of(result, left, right, pair),
            strict=True,
        )
        for rank, a, b, flags, estimate, jaccard, folded, within, shingles, spans, prints in columns:  # fmt: skip
            raw = raws[a]
            yield (
                f'{{"left":{ids[a]},"right":{ids[b]},'
                f'"left_source":{sources[a]},"right_source":{sources[b]},'
                f'"left_version":{versions[a]},"right_version":{versions[b]},'
                f'"rank":{rank},"channels":{_CHANNELS[flags]},'
                f'"minhash_estimate":{"null" if estimate != estimate else repr(estimate)},"jaccard":{jaccard!r},'
                f'"jaccard_folded":{"null" if folded == jaccard else repr(folded)},"containment":{within!r},'
                f'{_near(prints) if prints else NO_DISTANCE},"shared_shingles":[{shingles}],'
                f'"raw_excerpts":[{",".join([_passage(span, raw) for span in spans])}],'
                f'"fact_changes":['
            )


def normalized_line(doc_id: str, text: str) -> str:
    """One line of ``normalized.jsonl``."""
    return f'{{"doc_id":{_quoted(doc_id)},"normalized":{_quoted(text)}}}'


def _near(found: Evidence | None) -> str:
    """The distance; beside it, where there is one, the exact ratio of the texts and their nearest windows."""
    if found is None:
        return NO_DISTANCE
    window = ""
    if found.window is not None:
        start, end, begin, close = found.window
        window = (
            f',"simhash_window":{{"left_start":{start},"left_end":{end},"right_start":{begin},"right_end":{close},'
            f'"distance":{found.window_distance},"ratio":{found.window_ratio!r}}}'
        )
    return f'"simhash_distance":{found.distance},"simhash_ratio":{found.ratio!r}{window}'


def _change(change: FactChange) -> str:
    return (
        f'{{"kind":"{change.kind}","left":{_text(change.left)},"right":{_text(change.right)},'
        f'"left_start":{_number(change.left_start)},"right_start":{_number(change.right_start)}}}'
    )


def _excerpt(excerpt: Excerpt, raw: str) -> str:
    return _passage(
        (excerpt.left_start, excerpt.left_end, excerpt.right_start, excerpt.right_end), raw
    )


def _passage(span: Span, raw: str) -> str:
    start, end, begin, _ = span
    if end - start > EXCERPT_LIMIT:
        text, whole = raw[start : start + EXCERPT_LIMIT], f',"length":{end - start}'
    else:
        text, whole = raw[start:end], ""
    return f'{{"text":{_quoted(text)},"left_start":{start},"right_start":{begin}{whole}}}'


def _text(value: str | None) -> str:
    return "null" if value is None else _quoted(value)


def _number(value: float | int | None) -> str:
    return "null" if value is None else repr(value)


@lru_cache(maxsize=1024)
def _names(channels: tuple[str, ...]) -> str:
    return "[" + ",".join(_quoted(name) for name in channels) + "]"


_CHANNELS = [_names(names) for names in CHANNEL_NAMES]
_ENDS = [
    f'],"suggestion":{_quoted(suggestion)},"review_status":"pending"}}\n' for suggestion in SUGGESTIONS
]
