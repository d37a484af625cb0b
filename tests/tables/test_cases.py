"""The shared cases of the areas signing and export, each by its expectation."""

from __future__ import annotations

import csv
import hashlib
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import python_calamine
from django.utils.http import content_disposition_header

from dedupreview.digests import canonical
from reviews.tables.workbook import Workbook
from reviews.tables.writers import Column, Csv, JsonLines, Value, unguard
from tests.reviews import world as worlds
from tests.tables import making

MADE = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def case(shared: Path) -> Any:
    """A function that gives a shared case by its id."""
    with (shared / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        known = {row["id"]: row for row in map(json.loads, file)}
    return known.__getitem__


def written(folder: Path, cells: dict[str, Value]) -> tuple[list[str], list[object], Any]:
    """``cells`` as a row: what the guarded CSV, the workbook and JSONL give back."""
    columns = [
        Column(name, "number" if isinstance(value, float) else "text", name, name)
        for name, value in cells.items()
    ]
    with Csv(folder / "final.csv", list(cells), excel=True) as table:
        table.row(list(cells.values()))
        table.close()
    book = Workbook(folder / "final.xlsx", columns, made_at=MADE)
    book.row(list(cells.values()))
    book.close()
    with JsonLines(folder / "rows.jsonl") as file:
        file.row(cells)
        file.close()
    with (folder / "final.csv").open(encoding="utf-8-sig", newline="") as text:
        rows = list(csv.reader(text))
    sheet = python_calamine.load_workbook(folder / "final.xlsx").get_sheet_by_index(0).to_python()
    return rows[1], list(sheet[1]), json.loads((folder / "rows.jsonl").read_bytes())


def test_p01_the_csv_opens_in_chinese_excel_and_the_mark_is_swallowed_again(
    case: Any, table: Path
) -> None:
    data = (table / "final.csv").read_bytes()
    assert data[:3] == bytes.fromhex(case("P-01")["expected"]["first_bytes"])
    with (table / "final.csv").open(encoding="utf-8-sig", newline="") as file:
        again = list(csv.reader(file))
    with (table / "final.data.csv").open(encoding="utf-8", newline="") as file:
        plain = list(csv.reader(file))
    assert again[0] == plain[0]
    assert [[unguard(cell) for cell in row] for row in again] == plain


def test_p02_text_is_guarded_and_numbers_stay_numbers(case: Any, tmp_path: Path) -> None:
    cells = case("P-02")["input"]["cells"]
    row, sheet, exact = written(tmp_path, cells)
    assert row[0] == "-0.25"
    assert sheet[0] == -0.25
    for name, shown, cell in list(zip(cells, row, sheet, strict=False))[1:]:
        assert shown == "'" + cells[name]
        assert cell == cells[name]
    assert exact == cells
    with zipfile.ZipFile(tmp_path / "final.xlsx") as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_p03_a_line_of_equals_signs_is_text(case: Any, tmp_path: Path) -> None:
    text = case("P-03")["input"]["text"]
    row, sheet, _exact = written(tmp_path, {"text": text})
    assert sheet[0] == case("P-03")["expected"]["read_back"]
    assert unguard(row[0]) == text


def test_p04_control_characters_break_nothing(case: Any, tmp_path: Path) -> None:
    text = case("P-04")["input"]["text"]
    row, sheet, exact = written(tmp_path, {"text": text})
    assert sheet[0] == text.replace("\f", "␌").replace("\x0b", "␋")
    assert sheet[2] == 2
    assert row[0] == text
    assert exact == {"text": text}


def test_p05_a_cell_too_long_says_so(case: Any, tmp_path: Path) -> None:
    text = "长" * 40_000
    row, sheet, exact = written(tmp_path, {"text": text})
    assert len(str(sheet[0])) <= case("P-05")["expected"]["xlsx_cell_max"]
    assert "已截断" in str(sheet[0])[-80:]
    assert "40000" in str(sheet[1])
    assert row[0] == text
    assert exact == {"text": text}


@pytest.mark.django_db
def test_p07_every_pair_is_one_row_however_many_judged_it(case: Any, data_dir: Path) -> None:
    expected = case("P-07")["expected"]
    made = worlds.world(3, seats=3)
    for who in made.annotators:
        making.answer(made.round, who, "copy")
    folder = making.exported(made.round)
    with (folder / "final.data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == expected["pair_rows"]
    assert sorted(row["label"] for row in rows) == ["", "", "copy"]
    assert len((folder / "judgments.jsonl").read_bytes().splitlines()) == 3


def test_p09_a_chinese_file_name_survives_the_header(case: Any) -> None:
    header = content_disposition_header(True, case("P-09")["input"]["filename"])
    assert header is not None
    assert case("P-09")["expected"]["header_contains"] in header


def test_k01_the_canonical_form_is_raw_utf8(case: Any) -> None:
    given = case("K-01")
    found = hashlib.sha256(canonical(given["input"]["object"])).hexdigest()
    assert found == given["expected"]["sha256_utf8_form"]
    assert found != given["expected"]["sha256_escaped_form"]
