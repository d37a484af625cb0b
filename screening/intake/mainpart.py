"""Which part of a web page is its text: menus, paths, lists of links and imprints stand around it.

Losing a line of the article is worse than keeping one of a menu. So parts are left out where their name *and* their
content speak for it, and a part is taken for the whole text only if it holds nearly all sentences of the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

BLOCKS = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul caption".split()
)
HOLDS = 0.85
"""The share of a page's sentences that a part must hold to be taken for the whole text."""
SENTENCE_CHARS = 25
_SENTENCE = re.compile("[。；！？]")

_AROUND_TAGS = frozenset("nav header footer aside form menu".split())
_AROUND_ROLES = frozenset("navigation banner contentinfo complementary search".split())
_CONTAINERS = frozenset("div ul ol dl section table tbody tr td nav header footer aside form menu center".split())  # fmt: skip
_AROUND = re.compile(
    r"(?:[a-z0-9]+[-_])*(?:nav|navbar|navi|navigation|menu|submenu|breadcrumbs?|crumbs?|sidebar|footer|foot|bottom|copyright|share|bdsharebuttonbox|related|recommend|comments?|pagination|pager|pre-?next|prev-?next|toolbar|tools|login|search|advert|ads?|banner|header|logo|position|location|dqwz|xgwj|xgyd|yqlj|friend-?links?|hot|rank)"
    r"(?:[-_](?:list|box|bar|wrap|wrapper|container|inner|content|main|left|right|top|area|block|item|links?|nav|menu|\d+))*\d*"
)
_IMPRINT_NAMES = re.compile(r"(?:[a-z0-9]+[-_])*(?:footer|foot|bottom|copyright)(?:[-_][a-z0-9]+)*")
_MAIN = re.compile(
    r"(?:^|[\s_-])(?:ucap-content|trs_editor|trs_ueditor|pages_content|zoom|article|article[-_]?(?:content|body|con)|content[-_]?(?:text|body|main|con)?|main[-_]?(?:content|text)|entry[-_]content|post[-_](?:content|body)|detail[-_]?(?:content|con)?|view|xxgk_content|news_content)(?:$|[\s_-])",
    re.IGNORECASE,
)
_IMPRINT = re.compile(
    r"ICP\s*[备证]|公网安备|备案(?:序)?号|网站标识码|版权所有|Copyright|©|网站地图|技术支持[:：]"
)
_IMPRINT_WORDS = re.compile(
    r"ICP|备案|版权|©|Copyright|网站地图|友情链接|联系电话|主办单位|承办单位|转载", re.I
)
"""What the foot of a page speaks of, where its name says already that it is one."""
_PATH = re.compile(
    r"\s*(?:当前位置|您的位置|你的位置|您所在的位置|您现在的位置|您当前的位置|所在位置)\s*[:：]|\s*首页\s*[>›»/＞]"
)
_TOOLS = re.compile(
    r"[\s【】\[\]()（）|·:：]*(?:(?:字体|字号|大|中|小|打印|打印本页|打印此页|关闭|关闭窗口|关闭本页|返回顶部|返回|收藏|分享|分享到|微信|微博|QQ空间|朋友圈|扫一扫|纠错)[\s【】\[\]()（）|·:：]*)+"
)
_NEIGHBOURS = re.compile(r"\s*(?:上|下|前|后)一(?:篇|条|页)\s*[:：]")
_HEADING = re.compile(r"(?:^|[\s_-])(?:title|tit|headline|bt)(?:$|[\s_-])", re.I)
_COUNTED = re.compile(r"(?:浏览|点击|阅读|访问)(?:次数|人次|量|数|率)?\s*[:：]\s*\d*")
_ATTACHED = re.compile(r"附件|附表|\.(?:docx?|xlsx?|pdf|zip|rar|wps|et|ofd|txt|pptx?)\b", re.I)


