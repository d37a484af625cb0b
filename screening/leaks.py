"""Which items of a reference set stand in the new texts, whole or in part, and where: the leak report of a run.

Channels find pairs that are worth a person's time; a test set needs an answer for every item. This looks up every window
of so many bytes of every item in every new text, exactly, so that any run of that length is found whatever is around it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from screening.cells import csv_lines
from screening.documents import InputDocument
from screening.kernels import kernel, mix64
from screening.text.normalise import NormaliseOptions, normalise_many, raw_span
from screening.writing import write_lines

if TYPE_CHECKING:
    from screening.result import ScreeningResult

FILES: tuple[str, ...] = ("leaks.csv", "leaks.jsonl")
"""The files that a run with references has beside the others."""

GRAM = 45
"""Bytes of normalised UTF-8 in a window: 15 Chinese characters, or 45 Latin letters."""

WHOLE = 0.9
"""Share of an item's characters under runs from which it counts as there whole: a page number may lie between its parts."""

PLACES = 64
"""Places of one window among the items that are followed from one place of a text; a bound for periodic texts."""

Verdict = Literal["whole", "part", "like", "none", "too_short", "empty"]

VERDICTS: tuple[Verdict, ...] = ("whole", "part", "like", "none", "too_short", "empty")

HEADER = (
    "item",
    "title",
    "verdict",
    "documents",
    "document",
    "covered",
    "ngram_overlap",
    "containment",
    "longest",
    "channels",
    "item_places",
    "document_places",
    "text",
)

PREFIX = "reference/"
"""Stands before the doc_id of every reference in the files of a run, whose subjects may have the same ids."""

Bytes = NDArray[np.uint8]


class LeaksError(ValueError):
    """A report that cannot be made; ``template`` is the translation key, ``params`` fill it."""

    def __init__(self, template: str, **params: object) -> None:
        self.template = template
        self.params = params
        super().__init__(template % params)


@dataclass(frozen=True, slots=True)
class Span:
    """A run that an item and a text share, in raw code points of either."""

    item_start: int
    item_end: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Leak:
    """One text in which an item stands.

    ``covered``: share of the item's normalised characters under shared runs. ``overlap``: share of its windows that stand in
    the text. ``containment``: share of its distinct k-shingles that the text has. ``longest``: normalised characters of
    the longest run. ``spans`` in the order of the item. ``channels`` of the run that found the pair too.
    """

    document: int
    covered: float
    overlap: float
    containment: float
    longest: int
    spans: tuple[Span, ...]
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemReport:
    """What became of one item: ``verdict``, and the texts in which it stands, the fullest first."""

    item: int
    verdict: Verdict
    leaks: tuple[Leak, ...]


@dataclass(slots=True)
class _Text:
    """A normalised text: its bytes, the character of each byte, characters, raw offsets."""

    data: Bytes
    char_of: NDArray[np.int64]
    points: NDArray[np.uint32]
    offsets: NDArray[np.int32]


def as_references(
    documents: Sequence[InputDocument], collection: str = "reference"
) -> list[InputDocument]:
    """The documents as texts to compare against, apart from subjects of the same ids."""
    return [
        replace(d, doc_id=PREFIX + d.doc_id, collection=collection, role="reference")
        for d in documents
    ]


def leak_report(
    documents: Sequence[InputDocument],
    *,
    gram: int = GRAM,
    k: int = 3,
    options: NormaliseOptions | None = None,
    found: Mapping[tuple[int, int], tuple[str, ...]] | None = None,
) -> list[ItemReport]:
    """A report for every document of role ``reference``, in their order, against all of role ``subject``.

    ``gram`` bytes a window, 8 to 4096; ``k`` characters a shingle of the containment. ``found``: channels by (reference,
    subject), as the run found them; a pair that only they found is reported as ``like``. Raises LeaksError.
    """
    if not 8 <= gram <= 4096:
        raise LeaksError("A window has 8 to 4096 bytes.")
    options = options or NormaliseOptions()
    items = [n for n, d in enumerate(documents) if d.role == "reference"]
    texts = [_text(documents[n].raw, options) for n in items]
    index = _Index.of(texts, gram)
    shingles = [_shingles(text.points, k) for text in texts]
    named: dict[int, dict[int, tuple[str, ...]]] = {}
    for (reference, subject), channels in (found or {}).items():
        named.setdefault(subject, {})[reference] = channels
    place = {n: i for i, n in enumerate(items)}
    leaks: list[list[Leak]] = [[] for _ in items]
    for number, document in enumerate(documents):
        if document.role != "subject":
            continue
        text = _text(document.raw, options)
        runs = index.runs(text.data)
        channels_of = {place[n]: c for n, c in named.get(number, {}).items()}
        involved = sorted({*runs, *channels_of})
        own = _shingles(text.points, k) if involved else np.empty(0, dtype=np.uint64)
        for i in involved:
            held = np.isin(shingles[i], own, assume_unique=True)
            containment = float(held.mean()) if len(held) else 0.0
            raws = (documents[items[i]].raw, document.raw)
            leak = _leak(texts[i], text, raws, runs.get(i, []), gram, number, containment)
            leaks[i].append(replace(leak, channels=channels_of.get(i, ())))
    return [_report(n, texts[i], leaks[i], gram) for i, n in enumerate(items)]


