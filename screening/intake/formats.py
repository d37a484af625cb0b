"""Files that are one text: which reader one gets is decided by its content; its name only settles what content leaves open."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace

from screening.documents import Problem
from screening.intake.apart import Reader
from screening.intake.limits import Limits, expansion_problem
from screening.intake.plain import PlainText, read_text

TEXT_SUFFIXES = frozenset({"", "txt", "text", "md", "markdown"})
HTML_SUFFIXES = frozenset({"html", "htm", "xhtml", "shtml"})
RICH_SUFFIXES = frozenset({"docx", "pdf", "doc", "wps", "rtf"})
"""Names under which other content is read all the same, with a warning."""

MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"PK\x05\x06", "ZIP"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office 97–2003"),
    (b"{\\rtf", "RTF"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"\x1f\x8b", "gzip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!", "RAR"),
    (b"SQLite format 3\0", "SQLite"),
    (b"\x7fELF", "ELF"),
)


def kind_of(data: bytes) -> str | None:
    """What a binary file is by its first bytes; None for what may be text."""
    return next((kind for magic, kind in MAGIC if data.startswith(magic)), None)


_LOOKS_LIKE_HTML = re.compile(
    rb"\s*+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype\s+html|html|head|body|meta|title|article|div|p|table|h[1-6])[\s>/]",
    re.IGNORECASE | re.DOTALL,
)


def is_html(data: bytes) -> bool:
    """Whether the bytes begin like a web page."""
    head = data[:4096]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        head = head.decode("utf-16", "ignore").encode("utf-8")
    return bool(_LOOKS_LIKE_HTML.match(head.removeprefix(codecs.BOM_UTF8)))


_SAVED_WHOLE = re.compile(
    rb"(?:From|MIME-Version|Snapshot-Content-Location):[^\0]{0,4000}?multipart/related",
    re.IGNORECASE,
)


def is_mhtml(data: bytes) -> bool:
    """Whether the bytes are a page that a browser has saved with its pictures in one file."""
    return bool(_SAVED_WHOLE.match(data[:6000]))


def is_docx(data: bytes) -> bool:
    """Whether the bytes are a zip container with a Word text in it, whatever the file is called."""
    return data[:4] == b"PK\x03\x04" and b"word/document.xml" in data


def suffix_of(name: str) -> str:
    """The extension of a name in lower case without its dot; empty if it has none."""
    last = name.rpartition("/")[2]
    return last.casefold().rpartition(".")[2] if "." in last else ""


def read_one(
    name: str, data: bytes, limits: Limits, reader: Reader, chosen: str | None = None
) -> PlainText | Problem:
    """The text of a file that is one text, in whatever format it is; ``chosen`` as in :func:`read_text`."""
    suffix = suffix_of(name)
    if is_mhtml(data):
        return Problem(
            "mhtml",
            "It is a page saved as a single file (.mht, .mhtml); save it as “web page, HTML only” and hand that over",
        )
    if suffix not in TEXT_SUFFIXES | HTML_SUFFIXES | RICH_SUFFIXES:
        return Problem(
            "format_unsupported",
            "Files of the kind .%(suffix)s are not read; save the text as .txt or .docx, or list it in a .jsonl, .csv or .xlsx",
            {"suffix": suffix},
        )
    kind = _kind(suffix, data, limits)
    if isinstance(kind, Problem):
        return kind
    if kind == "text":
        text = read_text(data, markdown=suffix in {"md", "markdown"}, chosen=chosen)
        if isinstance(text, Problem) and suffix in RICH_SUFFIXES and text.code != "empty":
            return _not_what_it_says(suffix)
    else:
        text = reader.read(kind, data, chosen)
    if isinstance(text, Problem):
        return text
    named = {"docx": suffix == "docx", "pdf": suffix == "pdf", "html": suffix in HTML_SUFFIXES}
    if not named.get(kind, suffix not in RICH_SUFFIXES) and suffix:
        return replace(text, warnings=(_named_otherwise(suffix, kind), *text.warnings))
    return text


def _kind(suffix: str, data: bytes, limits: Limits) -> str | Problem:
    """``docx``, ``pdf``, ``html`` or ``text``, or why it is none of them."""
    found = kind_of(data[:16])
    if found is None and b"%PDF-" in data[:1024]:
        found = "PDF"
    if found == "PDF":
        return "pdf"
    if found == "ZIP":
        problem = expansion_problem(data, limits.of_office_files())
        if is_docx(data) or suffix == "docx":
            return problem or "docx"
        if problem and problem.code != "archive_broken":
            return problem
    if found == "Office 97–2003":
        return Problem(
            "office_old",
            "It is an Office or WPS file of the old kind (.doc, .wps, .xls); open it, save it as .docx (tables as .xlsx), and hand that over",
        )
    if found == "RTF":
        return Problem("rtf", "It is an RTF file; open it, save it as .docx, and hand that over")
    if found:
        return Problem("not_text", "It is no text but a %(kind)s file", {"kind": found})
    # A .txt or .md stays what it is even if it quotes a page: its tags are its text.
    if suffix in HTML_SUFFIXES or (suffix not in TEXT_SUFFIXES and is_html(data)):
        return "html"
    return "html" if suffix == "" and is_html(data) else "text"


_WORDS = {"docx": "Word (.docx)", "pdf": "PDF", "html": "HTML"}


def _named_otherwise(suffix: str, kind: str) -> Problem:
    if kind == "text":
        return Problem(
            "named_otherwise",
            "The name says .%(suffix)s, but the content is plain text; it was read as that",
            {"suffix": suffix},
        )
    return Problem(
        "named_otherwise",
        "The name says .%(suffix)s, but the content is %(kind)s; it was read as that",
        {"suffix": suffix, "kind": _WORDS[kind]},
    )


def _not_what_it_says(suffix: str) -> Problem:
    return Problem(
        "not_what_it_says",
        "The name says .%(suffix)s, but the content is neither that nor text, or it is damaged",
        {"suffix": suffix},
    )
