"""The template library: what is proposed, what of a text it covers, what it must never cover, and what a run does with it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.library import MOST_SHARE, Entry, Library, LibraryError, shared_stretches, without
from screening.pipeline import screen
from screening.proposing import propose
from screening.result import ScreeningResult
from tests.screening.making import document, prose

HEAD = "根据本馆图书借阅管理办法的规定现将逾期未还图书的读者名单公布如下请于"
TAIL = "前携带借书证到总服务台办理归还手续逾期的按规定停止其借阅权限"


def form(date: str, tail: str = TAIL) -> str:
    return f"{HEAD}{date}{tail}"


def notice(n: int) -> str:
    return f"{prose(n, 150)}。\n{form(f'2026年{n % 12 + 1}月{n % 28 + 1}日')}。\n{prose(n + 500, 120)}。"


def notices(count: int) -> list[InputDocument]:
    return [document(f"n{n:02d}", notice(n), source_id=f"s{n % 2}") for n in range(count)]


ENTRY = Entry((HEAD, TAIL), ("date",))


def greyed(library: Library, raw: str) -> str:
    return "".join(raw[a:b] for p in library.passages(raw) for a, b in p.fixed)


def test_a_form_is_proposed_once_with_its_date_as_a_slot() -> None:
    texts = [*notices(6), document("other", prose(99, 400))]
    found = propose(texts)
    assert [one.entry for one in found.rows] == [ENTRY]
    row = found.rows[0]
    assert (row.documents, row.sources, row.level, found.looked_at) == (6, 2, "slots", 7)
    for example in row.examples:
        raw = texts[example.document].raw
        start, end = example.passage.start, example.passage.end
        assert raw[start:end].startswith(HEAD)
        assert raw[start:end].endswith(TAIL)
        assert [raw[a:b] for a, b in example.passage.fixed] == [HEAD, TAIL]


def test_proposals_do_not_depend_on_the_order_of_the_texts() -> None:
    texts = notices(8)
    shuffled = texts.copy()
    random.Random(4).shuffle(shuffled)

    def said(docs: list[InputDocument]) -> list[tuple[object, ...]]:
        return [
            (p.entry, p.documents, [(docs[x.document].doc_id, x.passage) for x in p.examples])
            for p in propose(docs).rows
        ]

    assert said(texts) == said(shuffled)


def test_what_stands_in_few_texts_or_few_sources_is_not_proposed() -> None:
    assert propose(notices(3)).rows == ()
    assert propose(notices(6), texts=7).rows == ()
    assert propose(notices(6), sources=3).rows == ()


def test_versions_of_one_text_make_no_template() -> None:
    base = prose(1, 600)
    versions = [
        document(f"v{n}", base[: 100 * n] + prose(n, 12) + base[100 * n :]) for n in range(6)
    ]
    assert propose(versions).rows == ()


def test_a_sample_is_the_same_whatever_the_order_and_is_counted_as_one() -> None:
    texts = notices(12)
    size = 6 * len(texts[0].raw) + 50
    one, other = propose(texts, sample=size), propose(texts[::-1], sample=size)
    assert one.looked_at == other.looked_at == 6
    assert [p.entry for p in one.rows] == [p.entry for p in other.rows] == [ENTRY]
    assert one.rows[0].documents == 6


def test_levels_say_how_alike_the_places_are() -> None:
    clause = "未经编者书面同意任何单位和个人不得以任何方式翻印这份书目的全部或者部分内容"
    same = [document(f"a{n}", f"{prose(n, 200)}。{clause}。{prose(n + 50, 90)}") for n in range(4)]
    other = [
        document(f"a{n}", d.raw.replace("同意任何", "同意，任何")) for n, d in enumerate(same) if n
    ]
    assert [p.level for p in propose(same).rows] == ["exact"]
    assert [p.level for p in propose([same[0], *other]).rows] == ["plain"]


def test_places_and_numbers_are_slots() -> None:
    towns = ["杭州市", "南京市", "武汉市", "成都市", "西安市"]
    texts = [
        document(
            f"p{n}",
            f"{prose(n, 200)}。各读者服务点的开放时间由所在地图书馆自行确定并报送{town}文化主管部门登记备案，"
            f"每年接待读者人次不少于{n * 731 + 1200}人次的可以申请增加经费。{prose(n + 70, 80)}",
        )
        for n, town in enumerate(towns)
    ]
    found = propose(texts)
    assert [one.entry.slots for one in found.rows] == [("place", "number")]
    library = Library(tuple(one.entry for one in found.rows))
    for n, (text, town) in enumerate(zip(texts, towns, strict=True)):
        grey = greyed(library, text.raw)
        assert town not in grey
        assert str(n * 731 + 1200) not in grey


fillings = st.text(alphabet="甲乙丙丁戊己庚辛壬癸0123456789，。（）-% \n", max_size=55)


@given(fillings, fillings, fillings)
@settings(max_examples=150, deadline=None)
def test_what_fills_a_slot_is_never_covered(before: str, inside: str, behind: str) -> None:
    raw = f"{before}{HEAD}{inside}{TAIL}{behind}"
    library = Library((ENTRY,))
    spans = [span for p in library.passages(raw) for span in p.fixed]
    slot = range(len(before) + len(HEAD), len(before) + len(HEAD) + len(inside))
    for start, end in spans:
        assert not any(start <= place < end for place in slot)
        assert start >= len(before)
        assert end <= len(raw) - len(behind)


def test_neighbours_are_one_passage_in_raw_offsets_and_width_and_punctuation_do_not_count() -> None:
    before, behind = f"{prose(1, 40)}。\n\n", f"。{prose(2, 40)}"
    raw = f"{before}{HEAD[:9]}，{HEAD[9:]}　２０２６年３月 {TAIL[:5]}\n{TAIL[5:]}{behind}"
    (passage,) = Library((ENTRY,)).passages(raw)
    assert raw[passage.start : passage.end] == raw[len(before) : -len(behind)]
    assert [raw[a:b] for a, b in passage.fixed] == [
        f"{HEAD[:9]}，{HEAD[9:]}",
        f"{TAIL[:5]}\n{TAIL[5:]}",
    ]


def test_a_varied_fragment_is_recalled_by_what_is_left_of_it() -> None:
    varied = prose(1, 40) + HEAD.replace("逾期未还图书", "超期图书") + "明日" + TAIL + prose(2, 40)
    assert HEAD not in varied
    grey = greyed(Library((ENTRY,)), varied)
    assert "超期" not in grey
    assert len(grey) >= 0.6 * ENTRY.fixed
    assert greyed(Library((ENTRY,)), HEAD[:20] + prose(3, 200)) == ""
    assert greyed(Library((ENTRY,)), HEAD + prose(3, 200) + TAIL) == ""


def test_a_text_of_forms_only_is_not_swallowed() -> None:
    library = Library((ENTRY,))
    assert library.passages(form("明日")) == []
    raw = form("明日") * 3 + prose(5, 60)
    assert 0 < len(greyed(library, raw)) <= MOST_SHARE * len(raw)


def test_wording_that_differs_between_two_texts_is_covered_in_neither() -> None:
    both = Library((Entry((HEAD + TAIL.replace("停止", "恢复"),), ()), ENTRY))
    left = prose(1, 200) + form("3日") + prose(2, 50)
    right = prose(3, 200) + form("5日", TAIL.replace("停止", "恢复")) + prose(4, 50)
    for library, shared in ((Library((ENTRY,)), [HEAD]), (both, [])):
        one, other = shared_stretches(*(library.passages(raw) for raw in (left, right)))
        assert [left[a:b] for a, b in one] == [right[a:b] for a, b in other] == shared


def test_facts_are_cut_out_of_what_is_greyed() -> None:
    assert without([(0, 10), (20, 30)], [(3, 5), (8, 22), (29, 40)]) == [(0, 3), (5, 8), (22, 29)]
    assert without([(0, 10)], []) == [(0, 10)]
    assert without([(0, 10)], [(0, 10), (2, 3)]) == []
    assert without([(5, 9)], [(0, 5), (9, 12), (7, 7)]) == [(5, 9)]


def test_entries_too_short_to_be_looked_up_are_refused() -> None:
    with pytest.raises(LibraryError):
        Entry(("太短",), ())
    with pytest.raises(LibraryError):
        Entry((HEAD, TAIL), ())
    with pytest.raises(LibraryError):
        Entry((HEAD, TAIL), ("weather",))  # type: ignore[arg-type]
    assert Entry.from_dict(ENTRY.to_dict()) == ENTRY


def test_the_version_of_a_library_goes_by_entries_and_weights_not_by_order() -> None:
    other = Entry((TAIL + HEAD,), ())
    one, two = Library((ENTRY, other), (5, 7)), Library((other, ENTRY), (7, 5))
    assert one.digest == two.digest == Library.from_dict(one.to_dict()).digest
    assert one.digest != Library((ENTRY, other), (5, 8)).digest
    assert one.digest != Library((ENTRY,), (5,)).digest


def ran(docs: list[InputDocument], library: Library | None) -> ScreeningResult:
    return screen(docs, ScreeningConfig(), facts=False, threads=1, library=library)


def ranks(result: ScreeningResult, docs: list[InputDocument]) -> dict[tuple[str, str], int]:
    return {(docs[c.left].doc_id, docs[c.right].doc_id): c.rank for c in result.candidates}


def test_a_confirmed_form_weighs_nothing_in_the_ranks_and_no_pair_is_lost() -> None:
    quoted = prose(700, 40)
    docs = [
        document("a", prose(1, 60) + form("3日") + prose(2, 60)),
        document("b", prose(3, 60) + form("5日") + prose(4, 60)),
        document("c", prose(5, 240) + quoted),
        document("d", quoted + prose(6, 260)),
    ]
    before, after = ran(docs, None), ran(docs, Library((ENTRY,)))
    assert ranks(before, docs) == {("a", "b"): 1, ("c", "d"): 2}
    assert ranks(after, docs) == {("c", "d"): 1, ("a", "b"): 2}
    assert "template_library" not in before.manifest
    recorded = after.manifest["template_library"]
    assert recorded == {
        "digest": Library((ENTRY,)).digest,
        "entries": 1,
        "texts": 2,
        "characters": 2 * ENTRY.fixed,
    }
    assert ran(docs, Library(())).manifest == before.manifest


def test_copies_keep_their_rank_whatever_form_is_in_them() -> None:
    body = prose(1, 150) + form("3日") + prose(2, 150)
    docs = [
        document("a", body),
        document("b", body[:-1] + "终"),
        document("c", prose(8, 150) + form("9日") + prose(9, 150)),
    ]
    for library in (None, Library((ENTRY,))):
        assert ranks(ran(docs, library), docs)["a", "b"] == 1
