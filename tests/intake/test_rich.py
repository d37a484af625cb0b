"""Word files, PDFs and web pages: their text in order, everything else apart and named."""

from __future__ import annotations

import os
import random
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from screening.documents import Problem, Refusal
from screening.intake.apart import Reader
from screening.intake.limits import Limits
from screening.intake.model import ReadDocument
from screening.intake.plain import PlainText
from screening.intake.reading import read_path
from tests.intake import files
from tests.intake.files import docx, numbered, p, part, pdf, table

FIRST = "第一条　为了规范图书馆自习座位的预约和使用，方便读者，制定本规则，自习室的开放时间与本馆开馆时间相同，另有公告的除外。"
SECOND = "第二条　读者凭借阅证预约座位，每次不超过四小时；预约后三十分钟内未到的，座位自动释放，当日不得再次预约同一时段。"


def read(tmp_path: Path, name: str, data: bytes, limits: Limits | None = None) -> ReadDocument:
    entry = entry_of(tmp_path, name, data, limits)
    assert isinstance(entry, ReadDocument), entry
    return entry


def refused(tmp_path: Path, name: str, data: bytes, limits: Limits | None = None) -> str:
    entry = entry_of(tmp_path, name, data, limits)
    assert isinstance(entry, Refusal), entry
    return entry.problem.code


def entry_of(tmp_path: Path, name: str, data: bytes, limits: Limits | None) -> object:
    (tmp_path / name).write_bytes(data)
    (entry,) = read_path(tmp_path / name, limits=limits or Limits())
    return entry


def warnings(entry: ReadDocument) -> dict[str, str]:
    return {warning.code: str(warning) for warning in entry.warnings}


# --- Word ------------------------------------------------------------------------------------------------------------


def test_paragraphs_tables_boxes_and_notes_come_in_order(tmp_path: Path) -> None:
    box = f"<w:r><w:pict><w:txbxContent>{p('框中的话。')}</w:txbxContent></w:pict></w:r>"
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    data = docx(
        p("开头。"),
        table(["期次", "金额"], ["首期", "八万元"]),
        p("有注的一段", note, "，到此为止。"),
        p("带框的一段。", box),
        "<w:sdt><w:sdtContent>" + p("控件里的一段。") + "</w:sdtContent></w:sdt>",
        parts={
            "word/footnotes.xml": part(
                "footnotes", f'<w:footnote w:id="2">{p("脚注的话。")}</w:footnote>'
            ),
            "word/header1.xml": part("hdr", p("内部资料")),
            "word/footer1.xml": part("ftr", p("第 1 页")),
        },
    )
    entry = read(tmp_path, "a.docx", data)
    assert entry.document.raw == (
        "开头。\n期次\t金额\n首期\t八万元\n有注的一段，到此为止。\n脚注的话。\n带框的一段。\n框中的话。\n控件里的一段。"
    )
    assert "内部资料" in warnings(entry)["headers_apart"]
    assert "第 1 页" in warnings(entry)["headers_apart"]


def test_tracked_changes_are_read_as_accepted(tmp_path: Path) -> None:
    deleted = "<w:del><w:r><w:delText>三</w:delText></w:r></w:del>"
    inserted = "<w:ins><w:r><w:t>五</w:t></w:r></w:ins>"
    merged = "<w:rPr><w:del/></w:rPr>"
    moved = "<w:moveFrom><w:r><w:t>移走的。</w:t></w:r></w:moveFrom>"
    data = docx(
        p("保证金为", deleted, inserted, "万元。"),
        p("前半句，", properties=merged),
        p("后半句。", moved),
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>" + p("删掉的行") + "</w:tc></w:tr></w:tbl>",
    )
    entry = read(tmp_path, "a.docx", data)
    assert entry.document.raw == "保证金为五万元。\n前半句，后半句。"
    assert "tracked_changes" in warnings(entry)


