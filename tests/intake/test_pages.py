"""Saved pages of the kinds that archives hold: everything of the article is read, nothing of what stands around it."""

from __future__ import annotations

import pytest

from screening.intake.html import read_html
from screening.intake.limits import Limits
from screening.intake.plain import PlainText

A = "青禾市图书馆关于调整自习室开放时间的通知"
P1 = "各街道办事处，市直各单位：为方便读者，经研究，自三月一日起调整自习室开放时间，现将有关事项通知如下。"
P2 = (
    "一、自习室每日上午八时至下午九时开放，法定节假日照常开放；每周一上午闭馆整理，下午一时起开放。"
)
P3 = "二、读者凭借阅证预约座位，每次不超过四小时，预约后三十分钟内未到的，座位自动释放。"
P4 = "三、违反本通知规定的，按照《青禾市图书馆读者规则》第七条处理。"
SIGN = "青禾市图书馆"
DATE = "2026年2月18日"
BODY = [P1, P2, P3, P4]
ps = "".join(f"<p>{x}</p>" for x in BODY)
NAV = '<div class="header"><div class="logo"><a href="/">青禾市人民政府</a></div><ul class="nav-list"><li><a href="/a">首页</a></li><li><a href="/b">政务公开</a></li><li><a href="/c">办事服务</a></li><li><a href="/d">互动交流</a></li></ul></div>'
POS = '<div class="position">当前位置：<a href="/">首页</a> &gt; <a href="/b">政务公开</a> &gt; <a>通知公告</a></div>'
FOOT = '<div class="bottom"><p>主办：青禾市人民政府办公室　承办：青禾市信息中心</p><p>备案序号：青ICP备00000001号　网站标识码：0000000001　联系电话：000-00000000</p></div>'
TOOLS = '<div class="tools">【字体：<a>大</a> <a>中</a> <a>小</a>】 <a>打印本页</a> <a>关闭窗口</a> 分享到：<a>微信</a><a>微博</a></div>'
REL = '<div class="xgwj"><h3>相关文件</h3><ul><li><a>关于做好节日值班工作的通知</a></li><li><a>关于开展读者满意度调查的通知</a></li><li><a>图解：自习室开放时间</a></li></ul></div>'
META = f'<table class="xxgk"><tr><td>索 引 号：</td><td>QH001-02-2026-0007</td><td>主题分类：</td><td>文化、图书馆</td></tr><tr><td>发文机关：</td><td>青禾市图书馆</td><td>成文日期：</td><td>2026年2月18日</td></tr><tr><td>标　　题：</td><td colspan=3>{A}</td></tr><tr><td>发文字号：</td><td>青图发〔2026〕7号</td><td>发布日期：</td><td>2026年2月20日</td></tr></table>'
want = [A, *BODY, SIGN, DATE]
PAGES: dict[str, tuple[str | bytes, list[str]]] = {}
# 1 gov.cn-like layout, nested tables, id UCAP-CONTENT
PAGES["gov-ucap"] = (
    f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{A}_青禾市政府网</title></head><body>{NAV}{POS}<div class="wrap">{META}<div class="article"><h1>{A}</h1>{TOOLS}<div class="pages_content" id="UCAP-CONTENT">{ps}<p style="text-align:right">{SIGN}</p><p style="text-align:right">{DATE}</p></div></div>{REL}</div>{FOOT}</body></html>',
    want,
)
# 2 old: everything in nested tables, no names, <br>, gbk
brs = "<br>".join("　　" + x for x in BODY) + f"<br><br>{SIGN}<br>{DATE}"
PAGES["old-tables"] = (
    f'<html><head><meta http-equiv="Content-Type" content="text/html; charset=gb2312"><title>通知</title></head><body><table width=1000><tr><td><a href=/>首页</a> | <a href=/1>政务公开</a> | <a>办事服务</a> | <a>互动交流</a></td></tr><tr><td><table><tr><td width=200 valign=top><a>通知公告</a><br><a>政策法规</a><br><a>领导信箱</a></td><td><table><tr><td align=center><b>{A}</b></td></tr><tr><td>发布时间：2026-02-20　浏览次数：37</td></tr><tr><td>{brs}</td></tr></table></td></tr></table></td></tr><tr><td align=center>版权所有：青禾市图书馆　备案号：青ICP备1号</td></tr></table></body></html>'.encode(
        "gb18030"
    ),
    want,
)
# 3 news page
PAGES["news"] = (
    f'<html><head><meta charset=utf-8><title>{A}-青禾新闻</title></head><body><header><nav><a>首页</a><a>本地</a><a>教育</a></nav></header><main><article><h1>{A}</h1><div class="meta"><span>2026-02-20 10:20</span> <span>来源：青禾日报</span></div>{ps}<p>{SIGN}</p><p>{DATE}</p></article><aside><h2>热门</h2><ul><li><a>天气转暖</a></li><li><a>公交新线路开通</a></li></ul></aside></main><footer>版权所有 联系电话 备案</footer></body></html>',
    want,
)
# 4 no container at all, plain body
PAGES["plain"] = (f"<html><body><h1>{A}</h1>{ps}<p>{SIGN}</p><p>{DATE}</p></body></html>", want)
# 5 print view
PAGES["print"] = (
    f'<html><head><title>打印</title><style media=print>a{{}}</style></head><body onload="window.print()"><div class="print-btn"><a href="javascript:window.print()">打印本页</a> <a href="javascript:window.close()">关闭窗口</a></div><h2>{A}</h2><div>{ps}<p>{SIGN}<br>{DATE}</p></div></body></html>',
    want,
)
# 6 class names with content wrapping everything incl. nav
PAGES["content-wraps-all"] = (
    f'<html><body><div class="content">{NAV}{POS}<div class="left"><ul><li><a>通知公告</a></li><li><a>政策法规</a></li></ul></div><div class="right"><h1>{A}</h1>{ps}<p>{SIGN}</p><p>{DATE}</p></div>{FOOT}</div></body></html>',
    want,
)
# 7 scripts, noscript, template, comments
PAGES["scripts"] = (
    f'<html><body><!-- 正文开始 --><script>var t="首页";</script><noscript>请启用脚本后浏览 政务公开</noscript><template><p>分享 模板文字</p></template><style>.a{{content:"首页"}}</style><div id=zoom><h1>{A}</h1>{ps}<!--[if IE]><p>备案</p><![endif]--><p>{SIGN}</p><p>{DATE}</p></div><div style="display:none">打印 隐藏</div></body></html>',
    want,
)
# 8 entities
ent = "".join(
    f"<p>{''.join(f'&#{ord(c)};' if i % 3 else f'&#x{ord(c):x};' for i, c in enumerate(x))}</p>"
    for x in BODY
)
PAGES["entities"] = (
    f"<html><body><div class=TRS_Editor><p>{A}</p>{ent}<p>{SIGN}&nbsp;</p><p>&ensp;&emsp;{DATE}</p></div></body></html>",
    want,
)
# 9 with data table inside article
TB = ["项目\t时间", "自习室\t8:00-21:00", "阅览室\t9:00-17:00"]
tbl = "<table border=1><tr><th>项目</th><th>时间</th></tr><tr><td><p>自习室</p></td><td><p>8:00-21:00</p></td></tr><tr><td>阅览室</td><td>9:00-17:00</td></tr></table>"
PAGES["data-table"] = (
    f'<html><body>{NAV}<div class="view TRS_UEDITOR"><h1>{A}</h1><p>{P1}</p>{tbl}<p>{P2}</p><p>{P3}</p><p>{P4}</p><p>{SIGN}</p><p>{DATE}</p></div>{FOOT}</body></html>',
    [A, P1, *TB, P2, P3, P4, SIGN, DATE],
)
# 10 article with many links (attachments, cited laws)
PAGES["links"] = (
    f'<html><body>{NAV}<div class="article-con"><h1>{A}</h1><p>{P1}</p><p>{P2}</p><p><a>《青禾市图书馆读者规则》</a></p><p>附件：<a href=1.doc>1. 座位预约登记表</a></p><p><a href=2.doc>2. 自习室平面图</a></p><p>{SIGN}</p><p>{DATE}</p></div>{FOOT}</body></html>',
    [
        A,
        P1,
        P2,
        "《青禾市图书馆读者规则》",
        "附件：1. 座位预约登记表",
        "2. 自习室平面图",
        SIGN,
        DATE,
    ],
)
# 11 short article, long footer
LF = (
    '<div class="footer">'
    + "".join(
        f"<p>友情链接说明第{n}条：本站内容未经许可不得转载，备案信息以公示为准，联系电话见网站首页所列各处室分机号码。</p>"
        for n in range(9)
    )
    + "</div>"
)
PAGES["short-long-footer"] = (
    f'<html><body><div class="header"><a>首页</a></div><div class="con"><h1>临时闭馆</h1><p>本馆本周三因停电闭馆一天，请读者相互转告。</p></div>{LF}</body></html>',
    ["临时闭馆", "本馆本周三因停电闭馆一天，请读者相互转告。"],
)
# 12 two siblings: title outside the named container
PAGES["title-outside"] = (
    f'<html><body>{NAV}<div class="main"><h2 class="title">{A}</h2><div class="info">发布时间：2026-02-20 信息来源：办公室 浏览次数：12</div><div id="zoom">{ps}<p>{SIGN}</p><p>{DATE}</p></div><div class="pre-next">上一篇：<a>关于闭馆的通知</a> 下一篇：<a>关于还书的通知</a></div></div>{FOOT}</body></html>',
    want,
)
# 13 article in several containers
PAGES["split"] = (
    f'<html><body>{NAV}<div class="article-content"><h1>{A}</h1><p>{P1}</p></div><div class="article-content"><p>{P2}</p><p>{P3}</p><p>{P4}</p></div><div class="article-content"><p>{SIGN}</p><p>{DATE}</p></div>{FOOT}</body></html>',
    want,
)
# 14 XHTML + dl facts
PAGES["dl-facts"] = (
    f'<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "x"><html xmlns="http://www.w3.org/1999/xhtml"><body><div class="nav"><a>首页</a></div><ul class="gk-head"><li><b>索引号：</b>QH7</li><li><b>发文字号：</b>青图发〔2026〕7号</li><li><b>成文日期：</b>2026年2月18日</li></ul><div class="zw"><h1>{A}</h1>{ps}<p>{SIGN}</p><p>{DATE}</p></div></body></html>',
    want,
)
# 15 div-only with spans & font, &nbsp; indents
PAGES["spans"] = (
    f'<html><body>{NAV}<div><div><span style="font-size:22px"><strong>{A}</strong></span></div>'
    + "".join(
        f"<div><span>&nbsp;&nbsp;&nbsp;&nbsp;</span><span>{x[:9]}</span><font color=red>{x[9:20]}</font><span>{x[20:]}</span></div>"
        for x in BODY
    )
    + f"<div align=right>{SIGN}</div><div align=right>{DATE}</div></div>{FOOT}</body></html>",
    want,
)
# 16 article class "comment" / share inside text names; commentary
PAGES["names-clash"] = (
    f'<html><body><div id="main-content" class="shared-layout has-sidebar search-result-page"><h1>{A}</h1>{ps}<p class="related">{SIGN}</p><p>{DATE}</p></div><div id=comments><p>读者甲：支持一下，分享给大家。</p></div></body></html>',
    want,
)
# 17 facts with nested tables
PAGES["nested-facts"] = (
    f'<html><body><table><tr><td>{META}</td></tr><tr><td><div class="Section1">{"".join(f"<p class=MsoNormal>{x}</p>" for x in [A, *BODY, SIGN, DATE])}</div></td></tr></table></body></html>',
    want,
)

BYLINE = "2026-02-20 10:20 来源：青禾日报"
"""The line of a newspaper that says when and whence; it belongs to the article."""


@pytest.mark.parametrize("name", list(PAGES))
def test_the_article_is_read_whole_and_alone(name: str) -> None:
    page, wanted = PAGES[name]
    read = read_html(page if isinstance(page, bytes) else page.encode(), Limits())
    assert isinstance(read, PlainText), read
    lines = [line.strip("　 \t") for line in read.raw.split("\n") if line.strip("　 \t")]
    assert [line for line in lines if line != BYLINE] == wanted


def test_facts_beside_the_text_become_metadata_and_the_site_is_no_part_of_the_title() -> None:
    for name in ("gov-ucap", "nested-facts"):
        read = read_html(str(PAGES[name][0]).encode(), Limits())
        assert isinstance(read, PlainText)
        assert read.metadata["doc_number"] == "青图发〔2026〕7号"
        assert read.metadata["title"] == A
        assert {w.code for w in read.warnings} >= {"page_table"}
    named = read_html(str(PAGES["news"][0]).encode(), Limits())
    assert isinstance(named, PlainText)
    assert named.metadata["title"] == A
