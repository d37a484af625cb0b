"""A whole run: the article's example, the files, sameness of bytes, bounded time."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from screening import thresholds
from screening.artefacts import FILES, write_run
from screening.config import ConfigError, ScreeningConfig
from screening.documents import InputDocument, Problem, Refusal
from screening.pipeline import Cancelled, screen
from screening.text.normalise import normalise
from tests.screening.making import document, documents, pairs, prose, run

ARTICLE = {
    "A": "旧城街道便民市场于每周三上午九点开市，摊位按先到先得安排，请勿占道经营。",
    "B": "旧城街道便民市场于每周三上午九点开市,摊位按先到先得安排;请勿占道经营.",
    "C": "旧城街道便民市场于每周五上午九点开市，摊位按先到先得安排，请勿占道经营。",
    "D": "校园合唱团招募新成员，名额先到先得安排，报名者到音乐教室登记试唱。",
    "E": "海豚救助站昨夜放归两头幼豚",
}
"""Like the article's five: equal but for punctuation, one character changed, one shared phrase, nothing shared."""

KEYS = (
    "left right left_source right_source left_version right_version rank channels minhash_estimate jaccard "
    "jaccard_folded containment simhash_distance shared_shingles raw_excerpts fact_changes suggestion review_status"
).split()


def article() -> list[InputDocument]:
    return [document(name, text) for name, text in ARTICLE.items()]


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def shingles(text: str) -> set[str]:
    return {text[i : i + 3] for i in range(len(text) - 2)}


def test_the_example_of_the_article(tmp_path: Path) -> None:
    docs = article()
    result = screen(docs, ScreeningConfig.preset("seed64"), facts=False)
    labels = [("A", "B", "1"), ("A", "C", "0"), ("A", "D", "0"), ("A", "E", "0")]
    write_run(tmp_path, result, docs, labels=labels)
    found = {(c["left"], c["right"]): c for c in lines(tmp_path / "candidates.jsonl")}
    assert list(found) == [("A", "B"), ("A", "C"), ("B", "C")]
    assert found["A", "B"]["jaccard"] == 1.0
    assert found["A", "C"]["jaccard"] == found["B", "C"]["jaccard"] == 28 / 34
    grams = {name: shingles(normalise(raw).text) for name, raw in ARTICLE.items()}
    assert [len(grams["A"] & grams["D"]), len(grams["A"] | grams["D"])] == [4, 55]
    assert not any(grams["E"] & grams[name] for name in "ABCD")
    rows = list(csv.DictReader((tmp_path / "thresholds.csv").open(encoding="utf-8")))
    assert [(r["threshold"], r["tp"], r["fp"], r["fn"]) for r in rows] == [
        ("0.5", "1", "1", "0"),
        ("0.7", "1", "1", "0"),
        ("0.9", "1", "0", "0"),
    ]


def test_the_six_files_and_their_fields(tmp_path: Path) -> None:
    docs = [
        *article(),
        document("F", "——"),
        document("=1+1", prose(1, 50), title="=cmd()", source_id="s", version="2"),
    ]
    docs.append(document("=1+2", prose(1, 50), title="+x", source_id="s", version="3"))
    refusal = Refusal(
        "in/x.bin", Problem("binary", "%(name)s is no text", {"name": "x.bin"}), "x", "00" * 32
    )
    result = screen(docs, ScreeningConfig(), facts=False, refusals=[refusal])
    write_run(tmp_path, result, docs)
    assert sorted(os.listdir(tmp_path)) == sorted(FILES)
    for line in lines(tmp_path / "candidates.jsonl"):
        assert list(line) == KEYS
        raw = {d.doc_id: d.raw for d in docs}
        for excerpt in line["raw_excerpts"]:  # type: ignore[attr-defined]
            start = excerpt["left_start"]
            assert raw[str(line["left"])][start : start + len(excerpt["text"])] == excerpt["text"]
    assert (tmp_path / "thresholds.csv").read_text("utf-8").count("\n") == 1
    originals = list(csv.DictReader((tmp_path / "originals.csv").open(encoding="utf-8")))
    status = {r["doc_id"]: r["status"] for r in originals}
    assert status["F"] == "no_content"
    assert status["x"] == "refused"
    assert originals[-1]["path"] == "in/x.bin"
    assert originals[-1]["reason"] == "x.bin is no text"
    assert "'=1+1" in status
    assert {r["doc_id"]: r["normalized"] for r in lines(tmp_path / "normalized.jsonl")}["F"] == ""  # type: ignore[misc]
    assert {
        r["review_status"]
        for r in csv.DictReader((tmp_path / "review_table.csv").open(encoding="utf-8"))
    } == {"pending"}
    record = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert record["funnel"]["documents"] == len(docs)
    assert record["fingerprint"] == ScreeningConfig().fingerprint
    assert record["refused"][0]["code"] == "binary"


PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests.screening.test_runs import mixture
from screening.artefacts import write_run
from screening.config import ScreeningConfig
from screening.pipeline import screen
docs = mixture()
if sys.argv[2] == "reversed":
    docs.reverse()
write_run(sys.argv[1], screen(docs, ScreeningConfig(exact_below=0), threads=int(sys.argv[3])), docs)
"""


def mixture() -> list[InputDocument]:
    """Copies, near copies, quotations and strangers."""
    texts = []
    for seed in range(12):
        base = prose(seed, 150)
        texts += [
            base,
            base[:70] + "，" + base[70:],
            base[:100] + prose(50 + seed, 30),
            prose(90 + seed, 60) + base[20:60],
        ]
    return documents([*texts, *ARTICLE.values()])


def test_bytes_do_not_depend_on_hash_seed_threads_or_order(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    outputs = []
    for name, seed, order, threads in (("a", "0", "given", "1"), ("b", "1", "reversed", "3")):
        out = tmp_path / name
        subprocess.run(
            [sys.executable, "-c", PROGRAM.format(root=str(root)), str(out), order, threads],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            timeout=300,
        )
        outputs.append({file: (out / file).read_bytes() for file in FILES})
    assert outputs[0] == outputs[1]
    assert outputs[0]["candidates.jsonl"].count(b"\n") > 30


def test_sixty_equal_texts_are_all_listed_and_few_are_asked() -> None:
    others = [prose(s, 40) for s in range(5)]
    result = run([prose(77, 40)] * 60 + others)
    assert len(result.candidates) == 60 * 59 // 2
    asked = [c for c in result.candidates if c.representative]
    assert len(asked) == 1
    assert {c.note for c in result.candidates if not c.representative} == {"equal_copies"}


def test_each_spelling_of_a_text_is_asked_once() -> None:
    text = prose(3, 60)
    spelled = text[:30] + "。" + text[30:]
    asked = [
        (c.left, c.right)
        for c in run([text, text, spelled, spelled, text]).candidates
        if c.representative
    ]
    assert sorted(asked) == [(0, 1), (0, 2), (2, 3)]


def test_a_group_above_the_cap_is_a_star_and_is_reported() -> None:
    result = run([prose(1, 30)] * 30, bucket_cap=20)
    assert {(c.left, c.right) for c in result.candidates} == {(0, n) for n in range(1, 30)}
    assert result.left_out[0].problem.code == "large_groups"
    assert result.left_out[0].problem.params["largest"] == 30


def test_a_clause_that_many_quote_is_asked_as_a_chain() -> None:
    clause = prose(1, 45)
    result = run(
        [prose(100 + s, 300) + clause + prose(200 + s, 300) for s in range(20)],
        channels=["passages", "templates"],
    )
    assert len(result.candidates) == 190
    assert sum(c.representative for c in result.candidates) == 19


@pytest.mark.parametrize(
    "texts",
    [
        ["哈" * 50_000, "哈" * 50_000 + "完", "呵" * 50_000],
        ["一二三四五六七" * 3_000, "四五六七一二三" * 3_000, prose(1, 21_000)],
        [prose(1, 200_000), prose(1, 100_000) + prose(2, 100_000)],
    ],
    ids=["identical characters", "periodic", "one long line"],
)
def test_degenerate_texts_take_bounded_time(texts: list[str]) -> None:
    run(["预热" * 40, "预热" * 41])
    started = time.process_time()
    found = pairs(run(texts))
    assert (0, 1) in found
    assert (0, 2) not in found
    assert time.process_time() - started < 20


def test_a_run_can_be_watched_and_stopped() -> None:
    seen: list[str] = []
    docs = mixture()
    screen(docs, ScreeningConfig(), progress=lambda stage, done, total: seen.append(stage))
    assert list(dict.fromkeys(seen)) == [
        "normalise",
        "certain",
        "sign",
        "approximate",
        "measure",
        "rank",
        "facts",
    ]
    with pytest.raises(Cancelled):
        screen(docs, ScreeningConfig(), cancelled=lambda: True)


def test_an_exhaustive_run_of_a_large_collection_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("screening.pipeline.EXHAUSTIVE_LIMIT", 3)
    with pytest.raises(ConfigError, match="at most 3 different texts"):
        run([prose(s, 40) for s in range(4)], exhaustive=True)


def test_equal_normalised_text_with_other_facts_is_no_copy() -> None:
    found = pairs(
        run(["全年支出增长-5%，较上年回落。", "全年支出增长5%，较上年回落。"], facts=True)
    )
    assert found[0, 1].jaccard == 1.0
    assert found[0, 1].fact_changes
    assert found[0, 1].suggestion == "revision"
    same = pairs(run(["全年支出增长5%，较上年回落。"] * 2, facts=True))
    assert same[0, 1].suggestion == "copy"


def test_the_record_of_thresholds_with_its_breakdown(tmp_path: Path) -> None:
    docs = [
        document(d.doc_id, d.raw, source_id="甲" if d.doc_id in "AB" else "乙", metadata={"language": "zh"})
        for d in article()
    ]
    result = screen(docs, ScreeningConfig.preset("seed64"), facts=False)
    labels = [("B", "A", "1"), ("A", "C", "revision"), ("A", "D", "undecided"), ("E", "D", "copy")]
    labels += [("A", "A", "copy"), ("A", "nobody", "copy"), ("B", "C", "0")]
    write_run(tmp_path, result, docs, labels=labels, thresholds=(0.9, 0.7))
    with (tmp_path / "thresholds.csv").open(encoding="utf-8", newline="") as file:
        low, high = csv.DictReader(file)
    assert tuple(low) == thresholds.HEADER
    counts = ("threshold", "labelled", "found", "positives", "tp", "fp", "fn", "tn", "families")
    assert [low[name] for name in counts] == ["0.7", "4", "3", "2", "1", "2", "1", "0", "2"]
    assert [high[name] for name in counts] == ["0.9", "4", "3", "2", "1", "0", "1", "2", "2"]
    assert (low["precision"], low["recall"], low["candidate_recall"]) == (repr(1 / 3), "0.5", "0.5")
    assert low["f1"] == repr(0.4)
    assert (low["recall_low"], low["recall_high"]) == ("0.0", "1.0")  # two families, one each
    (first, second) = json.loads((tmp_path / "run.json").read_text("utf-8"))["evaluation"]
    assert first["by_label"]["revision"]["tp"] == 1
    assert first["by_label"]["citation"]["recall"] is None
    assert {name: (r["tp"], r["fn"]) for name, r in first["by_source"].items()} == {
        "甲": (1, 0), "乙": (0, 1), "乙 | 甲": (0, 0),
    }  # fmt: skip
    assert set(first["by_language"]) == {"zh"}
    assert [(e["left"], e["right"], e["why"]) for e in second["errors"]] == [
        ("D", "E", "not_retrieved")
    ]
    assert [e["why"] for e in first["errors"]] == ["label_differs", "not_retrieved", "label_differs"]


def test_an_empty_denominator_is_empty(tmp_path: Path) -> None:
    docs = article()
    result = screen(docs, ScreeningConfig(), facts=False)
    write_run(tmp_path, result, docs, labels=[("A", "D", "independent")], thresholds=(0.5,))
    (row,) = csv.DictReader((tmp_path / "thresholds.csv").open(encoding="utf-8"))
    assert (row["precision"], row["recall"], row["candidate_recall"], row["f1"]) == ("",) * 4
    assert (row["tp"], row["fp"], row["fn"], row["tn"]) == ("0", "0", "0", "1")


def test_a_file_is_old_or_new_but_never_half(tmp_path: Path) -> None:
    docs = article()
    result = screen(docs, ScreeningConfig(), facts=False)
    write_run(tmp_path, result, docs)
    before = (tmp_path / "candidates.jsonl").read_bytes()
    result.facts = [("broken",)] * len(result.candidates)  # type: ignore[list-item]
    with pytest.raises(AttributeError):
        write_run(tmp_path, result, docs)
    assert (tmp_path / "candidates.jsonl").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == sorted(FILES)


def test_facts_read_in_processes_are_the_same_even_when_one_dies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    docs = documents(
        f"第{n}号仓库租金{m}万元，每{'周' if m % 2 else '天'}盘点一次，由值班员在{n}日内登记造册并报备。"
        for n in range(3, 9)
        for m in (5, 6)
    )
    here = list(screen(docs, ScreeningConfig(), threads=1).candidates)
    assert any(c.fact_changes for c in here)
    monkeypatch.setattr("screening.readings.WORTH_A_PROCESS", 0)
    assert list(screen(docs, ScreeningConfig(), threads=2).candidates) == here
    monkeypatch.setattr("screening.readings.PROGRAM", "screening.evidence.no_such_program")
    assert list(screen(docs, ScreeningConfig(), threads=2).candidates) == here
