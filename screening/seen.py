"""A stream of texts against one file: was this text, were these paragraphs, was something like it seen before?

Answers carry a stated share of wrong yeses and name nobody: a filter keeps bits, not texts, so that it can say "seen" but
never by whom. No pair ever comes from here.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.bloom import ERROR, HASHES, BloomFilter, Keys, bits_for, keys_of
from screening.config import SHINGLE_HASH, ScreeningConfig
from screening.documents import InputDocument
from screening.text.normalise import NormaliseOptions, normalise_many
from screening.text.shingles import PACKED_K, shingle, sign

CAPACITY = 1_000_000
"""Texts that a new filter is made for."""

PARAGRAPHS = 16
"""Paragraphs that a filter has room for, for each text."""

LEAST_PARAGRAPH = 20
"""Normalised characters from which a paragraph counts: shorter ones are headings, dates and signatures."""

BATCH = 512

MAGIC = b"dedupreview seen 1\n"


class SeenError(ValueError):
    """A filter that cannot be read, made or added to; ``template`` is the translation key, ``params`` fill it."""

    def __init__(self, template: str, **params: object) -> None:
        self.template = template
        self.params = params
        super().__init__(template % params)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a filter knows of one text.

    ``seen``: the same normalised text; None where there is no letter or digit. ``paragraphs`` counts those of 20
    normalised characters or more, ``seen_paragraphs`` those of them that were there before. ``like``: a text that shares a
    band of MinHash values, None where the filter keeps none or the text is shorter than k.
    """

    doc_id: str
    seen: bool | None
    paragraphs: int
    seen_paragraphs: int
    like: bool | None