@dataclass(slots=True)
class Weight:
    """How much an element holds, in characters without blanks: in all, in links, and in sentences outside links."""

    whole: int = 0
    links: int = 0
    prose: int = 0

    @property
    def link_share(self) -> float:
        return self.links / self.whole if self.whole else 1.0


def weigh(root: etree._Element) -> dict[etree._Element, Weight]:
    """The weight of ``root`` and of every element in it, in one walk."""
    weights = {element: Weight() for element in root.iter()}
    line: list[tuple[Weight, int]] = []
    said: list[str] = []
    links = 0

    def add(owner: etree._Element, text: str | None) -> None:
        # Separators between links are no text of their own.
        count = sum(character.isalnum() for character in text) if text else 0
        if not text or not count:
            return
        weight = weights[owner]
        weight.whole += count
        if links:
            weight.links += count
        else:
            line.append((weight, count))
            said.append(text)

    def end_line() -> None:
        words = "".join(said).strip()
        if len(words) >= SENTENCE_CHARS or _SENTENCE.search(words):
            for weight, count in line:
                weight.prose += count
        line.clear()
        said.clear()

    for event, element in etree.iterwalk(root, events=("start", "end")):
        if element.tag in BLOCKS or element.tag == "br":
            end_line()
        if event == "start":
            links += element.tag == "a"
            add(element, element.text)
            continue
        links -= element.tag == "a"
        parent = element.getparent()
        if element is not root and parent is not None:
            add(parent, element.tail)
    end_line()
    for element in reversed(list(weights)):
        parent = element.getparent()
        if element is not root and parent is not None:
            above, here = weights[parent], weights[element]
            above.whole += here.whole
            above.links += here.links
            above.prose += here.prose
    return weights


class MainPart:
    """Finds the text in the body of a page; what it leaves out is emptied and kept in ``left_out``."""

    def __init__(self, body: etree._Element, title: str = "") -> None:
        self.body = body
        self.title = " ".join(title.split())
        self.left_out: list[str] = []
        self._gone: set[etree._Element] = set()
        self.heading = ""
        """The heading of the text where it stands outside the part that was found, else empty."""

    def find(self) -> etree._Element:
        """The element that holds the text."""
        self._leave_out_named()
        self._leave_out_by_content()
        best = self._best()
        if best is not self.body:
            self.heading = self._heading_before(best)
            self._name_the_rest(best)
        return best

    # --- What stands around the text

    def _leave_out_named(self) -> None:
        weights = weigh(self.body)
        page = weights[self.body]
        for element, weight in weights.items():
            if element is self.body or not weight.whole or element in self._gone:
                continue
            if not (_named_around(element) or element.get("role", "") in _AROUND_ROLES):
                continue
            if self._is_around(element, weight, page):
                self._leave_out(element)

    def _is_around(self, element: etree._Element, weight: Weight, page: Weight) -> bool:
        if weight.link_share > 0.4:
            return not _holds_most(weight, page)
        if _holds_heading(element):
            return False
        if _is_imprint(element) and _IMPRINT_WORDS.search(flat(element)) and self._is_last(element):
            return True
        return weight.whole < 300 and not _holds_most(weight, page)

    def _leave_out_by_content(self) -> None:
        """Paths, tools of the page, lists of links and imprints, whatever they are called."""
        weights = weigh(self.body)
        page = weights[self.body]
        for element, weight in weights.items():
            if element is self.body or not weight.whole or element in self._gone:
                continue
            if element.tag not in BLOCKS or weight.whole > 1500 or _holds_most(weight, page):
                continue
            text = flat(element)
            if self._is_furniture(element, weight, text):
                self._leave_out(element)

    def _is_furniture(self, element: etree._Element, weight: Weight, text: str) -> bool:
        if weight.whole < 160 and (_PATH.match(text) or _NEIGHBOURS.match(text)):
            return True
        if weight.whole < 80 and (_TOOLS.fullmatch(text) or _COUNTED.search(text)):
            return True
        if not weight.prose and _is_list_of_links(element, weight) and not _ATTACHED.search(text):
            return True
        if weight.whole < 600 and _IMPRINT.search(text) and self._is_last(element):
            # What reads like the article above must not go with the line below it.
            return not _long_sentences(element)
        return False

    def _is_last(self, element: etree._Element) -> bool:
        """Whether hardly anything follows: an imprint ends a page."""
        following = 0
        for inner in (element, *element.iterancestors()):
            if inner is self.body:
                break
            for node in inner.itersiblings():
                following += len(flat(node))
                if following > 300:
                    return False
        return True

    # --- The text

    def _best(self) -> etree._Element:
        weights = weigh(self.body)
        page = weights[self.body]
        best = self.body
        for element in self.body.iter("article", "main", "div", "section", "td"):
            named = element.tag in {"article", "main"} or element.get("role") == "main"
            if not named and not _MAIN.search(
                f"{element.get('id', '')} {element.get('class', '')}"
            ):
                continue
            weight = weights[element]
            enough = weight.prose >= HOLDS * page.prose if page.prose > 40 else weight.whole > HOLDS * page.whole  # fmt: skip
            if enough and weight.whole > 30:
                best = element
        return best

    def _heading_before(self, best: etree._Element) -> str:
        """The heading that stands before ``best``: by its tag or name, or because the title of the page begins with it."""
        if any(flat(one) for one in best.iter("h1")):
            return ""
        inside = "".join(flat(best).split())
        for element in self.body.iter():
            if element is best:
                break
            if element.tag not in BLOCKS or any(True for _ in element.iterchildren(*BLOCKS)):
                continue
            text = " ".join(flat(element).split())
            if not 4 <= len(text) <= 150 or inside.startswith("".join(text.split())):
                continue
            if element.tag in ("h1", "h2") or _HEADING.search(element.get("class", "")):
                return text
            if len(text) >= 6 and self.title.startswith(text):
                return text
        return ""

    def _name_the_rest(self, best: etree._Element) -> None:
        for element in [best, *best.iterancestors()]:
            if element is self.body:
                break
            parent = element.getparent()
            for sibling in parent if parent is not None else ():
                if sibling is not element and isinstance(sibling.tag, str):
                    self.left_out.append(flat(sibling))

    def _leave_out(self, element: etree._Element) -> None:
        self.left_out.append(flat(element))
        self._gone.update(element.iterdescendants())
        empty(element)


