"""Document numbers, standards and codes; names of bodies."""

from __future__ import annotations

import re

from .drafts import Draft

_BRACKETED = re.compile(
    r"[〔\[(【](?P<y>(?:19|20)\d{2})年?[〕\])】]"
    r"(?:(?:第|字第)?(?P<n>\d{1,6})号|(?P<court>[\u4e00-\u9fff]{1,2}\d{0,4}[\u4e00-\u9fff]{1,5})(?P<cn>\d{1,6})号(?P<sub>之[一二三四五六七八九十]{1,2})?)"
)
_ISSUE = re.compile(r"(?P<y>(?:19|20)\d{2})年第(?P<n>\d{1,4}|[零〇一二三四五六七八九十百]{1,6})号")
_ORDER = re.compile(r"(?:令|公告|通告|决议)第?(?P<n>\d{1,5}|[零〇一二三四五六七八九十百]{1,6})号")
_ORDERED = re.compile(
    r"第(?P<n>\d{1,5}|[零〇一二三四五六七八九十百]{1,6})号(?:主席令|政府令|部令|局令|令|公告|通告|文件)"
)
_CODE = re.compile(
    r"(?<![A-Za-z0-9])[A-Z][A-Z0-9]{0,7}(?:/[A-Z]{1,3})?[ -]?\d{1,10}(?:[-./—][0-9A-Za-z]{1,10}){0,6}(?![A-Za-z0-9])"
)
_DIGITS_CODE = re.compile(
    r"(?:编号|文号|案号|字号|合同号|标准号|批号|档号|登记号|许可证号|备案号)[:：为是]?(?P<c>[0-9A-Za-z\u4e00-\u9fff]{0,4}?[0-9A-Za-z]{1,20}(?:[-./][0-9A-Za-z]{1,12}){0,6})"
)
_PREFIX_STOP = frozenset("据按照和与及见由的是以依于为在对经将第号件项把凭到起至即有《》")
_PREFIX_WORDS = (
    "根据",
    "依据",
    "按照",
    "遵照",
    "关于",
    "贯彻",
    "落实",
    "转发",
    "印发",
    "执行",
    "参照",
    "废止",
    "修改",
    "作出",
    "出具",
    "下达",
    "收到",
    "简称",
)


def _prefix(text: str, at: int) -> int:
    """Where the issuer's abbreviation before a bracketed year begins: 国办发, 京政字."""
    start = at
    while start > 0 and at - start < 10:
        char = text[start - 1]
        if not ("\u4e00" <= char <= "\u9fff") or char in _PREFIX_STOP:
            break
        start -= 1
    for word in _PREFIX_WORDS:
        cut = text.find(word, start, at)
        if cut >= 0:
            start = max(start, cut + len(word))
    return start


def document_numbers(text: str) -> list[Draft]:
    """Numbers that identify a document, in order and without overlap."""
    found: list[Draft] = []
    for match in _BRACKETED.finditer(text):
        if match["court"]:
            value = f"〔{match['y']}〕{match['court']}{int(match['cn'])}号{match['sub'] or ''}"
            found.append(Draft("document_number", value, match.start(), match.end()))
            continue
        start = _prefix(text, match.start())
        value = f"{text[start : match.start()]}〔{match['y']}〕{int(match['n'])}号"
        found.append(Draft("document_number", value, start, match.end()))
    for pattern in (_ISSUE, _ORDER, _ORDERED):
        for match in pattern.finditer(text):
            found.append(Draft("document_number", match[0], match.start(), match.end()))
    for match in _CODE.finditer(text):
        code = match[0]
        if any(mark in code for mark in "-/—") and any(c.isdigit() for c in code):
            found.append(
                Draft(
                    "document_number",
                    code.replace(" ", "").replace("—", "-"),
                    match.start(),
                    match.end(),
                )
            )
    for match in _DIGITS_CODE.finditer(text):
        found.append(Draft("document_number", match["c"], match.start("c"), match.end("c")))
    found.sort(key=lambda draft: (draft.start, -draft.end))
    apart: list[Draft] = []
    for draft in found:
        if not apart or draft.start >= apart[-1].end:
            apart.append(draft)
    return apart


