"""Facts on the shared sets: real article revisions, and the cases made after public reports."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from screening.evidence.facts import extract_facts, fact_changes, read_facts

KINDS_OF_LABEL = {
    "number_or_date": {
        "number",
        "date",
        "money",
        "duration",
        "percent",
        "frequency",
        "unit",
        "style",
    },
    "negation_modality": {"negation", "modality"},
    "unit": {"unit", "money", "number", "duration", "condition"},
}
"""What the set calls ``unit`` is any changed count with a measure word, its removal among them."""


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_article_revisions_are_flagged_with_the_right_kind(shared: Path) -> None:
    rows = _lines(shared / "corpora" / "public" / "article_revisions.jsonl")
    revised = [row for row in rows if row["subtype"] == "sensitive_only"]
    assert len(revised) == 27
    for row in revised:
        found = {change.kind for change in fact_changes(row["left"], row["right"])}
        right = set().union(*(KINDS_OF_LABEL[label] for label in row["kinds"]))
        assert found & right, (row["id"], row["kinds"], found)
        if row["kinds"] == ["negation_modality"]:
            assert found == {"article_number", "modality"}


def test_numeral_style_is_the_only_difference_of_four_revisions(shared: Path) -> None:
    rows = _lines(shared / "corpora" / "public" / "article_revisions.jsonl")
    style_only = []
    for row in rows:
        if row["subtype"] == "sensitive_only":
            changes = fact_changes(row["left"], row["right"])
            if not any(change.substantive for change in changes):
                assert any(change.kind == "style" for change in changes), row["id"]
                style_only.append(row["id"])
    assert style_only == ["PART0007", "PART0008", "PART0009", "PART0010"]


def test_no_mere_renumbering_is_called_substantive(shared: Path) -> None:
    rows = _lines(shared / "corpora" / "public" / "article_revisions.jsonl")
    renumbered = [row for row in rows if row["subtype"] == "cross_reference_renumber"]
    assert len(renumbered) == 30
    for row in renumbered:
        changes = fact_changes(row["left"], row["right"])
        assert any(change.kind == "article_number" for change in changes), row["id"]
        assert not [change for change in changes if change.substantive], row["id"]


def test_minimal_edits_of_whole_documents_are_the_only_changes_found(shared: Path) -> None:
    public = shared / "corpora" / "public"
    paths = {row["doc_id"]: public / row["path"] for row in _lines(public / "documents.jsonl")}
    kinds = {
        "x_minimal_condition": {"condition"},
        "x_minimal_date": {"date"},
        "x_minimal_modality": {"modality"},
        "x_minimal_negation": {"negation"},
        "x_minimal_number": {"number", "duration"},
        "x_minimal_unit": {"unit"},
    }
    pairs = [row for row in _lines(public / "pairs.jsonl") if row["subtype"] in kinds]
    assert len(pairs) == 26
    for row in pairs:
        left, right = (paths[row[side]].read_text("utf-8") for side in ("left", "right"))
        found = [change.kind for change in fact_changes(left, right) if change.substantive]
        assert found, row["pair_id"]
        assert set(found) <= kinds[row["subtype"]], (row["pair_id"], found)


def test_constructed_copies_show_hardly_any_changed_fact(shared: Path) -> None:
    public = shared / "corpora" / "public"
    paths = {row["doc_id"]: public / row["path"] for row in _lines(public / "documents.jsonl")}
    harmless = {
        "x_fullwidth_alnum_indent",
        "x_simplified_to_traditional",
        "x_zero_width",
        "x_page_header_footer",
        "x_truncated_72pct",
        "x_forwarded_wrapper",
        "x_headings_removed_single_line",
    }
    for row in _lines(public / "pairs.jsonl"):
        if row["subtype"] in harmless:
            left, right = (paths[row[side]].read_text("utf-8") for side in ("left", "right"))
            found = [change for change in fact_changes(left, right) if change.substantive]
            assert found == [], (row["pair_id"], row["subtype"], found)


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, dict[str, Any]]:
    """Inputs and answers by case."""
    return {row["id"]: row for row in _lines(shared / "cases" / "cases.jsonl")}


def _seen(
    cases: dict[str, dict[str, Any]], case: str, a: str = "A", b: str = "B"
) -> list[tuple[Any, ...]]:
    given = cases[case]["input"]
    return [(c.kind, c.left, c.right) for c in fact_changes(given[a], given[b])]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("N-01", [("number", "100 吨", "102 吨")]),
        ("N-03", [("number", "1.5 倍", "112 倍")]),
        ("N-10", [("percent", "-5%", "5%")]),
        ("N-11", [("money", "31400 元", "3140000 元")]),
        ("N-13", [("percent", "5%", "0.5%")]),
        ("S-06", [("negation", "不得", None)]),
        ("T-01", [("negation", "应当", "不应当")]),
        ("T-08", [("percent", "5个百分点", "5%")]),
        ("T-09", []),
        ("T-10", [("number", "6222000000000001", "6222000000000002")]),
        ("T-12", [("negation", "未", None)]),
        (
            "T-14",
            [("document_number", "XC-2026-5", "XC-2026-5-r1"), ("percent", "12.5%", "12.8%")],
        ),
        ("F-04", []),
        ("X-01", [("number", "61", "16"), ("number", "90", "99")]),
        ("X-02", [("money", "50 元", "500 元")]),
    ],
)
def test_cases_of_public_reports(
    cases: dict[str, dict[str, Any]], case: str, expected: list[tuple[Any, ...]]
) -> None:
    assert _seen(cases, case) == expected


def test_cases_with_a_third_text(cases: dict[str, dict[str, Any]]) -> None:
    given = cases["N-10"]["input"]
    for minus in ("\u2212", "\uff0d"):
        assert fact_changes(given["A"], given["A"].replace("-", minus)) == ()
    assert [kind for kind, _, _ in _seen(cases, "N-13", "A", "C")] == ["percent"]
    assert [kind for kind, _, _ in _seen(cases, "T-04", "A", "B")] == ["style"]
    assert [kind for kind, _, _ in _seen(cases, "T-04", "A", "C")] == ["unit"]


def test_cases_of_single_texts(cases: dict[str, dict[str, Any]]) -> None:
    text = cases["T-02"]["input"]["text"]
    found = {(fact.kind, fact.value) for fact in extract_facts(text)}
    assert {
        ("money", "35410700 元"),
        ("article_number", "(2.2)"),
        ("article_number", "(2.3)"),
    } <= found
    for year in cases["T-05"]["input"]["texts"]:
        assert [(fact.kind, fact.value) for fact in extract_facts(year)] == [("date", "2010")]


def test_reading_stays_fast_on_long_real_texts(shared: Path) -> None:
    public = shared / "corpora" / "public"
    texts = [
        (public / row["path"]).read_text("utf-8") for row in _lines(public / "documents.jsonl")[:60]
    ]
    read_facts(texts[0])
    began = time.process_time()
    for text in texts:
        read_facts(text)
    assert (time.process_time() - began) / sum(map(len, texts)) < 4e-6
