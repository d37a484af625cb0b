"""Writing the files of a bundle: bytes counted, hashed and synced; rows never held in memory.

Text is written exactly in JSONL and in the plain CSV. The CSV for Excel guards against formulas, and the workbook
marks what a cell cannot hold; both ways are reversible or visible, and described in docs/tables.md.
Pure: knows nothing of Django.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import xlsxwriter

Value = str | int | float | bool | datetime | None
"""What a table cell may hold."""

BOM = b"\xef\xbb\xbf"
GUARD = "'"
GUARDED = (*tuple("=+-@\t\r\n＝＋－＠"), GUARD)
"""Text that begins so gets a :data:`GUARD` in the CSV for Excel; the guard itself too, so that it can be removed."""

XLSX_CELL = 32_767
"""UTF-16 units that one cell holds."""
XLSX_ROWS = 1_048_576
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Column:
    """One column of the final table. ``kind`` decides the type in the workbook; ``width`` is in characters."""

    name: str
    kind: Literal["text", "integer", "number", "time"]
    zh: str
    en: str
    width: int = 14


@dataclass(frozen=True)
class FileFacts:
    """What the manifest says of a file; ``rows`` is None where rows mean nothing."""

    size: int
    rows: int | None
    sha256: str
    rows_sum: str | None = None

    def as_json(self) -> dict[str, object]:
        known: dict[str, object] = {"size": self.size, "rows": self.rows, "sha256": self.sha256}
        return known if self.rows_sum is None else known | {"rows_sum": self.rows_sum}


class RowSum:
    """The sum of the sha256 of all rows, modulo 2**256: the same whatever their order.

    It only helps to say what happened to a changed file; that it was changed, its sha256 says.
    """

    def __init__(self) -> None:
        self._sum = 0

    def add(self, row: bytes) -> None:
        self._sum += int.from_bytes(hashlib.sha256(row).digest())

    @property
    def value(self) -> str:
        return f"{self._sum % 2**256:064x}"


class HashedFile:
    """A new binary file that knows its size and sha256 and is on the disk when closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: int | None = None
        self._row_sum: RowSum | None = None
        self._size = 0
        self._hash = hashlib.sha256()
        self._file = path.open("xb", buffering=1 << 18)

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self._size += len(data)

    def close(self) -> FileFacts:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        row_sum = self._row_sum.value if self._row_sum else None
        return FileFacts(self._size, self.rows, self._hash.hexdigest(), row_sum)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._file.closed:
            self._file.close()


def json_line(row: Mapping[str, object]) -> bytes:
    """One line of JSONL in UTF-8: no escapes but those JSON needs, keys in the order given."""
    return _ENCODER.encode(row).encode() + b"\n"


class JsonLines(HashedFile):
    """A ``.jsonl`` file, written row by row."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.rows: int = 0
        self._row_sum = self.row_sum = RowSum()

    def row(self, row: Mapping[str, object]) -> None:
        line = json_line(row)
        self.write(line)
        self.row_sum.add(line)
        self.rows += 1


def guard(text: str) -> str:
    """``text`` made harmless for a spreadsheet that opens the CSV."""
    return GUARD + text if text.startswith(GUARDED) else text


def unguard(text: str) -> str:
    """The text before :func:`guard`."""
    return text[1:] if text.startswith(GUARD) else text


def plain(value: Value) -> str:
    """A cell as CSV text: times with their offset, numbers so that they read back equal, nothing as ''."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, float):
        return repr(value)
    return str(value)


class Csv(HashedFile):
    """A CSV file with CRLF line ends: for Excel with BOM and formula guard, else plain UTF-8."""

    def __init__(self, path: Path, header: Sequence[str], *, excel: bool) -> None:
        super().__init__(path)
        self.rows: int = 0
        self._row_sum = self.row_sum = RowSum()
        self.excel = excel
        self._buffer = io.StringIO(newline="")
        self._writer = csv.writer(self._buffer, lineterminator="\r\n")
        self._line(header, start=BOM if excel else b"")

    def row(self, values: Sequence[Value]) -> None:
        texts = [plain(value) for value in values]
        if self.excel:
            texts = [
                guard(text) if isinstance(value, str) else text
                for value, text in zip(values, texts, strict=True)
            ]
        self._line(texts)
        self.rows += 1

    def _line(self, texts: Sequence[str], start: bytes = b"") -> None:
        self._writer.writerow(texts)
        line = start + self._buffer.getvalue().encode()
        self.write(line)
        self.row_sum.add(line)
        self._buffer.seek(0)
        self._buffer.truncate()


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


