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
    r"|局(?<![布格结全当时]局)(?![部面势限])|厅(?![级堂])|署(?<![部签]署)(?![名理])"
    r"|委(?<=[纪政党改建工市县省区卫农教经发国编]委)(?![托员派屈])|院(?<![住出入]院)(?![校士子内外落])"
    r"|部(?<![全内外一各大局干总下上中西东南北头面]部)(?![分门位件署落队委])"
)
_VERBS = re.compile(
    r"会同|委托|授权|抄送|报送|移送|隶属|所属|提请|商请|邀请|组织|指定|通知|单位为|部门为|机构为"
    r"|[了为以]保障|[了为以]规范|加强|完善|推进|围绕|接受|设立|成立|加入|参加|为了"
    r"|维持|撤销|驳回|变更|出示|出具|简称|不服|起诉|申请|批准|作出|认定|要求|责令|符合|证件"
)
_NAME_STOP = frozenset(
    "年月日号届至由向对的在经报请被是为等或以将把按从到送交该应当可须各与和及、并"
)


def bodies(text: str) -> list[tuple[int, int]]:
    """Spans of names of bodies in a short piece of text; the left end is where a name can begin at most."""
    spans: list[tuple[int, int]] = []
    for match in _BODY_END.finditer(text):
        end = match.end()
        start = match.start()
        # the longest name has 18 characters here; what stands before it is not needed
        floor = max(spans[-1][1] if spans else 0, end - 18)
        while start > floor:
            char = text[start - 1]
            if not ("\u4e00" <= char <= "\u9fff"):
                break
            if char in _NAME_STOP and not (
                char in "和与及" and start - 1 > floor and end - start < 8
            ):
                break
            start -= 1
        if text[start - 1 : start + 1] in ("或者", "以上", "以下"):
            start += 1
        for verb in _VERBS.finditer(text, start, match.start()):
            start = verb.end()
        if spans and start <= spans[-1][1] and start - spans[-1][1] == 0:
            spans[-1] = (spans[-1][0], end)
        elif end - start >= 2:
            spans.append((start, end))
    return spans
