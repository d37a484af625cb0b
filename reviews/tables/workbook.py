"""The workbook of a table: typed cells, no formulas, no links, frozen header, filters; rows go straight to disk.

xlsxwriter makes everything but the rows of the table, which are written here as it writes them in its constant-memory
mode (inline strings, the same escapes): cell by cell through its objects they would take most of an export's time.
Pure: knows nothing of Django.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import IO

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name

from reviews.tables.writers import Column, FileFacts, Value, file_facts, plain

XLSX_CELL = 32_767
"""UTF-16 units that one cell holds."""
XLSX_ROWS = 1_048_576
"""Rows of a sheet, the header included."""
SHEET_BYTES = 2_000_000_000
"""Unpacked bytes of a sheet, after which another begins: beyond 2 GiB zips take a form that not every Excel reads."""
LEVEL = 3
SHEET = "审核表"
NOTES = "说明"

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_BETWEEN = "\x1e"
_SPACE = f"(?!{_BETWEEN})\\s"
_ODD = re.compile(
    f"[\x00-\x08\x0b-\x1d\x1f\x7f&<>\ufffe\uffff]|_x|{_BETWEEN}{_SPACE}|{_SPACE}{_BETWEEN}"
)
"""In a row's texts, joined and framed by :data:`_BETWEEN`: what a cell cannot just be written with."""
_ESCAPED = re.compile("(_x[0-9a-fA-F]{4}_)")
_EDGE = re.compile(r"\A\s|\s\Z")

XLSX_EXTRA = (
    Column("cut_cells", "text", "被截断的单元格", "cells cut, with their full length", 20),
    Column(
        "replaced_characters", "integer", "被替换的控制字符数", "control characters replaced", 10
    ),
)
"""Columns that only the workbook has, after those of the table."""


def utf16_length(text: str) -> int:
    """Length as Excel counts it: characters beyond the basic plane count twice."""
    return len(text) + sum(character > "\uffff" for character in text)


def fit_cell(text: str) -> tuple[str, int, bool]:
    """What a workbook cell shows of ``text``, how many characters were replaced, and whether it was cut.

    Control characters become their pictures (U+2400 …), other characters XML refuses become U+FFFD. A cut text ends
    with a note that gives its full length in characters; the whole never exceeds :data:`XLSX_CELL` UTF-16 units.
    """
    shown, replaced = _CONTROL.subn(_picture, text)
    if len(shown) <= XLSX_CELL // 2 or utf16_length(shown) <= XLSX_CELL:
        return shown, replaced, False
    note = (
        f"…【已截断：全文 {len(text)} 字，见 final.csv / cut: {len(text)} characters in final.csv】"
    )
    room = XLSX_CELL - len(note)
    head = shown.encode("utf-16-le")[: 2 * room].decode("utf-16-le", "ignore")
    return head + note, replaced, True


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0x7F:
        return "\u2421"
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


