"""Word files (.docx): paragraphs, tables, text boxes and footnotes in reading order, with tracked changes accepted."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from screening.documents import Problem
from screening.intake.limits import Limits, expansion_problem
from screening.intake.numbering import Numbering, W
from screening.intake.plain import PlainText, finished
from screening.intake.xmlparts import XmlRefused, parse

_MAIN = "word/document.xml"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_TRANSITIONAL = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"

_GONE = frozenset({f"{W}del", f"{W}moveFrom", _FALLBACK, f"{W}instrText", f"{W}delText", f"{W}rt"})
_MARKS = frozenset(
    f"{W}{name}" for name in ("ins", "del", "moveFrom", "moveTo", "rPrChange", "pPrChange")
)
_CHARACTERS = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "-",
}


def read_docx(data: bytes, limits: Limits) -> PlainText | Problem:
    """The text of a Word file with every change accepted; headers, footers and comments are named in a warning."""
    if problem := expansion_problem(data, limits.of_office_files()):
        return problem
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _Reader(_Parts(archive)).read()
    except XmlRefused as error:
        return error.problem
    except KeyError:
        return Problem("docx_no_text", "It is no Word file, or its text part is missing")
    except RecursionError:
        return Problem("docx_too_deep", "The file nests its parts deeper than any text does")
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError,
            RuntimeError) as error:  # fmt: skip
        return Problem("archive_broken", "The archive is damaged: %(error)s", {"error": str(error)})


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a Word file by name."""

    archive: zipfile.ZipFile

    def names(self) -> list[str]:
        return self.archive.namelist()

    def root(self, name: str) -> etree._Element:
        data = self.archive.read(name)
        # The "strict" flavour differs in the addresses of its names only.
        return parse(data.replace(_STRICT, _TRANSITIONAL), name)

    def optional(self, name: str) -> etree._Element | None:
        return self.root(name) if name in self.archive.namelist() else None


