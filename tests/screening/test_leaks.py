"""Leak reports: which items of a test set stand in new texts, whole, split or in part, and where."""

from __future__ import annotations

import csv
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screening.documents import InputDocument
from screening.leaks import LeaksError, as_references, leak_report, write_leaks
from tests.bench.contamination import plant, report_of
from tests.screening.making import document, prose


def item(doc_id: str, raw: str) -> InputDocument:
    return document(doc_id, raw, role="reference")


def test_a_whole_item_is_found_where_it_stands():
    asked = prose(1, 80)
    texts = [document("new", prose(2, 50) + asked + prose(3, 50)), document("other", prose(4, 200))]
    (report,) = leak_report([*texts, item("q", asked)])
    assert report.verdict == "whole"
    (leak,) = report.leaks
    assert (leak.document, leak.covered, leak.overlap, leak.longest) == (0, 1.0, 1.0, 80)
    assert leak.containment == 1.0
    (span,) = leak.spans
    assert texts[0].raw[span.start : span.end] == asked == texts[0].raw[50:130]


def test_an_item_split_by_a_page_number_is_whole_with_two_places():
    asked = prose(1, 80)
    text = prose(2, 50) + asked[:40] + "\n— 12 —\n" + asked[40:] + prose(3, 50)
    (report,) = leak_report([document("new", text), item("q", asked)])
    assert report.verdict == "whole"
    assert [text[s.start : s.end] for s in report.leaks[0].spans] == [asked[:40], asked[40:]]
    assert report.leaks[0].overlap < 1.0


def test_half_an_item_is_part_and_a_paraphrase_is_none():
    asked = prose(1, 80)
    half, none = leak_report(
        [
            document("new", prose(2, 50) + asked[:40] + "，" + prose(3, 80)),
            item("q", asked),
            item("r", prose(9, 80)),
        ]
    )
    assert (half.verdict, half.leaks[0].covered) == ("part", 0.5)
    assert (none.verdict, none.leaks) == ("none", ())


@pytest.mark.parametrize(("shared", "verdict"), [(14, "none"), (15, "part")])
def test_fifteen_chinese_characters_are_forty_five_bytes(shared, verdict):
    asked = prose(1, 60)
    text = "甲" + asked[20 : 20 + shared] + "乙"
    (report,) = leak_report([document("new", text), item("q", asked)])
    assert report.verdict == verdict


def test_another_length_of_window_may_be_asked_for():
    asked = prose(1, 60)
    text = "甲" + asked[20:28] + "乙"
    assert leak_report([document("new", text), item("q", asked)], gram=24)[0].verdict == "part"
    with pytest.raises(LeaksError):
        leak_report([item("q", asked)], gram=3)


def test_items_too_short_or_empty_are_named_so():
    short, empty = leak_report(
        [document("new", prose(1, 80)), item("q", "甲乙丙"), item("r", "——")]
    )
    assert (short.verdict, empty.verdict) == ("too_short", "empty")


def test_a_pair_that_only_a_channel_found_is_like():
    documents = [document("new", prose(1, 80)), item("q", prose(2, 80))]
    (report,) = leak_report(documents, found={(1, 0): ("minhash",)})
    assert report.verdict == "like"
    assert report.leaks[0].channels == ("minhash",)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.text("甲ab", max_size=40), min_size=1, max_size=3),
    st.lists(st.text("甲ab", max_size=60), min_size=1, max_size=3),
)
def test_covered_and_overlap_are_those_of_the_definition(items, texts):
    gram = 8
    documents = [document(f"t{n}", t) for n, t in enumerate(texts)]
    documents += [item(f"q{n}", t) for n, t in enumerate(items)]
    for report, asked in zip(leak_report(documents, gram=gram), items, strict=True):
        own = asked.encode()
        windows = [own[i : i + gram] for i in range(len(own) - gram + 1)]
        by_text = {leak.document: leak for leak in report.leaks}
        for n, text in enumerate(texts):
            held = [w in text.encode() for w in windows]
            assert (n in by_text) == any(held)
            if n in by_text:
                assert by_text[n].overlap == pytest.approx(sum(held) / len(held))
                spans = by_text[n].spans
                assert all(text[s.start : s.end] == asked[s.item_start : s.item_end] for s in spans)


def test_references_may_have_the_ids_of_subjects(tmp_path):
    asked = prose(1, 80)
    documents = [
        document("a.txt", asked + prose(2, 30)),
        *as_references([document("a.txt", asked, title="=1")]),
    ]
    write_leaks(tmp_path, documents, leak_report(documents))
    (row,) = list(csv.DictReader((tmp_path / "leaks.csv").open(encoding="utf-8", newline="")))
    assert (row["item"], row["document"], row["verdict"]) == ("a.txt", "a.txt", "whole")
    assert row["title"] == "'=1"
    assert row["item_places"] == "0-80"
    assert row["document_places"] == "0-80"


def test_planted_items_are_found_and_what_is_not_is_known():
    planted = plant(random.Random(5), items=24, documents=30)
    outcome = report_of(planted)
    assert outcome.found["whole"] == outcome.planted["whole"] == 8
    assert outcome.found["split"] == outcome.planted["split"] == 8
    assert outcome.found["half"] == outcome.planted["half"] == 8
    assert outcome.misplaced == 0
    assert outcome.false == 0