class Workbook:
    """An ``.xlsx`` file, written row by row; when a sheet is full, another follows with the same header."""

    def __init__(self, path: Path, columns: Sequence[Column], *, made_at: datetime) -> None:
        self.path = path
        self.columns = (*columns, *XLSX_EXTRA)
        self.rows = 0
        self._made_at = made_at
        self._kinds = [column.kind for column in columns]
        self._letters = [xl_col_to_name(index) for index in range(len(self.columns))]
        self._head, self._time_style = _head_and_time_style(self._skeleton([1], ()))
        self._archive = zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED, compresslevel=LEVEL)
        self._sheet: IO[bytes] | None = None
        self._sheet_rows: list[int] = []
        self._sheet_bytes = 0
        self._held: list[str] = []

    def row(self, values: Sequence[Value]) -> None:
        """A row of values; each cell has the type of its value."""
        kinds = [
            "text" if isinstance(v, (str, bool)) else "time" if isinstance(v, datetime) else "number"
            for v in values
        ]
        self._row(kinds, [plain(value) for value in values])

    def texts(self, texts: Sequence[str]) -> None:
        """A row of the plain CSV; each cell has the type of its column."""
        self._row(self._kinds, texts)

    def _row(self, kinds: Sequence[str], texts: Sequence[str]) -> None:
        if (
            self._sheet is None
            or self._sheet_rows[-1] + 1 >= XLSX_ROWS
            or self._sheet_bytes >= SHEET_BYTES
        ):
            self._next_sheet()
        self._sheet_rows[-1] += 1
        self.rows += 1
        number = self._sheet_rows[-1] + 1
        whole = f"{_BETWEEN}{_BETWEEN.join(texts)}{_BETWEEN}"
        smooth = (
            _ODD.search(whole) is None
            and whole.count(_BETWEEN) == len(texts) + 1
            and len(whole) <= XLSX_CELL // 2
        )
        cells = self._smooth(kinds, texts, number) if smooth else self._odd(kinds, texts, number)
        self._held.append(f'<row r="{number}">{"".join(cells)}</row>')
        if len(self._held) >= 200:
            self._write_held()

    def _smooth(self, kinds: Sequence[str], texts: Sequence[str], number: int) -> list[str]:
        """The cells of a row in which nothing has to be escaped, cut or replaced."""
        cells = [
            (
                f'<c r="{letter}{number}" t="inlineStr"><is><t>{text}</t></is></c>'
                if kind == "text"
                else self._number(letter, kind, text, number)
            )
            for letter, kind, text in zip(self._letters, kinds, texts, strict=False)
            if text
        ]
        cells.append(f'<c r="{self._letters[len(texts) + 1]}{number}"><v>0</v></c>')
        return cells

    def _number(self, letter: str, kind: str, text: str, number: int) -> str:
        if kind == "time":
            return f'<c r="{letter}{number}" s="{self._time_style}"><v>{_serial(text)}</v></c>'
        return f'<c r="{letter}{number}"><v>{text}</v></c>'

    def _odd(self, kinds: Sequence[str], texts: Sequence[str], number: int) -> list[str]:
        cells: list[str] = []
        cut: list[str] = []
        replaced = 0
        for column, letter, kind, text in zip(
            self.columns, self._letters, kinds, texts, strict=False
        ):
            if not text:
                continue
            if kind != "text":
                cells.append(self._number(letter, kind, text, number))
                continue
            shown, count, was_cut = fit_cell(text)
            replaced += count
            if was_cut:
                cut.append(f"{column.name}={len(text)}")
            cells.append(_string(f"{letter}{number}", shown))
        after = self._letters[len(texts) :]
        if cut:
            cells.append(_string(f"{after[0]}{number}", ", ".join(cut)))
        cells.append(f'<c r="{after[1]}{number}"><v>{replaced}</v></c>')
        return cells

    def _write_held(self) -> None:
        data = "".join(self._held).encode()
        self._held.clear()
        assert self._sheet is not None
        self._sheet.write(data)
        self._sheet_bytes += len(data)

    def _next_sheet(self) -> None:
        self._end_sheet()
        self._sheet_rows.append(0)
        name = f"xl/worksheets/sheet{len(self._sheet_rows)}.xml"
        self._sheet = self._archive.open(name, "w")
        self._sheet.write(self._head)
        self._sheet_bytes = len(self._head)

    def _end_sheet(self) -> None:
        if self._sheet is None:
            return
        self._write_held()
        rows = self._sheet_rows[-1]
        with self._skeleton([rows], ()) as parts:
            whole = parts.read("xl/worksheets/sheet1.xml")
        self._sheet.write(whole[whole.index(b"</sheetData>") :])
        self._sheet.close()
        self._sheet = None

    def close(self, *, notes: Sequence[str] = ()) -> FileFacts:
        """Finish the file, with a sheet that says what the columns mean."""
        if not self._sheet_rows:
            self._next_sheet()
        self._end_sheet()
        written = set(self._archive.namelist())
        with self._skeleton(self._sheet_rows, notes) as parts, self._archive:
            for name in parts.namelist():
                if name not in written:
                    with self._archive.open(name, "w") as part:
                        part.write(parts.read(name))
        return file_facts(self.path, rows=self.rows)

    def abandon(self) -> None:
        """Let go of the file without finishing it."""
        if self._sheet is not None:
            self._sheet.close()
        self._archive.close()

    def _skeleton(self, rows: Sequence[int], notes: Iterable[str]) -> zipfile.ZipFile:
        """The workbook without its rows: one sheet per number of rows, and the notes."""
        target = io.BytesIO()
        book = xlsxwriter.Workbook(target, {"in_memory": True, "strings_to_urls": False})
        book.set_properties({"created": self._made_at.replace(tzinfo=None)})
        head = book.add_format({"bold": True, "bg_color": "#EEEEEE"})
        time = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for number, count in enumerate(rows, start=1):
            sheet = book.add_worksheet(SHEET if number == 1 else f"{SHEET} {number}")
            sheet.freeze_panes(1, 0)
            for index, column in enumerate(self.columns):
                sheet.set_column(index, index, column.width)
                sheet.write_string(0, index, column.name, head)
            sheet.write_number(1, 0, 0, time)  # a format exists only where it is used
            sheet.autofilter(0, 0, max(count, 1), len(self.columns) - 1)
        sheet = book.add_worksheet(NOTES)
        sheet.set_column(0, 2, 36)
        lines = [(column.name, column.zh, column.en) for column in self.columns]
        lines += [(note, "", "") for note in notes]
        for number, line in enumerate(lines):
            for index, text in enumerate(line):
                sheet.write_string(number, index, text)
        book.close()
        return zipfile.ZipFile(target)


def _head_and_time_style(skeleton: zipfile.ZipFile) -> tuple[bytes, str]:
    """What stands before the rows of a sheet, its header included, and the number of the style of times."""
    with skeleton:
        whole = skeleton.read("xl/worksheets/sheet1.xml")
    # The size of the sheet, which is not known yet, may be left out.
    whole = re.sub(rb"<dimension [^>]*/>", b"", whole)
    end = whole.index(b"</row>") + len(b"</row>")
    style = re.search(rb'<c r="A2" s="(\d+)"', whole)
    assert style is not None
    return whole[:end], style[1].decode()


def _string(place: str, text: str) -> str:
    text = _ESCAPED.sub(r"_x005F\1", text).replace("\r", "_x000D_")
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    space = ' xml:space="preserve"' if _EDGE.search(text) else ""
    return f'<c r="{place}" t="inlineStr"><is><t{space}>{text}</t></is></c>'


def _serial(text: str) -> str:
    """A time as Excel counts it, days since the end of 1899, as the clock on the wall showed it."""
    seconds = int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
    return repr(_day(text[:10]) + seconds / 86_400)


@lru_cache(maxsize=1024)
def _day(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1899, 12, 30)).days