@dataclass(slots=True)
class _Reader:
    parts: _Parts
    tracked: bool = False
    hidden: int = 0
    embedded: int = 0
    numbering: Numbering = field(default_factory=Numbering)
    notes: dict[tuple[str, str], etree._Element] = field(default_factory=dict)
    carried: str = ""
    """Text of a paragraph whose end was deleted: it goes on in the next one."""

    def read(self) -> PlainText | Problem:
        root = self.parts.root(_MAIN)
        body = root.find(W + "body")
        if body is None:
            raise KeyError
        self.numbering = Numbering.of(
            self.parts.optional("word/numbering.xml"), self.parts.optional("word/styles.xml")
        )
        for kind in ("footnote", "endnote"):
            notes = self.parts.optional(f"word/{kind}s.xml")
            for note in notes.iter(W + kind) if notes is not None else ():
                self.notes[kind, note.get(W + "id", "")] = note
        lines = list(self._blocks(body))
        if self.carried:
            lines.append(self.carried)
        return finished("\n".join(lines), {}, self._warnings(root))

    def _warnings(self, root: etree._Element) -> tuple[Problem, ...]:
        found = []
        if self.tracked or any(element.tag in _MARKS for element in root.iter()):
            found.append(
                Problem(
                    "tracked_changes",
                    "The file holds tracked changes; it was read as if all of them were accepted",
                )
            )
        if self.hidden:
            found.append(
                Problem(
                    "hidden_text",
                    "%(count)s characters of hidden text were left out",
                    {"count": self.hidden},
                )
            )
        if self.embedded:
            found.append(
                Problem(
                    "embedded_parts",
                    "%(count)s files embedded in the text were not read",
                    {"count": self.embedded},
                )
            )
        apart = self._apart()
        if apart:
            found.append(
                Problem(
                    "headers_apart",
                    "Headers and footers are kept apart from the text: %(lines)s",
                    {"lines": " / ".join(apart)[:500]},
                )
            )
        if "word/comments.xml" in self.parts.names():
            found.append(
                Problem("comments_apart", "The comments in the file are not part of the text")
            )
        return tuple(found)

    def _apart(self) -> list[str]:
        lines: list[str] = []
        for name in sorted(self.parts.names()):
            if re.fullmatch(r"word/(?:header|footer)\d*\.xml", name):
                for paragraph in self.parts.root(name).iter(W + "p"):
                    text = " ".join("".join(t.text or "" for t in paragraph.iter(W + "t")).split())
                    if text and text not in lines:
                        lines.append(text)
        return lines

    def _blocks(self, parent: etree._Element) -> Iterator[str]:
        """The lines of everything directly in ``parent``: one for a paragraph, one for a row of a table."""
        for child in parent:
            if child.tag == W + "p":
                yield from self._paragraph(child)
            elif child.tag == W + "tbl":
                yield from self._table(child)
            elif child.tag == W + "altChunk":
                self.embedded += 1
            elif child.tag == W + "sdt" and _asks_for_text(child):
                continue
            elif child.tag not in _GONE and isinstance(child.tag, str):
                yield from self._blocks(child)  # content controls, accepted insertions, custom XML

    def _paragraph(self, paragraph: etree._Element) -> Iterator[str]:
        merged = _mark_is_gone(paragraph)
        # What is merged into the next paragraph is none of its own and has no number.
        number = "" if merged else self.numbering.before(paragraph)
        pieces: list[str] = []
        after: list[etree._Element] = []
        self._inline(paragraph, pieces, after)
        if after and after[0].tag == W + "txbxContent" and _starts_with_box(paragraph):
            yield from self._blocks(after.pop(0))
        text = number + self.carried + "".join(pieces)
        self.carried = ""
        if merged:
            self.tracked = True
            self.carried = text
        else:
            yield text
        for element in after:
            yield from self._blocks(element)

    def _inline(
        self, element: etree._Element, pieces: list[str], after: list[etree._Element]
    ) -> None:
        """Collect the characters of a paragraph; text boxes and notes come after it."""
        for child in element:
            tag = child.tag
            if tag in (W + "t", _MATH + "t"):
                pieces.append(child.text or "")
            elif tag in _CHARACTERS:
                pieces.append(_CHARACTERS[tag])
            elif tag == W + "txbxContent":
                after.append(child)
            elif tag in (W + "footnoteReference", W + "endnoteReference"):
                kind = "footnote" if "footnote" in tag else "endnote"
                # Taken out: a note stands once, and one that refers to itself has an end.
                note = self.notes.pop((kind, child.get(W + "id", "")), None)
                if note is not None:
                    after.append(note)
            elif tag == W + "sym":
                pieces.append(_symbol(child.get(W + "char", "")))
            elif tag == W + "r" and _is_on(child.find(f"{W}rPr/{W}vanish")):
                self.hidden += sum(len(text.text or "") for text in child.iter(W + "t"))
            elif tag == W + "sdt" and _asks_for_text(child):
                continue
            elif tag not in _GONE and tag != W + "pPr" and isinstance(tag, str):
                self._inline(child, pieces, after)

    def _table(self, table: etree._Element) -> Iterator[str]:
        for row in table.iter(W + "tr"):
            if next(row.iterancestors(W + "tbl")) is not table:
                continue  # of a table within a cell, which reads itself
            if row.find(f"{W}trPr/{W}del") is not None:
                self.tracked = True
                continue
            cells = []
            for cell in row.iter(W + "tc"):
                if next(cell.iterancestors(W + "tr")) is not row:
                    continue
                cells.append(" ".join(line for line in self._blocks(cell) if line.strip()))
                self.carried = ""
            yield "\t".join(cells)


def _mark_is_gone(paragraph: etree._Element) -> bool:
    """Whether the end of the paragraph was deleted or moved away, so that it runs on into the next one."""
    marks = paragraph.find(f"{W}pPr/{W}rPr")
    return marks is not None and any(
        marks.find(W + name) is not None for name in ("del", "moveFrom")
    )


def _is_on(switch: etree._Element | None) -> bool:
    return switch is not None and switch.get(W + "val", "1") not in {"0", "false", "off"}


def _asks_for_text(control: etree._Element) -> bool:
    """Whether a content control is still empty and shows what to type into it, which is no text."""
    return _is_on(control.find(f"{W}sdtPr/{W}showingPlcHdr"))


def _starts_with_box(paragraph: etree._Element) -> bool:
    """Whether a text box is anchored before the first character of the paragraph's own text."""
    for element in paragraph.iter(W + "t", W + "txbxContent"):
        return element.tag == W + "txbxContent"
    return False


def _symbol(code: str) -> str:
    """A symbol of a symbol font: a tick and a box have equals in Unicode, others become a box of their own."""
    known = {"F0FE": "☑", "F052": "☑", "F0A8": "□", "F06F": "□", "F0FC": "✓", "F0A3": "□"}
    if code.upper() in known:
        return known[code.upper()]
    if re.fullmatch(r"[0-9A-Fa-f]{4}", code) and not 0xD800 <= int(code, 16) < 0xF900:
        return chr(int(code, 16))
    return "□"
