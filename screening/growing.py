"""A grown collection: what earlier runs kept of its texts is taken over, only the rest is computed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from screening.channels import Pairs, join, no_pairs
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.store import PARTS, Part, Store
from screening.text.corpus import Corpus, Ints, Tick, assemble, bounds_of, key_order, pack

if TYPE_CHECKING:
    from screening.matching import Matcher

DIGEST = 32

MOST = 500_000_000
"""Characters of a collection beyond which nothing is kept: they would take 4 GB on disk."""

Array = NDArray[Any]


@dataclass(slots=True)
class Kept:
    """What earlier runs kept under one fingerprint. Texts ("classes") are numbered over all parts, in their order.

    ``row_of`` finds a raw text by its SHA-256 in hex; row r's normalised characters have their raw offsets in
    ``offsets[row_part[r]][row_start[r]:][:row_length[r]]`` and are class ``row_class[r]`` (-1: nothing to compare).
    Class c is ``points[class_part[c]][class_start[c]:][:class_length[c]]``; ``changed[c]``: script folding changes it.
    ``pairs`` (rising) are pairs of classes whose ``scores`` (shared, size of low, size of high) and ``folded``
    Jaccard are known.
    """

    generation: int
    parts: Sequence[Part]
    row_of: dict[str, int]
    row_part: Ints
    row_start: Ints
    row_length: Ints
    row_class: Ints
    class_part: Ints
    class_start: Ints
    class_length: Ints
    digests: NDArray[np.uint8]
    changed: NDArray[np.bool_]
    pairs: Pairs
    scores: Ints
    folded: NDArray[np.float64]

    @classmethod
    def of(cls, generation: int, parts: Sequence[Part]) -> Kept:
        """The parts of one generation as one."""
        keys = np.concatenate([_no_digests(), *(p["row_keys"] for p in parts)])
        pairs = np.concatenate([no_pairs(), *(p["pairs"] for p in parts)])
        rising = np.argsort(pairs, kind="stable")
        scores = np.concatenate([np.empty((0, 3), dtype=np.int64), *(p["scores"] for p in parts)])
        return cls(
            generation,
            parts,
            {key: row for row, key in enumerate(_hex(keys))},
            *_places([p["row_lengths"] for p in parts]),
            _joined([p["row_classes"] for p in parts]),
            *_places([p["class_lengths"] for p in parts]),
            np.concatenate([_no_digests(), *(p["class_digests"] for p in parts)]),
            _joined([p["changed"] for p in parts]).astype(bool),
            pairs[rising],
            scores[rising],
            np.concatenate([np.empty(0), *(p["folded"] for p in parts)])[rising],
        )

    def rows(self, documents: Sequence[InputDocument]) -> Ints:
        """The rows of these raw texts, -1 where they are new."""
        find = self.row_of.get
        keys = [d.raw_sha256 or raw_key(d) for d in documents]
        return np.array([find(key, -1) for key in keys], dtype=np.int64)

    def signatures(self, k: int) -> tuple[NDArray[np.uint32], Ints, Ints]:
        """All stored signatures for ``k``, and of each class the row of its text and of its folded text (-1: none)."""
        stored = [p[f"signatures_{k}"] for p in self.parts]
        rows = stored[0] if len(stored) == 1 else np.concatenate(stored)
        plain, folded, first = [], [], 0
        for part in self.parts:
            changed = part["changed"].astype(bool)
            plain.append(first + np.arange(len(changed)))
            places = np.full(len(changed), -1, dtype=np.int64)
            places[changed] = first + len(changed) + np.arange(int(changed.sum()))
            folded.append(places)
            first += len(part[f"signatures_{k}"])
        return rows, _joined(plain), _joined(folded)


def kept_of(store: Store | None, config: ScreeningConfig) -> Kept | None:
    """What ``store`` holds under the rules of ``config``; None where nothing may be taken over.

    Words need the tokens of all texts, and rules of strata depend on more than the text.
    """
    plain = config.unit == "char" and not any(s.keep for s in config.strata)
    if store is None or not plain or "minhash" not in config.channels:
        return None
    return Kept.of(*store.load(config.fingerprint))


def pack_grown(
    documents: Sequence[InputDocument],
    config: ScreeningConfig,
    kept: Kept,
    *,
    threads: int,
    tick: Tick,
) -> Corpus:
    """What :func:`screening.text.corpus.pack` gives, with only the texts normalised that ``kept`` has not."""
    order = key_order(documents)
    ordered = [documents[i] for i in order]
    rows = kept.rows(ordered)
    new = np.flatnonzero(rows < 0)
    options = config.normalise_options
    fresh = pack(
        [ordered[i] for i in new], lambda _: options, folding=False, threads=threads, tick=tick
    )
    tick(len(ordered), len(ordered))
    known = rows >= 0
    classes = np.full(len(ordered), -1, dtype=np.int64)
    classes[known] = kept.row_class[rows[known]]
    numbers = _numbers(fresh, kept)
    has_text = fresh.class_of >= 0
    classes[new[has_text]] = numbers[fresh.class_of[has_text]]
    class_of, used = _by_first(classes)
    old = used < len(kept.class_length)
    own = np.full(int(numbers.max(initial=-1)) + 1, -1, dtype=np.int64)
    own[numbers] = np.arange(len(numbers))
    last = len(kept.parts)
    digests = np.empty((len(used), DIGEST), dtype=np.uint8)
    digests[old] = kept.digests[used[old]]
    digests[~old] = as_digests(fresh.digests)[own[used[~old]]]
    part, start, length = (np.full(len(used), last, dtype=np.int64) for _ in range(3))
    part[old], part[~old] = kept.class_part[used[old]], last
    start[old], start[~old] = kept.class_start[used[old]], fresh.bounds[own[used[~old]]]
    length[old], length[~old] = kept.class_length[used[old]], fresh.lengths[own[used[~old]]]
    points = gathered([*(p["points"] for p in kept.parts), fresh.points], part, start, length)
    part, start, doc_length = (np.full(len(ordered), last, dtype=np.int64) for _ in range(3))
    part[known], start[known] = kept.row_part[rows[known]], kept.row_start[rows[known]]
    doc_length[known] = kept.row_length[rows[known]]
    start[new], doc_length[new] = fresh.doc_bounds[:-1], np.diff(fresh.doc_bounds)
    offsets = [*(p["offsets"] for p in kept.parts), fresh.offsets]
    return assemble(
        ordered,
        order,
        gathered(offsets, part, start, doc_length),
        doc_length,
        class_of,
        points,
        length,
        digests_of(digests),
        folding=config.fold_script,
        kept_row=rows,
        kept_class=np.where(old, used, -1),
    )


def raw_key(document: InputDocument) -> str:
    """SHA-256 of a raw text in hex; that on record where there is one."""
    if document.raw_sha256:
        return document.raw_sha256
    return hashlib.sha256(document.raw.encode("utf-8", "surrogatepass")).hexdigest()


def _numbers(fresh: Corpus, kept: Kept) -> Ints:
    """For each newly normalised text its class among those kept, or a number behind them."""
    if not fresh.size:
        return np.empty(0, dtype=np.int64)
    known = {digest: c for c, digest in enumerate(digests_of(kept.digests))}
    count = len(known)
    return np.array(
        [known.get(d, count + n) for n, d in enumerate(fresh.digests)], dtype=np.int64
    )


def _by_first(classes: Ints) -> tuple[NDArray[np.int32], Ints]:
    """Classes numbered anew by their first document, and for each new number the one it had."""
    present = np.flatnonzero(classes >= 0)
    values, first, inverse = np.unique(classes[present], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    class_of = np.full(len(classes), -1, dtype=np.int32)
    class_of[present] = rank[inverse]
    return class_of, values[order]


def gathered(buffers: Sequence[Array], part: Ints, start: Ints, length: Ints) -> Array:
    """``buffers[part[i]][start[i]:][:length[i]]`` for every i, end to end; neighbours are copied together."""
    out = np.empty(int(length.sum()), dtype=buffers[-1].dtype)
    if not len(part):
        return out
    apart = (part[1:] != part[:-1]) | (start[1:] != start[:-1] + length[:-1])
    firsts = np.concatenate((np.zeros(1, dtype=np.int64), np.flatnonzero(apart) + 1))
    sizes = np.add.reduceat(length, firsts)
    at = 0
    for which, begin, size in zip(
        part[firsts].tolist(), start[firsts].tolist(), sizes.tolist(), strict=True
    ):
        out[at : at + size] = buffers[which][begin : begin + size]
        at += size
    return out


def keep(
    store: Store, config: ScreeningConfig, kept: Kept, corpus: Corpus, matcher: Matcher
) -> None:
    """Add to the store what this run found out; everything anew once there are many parts or much is out of use."""
    if len(corpus.offsets) > MOST:
        return
    rows = corpus.kept_row.copy() if kept.parts else np.full(len(corpus.documents), -1)
    added = False
    if len(kept.parts) < PARTS and not _mostly_gone(kept, rows):
        part = _part(corpus, matcher, rows, kept)
        if not len(part["row_keys"]) and not len(part["pairs"]):
            return
        added = store.add(config.fingerprint, kept.generation, len(kept.parts), part)
    if not added:
        rows[:] = -1
        everything = _part(corpus, matcher, rows, Kept.of(0, []))
        store.replace(config.fingerprint, kept.generation, everything)
    store.prune(config.fingerprint)


def _mostly_gone(kept: Kept, rows: Ints) -> bool:
    """Whether less than half of what is kept belongs to documents of this run."""
    return len(kept.row_class) > 1000 and 2 * len(np.unique(rows[rows >= 0])) < len(kept.row_class)


def _part(corpus: Corpus, matcher: Matcher, rows: Ints, kept: Kept) -> Part:
    """What is not in ``kept`` yet: ``rows`` are the documents' rows there, -1 where they have none."""
    numbers = corpus.kept_class.copy() if kept.parts else np.full(corpus.size, -1, dtype=np.int64)
    classes = np.flatnonzero(numbers < 0)
    numbers[classes] = len(kept.class_length) + np.arange(len(classes))
    keys: dict[str, int] = {}
    for d in np.flatnonzero(rows < 0).tolist():
        keys.setdefault(raw_key(corpus.documents[d]), d)
    docs = np.fromiter(keys.values(), dtype=np.int64, count=len(keys))
    lengths = corpus.doc_bounds[docs + 1] - corpus.doc_bounds[docs]
    class_of = corpus.class_of[docs].astype(np.int64)
    zeros = np.zeros(len(docs), dtype=np.int64)
    part: dict[str, Array] = {
        "row_keys": as_digests([bytes.fromhex(key) for key in keys]),
        "row_lengths": lengths,
        "offsets": gathered([corpus.offsets], zeros, corpus.doc_bounds[docs], lengths),
        "row_classes": np.where(class_of >= 0, numbers[class_of], -1),
        "class_lengths": corpus.lengths[classes],
        "points": gathered(
            [corpus.points],
            np.zeros(len(classes), dtype=np.int64),
            corpus.bounds[classes],
            corpus.lengths[classes],
        ),
        "class_digests": as_digests([corpus.digests[c] for c in classes]),
        "changed": corpus.changed[classes],
    }
    entries = np.concatenate((classes, matcher.folded_entry[classes[corpus.changed[classes]]]))
    for k, signed in zip(matcher.ks, matcher.rows, strict=True):
        part[f"signatures_{k}"] = signed[entries]
    return part | _scored(matcher, numbers, kept)


