"""Pairs of five kinds that the suggestion was not made with: notices, guides, minutes and forms composed from a vocabulary.

Nothing here comes from a published text, and the kinds of change (a page's frame, a damaged scan, a reworded rule, a
quoted statement, a filled-in form) are composed by rules of their own, so that the numbers of the model, made on public
statutes, letters and judgments, meet another sort of text. The same seed gives the same pairs everywhere.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from screening.documents import InputDocument

WHO = (
    "值班护士 图书管理员 社区网格员 仓库保管员 厨房主管 设备维修组 招生办老师 展馆讲解员 园林养护队 水质检测员 车队调度员 物业前台 实验室助理 "
    "食堂采购员 校医室 宿舍管理员 夜班巡查员 档案整理员 票务中心 志愿者小组 安全员 育苗班组 财务助理 游泳馆救生员"
).split()
WHEN = (
    "每天上午 每周一 交接班之前 入夏以后 雨季来临前 月底结账时 开馆半小时内 节假日前夕 收到反馈当天 换季期间 停电恢复后 活动结束后 学期开始时 "
    "清晨六点 凌晨巡查时 出车之前 设备停机期间 高峰时段 装修施工期间 盘点完成后"
).split()
HOW = (
    "逐项 如实 按登记顺序 两人一组 对照清单 使用统一表格 当面 通过内部电话 分批 戴好手套 先易后难 按楼层 用红笔 凭工作证 在监控下 轻拿轻放 "
    "随机抽样 会同班长 拍照后 不留空行"
).split()
WHAT = (
    "核对库房温度 整理借阅卡片 检查消防栓压力 登记访客姓名 更换过滤网 清点餐具数量 记录水样颜色 修剪东侧绿篱 补贴书脊标签 校准体重秤 擦拭展柜玻璃 "
    "分发防暑药品 排查漏水管道 测试应急照明 封存旧钥匙 搬运折叠桌椅 更新楼层指引 回收废旧电池 核销停车票据 晾晒潮湿被褥 清理排水沟 检修传送带 补种花苗 "
    "录入报名信息 核验救生圈 消毒门把手 张贴停水告示 调换失灵灯管 盘点办公用纸 整理失物箱"
).split()
WHY = (
    "以免高温损坏纸张 防止误领错发 便于下一班接手 避免老人滑倒 减少重复登记 保证饮水安全 让新来的同事看得懂 以便年底查账 免得雨水倒灌 防止幼童攀爬 "
    "方便轮椅通行 使来访者少走弯路 避免与上课时间冲突 留出消防通道 以备家长查询 防止鸟类筑巢 免得影响邻近住户休息 让植株顺利越冬 保持走廊干燥 "
    "以便及时通知供货方 减少排队时间 避免机器空转 使账物相符 免去事后补写"
).split()
TOPICS = "阅览室 泳池 食堂 苗圃 停车场 展厅 宿舍楼 仓库 校医室 门诊大厅 实验楼 健身房".split()
RULES = (
    "{who}应当在{n}日内把结果报给{boss}。",
    "每次领用不得超过{n}件，超出部分须由{boss}签字。",
    "逾期归还的，每天收取{n}元。",
    "自{m}月{d}日起，{place}的开放时间调整为{h}时至{k}时。",
    "室内温度应当保持在{n}摄氏度以下。",
    "连续{n}次未到的，取消当季资格。",
    "押金为{n}0元，离开时凭收据退还。",
    "参加人数以{n}0人为限，报满为止。",
)
GUEST = """\
{place}来访登记表
来访单位：{a}
来访事由：{b}
接待人：{c}
进入时间：{t}
离开时间：{u}
注意：来访人员须佩戴胸牌，不得进入工作区，离开时交还胸牌并在本表签名，遗失胸牌的应当立即告知前台。
前台签名：{e}
"""
REPAIR = """\
关于{b}的维修单
报修地点：{place}
报修人：{c}
故障描述：{f}
预计完成：{t}
维修人员到场后应当出示证件，完工后请报修人当场试用并在下栏签字，一周内出现同样故障的免费返修。
完工情况：{g}
签字：{e}
"""
MINUTES = """\
会议纪要
会议名称：{a}{b}讨论会
时间：{t}
地点：{place}
主持人：{c}
记录人：{e}
会议议定以下事项，请各组按期落实，并于下次会议前将办理情况书面报送办公室汇总。
一、{f}
二、{g}
"""
PASS = """\
VISITOR PASS REQUEST
Name of guest: {c}
Hosted by: {e}
Purpose: {b} / {a}
The host remains with the guest at all times, returns the pass before closing hours and reports any loss to the security desk without delay.
Remarks: {f} {g}
Valid until: {t}
"""
FORMS = (GUEST, REPAIR, MINUTES, PASS)
STATEMENTS = (
    "我们从不向任何人出售读者的借阅记录，也不会因为读者借过什么书而拒绝为其办理证件，这一点在本馆开放的第一天就写在门口",
    "凡是能由邻居之间商量解决的事情，街道不代为决定；商量不成的，由双方各推一人，与调解员一起到现场看过之后再谈",
    "泳池的水每六小时循环一遍，余氯和浊度的读数挂在入口处，谁都可以要求当面再测一次，测得不合格就立即清场",
    "展品的复制件与原件同样用心保管，因为观众看到的首先是复制件，而原件经不起一年到头的灯光",
)
SURNAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许"
GIVEN = "海棠文静建国晓峰玉兰志远思齐春梅少华明月立新亦凡"
FRAMES = (
    (
        "首页 > 服务指南 > 正文\n字号：大 中 小  打印本页\n",
        "\n分享到：微信 微博\n版权所有 未经许可不得转载\n",
    ),
    ("【转载】以下内容由网友整理，排版略有变动。\n\n", "\n（完）\n"),
    ("", "\n上一篇：无\n下一篇：查看更多\n联系我们 | 网站地图\n"),
)


@dataclass
class Own:
    """Documents and the pairs among them: (left, right, label, kind of change)."""

    documents: list[InputDocument] = field(default_factory=list)
    pairs: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, left: str, right: str, label: str, kind: str, **fields: tuple[str, str]) -> None:
        names = []
        for side, raw in enumerate((left, right)):
            name = f"own-{len(self.documents):03}"
            extra = {key: values[side] for key, values in fields.items()}
            digest = hashlib.sha256(raw.encode()).hexdigest()
            self.documents.append(InputDocument(name, raw, digest, **extra))
            names.append(name)
        self.pairs.append((names[0], names[1], label, kind))


class Writer:
    """Composes texts; ``rng`` decides everything."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def pick(self, values: tuple[str, ...] | list[str]) -> str:
        return self.rng.choice(values)

    def sentence(self) -> str:
        who, when, how = self.pick(WHO), self.pick(WHEN), self.pick(HOW)
        shape = self.rng.randrange(3)
        if shape == 0:
            return f"{when}，{who}{how}{self.pick(WHAT)}，{self.pick(WHY)}。"
        if shape == 1:
            return f"{who}{when}先{how}{self.pick(WHAT)}，再{self.pick(WHAT)}，{self.pick(WHY)}。"
        return f"{self.pick(WHAT)}由{who}负责，{when}{how}办理，{self.pick(WHY)}。"

    def rule(self) -> str:
        return self.pick(RULES).format(
            who=self.pick(WHO), boss=self.pick(WHO), place=self.pick(TOPICS), n=self.rng.randint(2, 9),
            m=self.rng.randint(1, 12), d=self.rng.randint(1, 28), h=self.rng.randint(6, 9), k=self.rng.randint(16, 22),
        )  # fmt: skip

    def paragraphs(self, count: int) -> list[str]:
        return [
            "".join(self.rule() if self.rng.random() < 0.3 else self.sentence() for _ in range(self.rng.randint(2, 4)))
            for _ in range(count)
        ]  # fmt: skip

    def text(self, paragraphs: list[str], title: str) -> str:
        return title + "\n" + "\n".join(f"{n}．{p}" for n, p in enumerate(paragraphs, 1)) + "\n"

    def name(self) -> str:
        return self.pick(list(SURNAMES)) + "".join(self.rng.sample(GIVEN, 2))

    def form(self, shape: str) -> str:
        clock = f"{self.rng.randint(1, 12)}月{self.rng.randint(1, 28)}日{self.rng.randint(8, 18)}时"
        return shape.format(
            place=self.pick(TOPICS), a=self.pick(WHO), b=self.pick(WHAT), c=self.name(), e=self.name(), t=clock,
            u=f"{self.rng.randint(9, 19)}时{self.rng.randint(10, 59)}分", f=self.sentence(), g=self.sentence(),
        )  # fmt: skip


