"""The channels beside the usual ones: near fingerprints, repeated lines, meaning, seen before; for the stages that all pairs go through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screening.channels import (
    Hits,
    Pairs,
    bloom,
    join,
    lines,
    no_pairs,
    semantic,
    simhash,
    templates,
)
from screening.config import ScreeningConfig
from screening.meaning import Model, load_model
from screening.text.corpus import Corpus, Ints

Report = Callable[[str, int, int], None]

PLAIN: dict[str, Callable[[Corpus, ScreeningConfig], Hits]] = {
    "bloom": lambda corpus, config: bloom.find(corpus.documents, config),
}
"""Channels that need nothing but the texts: each gives the pairs of texts for which its rule holds. Another goes in here."""

NAMES = ("simhash", "lines", "semantic", *PLAIN)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the fingerprints of a pair say: ``distance`` in bits, exact ``ratio`` of the texts (0 to 1), nearest windows.

    ``window`` is (left start, left end, right start, right end) in raw code points, with bits and ratio of the windows.
    """

    distance: int
    ratio: float
    window: tuple[int, int, int, int] | None = None
    window_distance: int | None = None
    window_ratio: float | None = None


@dataclass(slots=True)
class Beside:
    """What the channels beside the usual ones found. ``hits`` are proposed pairs of texts, ``kept`` those that hold."""

    near: simhash.Near | None = None
    repeated: lines.LinesFound | None = None
    model: Model | None = None
    forms: templates.Forms | None = None
    hits: dict[str, Hits] = field(default_factory=dict)
    kept: dict[str, Pairs] = field(default_factory=dict)

    def pairs(self) -> Pairs:
        """Every proposed pair of texts."""
        return _union(hits.pairs for hits in self.hits.values())

    def holding(self) -> Pairs:
        """Every pair of texts for which the rule of its channel holds."""
        return _union(self.kept.values())

    def flag(self, low: Ints, high: Ints, flags: NDArray[np.uint16], bits: Mapping[str, int]) -> None:
        """Mark the pairs that hold."""
        for name, pairs in self.kept.items():
            if not len(pairs):
                continue
            flags[np.isin(join(low, high), pairs)] |= bits[name]

    def record(self, manifest: dict[str, Any], corpus: Corpus, config: ScreeningConfig) -> None:
        """Write what was found beside pairs into the record of the run: fingerprints, repeated lines."""
        if self.near is not None:
            manifest["simhash"] = simhash.rules(config)
            for entry, c in zip(manifest["inputs"], corpus.class_of.tolist(), strict=True):
                entry["simhash"] = self.near.hex_of(c)
        if self.repeated is not None:
            manifest["repeated_lines"] = {
                "times": config.line_times,
                "share": self.repeated.share,
                "lines": [asdict(line) for line in self.repeated.repeated],
            }
        if self.forms is not None:
            manifest["template_library"] = self.forms.record()
        if self.model is not None:
            threshold = config.semantic_threshold or self.model.threshold
            manifest["semantic"] = {"model": self.model.identity, "threshold": threshold}


def _union(parts: Any) -> Pairs:
    return np.unique(np.concatenate([no_pairs(), *parts]))


def find(corpus: Corpus, config: ScreeningConfig, report: Report, threads: int) -> Beside:
    """Run those of :data:`NAMES` that the configuration asks for; ``report`` may raise to stop."""
    result = Beside()
    asked = [name for name in NAMES if name in config.channels]
    for number, name in enumerate(asked):
        report("approximate", number, len(asked))
        if name == "simhash":
            near = result.near = simhash.find(corpus, config, threads)
            result.hits[name], result.kept[name] = near.hits, near.kept
        elif name == "semantic":
            _by_meaning(result, corpus, config, report)
        elif name in PLAIN:
            hits = result.hits[name] = PLAIN[name](corpus, config)
            result.kept[name] = hits.pairs
        else:
            found = result.repeated = lines.find(
                corpus, times=config.line_times, least=config.line_least, cap=config.bucket_cap
            )
            pairs = lines.text_pairs(corpus, found.hits.pairs)
            result.hits[name] = Hits(pairs, found.hits.counts, found.hits.left_out)
            result.kept[name] = pairs
    return result


def _by_meaning(result: Beside, corpus: Corpus, config: ScreeningConfig, report: Report) -> None:
    result.model = load_model(config.semantic_model)
    hits = semantic.find(
        [corpus.documents[corpus.first(c)].raw for c in range(corpus.size)],
        result.model,
        threshold=config.semantic_threshold,
        tick=lambda done, total: report("semantic", done, total),
    )
    result.hits["semantic"], result.kept["semantic"] = hits, hits.pairs


def evidence_of(
    near: simhash.Near, corpus: Corpus, low: Ints, left: Ints, right: Ints, pair: Ints
) -> list[Evidence | None]:
    """The evidence of pairs of documents; None where a text has no fingerprint.

    ``pair`` are rows of the kept pairs of texts whose first text is ``low[pair]``, -1 where both documents have one text.
    """
    result: list[Evidence | None] = []
    classes = corpus.class_of
    where = dict(zip(near.window_pairs.tolist(), range(len(near.window_pairs)), strict=True))
    both = np.full(len(pair), -1, dtype=np.int64)
    inside = pair >= 0
    both[inside] = join(
        classes[left[inside]].astype(np.int64), classes[right[inside]].astype(np.int64)
    )
    for d, e, p, key in zip(left.tolist(), right.tolist(), pair.tolist(), both.tolist(), strict=True):
        if p < 0:
            result.append(Evidence(0, 1.0) if near.present[classes[d]] else None)
            continue
        if near.distance[p] < 0:
            result.append(None)
            continue
        window: tuple[Any, ...] = ()
        if key in where:
            row = near.windows[where[key]].tolist()
            spans = row[:4] if classes[d] == low[p] else [*row[2:4], *row[:2]]
            window = (_raw(corpus, d, e, *spans), row[4], row[5] / 1000)
        result.append(Evidence(int(near.distance[p]), float(near.ratio[p]), *window))
    return result


def _raw(
    corpus: Corpus, d: int, e: int, start: int, end: int, begin: int, close: int
) -> tuple[int, int, int, int]:
    """Places in two normalised texts as places in the raw ones."""
    here, there = (corpus.offsets[corpus.doc_bounds[x] :] for x in (d, e))
    return int(here[start]), int(here[end - 1]) + 1, int(there[begin]), int(there[close - 1]) + 1
