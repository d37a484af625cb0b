"""What stands around a changed fact: names of bodies are whole, unlike sentences are not set against each other."""

from __future__ import annotations

import pytest

from screening.evidence.facts import fact_changes
from screening.evidence.facts.references import bodies

Key = tuple[str, str | None, str | None]


def _changes(left: str, right: str) -> list[Key]:
    return [(c.kind, c.left, c.right) for c in fact_changes(left, right)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("规范社区图书馆的借阅秩序。", "理顺社区图书馆的借阅秩序。"),
        ("各村要加强乡镇文化站和县文化馆的联系。", "各村要推动乡镇文化站和县文化馆的联系。"),
        ("下一步将支持县医院扩建门诊楼。", "下一步将推动县医院扩建门诊楼。"),
        ("方案报县林业局备查。", "方案送县林业局备查。"),
        ("设立镇便民服务中心，集中办理事项。", "改建镇便民服务中心，集中办理事项。"),
        ("授权区城管局实施检查。", "委托区城管局实施检查。"),
        ("优化街道办事处的工作流程。", "简化街道办事处的工作流程。"),
        ("协助村委会做好登记工作。", "督促村委会做好登记工作。"),
        ("整合市博物馆现有展陈资源。", "盘活市博物馆现有展陈资源。"),
        ("县令支持人民法院依法审理。", "县令配合人民法院依法审理。"),
    ],
)
def test_a_verb_before_a_body_is_no_part_of_its_name(left: str, right: str) -> None:
    assert _changes(left, right) == []
    assert _changes(right, left) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("报市经济和信息化局、市交通运输局", ["市经济和信息化局", "市交通运输局"]),
        ("由应急管理局会同县青少年活动中心", ["应急管理局", "县青少年活动中心"]),
        ("当地人民政府与市委组织部商定", ["当地人民政府", "市委组织部"]),
        ("经市财政局局长同意", ["市财政局"]),
        ("县级以上地方人民政府应当负责", ["县级以上地方人民政府"]),
        ("县级以上的地方各级人民政府", ["地方各级人民政府"]),
        ("方案报所在区人民政府批准", ["所在区人民政府"]),
        ("第六章村民委员会。第九十一条国务院", ["村民委员会", "国务院"]),
        ("中华人民共和国人力资源和社会保障部", ["中华人民共和国人力资源和社会保障部"]),
        ("仲裁委员会裁决某快递公司支付", ["仲裁委员会", "某快递公司"]),
        ("青石建材有限公司诉白水运输有限公司", ["青石建材有限公司", "白水运输有限公司"]),
        ("国务院组成人员和中央军事委员会", ["国务院", "中央军事委员会"]),
        ("省人民政府和市人民政府", ["省人民政府", "市人民政府"]),
        ("乡村振兴推进中心、就业支持中心", ["乡村振兴推进中心", "就业支持中心"]),
        ("走访了县医院，来自于都县人民政府", ["县医院", "于都县人民政府"]),
        ("城市管理局、新建区人民政府", ["城市管理局", "新建区人民政府"]),
        ("县融媒体中心与人民日报社", ["县融媒体中心", "人民日报社"]),
    ],
)
def test_names_of_bodies_are_whole(text: str, names: list[str]) -> None:
    assert [text[start:end] for start, end in bodies(text)] == names


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (
            "由云溪区人民政府负责解释。",
            "由云溪区人民政府办公室负责解释。",
            [("body", "云溪区人民政府", "云溪区人民政府办公室")],
        ),
        (
            "方案报所在区人民政府批准。",
            "方案报所在市人民政府批准。",
            [("body", "所在区人民政府", "所在市人民政府")],
        ),
        (
            "县级人民政府应当定期公布名录。",
            "县级以上人民政府应当定期公布名录。",
            [("condition", None, "以上")],
        ),
        ("由县级人民政府编制。", "由市级人民政府编制。", [("condition", "县级", "市级")]),
    ],
)
def test_another_body_is_shown_with_its_whole_name(
    left: str, right: str, expected: list[Key]
) -> None:
    assert _changes(left, right) == expected


COMMON = ("镇里设有阅览室三间，全年向居民开放，另有停车场一处。", "以上事项由各村自行安排。")


@pytest.mark.parametrize(
    ("left", "right", "dates"),
    [
        ("工程于2024年3月动工。", "活动将于2024年9月举行。", ("2024-03", "2024-09")),
        ("旧桥于5月10日拆除。", "他于7月20日到任。", ("05-10", "07-20")),
    ],
)
def test_dates_of_different_sentences_are_gone_and_new(
    left: str, right: str, dates: tuple[str, str]
) -> None:
    found = _changes(COMMON[0] + left + COMMON[1], COMMON[0] + right + COMMON[1])
    assert {c for c in found if c[0] == "date"} == {
        ("date", dates[0], None),
        ("date", None, dates[1]),
    }


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("工程于2024年3月开工。", "工程已于2024年9月正式动工。"),
        ("清淤工作在2024年3月前结束。", "清淤工作应在2024年9月前结束。"),
        ("青禾镇人民政府\n2024年3月\n", "青禾镇人民政府\n\n2024年9月\n"),
    ],
)
def test_dates_of_one_sentence_are_set_against_each_other(left: str, right: str) -> None:
    found = _changes("\n".join((COMMON[0], left)), "\n".join((COMMON[0], right)))
    assert ("date", "2024-03", "2024-09") in found


def test_a_head_that_states_another_act_sets_no_dates_against_each_other() -> None:
    body = "第一条 为了加强管理，制定本办法。\n\n第二条 禁止倾倒垃圾。\n"
    left = "# 甲办法\n\n2008年11月5日 国务院第三十四次常务会议修订通过\n\n" + body
    right = "# 乙办法\n\n2020年8月11日 临江市人大主席团全体会上表决通过\n\n" + body
    found = [c for c in _changes(left, right) if c[0] == "date"]
    assert found == [("date", "2008-11-05", None), ("date", None, "2020-08-11")]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("承租人可以转租房屋。", "承租人应当转租房屋。", ("modality", "可以", "应当")),
        ("不得在库区垂钓。", "不宜在库区垂钓。", ("modality", "不得", "不宜")),
        ("志愿者有值守岗位。", "志愿者有责任值守岗位。", ("modality", "有", "有责任")),
        ("承租人可以转租房屋。", "承租人不得转租房屋。", ("negation", "可以", "不得")),
        ("该馆有夜间值班人员。", "该馆无夜间值班人员。", ("negation", "有", "无")),
        ("有权要求查阅账目。", "无权要求查阅账目。", ("negation", "有权", "无权")),
    ],
)
def test_another_strength_is_modality_and_the_opposite_is_negation(
    left: str, right: str, expected: Key
) -> None:
    assert _changes(left, right) == [expected]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("随后，市供销社召开例会。", "之后，市供销社召开例会。"),
        ("较晚到达的代表可直接入场。", "稍后到达的代表可直接入场。"),
        ("结果稍后由县教育局发布。", "结果较晚由县教育局发布。"),
    ],
)
def test_words_that_go_on_with_a_story_limit_nothing(left: str, right: str) -> None:
    assert _changes(left, right) == []
