"""Reading a bundle that may come from anybody: a folder or a zip, nothing extracted, nothing followed.

Pure: knows nothing of Django but its message marker.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from django.utils.translation import gettext_noop as _

MAX_FILES = 1_000
MAX_TOTAL = 64 * 2**30
"""Bytes of all files together, unpacked."""
MAX_DIRECTORY = 2 * 2**20
"""Bytes of a zip's list of contents: a longer one would fill the memory before it could be counted."""
MAX_RATIO = 300
"""Unpacked to packed size of one file of a zip; beyond :data:`BOMB_FROM` bytes more is taken for a bomb."""
BOMB_FROM = 64 * 2**20
BUFFER = 2**18

READ_ERRORS = (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What reading a damaged or hostile file may raise."""


class UnsafeBundle(Exception):
    """The folder or zip is refused as a whole; carries a message template and its params."""

    def __init__(self, template: str, name: str = "") -> None:
        super().__init__(template)
        self.template = template
        self.params: dict[str, object] = {"name": name}


class Bundle(ABC):
    """The files of a bundle by name."""

    sizes: dict[str, int]

    @abstractmethod
    def open(self, name: str) -> BinaryIO: ...

    def read(self, name: str, limit: int) -> bytes:
        """A whole small file; ValueError if it is larger than ``limit`` bytes."""
        with self.open(name) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ValueError("too large")
        return data


class _Folder(Bundle):
    def __init__(self, path: Path) -> None:
        entries = list(path.iterdir())
        if len(entries) == 1 and entries[0].is_dir() and not entries[0].is_symlink():
            path, entries = entries[0], list(entries[0].iterdir())
        _check_count(len(entries))
        self.path = path
        self.sizes = {}
        for entry in entries:
            if not entry.name.isprintable():
                raise UnsafeBundle(_("A path is refused: %(name)s"), ascii(entry.name[:80]))
            status = entry.lstat()
            if not stat.S_ISREG(status.st_mode):
                raise UnsafeBundle(
                    _("%(name)s is not a plain file; links and folders are refused."), entry.name
                )
            self.sizes[entry.name] = status.st_size

    def open(self, name: str) -> BinaryIO:
        return (self.path / name).open("rb")


class _Zip(Bundle):
    def __init__(self, archive: zipfile.ZipFile, limit: int) -> None:
        self.archive = archive
        infos = [info for info in archive.infolist() if not info.is_dir()]
        _check_count(len(infos))
        prefix = _common_folder([info.filename for info in infos])
        self.sizes = {}
        self._infos: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            name = info.filename[len(prefix) :]
            self._check(info, name)
            self.sizes[name] = info.file_size
            self._infos[name] = info
        if sum(self.sizes.values()) > limit:
            raise UnsafeBundle(_("The zip is too large."))

    def _check(self, info: zipfile.ZipInfo, name: str) -> None:
        if not name.isprintable() or name in {"", ".", ".."} or set("/\\") & set(name):
            raise UnsafeBundle(_("A path is refused: %(name)s"), ascii(name[:80]))
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise UnsafeBundle(
                _("%(name)s is not a plain file; links and folders are refused."), name
            )
        if name in self._infos:
            raise UnsafeBundle(_("The zip holds %(name)s twice."), name)
        if info.flag_bits & 0x1:
            raise UnsafeBundle(_("%(name)s is encrypted."), name)
        packed = max(info.compress_size, 1)
        if info.file_size > BOMB_FROM and info.file_size / packed > MAX_RATIO:
            raise UnsafeBundle(_("%(name)s would unpack to far more than it is."), name)

    def open(self, name: str) -> BinaryIO:
        # Unbuffered, a file of short lines would be read at a hundredth of the speed.
        member = cast(io.RawIOBase, self.archive.open(self._infos[name]))
        return cast(BinaryIO, io.BufferedReader(member, BUFFER))


def _common_folder(names: list[str]) -> str:
    """``folder/`` if every name lies in the same one, else nothing."""
    first = names[0].split("/", 1)[0] + "/" if names and "/" in names[0] else ""
    if first in {"", "/", "./", "../"} or not all(name.startswith(first) for name in names):
        return ""
    return first


def _check_count(number: int) -> None:
    if number > MAX_FILES:
        raise UnsafeBundle(_("There are too many files."))


def _check_directory(file: IO[bytes]) -> None:
    """Refuse a zip whose list of contents is too long, before it is read.

    The size is taken by the very function that :class:`zipfile.ZipFile` takes it by: another reading of the same end
    might find another list.
    """
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    if end and end[zipfile._ECD_SIZE] > MAX_DIRECTORY:  # type: ignore[attr-defined]
        raise UnsafeBundle(_("There are too many files."))
    file.seek(0)


@contextmanager
def open_bundle(path: Path, *, limit: int = MAX_TOTAL, name: str = "") -> Iterator[Bundle]:
    """The bundle in a folder (or in the one folder within it) or a zip; UnsafeBundle if it is refused.

    ``limit``: bytes that a zip may unpack to. ``name``: what to call it, else as its file.
    """
    called = name or path.name
    try:
        if path.is_dir():
            yield _Folder(path)
            return
        with path.open("rb") as file:
            _check_directory(file)
            with zipfile.ZipFile(cast(IO[bytes], file)) as archive:
                yield _Zip(archive, limit)
    except FileNotFoundError:
        raise UnsafeBundle(_("There is nothing at %(name)s."), str(path)) from None
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError):
        raise UnsafeBundle(_("%(name)s is neither a folder nor a zip."), called) from None
    except OSError as error:
        raise UnsafeBundle(
            _("%(name)s cannot be read."), f"{called}: {error.strerror or error}"
        ) from None