def _framed(writer: Writer, text: str) -> str:
    head, foot = writer.rng.choice(FRAMES)
    return head + text + foot


def _rewrapped(_writer: Writer, text: str) -> str:
    wide = text.replace("，", ",").replace("。", ".")
    return "\n".join(wide[i : i + 31] for i in range(0, len(wide), 31))


def _scanned(writer: Writer, text: str) -> str:
    """One character in eighty is read as another."""
    wrong = "己巳末未土士人入日曰"
    return "".join(
        writer.pick(list(wrong)) if c not in "\n，。0123456789．" and writer.rng.random() < 1 / 80 else c for c in text
    )  # fmt: skip


def _cut(writer: Writer, text: str) -> str:
    """The end was lost."""
    return text[: int(len(text) * writer.rng.uniform(0.7, 0.9))]


def _numbers(writer: Writer, parts: list[str]) -> list[str]:
    """Two of the numbers are others."""
    text = "\n".join(parts)
    places = [m.span() for m in re.finditer(r"\d+", text)]
    for start, end in sorted(writer.rng.sample(places, min(2, len(places))), reverse=True):
        text = text[:start] + str(int(text[start:end]) + writer.rng.randint(1, 5)) + text[end:]
    return text.split("\n")


def _reworded(writer: Writer, parts: list[str]) -> list[str]:
    """Two paragraphs say something else."""
    changed = list(parts)
    for n in writer.rng.sample(range(len(parts)), 2):
        changed[n] = writer.paragraphs(1)[0]
    return changed


