"""Words that carry a rule: negation, modality, conditions, conclusions, parties.

A word list per class, compiled into one expression that is a tree over first characters. Words that
merely contain such a character (非常, 无论, 不断) are listed too, with no meaning, so that the longest
match swallows them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .model import FactKind


class Word(NamedTuple):
    """Meaning of a word: ``key`` names what it says, ``negative`` its polarity.

    ``weak`` words say something only against another word in the same place: their mere absence on
    one side is a matter for the diff.
    """

    kind: FactKind
    key: str
    negative: bool = False
    weak: bool = False


def _words(
    kind: FactKind, table: str, *, negative: bool = False, weak: bool = False
) -> dict[str, Word]:
    """``a=b=c d``: groups of words with one meaning, named by the first."""
    found = {}
    for group in table.split():
        names = group.split("=")
        for name in names:
            found[name] = Word(kind, names[0], negative, weak)
    return found


_STRONG: dict[str, Word] = {
    **_words("modality", "应当=应该=应=理应 必须=须=务必=务须=必需 可以=可=可予 允许=准许=容许 有权 鼓励=提倡=倡导 宜 力争 尽量=尽可能 有义务 有责任 得以 只能=仅能"),
    **_words(
        "modality",
        "不得=不准=不许=不可以=不可=不允许=不得以 不能=不能够=无法 禁止=严禁=严格禁止=禁 不应当=不应=不应该=不该 不宜 "
        "无须=无需=不必=不需=不需要=毋须=毋需 无权 不鼓励=不提倡 不准予 不予=不予以",
        negative=True,
    ),
    **_words("negation", "不 未=尚未=没有=没=从未=未曾=未有 无=并无 非=并非=不是 勿=莫=毋=切勿 否 免于=免予=免除=免", negative=True),
    **_words(
        "condition",
        "以上 以下 以内=之内 以外=之外 以前=之前 以后=之后 超过=高于=多于=大于=> 低于=少于=小于=不足=不满=未满=< "
        "不少于=不低于=不小于=至少=≥=最少 不超过=不高于=不多于=不大于=至多=最多=≤=未超过 "
        "除外 除非 仅=只=仅限=只限=仅仅=只有 连续 累计 定期 不定期 情节严重 情节较轻=情节轻微 情节特别严重 "
        "故意 过失 原则上 未经 逾期 期满 届满 有下列情形之一 同时具备",
    ),
}  # fmt: skip

_WEAK: dict[str, Word] = {
    **_words("negation", "已=已经=均已 有 是", weak=True),
    **_words("modality", "需要=需 要求", weak=True),
    **_words("modality", "应当=要", weak=True),
    **_words(
        "condition",
        "或者=或=或是 和=与=及=以及=并且=且 任何=任意 全部=所有=一切=全体 部分 任一 各 均=都 如果=若=如=倘若=假如 "
        "但是=但 省级 市级 县级 乡级 国家级 地级 区级 校级 部级 厅级 村级 镇级 "
        "境内 境外 国内 国外 书面 口头 有偿 无偿 免费 收费 自愿 强制 首次=初次 再次 当地 异地 本地 外地 本人 他人 "
        "一方 双方 任一方 较大 重大 特别重大 巨大 特别巨大 严重 特别严重 较轻 轻微 "
        "事前 事后 事中 提前 延期 推迟 按时 线上 线下 直接 间接 公开 不公开 主要责任 次要责任 同等责任 全部责任 "
        "新建 改建 扩建 成年人 未成年人 城镇 农村 男性 女性",
        weak=True,
    ),
    **_words(
        "conclusion",
        "合格 不合格 达标 不达标=未达标 通过 不通过=未通过 同意 不同意 批准 不批准=未批准=不予批准 核准=准予 不予核准=不予 予以=给予 "
        "驳回 支持 不支持=不予支持 有效 无效 生效 失效 成立 不成立 维持 撤销 有罪 无罪 胜诉 败诉 中标 未中标 受理 不予受理=不受理 "
        "录取 未录取=不予录取 优秀 良好 及格 不及格 增长=增加=上升=上涨=提高 下降=减少=下跌=降低 盈利 亏损 正常 异常 "
        "阳性 阴性 赞成 反对 弃权 认可 不认可=不予认可 属实 不属实 可行 不可行 充分 不充分 显著 不显著 完成 未完成 "
        "上调 下调 上升为 降为 超额 缺额 盈余 赤字 采纳 不采纳=不予采纳 认定 不认定=不予认定 采信 不予采信 "
        "优于 劣于 领先 落后 解除 终止 中止 继续 恢复 延长 缩短 扩大 缩小 加强 减弱 从重 从轻 加重 减轻 "
        "合法 非法=违法 合规 违规 真实 虚假 一致 不一致 相符 不相符 正确 错误 上浮 下浮 "
        "拒绝 接受=接纳 否决 入选 落选 晋级 淘汰 续签 终结",
        weak=True,
    ),
    **_words(
        "body",
        "甲方 乙方 丙方 原告 被告 上诉人 被上诉人 申请人 被申请人 买方=买受人 卖方=出卖人 出租人=出租方 承租人=承租方 发包人=发包方 承包人=承包方 "
        "委托人 受托人 债权人 债务人 抵押人 抵押权人 保证人 投保人 被保险人 受益人 保险人 招标人 投标人 用人单位 劳动者 雇主 雇员 "
        "第一被告 第二被告 监护人 被监护人 行政机关 司法机关 公安机关 检察机关 税务机关 审判机关 监察机关",
        weak=True,
    ),
}  # fmt: skip

_TOPICS = """
或者 和|任何 全部 部分 任一 各|省级 市级 县级 乡级 国家级 地级 区级 校级 部级 厅级 村级 镇级|境内 境外 国内 国外|书面 口头
有偿 无偿 免费 收费|自愿 强制|首次 再次|当地 异地 本地 外地|本人 他人|一方 双方 任一方
较大 重大 特别重大 巨大 特别巨大 严重 特别严重 较轻 轻微 情节严重 情节较轻 情节特别严重|事前 事后 事中 提前 延期 推迟 按时 逾期 期满 届满
线上 线下|直接 间接|公开 不公开|主要责任 次要责任 同等责任 全部责任|新建 改建 扩建|成年人 未成年人|城镇 农村|男性 女性
以上 以下 以内 以外 以前 以后 超过 低于 不少于 不超过|仅 原则上 除外 除非|连续 累计|定期 不定期|故意 过失
合格 不合格 达标 不达标 优秀 良好 及格 不及格 通过 不通过
通过 不通过 同意 不同意 批准 不批准 核准 不予核准 予以 驳回 支持 不支持 受理 不予受理 认可 不认可 采纳 不采纳 采信 不予采信 认定 不认定 否决 拒绝 接受 维持 撤销 录取 未录取
有效 无效 生效 失效 成立 不成立 合法 非法 合规 违规|有罪 无罪|胜诉 败诉 中标 未中标 入选 落选 晋级 淘汰
增长 下降 上调 下调 上升为 降为 上浮 下浮 扩大 缩小 延长 缩短 加强 减弱|超额 缺额 盈利 亏损 盈余 赤字|正常 异常|阳性 阴性
赞成 反对 弃权|属实 不属实 真实 虚假 正确 错误 一致 不一致 相符 不相符|可行 不可行|充分 不充分|显著 不显著|完成 未完成
优于 劣于 领先 落后|解除 终止 中止 继续 恢复 续签 终结 终止|从重 从轻 加重 减轻
"""
"""What can stand against what: 撤销 beside 非法 is two things said, 合法 beside 非法 is one thing turned."""

_NOTHING = """
非常 无论 不断 不仅 不但 不同 不过 不管 不论 不动产 不可抗力 不正当 不当 不良 不法 不久 不料 不妨 不失 不懈 不一 不时 不然 不便 不利 不安
不锈钢 不等式 不等 不少 不已 不愧 不惜 不禁 不由 不容 不停 不怕 不顾 不只 不止 不光 不单 不外乎 不外 不如 不一致 不知 不足之处 不动声色
不得已 不胜 不平 不满意 不可或缺 不可分割 不可避免 不言而喻 不可逆 不可再生 不折不扣 不遗余力 不对称 不间断
未来 未成年 未必 未免 未知 未婚 未遂 从未来 未央 无锡 无疑 无数 无形 无线 无穷 无人机 无非 无关 无效果 无偿献血 无障碍 无机 无限 无期徒刑 无比 无私 无缝
无畏 无愧 无党派 无纸化 无害化 无产 无为 无烟 无声 无力 无奈 无辜 无聊 无情 无意 无不 有无 南无
非法 非洲 非遗 非物质 除非 是非 非公 非营利 非典 非凡 非金属 非线性 非公有 非正式 非必要 非税 非但 非要 非得 若非 莫非 非机动车 非诉
否则 是否 能否 可否 否认 否决 否定 与否 没收 没落 淹没 莫名 莫斯科 切莫 没事 埋没 沉没 出没 免疫 免费 避免 难免 以免 未免 免得 免责 免职 罢免 减免 免税 任免 豁免 幸免 免检
可能 可行 可靠 可持续 可见 可观 可疑 可惜 可口 可比 可谓 许可 认可 可爱 可卡因 可燃 可研 可再生 可逆 可视 可视化 可变 可支配 可操作性 可信 可贵 可怕 可怜 可用性 可追溯 可转债 可转换 可耕 可塑 宁可 大可 两可 非可 可口可乐 可兰
应用 应急 应对 应收 应付 应届 应邀 应聘 应力 应变 应诉 应试 应征 应税 应运 应承 应许 应答 应酬 应激 应验 应有尽有 应纳 应交 应缴 应计 应税 应援 应有 应声 应用于
相应 对应 适应 响应 反应 供应 效应 回应 呼应 感应 因应 顺应 应和 答应 报应 照应 策应 接应 一应 内应 供应商 供应链
须知 必需品 胡须 需求 急需 所需 军需 内需 刚需 必不可少 必须品 需方 供需 按需 特需 便宜 适宜 事宜 宜居 宜昌 宜宾 宜兴 因地制宜 宜春 宜人 权宜
禁区 禁令 禁毒 禁忌 监禁 拘禁 禁渔 禁燃 禁牧 禁养 禁放 不禁 禁闭 软禁 解禁
共和国 共和 和平 和谐 和解 和睦 缓和 温和 饱和 柔和 和田 和县 和气 和美 呼和浩特 祥和 谦和 和林 和龙 和政 永和 泰和 和顺 和约
参与 与会 赠与 给与 授与 与时俱进 与日俱增 与其 寄予 及时 涉及 危及 及格 普及 来得及 波及 顾及 提及 埃及 触及 及其 以及其 累及 推及 遍及 惠及 论及 言及 力所能及 及早
或许 或缺 抑或 即或 而且 暂且 尚且 并且 况且 如下 如何 如期 如实 例如 诸如 譬如 如同 假如说 犹如 如此 比如 如意 如东 如皋 如前 如上 如数 如约 若干 若是 倘若说 般若
只要 只是 船只 一只 只得 仅供 各级 各类 各地 各项 各种 各位 各自 各方 各国 各省 各市 各县 各区 各单位 各部门 各界 首都 成都 都市 都江堰 古都 都会 故都 平均 人均 户均 均衡 均匀 均等 均值 年均 日均 月均 均摊 均价
有关 有限 有效期 有利 有力 有序 有害 所有权 所有制 所有者 有机 国有 享有 拥有 具有 占有 持有 含有 还有 只有 仅有 有所 有助 有益 有意 有时 有的 有着 有些 有余 有价 有线 有色 有毒 有期徒刑 有形 公有 私有 富有 稀有 特有 专有 共有 有效 有偿 有权 有责任 有义务
但书 不但 非但 凡是 于是 还是 就是 只是 但是 若是 总是 凡是 实事求是 国是 是以 或是 即是 正是 便是 尤其是 特别是 是非 要是 一是 二是 三是 四是 五是 六是 七是 八是 九是 十是
自已 业已 早已 而已 不已 可以下载 严重性 重大项目 可以上 部分组成 部分之一 组成部分 支持率 通过率 合格率 合格证 完成率 增长率 增长点 增加值 增长极 支持力度 驳回率 有效性 有效率 有效期限 成立于 成立大会 认定书 免除
以上网 以下简称 以下称 如下 以前年度 以内容 以外文 以外币 公开课 公开招标 公开透明 直接经济损失 直接责任 重大事项 重大意义 重大战略 主要责任人 情节 提前量 加强 扩大会议 延长线 继续教育 恢复原状 解除劳动合同
不下 不上 不低 不高 看不 对不起 了不起 差不多 说不定 用不着 来不及 不定 不少于 无须 不够 不理 不屈 不朽 不孕 不符合项
""".split()


def _tree(names: list[str]) -> str:
    """Alternation grouped by first character, longest rest first."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name[0], []).append(name[1:])
    branches = []
    for first, rests in groups.items():
        rests = sorted(set(rests), key=lambda rest: (-len(rest), rest))
        inner = "|".join(re.escape(rest) for rest in rests)
        branches.append(re.escape(first) + (f"(?:{inner})" if rests != [""] else ""))
    return "|".join(branches)


