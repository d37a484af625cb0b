"""What each channel finds, and what it must not."""

from __future__ import annotations

import pytest

from screening.config import ScreeningConfig
from screening.evidence.excerpts import excerpts, shared_runs
from screening.pipeline import screen
from screening.text.normalise import code_points, normalise
from screening.text.numbers import (
    cited_numbers,
    doubtful_number,
    own_number,
    parse_number,
    possible_number,
)
from tests.screening.making import document, documents, pairs, prose, run


@pytest.mark.parametrize("length", [32, 33, 40])
@pytest.mark.parametrize("place", ["start", "middle", "end"])
def test_every_shared_run_of_32_characters_is_found(length: int, place: str) -> None:
    for seed in range(12):
        shared = prose(500 + seed, length)
        before = 0 if place == "start" else 90 + seed
        after = 0 if place == "end" else 70 + seed
        left = prose(seed, before) + shared + prose(100 + seed, after)
        right = prose(200 + seed, 40 + seed) + shared + prose(300 + seed, 55)
        found = pairs(run([left, right], channels=["passages"]))
        assert (0, 1) in found, (seed, place)
        first = found[0, 1].excerpts[0]
        assert shared in left[first.left_start : first.left_end]


def test_a_run_of_31_characters_is_no_passage() -> None:
    shared = prose(7, 31)
    texts = ["甲" + shared + "乙" + prose(1, 60), "丙" + shared + "丁" + prose(2, 60)]
    assert pairs(run(texts, channels=["passages"])) == {}


def test_moved_passages_are_all_shown_longest_first() -> None:
    a, b, c = prose(1, 60), prose(2, 50), prose(3, 40)
    found = pairs(
        run(["甲" + a + "乙" + b + "丙" + c, "丁" + c + "戊" + a + "己" + b], channels=["passages"])
    )
    spans = found[0, 1].excerpts
    assert [e.left_end - e.left_start for e in spans] == [60, 50, 40]
    assert spans[0].left_start < spans[1].left_start < spans[2].left_start
    assert spans[2].right_start < spans[0].right_start < spans[1].right_start


def test_an_excerpt_is_raw_text_on_both_sides() -> None:
    left = "前言部分㎡：“各乡镇应当在十日以内，逐户登记房屋面积和用途，登记结果在村务栏公开并接受质询。”说完离席。"
    right = "转述如下—各乡镇应当在十日以内,逐户登记房屋面积和用途,登记结果在村务栏公开并接受质询。他又补充"
    found = excerpts(normalise(left), normalise(right))
    assert left[found[0].left_start : found[0].left_end] == left[left.index("各") : left.index("”")]
    assert (
        right[found[0].right_start : found[0].right_end]
        == right[right.index("各") : right.index("他")]
    )


def test_tables_do_not_hide_the_longest_run() -> None:
    rows = [f"{n}号仓位占地{n + 40}平租金{n}百元；" for n in range(1, 40)]
    left = "".join(rows)
    right = left.replace("1号仓位占地41", "1号仓位占地14", 1).replace("39百元", "93百元")
    a, b = normalise(left).text, normalise(right).text
    best = max(
        (n for n in range(len(a), 0, -1) if any(a[i : i + n] in b for i in range(len(a) - n + 1))),
        default=0,
    )
    assert shared_runs(code_points(a), code_points(b), 10)[0].length == best


def test_copies_in_traditional_script_are_found_and_scored_as_they_are() -> None:
    texts = [
        "各區縣應當於年底前完成圖書館場館維護，並將結果報送備案。",
        "各区县应当于年底前完成图书馆场馆维护，并将结果报送备案。",
    ]
    candidate = pairs(run(texts))[0, 1]
    assert candidate.jaccard < 0.5
    assert candidate.jaccard_folded == 1.0
    assert pairs(run(texts, fold_script=False)) == {}


def test_forms_with_other_content_are_templates() -> None:
    form = "姓名：{}，因{}需要，申请使用{}会议室，使用期间保证爱护室内设施，结束后恢复原状并关闭电源。联系电话：{}。特此申请，请予批准。"
    texts = [
        form.format("张某", "举办青年读书分享活动及座谈交流", "三楼东侧", "13900001111"),
        form.format("欧阳某某", "开展社区法律咨询", "一楼", "010-5550"),
        prose(4, 90),
    ]
    found = pairs(run(texts, channels=["templates"]))
    assert set(found) == {(0, 1)}
    assert found[0, 1].channels == ("templates",)


def test_phrases_scattered_over_long_texts_are_no_form() -> None:
    phrases = [prose(600 + n, 13) for n in range(40)]
    left = "".join(p + prose(700 + n, 40) for n, p in enumerate(phrases))
    right = "".join(p + prose(800 + n, 40) for n, p in enumerate(reversed(phrases)))
    assert pairs(run([left, right])) == {}