XLSX_EXTRA = (
    Column("cut_cells", "text", "被截断的单元格", "cells cut, with their full length", 20),
    Column(
        "replaced_characters", "integer", "被替换的控制字符数", "control characters replaced", 10
    ),
)
"""Columns that only the workbook has, after those of the table."""


class Workbook:
    """An ``.xlsx`` table: typed cells, no formulas, no links, frozen header, filters; rows go straight to disk."""

    def __init__(self, path: Path, columns: Sequence[Column], *, made_at: datetime) -> None:
        self.path = path
        self.columns = (*columns, *XLSX_EXTRA)
        self.rows = 0
        self._book = xlsxwriter.Workbook(
            str(path),
            {
                "constant_memory": True,
                "strings_to_formulas": False,
                "strings_to_urls": False,
                "strings_to_numbers": False,
                "nan_inf_to_errors": False,
                "tmpdir": str(path.parent),
            },
        )
        self._book.set_properties({"created": made_at.replace(tzinfo=None)})
        self._head = self._book.add_format({"bold": True, "bg_color": "#EEEEEE"})
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._plain = self._book.add_format()
        self._sheets = 0
        self._next_row = XLSX_ROWS

    def _new_sheet(self) -> None:
        self._sheets += 1
        name = "审核表" if self._sheets == 1 else f"审核表 {self._sheets}"
        self._sheet = self._book.add_worksheet(name)
        self._sheet.freeze_panes(1, 0)
        for index, column in enumerate(self.columns):
            self._sheet.set_column(index, index, column.width)
            self._sheet.write_string(0, index, column.name, self._head)
        self._next_row = 1

    def row(self, values: Sequence[Value]) -> None:
        if self._next_row >= XLSX_ROWS:
            self._finish_sheet()
            self._new_sheet()
        cut: list[str] = []
        replaced = 0
        for index, value in enumerate(values):
            if isinstance(value, str):
                shown, count, was_cut = fit_cell(value)
                replaced += count
                if was_cut:
                    cut.append(f"{self.columns[index].name}={len(value)}")
                self._text(index, shown)
            elif isinstance(value, datetime):
                self._sheet.write_datetime(
                    self._next_row, index, value.replace(tzinfo=None), self._time
                )
            elif value is not None:
                self._sheet.write_number(self._next_row, index, value)
        if cut:
            self._text(len(values), ", ".join(cut))
        self._sheet.write_number(self._next_row, len(values) + 1, replaced)
        self._next_row += 1
        self.rows += 1

    def _text(self, column: int, text: str) -> None:
        if text.startswith("<r>") and text.endswith("</r>"):
            # xlsxwriter takes such a string for mark-up of its own and would write it unescaped.
            self._sheet.write_rich_string(self._next_row, column, text[:2], self._plain, text[2:])
        elif text:
            self._sheet.write_string(self._next_row, column, text)

    def _finish_sheet(self) -> None:
        if self._sheets:
            self._sheet.autofilter(0, 0, max(self._next_row - 1, 1), len(self.columns) - 1)

    def close(self, *, notes: Sequence[str] = ()) -> FileFacts:
        """Finish the file, with a sheet that says what the columns mean."""
        if not self._sheets:
            self._new_sheet()
        self._finish_sheet()
        sheet = self._book.add_worksheet("说明")
        sheet.set_column(0, 2, 36)
        lines = [(column.name, column.zh, column.en) for column in self.columns]
        lines += [(note, "", "") for note in notes]
        for number, line in enumerate(lines):
            for index, text in enumerate(line):
                sheet.write_string(number, index, text)
        self._book.close()
        return file_facts(self.path, rows=self.rows)


def file_facts(path: Path, *, rows: int | None = None) -> FileFacts:
    """Size and sha256 of a finished file, which is synced to the disk."""
    total = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
            size += len(piece)
        os.fsync(file.fileno())
    return FileFacts(size, rows, total.hexdigest())


def write_bytes(path: Path, data: bytes, *, rows: int | None = None) -> FileFacts:
    """A whole small file."""
    with HashedFile(path) as file:
        file.rows = rows
        file.write(data)
        return file.close()