@dataclass(slots=True)
class SeenFilter:
    """Bloom filters of texts, of paragraphs and, with ``bands``, of the bands of MinHash signatures.

    The bands are those of datasketch's MinHashLSHBloom (Khan and others 2024, arXiv 2411.04257): one filter a band,
    "like" where any of them holds the text's values; each filter gets its part of the error, 1 - (1 - p)^(1 / bands).
    ``config`` decides normalisation, k, permutations and banding; it is part of the file and never changes.
    """

    config: ScreeningConfig
    texts: BloomFilter
    paragraphs: BloomFilter
    bands: list[BloomFilter] = field(default_factory=list)

    @classmethod
    def empty(
        cls,
        *,
        capacity: int = CAPACITY,
        error: float = ERROR,
        hashes: int = HASHES,
        like: bool = False,
        config: ScreeningConfig | None = None,
    ) -> SeenFilter:
        """A new filter for ``capacity`` texts and 16 times as many paragraphs. Raises SeenError."""
        config = config or ScreeningConfig()
        if capacity < 1 or not 0 < error < 1 or not 1 <= hashes <= 64:
            raise SeenError(
                "A filter is made for one text or more, an error between 0 and 1, and 1 to 64 hashes."
            )
        if bits_for(capacity, error, hashes) * PARAGRAPHS > 1 << 40:
            raise SeenError("A filter for so many texts would be larger than 128 GB.")
        bands = config.banding[0] if like else 0
        each = -np.expm1(np.log1p(-error) / bands) if bands else error
        return cls(
            config,
            BloomFilter.empty(capacity, error, hashes),
            BloomFilter.empty(capacity * PARAGRAPHS, error, hashes),
            [BloomFilter.empty(capacity, float(each), hashes) for _ in range(bands)],
        )

    def ask(
        self, documents: Iterator[InputDocument] | Sequence[InputDocument], *, add: bool
    ) -> Iterator[Seen]:
        """The answer for each text in turn; with ``add`` each is then remembered, so that later ones meet it.

        Raises SeenError before it would hold more than it was made for: beyond that the stated error is not kept.
        """
        stream = iter(documents)
        while batch := list(islice(stream, BATCH)):
            yield from self._ask(batch, add)

    def _ask(self, batch: list[InputDocument], add: bool) -> Iterator[Seen]:
        options = self.config.normalise_options
        points, _, bounds = normalise_many([d.raw for d in batch], options)
        with_text = np.diff(bounds) > 0
        seen = _answers(self.texts, _keys(points, bounds), with_text, add)
        owners, pieces, edges = _paragraphs(batch, options)
        held = _answers(
            self.paragraphs, _keys(pieces, edges), np.ones(len(owners), dtype=bool), add
        )
        total = np.bincount(owners, minlength=len(batch)).tolist()
        before = np.bincount(owners[held], minlength=len(batch)).tolist()
        like = self._like(points, bounds, add)
        for n, document in enumerate(batch):
            yield Seen(
                document.doc_id,
                bool(seen[n]) if with_text[n] else None,
                int(total[n]),
                int(before[n]),
                like[n],
            )

    def _like(self, points: NDArray[np.uint32], bounds: Any, add: bool) -> list[bool | None]:
        """Whether a text shares a band with one before it."""
        count = len(bounds) - 1
        if not self.bands:
            return [None] * count
        config = self.config
        present = np.diff(bounds) >= config.k
        shingles = shingle(points, bounds, config.k, packed=config.k <= PACKED_K)
        rows = sign(shingles, config.num_perm, config.seed, 1)
        _, width = config.banding
        found = np.zeros(count, dtype=bool)
        hashes = np.empty(count, dtype=np.uint64)
        for band, one in enumerate(self.bands):
            kernels.band_hashes(rows, band, width, hashes)
            keys = np.stack(
                (hashes, hashes * kernels.MULTIPLIER ^ (hashes >> np.uint64(29))), axis=1
            )
            found |= _answers(one, keys, present, add)
        return [bool(f) if p else None for f, p in zip(found, present, strict=True)]

    @property
    def error_now(self) -> float:
        """The share of wrong yeses for whole texts at the present filling."""
        return self.texts.error_now

    def save(self, path: Path) -> None:
        """Replace ``path`` by this filter, whole or not at all."""
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        with part.open("wb") as file:
            self._write(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    def _write(self, file: BinaryIO) -> None:
        filters = [self.texts, self.paragraphs, *self.bands]
        head = {
            "config": self.config.to_dict(),
            "rules": _rules(self.config),
            "filters": [[f.capacity, f.error, f.hashes, f.count, len(f.bits)] for f in filters],
        }
        digest = hashlib.sha256()
        for f in filters:
            digest.update(f.bits.astype("<u8").tobytes())
        head["sha256"] = digest.hexdigest()
        file.write(MAGIC + json.dumps(head, sort_keys=True).encode() + b"\n")
        for f in filters:
            file.write(f.bits.astype("<u8").tobytes())

    @classmethod
    def load(cls, path: Path) -> SeenFilter:
        """Read a filter. Raises SeenError for a damaged file, or one made under other rules; OSError."""
        with path.open("rb") as file:
            if file.readline(64) != MAGIC:
                raise SeenError("%(path)s is no filter of seen texts.", path=path)
            try:
                head = json.loads(file.readline(1 << 20))
                config = ScreeningConfig.from_dict(head["config"])
                filters = []
                digest = hashlib.sha256()
                for capacity, error, hashes, count, words in head["filters"]:
                    data = file.read(8 * words)
                    digest.update(data)
                    bits = np.frombuffer(data, dtype="<u8").astype(np.uint64)
                    filters.append(BloomFilter(capacity, error, hashes, bits, count))
                whole = digest.hexdigest() == head["sha256"] and len(filters) >= 2
                rules = head["rules"]
            except (ValueError, KeyError, TypeError) as error:
                raise SeenError("The filter %(path)s is damaged.", path=path) from error
        if not whole:
            raise SeenError("The filter %(path)s is damaged.", path=path)
        if rules != _rules(config):
            raise SeenError(
                "The filter %(path)s was made under other rules of comparing; start a new one.",
                path=path,
            )
        return cls(config, filters[0], filters[1], filters[2:])


def _rules(config: ScreeningConfig) -> dict[str, Any]:
    """What decides the keys of a text: a filter made under other rules would answer no to everything."""
    return {
        "unicode": unicodedata.unidata_version,
        "shingle_hash": SHINGLE_HASH,
        "keep": config.keep,
        "casefold": config.casefold,
        "least_paragraph": LEAST_PARAGRAPH,
    }


def _keys(points: NDArray[np.uint32], bounds: Any) -> Keys:
    edges = bounds.tolist()
    data = memoryview(points.astype("<u4", copy=False).tobytes())
    return keys_of(bytes(data[4 * lo : 4 * hi]) for lo, hi in pairwise(edges))


def _answers(
    one: BloomFilter, keys: Keys, present: NDArray[np.bool_], add: bool
) -> NDArray[np.bool_]:
    """The answers for the keys that are ``present``, no for the others."""
    some = keys[present]
    found = one.holds(some)
    if add:
        if one.count + len(some) - int(found.sum()) > one.capacity:
            raise SeenError(
                "The filter is full: it was made for %(capacity)s and holds %(count)s. Start a larger one.",
                capacity=one.capacity,
                count=one.count,
            )
        found = one.add(some)
    result = np.zeros(len(keys), dtype=bool)
    result[present] = found
    return result


def _paragraphs(
    batch: Sequence[InputDocument], options: NormaliseOptions
) -> tuple[NDArray[np.int64], NDArray[np.uint32], Any]:
    """The long enough lines of the texts, normalised: whose they are, their symbols, their bounds."""
    lines = [(n, line) for n, d in enumerate(batch) for line in d.raw.splitlines()]
    points, _, bounds = normalise_many([line for _, line in lines], options)
    lengths = np.diff(bounds)
    long = lengths >= LEAST_PARAGRAPH
    owners = np.array([n for n, _ in lines], dtype=np.int64)[long]
    kept = points[np.repeat(long, lengths)]
    return owners, kept, np.concatenate(([0], np.cumsum(lengths[long]))).astype(np.int64)