def _added(writer: Writer, parts: list[str]) -> list[str]:
    at = writer.rng.randrange(1, len(parts))
    return [*parts[:at], *writer.paragraphs(2), *parts[at + 1 :]]


def own_pairs(seed: int = 606) -> Own:
    """Twelve pairs of each kind."""
    writer, made = Writer(seed), Own()
    copies: list[Callable[[Writer, str], str]] = [_framed, _rewrapped, _scanned, _cut]
    changes: list[Callable[[Writer, list[str]], list[str]]] = [_numbers, _reworded, _added]
    for n in range(12):
        title = f"{writer.pick(TOPICS)}管理须知"
        text = writer.text(writer.paragraphs(writer.rng.randint(5, 12)), title)
        change = copies[n % len(copies)]
        made.add(text, change(writer, text), "copy", change.__name__)
        title = f"{writer.pick(TOPICS)}使用办法"
        parts = writer.paragraphs(writer.rng.randint(5, 12))
        edit = changes[n % len(changes)]
        later = writer.text(edit(writer, parts), title)
        fields = {"title": (title, title), "version": ("2024", "2025")} if n % 2 else {}
        made.add(writer.text(parts, title), later, "revision", edit.__name__, **fields)
        said = writer.pick(list(STATEMENTS))
        one, other = writer.paragraphs(6), writer.paragraphs(5)
        if n % 2:  # one quotes a paragraph of the other
            said = one[2]
        else:
            one[3] += f"负责人说：“{said}。”"
        other[2] += f"据介绍，“{said}。”"
        made.add("\n".join(one), "\n".join(other), "citation", "quoted" if n % 2 else "third")
        shape = FORMS[n % len(FORMS)]
        made.add(writer.form(shape), writer.form(shape), "template", f"form {n % len(FORMS)}")
        topic = writer.pick(TOPICS)
        made.add(
            writer.text(writer.paragraphs(7), f"{topic}开放公告"), writer.text(writer.paragraphs(7), f"{topic}开放公告"),
            "independent", "same topic",
        )  # fmt: skip
    return made