SPELLINGS = [
    "市规〔2024〕8号",
    "市规[2024]8号",
    "市规(2024)8号",
    "市规（２０２４）８号",
    "市规 〔2024〕 8 号",
    "市规【2024】8号",
    "市规﹝2024﹞8号",
    "市规［2024］8号",
    "市规〔二〇二四〕8号",
    "市规〔二○二四〕八号",
    "市规〔二零二四〕8号",
    "市规〔2024〕第8號",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_one_document_number(spelling: str) -> None:
    number = parse_number(spelling)
    assert number is not None
    assert number.key == ("市规", 2024, 8)
    assert number.raw == spelling
    assert number.standard == (spelling == SPELLINGS[0])


def test_numbers_that_only_look_alike_stay_apart() -> None:
    found = [
        parse_number(n)
        for n in (
            "市规〔2024〕8号",
            "市办规〔2024〕8号",
            "市规〔2023〕8号",
            "市规〔2024〕81号",
            "市函〔2024〕8号",
            "市规明电〔2024〕8号",
        )
    ]
    assert len({n.key for n in found if n}) == 6
    assert parse_number("市规〔二二四〕8号") is None
    assert parse_number("市规〔2O24〕l号") is None
    meant = possible_number("市规〔2O24〕l号")
    assert meant is not None
    assert meant.key == ("市规", 2024, 1)
    assert possible_number("市规〔2024〕1号") is None


def test_a_cited_number_is_not_borne() -> None:
    original = "市规〔2024〕8号\n关于夜间施工管理的通知\n各施工单位应当在二十二时前停工。"
    forwarding = "区办〔2024〕31号\n转发通知\n现将《关于夜间施工管理的通知》（市规〔2024〕8号）转发给你们，请认真执行。"
    own = own_number(forwarding)
    assert own is not None
    assert own.key == ("区办", 2024, 31)
    assert [n.key for n in cited_numbers(forwarding)] == [("市规", 2024, 8)]
    assert own_number("转发说明\n根据《办法》（市规〔2024〕8号）的规定，现予转发。") is None
    found = pairs(run([original, forwarding], channels=["doc_number"]))
    assert found == {}


def test_the_same_number_pairs_texts_that_share_nothing() -> None:
    texts = [
        "市规〔2024〕8号\n" + prose(1, 80) + "。",
        "文号：市规[2024]8号\n" + prose(2, 80) + "。",
        prose(3, 80),
    ]
    found = pairs(run(texts))
    assert set(found) == {(0, 1)}
    assert found[0, 1].channels == ("doc_number",)


def test_without_a_number_issuer_date_and_title_identify() -> None:
    facts = {"issuer": "某市规划局", "published_on": "2024-05-06"}
    docs = [
        document("a", prose(1, 80), title="关于绿地管护的通知", metadata=facts),
        document("b", prose(2, 80), title="《关于绿地管护的通知》", metadata=facts),
        document(
            "c",
            prose(3, 80),
            title="关于绿地管护的通知",
            metadata={**facts, "published_on": "2024-05-07"},
        ),
        document("d", prose(4, 80), title="关于绿地管护的通知", metadata={"issuer": "某市规划局"}),
    ]
    assert set(pairs(screen(docs, ScreeningConfig(), facts=False))) == {(0, 1)}


def test_malformed_numbers_are_named_for_a_person() -> None:
    text = "市规〔2O24〕8号\n关于夜间施工管理的通知\n" + prose(1, 40)
    assert doubtful_number(text) is not None
    result = run([text, "市规〔2024〕8号\n" + prose(2, 60)])
    assert pairs(result) == {}
    assert [x.problem.code for x in result.left_out] == ["doubtful_numbers"]
    assert "市规〔2024〕8号" in str(result.left_out[0].problem)


def test_references_meet_subjects_but_not_each_other() -> None:
    text = prose(1, 100)
    docs = [
        document("a", text, role="reference"),
        document("b", text + "甲乙丙", role="reference"),
        document("c", text + "丁戊己"),
        document("d", text, role="reference"),
    ]
    assert set(pairs(screen(docs, ScreeningConfig(), facts=False))) == {(0, 2), (1, 2), (2, 3)}


def test_strata_have_their_own_thresholds() -> None:
    a, b = prose(1, 60) + prose(2, 20), prose(1, 60) + prose(3, 20)
    docs = [
        document("a", a, metadata={"language": "en"}),
        document("b", b, metadata={"language": "en"}),
    ]
    config = ScreeningConfig.from_dict(
        {
            "channels": ["minhash"],
            "threshold": 0.9,
            "strata": [{"field": "language", "value": "en", "threshold": 0.5}],
        }
    )
    assert set(pairs(screen(docs, config, facts=False))) == {(0, 1)}
    others = [document("a", a), document("b", b)]
    assert pairs(screen(others, config, facts=False)) == {}


def test_documents_are_named_in_code_point_order() -> None:
    text = prose(1, 60)
    docs = [document("乙", text), document("Z", text), document("a", text)]
    found = screen(docs, ScreeningConfig(), facts=False).candidates
    assert {(docs[c.left].doc_id, docs[c.right].doc_id) for c in found} == {
        ("Z", "a"),
        ("Z", "乙"),
        ("a", "乙"),
    }
    assert documents([text])[0].doc_id == "d000"
