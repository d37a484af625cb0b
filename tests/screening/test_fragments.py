"""Every repeat of a set of texts, against a finder that tries every string; and the report of them."""

from __future__ import annotations

import csv
import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from screening.fragments import FragmentsError, find_fragments, text_of
from screening.repeats import find_repeats
from tests.screening.making import document, documents, prose

Places = dict[str, list[tuple[int, int]]]


def arrays(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    points = np.array([ord(c) for text in texts for c in text], dtype=np.uint32)
    bounds = np.concatenate(([0], np.cumsum([len(text) for text in texts]))).astype(np.int64)
    return points, bounds


def found(texts: list[str], least: int, *, merged: bool) -> Places:
    points, bounds = arrays(texts)
    repeats = find_repeats(points, bounds, least, merged=merged)
    whole = "".join(texts)
    result: Places = {}
    for r in range(len(repeats)):
        at = repeats.places[repeats.bounds[r] : repeats.bounds[r + 1]].tolist()
        string = whole[at[0] : at[0] + int(repeats.lengths[r])]
        texts_of = [int(np.searchsorted(bounds, p, side="right")) - 1 for p in at]
        result[string] = [(t, p - int(bounds[t])) for t, p in zip(texts_of, at, strict=True)]
        assert repeats.texts[r] == len(set(texts_of))
    return result


def tried(texts: list[str], least: int, *, merged: bool) -> Places:
    """The definition, string by string."""
    everywhere: Places = {}
    for t, text in enumerate(texts):
        for i in range(len(text)):
            for j in range(i + least, len(text) + 1):
                everywhere.setdefault(text[i:j], []).append((t, i))

    def before(t: int, i: int) -> object:
        return texts[t][i - 1] if i else t

    def behind(t: int, i: int) -> object:
        return texts[t][i] if i < len(texts[t]) else t

    maximal = {
        string: places
        for string, places in everywhere.items()
        if len(places) > 1
        and len({before(t, i) for t, i in places}) > 1
        and len({behind(t, i + len(string)) for t, i in places}) > 1
    }
    if not merged:
        return maximal

    def covered(string: str, t: int, i: int) -> bool:
        return any(
            len(longer) > len(string) and t == u and j <= i and j + len(longer) >= i + len(string)
            for longer, places in maximal.items()
            for u, j in places
        )

    def spoken_for(string: str, places: list[tuple[int, int]]) -> bool:
        return all(covered(string, t, i) for t, i in places) and any(
            string != longer and string in longer and {t for t, _ in at} == {t for t, _ in places}
            for longer, at in maximal.items()
        )

    return {s: p for s, p in maximal.items() if not spoken_for(s, p)}


few_letters = st.lists(st.text("ab", max_size=14), max_size=4)
more_letters = st.lists(st.text("甲乙丙", max_size=16), max_size=5)


@settings(max_examples=150, deadline=None)
@given(few_letters | more_letters, st.integers(1, 4), st.booleans())
def test_repeats_are_those_that_trying_every_string_gives(texts, least, merged):
    assert found(texts, least, merged=merged) == tried(texts, least, merged=merged)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("甲乙", max_size=20), min_size=1, max_size=4), st.integers(1, 5))
def test_every_place_that_repeats_lies_in_a_listed_fragment(texts, least):
    fragments = find_fragments(documents(texts), least=least)
    listed = {(p.document, i) for f in fragments for p in f.places for i in range(p.start, p.end)}
    whole = [text[i : i + least] for text in texts for i in range(len(text) - least + 1)]
    repeated = {
        (d, i + n)
        for d, text in enumerate(texts)
        for i in range(len(text) - least + 1)
        if whole.count(text[i : i + least]) > 1
        for n in range(least)
    }
    assert listed == repeated


def test_a_repeat_in_more_documents_than_what_is_around_it_is_listed_beside_it():
    core, frame = prose(1, 120), prose(2, 60)
    texts = [
        frame + core + "甲" + prose(3, 50),
        frame + core + "乙" + prose(4, 50),
        prose(5, 50) + core,
    ]
    fragments = find_fragments(documents(texts))
    assert [(f.length, f.documents) for f in fragments] == [(180, 2), (120, 3)]
    assert [(p.document, p.start, p.end) for p in fragments[1].places] == [
        (0, 60, 180),
        (1, 60, 180),
        (2, 50, 170),
    ]


def test_no_fragment_crosses_from_one_document_into_the_next():
    left, right = prose(1, 80), prose(2, 80)
    # the end of the first and the beginning of the second are, in this order, the third
    assert (
        find_fragments(documents([prose(3, 40) + left, right + prose(4, 40), left + right])) == []
    )


