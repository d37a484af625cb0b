"""The shared awkward files and cases become what is expected of them (formats that are read so far)."""

from __future__ import annotations

import json
import random
import shutil
import tracemalloc
from collections import Counter
from pathlib import Path

import opencc
import pytest

from screening.documents import Refusal
from screening.intake.encodings import Decoded, decode
from screening.intake.model import Entry, ReadDocument
from screening.intake.reading import read_path
from screening.labels_file import read_label_rows


def read(path: Path) -> list[Entry]:
    return list(read_path(path))


def only_text(path: Path) -> ReadDocument:
    (entry,) = read(path)
    assert isinstance(entry, ReadDocument), entry
    assert "\ufffd" not in entry.document.raw
    return entry


def refusals(entries: list[Entry]) -> dict[str, str]:
    return {e.place.partition(":")[2]: e.problem.code for e in entries if isinstance(e, Refusal)}


def accepted(entries: list[Entry]) -> dict[str, str]:
    return {e.document.doc_id: e.document.raw for e in entries if isinstance(e, ReadDocument)}


@pytest.fixture
def formats(shared: Path) -> Path:
    return shared / "corpora" / "formats"


@pytest.fixture
def cases(shared: Path) -> Path:
    return shared / "cases" / "files"


def test_every_file_is_accounted_for(formats: Path) -> None:
    expected = {row["file"] for row in json.loads((formats / "EXPECTED.json").read_text("utf-8"))}
    named = {e.place.partition(":")[0].partition("[")[0] for e in read(formats)}
    assert expected <= named


def test_law_texts_in_two_encodings_are_one_text(formats: Path) -> None:
    first = only_text(formats / "02_xianfa_utf8_real.txt").document.raw
    assert only_text(formats / "01b_xianfa_gb18030.txt").document.raw == first


@pytest.mark.parametrize(("number", "path"), [("15", "P0006"), ("16", "P0006")])
def test_utf16_is_the_public_text(formats: Path, number: str, path: str) -> None:
    (file,) = formats.glob(f"{number}_*")
    public = next((formats.parent / "public" / "docs").glob(f"{path}*"))
    assert only_text(file).document.raw.split() == public.read_text("utf-8").split()


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("18", "encoding_broken"),
        ("19", "encoding_broken"),
        ("25", "empty"),
        ("26", "empty"),
        ("45", "garbled"),
        ("11", "no_text_layer"),
        ("42", "archive_broken"),
        ("43", "xml_doctype"),
        ("44", "archive_ratio"),
        ("40", "format_unsupported"),
    ],
)
def test_files_that_are_refused(formats: Path, number: str, code: str) -> None:
    (file,) = formats.glob(f"{number}_*")
    (entry,) = read(file)
    assert isinstance(entry, Refusal)
    assert entry.problem.code == code


@pytest.mark.parametrize(
    "number",
    [
        "01",
        "05",
        "14",
        "17",
        "20",
        "21",
        "22",
        "23",
        "24",
        "27",
        "28",
        "29",
        "30",
        "31",
        "39",
        "41",
        "47",
        "48",
    ],
)
def test_files_that_are_read(formats: Path, number: str) -> None:
    (file,) = formats.glob(f"{number}_*")
    raw = only_text(file).document.raw
    assert not any(
        character in raw for character in "\0\x07\x1b\ufeff"[: 3 if number == "21" else 4]
    )


def test_big5_is_recognised(formats: Path) -> None:
    entry = only_text(formats / "17_big5.txt")
    assert "衛星電視" in entry.document.raw
    assert [w.code for w in entry.warnings] == ["encoding_guessed"]


def test_tables(formats: Path) -> None:
    spreadsheet = accepted(read(formats / "13_docs_formula_leading_zero.xlsx"))
    assert set(spreadsheet) == {"A1", "1", "001"}
    assert spreadsheet["A1"].startswith("=HYPERLINK")
    assert accepted(read(formats / "33_quotes_newlines.csv")) == accepted(
        read(formats / "34_excel_gbk.csv")
    )
    assert accepted(read(formats / "35_semicolon_bad_rows.csv")) == {"D1": "正文"}


def test_manifests(formats: Path) -> None:
    injected = read(formats / "32_title_injection.jsonl")
    assert refusals(injected) == {"2": "path_outside"}
    assert refusals(read(formats / "36_duplicate_doc_id.jsonl")) == {
        "2": "repeated",
        "3": "doc_id_conflict",
    }
    missing = read(formats / "37_missing_columns.jsonl")
    assert sorted(refusals(missing)) == ["1", "2", "3", "4", "5", "6"]
    assert list(accepted(missing)) == ["E7"]
    surrogate = read(formats / "46_lone_surrogate.jsonl")
    assert all("\ufffd" in raw for raw in accepted(surrogate).values())
    assert len(surrogate) == 1


