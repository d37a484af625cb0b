"""Where the documents and pairs of a run went, as counts and ratios, and what was left out and why."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from screening.channels import Hits
from screening.config import ScreeningConfig
from screening.documents import InputDocument, Problem, Refusal
from screening.result import CHANNEL_BITS, LeftOut, PairTable
from screening.text.corpus import Corpus

ENGINE = "1"
"""Version of the rules of this engine; part of every run's record."""

LIBRARIES = ("datasketch", "numba", "numpy", "OpenCC", "jieba")


class Funnel:
    """Collects counts while a run goes through its stages."""

    def __init__(self, corpus: Corpus, refusals: Sequence[Refusal]) -> None:
        self._corpus = corpus
        self._channels: dict[str, dict[str, int]] = {}
        self.left_out: list[LeftOut] = []
        empty = np.flatnonzero(corpus.class_of < 0)
        if len(empty):
            keys = tuple(corpus.documents[d].key for d in empty.tolist())
            self.left_out.append(
                LeftOut(
                    Problem(
                        "no_comparable_content",
                        "%(count)s documents have no letter or digit to compare; they pair with nothing.",
                        {"count": len(empty)},
                    ),
                    keys,
                )
            )
        self._refused = len(refusals)

    def add(self, channel: str, hits: Hits, kept: int) -> None:
        """Record what a channel proposed and how much of it held."""
        self._channels[channel] = {**hits.counts, "candidates": len(hits.pairs), "kept": kept}
        self.left_out += [LeftOut(problem) for problem in hits.left_out]

    def large_products(self, count: int, cap: int) -> None:
        """Record pairs of large groups of equal texts that were joined through their first documents."""
        if count:
            self.left_out.append(
                LeftOut(
                    Problem(
                        "large_products",
                        "%(count)s pairs of groups of equal texts would give more than %(cap)s pairs each; "
                        "only the first document of either group was paired.",
                        {"count": count, "cap": cap},
                    )
                )
            )

    def close(self, table: PairTable) -> dict[str, Any]:
        """The funnel as plain JSON values: documents, channels, pairs by channel, source and language."""
        corpus = self._corpus
        total = len(corpus.documents)
        with_text = int((corpus.class_of >= 0).sum())
        proposed = sum(c["candidates"] for c in self._channels.values())
        paired = np.zeros(total, dtype=bool)
        paired[table.left] = True
        paired[table.right] = True
        return {
            "refused": self._refused,
            "documents": total,
            "with_text": with_text,
            "distinct_texts": corpus.size,
            "channels": self._channels,
            "proposed": proposed,
            "kept": len(table),
            "representatives": int(table.representative.sum()),
            "by_channel": {
                name: int((table.flags & bit > 0).sum())
                for name, bit in CHANNEL_BITS.items()
                if name in self._channels
            },
            "by_source": _by(corpus.documents, paired, "source_id"),
            "by_language": _by(corpus.documents, paired, "language"),
            "ratios": {
                "with_text": _share(with_text, total),
                "kept": _share(len(table), proposed),
                "asked": _share(int(table.representative.sum()), len(table)),
                "candidates_per_document": _share(len(table), total),
                "documents_in_pairs": _share(int(paired.sum()), total),
            },
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _by(
    documents: Sequence[InputDocument], paired: np.ndarray, field: str
) -> dict[str, dict[str, Any]]:
    """Documents and documents in pairs by source or language ('' where unknown)."""
    everywhere: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for document, hit in zip(documents, paired.tolist(), strict=True):
        value = (document.source_id if field == "source_id" else document.metadata.get(field)) or ""
        everywhere[value] += 1
        inside[value] += hit
    return {
        value: {"documents": n, "in_pairs": inside[value], "ratio": _share(inside[value], n)}
        for value, n in sorted(everywhere.items())
    }


def manifest(corpus: Corpus, config: ScreeningConfig) -> dict[str, Any]:
    """Configuration, fingerprint, versions and the inputs with their hashes, without times or places."""
    bands, rows = config.banding
    return {
        "engine": ENGINE,
        "config": config.to_dict(),
        "fingerprint": config.fingerprint,
        "signature_rules": config.signature_rules,
        "bands": bands,
        "rows": rows,
        "versions": {
            "python": ".".join(platform.python_version_tuple()[:2]),
            **{name: version(name) for name in LIBRARIES},
        },
        "inputs": [
            {"collection": d.collection, "doc_id": d.doc_id, "role": d.role, "sha256": d.sha256}
            for d in corpus.documents
        ],
    }
