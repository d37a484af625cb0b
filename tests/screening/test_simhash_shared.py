"""The shared cases of SimHash, read where they are; their kinds stand as tests of their own in ``test_simhash.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screening.channels import simhash
from screening.config import CHANNELS, ScreeningConfig
from screening.text.normalise import normalise
from tests.screening.making import pairs, run
from tests.screening.test_simhash import pairs_of


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[dict[str, Any]]:
    path = shared / "cases" / "cases.jsonl"
    if not path.is_file():
        pytest.skip("cases.jsonl was not found among the shared sets")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [row for row in rows if row["area"] == "simhash"]


def test_pairs_of_fingerprints(cases: list[dict[str, Any]]) -> None:
    checked = 0
    for case in cases:
        if "fingerprints_hex" not in case["input"]:
            continue
        values = np.array([int(h, 16) for h in case["input"]["fingerprints_hex"]], dtype=np.uint64)
        expected = [(a - 1, b - 1) for a, b in case["expected"]["pairs"]]
        for k in range(case["input"]["k"], 7):
            near = pairs_of(simhash.near_pairs(values, k, (k + 1, 1)))
            assert set(expected) <= set(near), case["id"]
        assert pairs_of(simhash.near_pairs(values, case["input"]["k"])) == expected, case["id"]
        for names, distance in case["expected"]["distances"].items():
            a, b = (int(values[int(n) - 1]) for n in names.split("-"))
            assert (a ^ b).bit_count() == distance, case["id"]
        checked += 1
    assert checked


def test_short_texts_are_not_judged_by_distance(cases: list[dict[str, Any]]) -> None:
    checked = 0
    for case in cases:
        if "exact_jaccard_k3" not in case["expected"]:
            continue
        texts = [case["input"]["A"], case["input"]["B"]]
        assert max(len(normalise(t).text) for t in texts) < 50
        assert not run(texts, channels=["simhash"]).candidates
        assert not run(texts, channels=["minhash", "simhash"]).candidates
        found = pairs(run(texts, channels=list(CHANNELS), threshold=0.33))
        assert found[0, 1].simhash_distance is None
        assert found[0, 1].jaccard == pytest.approx(1 / 3)
        checked += 1
    assert checked


def test_different_chinese_texts_have_different_fingerprints(cases: list[dict[str, Any]]) -> None:
    checked = 0
    for case in cases:
        if set(case["input"]) != {"A", "B"}:
            continue
        texts = [normalise(case["input"][side]).text for side in "AB"]
        config = ScreeningConfig()
        assert [simhash.describe(t, config).value for t in texts] == [None, None]
        # Long enough to have a fingerprint, the words and their shares stay the same.
        values = [simhash.describe(t * 8, config).value for t in texts]
        assert None not in values
        assert (int(str(values[0]), 16) ^ int(str(values[1]), 16)).bit_count() > 3, case["id"]
        checked += 1
    assert checked
