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
_AROUND = frozenset("nav header footer aside form menu".split())
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul caption".split()
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MAIN_NAMES = re.compile(
    r"(?:^|[\s_-])(?:ucap-content|trs_editor|trs_ueditor|pages_content|zoom|article|article[-_]?(?:content|body|con)|content[-_]?(?:text|body|main|con)?|main[-_]?(?:content|text)|entry[-_]content|post[-_](?:content|body)|detail[-_]?(?:content|con)?|view|xxgk_content|news_content)(?:$|[\s_-])",
    re.IGNORECASE,
)
_AROUND_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|menu|breadcrumbs?|crumbs?|sidebar|footer|foot|copyright|share|related|recommend|comments?|pagination|pager|toolbar|login|search|advert|ads?|banner|site-?header)(?:$|[\s_-])",
    re.IGNORECASE,
)
_LABEL_ENDS = re.compile(r"[\s:：\u3000\u00a0]+$")
_UNMAPPED_LABELS = frozenset(
    "索引号 主题分类 主题词 信息分类 信息索引号 有效性 效力状态 公开方式 公开范围 公开责任部门 生成日期 体裁分类 服务对象分类".split()
)


def decode(data: bytes) -> encodings.Decoded | Problem:
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
            return encodings.decode(data)
        visible = re.sub(r"[\x00-\x7f]", "", text)[:20_000]
        if not visible or encodings.surprise(visible) < encodings.PLAUSIBLE_BITS * len(visible):
            return encodings.Decoded(text, codec)
    return encodings.decode(data)


def read_html(data: bytes, limits: Limits) -> PlainText | Problem:
    """The main text of a page with its metadata. What was left out around it is named in a warning."""
    decoded = decode(data)
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
        title = self.root.findtext(".//title")
        self._drop_unseen()
        for table in list(self.body.iter("table")):
            if table.getparent() is not None and self._is_facts(table):
                _remove(table)
        main = self._main()
        text = "\n".join(_lines(main))
        if title and title.strip():
            self.metadata.setdefault("title", " ".join(title.split()))
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
                _remove(element)

    def _is_facts(self, table: etree._Element) -> bool:
        """Whether a table is the page's own table of facts (索引号, 发文字号, …); what it says is then noted."""
        if any(True for _ in table.iterdescendants("table")):
            return False
        cells = [_flat(cell) for cell in table.iter("td", "th")]
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

    def _main(self) -> etree._Element:
        """The element that holds the text: a named one if it holds most of what is no link, else the whole page."""
        for element in list(self.body.iter()):
            if element is self.body or not isinstance(element.tag, str):
                continue
            names = f"{element.get('id', '')} {element.get('class', '')}"
            role = element.get("role", "")
            around = (
                element.tag in _AROUND
                or role in {"navigation", "banner", "contentinfo", "complementary", "search"}
                or _AROUND_NAMES.search(names)
            )
            if around and (_link_share(element) > 0.4 or len(_flat(element)) < 300):
                self._leave_out(element)
        whole = len(_flat(self.body))
        best: etree._Element | None = None
        for element in self.body.iter("article", "main", "div", "section", "td"):
            names = f"{element.get('id', '')} {element.get('class', '')}"
            named = element.tag in {"article", "main"} or element.get("role") == "main"
            if not named and not _MAIN_NAMES.search(names):
                continue
            size = len(_flat(element))
            if size > 0.5 * whole and size > 40:
                best = element
        if best is None:
            for element in list(self.body.iter("ul", "ol", "div", "p")):
                text = _flat(element)
                if element.getparent() is not None and len(text) > 4 and _link_share(element) > 0.8:
                    self._leave_out(element)
            return self.body
        for element in [best, *best.iterancestors()]:
            if element is self.body:
                break
            parent = element.getparent()
            for sibling in parent if parent is not None else ():
                if sibling is not element and isinstance(sibling.tag, str):
                    self.left_out.append(_flat(sibling))
        return best

    def _leave_out(self, element: etree._Element) -> None:
        self.left_out.append(_flat(element))
        _remove(element)


def _remove(element: etree._Element) -> None:
    """Take an element out of its tree; what follows it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = _NOT_XML.sub("", (before.tail or "") + element.tail)
        else:
            parent.text = _NOT_XML.sub("", (parent.text or "") + element.tail)
    parent.remove(element)


def _flat(element: etree._Element) -> str:
    return "".join(map(str, element.itertext(with_tail=False))).strip()


def _link_share(element: etree._Element) -> float:
    whole = len("".join(_flat(element).split()))
    if not whole:
        return 1.0
    return sum(len("".join(_flat(link).split())) for link in element.iter("a")) / whole


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
                yield "br", ""
            elif tag in _BLOCKS and not cells.hold(element):
                yield "block", ""
            elif tag in _BLOCKS:
                yield "text", " "
            in_pre += tag == "pre"
            yield from _text(element.text, in_pre)
            continue
        in_pre -= tag == "pre"
        if tag in _BLOCKS and tag not in ("td", "th"):
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
    """Which elements lie in a cell of a table of figures; tables that only lay out a page do not count."""

    def __init__(self, root: etree._Element) -> None:
        self._root = root
        self._small: dict[etree._Element, bool] = {}

    def hold(self, element: etree._Element) -> bool:
        for ancestor in element.iterancestors("td", "th"):
            if ancestor not in self._small:
                self._small[ancestor] = len(_flat(ancestor)) < 200 and ancestor is not self._root
            return self._small[ancestor]
        return False