_TOPIC_OF: dict[str, set[int]] = {}
for _number, _topic in enumerate(re.split(r"[|\n]+", _TOPICS.strip())):
    for _name in _topic.split():
        _TOPIC_OF.setdefault(_name, set()).add(_number)


def opposed(one: Word, other: Word) -> bool:
    """Whether two words in the same place speak of the same thing: of one topic, or one grown from the other."""
    if one.kind not in ("condition", "conclusion") or other.kind != one.kind:
        return True
    topics = _TOPIC_OF.get(one.key), _TOPIC_OF.get(other.key)
    if topics[0] and topics[1]:
        return not topics[0].isdisjoint(topics[1])
    return one.key in other.key or other.key in one.key


# a word that means something wins over the same characters listed as meaningless
_MEANING = _WEAK | _STRONG
_SILENT = frozenset(_NOTHING) - _MEANING.keys()
_FIRST = frozenset(name[0] for name in _STRONG)
_WORDS = re.compile(_tree([*_STRONG, *(name for name in (*_WEAK, *_SILENT) if name[0] in _FIRST)]))
_ALL_WORDS = re.compile(_tree([*_MEANING, *_SILENT]))

_NUMBER_START = frozenset("0123456789-+一二三四五六七八九十百")
# characters that, standing before or after, turn the word into part of another one
_BEFORE: dict[str, frozenset[str]] = {
    "可": frozenset("许认不非未无宁大"),
    "应": frozenset("相对适响反供效回呼感因顺策照理不一"),
    "须": frozenset("必无毋胡"),
    "需": frozenset("必急所供军内刚特按"),
    "宜": frozenset("便适事不权相"),
    "和": frozenset("缓温饱柔谦祥"),
    "及": frozenset("涉危普波顾提触累遍惠论言企以"),
    "与": frozenset("参赠给授"),
    "有": frozenset("所没具享拥占持含还只仅国公私富稀特专共未无原既"),
    "是": frozenset("不于还就只但若总凡或即正便其别要一二三四五六七八九十"),
    "都": frozenset("首成古故京"),
    "均": frozenset("平人户年日月"),
    "如": frozenset("例诸譬假犹比"),
    "已": frozenset("不业早自而"),
    "且": frozenset("而暂尚况并"),
    "无": frozenset("毫有并南"),
    "否": frozenset("是能可与"),
    "免": frozenset("避难减罢任豁幸以未"),
    "禁": frozenset("监拘解软不"),
    "只": frozenset("一两三船"),
    "各": frozenset("各"),
    "要": frozenset("主重需必只还纲概摘紧首扼简须想不"),
}
_AFTER: dict[str, frozenset[str]] = {
    "可": frozenset("能行靠持见观抗疑惜口比谓爱燃研逆视变信贵怕怜塑"),
    "应": frozenset("用急对收付届邀聘力变诉试征税运承许答酬激验纳交缴计援有声"),
    "有": frozenset("关限利力序害机所助益意时的着些余价线色毒期形"),
    "是": frozenset("否非以"),
    "或": frozenset("许缺"),
    "及": frozenset("时格其早"),
    "与": frozenset("会其否"),
    "要": frozenset("求素点件害闻是么约"),
    "如": frozenset("下何期实同此意东皋前上数约"),
}


def _scan(
    pattern: re.Pattern[str], table: dict[str, Word], text: str
) -> list[tuple[Word, int, int]]:
    found: list[tuple[Word, int, int]] = []
    meaning = table.get
    for match in pattern.finditer(text):
        surface = match.group()
        word = meaning(surface)
        if word is None:
            continue
        start, end = match.span()
        if len(surface) == 1:
            before, after = _BEFORE.get(surface), _AFTER.get(surface)
            if before is not None and start and text[start - 1] in before:
                continue
            if after is not None and end < len(text) and text[end] in after:
                continue
            if surface in "<>≤≥" and text[end : end + 1] not in _NUMBER_START:
                continue
        found.append((word, start, end))
    return found


def wording(text: str) -> list[tuple[Word, int, int]]:
    """Words that say something by themselves, in order, with their spans in the clean text."""
    return _scan(_WORDS, _STRONG, text)


def any_wording(text: str) -> list[tuple[Word, int, int]]:
    """As :func:`wording`, with the weak words too: for the few characters around a difference."""
    return _scan(_ALL_WORDS, _MEANING, text)
