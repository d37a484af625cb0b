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
from screening.text.normalise import NormaliseOptions, raw_span
from screening.windows import WindowIndex, WindowText, whole_characters, window_text
from screening.writing import write_lines

if TYPE_CHECKING:
    from screening.result import ScreeningResult

FILES: tuple[str, ...] = ("leaks.csv", "leaks.jsonl")
"""The files that a run with references has beside the others."""

GRAM = 45
"""Bytes of normalised UTF-8 in a window: 15 Chinese characters, or 45 Latin letters."""

WHOLE = 0.9
"""Share of an item's characters under runs from which it counts as there whole: a page number may lie between its parts."""

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
    texts = [window_text(documents[n].raw, options) for n in items]
    index = WindowIndex.of(texts, gram)
    shingles = [_shingles(text.points, k) for text in texts]
    named: dict[int, dict[int, tuple[str, ...]]] = {}
    for (reference, subject), channels in (found or {}).items():
        named.setdefault(subject, {})[reference] = channels
    place = {n: i for i, n in enumerate(items)}
    leaks: list[list[Leak]] = [[] for _ in items]
    for number, document in enumerate(documents):
        if document.role != "subject":
            continue
        text = window_text(document.raw, options)
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


def _report(item: int, text: WindowText, leaks: list[Leak], gram: int) -> ItemReport:
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
    item: WindowText,
    text: WindowText,
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
        first, last = whole_characters(item, at, length)
        other, _ = whole_characters(text, place, length)
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


def read_leaks(folder: Path) -> list[dict[str, Any]]:
    """The lines of ``leaks.jsonl`` in a folder, as :func:`write_leaks` wrote them. Raises OSError."""
    with (folder / FILES[1]).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


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
