"""Files that are built to hurt a reader, by kind: containers that lie, trees without end, few bytes that stand for many.

Each maker takes a source of chance and gives the bytes of one file; the fuzzer and the tests of the readers use them.
"""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable

from tests.intake import files

TEXT = "本馆每周一闭馆整理图书，其余日期上午九时至下午五时开放，请读者相互转告。"
_NUMBERS = (0, 1, 2, 7, 255, 4096, 65535, 2**20, 2**31 - 1, 2**31, 2**32 - 1)

Maker = Callable[[random.Random], bytes]


# --- Zip containers --------------------------------------------------------------------------------------------------


def packed(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A whole zip of ``parts``."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


def lying_directory(data: bytes, rng: random.Random) -> bytes:
    """A zip whose central directory says something else than its members."""
    changed = bytearray(data)
    at = _all(data, b"PK\x01\x02")
    for place in rng.sample(at, min(len(at), rng.randint(1, 3))):
        # version, flags, method, time, crc, packed, unpacked, name, extra, comment, disk, attributes, offset
        width, offset = rng.choice(
            ((2, 6), (2, 8), (2, 10), (4, 16), (4, 20), (4, 24), (2, 28), (2, 30), (2, 32), (2, 34), (4, 38), (4, 42))
        )  # fmt: skip
        value = rng.choice(_NUMBERS) & (2 ** (8 * width) - 1)
        changed[place + offset : place + offset + width] = value.to_bytes(width, "little")
    if rng.random() < 0.3 and (ends := _all(data, b"PK\x05\x06")):
        offset, width = rng.choice(((8, 2), (10, 2), (12, 4), (16, 4), (20, 2)))
        value = rng.choice(_NUMBERS) & (2 ** (8 * width) - 1)
        changed[ends[-1] + offset : ends[-1] + offset + width] = value.to_bytes(width, "little")
    return bytes(changed)


def _all(data: bytes, mark: bytes) -> list[int]:
    places, at = [], data.find(mark)
    while at >= 0:
        places.append(at)
        at = data.find(mark, at + 1)
    return places


def overlapping(rng: random.Random) -> bytes:
    """A zip with many entries that all lead to the same packed bytes."""
    whole = packed({"a.txt": TEXT.encode() * rng.choice((1, 2000))})
    start = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entry = whole[start:end]
    count = rng.choice((2, 50, 3000))
    entries = b"".join(
        entry.replace(b"a.txt", b"%c%04d" % (97 + n % 26, n % 10_000)) for n in range(count)
    )
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, len(entries), start, 0)
    return whole[:start] + entries + tail


