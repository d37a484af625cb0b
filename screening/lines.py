"""The lines of ``candidates.jsonl`` and ``normalized.jsonl``, put together by hand: a general encoder takes three times as long for the same bytes."""

from __future__ import annotations

from functools import lru_cache
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING

from screening.documents import InputDocument
from screening.evidence.excerpts import Excerpt
from screening.result import FoundCandidate

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange

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
        f'"simhash_distance":{_number(candidate.simhash_distance)},"shared_shingles":[{shingles}],'
        f'"raw_excerpts":[{excerpts}],"fact_changes":[{changes}],'
        f'"suggestion":{_quoted(candidate.suggestion)},"review_status":"pending"}}'
    )


def normalized_line(doc_id: str, text: str) -> str:
    """One line of ``normalized.jsonl``."""
    return f'{{"doc_id":{_quoted(doc_id)},"normalized":{_quoted(text)}}}'


def _change(change: FactChange) -> str:
    return (
        f'{{"kind":"{change.kind}","left":{_text(change.left)},"right":{_text(change.right)},'
        f'"left_start":{_number(change.left_start)},"right_start":{_number(change.right_start)}}}'
    )


def _excerpt(excerpt: Excerpt, raw: str) -> str:
    start, length = excerpt.left_start, excerpt.left_end - excerpt.left_start
    text = _quoted(raw[start : start + min(length, EXCERPT_LIMIT)])
    whole = f',"length":{length}' if length > EXCERPT_LIMIT else ""
    return f'{{"text":{text},"left_start":{start},"right_start":{excerpt.right_start}{whole}}}'


def _text(value: str | None) -> str:
    return "null" if value is None else _quoted(value)


def _number(value: float | int | None) -> str:
    return "null" if value is None else repr(value)


@lru_cache(maxsize=1024)
def _names(channels: tuple[str, ...]) -> str:
    return "[" + ",".join(_quoted(name) for name in channels) + "]"