def bare(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def likeness(left: str, right: str) -> float:
    """The share of three-character windows that two texts have in common."""
    first, second = ({t[i : i + 3] for i in range(len(t) - 2)} for t in map(bare, (left, right)))
    return len(first & second) / len(first | second)


def test_word_files(formats: Path) -> None:
    law = only_text(formats / "08_law.docx")
    public = next((formats.parent / "public" / "docs").glob("P0186*")).read_text("utf-8")
    assert bare(public.split("\n", 1)[-1]) in bare(law.document.raw)
    assert "五万元以下" in law.document.raw
    assert "内部资料" not in law.document.raw
    changed = only_text(formats / "09_tracked_changes.docx")
    assert changed.document.raw.endswith("罚款三万元")
    assert "tracked_changes" in [w.code for w in changed.warnings]


def test_pdf_files(formats: Path) -> None:
    law = only_text(formats / "10_law_text_layer.pdf").document.raw
    word = only_text(formats / "08_law.docx").document.raw
    assert "- 1 -" not in law
    assert "海洋权益，制定本法。" in law
    assert likeness(law, word) > 0.97
    constitution = only_text(formats / "03_xianfa_text_layer_real.pdf").document.raw
    assert likeness(constitution, only_text(formats / "02_xianfa_utf8_real.txt").document.raw) > 0.9


def test_web_pages(formats: Path) -> None:
    law = only_text(formats / "04_xintuofa_real.html").document
    assert "ckeditor" not in law.raw
    assert likeness(law.raw, only_text(formats / "05_xintuofa_real.md").document.raw) > 0.98
    page = only_text(formats / "06_gov_page_real.html").document
    assert page.metadata["doc_number"] == "国办发明电〔2018〕15号"
    assert page.metadata["published_on"] == "2018年12月04日"
    assert page.raw == only_text(formats / "07_gov_page_gb2312_meta.html").document.raw


def test_cases_of_rich_files(cases: Path) -> None:
    tracked = only_text(cases / "tracked_changes.docx")
    assert tracked.document.raw.split("\n") == [
        "第三条 保证金为人民币五万元整。",
        "第四条 乙方不得转包。",
    ]
    boxed = only_text(cases / "table_textbox.docx").document.raw
    for words in ("正文：付款安排如下。", "首期", "八万元", "文本框：违约金另计。", "正文结束。"):
        assert words in boxed
    assert "页眉" not in boxed
    struck = only_text(cases / "double_strike.pdf").document.raw
    assert struck.split("\n") == ["关于开展安全检查的通知", "请各单位于本月底前完成自查。"]
    (scan,) = read(cases / "no_text_layer.pdf")
    assert isinstance(scan, Refusal)
    assert scan.problem.code == "no_text_layer"


@pytest.mark.parametrize("name", ["bomb.docx", "bomb.doc", "bomb.xlsx", "bomb.zip", "bomb.txt"])
def test_a_bomb_is_refused_before_it_is_opened(cases: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(cases / "bomb_60MB.docx", tmp_path / name)
    tracemalloc.start()
    try:
        (entry,) = read(tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(entry, Refusal)
    assert entry.problem.code == "archive_ratio"
    assert peak < 50e6


def test_label_files(formats: Path, cases: Path) -> None:
    rows, problems = read_label_rows((formats / "12_labels_zh.xlsx").read_bytes(), "12.xlsx")
    assert len(rows) == 31
    assert [p.params["line"] for p in problems if p.code == "label_unknown"] == [32]
    rows, problems = read_label_rows(
        (formats / "38_pairs_self_and_unknown.jsonl").read_bytes(), "38.jsonl"
    )
    assert [row.label for row in rows] == ["revision", "copy", "copy", "copy", "revision"]
    rows, problems = read_label_rows((cases / "labels_dirty.csv").read_bytes(), "labels_dirty.csv")
    assert [row.label for row in rows] == ["copy", "copy", "template", "revision"]
    assert [p.params["line"] for p in problems] == [6]


def test_two_hundred_short_strings_in_each_encoding(formats: Path) -> None:
    """Pieces of 8 to 40 characters of the public texts: read right or refused, never as something else."""
    chance = random.Random(11)
    paths = sorted((formats.parent / "public" / "docs").iterdir())
    texts = ["".join(path.read_text("utf-8").split()) for path in chance.sample(paths, 100)]
    strings: list[str] = []
    while len(strings) < 200:
        text, length = chance.choice(texts), chance.randint(8, 40)
        start = chance.randrange(max(1, len(text) - length))
        if len(piece := text[start : start + length]) >= 8:
            strings.append(piece)
    to_traditional = opencc.OpenCC("s2t")
    read: Counter[str] = Counter()
    for codec in ("utf-8", "gb18030", "big5", "utf-16", "utf-16-le"):
        for string in strings:
            text = to_traditional.convert(string) if codec == "big5" else string
            result = decode(text.encode(codec, "ignore"))
            if isinstance(result, Decoded):
                assert result.text == text.encode(codec, "ignore").decode(codec), codec
                read[codec] += 1
    print(dict(read))
    assert read["utf-8"] == read["utf-16"] == 200
    assert min(read["gb18030"], read["big5"]) >= 190


def test_cases_of_encodings(cases: Path) -> None:
    assert (
        only_text(cases / "gb18030_only.txt").document.raw
        == "承办人：𠮷某，审核人：䶮某，日期：2026年1月5日。"
    )
    assert only_text(cases / "short_gbk.txt").document.raw == "同意"
    assert (
        only_text(cases / "utf16le_notice.txt").document.raw
        == "水费缴纳截止时间调整为每月二十五日。"
    )


def test_cases_of_tables_and_manifests(cases: Path) -> None:
    assert (
        accepted(read(cases / "gbk_header.csv"))
        == accepted(read(cases / "utf8bom_header.csv"))
        != {}
    )
    assert set(accepted(read(cases / "ids.xlsx"))) == {"007", "7", "0070"}
    assert refusals(read(cases / "ids.xlsx")) == {"5": "number_lost_digits"}
    assert len(accepted(read(cases / "line_sep.jsonl"))) == 3
    nul = read(cases / "nul_row.jsonl")
    assert set(accepted(nul)) == {"n1", "n3"}
    assert refusals(nul) == {"2": "nul"}
    repeated = read(cases / "dup_ids.csv")
    assert refusals(repeated) == {"4": "doc_id_conflict"}
    assert set(accepted(read(cases / "gbk_names.zip"))) == {"通知/放假安排.txt", "通知/值班表.txt"}
