"""The fragment report of a chosen set of texts: every shared or repeated passage, with all its documents and raw places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from screening.cells import csv_lines
from screening.documents import InputDocument
from screening.evidence.excerpts import SENTENCE_ENDS
from screening.repeats import Ints, Repeats, find_repeats
from screening.text.normalise import NormaliseOptions, normalise_many, raw_span
from screening.writing import write_lines

LEAST = 100
"""Normalised characters from which a repeat is reported unless another length is asked for."""

MOST_CHARACTERS = 500_000_000
"""Characters of a set: the suffix array takes about 30 bytes for each."""

SHOWN = 200
"""Characters of a fragment's text in the table for people; the lines for programs have all of it."""

HEADER = ("fragment", "length", "documents", "places", "doc_id", "title", "start", "end", "text")


class FragmentsError(ValueError):
    """A set of texts of which no fragments can be listed; ``template`` is the translation key, ``params`` fill it."""

    def __init__(self, template: str, **params: object) -> None:
        self.template = template
        self.params = params
        super().__init__(template % params)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fragment stands: a document (index as given) and its raw code points [start, end)."""

    document: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fragment:
    """One repeat of ``length`` normalised characters at ``places``, by document and place; in ``documents`` documents."""

    length: int
    documents: int
    places: tuple[Place, ...]


def find_fragments(
    documents: Sequence[InputDocument],
    *,
    least: int = LEAST,
    merged: bool = True,
    options: NormaliseOptions | None = None,
) -> list[Fragment]:
    """Every repeat of at least ``least`` normalised characters, longest first; none crosses from one text into another.

    Repeats are exact in the normalised text and maximal; ``merged`` as in :func:`screening.repeats.find_repeats`. A
    text that several documents have whole is a fragment of theirs. Raises FragmentsError for a length below 1 or a
    set too large.
    """
    if least < 1:
        raise FragmentsError("A fragment has at least one character.")
    points, offsets, bounds = normalise_many(
        [d.raw for d in documents], options or NormaliseOptions()
    )
    if len(points) > MOST_CHARACTERS:
        raise FragmentsError(
            "The texts have %(count)s characters; fragments are listed of at most %(most)s. Choose fewer.",
            count=len(points),
            most=MOST_CHARACTERS,
        )
    members, rows = _distinct(points, bounds)
    first = [group[0] for group in members]
    text_bounds = np.concatenate(([0], np.cumsum([bounds[d + 1] - bounds[d] for d in first])))
    texts = np.concatenate([np.empty(0, dtype=np.uint32), *rows])
    found = find_repeats(texts, text_bounds.astype(np.int64), least, merged=merged)

    def place(document: int, at: int, length: int) -> Place:
        raw, own = documents[document].raw, offsets[bounds[document] : bounds[document + 1]]
        return Place(document, *raw_span(raw, own, at, at + length))

    fragments = [
        _fragment([place(d, at, length) for t, at in places for d in members[t]], length)
        for length, places in _placed(found, text_bounds)
    ]
    for t, (lo, hi) in enumerate(pairwise(text_bounds.tolist())):
        if len(members[t]) > 1 and hi - lo >= least and found.longest[lo] < hi - lo:
            fragments.append(_fragment([place(d, 0, hi - lo) for d in members[t]], hi - lo))
    order = {
        d: n for n, d in enumerate(sorted(range(len(documents)), key=lambda i: documents[i].key))
    }
    fragments = [
        Fragment(
            f.length,
            f.documents,
            tuple(
                sorted(
                    _to_sentence_end(documents, f.places),
                    key=lambda p: (order[p.document], p.start),
                )
            ),
        )
        for f in fragments
    ]
    fragments.sort(key=lambda f: (-f.length, order[f.places[0].document], f.places[0].start))
    return fragments


def _to_sentence_end(
    documents: Sequence[InputDocument], places: Sequence[Place]
) -> Sequence[Place]:
    """The places with the sentence end that all raw texts have right behind them, where they have one."""
    behind = {documents[p.document].raw[p.end : p.end + 1] for p in places}
    if len(behind) > 1 or not behind <= SENTENCE_ENDS:
        return places
    return [replace(p, end=p.end + 1) for p in places]


def _distinct(points: Any, bounds: Ints) -> tuple[list[list[int]], list[Any]]:
    """Documents by equal normalised text (without the empty), and the text of each group."""
    groups: dict[bytes, list[int]] = {}
    for d, (lo, hi) in enumerate(pairwise(bounds.tolist())):
        if hi > lo:
            groups.setdefault(points[lo:hi].tobytes(), []).append(d)
    return list(groups.values()), [np.frombuffer(text, dtype=np.uint32) for text in groups]


def _placed(found: Repeats, bounds: Ints) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Each repeat's length and its places as (text, place within it)."""
    texts = np.searchsorted(bounds, found.places, side="right") - 1
    inner = (found.places - bounds[texts]).tolist() if len(texts) else []
    numbers = texts.tolist()
    for r, length in enumerate(found.lengths.tolist()):
        lo, hi = int(found.bounds[r]), int(found.bounds[r + 1])
        yield length, list(zip(numbers[lo:hi], inner[lo:hi], strict=True))


def _fragment(places: list[Place], length: int) -> Fragment:
    return Fragment(length, len({p.document for p in places}), tuple(places))


def write_fragments(
    out: Path, documents: Sequence[InputDocument], fragments: Sequence[Fragment]
) -> None:
    """Write ``fragments.jsonl`` (one fragment a line) and ``fragments.csv`` (one place a row) into a folder."""
    write_lines(out / "fragments.jsonl", _lines(documents, fragments))
    write_lines(out / "fragments.csv", csv_lines(HEADER, _rows(documents, fragments)))


def text_of(documents: Sequence[InputDocument], fragment: Fragment) -> str:
    """The fragment as it stands at its first place."""
    place = fragment.places[0]
    return documents[place.document].raw[place.start : place.end]


def _lines(documents: Sequence[InputDocument], fragments: Sequence[Fragment]) -> Iterator[str]:
    for number, fragment in enumerate(fragments, 1):
        line = {
            "fragment": number,
            "length": fragment.length,
            "documents": fragment.documents,
            "text": text_of(documents, fragment),
            "places": [
                {"doc_id": documents[p.document].doc_id, "start": p.start, "end": p.end}
                for p in fragment.places
            ],
        }
        yield json.dumps(line, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")


def _rows(
    documents: Sequence[InputDocument], fragments: Sequence[Fragment]
) -> Iterator[tuple[object, ...]]:
    for number, fragment in enumerate(fragments, 1):
        text = " ".join(text_of(documents, fragment).split())
        shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        head = (number, fragment.length, fragment.documents, len(fragment.places))
        for p in fragment.places:
            document = documents[p.document]
            yield (*head, document.doc_id, document.title, p.start, p.end, shown)
