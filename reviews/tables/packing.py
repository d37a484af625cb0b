"""The zip of a table's folder: the same bytes every time, whether it is kept or made while it is sent."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from reviews.tables.harvest import Progress

PIECE = 1 << 18
EPOCH = (1980, 1, 1, 0, 0, 0)
"""A zip knows no earlier time; a fixed one keeps the bytes the same."""
LEVEL = 3
MEGABYTE = 1_000_000


def packed(folder: Path) -> Path:
    """Where the zip of a finished folder is kept: beside it."""
    return folder.with_name(f"{folder.name}.zip")


def pack(folder: Path, progress: Progress | None = None) -> None:
    """Make the zip of a finished folder, whole or not at all; one that is there is left as it is."""
    target = packed(folder)
    if target.exists():
        return
    total = sum(path.stat().st_size for path in folder.iterdir()) // MEGABYTE
    part = target.with_name(f".{target.name}.part")
    with part.open("wb") as file:
        for done, piece in pieces(folder):
            file.write(piece)
            if progress:
                progress("packing", done // MEGABYTE, total)
        file.flush()
        os.fsync(file.fileno())
    part.replace(target)


def pieces(folder: Path) -> Iterator[tuple[int, bytes]]:
    """The zip piece by piece, each with the bytes packed so far; the files lie at the top, in order of name."""
    sink = _Sink()
    done = 0
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for path in sorted(folder.iterdir(), key=lambda path: path.name):
            info = zipfile.ZipInfo(path.name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info._compresslevel = LEVEL  # type: ignore[attr-defined]
            info.external_attr = 0o100644 << 16
            info.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(info, "w") as target:
                while piece := source.read(PIECE):
                    target.write(piece)
                    done += len(piece)
                    yield done, sink.take()
            yield done, sink.take()
    yield done, sink.take()


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

    def take(self) -> bytes:
        taken, self._pieces = self._pieces, []
        return b"".join(taken)
