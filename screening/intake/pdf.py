"""PDF files with a text layer: lines joined to paragraphs, page numbers and running heads kept apart."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator
from ctypes import c_double
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from screening.documents import Problem
from screening.intake.limits import Limits
from screening.intake.pdfcolumns import Line, in_columns
from screening.intake.plain import PlainText, finished

EDGE = 0.1
"""The part of a page's height, at its top and at its bottom, in which furniture is looked for."""
EDGE_LINES = 3
REPEATED_PAGES = 3
LONGEST_HEAD = 40

_NUMBER = re.compile(
    r"[-—–－·•\s]*(?:第\s*)?(\d{1,5}|[ivxlcIVXLC]{1,7})\s*(?:页)?\s*(?:[/，,]?\s*(?:共\s*)?\d{1,5}\s*页?)?[-—–－·•\s]*"
)
_PLAIN_NUMBER = re.compile(r"\d{1,5}")
_CID = re.compile(r"\(cid:\d+\)")
_STARTS_ANEW = re.compile(
    r"\s*(?:第[〇零一二三四五六七八九十百千\d]+[编章节条款]|[一二三四五六七八九十]+、|（[一二三四五六七八九十]+）|\d{1,3}[.．、]|[•●■◆]|附件|附：)"
)
_ENDS = re.compile(r"[。！？；：…”』」）)!?;:.]\s*$")
_NEVER_FIRST = frozenset("。，、；：！？”’」』）》】〉〕,;!?)")
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff、。《》“”‘’…—]")
_DOTS = re.compile(r"(?:[.．·…]\s?){5,}\s*\d*\s*$")

NO_TEXT = Problem("no_text_layer", "No extractable text (未抽取到文字): the pages are pictures")


def read_pdf(data: bytes, limits: Limits) -> PlainText | Problem:
    """The text layer of a PDF. Pages without one are named; a file without any is a problem."""
    import pypdfium2

    try:
        book = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        words = str(error)
        if "assword" in words:
            return Problem("pdf_locked", "It is locked with a password")
        return Problem("pdf_broken", "The PDF cannot be read: %(error)s", {"error": words[:200]})
    try:
        if len(book) > limits.pages:
            return Problem(
                "too_many_pages",
                "The file has %(count)s pages; the limit is %(limit)s",
                {"count": len(book), "limit": limits.pages},
            )
        pages = [_page(book, number, limits) for number in range(len(book))]
    except pypdfium2.PdfiumError as error:
        return Problem(
            "pdf_broken", "The PDF cannot be read: %(error)s", {"error": str(error)[:200]}
        )
    finally:
        book.close()
    return _document(pages)


@dataclass(slots=True)
class Page:
    """The lines of one page from top to bottom as the file has them, and the page's lower and upper edge."""

    lines: list[Line]
    bottom: float
    top: float


def _document(pages: list[Page]) -> PlainText | Problem:
    whole = "".join(line.text for page in pages for line in page.lines)
    if not whole.strip():
        return NO_TEXT
    if problem := _unreadable(whole):
        return problem
    apart = mark_furniture(pages)
    warnings = []
    if apart:
        warnings.append(
            Problem(
                "furniture",
                "%(count)s lines at the edges of pages (page numbers, running heads) are kept apart from the text: %(lines)s",
                {"count": sum(apart.values()), "lines": " / ".join(list(apart)[:12])[:500]},
            )
        )
    empty = [number for number, page in enumerate(pages, 1) if not page.lines]
    if empty:
        warnings.append(
            Problem(
                "pages_without_text",
                "%(count)s pages hold no text (pictures or blank): %(pages)s",
                {"count": len(empty), "pages": ", ".join(map(str, empty[:40]))},
            )
        )
    body = [line for page in pages for line in page.lines if not line.furniture]
    return finished("\n".join(paragraphs(body)), {}, tuple(warnings))


def _unreadable(text: str) -> Problem | None:
    """Why the text layer is none: numbers of glyphs in place of characters, or characters without meaning."""
    kept = _CID.sub("", text)
    named = len(_CID.findall(text))
    private = sum(
        1 for c in kept if "\ue000" <= c <= "\uf8ff" or c in "\ufffd\ufffe\uffff" or c < "\t"
    )
    written = sum(1 for c in kept if not c.isspace()) + named
    if (named and named * 5 > written) or private * 5 > written:
        return Problem(
            "pdf_no_characters",
            "No extractable text (未抽取到文字): its fonts name glyphs, not characters",
        )
    return None


