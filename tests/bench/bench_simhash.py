"""The SimHash channel: its guarantee, its speed beside the package ``simhash``, and what it and lines find, with fixed seeds.

    python tests/bench/bench_simhash.py [--only PART ...] [--shared FOLDER]

``proof`` compares the join with brute force on 20,000 fingerprints, bit counts of all 199,990,000 pairs by numpy.
``speed`` needs the package ``simhash`` for its ratio. ``public`` needs the shared sets. Ratios of CPU seconds in one process are the
figures to read.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from screening.channels import join, simhash, split  # noqa: E402
from screening.config import DEFAULT_CHANNELS, ScreeningConfig  # noqa: E402
from screening.documents import InputDocument  # noqa: E402
from screening.pipeline import screen  # noqa: E402
from screening.result import ScreeningResult  # noqa: E402
from screening.text.corpus import Corpus, pack  # noqa: E402
from screening.text.splitting import dictionary, split_texts  # noqa: E402
from screening.text.words import STOP_WORDS, tokens_of  # noqa: E402
from tests.bench.bench_screening import cpu, hold  # noqa: E402

CONFIG = ScreeningConfig()


def families(count: int, seed: int = 11) -> simhash.Values:
    """Fingerprints in families that drift up to eight bits at a time."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 1 << 63, count, dtype=np.uint64) * np.uint64(2)
    values += rng.integers(0, 2, count, dtype=np.uint64)
    for n in range(count):
        if n % 5:
            flipped = 0
            for bit in rng.choice(64, rng.integers(0, 9), replace=False).tolist():
                flipped |= 1 << bit
            values[n] = values[n - 1] ^ np.uint64(flipped)
    return values[rng.permutation(count)]


def brute(values: simhash.Values, distance: int) -> Any:
    """Every pair within the distance, by numpy's own count of bits."""
    parts = []
    for n in range(len(values) - 1):
        near = np.flatnonzero(np.bitwise_count(values[n + 1 :] ^ values[n]) <= distance)
        parts.append(join(np.full(len(near), n, dtype=np.int64), near + n + 1))
    return np.concatenate(parts)


def proof() -> None:
    """Recall of the join against brute force, for every distance and every number of matching blocks."""
    values = families(20_000)
    simhash.near_pairs(values[:50], 3)
    for distance in (3, 4, 5, 6):
        slow, expected = cpu(lambda d=distance: brute(values, d))
        planned = simhash.plan(len(values), distance)
        same = []
        for matched in (1, 2, 3, 4):
            shape = (distance + matched, matched)
            took, found = cpu(lambda d=distance, s=shape: simhash.near_pairs(values, d, s))
            same.append(bool(np.array_equal(found, expected)))
            mark = " (planned)" if shape == planned else ""
            print(f"  distance {distance}, {shape[0]} blocks of which {matched} alike: {took:.3f} s{mark}")
        print(f"distance {distance}: {len(expected)} pairs, brute force {slow:.2f} s")
        hold(f"join equals brute force at distance {distance}", all(same), "d", least=1)