def odd_names(rng: random.Random) -> bytes:
    """A zip with the names that nobody should unpack under."""
    names = [
        "../../a.txt", "/etc/a.txt", "C:\\a.txt", "a\\..\\..\\b.txt", "a/" * 300 + "b.txt", "长" * 3000 + ".txt",
        "a\u202egpj.txt", "a\u200bb.txt", ".txt", " .txt", "a.txt/", "NUL", "a.txt\n.txt", "A.TXT", "a.txt", "e\u0301.txt",
        "\u00e9.txt", "inner.zip", "documents.jsonl", "甲/documents.jsonl", "\x7f.txt", "a:b.txt", "~$a.docx", "__MACOSX/a.txt",
    ]  # fmt: skip
    parts = {name: TEXT.encode() for name in rng.sample(names, rng.randint(1, 8))}
    if "documents.jsonl" in parts:
        rows = ({"doc_id": name, "path": name} for name in names)
        parts["documents.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return packed(parts, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)))


def bomb(rng: random.Random) -> bytes:
    """A zip that unpacks to far more than it is, or says that it does not."""
    inner = packed({"a.txt": b"0" * rng.choice((1 << 20, 30 << 20))})
    at = inner.index(b"PK\x01\x02") + 24
    lie = rng.choice((None, 10, 4096))
    if lie is None:
        return inner
    return inner[:at] + lie.to_bytes(4, "little") + inner[at + 4 :]


def a_zip(rng: random.Random) -> bytes:
    good = packed({"甲/a.txt": TEXT.encode(), "b.docx": files.docx(files.p(TEXT)), "c.csv": "编号,正文\n1,甲乙\n".encode()})  # fmt: skip
    return rng.choice((lambda: lying_directory(good, rng), lambda: overlapping(rng), lambda: odd_names(rng), lambda: bomb(rng)))()  # fmt: skip


# --- Word ------------------------------------------------------------------------------------------------------------

_WRAPS = (
    "ins", "del", "moveFrom", "moveTo", "sdt", "sdtContent", "customXml", "smartTag", "hyperlink", "fldSimple", "r", "p",
    "tbl", "tr", "tc", "pict", "txbxContent", "body", "ruby", "rubyBase", "rt", "object", "drawing", "footnote",
)  # fmt: skip
_LEAVES = (
    "<w:t>甲乙</w:t>", "<w:tab/>", "<w:br/>", "<w:delText>删</w:delText>", "<w:instrText>PAGE</w:instrText>",
    '<w:fldChar w:fldCharType="begin"/>', '<w:fldChar w:fldCharType="separate"/>', '<w:fldChar w:fldCharType="end"/>',
    '<w:footnoteReference w:id="1"/>', '<w:footnoteReference w:id="2"/>', '<w:endnoteReference w:id="1"/>', "<w:sym/>",
    '<w:sym w:char="D800"/>', "<w:rPr><w:vanish/></w:rPr>", "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>",
    '<w:pPr><w:numPr><w:ilvl w:val="99"/><w:numId w:val="1"/></w:numPr></w:pPr>', "<w:trPr><w:del/></w:trPr>",
    '<w:pPr><w:numPr><w:ilvl w:val="8"/><w:numId w:val="1"/></w:numPr></w:pPr>', '<w:pPr><w:pStyle w:val="A"/></w:pPr>',
)  # fmt: skip


def _tree(rng: random.Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.3:
        return rng.choice(_LEAVES)
    name = rng.choice(_WRAPS)
    inner = "".join(_tree(rng, depth - 1) for _ in range(rng.randint(1, 4)))
    return f"<w:{name}>{inner}</w:{name}>"


def a_docx(rng: random.Random) -> bytes:
    """A Word file with any element in any other, notes that refer to themselves, styles in circles, very deep nests."""
    act = rng.randrange(6)
    parts = {
        "word/footnotes.xml": files.part(
            "footnotes",
            "".join(
                f'<w:footnote w:id="{n}">{files.p("注", _tree(rng, 4))}</w:footnote>'
                for n in (1, 2)
            ),
        ),
        "word/styles.xml": files.part(
            "styles",
            '<w:style w:styleId="A"><w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>',
        ),
        "word/numbering.xml": files.part(
            "numbering",
            '<w:abstractNum w:abstractNumId="0">'
            + "".join(
                f'<w:lvl w:ilvl="{n}"><w:start w:val="{rng.choice(_NUMBERS)}"/><w:numFmt w:val="{rng.choice(("chineseCounting", "lowerRoman", "upperLetter", "bullet", "x"))}"/><w:lvlText w:val="{"%" + str(rng.randint(0, 10)) + "." * rng.choice((1, 3000))}"/></w:lvl>'
                for n in range(9)
            )
            + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
        ),
    }
    if act == 0:
        depth = rng.choice((60, 120, 250, 2000))
        name = rng.choice(_WRAPS)
        body = f"<w:{name}>" * depth + files.p(TEXT) + f"</w:{name}>" * depth
    elif act == 1:
        depth = rng.choice((20, 40, 80))
        body = "<w:tbl><w:tr><w:tc>" * depth + files.p(TEXT) + "</w:tc></w:tr></w:tbl>" * depth
    elif act == 2:
        body = files.p(TEXT) * rng.choice((1, 20_000)) + "<w:p/>" * rng.choice((1, 50_000))
    elif act == 3:
        body = files.p(*['<w:r><w:footnoteReference w:id="1"/></w:r>'] * rng.choice((1, 20_000)))
    else:
        body = "".join(_tree(rng, 7) for _ in range(rng.randint(1, 12)))
    return files.docx(body, parts={n: p for n, p in parts.items() if rng.random() < 0.8})


# --- PDF -------------------------------------------------------------------------------------------------------------


def a_pdf(rng: random.Random) -> bytes:
    """A PDF with circles in its tables, trees and drawings, or streams that are not what they say."""
    good = files.pdf(*[[*files.column(TEXT), (280, 30, 10, f"- {n} -")] for n in range(3)])
    act = rng.randrange(9)
    if act == 0:  # a table of places that goes on in itself
        start = good.rindex(b"xref")
        return good.replace(b"trailer << ", b"trailer << /Prev %d " % rng.choice((start, 0, len(good), 9)))  # fmt: skip
    if act == 1:  # a tree of pages that holds itself
        return good.replace(b"/Kids [", b"/Kids [2 0 R 2 0 R ")
    if act == 2:
        return good.replace(b"/Count 3", b"/Count %d" % rng.choice(_NUMBERS))
    if act == 3:
        return good.replace(b"0 0 595 842", b"%d %d %d %d" % tuple(rng.choice((*_NUMBERS, -1)) for _ in range(4)))  # fmt: skip
    if act == 4:  # few bytes that stand for many
        line = b"BT /F1 9 Tf 60 700 Td <%s> Tj ET\n" % (b"4e00" * 50)
        stream = zlib.compress(line * rng.choice((100, 20_000, 200_000)))
        return _with_stream(good, stream)
    if act == 5:  # drawings in drawings in themselves
        return _with_stream(good, zlib.compress(b"q /X Do Q\n" * 50), b"/XObject << /X 6 0 R >>")
    if act == 6:
        return good.replace(b"/Length ", b"/Length %d " % rng.choice(_NUMBERS))
    if act == 7:
        depth = rng.choice((100, 5000, 200_000))
        return good.replace(b"/Flags 6", b"/Flags 6 /X " + b"[" * depth + b"]" * rng.choice((0, depth)))  # fmt: skip
    words = list(good.split(b" "))
    for _ in range(rng.randint(1, 6)):
        words[rng.randrange(len(words))] = rng.choice((b"1 0 R", b"6 0 R", b"<<", b"]", b"null", b"-1", b"2147483648", b"/Pages"))  # fmt: skip
    return b" ".join(words)


def _with_stream(good: bytes, stream: bytes, resources: bytes = b"") -> bytes:
    """The good file with its first content stream replaced; its table of places is then wrong and is mended by readers."""
    start = good.index(b"<< /Length")
    end = good.index(b"endstream", start)
    head = b"<< /Length %d /Filter /FlateDecode /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << %s >> >>\nstream\n"
    data = good[:start] + head % (len(stream), resources) + stream + b"\n" + good[end:]
    return data.replace(b"/Font << /F1 3 0 R >>", b"/Font << /F1 3 0 R >> " + resources)


# --- Spreadsheets ----------------------------------------------------------------------------------------------------

_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def xlsx(sheet: str, strings: str = "", count: int = 1, extra: dict[str, bytes] | None = None) -> bytes:  # fmt: skip
    """A workbook with the XML of one sheet and of its shared strings."""
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
    )
    rels = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
    book = f'<workbook xmlns="{_SHEET}" xmlns:r="{relation}"><sheets><sheet name="材料" sheetId="1" r:id="rId1"/></sheets></workbook>'
    parts = {
        "[Content_Types].xml": types,
        "_rels/.rels": rels.format(f'<Relationship Id="rId1" Type="{relation}/officeDocument" Target="xl/workbook.xml"/>'),
        "xl/_rels/workbook.xml.rels": rels.format(
            f'<Relationship Id="rId1" Type="{relation}/worksheet" Target="worksheets/sheet1.xml"/>'
            f'<Relationship Id="rId2" Type="{relation}/sharedStrings" Target="sharedStrings.xml"/>'
        ),
        "xl/workbook.xml": book,
        "xl/sharedStrings.xml": f'<sst xmlns="{_SHEET}" count="{count}" uniqueCount="{count}">{strings}</sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}">{sheet}</worksheet>',
    }  # fmt: skip
    return packed({**{name: part.encode() for name, part in parts.items()}, **(extra or {})})


def a_spreadsheet(rng: random.Random) -> bytes:
    """A workbook with one long string in thousands of cells, cells far out, numbers of strings that are not there."""
    heads = "<si><t>编号</t></si><si><t>正文</t></si>"
    first = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    act = rng.randrange(6)
    if act == 0:  # each cell a copy of one long string
        length, rows = rng.choice(((50_000, 2000), (1_000_000, 600), (100, 60_000)))
        text = "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(1000)) * (length // 1000)
        cells = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}" t="s"><v>2</v></c></row>' for n in range(2, rows))  # fmt: skip
        return xlsx(f"<sheetData>{first}{cells}</sheetData>", f"{heads}<si><t>{text}</t></si>", 3)
    if act == 1:  # a cell at the far end
        far = rng.choice(("XFD1048576", "A1048576", "XFD2", "ZZZZZZ99999999999", "A0", "1A", ""))
        return xlsx(f'<dimension ref="A1:{far}"/><sheetData>{first}<row r="1048576"><c r="{far}"><v>1</v></c></row></sheetData>', heads, 2)  # fmt: skip
    if act == 2:
        value = rng.choice(("-1", "99999999999999999999", "2", "1.5", "NaN", "", "甲"))
        kind = rng.choice(("s", "str", "inlineStr", "b", "e", "n", "d", "x"))
        return xlsx(f'<sheetData>{first}<row r="2"><c r="A2" t="{kind}"><v>{value}</v></c><c r="B2" t="{kind}"><v>{value}</v></c></row></sheetData>', heads, rng.choice(_NUMBERS))  # fmt: skip
    if act == 3:  # many strings
        strings = "".join(f"<si><t>{n}</t></si>" for n in range(rng.choice((10, 300_000))))
        return xlsx(f"<sheetData>{first}</sheetData>", heads + strings, 2)
    if act == 4:
        depth = rng.choice((50, 5000))
        return xlsx(f"<sheetData>{first}</sheetData>", heads + "<si>" * depth + "</si>" * depth, 2)
    cells = "".join(f'<c r="{a}{b}2"><v>1</v></c>' for a in "ABCDEFGH" for b in "ABCDEFGH")
    return lying_directory(xlsx(f'<sheetData>{first}<row r="2">{cells}</row></sheetData>', heads, 2), rng)  # fmt: skip