_BODY_END = re.compile(
    r"人民法院|政府(?<=[省市县区乡镇]政府)|检察院|委员会|办公室|办公厅|管理局|监督局|公司|集团|银行|大学|学院|学校|医院|协会|学会|联合会|商会|工会|人民政府"
    r"|中心|办事处|派出所|研究院|研究所|事务所|出版社|合作社|基金会|管理处|交易所|总局|分局|支队|总队|大队|村委会|居委会|街道|党组|党委|残联|妇联|文联|工商联|侨联|科协|政协|人大|海关|国务院|文化馆|图书馆|博物馆|档案馆|纪念馆|美术馆|体育馆|展览馆|科技馆|电视台|报社|团委"
    # looked behind from the character itself, so that every branch begins with a letter and the search is fast
    r"|局(?<![布格结全当时]局)(?![部面势限长])|厅(?![级堂长])|署(?<![部签]署)(?![名理长])"
    r"|委(?<=[纪政党改建工市县省区卫农教经发国编]委)(?![托员派屈])|院(?<![住出入]院)(?![校士子内外落长])"
    r"|部(?<![全内外一各大局干总下上中西东南北头面]部)(?![分门位件署落队委长])"
)
_VERBS = re.compile(
    r"会同|委托|授权|[抄报移提送转递呈上]送|呈[报交]|[提移送转上递]交|报请|隶属|所属|提请|商请|邀请|组织|指定|通知|组成人员和?|单位为|部门为|机构为"
    r"|[了为以]保障|[了为以]规范|理顺|加强|完善|推进|推动|围绕|接受|设立|成立|建立|健全|加入|参加|为了|督促|责成|协助|来自|前往|走访|慰问"
    r"|维持|撤销|驳回|变更|出示|出具|提出|简称|不服|起诉|申请|批准|作出|认定|要求|责令|符合|证件|裁决|判[决令]|入住|入驻|进驻"
    r"|决定(?=国务院)|保证(?!金|人(?!民))|[于了](?![都田洪潜])|(?<![投申起上公控胜败应])诉(?![讼求前])"
    r"|第[零〇一二三四五六七八九十百千]{1,7}[章节款项编目]|[零〇一二三四五六七八九十百千]{1,7}条"
    # what can also be part of a name is a verb where a place or a level follows
    r"|(?:规范(?!化|性)|支持|支援|帮助|扶持|指导|监督|配合|依托|利用|改建|扩建|修建|整合|盘活|优化|简化|升级|协调|联系|联合|统筹|考察|调研|参观|检查)"
    r"(?=[省市县乡镇村各本该]|区(?!块|域)|社区|街道|全国(?!性)|国家|人民)"
)
"""Words that stand before the name of a body and are no part of it."""
_OPENING = re.compile(
    r"(?:及时|依法|主动|积极|共同|直接|进一步|切实|尽快|抓紧|逐步|目前|随后|此后|今后|届时|同时|此外|其中|最终|随即|已经?|正在|曾经?|再次"
    r"|规范(?!化|性)|支持|支援|帮助|扶持|配合|依托|利用|改建|扩建|修建|整合|盘活|优化|简化|升级|统筹|考察|调研|参观|联系|协调"
    r"|(?:[要赴令派找去使受据办建]|新建|建设|建好|建成)(?=[省市县乡镇村各本该]|社区|街道)|(?:指导|监督|检查|服务)(?=[省市县乡镇村各本该]|社区|街道))+"
)
"""Verbs and adverbs that are no part of a name at its beginning, though they may be further within."""
_NEEDS_A_NAME = frozenset(
    "委员会 办公室 办公厅 管理局 监督局 中心 管理处 协会 学会 研究所 研究院 基金会 联合会 集团 总局 分局 支队 总队 大队 "
    "局 厅 署 委 院 部".split()
)
"""Ends of names that are no name alone: 推进办公室 is one name, 邀请人民法院 a verb and a name."""
_NAME_STOP = frozenset(
    "年月日号届至由向对的在经报请被是为等或以将把按从到送交该应当可须各与和及、并其让"
)
_STOP_IN_NAME = frozenset(
    "经济 经贸 经营 经侦 经纪 财经 外经 交通 交警 外交 社交 交易 公交 交流 交投 应急 应用 供应 当地 当代 当涂 当阳 武当 青年 少年 老年 成年 "
    "各级 高等 中等 等级 平等 自由 华为 对外 从化 从江 向阳 将乐 日照 日间 日报 日喀 月湖 共和 和平 和田 合并 配送 可持 许可 及其 所在 在线 "
    "晚报 时报 时任 在地".split()
)
"""Two characters of which one would end a name, but which are a word within names."""
_JOINING = frozenset("和与及")
_LEVEL_NEXT = re.compile("[省市县区乡镇村](?![场域村镇])")
"""县 behind 和 begins another name, unlike 市场 and 乡村."""
_LIMIT = re.compile("[省市县区乡镇村]级以[上下]")


def _in_name(text: str, at: int, end: int, floor: int) -> bool:
    """Whether the character at ``at``, which may end a name towards the left, is part of the name here."""
    if text[at] in _JOINING and at > floor and end - at - 1 < 8:
        return not _LEVEL_NEXT.match(text, at + 1)
    if text[at : at + 2] in _STOP_IN_NAME:
        return True
    return at > floor and text[at - 1 : at + 1] in _STOP_IN_NAME


def _begin(text: str, floor: int, start: int, end: int) -> int:
    """Where the name begins that ends in ``text[start:end]``, at ``floor`` at the earliest."""
    suffix = start
    while start > floor:
        char = text[start - 1]
        if not ("\u4e00" <= char <= "\u9fff"):
            break
        if char in _NAME_STOP and not _in_name(text, start - 1, end, floor):
            break
        start -= 1
    limit = _LIMIT.match(text, max(floor, start - 3), start + 1)
    if limit:
        start = limit.start()
    elif text[start - 1 : start + 1] in ("或者", "以上", "以下"):
        start += 1
    bare = text[suffix:end] in _NEEDS_A_NAME
    last = suffix - 1 if bare else suffix
    for verb in _VERBS.finditer(text, start, end):
        if verb.end() <= last:
            start = verb.end()
    opening = _OPENING.match(text, start, end)
    return opening.end() if opening and opening.end() <= last else start


def bodies(text: str) -> list[tuple[int, int]]:
    """Spans of names of bodies in a clean text, whole: place, level and body, without the words that govern them."""
    spans: list[tuple[int, int]] = []
    for match in _BODY_END.finditer(text):
        end = match.end()
        last = spans[-1][1] if spans else 0
        # the longest name has 18 characters here; what stands before it is not needed
        start = _begin(text, max(last, end - 18), match.start(), end)
        if spans and start == last:
            joint = max(text.rfind(char, last, match.start()) for char in _JOINING)
            if joint < 0:
                spans[-1] = (spans[-1][0], end)
                continue
            start = joint + 1
        if end - start >= 2:
            spans.append((start, end))
    return spans
