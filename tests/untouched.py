"""Whether the originals below a data directory are still what they were stored as: their name is their digest."""

from __future__ import annotations

import hashlib
from pathlib import Path


def changed_originals(data_dir: Path) -> list[str]:
    """Every stored original whose bytes are not those it is named by, or that could be written to."""
    found = []
    for path in sorted((data_dir / "originals").glob("??/*")):
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != path.name:
                found.append(f"{path.name}: other bytes")
        if path.stat().st_mode & 0o222:
            found.append(f"{path.name}: can be written to")
    return found


def kept_originals(data_dir: Path) -> dict[str, tuple[str, int, int]]:
    """Digest, rights and time of the last change of every stored original."""
    return {
        path.name: (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mode,
            path.stat().st_mtime_ns,
        )
        for path in sorted((data_dir / "originals").glob("??/*"))
    }