def _scored(matcher: Matcher, numbers: Ints, kept: Kept) -> dict[str, Array]:
    """The scores of the pairs that are not kept yet, under the numbers of their classes."""
    low, high, shared, sizes, folded = matcher.scored
    a, b = numbers[low], numbers[high]
    turned = a > b
    pairs = join(np.where(turned, b, a), np.where(turned, a, b))
    scores = np.stack(
        (shared, np.where(turned, sizes[1], sizes[0]), np.where(turned, sizes[0], sizes[1])), axis=1
    )
    new = ~np.isin(pairs, kept.pairs)
    return {"pairs": pairs[new], "scores": scores[new], "folded": folded[new]}


def known_scores(
    kept: Kept, low: Ints, high: Ints
) -> tuple[NDArray[np.int64], Ints, Ints, NDArray[np.float64]]:
    """Of pairs of kept classes (-1: not kept) those that are scored: their places, shared, sizes (2, n), folded."""
    both = np.flatnonzero((low >= 0) & (high >= 0))
    a, b = low[both], high[both]
    turned = a > b
    pairs = join(np.where(turned, b, a), np.where(turned, a, b))
    at = np.searchsorted(kept.pairs, pairs)
    there = at < len(kept.pairs)
    there[there] = kept.pairs[at[there]] == pairs[there]
    at, turned = at[there], turned[there]
    scores = kept.scores[at]
    sizes = np.stack(
        (np.where(turned, scores[:, 2], scores[:, 1]), np.where(turned, scores[:, 1], scores[:, 2]))
    )
    return both[there], scores[:, 0], sizes, kept.folded[at]


