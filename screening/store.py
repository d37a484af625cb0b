"""Signatures kept between runs, by the text they belong to and the rules they were made under."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIGEST = 32


class SignatureStore:
    """A folder of signatures: one file for each fingerprint, so that two rules never mix.

    Losing or damaging a file costs time, never correctness: what cannot be read is computed again. Two runs that save
    at once leave the file of one of them, whole.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def load(self, fingerprint: str, num_perm: int) -> tuple[dict[bytes, int], NDArray[np.uint32]]:
        """Row by SHA-256 of the normalised text, and the rows (``num_perm`` values each); none where nothing usable is stored."""
        nothing: tuple[dict[bytes, int], NDArray[np.uint32]] = (
            {},
            np.empty((0, num_perm), dtype=np.uint32),
        )
        try:
            with np.load(self._path(fingerprint), allow_pickle=False) as stored:
                digests, rows = stored["digests"].tobytes(), stored["rows"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return nothing
        if rows.dtype != np.uint32 or rows.shape != (len(digests) // DIGEST, num_perm):
            return nothing
        return {digests[DIGEST * i : DIGEST * (i + 1)]: i for i in range(len(rows))}, rows

    def save(self, fingerprint: str, digests: list[bytes], rows: NDArray[np.uint32]) -> None:
        """Replace what is stored under ``fingerprint``; a full or read-only disk is no error of the run."""
        path = self._path(fingerprint)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, digests=np.frombuffer(b"".join(digests), dtype=np.uint8), rows=rows)
            os.replace(temporary, path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)

    def _path(self, fingerprint: str) -> Path:
        return self.folder / f"signatures-{fingerprint}.npz"
