"""Rows of a table, from CSV in any delimiter or from a spreadsheet, with the row numbers that people see."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from screening.documents import Problem
from screening.intake import encodings
from screening.intake.limits import DEFAULT_LIMITS, Limits, expansion_problem

DELIMITERS = (",", "\t", ";", "|")
EXACT_INTEGER = 10**15
"""Whole numbers from here on have lost digits in a spreadsheet, which keeps every number as a double."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row as text. ``line`` is the line (CSV) or row (spreadsheet) that it begins on, from 1.

    ``faults``: what is wrong with a cell, by column index; such a cell is empty.
    """

    line: int
    cells: list[str]
    faults: dict[int, Problem]


@dataclass(frozen=True, slots=True)
class Table:
    """A header and the rows below it; rows without any content are left out."""

    header: Row
    rows: Iterator[Row | Problem]
    encoding: str
    warnings: tuple[Problem, ...] = ()


def is_spreadsheet(data: bytes) -> bool:
    """Whether the bytes are a zip container with a workbook in it, whatever the file is called."""
    return data[:4] == b"PK\x03\x04" and b"xl/" in data


def read_csv(data: bytes, *, chosen: str | None = None) -> Table | Problem:
    """Read delimited text; the delimiter is the one that splits the header and the rows below it alike."""
    decoded = encodings.decode_or_chosen(data, chosen)
    if isinstance(decoded, Problem):
        return decoded
    rows = _csv_rows(decoded.text, sniff_delimiter(decoded.text))
    header = next(rows, None)
    if header is None:
        return Problem("table_empty", "The table has no rows")
    if isinstance(header, Problem):
        return header
    return Table(header, rows, decoded.encoding, decoded.warnings)


def sniff_delimiter(text: str) -> str:
    """The delimiter of the header: the one outside quotes that occurs most often; a comma if none does."""
    head = text[:65_536]
    outside: list[str] = []
    quoted = False
    for character in head:
        if character == '"':
            quoted = not quoted
        elif character in "\r\n" and not quoted and outside:
            break
        elif not quoted:
            outside.append(character)
    counts = [(outside.count(mark), -index) for index, mark in enumerate(DELIMITERS)]
    best, index = max(counts)
    return DELIMITERS[-index] if best else ","


def _csv_rows(text: str, delimiter: str) -> Iterator[Row | Problem]:
    # One text may be longer than csv's default limit of 131,072 characters; the file's own size bounds it.
    csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Problem(
                "csv_broken",
                "Line %(line)s: the quoting cannot be read (%(error)s); the rest was not read",
                {"line": line, "error": str(error)},
            )
            return
        if any(cell.strip() for cell in cells):
            yield Row(line, cells, {})


def read_spreadsheet(
    data: bytes, *, limits: Limits = DEFAULT_LIMITS
) -> list[tuple[str, Table]] | Problem:
    """The sheets of a workbook that have rows, by name, first sheet first."""
    from python_calamine import CalamineWorkbook

    if problem := expansion_problem(data, limits.of_office_files()):
        return problem
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [
            (name, book.get_sheet_by_name(name).to_python(skip_empty_area=False))
            for name in book.sheet_names
        ]
    except (
        Exception
    ) as error:  # the reader raises many kinds for a damaged file; none may stop an import
        return Problem(
            "spreadsheet_broken", "The spreadsheet cannot be read: %(error)s", {"error": str(error)}
        )
    tables = []
    for name, values in sheets:
        rows = _sheet_rows(values)
        if (header := next(rows, None)) is not None:
            tables.append((name, Table(header, rows, "")))
    return tables or Problem("table_empty", "The table has no rows")


def _sheet_rows(values: Sequence[Sequence[object]]) -> Iterator[Row]:
    for number, cells in enumerate(values, start=1):
        texts: list[str] = []
        faults: dict[int, Problem] = {}
        for column, cell in enumerate(cells):
            text = cell_text(cell)
            if isinstance(text, Problem):
                faults[column] = text
                text = ""
            texts.append(text)
        if faults or any(text.strip() for text in texts):
            yield Row(number, texts, faults)


def cell_text(cell: object) -> str | Problem:
    """The text of one cell as a person sees it; a number that has lost digits is a problem, not a text."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, int | float):
        if abs(cell) >= EXACT_INTEGER:
            return Problem(
                "number_lost_digits",
                "The number %(number)s has more digits than a spreadsheet keeps; format the column as text and type it again",
                {"number": repr(cell)},
            )
        return str(int(cell)) if float(cell).is_integer() else repr(cell)
    if isinstance(cell, datetime.datetime):
        return (
            cell.isoformat(sep=" ") if cell.time() != datetime.time() else cell.date().isoformat()
        )
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return "" if cell is None else str(cell)
