"""Small Word files, PDFs and pages made by hand, so that a test says itself what is in them."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_TYPES = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="xml" ContentType="application/xml"/></Types>"""


def p(*content: str, properties: str = "") -> str:
    """A paragraph of Word; ``content``: texts, or XML where it begins with ``<``."""
    runs = (c if c.startswith("<") else f"<w:r><w:t>{escape(c)}</w:t></w:r>" for c in content)
    before = f"<w:pPr>{properties}</w:pPr>" if properties else ""
    return f"<w:p>{before}{''.join(runs)}</w:p>"


def numbered(text: str, number: int, level: int = 0) -> str:
    """A paragraph in a list."""
    numbers = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return p(text, properties=numbers)


def table(*rows: Sequence[str]) -> str:
    """A table of texts."""
    cells = (
        "<w:tr>" + "".join(f"<w:tc>{p(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in rows
    )
    return f"<w:tbl>{''.join(cells)}</w:tbl>"


def part(root: str, content: str) -> str:
    """A part of a Word file whose root element is ``w:<root>``."""
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{root} {_WORD}>{content}</w:{root}>'


def docx(*blocks: str, parts: Mapping[str, str] | None = None) -> bytes:
    """A Word file with these blocks in its body and further ``parts`` by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr(
            "word/document.xml", part("document", f"<w:body>{''.join(blocks)}</w:body>")
        )
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return file.getvalue()


Placed = tuple[float, float, float, str]
"""Left edge, base line, size, text."""


def pdf(*pages: Sequence[Placed]) -> bytes:
    """A PDF of A4 pages with Chinese text that carries its characters."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [4 0 R] >>",
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /FontDescriptor 5 0 R /DW 1000 >>",
        b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>",
    ]
    kids = []
    for page in pages:
        stream = "".join(
            f"BT /F1 {size} Tf {x} {y} Td <{text.encode('utf-16-be').hex()}> Tj ET\n"
            for x, y, size, text in page
        )
        packed = zlib.compress(stream.encode("ascii"))
        objects.append(
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(packed)
            + packed
            + b"\nendstream"
        )
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return _assembled(objects)


def _assembled(objects: Sequence[bytes]) -> bytes:
    data = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )


def column(text: str, *, top: float = 760, width: int = 34, size: float = 14) -> list[Placed]:
    """``text`` set in lines of ``width`` characters, paragraphs indented by two."""
    lines: list[Placed] = []
    for paragraph in text.split("\n"):
        rest, indent = paragraph, 2
        while rest:
            take = width - indent
            y = top - len(lines) * size * 1.5
            lines.append((60 + indent * size, y, size, rest[:take]))
            rest, indent = rest[take:], 0
    return lines