def read(folder: Path) -> list[InputDocument]:
    """The public documents."""
    documents = []
    for line in (folder / "documents.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        raw = (folder / row["path"]).read_bytes().decode("utf-8")
        about = {"doc_number": row["doc_number"]}
        documents.append(InputDocument(row["doc_id"], raw, row["sha256"], metadata=about))
    return documents


def packed(documents: list[InputDocument]) -> Corpus:
    return pack(
        documents,
        lambda d: CONFIG.normalise_options,
        folding=True,
        threads=1,
        tick=lambda a, b: None,
    )


def speed() -> None:
    """Fingerprints of 2,000 texts of about 1,000 words: words given, then from the text."""
    rng = np.random.default_rng(5)
    listed = sorted(w for w, n in _frequencies() if n > 50 and 1 < len(w) < 5)
    weights = 1 / (rng.permutation(len(listed)) + 20.0)
    chosen = rng.choice(len(listed), (2000, 1000), p=weights / weights.sum())
    texts = ["".join(listed[w] for w in row) for row in chosen.tolist()]
    documents = [InputDocument(f"s{n:05d}", t, "0" * 64) for n, t in enumerate(texts)]
    corpus = packed(documents)
    split_texts(corpus.folded[: corpus.bounds[2]], corpus.bounds[:3], 1)
    took, places = cpu(lambda: split_texts(corpus.folded, corpus.bounds, 1))
    some = [corpus.folded_text(c) for c in range(100)]
    slow, words = cpu(lambda: [tokens_of(text, STOP_WORDS) for text in some])
    times = slow / 100 * len(texts) / took
    print(f"words: {len(texts) / took:,.0f} texts/s, {times:.0f} x jieba ({100 / slow:,.0f} texts/s)")
    weight = simhash.word_weights(places.vocabulary, STOP_WORDS, "frequency")
    first, last = places.bounds[:-1], places.bounds[1:]
    simhash.prints_of(places, weight, first[:2], last[:2], 1)
    took, (values, _) = min(
        (cpu(lambda: simhash.prints_of(places, weight, first, last, 1)) for _ in range(3)),
        key=lambda item: item[0],
    )
    print(f"fingerprints: {len(texts) / took:,.0f} texts/s, hashes of the words included")
    if importlib.util.find_spec("simhash") is None:
        print("package simhash: not installed, no ratio")
        return
    Simhash = importlib.import_module("simhash").Simhash
    peer, theirs = cpu(lambda: [Simhash(Counter(row)).value for row in words])
    hold("fingerprints equal to the package", theirs == values[:100].tolist(), "d", least=1)
    ratio = peer / 100 * len(texts) / took
    hold("fingerprints, times the package simhash", ratio, ".0f", least=50)


def _frequencies() -> list[tuple[str, int]]:
    import jieba

    dictionary()
    return list(jieba.dt.FREQ.items())


def public(folder: Path) -> None:
    """Each channel on the labelled pairs: recall by label, what no default channel finds, and its cost beside a default run."""
    documents = read(folder)
    rows = [json.loads(x) for x in (folder / "pairs.jsonl").read_text("utf-8").splitlines()]
    screen(documents[:20], ScreeningConfig(channels=(*DEFAULT_CHANNELS, "simhash", "lines")))
    cost, base = cpu(lambda: screen(documents, CONFIG, facts=False, threads=1))
    default = found(base, documents)
    print(f"default channels: {len(default)} pairs, {cost:.2f} s")
    settings: list[tuple[str, dict[str, Any]]] = [
        ("simhash", {}),
        ("simhash", {"simhash_weights": "tfidf"}),
        *(("simhash", {"simhash_distance": d}) for d in (3, 6)),
        ("lines", {}),
    ]
    for name, values in settings:
        alone = ScreeningConfig.from_dict({**values, "channels": [name]})
        took, result = cpu(lambda c=alone: screen(documents, c, facts=False, threads=1))
        pairs = found(result, documents)
        fresh = set(pairs) - set(default)
        both = ScreeningConfig.from_dict({**values, "channels": [*DEFAULT_CHANNELS, name]})
        more, _ = cpu(lambda c=both: screen(documents, c, facts=False, threads=1))
        print(f"{name} {values}: {len(pairs)} pairs, {took:.2f} s alone, {more - cost:+.2f} s beside the default")
        for label in ("copy", "revision", "citation", "template", "unrelated"):
            some = [frozenset((r["left"], r["right"])) for r in rows if r["label"] == label]
            hit = [pair for pair in some if pair in pairs]
            print(f"  {label}: {len(hit)}/{len(some)} = {len(hit) / len(some):.3f}, not by default {sum(p in fresh for p in hit)}")
        print(f"  pairs that no default channel finds: {len(fresh)}")


def found(result: ScreeningResult, documents: list[InputDocument]) -> set[frozenset[str]]:
    """The pairs of a result, by id."""
    ids = [documents[n].doc_id for n in result.corpus.order.tolist()]
    low, high = split(join(result.table.left, result.table.right))
    return {frozenset((ids[a], ids[b])) for a, b in zip(low.tolist(), high.tolist(), strict=True)}


def main() -> None:
    """Run every measurement that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--only", nargs="+", choices=["proof", "speed", "public"], default=["proof", "speed", "public"])
    args = parser.parse_args()
    folder = args.shared / "corpora" / "public"
    if "proof" in args.only:
        proof()
    if "speed" in args.only:
        speed()
    if "public" in args.only:
        if (folder / "documents.jsonl").is_file():
            public(folder)
        else:
            print("public: left out, the shared sets are not there (--shared)")


if __name__ == "__main__":
    main()
