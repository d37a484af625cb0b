"""SimHash and repeated lines within a whole run: what candidates, lines and the record say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rapidfuzz.distance import Indel

from screening.artefacts import run_json, write_run
from screening.config import CHANNELS, DEFAULT_CHANNELS, ScreeningConfig
from screening.lines import CandidateLines, candidate_line
from screening.pipeline import screen
from screening.result import ScreeningResult
from screening.text.normalise import normalise
from tests.screening.making import document, documents, pairs, prose, run
from tests.screening.test_simhash import story

FOOTER = "联系地址河边路十二号联系电话请见主页办公时间每周一至周五"


def lines_of(result: ScreeningResult) -> list[dict[str, object]]:
    return [json.loads(line) for line in CandidateLines(result).of(0, len(result.table))]


def test_by_default_neither_channel_runs() -> None:
    assert ScreeningConfig().channels == DEFAULT_CHANNELS
    assert set(CHANNELS) - set(DEFAULT_CHANNELS) == {"simhash", "lines"}
    text = story(1, 600)
    result = run([text, text.replace("河道", "水渠", 2), text])
    assert {name for c in result.candidates for name in c.channels} <= set(DEFAULT_CHANNELS)
    for line in lines_of(result):
        assert line["simhash_distance"] is None
        assert "simhash_ratio" not in line
    record = json.loads(run_json(result))
    assert not {"simhash", "repeated_lines"} & set(record)
    assert all("simhash" not in entry for entry in record["inputs"])


def test_a_candidate_bears_distance_and_exact_ratio() -> None:
    text = story(1, 600)
    edited = text.replace("河道", "水渠", 2)
    result = run([text, prose(9, 900), edited], channels=["simhash"])
    (candidate,) = result.candidates
    assert candidate.channels == ("simhash",)
    values = [int(x["simhash"], 16) for x in json.loads(run_json(result))["inputs"]]
    assert candidate.simhash_distance == (values[0] ^ values[2]).bit_count()
    assert candidate.fingerprints is not None
    assert candidate.fingerprints.ratio == Indel.normalized_similarity(text, edited)
    (line,) = lines_of(result)
    assert line["simhash_distance"] == candidate.simhash_distance
    assert line["simhash_ratio"] == candidate.fingerprints.ratio
    assert line["channels"] == ["simhash"]
    one = candidate_line(candidate, result.documents[0], result.documents[2])
    assert json.loads(one) == line


def test_pairs_of_other_channels_bear_them_too_and_short_texts_bear_none() -> None:
    text, short = story(1, 600), prose(4, 120)
    half = text[:700] + prose(7, 700)
    texts = [text, half, short, short[:-1] + "雪", text]
    result = run(texts, channels=[*DEFAULT_CHANNELS, "simhash"])
    found = pairs(result)
    assert "simhash" not in found[0, 1].channels
    assert found[0, 1].simhash_distance is not None
    assert found[0, 1].simhash_distance > 3
    assert found[2, 3].simhash_distance is None
    assert (found[0, 4].simhash_distance, found[0, 4].channels[-1]) == (0, "simhash")
    equal = found[0, 4].fingerprints
    assert equal is not None
    assert equal.ratio == 1.0


def test_no_distance_stands_without_a_ratio() -> None:
    texts = [story(n % 6, 420 + 60 * n) for n in range(14)] + [prose(1, 90)] * 2
    result = run(texts, channels=list(CHANNELS))
    lines = lines_of(result)
    assert len(lines) > 5
    for line in lines:
        assert (line["simhash_distance"] is None) == ("simhash_ratio" not in line)


def test_windows_are_told_in_raw_places() -> None:
    inner = story(6, 1000)[:2000]
    head, tail = story(7, 1500)[:3000], story(8, 1500)[:3000]
    raw = "　".join((head, inner, tail)).replace("清淤", "【清淤】")
    short = "（" + inner + "）"
    for texts, mine in (([short, raw], 0), ([raw, short], 1)):
        (candidate,) = run(texts, channels=["simhash"]).candidates
        found = candidate.fingerprints
        assert found is not None
        assert found.window is not None
        spans = found.window[:2], found.window[2:]
        assert spans[mine] == (1, 1 + len(inner))
        start, end = spans[1 - mine]
        assert normalise(raw[start:end]).text == inner
        assert (found.window_distance, found.window_ratio) == (0, 1.0)


def test_repeated_lines_stand_in_the_record_and_rare_ones_make_pairs() -> None:
    shared = "本次清淤工程分为三段施工先行完成上游段后再开展其余两段"
    texts = [f"{prose(n, 80)}\n{FOOTER}" for n in range(9)]
    texts[2] += "\n" + shared
    texts[7] += "\n" + shared
    result = run(texts, channels=["lines"])
    assert list(pairs(result)) == [(2, 7)]
    assert pairs(result)[2, 7].channels == ("lines",)
    record = json.loads(run_json(result))
    assert record["repeated_lines"]["lines"] == [
        {"source": "", "text": FOOTER, "characters": len(FOOTER), "times": 9, "documents": 9}
    ]
    assert record["repeated_lines"]["times"] == 6
    assert record["funnel"]["channels"]["lines"]["repeated_lines"] == 1
    assert record["funnel"]["by_channel"] == {"lines": 1}


def test_the_files_do_not_depend_on_order_or_threads(tmp_path: Path) -> None:
    texts = [story(n % 5, 1000) + prose(n, 30 + n) for n in range(12)]
    texts.append(story(6, 1200)[:2000] + texts[0] + story(8, 900))
    config = ScreeningConfig(channels=CHANNELS)
    inputs = documents(texts)
    written = []
    for n, (some, threads) in enumerate(((inputs, 1), (inputs[::-1], 3))):
        write_run(tmp_path / str(n), screen(some, config, threads=threads), some)
        files = sorted((tmp_path / str(n)).iterdir())
        written.append({f.name: f.read_bytes() for f in files})
    assert b"simhash_window" in written[0]["candidates.jsonl"]
    assert written[0] == written[1]


def test_other_pairs_stay_as_they_are_when_the_channels_are_on() -> None:
    texts = [story(n % 5, 500) + prose(n, 40) for n in range(14)]
    usual = pairs(run(texts))
    more = pairs(run(texts, channels=list(CHANNELS)))
    assert set(usual) <= set(more)
    for key, candidate in usual.items():
        assert more[key].jaccard == candidate.jaccard
        assert more[key].excerpts == candidate.excerpts
        assert set(candidate.channels) <= set(more[key].channels)


def test_references_do_not_pair_among_themselves() -> None:
    text = story(2, 600)
    inputs = [
        document("a", text, role="reference"),
        document("b", text.replace("河道", "水渠", 1), role="reference"),
        document("c", text.replace("河道", "水渠", 2)),
    ]
    found = pairs(screen(inputs, ScreeningConfig(channels=("simhash", "lines")), threads=1))
    assert sorted(found) == [(0, 2), (1, 2)]


@pytest.mark.parametrize("texts", [[], ["。"], ["", "——"], ["单"]])
def test_nothing_to_compare(texts: list[str]) -> None:
    assert len(run(texts, channels=["simhash", "lines"]).candidates) == 0
