"""The code-point table that normalisation runs on: built from unicodedata once, then read from a file."""

from __future__ import annotations

import os
import sys
import tempfile
import unicodedata
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Keep = Literal["alphanumeric", "whitespace_only", "signs"]

SLOW = 1 << 30
"""Bit of a table entry whose code point may compose or reorder with the one before it."""

SIGNS = "+-−.%‰‱/:°"
"""Characters that ``keep='signs'`` keeps beside letters and digits (in context, see ``normalise``)."""

_FORMAT = 3


@dataclass(frozen=True, slots=True)
class CodePointTable:
    """What each code point becomes.

    ``entries[cp]`` (int32): 0 dropped; v > 0 the one code point v; v < 0 the sequence number ``-v - 1``. Code points
    beyond the end are dropped. :data:`SLOW` is set on the absolute value. Sequence s is
    ``tail[starts[s]:starts[s + 1]]``.
    """

    entries: NDArray[np.int32]
    starts: NDArray[np.int32]
    tail: NDArray[np.uint32]


def _kept(keep: Keep, text: str) -> str:
    if keep == "whitespace_only":
        return "".join(c for c in text if not _invisible(c))
    if keep == "signs":
        return "".join(c for c in text if c.isalnum() or c in SIGNS)
    return "".join(c for c in text if c.isalnum())


def _invisible(char: str) -> bool:
    """Whitespace, controls, format characters and variation selectors."""
    point = ord(char)
    return (
        char.isspace()
        or unicodedata.category(char) in ("Cc", "Cf")
        or 0xFE00 <= point <= 0xFE0F
        or 0xE0100 <= point <= 0xE01EF
    )


def normalise_simply(raw: str, keep: Keep = "alphanumeric", casefold: bool = True) -> str:
    """The definition of the normalised text, in the plainest form: the oracle of the fast kernels."""
    text = unicodedata.normalize("NFKC", raw)
    return _kept(keep, text.casefold() if casefold else text)


def composes_backwards(char: str) -> bool:
    """Whether NFKC may change ``char`` together with what stands before it (Unicode Annex 15, §9.1)."""
    decomposed = unicodedata.normalize("NFKD", char)
    return any(
        unicodedata.combining(c) != 0 or c in _starters_that_compose() for c in decomposed[:1]
    )


@lru_cache(maxsize=1)
def _starters_that_compose() -> frozenset[str]:
    """Starters that are the second half of a canonical composition (Hangul vowels and finals, Indic vowel signs)."""
    found = {chr(cp) for cp in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for cp in range(0x20000):
        parts = unicodedata.decomposition(chr(cp)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            second = chr(int(parts[1], 16))
            if unicodedata.combining(second) == 0:
                found.add(second)
    return frozenset(found)


def build_table(keep: Keep = "alphanumeric", casefold: bool = True) -> CodePointTable:
    """The table of this interpreter's Unicode version, exact for every code point (about a second)."""
    points = [cp for cp in range(sys.maxunicode + 1) if not 0xD800 <= cp < 0xE000]
    last = max(cp for cp in points if _may_survive(cp, keep))
    points = [cp for cp in points if cp <= last]
    # A separator that nothing composes with lets one call normalise every code point on its own.
    chars = [chr(cp) for cp in points if cp != 0]
    text = unicodedata.normalize("NFKC", "\0".join(chars))
    results = (text.casefold() if casefold else text).split("\0")
    entries = np.zeros(last + 1, dtype=np.int32)
    starts: list[int] = [0]
    tail: list[int] = []
    for char, result in zip(chars, results, strict=True):
        kept = _kept(keep, result)
        if len(kept) == 1:
            entries[ord(char)] = ord(kept)
        elif kept:
            tail.extend(map(ord, kept))
            starts.append(len(tail))
            entries[ord(char)] = -(len(starts) - 1)
    for char in chars:
        if not char.isascii() and composes_backwards(char):
            value = int(entries[ord(char)])
            entries[ord(char)] = value - SLOW if value < 0 else value + SLOW
    return CodePointTable(
        entries, np.array(starts, dtype=np.int32), np.array(tail, dtype=np.uint32)
    )


def _may_survive(cp: int, keep: Keep) -> bool:
    char = chr(cp)
    return char.isalnum() or (
        keep == "whitespace_only" and unicodedata.category(char) not in ("Cn", "Co", "Cs")
    )


def default_cache_dir() -> Path:
    """Where tables are kept when the caller names no place: the user's cache, else the temporary directory."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if base.startswith("~"):
        base = tempfile.gettempdir()
    return Path(base) / "dedupreview"


@lru_cache(maxsize=8)
def load_table(
    keep: Keep = "alphanumeric", casefold: bool = True, cache_dir: Path | None = None
) -> CodePointTable:
    """The table from its file, else built and, where the directory can be written, saved.

    A damaged or foreign file is rebuilt, never trusted.
    """
    name = f"codepoints-{_FORMAT}-{unicodedata.unidata_version}-{keep}-{int(casefold)}.npz"
    path = (cache_dir or default_cache_dir()) / name
    try:
        with np.load(path, allow_pickle=False) as stored:
            return CodePointTable(stored["entries"], stored["starts"], stored["tail"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        table = build_table(keep, casefold)
    _save(path, table)
    return table


def _save(path: Path, table: CodePointTable) -> None:
    """Best effort: a read-only disk costs a second at the next start and nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".npz")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, entries=table.entries, starts=table.starts, tail=table.tail)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
    except OSError:
        return