def _named_around(element: etree._Element) -> bool:
    if element.tag in _AROUND_TAGS:
        return True
    if element.tag not in _CONTAINERS:
        return False
    names = f"{element.get('id', '')} {element.get('class', '')}".casefold().split()
    return any(_AROUND.fullmatch(name) for name in names[:20])


def _is_imprint(element: etree._Element) -> bool:
    names = f"{element.get('id', '')} {element.get('class', '')}".casefold().split()
    return element.tag == "footer" or any(_IMPRINT_NAMES.fullmatch(name) for name in names[:20])


def _holds_most(weight: Weight, page: Weight) -> bool:
    return weight.prose > 0.5 * page.prose if page.prose else weight.whole > 0.8 * page.whole


def _holds_heading(element: etree._Element) -> bool:
    return any(flat(heading) for heading in element.iter("h1"))


def _is_list_of_links(element: etree._Element, weight: Weight) -> bool:
    if weight.link_share <= 0.8:
        return False
    return sum(1 for _ in zip(element.iter("a"), range(2), strict=False)) == 2


def _long_sentences(element: etree._Element) -> bool:
    return any(
        len(line) > 80 and _SENTENCE.search(line) and not _IMPRINT.search(line)
        for line in flat(element).split("\n")
    )


def flat(element: etree._Element) -> str:
    """The text in an element as it stands in the file."""
    return "".join(map(str, element.itertext(with_tail=False))).strip()


def empty(element: etree._Element) -> None:
    """Take everything out of an element; what follows it stays. Constant time, unlike removing it from its tree."""
    element.clear(keep_tail=True)  # type: ignore[call-arg]  # the stubs are older than the argument
    element.tag = "span"
