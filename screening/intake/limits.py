"""How large a hand-over may be; every refusal names the limit that it meets."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, replace

from screening.documents import Problem


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what is read; sizes in bytes, texts in characters."""

    file_bytes: int = 1 << 30
    """A manifest or archive; it is read as a stream where its format allows."""
    text_bytes: int = 64 << 20
    """A file that is one text, and a table that is read as a whole."""
    text_chars: int = 20_000_000
    """The text of one document."""
    rows: int = 2_000_000
    """Rows of a manifest."""
    archive_members: int = 200_000
    archive_bytes: int = 2 << 30
    """What an archive may unpack to in all."""
    archive_ratio: int = 200
    """Unpacked bytes for each packed byte; plain text packs about 1 to 10."""
    archive_free_bytes: int = 1 << 20
    """Below this size the ratio does not count: small repetitive files are harmless."""
    office_bytes: int = 256 << 20
    """What a .docx or .xlsx may unpack to."""
    pages: int = 3000
    """Pages of a PDF."""
    seconds: int = 60
    """Time for one .docx, .pdf, .html or .xlsx, which is read in a process of its own that is ended then."""
    reader_bytes: int = 1 << 30
    """Memory that the process of such a reader may take."""

    def of_office_files(self) -> Limits:
        """The same limits with the smaller bound for what an office file may unpack to."""
        return replace(self, archive_bytes=min(self.office_bytes, self.archive_bytes))


DEFAULT_LIMITS = Limits()


def size_problem(size: int, limit: int) -> Problem | None:
    """Why a file of ``size`` bytes is not read, if it is over ``limit`` bytes."""
    if size <= limit:
        return None
    return Problem(
        "too_large",
        "The file has %(size)s bytes; the limit is %(limit)s",
        {"size": size, "limit": limit},
    )


def expansion_problem(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Problem | None:
    """Why a zip container must not be unpacked: damaged, encrypted, or too large or too dense by its own declaration."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return members_problem(archive.infolist(), limits)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError) as error:
        words = "".join(c if c.isprintable() else "?" for c in str(error))[:200]
        return Problem("archive_broken", "The archive is damaged: %(error)s", {"error": words})


def members_problem(
    members: list[zipfile.ZipInfo], limits: Limits = DEFAULT_LIMITS
) -> Problem | None:
    """Why an archive with these members must not be unpacked, judged before a byte of it is."""
    if len(members) > limits.archive_members:
        return Problem(
            "archive_members",
            "The archive holds %(count)s files; the limit is %(limit)s",
            {"count": len(members), "limit": limits.archive_members},
        )
    unpacked = sum(member.file_size for member in members)
    if unpacked > limits.archive_bytes:
        return Problem(
            "archive_too_large",
            "The archive would unpack to %(size)s bytes; the limit is %(limit)s",
            {"size": unpacked, "limit": limits.archive_bytes},
        )
    packed = sum(member.compress_size for member in members)
    if unpacked > limits.archive_free_bytes and unpacked > packed * limits.archive_ratio:
        return Problem(
            "archive_ratio",
            "The archive would unpack to %(ratio)s times its size; the limit is %(limit)s times",
            {"ratio": unpacked // max(1, packed), "limit": limits.archive_ratio},
        )
    return None
