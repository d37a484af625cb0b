"""Speed, growth, memory, increment and recall of the engine beside its peers, with fixed seeds, in one command.

    python tests/bench/bench_screening.py [--quick] [--only PART ...] [--shared FOLDER] [--scale FOLDER]

Each figure that the design holds to a number stands in a line of its own: what was measured, the number, kept or not.
Ratios of CPU seconds in one process, one thread each, are the figures to read; absolute times depend on the machine, and
those of the large run also on what else it does. ``--shared`` names the folder of the shared sets, without which the
public pairs and the large run are left out; ``--scale`` a folder with documents.jsonl for the large run, else it is made;
``--quick`` measures the slow prototype on a hundred documents.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from datasketch import MinHash, MinHashLSH  # noqa: E402
from rapidfuzz.distance import Indel  # noqa: E402

from screening import pipeline  # noqa: E402
from screening.config import ScreeningConfig  # noqa: E402
from screening.documents import InputDocument  # noqa: E402
from screening.lines import CandidateLines  # noqa: E402
from screening.pipeline import screen  # noqa: E402
from screening.store import Store  # noqa: E402
from screening.text.shingles import shingle_hash  # noqa: E402
from tests.bench import large_run  # noqa: E402

THRESHOLD = 0.5
JACCARD_ONLY = ScreeningConfig(channels=("exact", "minhash"), fold_script=False, exact_below=0)


def corpus(count: int, length: int = 2000, seed: int = 1) -> list[InputDocument]:
    """Sentences of common characters; every tenth document is an edited copy of the one before it."""
    rng = random.Random(seed)
    chars = [chr(c) for c in range(0x4E00, 0x4E00 + 2500)]
    weights = [1 / (n + 8) for n in range(len(chars))]
    texts: list[str] = []
    for number in range(count):
        if number % 10 == 9:
            text = list(texts[-1])
            for _ in range(len(text) // 60):
                text[rng.randrange(len(text))] = rng.choice(chars)
            texts.append("".join(text))
            continue
        size = max(60, int(rng.lognormvariate(0, 0.5) * length * 0.88))
        body = rng.choices(chars, weights, k=size)
        for at in range(24, size, 25):
            body[at] = "，。；"[at % 3]
        texts.append("".join(body))
    return [
        InputDocument(f"b{n:07d}", text, hashlib.sha256(text.encode()).hexdigest())
        for n, text in enumerate(texts)
    ]


def hold(
    what: str, measured: float, form: str, *, least: float | None = None, most: float | None = None
) -> None:
    """Print one figure beside the number it is held to."""
    kept = (least is None or measured >= least) and (most is None or measured <= most)
    number = f"at least {least:{form}}" if least is not None else f"at most {most:{form}}"
    print(f"HOLD {what}: {measured:{form}} ({number}): {'kept' if kept else 'NOT KEPT'}")


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of this process, and what the work gave."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


Pairs = set[tuple[int, int]]


def prototype(documents: Sequence[InputDocument]) -> Pairs:
    """As the article does it: Python normalisation, update() per shingle, MinHashLSH, sets, difflib excerpts."""
    texts = [
        "".join(c for c in unicodedata.normalize("NFKC", d.raw).casefold() if c.isalnum())
        for d in documents
    ]
    sets = [{t[i : i + 3] for i in range(len(t) - 2)} for t in texts]
    index = MinHashLSH(num_perm=128, threshold=THRESHOLD, weights=(0.2, 0.8))
    found: Pairs = set()
    for number, shingles in enumerate(sets):
        sketch = MinHash(num_perm=128)
        for shingle in shingles:
            sketch.update(shingle.encode())
        for other in index.query(sketch):
            if len(sets[other] & shingles) / len(sets[other] | shingles) >= THRESHOLD:
                found.add((other, number))
                difflib.SequenceMatcher(
                    None, texts[other], texts[number], autojunk=False
                ).get_matching_blocks()
        index.insert(number, sketch)
    return found


def tuned(documents: Sequence[InputDocument]) -> Pairs:
    """datasketch in bulk with a cheap hash, MinHashLSH, sets, and rapidfuzz for the excerpts."""
    import zlib

    texts = [
        "".join(filter(str.isalnum, unicodedata.normalize("NFKC", d.raw).casefold()))
        for d in documents
    ]
    sets = [{t[i : i + 3] for i in range(len(t) - 2)} for t in texts]
    index = MinHashLSH(num_perm=128, threshold=THRESHOLD, weights=(0.2, 0.8))
    found: Pairs = set()
    sketches = MinHash.bulk(
        [[s.encode() for s in shingles] for shingles in sets], num_perm=128, hashfunc=zlib.crc32
    )
    for number, (sketch, shingles) in enumerate(zip(sketches, sets, strict=True)):
        for other in index.query(sketch):
            if len(sets[other] & shingles) / len(sets[other] | shingles) >= THRESHOLD:
                found.add((other, number))
                Indel.opcodes(texts[other], texts[number])
        index.insert(number, sketch)
    return found


def engine(documents: Sequence[InputDocument]) -> Pairs:
    """This engine on the same work: normalise, sign, join, verify, excerpts of every pair."""
    result = screen(documents, JACCARD_ONLY, facts=False, threads=1)
    return {(c.left, c.right) for c in result.candidates}


def against_peers(quick: bool) -> None:
    """One thousand documents of about 2,000 characters, the same pairs from all."""
    documents = corpus(1000)
    engine(documents[:50])
    ours, pairs = min(cpu(lambda: engine(documents)) for _ in range(3))
    theirs, tuned_pairs = cpu(lambda: tuned(documents))
    some = documents[:100] if quick else documents
    slow, slow_pairs = cpu(lambda: prototype(some))
    slow *= len(documents) / len(some)
    planted = {(n - 1, n) for n in range(9, len(documents), 10)}
    print(
        f"1,000 documents: engine {ours:.3f} s, tuned datasketch + rapidfuzz {theirs:.2f} s = {theirs / ours:.1f} x"
    )
    print(
        f"  prototype {slow:.1f} s = {slow / ours:.0f} x{' (from 100 documents)' if quick else ''}"
    )
    print(
        f"  pairs: engine {len(pairs)}, tuned {len(tuned_pairs)}, same {pairs == tuned_pairs}, planted found {planted <= pairs}"
    )
    hold("times the prototype", slow / ours, ".0f", least=100)
    hold("times tuned datasketch + rapidfuzz", theirs / ours, ".1f", least=15)
    hold("same pairs as datasketch + rapidfuzz", pairs == tuned_pairs, "d", least=1)
    if not quick:
        print(f"  prototype finds the same: {slow_pairs == pairs}")


def signatures() -> None:
    """Documents a second, text to 128 values, beside the public text calls of the peers."""
    import numpy as np

    from screening.text.corpus import pack
    from screening.text.shingles import shingle, sign

    documents = corpus(300)
    packed = pack(
        documents,
        lambda d: JACCARD_ONLY.normalise_options,
        folding=False,
        threads=1,
        tick=lambda a, b: None,
    )
    texts = [packed.text(c) for c in range(packed.size)]
    tokens = [[t[i : i + 3] for i in range(len(t) - 2)] for t in texts]

    def ours() -> np.ndarray:
        return sign(shingle(packed.points, packed.bounds, 3, packed=True), 128, 1, 1)

    ours()
    best, rows = min((cpu(ours) for _ in range(5)), key=lambda item: item[0])
    line = f"signatures: engine {len(texts) / best:,.0f} documents/s"
    took, sketches = cpu(
        lambda: list(
            MinHash.bulk(tokens[:60], num_perm=128, hashfunc=shingle_hash, scheme="affine32")
        )
    )
    equal = all(np.array_equal(s.hashvalues, row) for s, row in zip(sketches, rows, strict=False))
    line += f"; bit-identical to datasketch: {equal}"
    took, _ = cpu(
        lambda: list(
            MinHash.bulk(
                [[t[i : i + 3].encode() for i in range(len(t) - 2)] for t in texts[:60]],
                num_perm=128,
            )
        )
    )
    line += f"; datasketch bulk {60 / took:,.0f} = {took / 60 * len(texts) / best:.0f} x"
    bulk = took / 60 * len(texts) / best
    ratios = []
    for name, work in peers(texts[:100]):
        took, _ = cpu(work)
        ratios.append(took / 100 * len(texts) / best)
        line += f"; {name} {100 / took:,.0f} = {ratios[-1]:.1f} x"
    print(line)
    hold("signatures equal to datasketch's", equal, "d", least=1)
    hold("signatures, times datasketch bulk", bulk, ".0f", least=50)
    if ratios:
        hold("signatures, times the fastest peer", min(ratios), ".1f", least=10)


def peers(texts: list[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The fastest peers that are installed, from text to signature through their public calls."""
    try:
        from rensa import RMinHash

        def rensa() -> None:
            for each in texts:
                sketch = RMinHash(num_perm=128, seed=1)
                sketch.update([each[i : i + 3] for i in range(len(each) - 2)])
                sketch.digest()

        yield "rensa", rensa
    except ImportError:
        pass
    try:
        from gaoya.minhash import MinHashStringIndex

        def gaoya() -> None:
            index = MinHashStringIndex(
                hash_size=32,
                jaccard_threshold=0.5,
                num_bands=32,
                band_size=4,
                analyzer="char",
                ngram_range=(3, 3),
            )
            for number, each in enumerate(texts):
                index.insert_document(number, each)

        yield "gaoya", gaoya
    except ImportError:
        pass


