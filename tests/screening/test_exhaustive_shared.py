"""Every pair of the public texts against the plainest program, and the banded join against MinHashLSH."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from datasketch import MinHash, MinHashLSH

from screening.channels import minhash, split
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.pipeline import screen
from tests.screening.making import document


def public_documents(shared: Path) -> list[InputDocument]:
    folder = shared / "corpora" / "public"
    lines = (folder / "documents.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        document(row["doc_id"], (folder / row["path"]).read_text("utf-8"), collection="public")
        for row in rows
    ]


@pytest.mark.slow
def test_exhaustive_scores_of_all_public_pairs_are_those_of_plain_sets(shared: Path) -> None:
    result = screen(
        public_documents(shared), ScreeningConfig.from_dict({"exhaustive": True}), facts=False
    )
    corpus = result.corpus
    texts = [corpus.text(c) for c in range(corpus.size)]
    names: dict[str, int] = {}
    sets = [
        {names.setdefault(text[i : i + 3], len(names)) for i in range(len(text) - 2)}
        for text in texts
    ]
    count = len(corpus.documents)
    assert len(result.table) == count * (count - 1) // 2 == 169_653
    found = dict(
        zip(
            zip(result.texts.low.tolist(), result.texts.high.tolist(), strict=True),
            result.texts.scores.jaccard.tolist(),
            strict=True,
        )
    )
    contained = result.texts.scores.containment.tolist()
    wrong = []
    for number, (low, high) in enumerate(found):
        a, b = sets[low], sets[high]
        same = len(a & b)
        union, smaller = len(a) + len(b) - same, min(len(a), len(b))
        expected = (same / union if union else 0.0, same / smaller if smaller else 0.0)
        if (found[low, high], contained[number]) != expected:
            wrong.append((low, high))
    assert wrong == []
    assert set(found) == set(combinations(range(corpus.size), 2))
    # the rest are pairs of documents with one and the same text
    table = result.table
    equal = corpus.class_of[table.left] == corpus.class_of[table.right]
    assert np.array_equal(equal, table.text_pair < 0)
    assert len({pair for pair, _ in result.scored_pairs()}) == len(table)


@pytest.mark.slow
def test_the_banded_join_of_the_public_texts_is_that_of_minhash_lsh(shared: Path) -> None:
    config = ScreeningConfig.from_dict({"channels": ["minhash"], "fold_script": False})
    result = screen(public_documents(shared), config, facts=False)
    (rows,) = result.matcher.rows
    bands, width = config.banding
    empty = result.corpus.lengths < config.k
    low, high = split(minhash.banded(rows, empty, bands=bands, width=width, cap=10_000).pairs)
    index = MinHashLSH(num_perm=config.num_perm, params=(bands, width))
    expected: set[tuple[int, int]] = set()
    for number in np.flatnonzero(~empty).tolist():
        sketch = MinHash(
            num_perm=config.num_perm, seed=config.seed, scheme="affine32", hashvalues=rows[number]
        )
        expected |= {(other, number) for other in index.query(sketch)}
        index.insert(number, sketch)
    assert expected
    assert set(zip(low.tolist(), high.tolist(), strict=True)) == expected
