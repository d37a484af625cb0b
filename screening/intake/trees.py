"""The files of a hand-over, wherever they lie: a folder, one file, or a zip."""

from __future__ import annotations

import io
import lzma
import os
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol, cast

from screening.documents import Problem, Refusal
from screening.intake import encodings
from screening.intake.limits import Limits, members_problem


class Tree(Protocol):
    """Named files that can be opened. Names are relative, with ``/`` between parts and no ``..`` in them."""

    def names(self) -> list[str]:
        """All names in code-point order."""

    def refusals(self) -> Iterator[Refusal]:
        """The files that have no usable name, or lie outside."""

    def size(self, name: str) -> int:
        """Bytes of one file."""

    def open(self, name: str) -> BinaryIO:
        """The bytes of one file."""


IN_MEMORY = 16 << 20
"""Bytes up to which a member of an archive is unpacked in memory."""

OUTSIDE = Problem("path_outside", "The path leads out of the folder")


def relative_name(path: str) -> str | None:
    """``path`` as a safe relative name, or None if it is absolute or leads out of its folder."""
    path = path.replace("\\", "/")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path) or "\0" in path:
        return None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        return None
    return "/".join(parts)


class Files:
    """Files by the names that they were handed over under; the base of a folder, an upload and a single file."""

    def __init__(self, paths: Mapping[str, Path], refused: tuple[Refusal, ...] = ()) -> None:
        self.paths = dict(paths)
        self._refused = refused

    def names(self) -> list[str]:
        return sorted(self.paths)

    def refusals(self) -> Iterator[Refusal]:
        yield from self._refused

    def size(self, name: str) -> int:
        return self.paths[name].stat().st_size

    def open(self, name: str) -> BinaryIO:
        return self.paths[name].open("rb")


class OneFile(Files):
    """One file, named by a person; a list of documents finds the files that it names beside it."""

    def __init__(self, path: Path) -> None:
        super().__init__({path.name: path})
        self._home = path.parent

    def size(self, name: str) -> int:
        return self._found(name).stat().st_size

    def open(self, name: str) -> BinaryIO:
        return self._found(name).open("rb")

    def _found(self, name: str) -> Path:
        if name not in self.paths:
            path = self._home / name
            if not path.is_file() or not path.resolve().is_relative_to(self._home.resolve()):
                raise KeyError(name)
            return path
        return self.paths[name]


def folder(root: Path) -> Files:
    """Every file below ``root``; links that lead out of it, and names that are not Unicode, are refused."""
    home = root.resolve()
    paths: dict[str, Path] = {}
    refused: list[Refusal] = []
    for directory, folders, files in os.walk(root):
        folders.sort()
        for file in files:
            path = Path(directory, file)
            name = path.relative_to(root).as_posix()
            try:
                name.encode("utf-8")
            except UnicodeEncodeError:
                shown = os.fsencode(name).decode("utf-8", "backslashreplace")
                refused.append(
                    Refusal(shown, Problem("name_not_unicode", "The file name is not Unicode"))
                )
                continue
            if not path.resolve().is_relative_to(home):
                refused.append(Refusal(name, OUTSIDE))
            elif path.is_file():
                paths[name] = path
            else:
                refused.append(
                    Refusal(name, Problem("not_a_file", "It is not a file that can be read"))
                )
    return Files(paths, tuple(sorted(refused, key=lambda refusal: refusal.place)))


class Archive:
    """The members of a zip, judged before anything is unpacked. Raises ArchiveRefused."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
            members = [member for member in self._zip.infolist() if not member.is_dir()]
        except _DAMAGE as error:
            raise ArchiveRefused(_broken(error)) from None
        if problem := members_problem(members, limits):
            raise ArchiveRefused(problem)
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._refused: list[Refusal] = []
        for member, name in zip(members, _member_names(members), strict=True):
            self._admit(member, name)

    def _admit(self, member: zipfile.ZipInfo, name: str) -> None:
        safe = relative_name(name)
        if safe is None or stat.S_ISLNK(member.external_attr >> 16):
            self._refused.append(Refusal(name, OUTSIDE))
        elif member.flag_bits & 0x1:
            self._refused.append(
                Refusal(name, Problem("archive_encrypted", "It is locked with a password"))
            )
        elif safe in self._members:
            self._refused.append(
                Refusal(name, Problem("archive_twice", "The archive holds two files of this name"))
            )
        else:
            self._members[safe] = member

    def names(self) -> list[str]:
        return sorted(self._members)

    def refusals(self) -> Iterator[Refusal]:
        yield from self._refused

    def size(self, name: str) -> int:
        return self._members[name].file_size

    def open(self, name: str) -> BinaryIO:
        # Unpacked at once, so that a damaged member fails here and not later; a large one goes to the disk.
        member = self._members[name]
        try:
            if member.file_size <= IN_MEMORY:
                return io.BytesIO(self._zip.read(member))
            return self._unpacked(member)
        except _DAMAGE as error:
            raise ArchiveRefused(_broken(error)) from None

    def _unpacked(self, member: zipfile.ZipInfo) -> BinaryIO:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it is handed on open
        try:
            with self._zip.open(member) as packed:
                shutil.copyfileobj(packed, file, 1 << 20)
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return cast(BinaryIO, file)


_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    ValueError,
    OSError,
    NotImplementedError,
    RuntimeError,
)
"""What zipfile raises for archives that are damaged, cut off, locked or packed in a way that it does not know."""


def _broken(error: Exception) -> Problem:
    words = "".join(c if c.isprintable() else "?" for c in str(error))[:200]
    return Problem("archive_broken", "The archive is damaged: %(error)s", {"error": words})


class ArchiveRefused(Exception):
    """The archive as a whole cannot be read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def _member_names(members: list[zipfile.ZipInfo]) -> list[str]:
    """The names as they were meant: archives made by Windows carry them in its own encoding without saying so."""
    plain = [member for member in members if not member.flag_bits & 0x800]
    coded = b"\n".join(member.orig_filename.encode("cp437", "replace") for member in plain)
    if coded.isascii():
        return [member.filename for member in members]
    decoded = encodings.decode(coded)
    if isinstance(decoded, Problem):
        raise ArchiveRefused(
            Problem(
                "archive_names",
                "The encoding of the file names in the archive is unclear; pack it again with UTF-8 names",
            )
        )
    meant = iter(decoded.text.split("\n"))
    return [member.filename if member.flag_bits & 0x800 else next(meant) for member in members]


def is_system_file(name: str) -> bool:
    """Whether a file belongs to a file manager and not to a person."""
    path = PurePosixPath(name)
    return (
        "__MACOSX" in path.parts
        or any(part.startswith(".") for part in path.parts)
        or path.name.casefold() in {"thumbs.db", "desktop.ini"}
        or path.name.startswith("~$")
    )