def growth() -> None:
    """Ten times the documents."""
    times = {}
    for count in (2_000, 20_000):
        documents = corpus(count, 500, seed=3)
        engine(documents[:50])
        times[count] = min(cpu(lambda d=documents: engine(d))[0] for _ in range(2))
    print(f"growth: 2,000 documents {times[2_000]:.2f} s, 20,000 {times[20_000]:.2f} s")
    hold("growth for 10 x the documents", times[20_000] / times[2_000], ".1f", most=12)


def increment() -> None:
    """One per cent more documents over what an earlier run kept: normalise, sign, join, verify, and keep again.

    The texts have their SHA-256 on record, as those of a collection have.
    """
    documents = [replace(d, raw_sha256=d.sha256) for d in corpus(10_100, 2000, seed=4)]
    random.Random(8).shuffle(documents)

    def once(some: Sequence[InputDocument], store: Store | None) -> tuple[float, str, int]:
        """CPU seconds until the pairs are scored, without those of the excerpts; what was found; texts signed."""
        scored: list[float] = []
        excerpts = 0.0
        measure_plainly = pipeline._measure

        def measure(*given: Any, **named: Any) -> Any:
            nonlocal excerpts
            took, texts = cpu(lambda: measure_plainly(*given, **named))
            excerpts += took
            return texts

        def tick(stage: str, _done: int, _total: int) -> None:
            if stage == "rank":
                scored.append(time.process_time())

        gc.collect()
        with mock.patch.object(pipeline, "_measure", measure):
            start = time.process_time()
            result = screen(
                some, JACCARD_ONLY, facts=False, threads=1, cache=store, progress=tick
            )
        lines = "".join(CandidateLines(result).of(0, len(result.candidates)))
        return scored[0] - start - excerpts, lines, result.matcher.signed

    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "first")
        once(documents[:10_000], Store(first))
        kept = sum(path.stat().st_size for path in first.rglob("*.part")) / 1e6
        fulls, increments = [], []
        for number in range(5):  # by turns, so that what else the machine does meets both
            copied = shutil.copytree(first, Path(folder, str(number)))
            fulls.append(once(documents, None))
            increments.append(once(documents, Store(copied)))
            shutil.rmtree(copied)
    full, took = min(f[0] for f in fulls), min(i[0] for i in increments)
    signed = {i[2] for i in increments}
    print(f"increment of 1 %: {took:.2f} s of {full:.2f} s; {signed} texts signed, {kept:.0f} MB kept")
    same = len({lines for _, lines, _ in fulls + increments}) == 1
    hold("increment equal to a fresh run", same, "d", least=1)
    hold("increment of 1 %, share of a full run", took / full, ".0%", most=0.15)


