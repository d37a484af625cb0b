"""Writing the files of a bundle: bytes counted, hashed and synced; rows never held in memory.

Text is written exactly in JSONL and in the plain CSV. The CSV for Excel guards against formulas, in a way that can be
taken back and is described in docs/tables.md.
Pure: knows nothing of Django.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

Value = str | int | float | bool | datetime | None
"""What a table cell may hold."""

HELD = 256
"""Rows that are written and hashed at a time."""
BOM = b"\xef\xbb\xbf"
GUARD = "'"
GUARDED = (*tuple("=+-@\t\r\n＝＋－＠"), GUARD)
"""Text that begins so gets a :data:`GUARD` in the CSV for Excel; the guard itself too, so that it can be removed."""

_GUARDED = frozenset(GUARDED)

_ENCODER = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
)


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
        self.add_all((row,))

    def add_all(self, rows: Iterable[bytes]) -> None:
        read, sha256, found = int.from_bytes, hashlib.sha256, 0
        for row in rows:
            found += read(sha256(row).digest(), "big")
        self._sum = (self._sum + found) % 2**256

    @property
    def value(self) -> str:
        return f"{self._sum:064x}"


class HashedFile:
    """A new binary file that knows its size and sha256 and is on the disk when closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        self._hash = hashlib.sha256()
        self._file = path.open("xb", buffering=0)

    def write(self, data: bytes) -> None:
        self._size += len(data)
        self._hash.update(data)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def close(self) -> FileFacts:
        os.fsync(self._file.fileno())
        self._file.close()
        return FileFacts(self._size, None, self._hash.hexdigest())

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


class Lines(HashedFile):
    """A file of rows, a few of which are held back: writing and hashing each by itself would cost more than making it."""

    headers = 0

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._held: list[bytes] = []
        self._count = 0
        self._row_sum = RowSum()

    def line(self, line: bytes) -> None:
        """A row as it stands in the file, with its line end."""
        self._held.append(line)
        if len(self._held) >= HELD:
            self._flush()

    def _flush(self) -> None:
        held, self._held = self._held, []
        self.write(b"".join(held))
        self._row_sum.add_all(held)
        self._count += len(held)

    def close(self) -> FileFacts:
        self._flush()
        rows = self._count - self.headers
        return replace(super().close(), rows=rows, rows_sum=self._row_sum.value)


def json_line(row: Mapping[str, object]) -> bytes:
    """One line of JSONL in UTF-8: no escapes but those JSON needs, keys in the order given."""
    return _ENCODER.encode(row).encode() + b"\n"


class JsonLines(Lines):
    """A ``.jsonl`` file, written row by row."""

    def row(self, row: Mapping[str, object]) -> None:
        self.line(json_line(row))


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


class CsvLines:
    """Turns rows into lines of CSV with CRLF ends."""

    def __init__(self) -> None:
        self._buffer = io.StringIO(newline="")
        self._writer = csv.writer(self._buffer, lineterminator="\r\n")

    def line(self, texts: Sequence[str]) -> bytes:
        self._writer.writerow(texts)
        line = self._buffer.getvalue().encode()
        self._buffer.seek(0)
        self._buffer.truncate()
        return line

    def both(self, values: Sequence[Value]) -> tuple[bytes, bytes]:
        """The row for Excel, and as plain data: mostly they are the same."""
        texts = [value if isinstance(value, str) else plain(value) for value in values]
        line = self.line(texts)
        if _GUARDED.isdisjoint([text[:1] for text in texts]):
            return line, line
        guarded = [guard(value) if isinstance(value, str) else plain(value) for value in values]
        return self.line(guarded), line


class Csv(Lines):
    """A CSV file with CRLF line ends: for Excel with BOM and formula guard, else plain UTF-8."""

    headers = 1

    def __init__(self, path: Path, header: Sequence[str], *, excel: bool) -> None:
        super().__init__(path)
        self.excel = excel
        self._lines = CsvLines()
        self.line((BOM if excel else b"") + self._lines.line(header))

    def row(self, values: Sequence[Value]) -> None:
        for_excel, data = self._lines.both(values)
        self.line(for_excel if self.excel else data)


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


def write_bytes(path: Path, data: bytes) -> FileFacts:
    """A whole small file."""
    with HashedFile(path) as file:
        file.write(data)
        return file.close()
