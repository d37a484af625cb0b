"""Saved web pages: the visible main text, the page's own table of facts as metadata, and nothing fetched."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from lxml import etree
from lxml import html as lxml_html

from screening.documents import Problem
from screening.intake import encodings
from screening.intake.fields import field_of, length_problem
from screening.intake.limits import Limits
from screening.intake.mainpart import BLOCKS, MainPart, empty, flat
from screening.intake.plain import PlainText, finished

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What a tree of elements cannot hold; a page may have it as it is or as a number (``&#1;``)."""

_META_CHARSET = re.compile(
    rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_\-]{2,30})", re.IGNORECASE
)
_XML_CHARSET = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_\-]{2,30})")
_CODECS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "x-gbk": "gb18030",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "utf-8": "utf-8",
    "utf8": "utf-8",
}
LONGEST_DEPTH = 250

_UNSEEN = frozenset(
    "script style noscript template head title meta link iframe object embed svg canvas audio video map select option datalist input textarea button dialog".split()
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LABEL_ENDS = re.compile(r"[\s:：\u3000\u00a0]+$")
_UNMAPPED_LABELS = frozenset(
    "索引号 主题分类 主题词 信息分类 信息索引号 有效性 效力状态 公开方式 公开范围 公开责任部门 生成日期 体裁分类 服务对象分类".split()
)


def decode(data: bytes, chosen: str | None = None) -> encodings.Decoded | Problem:
    """The text of a page: by its mark, as UTF-8, by what it declares, or by its content; always strictly."""
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return encodings.decode(data)
    try:
        return encodings.Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    declared = _META_CHARSET.search(data[:8192]) or _XML_CHARSET.match(data)
    codec = _CODECS.get(declared[1].decode("ascii").lower()) if declared else None
    if codec is not None and codec != "utf-8":
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            return encodings.decode_or_chosen(data, chosen)
        visible = re.sub(r"[\x00-\x7f]", "", text)[:20_000]
        if not visible or encodings.surprise(visible) < encodings.PLAUSIBLE_BITS * len(visible):
            return encodings.Decoded(text, codec)
    return encodings.decode_or_chosen(data, chosen)


def read_html(data: bytes, limits: Limits, chosen: str | None = None) -> PlainText | Problem:
    """The main text of a page with its metadata. What was left out around it is named in a warning."""
    decoded = decode(data, chosen)
    if isinstance(decoded, Problem):
        return decoded
    warnings = decoded.warnings
    text, dropped = _NOT_XML.subn("", decoded.text.removeprefix("\ufeff"))
    if dropped:
        count = {"count": dropped}
        warnings += (
            Problem("control_characters", "%(count)s control characters were taken out", count),
        )
    if not text.strip():
        return Problem("empty", "There is no text in it")
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    parser = lxml_html.HTMLParser(
        no_network=True, remove_comments=True, remove_pis=True, huge_tree=False
    )
    try:
        root = lxml_html.document_fromstring(text, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        return Problem(
            "html_broken", "The page cannot be read: %(error)s", {"error": str(error)[:200]}
        )
    if _too_deep(root):
        return Problem(
            "nested_too_deep",
            "The page nests its elements more than %(limit)s deep",
            {"limit": LONGEST_DEPTH},
        )
    return _Page(root).read(warnings)


def _too_deep(root: etree._Element) -> bool:
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > LONGEST_DEPTH:
            return True
    return False


class _Page:
    """One page being taken apart: metadata first, then what is not seen, then what stands around the text."""

    def __init__(self, root: etree._Element) -> None:
        self.root = root
        found = root.find("body")
        self.body = root if found is None else found
        self.metadata: dict[str, object] = {}
        self.facts: list[str] = []
        self.left_out: list[str] = []

    def read(self, warnings: tuple[Problem, ...]) -> PlainText | Problem:
        title = " ".join((self.root.findtext(".//title") or "").split())
        self._drop_unseen()
        for table in list(self.body.iter("table", "ul", "dl")):
            if table.getparent() is not None and self._is_facts(table):
                empty(table)
        part = MainPart(self.body, title)
        lines = list(_lines(part.find()))
        self.left_out = part.left_out
        if part.heading:
            lines.insert(0, part.heading)
        text = _NOT_XML.sub("", "\n".join(lines))
        if title:
            self.metadata.setdefault("title", self._named_in(title))
        # A page is not refused for a heading that is no heading.
        fitting = {k: v for k, v in self.metadata.items() if length_problem(k, str(v)) is None}
        return finished(text, fitting, (*warnings, *self._said()))

    def _said(self) -> Iterator[Problem]:
        if self.facts:
            yield Problem(
                "page_table",
                "Facts from the table of the page, kept apart from the text: %(facts)s",
                {"facts": "; ".join(self.facts)[:1000]},
            )
        words = " / ".join(" ".join(part.split())[:60] for part in self.left_out if part.strip())
        if words:
            yield Problem(
                "around_the_text",
                "Menus and other parts around the text were left out: %(parts)s",
                {"parts": words[:500]},
            )

    def _drop_unseen(self) -> None:
        for element in list(self.body.iter()):
            if element is self.body or not isinstance(element.tag, str):
                continue
            if (
                element.tag in _UNSEEN
                or element.get("hidden") is not None
                or element.get("aria-hidden") == "true"
                or _HIDDEN.search(element.get("style", ""))
            ):
                empty(element)

    def _is_facts(self, table: etree._Element) -> bool:
        """Whether a table or list is the page's own one of facts (索引号, 发文字号, …); what it says is then noted."""
        if any(True for _ in table.iterdescendants("table", "ul", "dl")):
            return False
        cells = [flat(cell) for cell in table.iter("td", "th", "li", "dt", "dd")]
        if not 2 <= len(cells) <= 60 or sum(map(len, cells)) > 3000:
            return False
        pairs: list[tuple[str, str]] = []
        known = 0
        index = 0
        while index < len(cells):
            label, value = _label(cells[index]), ""
            inside = re.match(r"\s*([^:：]{2,12})[:：]\s*(\S.*)$", cells[index], re.DOTALL)
            if inside and _is_label(_label(inside[1])):
                label, value = _label(inside[1]), inside[2].strip()
            elif _is_label(label) and index + 1 < len(cells):
                index += 1
                value = cells[index].strip()
                if _is_label(_label(value)):
                    index, value = index - 1, ""
            if _is_label(label):
                known += 1
                pairs.append((label, value))
            index += 1
        if not pairs or (known < 2 and pairs[0][0] not in _UNMAPPED_LABELS):
            return False
        if known * 3 < len(cells):
            return False
        for label, value in pairs:
            field = field_of(label)
            if value and field and field not in {"doc_id", "raw", "path", "sha256"}:
                self.metadata.setdefault(field, value)
            if value:
                self.facts.append(f"{label}={value}")
        return True

    def _named_in(self, title: str) -> str:
        """The title of a page without the name of its site: the heading of the page, where the title begins with it."""
        for heading in self.root.iter("h1", "h2"):
            text = " ".join(flat(heading).split())
            if len(text) >= 4 and title.startswith(text):
                return text
        return title


def _label(text: str) -> str:
    return re.sub(r"[\s\u3000\u00a0]+", "", _LABEL_ENDS.sub("", text))


def _is_label(text: str) -> bool:
    return len(text) <= 12 and (
        text in _UNMAPPED_LABELS
        or (bool(re.search("[\u4e00-\u9fff]", text)) and field_of(text) is not None)
    )


def _lines(root: etree._Element) -> Iterator[str]:
    """The lines that a reader sees: blocks and <br> end one, cells of a table are set apart by tabs."""
    line: list[str] = []
    for kind, value in _events(root):
        if kind == "text":
            line.append(value)
        elif kind == "cell":
            line.append("\t")
        else:
            if (text := _line_text(line)) or kind == "br":
                yield text
            line = []
    if text := _line_text(line):
        yield text


def _line_text(pieces: list[str]) -> str:
    cells = "".join(pieces).split("\t")
    return "\t".join(" ".join(re.split(r"[ \n\r\f\u00a0]+", cell)).strip() for cell in cells).strip(
        "\t "
    )


def _events(root: etree._Element) -> Iterator[tuple[str, str]]:
    in_pre = 0
    cells = _Cells(root)
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if event == "start":
            if tag in ("td", "th"):
                if element.getprevious() is not None:
                    yield "cell", ""
            elif tag == "br":
                yield ("text", " ") if cells.hold(element) else ("br", "")
            elif tag in BLOCKS and not cells.hold(element):
                yield "block", ""
            elif tag in BLOCKS:
                yield "text", " "
            in_pre += tag == "pre"
            yield from _text(element.text, in_pre)
            continue
        in_pre -= tag == "pre"
        if tag in BLOCKS and tag not in ("td", "th"):
            yield ("text", " ") if cells.hold(element) else ("block", "")
        if element is not root:
            yield from _text(element.tail, in_pre)


def _text(text: str | None, in_pre: int) -> Iterator[tuple[str, str]]:
    if not text:
        return
    if not in_pre:
        yield "text", text.replace("\t", " ")
        return
    for number, line in enumerate(text.split("\n")):
        if number:
            yield "br", ""
        yield "text", line.replace("\t", " ")


class _Cells:
    """Which elements lie in a cell of a table of figures, whose lines are one; cells that lay out a page do not count."""

    def __init__(self, root: etree._Element) -> None:
        self._root = root
        self._of_figures: dict[etree._Element, bool] = {}

    def hold(self, element: etree._Element) -> bool:
        for cell in element.iterancestors("td", "th"):
            if cell not in self._of_figures:
                self._of_figures[cell] = self._is_of_figures(cell)
            return self._of_figures[cell]
        return False

    def _is_of_figures(self, cell: etree._Element) -> bool:
        if cell is self._root or len(flat(cell)) >= 200:
            return False
        alone = cell.getprevious() is None and cell.getnext() is None
        return not alone and not any(True for _ in cell.iterdescendants("table"))