def _page(book: Any, number: int, limits: Limits) -> Page:
    page = book[number]
    try:
        _, height = page.get_size()
        textpage = page.get_textpage()
        try:
            lines = list(_lines(textpage, number, limits))
        finally:
            textpage.close()
        bottom = page.get_bbox()[1]
        return Page(in_columns(lines), bottom, bottom + height)
    finally:
        page.close()


def _lines(textpage: Any, number: int, limits: Limits) -> Iterator[Line]:
    """The lines of a page. PDFium ends each with \\r\\n; characters printed twice (for bold) count once."""
    import pypdfium2.raw as raw

    count = min(textpage.count_chars(), limits.text_chars)
    left, right, bottom, top = c_double(), c_double(), c_double(), c_double()
    characters: list[tuple[str, float, float, float, float]] = []
    high = 0
    for index in range(count):
        code = raw.FPDFText_GetUnicode(textpage, index)
        if 0xD800 <= code < 0xDC00:  # the two halves of a character beyond the first plane
            high = code
            continue
        if 0xDC00 <= code < 0xE000 and high:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
        high = 0
        character = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
        if code in (2, 0xFFFE):  # a hyphen that PDFium takes for one of a divided word
            character = "-"
        if character in "\r\n":
            if characters:
                yield _line(characters, number)
                characters = []
            continue
        raw.FPDFText_GetCharBox(textpage, index, left, right, bottom, top)
        box = (character, left.value, right.value, bottom.value, top.value)
        if not _struck_twice(characters, box):
            characters.append(box)
    if characters:
        yield _line(characters, number)


def _struck_twice(
    line: list[tuple[str, float, float, float, float]],
    box: tuple[str, float, float, float, float],
) -> bool:
    """Whether the character stands on an equal one of the same line, moved by a hair."""
    character, left, right, bottom, top = box
    if character.isspace() or right <= left:
        return False
    width, height = right - left, max(1.0, top - bottom)
    return any(
        character == other and abs(left - l2) < 0.3 * width and abs(bottom - b2) < 0.3 * height
        for other, l2, _, b2, _ in line[-8:]
    )


def _line(characters: list[tuple[str, float, float, float, float]], number: int) -> Line:
    text = "".join(character for character, *_ in characters)
    placed = [(n, b) for n, b in enumerate(characters) if not b[0].isspace() and b[2] > b[1]]
    seen = [box for _, box in placed] or characters
    bottom = statistics.median(box[3] for box in seen)
    top = statistics.median(box[4] for box in seen)
    wide = max(1.0, top - bottom)
    gaps = tuple(
        (index, before[2], box[1])
        for (_, before), (index, box) in pairwise(placed)
        if box[1] - before[2] > wide
    )
    left, right = min(box[1] for box in seen), max(box[2] for box in seen)
    return Line(text.rstrip(), left, right, bottom, top, number, gaps=gaps)


def mark_furniture(pages: list[Page]) -> Counter[str]:
    """Mark page numbers and running heads as furniture; the marked texts with their numbers.

    Furniture stands outermost at the upper or lower edge of a page. A running head is short and there on three pages
    at least and on a third of all; a page number is alone on its line.
    """
    edges = [edge for page in pages for edge in _edges(page)]
    heads = Counter(_masked(line) for edge in edges for line in edge)
    size = statistics.median([line.height for page in pages for line in page.lines] or [1.0])
    short = (line.text.strip() for edge in edges for line in edge if len(line.text) <= LONGEST_HEAD)
    numbers = sum(bool(_NUMBER.fullmatch(text)) for text in short)
    apart: Counter[str] = Counter()
    for edge in edges:
        for line in edge:
            text = line.text.strip()
            if len(text) > LONGEST_HEAD:
                break
            often = heads[_masked(line)]
            # The heads of left and right pages differ: of few pages each is there twice, in smaller letters than the text.
            least = REPEATED_PAGES if line.height > 0.9 * size else 2
            is_head = often >= least and often * 3 >= len(pages) >= REPEATED_PAGES
            is_number = bool(_NUMBER.fullmatch(text)) and (
                not _PLAIN_NUMBER.fullmatch(text) or numbers >= 2 or len(pages) == 1
            )
            if not (is_head or is_number):
                break  # what lies further in is text
            line.furniture = True
            apart[text] += 1
    for line in _watermarks(pages, size):
        line.furniture = True
        apart[line.text.strip()] += 1
    return apart


