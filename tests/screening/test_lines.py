"""Lines put together by hand against the general encoder, and facts that equal texts share."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from screening.artefacts import write_run
from screening.config import ScreeningConfig
from screening.documents import Problem, Refusal
from screening.evidence.excerpts import Excerpt
from screening.evidence.facts import FactChange
from screening.lines import EXCERPT_LIMIT, CandidateLines, candidate_line, normalized_line
from screening.pipeline import screen
from screening.result import FoundCandidate
from tests.screening.making import document, run

NASTY = 'a"b\\c\n\t\x00\x1f</script>\u2028🙂\ud800繁'


def encoded(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_a_line_has_the_bytes_of_the_general_encoder() -> None:
    left = document(NASTY, NASTY * 300, source_id=NASTY, version=None)
    right = document("r", "x", source_id="", version="1")
    long = EXCERPT_LIMIT + 7
    found = FoundCandidate(
        left=0, right=1, rank=3, channels=("exact", "minhash"), minhash_estimate=None,
        jaccard=1e-05, jaccard_folded=0.1, containment=1.0, simhash_distance=None,
        shared_shingles=(NASTY[:3], NASTY), excerpts=(Excerpt(0, long, 5, long + 5), Excerpt(1, 3, 0, 2)),
        fact_changes=(FactChange("number", NASTY, None, 1, 2, None, None),),
        suggestion="copy", representative=True, note="",
    )  # fmt: skip
    expected = {
        "left": NASTY, "right": "r", "left_source": NASTY, "right_source": "", "left_version": None, "right_version": "1",
        "rank": 3, "channels": ["exact", "minhash"], "minhash_estimate": None, "jaccard": 1e-05, "jaccard_folded": 0.1,
        "containment": 1.0, "simhash_distance": None, "shared_shingles": [NASTY[:3], NASTY],
        "raw_excerpts": [
            {"text": left.raw[:EXCERPT_LIMIT], "left_start": 0, "right_start": 5, "length": long},
            {"text": left.raw[1:3], "left_start": 1, "right_start": 0},
        ],
        "fact_changes": [{"kind": "number", "left": NASTY, "right": None, "left_start": 1, "right_start": None}],
        "suggestion": "copy", "review_status": "pending",
    }  # fmt: skip
    assert candidate_line(found, left, right) == encoded(expected)
    assert normalized_line(NASTY, NASTY) == encoded({"doc_id": NASTY, "normalized": NASTY})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fold_script": False, "k": 5},
        {"keep": "whitespace_only"},
        {"unit": "word", "k": 1},
        {"dynamic_k": [[40, 2], [0, 4]]},
        {"channels": ["exact", "passages"]},
    ],
)
def test_lines_made_by_column_are_those_of_the_candidates(settings: dict[str, object]) -> None:
    base = "第一条 本办法所称“补助”\\是指区级财政\t安排的资金，由镇人民政府（街道办事处）负责发放。"
    docs = [
        document("a", base * 3),
        document("b", base * 3 + "第二条 自二〇二六年三月一日起施行。", title="=1", version="2"),
        document("c", "前言。" + base.replace("区级", "市级"), source_id='"'),
        document("d", base * 60 + "尾"),
        document("e", base * 60 + "毛"),
        document("f", base * 3),
        document("g", "資金補助發放" * 8),
        document("h", "资金补助发放" * 8),
    ]
    result = screen(docs, ScreeningConfig.from_dict(settings), threads=1)
    lines = CandidateLines(result)
    made = [*lines.of(0, 2), *lines.of(2, len(result.candidates))]
    singly = [
        candidate_line(c, docs[c.left], docs[c.right]) + "\n" for c in result.candidates
    ]
    assert len(made) > 3
    assert made == singly
    assert all(json.loads(line)["review_status"] == "pending" for line in made)


def test_tables_have_the_bytes_of_the_csv_module(tmp_path: Path) -> None:
    nasty = ["=1+1", "+a", "-", "@x", "\t", "\r", 'a"b', "a,b", "a\nb", "'", " x ", "", '"', "\x0b", "繁"]
    text = "本办法所称补助是指区级财政安排的资金。"
    docs = [
        document(f"{value}{n}", text, title=value, version=value, source_id=value or None)
        for n, value in enumerate(nasty)
    ] + [document(f"={n}", "。", original_path=value, captured_at=value) for n, value in enumerate(nasty)]
    refusals = [Refusal(value, Problem("x", "no, \"%(a)s\"", {"a": value}), value) for value in nasty]
    result = screen(docs, ScreeningConfig(), refusals=refusals, threads=1)
    write_run(tmp_path, result, docs)
    for name in ("originals.csv", "review_table.csv"):
        data = (tmp_path / name).read_bytes().decode()
        rows = list(csv.reader(io.StringIO(data, newline="")))
        again = io.StringIO(newline="")
        csv.writer(again, lineterminator="\r\n").writerows(rows)
        assert again.getvalue() == data
        assert len({len(row) for row in rows}) == 1
    reviews = list(csv.DictReader(io.StringIO(data, newline="")))
    assert len(reviews) == len(nasty) * (len(nasty) - 1) // 2
    assert {row["left_title"] for row in reviews} <= {
        "'" + value if value[:1] in tuple("=+-@\t\r") and value else value for value in nasty
    }


def test_equal_texts_have_equal_facts_though_they_are_compared_once() -> None:
    one = "本办法规定，申请人应当在收到通知之日起三十日内提出申请，逾期不再受理，费用为五万元。"
    other = one.replace("三十日", "十五日")
    result = run([one, one, other, other], facts=True)
    kinds = {
        (c.left, c.right): [(x.kind, x.left, x.right) for x in c.fact_changes]
        for c in result.candidates
    }
    assert kinds[0, 2] == [("duration", "30日", "15日")]
    assert kinds[0, 2] == kinds[0, 3] == kinds[1, 2] == kinds[1, 3]
    assert kinds[0, 1] == kinds[2, 3] == []