# --- Pages -----------------------------------------------------------------------------------------------------------

_TAGS = (
    "div p table tr td th ul li a span b nav header footer aside form script style template noscript h1 pre br img svg "
    "iframe select option textarea button article main section dl dt dd body html head meta title frameset details"
).split()


def a_page(rng: random.Random) -> bytes:
    """A page with tags in any order, depth without end, or one construct a hundred thousand times."""
    act = rng.randrange(6)
    if act == 0:
        tag, depth = rng.choice(_TAGS), rng.choice((100, 249, 255, 5000, 100_000))
        return (
            f"<html><body>{f'<{tag}>' * depth}{TEXT}{f'</{tag}>' * rng.choice((0, depth))}".encode()
        )
    if act == 1:
        pieces = ("<script>x</script>甲乙丙丁", "<p hidden>x</p>乙丙丁戊", "<td>甲", "<a href=x>甲乙丙丁</a>", "<li><a>甲</a>", "<br>", "<!-- x -->", "&#0;", "&nbsp;", "<ul><li>甲</ul>", "<div class=nav><a>甲</a></div>乙", "<table><tr><td>索引号<td>1</table>")  # fmt: skip
        return f"<html><body>{rng.choice(pieces) * rng.choice((10, 20_000))}<p>{TEXT}".encode()
    if act == 2:
        attributes = " ".join(f'a{n}="{n}"' for n in range(rng.choice((10, 100_000))))
        return f"<html><body {attributes}><p>{TEXT}</p>".encode()
    if act == 3:
        charset = rng.choice(
            ("utf-7", "gbk", "big5", "x-mac-chinese", "utf-16", "rot13", "zip", "", "'")
        )
        return f"<meta charset={charset}><p>{TEXT * 3}</p>".encode(rng.choice(("utf-8", "gb18030", "utf-16", "utf-7")))  # fmt: skip
    out = []
    for _ in range(rng.choice((20, 400, 4000))):
        tag = rng.choice(_TAGS)
        out.append(rng.choice((f"<{tag}>", f"</{tag}>", TEXT[: rng.randint(1, 20)], f"<{tag} class=content id=nav style='display:none'>", "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "&#xD800;", "\0", "<", "\ufeff")))  # fmt: skip
    return "".join(out).encode()


# --- Text and lists --------------------------------------------------------------------------------------------------


def a_text(rng: random.Random) -> bytes:
    """Texts in any encoding, glued together, cut in a character, with marks where none belong."""
    codecs = ("utf-8", "gb18030", "big5", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "shift_jis", "euc_kr", "latin-1", "utf-8-sig", "hz", "iso2022_jp")  # fmt: skip
    out = b""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(TEXT))
        piece = TEXT[start:] * rng.choice((1, 1, 40))
        out += piece.encode(rng.choice(codecs), "ignore")[: rng.choice((None, -1, -2, 50))]
    if rng.random() < 0.2:
        out += rng.choice((b" ", b"\0", b"\n", b"-", b"\xe4", b"(", "一、".encode(), b"\x1b[3")) * rng.choice((1, 200_000))  # fmt: skip
    return out


def a_markdown(rng: random.Random) -> bytes:
    """Front matter that never ends, repeats or nests, before any text."""
    lines = ["title: 通知", "a: &a [*a, *a]", "- - - -", "  x", "#", "source: " + "长" * rng.choice((3, 5000)), ": :", "doc_id: x", "\u2028", "title: |", "---", "..."]  # fmt: skip
    head = "\n".join(rng.choice(lines) for _ in range(rng.choice((1, 5, 3000))))
    return f"---\n{head}\n{rng.choice(('---', '...', '', '----'))}\n{TEXT}".encode() + rng.choice((b"", a_text(rng)))  # fmt: skip


def a_json_list(rng: random.Random) -> bytes:
    """Lines that are deep, long, repeated, of other types, or hold what no database keeps."""
    deep = rng.choice((100, 5000, 100_000))
    values = ("1", "1e999", "-0", "NaN", "9" * 5000, "null", "true", '"\\ud800"', '"\\u0000"', "[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep, '"' + "长" * rng.choice((10, 200_000)) + '"', '"../a"', '"a.txt"', "{}", '"\\u202e\\u200b"')  # fmt: skip
    keys = (
        "doc_id",
        "raw",
        "path",
        "title",
        "编号",
        "正文",
        "sha256",
        "x",
        "",
        "metadata",
        "captured_at",
    )
    lines = []
    for _ in range(rng.choice((1, 5, 300))):
        pairs = ", ".join(f'"{rng.choice(keys)}": {rng.choice(values)}' for _ in range(rng.randint(0, 6)))  # fmt: skip
        lines.append(f"{{{pairs}}}")
    return rng.choice(("\n", "\r\n", "\r", "\u2028")).join(lines).encode("utf-8", "surrogatepass")


def a_table(rng: random.Random, delimiter: str = ",") -> bytes:
    """Tables with a million columns, quotes that never end, rows of any width, any encoding."""
    act = rng.randrange(5)
    if act == 0:
        wide = delimiter * rng.choice((1000, 1_000_000))
        return f"编号{delimiter}正文{wide}\n1{delimiter}{TEXT}{wide}\n".encode()
    if act == 1:
        return f'编号{delimiter}正文\n1{delimiter}"{TEXT * rng.choice((1, 20_000))}\n2{delimiter}乙\n'.encode()
    if act == 2:
        return (f"编号{delimiter}正文\n" + f"1{delimiter}{TEXT}\n" * rng.choice((2, 50_000))).encode(rng.choice(("utf-8", "gb18030", "utf-16")))  # fmt: skip
    cells = (
        "编号",
        "正文",
        '"',
        '""',
        "\0",
        "甲\n乙",
        "=1+1",
        TEXT,
        "",
        " ",
        "\ufeff",
        "0070",
        "\r",
        '"甲"乙"',
        ";",
        "|",
        "\t",
    )
    rows = [delimiter.join(rng.choice(cells) for _ in range(rng.randint(0, 6))) for _ in range(rng.choice((1, 4, 500)))]  # fmt: skip
    head = rng.choice((f"编号{delimiter}正文\n", ""))
    return (head + rng.choice(("\n", "\r", "\r\n")).join(rows)).encode(rng.choice(("utf-8", "gb18030", "utf-16")), "ignore")  # fmt: skip


MAKERS: dict[str, Maker] = {
    "txt": a_text,
    "md": a_markdown,
    "jsonl": a_json_list,
    "csv": a_table,
    "tsv": lambda rng: a_table(rng, "\t"),
    "html": a_page,
    "docx": a_docx,
    "pdf": a_pdf,
    "xlsx": a_spreadsheet,
    "zip": a_zip,
}
"""The maker of hurtful files of each kind."""