def test_automatic_numbers_are_part_of_the_text(tmp_path: Path) -> None:
    levels = (
        '<w:lvl w:ilvl="0"><w:start w:val="9"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1条"/><w:suff w:val="space"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>'
        '<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0B7;"/></w:lvl>'
    )
    numbering = part(
        "numbering",
        f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>',
    )
    style = part(
        "styles",
        '<w:style w:styleId="A"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>',
    )
    data = docx(
        numbered("甲。", 1),
        numbered("乙。", 1, 1),
        numbered("丙。", 1, 1),
        p("丁。", properties='<w:pStyle w:val="B"/>'),
        numbered("戊。", 1, 1),
        numbered("己。", 1, 2),
        numbered("庚。", 2),
        p("辛。"),
        parts={"word/numbering.xml": numbering, "word/styles.xml": style},
    )
    assert read(tmp_path, "a.docx", data).document.raw.split("\n") == [
        "第九条 甲。", "九.1 乙。", "九.2 丙。", "第十条 丁。", "十.1 戊。", "己。", "第一条 庚。", "辛。",
    ]  # fmt: skip


def test_what_was_deleted_or_moved_takes_no_number(tmp_path: Path) -> None:
    numbering = part(
        "numbering",
        '<w:abstractNum w:abstractNumId="0">'
        '<w:lvl w:ilvl="0"><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1章"/><w:suff w:val="space"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="chineseCounting"/><w:lvlRestart w:val="0"/><w:lvlText w:val="第%2条"/><w:suff w:val="space"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
    )
    article = '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>'
    gone = "<w:del><w:r><w:delText>删去的一条。</w:delText></w:r></w:del>"
    away = "<w:moveFrom><w:r><w:t>移走的一条。</w:t></w:r></w:moveFrom>"
    data = docx(
        numbered("总则", 1),
        numbered("甲。", 1, 1),
        p(gone, properties=article + "<w:rPr><w:del/></w:rPr>"),
        p(away, properties=article + "<w:rPr><w:moveFrom/></w:rPr>"),
        numbered("乙。", 1, 1),
        numbered("附则", 1),
        numbered("丙。", 1, 1),
        parts={"word/numbering.xml": numbering},
    )
    assert read(tmp_path, "a.docx", data).document.raw.split("\n") == [
        "第一章 总则", "第一条 甲。", "第二条 乙。", "第二章 附则", "第三条 丙。",
    ]  # fmt: skip


def test_hidden_words_prompts_and_fields(tmp_path: Path) -> None:
    run = "<w:r><w:rPr><w:vanish{}/></w:rPr><w:t>{}</w:t></w:r>".format
    prompt = "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    field = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>DATE</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>三月一日</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    choice = (
        '<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice><w:txbxContent>{p('框中一次。')}</w:txbxContent></mc:Choice>"
        f"<mc:Fallback><w:pict><w:txbxContent>{p('框中一次。')}</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    data = docx(
        p("甲", run("", "看不见"), run(' w:val="0"', "看得见"), "，自", field, "起。"),
        prompt.format(p("单击此处输入文字")),
        p("乙", prompt.format("<w:r><w:t>选择一项</w:t></w:r>"), "。", choice),
        '<w:altChunk xmlns:r="urn:r" r:id="rId9"/>',
    )
    entry = read(tmp_path, "a.docx", data)
    assert entry.document.raw == "甲看得见，自三月一日起。\n乙。\n框中一次。"
    assert "3 characters" in warnings(entry)["hidden_text"]
    assert "embedded_parts" in warnings(entry)