def _places(lengths: Sequence[Array]) -> tuple[Ints, Ints, Ints]:
    """For items of these lengths in several parts: the part of each, where it starts in its part, its length."""
    part = _joined([np.full(len(some), number) for number, some in enumerate(lengths)])
    start = _joined([bounds_of(some)[:-1] for some in lengths])
    return part, start, _joined(lengths)


def _joined(arrays: Sequence[Array]) -> Ints:
    joined: Ints = np.concatenate([np.empty(0, dtype=np.int64), *arrays])
    return joined


def _no_digests() -> NDArray[np.uint8]:
    return np.empty((0, DIGEST), dtype=np.uint8)


def as_digests(values: Sequence[bytes]) -> NDArray[np.uint8]:
    """Digests as rows of bytes."""
    return np.frombuffer(b"".join(values), dtype=np.uint8).reshape(-1, DIGEST)


def _hex(rows: NDArray[np.uint8]) -> list[str]:
    """Rows of bytes as digests in hex."""
    text = rows.tobytes().hex()
    return [text[at : at + 2 * DIGEST] for at in range(0, len(text), 2 * DIGEST)]


def digests_of(rows: NDArray[np.uint8]) -> list[bytes]:
    """Rows of bytes as digests."""
    data = rows.tobytes()
    return [data[at : at + DIGEST] for at in range(0, len(data), DIGEST)]


