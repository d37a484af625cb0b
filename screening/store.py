"""What a run leaves to the next one: normalised texts, signatures and scores, by the text and the rules they were made under."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Part = Mapping[str, Array]
"""Named arrays, as one run wrote them."""

PARTS = 8
"""Parts of one fingerprint from which the next run writes everything anew as a first part."""

RULES = 3
"""Sets of rules for which something is kept."""

_ALIGNED = 64
_MAGIC = b"dedupreview part 1\n"


class Store:
    """A folder of parts: those of one fingerprint (of the rules) lie together, so that two rules never mix.

    Each run adds what was new to it; parts never change. Losing or damaging a file costs time, never correctness: from
    the first part that cannot be read whole, everything is computed again. Of two runs that add at once one adds nothing.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def load(self, fingerprint: str) -> tuple[int, list[Part]]:
        """The generation and its parts in the order in which they were added, mapped into memory; (0, []) for nothing."""
        generation = max(self._generations(fingerprint), default=0)
        parts: list[Part] = []
        folder = self._folder(fingerprint, generation)
        while (part := _read(folder / _name(len(parts)))) is not None:
            parts.append(part)
        return generation, parts

    def add(self, fingerprint: str, generation: int, number: int, part: Part) -> bool:
        """Add part ``number`` of a generation; False where it could not be (a full disk, another run was first)."""
        folder = self._folder(fingerprint, generation)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return _write(folder / _name(number), part)
        except OSError:
            return False

    def replace(self, fingerprint: str, generation: int, part: Part) -> bool:
        """Begin a new generation with one part that holds everything; older ones and other rules' go."""
        if not self.add(fingerprint, generation + 1, 0, part):
            return False
        for older in self._generations(fingerprint):
            if older <= generation:
                shutil.rmtree(self._folder(fingerprint, older), ignore_errors=True)
        return True

    def prune(self, fingerprint: str) -> None:
        """Remove what was kept under rules that have not been used for long; ``fingerprint`` is used now."""
        folders = [path for path in self.folder.glob("*") if path.name != fingerprint]
        folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in folders[RULES - 1 :]:
            shutil.rmtree(path, ignore_errors=True)

    def _generations(self, fingerprint: str) -> list[int]:
        try:
            names = os.listdir(self.folder / fingerprint)
        except OSError:
            return []
        return [int(name) for name in names if name.isdigit()]

    def _folder(self, fingerprint: str, generation: int) -> Path:
        return self.folder / fingerprint / str(generation)


def _name(number: int) -> str:
    return f"{number:04d}.part"


def _checksum(array: Array) -> int:
    """The sum of the bytes as 64-bit words: as fast as memory, and one changed bit changes it."""
    data = array.reshape(-1).view(np.uint8)
    whole = len(data) // 8 * 8
    total = int(np.add.reduce(data[:whole].view(np.uint64), dtype=np.uint64))
    return (total + int.from_bytes(data[whole:].tobytes(), "little") + len(data)) % (1 << 64)


def _write(path: Path, part: Part) -> bool:
    """Write a part that is there whole or not at all; False where ``path`` is there already."""
    arrays = {name: np.ascontiguousarray(array) for name, array in part.items()}
    entries, at = [], 0
    for name, array in arrays.items():
        entries.append([name, array.dtype.str, list(array.shape), at, _checksum(array)])
        at += -(-array.nbytes // _ALIGNED) * _ALIGNED
    head = _MAGIC + json.dumps(entries).encode() + b"\n"
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(head + b"\0" * (-len(head) % _ALIGNED))
            for array in arrays.values():
                array.tofile(file)
                file.write(b"\0" * (-array.nbytes % _ALIGNED))
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(temporary)
    return True


def _read(path: Path) -> Part | None:
    """The arrays of a part, mapped; None where it is not there or not whole."""
    try:
        with path.open("rb") as file:
            if file.readline(64) != _MAGIC:
                return None
            entries = json.loads(file.readline(1 << 16))
            start = -(-file.tell() // _ALIGNED) * _ALIGNED
        data = np.memmap(path, dtype=np.uint8, mode="r")
        part = {}
        for name, kind, shape, at, checksum in entries:
            dtype = np.dtype(kind)
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            array = np.asarray(data[start + at : start + at + size]).view(dtype).reshape(shape)
            if _checksum(array) != checksum:
                return None
            part[name] = array
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return part