def test_notes_that_refer_to_themselves_have_an_end(tmp_path: Path) -> None:
    first, second = (f'<w:r><w:footnoteReference w:id="{n}"/></w:r>' for n in (1, 2))
    notes = part(
        "footnotes",
        f'<w:footnote w:id="1">{p("甲注", first, second)}</w:footnote><w:footnote w:id="2">{p("乙注", second, first)}</w:footnote>',
    )
    data = docx(p("正文", first, "。"), p("又一段", first), parts={"word/footnotes.xml": notes})
    raw = read(tmp_path, "a.docx", data).document.raw
    assert raw == "正文。\n甲注\n乙注\n又一段"


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "零"), (10, "十"), (11, "十一"), (20, "二十"), (101, "一百零一"), (110, "一百一十"), (1010, "一千零一十"), (10002, "一万零二")],
)  # fmt: skip
def test_numbers_in_words(number: int, words: str) -> None:
    from screening.intake.numbering import chinese

    assert chinese(number) == words


def test_entities_bombs_and_damage_are_refused(tmp_path: Path) -> None:
    entity = (
        '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>'
    )
    assert refused(tmp_path, "a.docx", docx(parts={"word/styles.xml": entity})) == "xml_doctype"
    bomb = docx(p("长" * 8_000_000))
    assert refused(tmp_path, "b.docx", bomb) == "archive_ratio"
    assert refused(tmp_path, "b.doc", bomb) == "archive_ratio"
    whole = docx(p(FIRST), p(SECOND))
    assert refused(tmp_path, "c.docx", whole[: len(whole) // 2]) == "archive_broken"
    assert refused(tmp_path, "d.docx", docx()) == "empty"
    deep = docx("<w:sdt><w:sdtContent>" * 300 + p("深") + "</w:sdtContent></w:sdt>" * 300)
    assert refused(tmp_path, "e.docx", deep) == "xml_broken"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "office_old"),
        (rb"{\rtf1\ansi ab}", "rtf"),
    ],
)
@pytest.mark.parametrize("suffix", ["doc", "wps", "rtf", "docx", "txt"])
def test_old_formats_are_refused_with_advice(
    tmp_path: Path, suffix: str, data: bytes, code: str
) -> None:
    entry = entry_of(tmp_path, f"a.{suffix}", data, None)
    assert isinstance(entry, Refusal)
    assert entry.problem.code == code
    assert ".docx" in str(entry.problem)


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    for name, data, text in (
        ("a.pdf", docx(p(FIRST)), FIRST),
        ("b.docx", pdf(files.column(FIRST)), FIRST),
        ("c.doc", f"<html><body><p>{FIRST}</p></body></html>".encode(), FIRST),
        ("d.txt", docx(p(FIRST)), FIRST),
    ):
        entry = read(tmp_path, name, data)
        assert entry.document.raw == text
        assert "named_otherwise" in warnings(entry)
    page = f"<p>{FIRST}</p>"
    assert read(tmp_path, "e.txt", page.encode()).document.raw == page


# --- PDF -------------------------------------------------------------------------------------------------------------


def test_lines_are_joined_and_furniture_is_kept_apart(tmp_path: Path) -> None:
    pages = []
    for number in (1, 2, 3, 4):
        body = files.column(f"{'甲乙丙丁'[number - 1]}、{FIRST}\n{SECOND}")
        head = (220, 810, 9, "青禾市图书馆规章汇编")
        pages.append([head, *body, (280, 30, 10, f"- {number} -")])
    entry = read(tmp_path, "a.pdf", pdf(*pages))
    assert entry.document.raw.split("\n") == [
        line for mark in "甲乙丙丁" for line in (f"{mark}、{FIRST}", SECOND)
    ]
    said = warnings(entry)["furniture"]
    assert "青禾市图书馆规章汇编" in said
    assert "- 1 -" in said
    assert "8 lines" in said


def test_a_sentence_goes_on_over_the_page_break(tmp_path: Path) -> None:
    long = FIRST.rstrip("。") * 3 + "。"
    lines = files.column(long)
    pages = [[*lines[:3], (280, 30, 10, "1")], [*files.column("")]]
    rest = [(60.0, 760 - n * 21.0, 14.0, text) for n, (_, _, _, text) in enumerate(lines[3:])]
    pages[1] = [*rest, (280, 30, 10, "2")]
    entry = read(tmp_path, "a.pdf", pdf(*pages))
    assert entry.document.raw == long


