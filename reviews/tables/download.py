"""Handing out a table as a zip: the same bytes every time, made while they are sent."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from reviews.models import ReviewTable
from reviews.tables.exporting import table_folder

PIECE = 1 << 18
EPOCH = (1980, 1, 1, 0, 0, 0)
"""A zip knows no earlier time; a fixed one keeps the bytes the same."""


def download_name(table: ReviewTable) -> str:
    """The file name to offer: the round's name in any script, and the number of the table."""
    name = "".join("_" if c in '/\\:*?"<>|' or not c.isprintable() else c for c in table.round.name)
    return f"{name.strip('. ')[:80] or 'table'}-{table.number}.zip"


def zip_response(table: ReviewTable) -> StreamingHttpResponse:
    """The answer that offers the zip of a finished table; who may have it, the caller has decided."""
    response = StreamingHttpResponse(zip_stream(table), content_type="application/zip")
    disposition = content_disposition_header(True, download_name(table))
    if disposition:
        response["Content-Disposition"] = disposition
    return response


def zip_stream(table: ReviewTable) -> Iterator[bytes]:
    """The zip of a finished table's folder in pieces; its files lie at the top, in order of name."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(table_folder(table).iterdir(), key=lambda path: path.name):
            info = zipfile.ZipInfo(path.name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o100644 << 16
            info.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(info, "w") as target:
                while piece := source.read(PIECE):
                    target.write(piece)
                    yield from sink.take()
            yield from sink.take()
    yield from sink.take()


class _Sink(io.RawIOBase):
    """Collects what the archive writes until it is taken; it cannot seek, so the archive never looks back."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> list[bytes]:
        taken, self._pieces = self._pieces, []
        return taken
