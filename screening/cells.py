"""Rows of a CSV file that a spreadsheet opens as text, never as a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence


class _Line:
    """What the csv module writes to; it keeps the last line."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def cell(value: object) -> str:
    """A value as text; text that a spreadsheet would take for a formula gets a quote before it."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value)
    text = value.encode("utf-8", "replace").decode("utf-8")
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a CSV file with this header; each ends with \\r, to which the writer of lines adds \\n."""
    line = _Line()
    writer = csv.writer(line, lineterminator="\r")
    writer.writerow(header)
    yield line.text
    for row in rows:
        writer.writerow([cell(value) for value in row])
        yield line.text