@pytest.mark.parametrize("order", ["one column after the other", "straight across"])
def test_two_columns_are_read_one_after_the_other(tmp_path: Path, order: str) -> None:
    third = "第三条　自习室内请保持安静，不得占用他人的座位，不得在桌面上刻画；离开时请带走随身物品，并将座椅放回原处。"
    left = files.column(f"{FIRST}\n{SECOND}", width=18, size=12)
    right = [(x + 250, y, size, text) for x, y, size, text in files.column(f"{third}\n{third}", width=18, size=12)]  # fmt: skip
    heading = (150.0, 800.0, 16.0, "青禾市图书馆自习座位规则汇编与说明全文如下")
    lines = [*left, *right]
    if order == "straight across":
        lines.sort(key=lambda line: (-line[1], line[0]))
    entry = read(tmp_path, "a.pdf", pdf([heading, *lines]))
    assert entry.document.raw.split("\n") == [heading[3], FIRST, SECOND, third, third]


def test_rows_of_a_table_stay_rows(tmp_path: Path) -> None:
    rows = [
        line
        for n in range(8)
        for line in (
            (60.0, 700.0 - 20 * n, 12.0, f"阅览座位第{n}区"),
            (330.0, 700.0 - 20 * n, 12.0, "共有座位四十个"),
        )
    ]
    raw = read(tmp_path, "a.pdf", pdf(rows)).document.raw
    assert [line.split() for line in raw.split("\n")] == [[f"阅览座位第{n}区", "共有座位四十个"] for n in range(8)]  # fmt: skip


def test_heads_of_left_and_right_pages_and_watermarks_are_furniture(tmp_path: Path) -> None:
    pages = []
    for n in range(4):
        head = (60.0, 805.0, 9.0, "青禾年鉴") if n % 2 else (480.0, 805.0, 9.0, "第三章 文化")
        body = files.column(f"{'甲乙丙丁'[n]}、{FIRST}")
        pages.append([head, (150.0, 400.0, 60.0, "内部资料"), *body, (520.0, 40.0, 9.0, str(n + 11))])  # fmt: skip
    entry = read(tmp_path, "a.pdf", pdf(*pages))
    assert entry.document.raw.split("\n") == [f"{mark}、{FIRST}" for mark in "甲乙丙丁"]
    for words in ("青禾年鉴", "第三章 文化", "内部资料", "14"):
        assert words in warnings(entry)["furniture"]


def test_bold_by_printing_twice_counts_once(tmp_path: Path) -> None:
    title = [(100.0, 760.0, 20.0, "关于停电检修的通知"), (100.4, 760.0, 20.0, "关于停电检修的通知")]
    assert read(tmp_path, "a.pdf", pdf(title)).document.raw == "关于停电检修的通知"
    words = [(100.0, 760.0, 20.0, "人人为我，天天向上")]
    assert read(tmp_path, "b.pdf", pdf(words)).document.raw == "人人为我，天天向上"


def test_pages_without_text_are_named_and_a_scan_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "a.pdf", pdf([], [])) == "no_text_layer"
    entry = read(tmp_path, "b.pdf", pdf(files.column(FIRST), []))
    assert "2" in warnings(entry)["pages_without_text"]
    codes = pdf([(60, 700, 12, "(cid:123)(cid:45)(cid:6)")])
    assert refused(tmp_path, "c.pdf", codes) == "pdf_no_characters"
    assert refused(tmp_path, "d.pdf", b"%PDF-1.4\n" + b"\0" * 100) == "pdf_broken"


def test_the_pages_of_a_pdf_are_limited(tmp_path: Path) -> None:
    data = pdf(*[files.column(FIRST)] * 4)
    assert refused(tmp_path, "a.pdf", data, Limits(pages=3)) == "too_many_pages"


