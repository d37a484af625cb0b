"""The shared cases of screening, read where they are; their kinds stand as tests of their own beside this file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from screening.channels.minhash import candidate_probability
from screening.evidence.excerpts import excerpts, shared_runs
from screening.text.normalise import code_points, normalise
from screening.text.numbers import parse_number
from tests.screening.making import brute_jaccard, pairs, run

AREAS = ("normalise", "shingle", "exact", "minhash", "lsh", "fragment", "docnumber")


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[dict[str, Any]]:
    path = shared / "cases" / "cases.jsonl"
    if not path.is_file():
        pytest.skip("cases.jsonl was not found among the shared sets")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [row for row in rows if row["area"] in AREAS]


def text_of(value: str, shared: Path) -> str:
    return (shared / "cases" / value).read_text("utf-8") if value.startswith("files/") else value


def letters(case: dict[str, Any], shared: Path) -> dict[str, str]:
    return {
        key: text_of(v, shared)
        for key, v in case["input"].items()
        if re.fullmatch("[A-Z]", key) and isinstance(v, str)
    }


def fraction(text: str) -> float:
    match = re.match(r"(\d+)/(\d+)", text)
    assert match is not None
    return int(match[1]) / int(match[2]) if int(match[2]) else 0.0


def test_normalised_texts(cases: list[dict[str, Any]], shared: Path) -> None:
    checked = 0
    for case in cases:
        texts = {
            k: re.sub(r" \((?:U\+|full).*\)$", "", v) for k, v in letters(case, shared).items()
        }
        norm = {k: normalise(v).text for k, v in texts.items()}
        for key, value in case["expected"].items():
            if key in ("norm_both", "norm_all"):
                assert set(norm.values()) == {value}, case["id"]
            elif re.fullmatch("norm_[A-Z]", key):
                assert norm[key[-1]] == value, case["id"]
            elif key == "norm_equal":
                assert (len(set(norm.values())) == 1) is value, case["id"]
            elif re.fullmatch("[A-Z]_eq_[A-Z]_normalised", key):
                assert norm[key[0]] == norm[key[5]], case["id"]
            elif key == "norm_lengths":
                assert [len(normalise(d).text) for d in case["input"]["docs"]] == value, case["id"]
            else:
                continue
            checked += 1
    assert checked >= 8


def test_exact_scores(cases: list[dict[str, Any]], shared: Path) -> None:
    checked = 0
    for case in cases:
        texts = letters(case, shared)
        if set(texts) >= {"A", "B"}:
            for key, value in case["expected"].items():
                match = re.fullmatch(r"(?:jaccard|exact_jaccard)(?:_k(\d))?(?:_?AB)?", key)
                if match and isinstance(value, str) and "/" in value:
                    k = int(match[1] or case["input"].get("k", 3))
                    found = pairs(run([texts["A"], texts["B"]], k=k, exhaustive=True))
                    assert found[0, 1].jaccard == fraction(value), (case["id"], key)
                    checked += 1
                if key in ("jaccard", "jaccard_AB") and isinstance(value, dict):
                    for name, each in value.items():
                        found = pairs(
                            run([texts["A"], texts["B"]], k=int(name[1:]), exhaustive=True)
                        )
                        assert found[0, 1].jaccard == fraction(each), (case["id"], name)
                        checked += 1
        for name, each in (
            case["expected"].get("exact", {}).items() if case["area"] == "lsh" else ()
        ):
            found = pairs(run([texts[name[0]], texts[name[1]]], exhaustive=True))
            assert found[0, 1].jaccard == fraction(each), case["id"]
            checked += 1
    assert checked >= 12


def test_listed_pairs(cases: list[dict[str, Any]], shared: Path) -> None:
    checked = 0
    for case in cases:
        given, expected = case["input"], case["expected"]
        docs = given.get("docs")
        settings = {k: given[k] for k in ("k", "threshold") if k in given}
        if isinstance(docs, list) and isinstance(expected.get("pairs"), list):
            found = {(a + 1, b + 1) for a, b in pairs(run(docs, **settings))}
            assert found == {tuple(p) for p in expected["pairs"]}, case["id"]
            checked += 1
        if "others" in given and "text" in given:
            assert (
                len(pairs(run([given["text"]] * 60 + given["others"]))) == expected["pairs_total"]
            ), case["id"]
            checked += 1
        if case["area"] == "lsh" and isinstance(expected.get("listed"), list):
            texts = letters(case, shared)
            names = list(texts)
            joined = pairs(run(list(texts.values()), channels=["exact", "minhash"], **settings))
            assert sorted(names[a] + names[b] for a, b in joined) == expected["listed"], case["id"]
            checked += 1
        if "pair1" in given:
            for name in ("pair1", "pair2"):
                listed = bool(pairs(run(given[name], channels=["exact", "minhash"], **settings)))
                assert listed == (name in expected["listed"]), case["id"]
            checked += 1
        for bands_rows, p in zip(
            given.get("bands_rows", ()), expected.get("P_candidate", ()), strict=True
        ):
            assert round(candidate_probability(given["s"], *bands_rows), 4) == p
            checked += 1
    assert checked >= 8


def test_fragments(cases: list[dict[str, Any]], shared: Path) -> None:
    checked = 0
    for case in (c for c in cases if c["area"] == "fragment"):
        texts, expected = letters(case, shared), case["expected"]
        left, right = normalise(texts["A"]), normalise(texts["B"])
        least = case["input"].get("min_fragment", 10)
        runs = shared_runs(code_points(left.text), code_points(right.text), least)
        if "longest_common_substring" in expected:
            first = excerpts(left, right, least)[0]
            assert (first.left_end - first.left_start, first.left_start, first.right_start) == (
                expected["longest_common_substring"],
                expected["start_A"],
                expected["start_B"],
            )
            checked += 1
        if "raw_span_A" in expected:
            spans = [
                ([e.left_start, e.left_end], [e.right_start, e.right_end])
                for e in excerpts(left, right, least)
            ]
            assert spans[0] == (expected["raw_span_A"], expected["raw_span_B"]), case["id"]
            checked += 1
        if "longest_shared_normalised" in expected:
            assert runs[0].length == expected["longest_shared_normalised"]
            assert pairs(run([texts["A"], texts["B"]])), case["id"]
            checked += 1
    assert checked >= 3


def test_document_numbers(cases: list[dict[str, Any]], shared: Path) -> None:
    checked = 0
    for case in (c for c in cases if c["area"] == "docnumber"):
        expected, given = case["expected"], case["input"]
        spellings = [
            re.sub(r" \((?:U\+|letter).*\)$", "", s)
            for s in given.get("variants", given.get("numbers", []))
        ]
        keys = {number.key if (number := parse_number(s)) else None for s in spellings}
        if expected.get("one_identity_key") or expected.get("one_identity_key_first_five"):
            assert len(keys) == 1, case["id"]
            assert None not in keys, case["id"]
            checked += 1
        if "distinct_keys" in expected:
            assert len(keys) == expected["distinct_keys"], case["id"]
            checked += 1
        if "own_number" in expected or expected.get("identity") is False:
            texts = {k: re.sub(r" \(letter.*\)$", "", v) for k, v in letters(case, shared).items()}
            assert pairs(run(list(texts.values()), channels=["doc_number"])) == {}, case["id"]
            checked += 1
        if "control" in given:
            assert parse_number(given["control"]) is None
            checked += 1
    assert checked >= 5


def test_the_scores_reach_the_printed_digits(cases: list[dict[str, Any]]) -> None:
    case = next(c for c in cases if c["id"] == "E-04")
    for name, key in (("pair1", "jaccard1"), ("pair2", "jaccard2")):
        left, right = case["input"][name]
        assert brute_jaccard(left, right, 3) == fraction(case["expected"][key])