def _report(item: int, text: _Text, leaks: list[Leak], gram: int) -> ItemReport:
    ordered = tuple(sorted(leaks, key=lambda x: (-x.covered, -x.containment, x.document)))
    verdict: Verdict = "none"
    if not len(text.data):
        verdict = "empty"
    elif ordered and ordered[0].covered >= WHOLE:
        verdict = "whole"
    elif ordered and ordered[0].covered > 0:
        verdict = "part"
    elif ordered:
        verdict = "like"
    elif len(text.data) < gram:
        verdict = "too_short"
    return ItemReport(item, verdict, ordered)


def _text(raw: str, options: NormaliseOptions) -> _Text:
    points, offsets, _ = normalise_many([raw], options)
    encoded = points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")
    data = np.frombuffer(encoded.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    return _Text(data, np.cumsum((data & 0xC0) != 0x80, dtype=np.int64) - 1, points, offsets)


def _shingles(points: NDArray[np.uint32], k: int) -> NDArray[np.uint64]:
    """Distinct 64-bit hashes of the windows of k characters, rising."""
    count = len(points) - k + 1
    if count < 1:
        return np.empty(0, dtype=np.uint64)
    keys = np.zeros(count, dtype=np.uint64)
    for i in range(k):
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + points[i : i + count].astype(np.uint64)
    return np.unique(keys)


def _leak(
    item: _Text,
    text: _Text,
    raws: tuple[str, str],
    runs: list[tuple[int, int, int]],
    gram: int,
    document: int,
    containment: float,
) -> Leak:
    """What runs of bytes (place in the item, place in the text, length) come to in characters and raw places."""
    covered = np.zeros(len(item.points), dtype=bool)
    windows = np.zeros(max(0, len(item.data) - gram + 1), dtype=bool)
    spans, longest = [], 0
    for at, place, length in sorted(runs, key=lambda run: (-run[2], run[0], run[1])):
        windows[at : at + length - gram + 1] = True
        first, last = _whole(item, at, length)
        other, _ = _whole(text, place, length)
        if last <= first:
            continue
        fresh = not covered[first:last].all()
        covered[first:last] = True
        longest = max(longest, last - first)
        if fresh:  # the same part of the item again, at another place of the text, is no new part
            mine = raw_span(raws[0], item.offsets, first, last)
            theirs = raw_span(raws[1], text.offsets, other, other + last - first)
            spans.append(Span(*mine, *theirs))
    share = float(covered.mean()) if len(covered) else 0.0
    overlap = float(windows.mean()) if len(windows) else 0.0
    spans.sort(key=lambda s: (s.item_start, s.start))
    return Leak(document, share, overlap, containment, longest, tuple(spans), ())


def _whole(text: _Text, at: int, length: int) -> tuple[int, int]:
    """The characters that lie wholly within so many bytes: first and end."""
    first = int(text.char_of[at]) + (int(text.data[at]) & 0xC0 == 0x80)
    end = at + length
    cut = end < len(text.data) and int(text.data[end]) & 0xC0 == 0x80
    return first, int(text.char_of[end - 1]) + (0 if cut else 1)


@dataclass(slots=True)
class _Index:
    """The windows of all items, sorted by hash, and a table of bits that says no quickly."""

    gram: int
    data: Bytes
    bounds: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    places: NDArray[np.int64]
    table: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Sequence[_Text], gram: int) -> _Index:
        """Index every window of every text that is long enough."""
        lengths = [len(text.data) for text in texts]
        bounds = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        data = np.concatenate([np.empty(0, dtype=np.uint8), *(text.data for text in texts)])
        count = sum(max(0, length - gram + 1) for length in lengths)
        hashes = np.empty(count, dtype=np.uint64)
        places = np.empty(count, dtype=np.int64)
        at = 0
        for start, length in zip(bounds.tolist(), lengths, strict=False):
            many = max(0, length - gram + 1)
            if many:
                _window_hashes(data[start : start + length], gram, hashes[at : at + many])
                places[at : at + many] = np.arange(start, start + many)
                at += many
        order = np.lexsort((places, hashes))
        size = 1 << max(10, int(count * 16).bit_length())
        table = np.zeros(size, dtype=np.uint8)
        table[(hashes & np.uint64(size - 1)).astype(np.int64)] = 1
        return cls(gram, data, bounds, hashes[order], places[order], table)

    def runs(self, text: Bytes) -> dict[int, list[tuple[int, int, int]]]:
        """Maximal shared runs of a window or more, by item: (place in the item, place in the text, length)."""
        if len(text) < self.gram or not len(self.hashes):
            return {}
        own = np.empty(len(text) - self.gram + 1, dtype=np.uint64)
        _window_hashes(text, self.gram, own)
        out = np.empty((1024, 3), dtype=np.int64)
        arguments = (text, own, self.data, self.bounds, self.hashes, self.places, self.table)
        count = _find(*arguments, self.gram, PLACES, out)
        if count > len(out):
            out = np.empty((count, 3), dtype=np.int64)
            _find(*arguments, self.gram, PLACES, out)
        found: dict[int, list[tuple[int, int, int]]] = {}
        items = np.searchsorted(self.bounds, out[:count, 0], side="right") - 1
        for i, (at, place, length) in zip(items.tolist(), out[:count].tolist(), strict=True):
            found.setdefault(i, []).append((at - int(self.bounds[i]), place, length))
        return found