# --- Pages -----------------------------------------------------------------------------------------------------------

PAGE = f"""<!DOCTYPE html><html><head><meta charset="%s"><title>座位规则</title><style>p{{color:red}}</style></head><body>
<!-- 不是正文 -->
<div class="nav"><a href="/">首页</a><a href="/a">公告</a></div>
<table><tr><td>索 引 号：</td><td>QH-07</td><td>发文字号：</td><td>青图〔2026〕7号</td></tr>
<tr><td>成文日期：</td><td>2026年3月1日</td><td>发布机构：</td><td>青禾市图书馆</td></tr></table>
<div id="zoom"><h1>座位规则</h1><p>{FIRST}</p><p>甲&nbsp;乙<br>丙<script>alert(1)</script><span style="display: none">看不见</span></p>
<table><tr><th>时段</th><th>座位</th></tr><tr><td>上午</td><td>40</td></tr></table>
<img src="http://192.0.2.1/a.png"><iframe src="http://192.0.2.1/"></iframe></div>
<div class="footer">版权所有 联系我们</div></body></html>"""


@pytest.mark.parametrize(
    ("declared", "codec"),
    [("utf-8", "utf-8"), ("gb2312", "gb18030"), ("gb2312", "utf-8"), ("utf-8", "gb18030")],
)
def test_a_page_gives_its_main_text_and_its_facts(
    tmp_path: Path, declared: str, codec: str
) -> None:
    entry = read(tmp_path, "a.html", (PAGE % declared).encode(codec))
    assert entry.document.raw == f"座位规则\n{FIRST}\n甲 乙\n丙\n时段\t座位\n上午\t40"
    assert entry.document.title == "座位规则"
    assert entry.document.metadata == {
        "doc_number": "青图〔2026〕7号",
        "published_on": "2026年3月1日",
        "issuer": "青禾市图书馆",
    }
    assert "索引号=QH-07" in warnings(entry)["page_table"]
    assert "版权所有" in warnings(entry)["around_the_text"]


@pytest.mark.parametrize("name", ["a.mht", "a.mhtml", "a.html", "a.txt"])
def test_a_page_saved_as_one_file_is_refused_with_advice(tmp_path: Path, name: str) -> None:
    whole = f"From: <Saved by Blink>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\r\n<p>{FIRST}</p>"
    entry = entry_of(tmp_path, name, whole.encode(), None)
    assert isinstance(entry, Refusal)
    assert entry.problem.code == "mhtml"
    assert "HTML" in str(entry.problem)


def test_a_page_without_text_or_far_too_deep_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "a.html", b"<html><body><script>x</script></body></html>") == "empty"
    deep = b"<div>" * 5000 + b"a" + b"</div>" * 5000
    assert refused(tmp_path, "b.html", deep) in {"nested_too_deep", "html_broken"}


def test_control_characters_in_a_page_are_taken_out(tmp_path: Path) -> None:
    page = (
        f"<body><script>x</script>\1甲&#1;&#xFFFF;&#0;<script>y</script>乙\0<p>{FIRST}</p></body>"
    )
    entry = read(tmp_path, "a.html", page.encode())
    assert "甲" in entry.document.raw
    assert entry.document.raw.endswith(FIRST)
    assert not any(character in entry.document.raw for character in "\0\1\uffff")
    assert "control_characters" in warnings(entry)


