"""All texts of a run packed into a few arrays, equal normalised texts only once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screening.documents import InputDocument
from screening.text.folding import fold
from screening.text.normalise import NormaliseOptions, from_code_points, normalise_many

Ints = NDArray[np.int64]
Tick = Callable[[int, int], None]

CHUNK = 4_000_000
"""Raw characters normalised at a time: bounds the memory of the raw code points and gives the threads work."""


@dataclass(slots=True)
class Corpus:
    """Documents in key order and their distinct texts ("classes", numbered by their first document).

    ``offsets[doc_bounds[d]:doc_bounds[d + 1]]`` maps document d's normalised characters to raw code points.
    ``class_of[d]`` is -1 for a document without any normalised character. Text of class c is
    ``points[bounds[c]:bounds[c + 1]]``, its documents ``members[member_bounds[c]:member_bounds[c + 1]]``;
    ``folded`` is ``points`` after script folding (the same array where nothing changes) and ``changed[c]`` tells
    whether folding changes the text. ``digests`` are SHA-256 of the distinct texts. ``is_subject`` tells of documents,
    ``has_subject`` of texts, whether they are (or belong to) subjects rather than references only. ``kept_row`` and ``kept_class``: the numbers of each
    document's raw text and of each text among those that earlier runs kept, -1 for a new one. ``lengths``: characters of each text.
    """

    documents: Sequence[InputDocument]
    order: Ints
    offsets: NDArray[np.int32]
    doc_bounds: Ints
    class_of: NDArray[np.int32]
    points: NDArray[np.uint32]
    bounds: Ints
    members: NDArray[np.int32]
    member_bounds: Ints
    folded: NDArray[np.uint32]
    changed: NDArray[np.bool_]
    digests: list[bytes]
    is_subject: NDArray[np.bool_]
    has_subject: NDArray[np.bool_]
    kept_row: Ints
    kept_class: Ints
    lengths: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.lengths = np.diff(self.bounds)

    @property
    def size(self) -> int:
        """Number of distinct texts."""
        return len(self.bounds) - 1

    def text(self, c: int) -> str:
        """The normalised text of class c."""
        return from_code_points(self.points[self.bounds[c] : self.bounds[c + 1]])

    def texts(self) -> Iterator[str]:
        """The normalised texts of all classes, decoded many at a time."""
        for first in range(0, self.size, 4096):
            edges = self.bounds[first : min(first + 4096, self.size) + 1]
            text = from_code_points(self.points[edges[0] : edges[-1]])
            places = (edges - edges[0]).tolist()
            yield from [text[start:end] for start, end in pairwise(places)]

    def folded_text(self, c: int) -> str:
        """The normalised text of class c after script folding."""
        return from_code_points(self.folded[self.bounds[c] : self.bounds[c + 1]])

    def first(self, c: int) -> int:
        """The first document (in key order) with text c."""
        return int(self.members[self.member_bounds[c]])


def key_order(documents: Sequence[InputDocument]) -> Ints:
    """Positions of the documents by (collection, doc_id), compared by code point."""
    keys: list[Any] = [document.key for document in documents]
    if len({collection for collection, _ in keys}) == 1:  # as most often; comparing pairs takes twice as long
        keys = [doc_id for _, doc_id in keys]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _chunks(
    documents: Sequence[InputDocument], options: list[NormaliseOptions]
) -> list[tuple[int, int]]:
    """Slices of neighbouring documents with the same options and about CHUNK raw characters."""
    slices: list[tuple[int, int]] = []
    start = size = 0
    for i, document in enumerate(documents):
        other = options[i] is not options[start] and options[i] != options[start]
        if i > start and (size > CHUNK or other):
            slices.append((start, i))
            start, size = i, 0
        size += len(document.raw)
    if documents:
        slices.append((start, len(documents)))
    return slices


def pack(
    documents: Sequence[InputDocument],
    options_of: Callable[[InputDocument], NormaliseOptions],
    *,
    folding: bool,
    threads: int,
    tick: Tick,
) -> Corpus:
    """Normalise the documents and gather their distinct texts; ``tick(done, total)`` after each slice."""
    order = key_order(documents)
    ordered = [documents[i] for i in order]
    options = [options_of(d) for d in ordered]
    slices = _chunks(ordered, options)
    for option in set(options):
        option.table()

    def work(piece: tuple[int, int]) -> tuple[NDArray[np.uint32], NDArray[np.int32], Ints]:
        lo, hi = piece
        return normalise_many([d.raw for d in ordered[lo:hi]], options[lo])

    points: list[NDArray[np.uint32]] = [np.empty(0, dtype=np.uint32)]
    offsets: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]
    doc_lengths: list[int] = []
    class_lengths: list[int] = []
    seen: dict[bytes, int] = {}
    class_of = np.full(len(ordered), -1, dtype=np.int32)
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for (lo, hi), (text, places, bounds) in zip(slices, pool.map(work, slices), strict=True):
            kept, kept_lengths = _distinct(text, bounds, lo, seen, class_of)
            points.append(kept)
            class_lengths += kept_lengths
            offsets.append(places)
            doc_lengths += np.diff(bounds).tolist()
            tick(hi, len(ordered))
    texts = np.concatenate(points)
    points.clear()
    return assemble(
        ordered,
        order,
        np.concatenate(offsets),
        doc_lengths,
        class_of,
        texts,
        class_lengths,
        list(seen),
        folding=folding,
    )


def assemble(
    documents: Sequence[InputDocument],
    order: Ints,
    offsets: NDArray[np.int32],
    doc_lengths: Sequence[int] | Ints,
    class_of: NDArray[np.int32],
    points: NDArray[np.uint32],
    class_lengths: Sequence[int] | Ints,
    digests: list[bytes],
    *,
    folding: bool,
    kept_row: Ints | None = None,
    kept_class: Ints | None = None,
) -> Corpus:
    """The corpus of documents in key order whose normalised texts are there; see :class:`Corpus` for the arrays."""
    count = len(digests)
    bounds = bounds_of(class_lengths)
    folded = fold(points) if folding else points
    is_subject = np.array([d.role == "subject" for d in documents], dtype=bool)
    has_subject = np.zeros(count, dtype=bool)
    has_subject[class_of[is_subject & (class_of >= 0)]] = True
    return Corpus(
        documents=documents,
        order=order,
        offsets=offsets,
        doc_bounds=bounds_of(doc_lengths),
        class_of=class_of,
        points=points,
        bounds=bounds,
        members=np.argsort(class_of, kind="stable")[int((class_of < 0).sum()) :].astype(np.int32),
        member_bounds=bounds_of(np.bincount(class_of[class_of >= 0], minlength=count)),
        folded=folded,
        changed=_changed(points, folded, bounds),
        digests=digests,
        is_subject=is_subject,
        has_subject=has_subject,
        kept_row=np.full(len(documents), -1) if kept_row is None else kept_row,
        kept_class=np.full(count, -1) if kept_class is None else kept_class,
    )


def _changed(
    points: NDArray[np.uint32], folded: NDArray[np.uint32], bounds: Ints
) -> NDArray[np.bool_]:
    """For each text whether folding changes it."""
    if folded is points:
        return np.zeros(len(bounds) - 1, dtype=bool)
    before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(points != folded)))
    changed: NDArray[np.bool_] = before[bounds[1:]] > before[bounds[:-1]]
    return changed


def _distinct(
    text: NDArray[np.uint32],
    bounds: Ints,
    first: int,
    seen: dict[bytes, int],
    class_of: NDArray[np.int32],
) -> tuple[NDArray[np.uint32], list[int]]:
    """Number the texts of a slice; return those not met before, end to end, and their lengths."""
    data = memoryview(text.tobytes())
    edges = bounds.tolist()
    fresh = np.zeros(len(edges) - 1, dtype=bool)
    for i in range(len(edges) - 1):
        start, end = edges[i], edges[i + 1]
        if end == start:
            continue
        digest = hashlib.sha256(data[4 * start : 4 * end]).digest()
        number = seen.get(digest)
        if number is None:
            number = seen[digest] = len(seen)
            fresh[i] = True
        class_of[first + i] = number
    lengths = np.diff(bounds)
    kept = text if fresh.all() else text[np.repeat(fresh, lengths)]
    return kept, lengths[fresh].tolist()


def bounds_of(lengths: Sequence[int] | Ints) -> Ints:
    """Where items of these lengths, laid end to end, begin and where the last one ends."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))
