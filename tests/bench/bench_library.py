"""The template library on labelled pairs: entries, shared text of template pairs under them, changed facts under them, cost.

    python -m tests.bench.bench_library --public FOLDER

Every proposal is taken as confirmed, so that coverage and swallowing are the most that people could bring about. Times are
CPU seconds; the load of the machine is printed beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from screening.documents import InputDocument
from screening.evidence.excerpts import shared_runs
from screening.evidence.facts import fact_changes
from screening.intake.model import ReadDocument
from screening.intake.reading import read_path
from screening.library import Library, shared_stretches, without
from screening.proposing import Proposals, propose
from screening.text.normalise import code_points, normalise
from tests.bench.contamination import text

Spans = Sequence[tuple[int, int]]


def library_of(found: Proposals) -> Library:
    return Library(
        tuple(one.entry for one in found.rows), tuple(one.documents for one in found.rows)
    )


def shared_under(left: InputDocument, right: InputDocument, stretches: Spans) -> tuple[int, int]:
    """Shared characters of the left text, runs of 16 or more, and how many of them lie under ``stretches``."""
    sides = [normalise(d.raw) for d in (left, right)]
    shared = np.zeros(len(sides[0].text), dtype=bool)
    for run in shared_runs(*(code_points(side.text) for side in sides), min_length=16):
        shared[run.left : run.left + run.length] = True
    under = np.zeros(len(shared), dtype=bool)
    for start, end in stretches:
        under[np.searchsorted(sides[0].offsets, start) : np.searchsorted(sides[0].offsets, end)] = True
    return int(shared.sum()), int((shared & under).sum())


def swallowed(left: Spans, right: Spans, facts: Sequence[tuple[Spans, Spans]]) -> tuple[int, int]:
    """Characters of changed facts, and how many of them are greyed."""
    total = hidden = 0
    for greys, number in ((left, 0), (right, 1)):
        grey = {i for start, end in greys for i in range(start, end)}
        for fact in facts:
            for start, end in fact[number]:
                total += end - start
                hidden += sum(i in grey for i in range(start, end))
    return total, hidden


def public(folder: Path) -> None:
    documents = {e.document.doc_id: e.document for e in read_path(folder) if isinstance(e, ReadDocument)}
    every = list(documents.values())
    propose(every[:50])
    start = time.process_time()
    found = propose(every)
    took = time.process_time() - start
    library = library_of(found)
    start = time.process_time()
    passages = {d.doc_id: library.passages(d.raw) for d in every}
    looked = time.process_time() - start
    grey = sum(p.characters for ps in passages.values() for p in ps)
    print(
        f"{len(found.rows)} entries of {len(every)} texts, {sum(len(d.raw) for d in every):,} characters: "
        f"{dict(Counter(one.level for one in found.rows))}; {grey:,} characters greyed in "
        f"{sum(bool(ps) for ps in passages.values())} texts; proposed in {took:.1f} CPU s, looked up in {looked:.2f}"
    )
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in (folder / "pairs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        sides = documents[row["left"]], documents[row["right"]]
        stretches = shared_stretches(passages[row["left"]], passages[row["right"]])
        count = counts[row["label"]]
        shared, under = shared_under(*sides, stretches[0])
        count.update(pairs=1, shared=shared, under=under, some=under > 0, most=2 * under >= shared > 0)
        if row["label"] not in ("copy", "revision"):
            continue
        changes = fact_changes(sides[0].raw, sides[1].raw)
        facts = [
            (
                [(c.left_start, c.left_end)] if c.left_start is not None and c.left_end else [],
                [(c.right_start, c.right_end)] if c.right_start is not None and c.right_end else [],
            )
            for c in changes
        ]
        count.update(facts=len(facts))
        total, hidden = swallowed(*stretches, facts)
        cut = (
            without(stretches[0], [s for f in facts for s in f[0]]),
            without(stretches[1], [s for f in facts for s in f[1]]),
        )
        count.update(characters=total, hidden=hidden, hidden_on_the_page=swallowed(*cut, facts)[1])
    for label, count in sorted(counts.items()):
        print(label, dict(count))


def growth() -> None:
    """Made texts, a third of them one form: ten times as many, how many times as long."""
    spent = []
    for many in (200, 2000):
        rng = random.Random(7)
        form = text(rng, 300)
        made = [
            InputDocument(f"d{n}", text(rng, 500) + (form if n % 3 == 0 else "") + text(rng, 400), f"{n:064x}")
            for n in range(many)
        ]
        start = time.process_time()
        found = propose(made)
        middle = time.process_time()
        library = library_of(found)
        held = sum(bool(library.passages(d.raw)) for d in made)
        spent.append((middle - start, time.process_time() - middle))
        print(f"{many} texts: {len(found.rows)} entries in {held} texts, {spent[-1][0]:.2f} + {spent[-1][1]:.2f} CPU s")
        assert [p.entry for p in propose([replace(d) for d in reversed(made)]).rows] == [
            p.entry for p in found.rows
        ]
    print(f"10 x the texts: {spent[1][0] / spent[0][0]:.1f} x to propose, {spent[1][1] / spent[0][1]:.1f} x to look up")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--public", type=Path)
    given = parser.parse_args()
    growth()
    if given.public:
        public(given.public)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