def test_hostile_lines_do_not_hang_the_readers(tmp_path: Path) -> None:
    limits = Limits(seconds=10)
    blanks = files.pdf([(60, 800, 5, "1" + " " * 30_000 + "x"), (60, 30, 5, "." * 30_000 + "x"), *files.column(FIRST)])  # fmt: skip
    assert read(tmp_path, "a.pdf", blanks, limits).document.raw
    cell = f"<table><tr><td>{'<p>' + FIRST + '</p>'}" * 1 + f"<p>{FIRST}</p>" * 8000 + "</table>"
    assert read(tmp_path, "b.html", cell.encode(), limits).document.raw.count(FIRST) == 8001
    parts = f"<body>{'<script>x</script>甲乙丙丁' * 40_000}<p>{FIRST}"  # once 40 seconds: each part taken out moved the rest
    assert read(tmp_path, "d.html", parts.encode(), Limits(seconds=30)).document.raw.endswith(FIRST)
    named = f"<title>{'长' * 3000}</title><p>{FIRST}</p>"
    assert read(tmp_path, "c.html", named.encode(), limits).document.title is None


def test_comments_before_a_page_do_not_hang_the_reader() -> None:
    from screening.intake.formats import is_html

    assert not is_html(b"<!---->" * 600 + b"x")
    assert is_html(b"<!-- a --> <!-- b -->\n<p>x")


# --- In a process of its own -----------------------------------------------------------------------------------------


@pytest.fixture
def reader() -> Iterator[Reader]:
    with Reader(Limits(seconds=1)) as started:
        assert started.read("docx", docx(p(FIRST))) == PlainText(FIRST)
        yield started


def pid_of(reader: Reader) -> int:
    assert reader._child is not None
    return reader._child.pid


def test_a_reader_that_hangs_is_ended_and_the_next_file_is_read(reader: Reader) -> None:
    pid = pid_of(reader)
    os.kill(pid, signal.SIGSTOP)
    answer = reader.read("docx", docx(p(SECOND)))
    assert isinstance(answer, Problem)
    assert answer.code == "too_slow"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert reader.read("docx", docx(p(SECOND))) == PlainText(SECOND)


def test_a_reader_that_dies_refuses_its_file_and_no_other(reader: Reader) -> None:
    os.kill(pid_of(reader), signal.SIGKILL)
    answer = reader.read("docx", docx(p(SECOND)))
    assert isinstance(answer, Problem)
    assert answer.code == "reader_broke_off"
    assert reader.read("docx", docx(p(SECOND))) == PlainText(SECOND)


def test_a_reader_has_little_memory_and_writes_no_files() -> None:
    with Reader(Limits(reader_bytes=200 << 20)) as small:
        words = "".join(map(chr, random.Random(7).choices(range(0x4E00, 0x9FA5), k=2_000_000)))
        data = docx(
            *(p(words[n : n + 500]) for n in range(0, len(words), 500)), *([table([words])] * 6)
        )
        answer = small.read("docx", data)
        assert isinstance(answer, Problem)
        assert answer.code in {"reader_memory", "reader_broke_off"}
        assert small.read("docx", docx(p(SECOND))) == PlainText(SECOND)
        limits = Path(f"/proc/{pid_of(small)}/limits")
        if limits.exists():
            assert re.search(r"Max file size\s+0 ", limits.read_text())


def test_the_reader_ends_with_its_hand_over(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(docx(p(FIRST)))
    (tmp_path / "b.docx").write_bytes(docx(p(SECOND)))
    entries = read_path(tmp_path)
    next(entries)
    assert readers() == 1
    entries.close()  # type: ignore[attr-defined]
    assert readers() == 0


def readers() -> int:
    """Readers that this process has started and that are still there."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    commands = (Path(f"/proc/{child}/cmdline").read_bytes() for child in children)
    return sum(b"screening.intake.apart" in command for command in commands)


def test_short_lines_that_repeat_are_named_and_kept(tmp_path: Path) -> None:
    text = "".join(f"{FIRST}{n}\n打印本页\n- {n} -\n" for n in range(4))
    entry = read(tmp_path, "a.txt", text.encode())
    assert entry.document.raw == text
    said = warnings(entry)["repeated_lines"]
    assert "“打印本页” ×4" in said
    assert "“- 0 -” ×4" in said
    assert not warnings(read(tmp_path, "b.txt", FIRST.encode()))
