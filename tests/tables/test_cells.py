"""What cells hold comes back as it was, or says visibly that it does not."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
import python_calamine
from hypothesis import given
from hypothesis import strategies as st

from reviews.tables import final
from reviews.tables.workbook import XLSX_CELL, Workbook, fit_cell, utf16_length
from reviews.tables.writers import BOM, Column, Csv, JsonLines, Value, guard, unguard
from tests.tables.office import converted

MADE = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
COLUMNS = (
    Column("text", "text", "文字", "text"),
    Column("number", "number", "数", "number"),
    Column("count", "integer", "个数", "count"),
    Column("time", "time", "时间", "time"),
)
TRICKY = [
    "=1+1",
    "+86 电话",
    "-5℃以下停工",
    "@SUM(A1)",
    "＝全角",
    "＋１",
    "－１",
    "＠处",
    "=====分割线=====",
    "'已有撇号",
    "'=1",
    '引号 " 与 ""',
    "逗号,分号;",
    "第一行\n第二行",
    "表\t格",
    "  前后空格  ",
    "0012",
    "1e5",
    "TRUE",
    "2026-03-01",
    "http://example.org/一",
    "mailto:a@example.org",
    "emoji 😀👨‍👩‍👧",
    "𠮷野家𡃁",
    "_x000B_ 字面",
    "<r>不是标记</r>",
    "<r><t>x</t></r>",
    "<b>&amp;</b>",
    "]]>",
    "{=A1}",
    "e\u0301 与 é",
    "\u200f右",
]


def write_book(path: Path, rows: list[list[Value]]) -> Path:
    book = Workbook(path, COLUMNS, made_at=MADE)
    for row in rows:
        book.row(row)
    book.close()
    return path


def read_book(path: Path) -> list[list[object]]:
    rows = python_calamine.load_workbook(path).get_sheet_by_index(0).to_python()
    return [list(row) for row in rows]


def write_csv(path: Path, rows: list[list[Value]], *, excel: bool) -> Path:
    with Csv(path, [column.name for column in COLUMNS], excel=excel) as file:
        for row in rows:
            file.row(row)
        file.close()
    return path


def as_rows(texts: list[str]) -> list[list[Value]]:
    return [[text, -0.25, number, MADE] for number, text in enumerate(texts)]


def test_workbook_cells_come_back_equal_from_libreoffice(tmp_path: Path) -> None:
    book = write_book(tmp_path / "book.xlsx", as_rows(TRICKY))
    assert [row[0] for row in read_book(book)[1:]] == TRICKY
    # 44 comma, 34 quote, 76 UTF-8, from row 1; all cells as shown would format numbers, so values are saved.
    saved = converted(
        book, "csv", tmp_path / "out", "Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false"
    )
    with saved.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows[1:]] == TRICKY
    assert {row[1] for row in rows[1:]} == {"-0.25"}
    assert rows[0][:4] == ["text", "number", "count", "time"]


def test_the_guarded_csv_evaluates_nothing_in_libreoffice(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "final.csv", as_rows(TRICKY), excel=True)
    book = converted(
        file, "xlsx", tmp_path / "out", reading="Text - txt - csv (StarCalc):44,34,76,1"
    )

    with zipfile.ZipFile(book) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "<f" not in sheet.replace("<family", "")
    cells = [row[0] for row in read_book(book)[1:]]
    for text, cell in zip(TRICKY, cells, strict=True):
        if text.startswith(("=", "+", "-", "@")):
            assert str(cell).lstrip("'") == text.lstrip("'")


def test_numbers_stay_numbers_and_times_times(tmp_path: Path) -> None:
    row = read_book(write_book(tmp_path / "book.xlsx", as_rows(["x"])))[1]
    assert row[1] == -0.25
    assert row[2] == 0
    assert row[3] == datetime(2026, 3, 1, 8, 30)
    data = write_csv(tmp_path / "final.csv", as_rows(["x"]), excel=True).read_bytes()
    assert b",-0.25,0,2026-03-01T08:30:00+00:00\r\n" in data


def test_control_characters_are_pictured_and_counted(tmp_path: Path) -> None:
    text = "页一\f页二\x0b尾\x7f\ufffe"
    row = read_book(write_book(tmp_path / "book.xlsx", as_rows([text])))[1]
    assert row[0] == "页一␌页二␋尾␡\ufffd"
    assert row[5] == 4
    for excel in (True, False):
        path = write_csv(tmp_path / f"{excel}.csv", as_rows([text]), excel=excel)
        with path.open(encoding="utf-8-sig", newline="") as file:
            assert list(csv.reader(file))[1][0] == text


@pytest.mark.parametrize("text", ["长" * 40_000, "𠮷" * 20_000, "ab😀" * 15_000])
def test_long_cells_end_with_a_note_and_tell_their_length(tmp_path: Path, text: str) -> None:
    row = read_book(write_book(tmp_path / "book.xlsx", as_rows([text])))[1]
    cell = str(row[0])
    assert utf16_length(cell) <= XLSX_CELL
    assert utf16_length(cell) >= XLSX_CELL - 1
    assert cell.endswith("】")
    assert str(len(text)) in cell[-80:]
    assert text.startswith(cell.split("…【")[0])
    assert row[4] == f"text={len(text)}"
    plain = write_csv(tmp_path / "data.csv", as_rows([text]), excel=False)
    assert text in plain.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("length", "cut"), [(XLSX_CELL - 1, False), (XLSX_CELL, False), (XLSX_CELL + 1, True)]
)
def test_the_limit_is_exact(length: int, cut: bool) -> None:
    shown, _replaced, was_cut = fit_cell("字" * length)
    assert was_cut is cut
    assert utf16_length(shown) == min(length, XLSX_CELL)


@given(st.text())
def test_the_guard_can_be_taken_off(text: str) -> None:
    assert unguard(guard(text)) == text
    assert not guard(text).startswith(tuple("=+-@\t\r\n＝＋－＠"))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_csv_gives_back_any_text(texts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for excel in (True, False):
            path = write_csv(Path(folder) / f"{excel}.csv", as_rows(list(texts)), excel=excel)
            data = path.read_bytes()
            assert data.startswith(BOM) is excel
            reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
            found = [row[0] for row in reader][1:]
            assert [unguard(text) if excel else text for text in found] == texts


def test_a_line_of_jsonl_is_exact_and_one_line(tmp_path: Path) -> None:
    import json

    with JsonLines(tmp_path / "a.jsonl") as file:
        for text in [*TRICKY, "\u2028行\x0b\f\r\n"]:
            file.row({"text": text})
        facts = file.close()
    lines = (tmp_path / "a.jsonl").read_bytes().split(b"\n")
    assert [json.loads(line)["text"] for line in lines[:-1]] == [*TRICKY, "\u2028行\x0b\f\r\n"]
    assert facts.rows == len(TRICKY) + 1
    assert "副本".encode() in json_bytes("副本")


def json_bytes(text: str) -> bytes:
    from reviews.tables.writers import json_line

    return json_line({"label": text})


def test_a_workbook_longer_than_a_sheet_goes_on_on_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviews.tables.workbook.XLSX_ROWS", 4)
    path = write_book(tmp_path / "book.xlsx", as_rows([str(n) for n in range(7)]))
    book = python_calamine.load_workbook(path)
    assert book.sheet_names == ["审核表", "审核表 2", "审核表 3", "说明"]
    sizes = [len(book.get_sheet_by_index(index).to_python()) for index in range(3)]
    assert sizes == [4, 4, 2]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    one = write_book(tmp_path / "one.xlsx", as_rows(TRICKY)).read_bytes()
    other = write_book(tmp_path / "other.xlsx", as_rows(TRICKY)).read_bytes()
    assert one == other


def test_every_column_is_explained_in_both_languages() -> None:
    assert len(set(final.HEADER)) == len(final.COLUMNS)
    assert all(column.zh and column.en and column.name.isascii() for column in final.COLUMNS)