@kernel
def _window_hashes(data: Any, gram: int, out: Any) -> None:
    """A rolling 64-bit hash of every window of ``gram`` bytes; equality is always checked on the bytes."""
    base = np.uint64(0xD6E8FEB86659FD93)
    power = np.uint64(1)
    for _ in range(gram):
        power *= base
    h = np.uint64(0)
    for i in range(data.shape[0]):
        h = h * base + np.uint64(data[i]) + np.uint64(1)
        if i >= gram:
            h -= power * (np.uint64(data[i - gram]) + np.uint64(1))
        if i >= gram - 1:
            out[i - gram + 1] = mix64(h)


@kernel
def _find(
    text: Any,
    own: Any,
    data: Any,
    bounds: Any,
    hashes: Any,
    places: Any,
    table: Any,
    gram: int,
    most: int,
    out: Any,
) -> int:
    """Runs (place among the items, place in the text, length) that begin where they do on both sides; their number."""
    mask = np.uint64(table.shape[0] - 1)
    found = 0
    for i in range(own.shape[0]):
        h = own[i]
        if table[h & mask] == 0:
            continue
        at = np.searchsorted(hashes, h)
        followed = 0
        while at < hashes.shape[0] and hashes[at] == h and followed < most:
            p = places[at]
            at += 1
            followed += 1
            item = np.searchsorted(bounds, p, side="right") - 1
            start, end = bounds[item], bounds[item + 1]
            if i > 0 and p > start and text[i - 1] == data[p - 1]:
                continue  # part of a run that began earlier
            length = 0
            while (
                p + length < end
                and i + length < text.shape[0]
                and text[i + length] == data[p + length]
            ):
                length += 1
            if length >= gram:
                if found < out.shape[0]:
                    out[found, 0], out[found, 1], out[found, 2] = p, i, length
                found += 1
    return found


def report_of_run(result: ScreeningResult, documents: Sequence[InputDocument]) -> list[ItemReport]:
    """The report of a run over ``documents``, with the channels that found a pair beside what the windows found."""
    found: dict[tuple[int, int], tuple[str, ...]] = {}
    for c in result.candidates:
        if c.channels and documents[c.left].role != documents[c.right].role:
            left_first = documents[c.left].role == "reference"
            found[(c.left, c.right) if left_first else (c.right, c.left)] = c.channels
    config = result.config
    return leak_report(
        documents,
        gram=config.gram_bytes,
        k=config.k,
        options=config.normalise_options,
        found=found,
    )


def write_leaks(
    out: Path, documents: Sequence[InputDocument], reports: Sequence[ItemReport]
) -> None:
    """Write ``leaks.csv`` (one item a row, with its fullest text) and ``leaks.jsonl`` (all texts of every item)."""
    write_lines(out / "leaks.csv", csv_lines(HEADER, _rows(documents, reports)))
    write_lines(out / "leaks.jsonl", _lines(documents, reports))


def _rows(
    documents: Sequence[InputDocument], reports: Sequence[ItemReport]
) -> Iterator[tuple[object, ...]]:
    for report in reports:
        item = documents[report.item]
        head = (item.doc_id.removeprefix(PREFIX), item.title, report.verdict, len(report.leaks))
        if not report.leaks:
            yield (*head, "", "", "", "", "", "", "", "", "")
            continue
        best = report.leaks[0]
        document = documents[best.document]
        shown = (
            " ".join(document.raw[best.spans[0].start : best.spans[0].end].split())
            if best.spans
            else ""
        )
        yield (
            *head,
            document.doc_id,
            best.covered,
            best.overlap,
            best.containment,
            best.longest,
            " ".join(best.channels),
            " ".join(f"{s.item_start}-{s.item_end}" for s in best.spans),
            " ".join(f"{s.start}-{s.end}" for s in best.spans),
            shown[:200],
        )


def _lines(documents: Sequence[InputDocument], reports: Sequence[ItemReport]) -> Iterator[str]:
    for report in reports:
        line = {
            "item": documents[report.item].doc_id.removeprefix(PREFIX),
            "verdict": report.verdict,
            "leaks": [
                {
                    "document": documents[leak.document].doc_id,
                    "covered": leak.covered,
                    "ngram_overlap": leak.overlap,
                    "containment": leak.containment,
                    "longest": leak.longest,
                    "channels": list(leak.channels),
                    "places": [[s.item_start, s.item_end, s.start, s.end] for s in leak.spans],
                }
                for leak in report.leaks
            ],
        }
        yield json.dumps(line, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