def test_places_are_raw_and_take_what_normalising_drops():
    text = prose(1, 120)
    spaced = "㎡：" + "，".join(text[i : i + 10] for i in range(0, 120, 10)) + "。"
    (fragment,) = find_fragments(documents([text, spaced]))
    first, second = fragment.places
    assert (first.start, first.end) == (0, 120)
    assert spaced[second.start : second.end].replace("，", "") == text
    assert second.start == 2  # ㎡ is two normalised characters and one raw one
    assert text_of(documents([text, spaced]), fragment) == text


def test_equal_texts_are_one_fragment_of_all_their_documents():
    text = prose(1, 150)
    fragments = find_fragments(documents([text, text + "。", prose(2, 150), text]))
    assert [(f.length, [p.document for p in f.places]) for f in fragments] == [(150, [0, 1, 3])]


def test_one_character_repeated_many_times_ends_and_is_one_fragment():
    (fragment,) = find_fragments(documents(["啊" * 5000]))
    assert (fragment.length, fragment.documents, len(fragment.places)) == (4999, 1, 2)


def test_a_length_below_one_is_refused():
    with pytest.raises(FragmentsError):
        find_fragments(documents(["甲"]), least=0)


def test_the_order_of_the_documents_changes_nothing():
    core = prose(1, 130)
    given_texts = [document(f"d{n}", prose(n, 40) + core) for n in range(2, 6)]
    there = find_fragments(given_texts)
    back = find_fragments(given_texts[::-1])
    assert [(p.start, p.end) for f in there for p in f.places] == [
        (p.start, p.end) for f in back for p in f.places
    ]
    assert [given_texts[p.document].doc_id for p in there[0].places] == [
        given_texts[::-1][p.document].doc_id for p in back[0].places
    ]


def test_the_command_writes_fragments_for_programs_and_for_people(tmp_path):
    folder, out = tmp_path / "texts", tmp_path / "out"
    folder.mkdir()
    core = prose(1, 110)
    (folder / "a.txt").write_text("=" + core + prose(2, 30), "utf-8")
    (folder / "b.txt").write_text(prose(3, 30) + core, "utf-8")
    (folder / "c.txt").write_text(prose(4, 130), "utf-8")
    said = StringIO()
    call_command("fragments", str(folder), out=str(out), stdout=said)
    (line,) = [json.loads(x) for x in (out / "fragments.jsonl").read_text("utf-8").splitlines()]
    assert line["length"] == 110
    assert line["documents"] == 2
    assert line["text"] == core
    assert line["places"] == [
        {"doc_id": "a.txt", "start": 1, "end": 111},
        {"doc_id": "b.txt", "start": 30, "end": 140},
    ]
    rows = list(csv.reader((out / "fragments.csv").open(encoding="utf-8", newline="")))
    assert [row[4:8] for row in rows[1:]] == [["a.txt", "", "1", "111"], ["b.txt", "", "30", "140"]]
    call_command("fragments", str(folder), out=str(out), only=["a.txt", "c.txt"], stdout=StringIO())
    assert (out / "fragments.jsonl").read_text("utf-8") == ""
    with pytest.raises(CommandError, match="zz"):
        call_command("fragments", str(folder), out=str(out), only=["zz"], stdout=StringIO())


def test_the_public_cases_of_fragments_have_their_raw_places(shared):
    lines = (shared / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    checked = 0
    for case in (c for c in map(json.loads, lines) if c["area"] == "fragment"):
        given, expected = case["input"], case["expected"]
        texts = documents([given["A"], given["B"]])
        least = given.get("min_fragment", 10)
        across = [f for f in find_fragments(texts, least=least) if f.documents == 2]
        spans = [
            [[p.start, p.end] for p in f.places if p.document == d]
            for f in across[:1]
            for d in (0, 1)
        ]
        if "raw_span_A" in expected:
            assert spans == [[expected["raw_span_A"]], [expected["raw_span_B"]]], case["id"]
            checked += 1
        if "longest_shared_normalised" in expected:
            assert across[0].length == expected["longest_shared_normalised"], case["id"]
        if "longest_common_substring" in expected:
            start, end = (
                expected["start_A"],
                expected["start_A"] + expected["longest_common_substring"],
            )
            # signs that begin the common string belong to no normalised passage
            text = given["A"][start:end]
            place = across[0].places[0]
            assert given["A"][place.start : place.end] == text.lstrip("，。；")
            checked += 1
    assert checked >= 3