def _watermarks(pages: list[Page], size: float) -> list[Line]:
    """Short lines in letters far larger than the text that stand at the same place of nearly every page."""
    places: dict[tuple[str, int, int], list[Line]] = {}
    for page in pages:
        for line in page.lines:
            text = line.text.strip()
            if (
                text
                and len(text) <= LONGEST_HEAD
                and line.height > 1.8 * size
                and not line.furniture
            ):
                key = (text, round(line.left / 4), round(line.bottom / 4))
                places.setdefault(key, []).append(line)
    least = max(REPEATED_PAGES, 0.6 * len(pages))
    return [line for lines in places.values() if len(lines) >= least for line in lines]


def _masked(line: Line) -> str:
    return re.sub(r"\d+", "0", line.text.strip())


def _edges(page: Page) -> tuple[list[Line], list[Line]]:
    """The lines near the upper and near the lower edge of a page, the outermost first."""
    height = max(1.0, page.top - page.bottom)
    written = sorted((line for line in page.lines if line.text.strip()), key=lambda line: line.top)
    above = [line for line in written[::-1] if line.bottom > page.top - EDGE * height]
    below = [line for line in written if line.top < page.bottom + EDGE * height]
    return above[:EDGE_LINES], below[:EDGE_LINES]


def paragraphs(lines: list[Line]) -> Iterator[str]:
    """Lines joined where the break was only the end of the line."""
    lines = [line for line in lines if line.text.strip()]
    if not lines:
        return
    margins = {column: _margins([x for x in lines if x.column == column]) for column in {x.column for x in lines}}  # fmt: skip
    text = lines[0].text
    for before, line in pairwise(lines):
        if _goes_on(before, line, margins):
            text = _joined(text, line.text)
        else:
            yield text
            text = line.text
    yield text


def _margins(lines: list[Line]) -> tuple[float, float]:
    return min(line.left for line in lines), _margin([line.right for line in lines])


def _margin(values: list[float]) -> float:
    """Where full lines end: the right edge that the widest tenth of the lines reaches."""
    ordered = sorted(values)
    return ordered[int(0.9 * (len(ordered) - 1))]


def _goes_on(before: Line, line: Line, margins: dict[int, tuple[float, float]]) -> bool:
    """Whether ``line`` continues the sentence of the line before it; ``margins``: left and right edge of each column."""
    left, right = margins[line.column][0], margins[before.column][1]
    if line.text.lstrip()[0] in _NEVER_FIRST:
        return True
    size = max(before.height, line.height)
    if before.page == line.page and before.column == line.column:
        gap = before.bottom - line.top
        if gap > 1.6 * size or gap < -3 * size:
            return False  # space between paragraphs, or another column
    if abs(before.height - line.height) > 0.35 * size:
        return False  # a heading in another size
    if before.is_row or line.is_row:
        return False
    if before.page == line.page and 0 in (before.column, line.column) and before.column:
        return False  # from a column to what stands below both
    if before.right < right - 2.2 * size:
        return False  # the line ended before the margin
    if _DOTS.search(before.text[-200:]):
        return False  # a line of a table of contents
    indented = line.left > left + 1.2 * size or line.text.startswith(("\u3000", "  "))
    was_indented = before.left > margins[before.column][0] + 1.2 * size
    if indented and not (was_indented and not _ENDS.search(before.text)):
        return False
    return not (_STARTS_ANEW.match(line.text) and _ENDS.search(before.text))


def _joined(text: str, more: str) -> str:
    text, more = text.rstrip(), more.lstrip()
    if _WIDE.match(text[-1:]) or _WIDE.match(more[:1]):
        return text + more
    if text.endswith("-") and text[-2:-1].isalpha() and more[:1].islower():
        return text[:-1] + more
    return f"{text} {more}"