def degenerate() -> None:
    """Inputs that make naive engines explode."""
    cases = {
        "60 identical texts": ["改".join("造资金由区级统筹安排") * 4] * 60,
        "50,000 identical characters": ["哈" * 50_000, "哈" * 50_001],
        "periodic text": ["一二三四五六七" * 7_000, "四五六七一二三" * 7_000],
        "a line of 200,000 characters": [
            corpus(1, 200_000, 9)[0].raw,
            corpus(1, 200_000, 9)[0].raw[:150_000],
        ],
    }
    for name, texts in cases.items():
        documents = [
            InputDocument(f"x{n:02d}", t, hashlib.sha256(t.encode()).hexdigest())
            for n, t in enumerate(texts)
        ]
        took, result = cpu(lambda d=documents: screen(d, ScreeningConfig(), facts=False, threads=1))
        print(f"{name}: {took:.2f} s, {len(result.candidates)} pairs")


def public(folder: Path) -> None:
    """Recall by label and within the first 3 x documents."""
    documents = []
    for line in (folder / "documents.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        raw = (folder / row["path"]).read_bytes().decode("utf-8")
        documents.append(
            InputDocument(
                row["doc_id"], raw, row["sha256"], metadata={"doc_number": row["doc_number"]}
            )
        )
    result = screen(documents, ScreeningConfig(), facts=False)
    candidates = list(result.candidates)
    place = {
        frozenset((documents[c.left].doc_id, documents[c.right].doc_id)): c for c in candidates
    }
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    channels: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for line in (folder / "pairs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        found = place.get(frozenset((row["left"], row["right"])))
        for name in (row["label"], f"  {row['label']} {row['subtype']}"):
            counts[name][0] += 1
            counts[name][1] += found is not None
            counts[name][2] += found is not None and found.rank <= 3 * len(documents)
        for channel in found.channels if found else ():
            channels[row["label"]][channel] += 1
    print(f"public pairs: {len(candidates)} candidates")
    for name, (total, found_count, early) in sorted(
        counts.items(), key=lambda item: item[0].strip()
    ):
        by = dict(channels.get(name, {}))
        print(
            f"  {name}: {found_count}/{total} = {found_count / total:.3f}, in the first 3 x documents {early / total:.3f} {by or ''}"
        )
    share = {name: (found / total, early / total) for name, (total, found, early) in counts.items()}
    for label, least, soon in PUBLIC_HOLDS:
        hold(f"public {label}, recall", share[label][0], ".3f", least=least)
        hold(f"public {label}, in the first 3 x documents", share[label][1], ".3f", least=soon)
    hold("public unrelated, share found", share["unrelated"][0], ".3f", most=0.03)
    hold("candidates a document", len(candidates) / len(documents), ".1f", most=15)


PUBLIC_HOLDS = (
    ("copy", 0.99, 0.99),
    ("revision", 0.99, 0.98),
    ("citation", 0.98, 0.85),
    ("template", 0.88, 0.80),
)


def scale(folder: Path | None, generator: Path) -> None:
    """The whole of a large run, by the command: reading, screening with facts, writing all files."""
    with tempfile.TemporaryDirectory() as made:
        usage = large_run.measure(folder or large_run.made(generator, Path(made)))
    print(f"large run: {usage.said}")
    print(
        f"  {usage.cpu:.1f} s of processors; {os.getloadavg()[0]:.1f} programs wanted one meanwhile"
    )
    hold("large run, seconds on the wall", usage.wall, ".1f", most=30)
    hold("large run, MB over all processes", usage.memory, ".0f", most=1500)


def main() -> None:
    """Run every measurement that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scale", type=Path)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    work: dict[str, Callable[[argparse.Namespace], None]] = {
        "signatures": lambda args: signatures(),
        "peers": lambda args: against_peers(args.quick),
        "growth": lambda args: growth(),
        "increment": lambda args: increment(),
        "degenerate": lambda args: degenerate(),
        "public": lambda args: public(args.shared / "corpora" / "public"),
        "scale": lambda args: scale(args.scale, _generator(args.shared)),
    }
    parser.add_argument("--only", nargs="+", choices=list(work), default=list(work))
    args = parser.parse_args()
    there = {
        "public": (args.shared / "corpora" / "public" / "documents.jsonl").is_file(),
        "scale": args.scale is not None or _generator(args.shared).is_file(),
    }
    for name in args.only:
        if there.get(name, True):
            work[name](args)
        else:
            print(f"{name}: left out, the shared sets are not there (--shared)")


def _generator(shared: Path) -> Path:
    return shared / "corpora" / "scale" / "make_scale.py"


if __name__ == "__main__":
    main()
