"""Runs of subjects against references, meaning and seen-before as channels of a run."""

from __future__ import annotations

import json

import pytest

from screening.artefacts import write_run
from screening.config import DEFAULT_CHANNELS, KNOWN_CHANNELS, ConfigError, ScreeningConfig
from screening.meaning import MeaningError
from screening.pipeline import screen
from tests.screening.making import document, pairs, prose, run
from tests.screening.test_semantic import VECTORS


def mixed() -> list:
    base = prose(1, 300)
    return [
        document("a", base),
        document("b", base + prose(2, 20)),
        document("c", base, role="reference", collection="reference"),
        document("d", base[:280] + prose(3, 30), role="reference", collection="reference"),
        document("e", prose(4, 300), role="reference", collection="reference"),
    ]


def named(documents: list, **settings: object) -> set[str]:
    result = screen(documents, ScreeningConfig.from_dict(settings), facts=False, threads=1)
    return {
        "".join(sorted(documents[c.left].doc_id + documents[c.right].doc_id))
        for c in result.candidates
    }


def test_references_never_pair_among_themselves():
    assert named(mixed()) == {"ab", "ac", "ad", "bc", "bd"}


def test_across_only_leaves_pairs_of_one_subject_and_one_reference():
    assert named(mixed(), across_only=True) == {"ac", "ad", "bc", "bd"}
    assert named(mixed(), across_only=True, exhaustive=True) == {"ac", "ad", "ae", "bc", "bd", "be"}
    # exactly the pairs across that the whole run has, whatever the channel
    whole = named(mixed(), channels=["exact", "minhash", "passages", "templates", "lines"])
    across = named(
        mixed(), across_only=True, channels=["exact", "minhash", "passages", "templates", "lines"]
    )
    assert across == {pair for pair in whole if len(set(pair) & set("ab")) == 1}


def test_without_references_across_only_finds_nothing():
    assert (
        named([document("a", prose(1, 90)), document("b", prose(1, 90))], across_only=True) == set()
    )


@pytest.fixture
def words(tmp_path) -> str:
    path = tmp_path / "words.vec"
    path.write_text(VECTORS, "utf-8")
    return str(path)


def test_a_pair_of_meaning_alone_comes_last_and_is_no_copy(words, tmp_path):
    texts = [
        "图书馆，开放",
        "书屋营业",
        prose(1, 90),
        prose(1, 90) + "甲",
        prose(2, 40) + prose(1, 34),
    ]
    result = run(texts, channels=[*DEFAULT_CHANNELS, "semantic"], semantic_model=words)
    found = list(result.candidates)
    assert (found[-1].left, found[-1].right, found[-1].channels) == (0, 1, ("semantic",))
    assert found[-1].suggestion == "undecided"
    assert [c.channels for c in found[:-1] if c.channels == ("semantic",)] == []
    assert result.manifest["semantic"]["model"].startswith("sha256 ")
    assert result.manifest["semantic"]["threshold"] == 0.95
    write_run(tmp_path, result, result.documents)
    lines = (tmp_path / "candidates.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[-1])["channels"] == ["semantic"]


def test_meaning_adds_and_takes_nothing_away(words):
    texts = [prose(n // 2, 90) + "图书馆开放"[: n % 3] for n in range(6)]
    usual = pairs(run(texts))
    more = pairs(run(texts, channels=[*DEFAULT_CHANNELS, "semantic"], semantic_model=words))
    assert set(usual) <= set(more)
    assert [c.jaccard for p, c in sorted(more.items()) if p in usual] == [
        c.jaccard for _, c in sorted(usual.items())
    ]


def test_a_missing_model_is_said_before_anything_is_written():
    with pytest.raises(MeaningError):
        run([prose(1, 50)], channels=["semantic"], semantic_model="no-such-model")


def test_seen_before_counts_in_the_funnel_and_makes_no_pair():
    texts = [prose(1, 60), prose(1, 60), prose(2, 60)]
    result = run(texts, channels=["bloom"])
    assert len(result.candidates) == 0
    counts = result.funnel["channels"]["bloom"]
    assert (counts["seen_texts"], counts["texts"], counts["candidates"]) == (1, 3, 0)
    assert "bloom" not in result.funnel["by_channel"]


def test_none_of_them_is_on_unless_it_is_asked_for():
    assert {"semantic", "bloom"} <= set(KNOWN_CHANNELS) - set(ScreeningConfig().channels)
    assert set(run([prose(1, 60), prose(1, 60)]).funnel["channels"]) == set(DEFAULT_CHANNELS)


@pytest.mark.parametrize(
    "settings", [{"semantic_threshold": 1.5}, {"bloom_error": 0.0}, {"bloom_hashes": 0}]
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ConfigError):
        ScreeningConfig.from_dict(settings)
