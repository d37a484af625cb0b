"""Handing out a table as a zip, whole or from any byte on, with little in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

from reviews.models import ReviewTable
from reviews.tables import packing
from reviews.tables.exporting import table_folder

PIECE = 1 << 18
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def download_name(table: ReviewTable) -> str:
    """The file name to offer: the round's name in any script, and the number of the table."""
    name = "".join("_" if c in '/\\:*?"<>|' or not c.isprintable() else c for c in table.round.name)
    return f"{name.strip('. ')[:80] or 'table'}-{table.number}.zip"


def zip_response(request: HttpRequest, table: ReviewTable) -> HttpResponseBase:
    """The answer that offers the zip of a finished table; who may have it, the caller has decided.

    A zip that is kept can be asked for in parts (``Range``, with ``If-Range`` or without), so that a broken download goes
    on where it stopped. A table made by the command has none: its zip is made while it is sent, with the same bytes.
    Raises Http404 if the table is not done or its folder is gone.
    """
    if table.state != ReviewTable.State.DONE or not table_folder(table).is_dir():
        raise Http404
    kept = packing.packed(table_folder(table))
    mark = f'"{table.manifest_sha256}"'
    response: HttpResponseBase
    if kept.is_file():
        response = _from_file(request, kept, mark)
        response["Accept-Ranges"] = "bytes"
    else:
        response = StreamingHttpResponse(zip_stream(table), content_type="application/zip")
    response["ETag"] = mark
    disposition = content_disposition_header(True, download_name(table))
    if disposition:
        response["Content-Disposition"] = disposition
    return response


def zip_stream(table: ReviewTable) -> Iterator[bytes]:
    """The zip of a finished table's folder in pieces, made while they are taken."""
    for _done, piece in packing.pieces(table_folder(table)):
        yield piece


def _from_file(request: HttpRequest, path: Path, mark: str) -> HttpResponseBase:
    size = path.stat().st_size
    part = _part(request, size, mark)
    if part is None:
        response: HttpResponseBase = StreamingHttpResponse(
            _read(path, 0, size), content_type="application/zip"
        )
        response["Content-Length"] = str(size)
        return response
    start, end = part
    if start >= end:
        response = HttpResponse(status=416, content_type="application/zip")
        response["Content-Range"] = f"bytes */{size}"
        return response
    response = StreamingHttpResponse(
        _read(path, start, end), status=206, content_type="application/zip"
    )
    response["Content-Length"] = str(end - start)
    response["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response


def _part(request: HttpRequest, size: int, mark: str) -> tuple[int, int] | None:
    """The bytes asked for, from and to (exclusive); None for all of them, an empty span for what is not there.

    Several ranges at once, and anything that is no range of bytes, may be answered with the whole (RFC 9110, 14.2).
    """
    found = _RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    condition = request.headers.get("If-Range")
    if found is None or found[1] == found[2] == "" or condition not in (None, mark):
        return None
    if found[1] == "":
        length = int(found[2])
        return (max(size - length, 0), size) if length else (size, size)
    start = int(found[1])
    end = int(found[2]) + 1 if found[2] else size
    if found[2] and end <= start:  # no valid range at all
        return None
    return start, min(end, size)


def _read(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        left = end - start
        while left and (piece := file.read(min(PIECE, left))):
            left -= len(piece)
            yield piece
