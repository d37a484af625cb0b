"""Fingerprints against their definition, the join against brute force, and what the channel reports."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import Counter

import jieba
import numpy as np
import pytest
from rapidfuzz.distance import Indel

from screening.channels import simhash, split
from screening.config import ConfigError, ScreeningConfig
from screening.text.corpus import pack
from screening.text.normalise import code_points
from screening.text.splitting import Places, split_texts
from screening.text.words import STOP_WORDS, tokens_of
from tests.screening.making import documents, prose

CONFIG = ScreeningConfig()
WORDS = (
    "河道 清淤 工程 社区 活动 登记 居民 志愿者 树苗 图书馆 阅览 读者 凭证 材料 申请 审核 公示 道路 桥梁 检修 供水 管网 施工 时间 "
    "学校 食堂 采购 价格 检查 记录 安全 培训 演练 消防 设施 维护 公园 绿化 垃圾 分类 宣传 讲座 展览 报名 通知 车辆 停放 秩序"
).split()


def reference(features: dict[str, int]) -> int:
    """The fingerprint as the package ``simhash`` defines it, bit by bit."""
    total = sum(features.values())
    value = 0
    for bit in range(64):
        have = 0
        for word, weight in features.items():
            low = hashlib.md5(word.encode()).digest()[-8:]
            have += weight * (int.from_bytes(low, "big") >> bit & 1)
        value |= (have > total / 2) << bit
    return value


def packed(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    bounds = np.concatenate(([0], np.cumsum([len(t) for t in texts]))).astype(np.int64)
    return code_points("".join(texts)), bounds


def words_of(places: Places) -> list[list[str]]:
    edges = places.bounds.tolist()
    return [
        [places.vocabulary[w] for w in places.words[a:b]]
        for a, b in itertools.pairwise(edges)
    ]


def story(seed: int, words: int) -> str:
    rng = random.Random(seed)
    return "".join(rng.choices(WORDS, [1 / (n + 3) for n in rng.sample(range(48), 48)], k=words))


def found(texts: list[str], **settings: object) -> simhash.Near:
    config = ScreeningConfig.from_dict(settings)
    corpus = pack(
        documents(texts),
        lambda d: config.normalise_options,
        folding=True,
        threads=1,
        tick=lambda a, b: None,
    )
    return simhash.find(corpus, config, 1)


def pairs_of(pairs: np.ndarray) -> list[tuple[int, int]]:
    low, high = split(pairs)
    return list(zip(low.tolist(), high.tolist(), strict=True))


# ---------------------------------------------------------------- words and values


@pytest.mark.parametrize("threads", [1, 3])
def test_words_are_those_of_jieba(threads: int) -> None:
    rng = random.Random(5)
    alphabet = "abz09%-.+#_&é中国人民共和国的是在不了有和人这大为上个龥鿕鿖𠮷ㄅ々"
    texts = ["", "a", "中", "abc中文2024年5x", "++--%5", "１２é中é", story(1, 300)]
    texts += ["".join(rng.choices(alphabet, k=rng.randrange(40))) for _ in range(200)]
    texts.append("")
    assert words_of(split_texts(*packed(texts), threads)) == [
        list(jieba.cut(text, HMM=False)) for text in texts
    ]


def test_words_without_any_text() -> None:
    places = split_texts(*packed(["", ""]), 1)
    assert (places.vocabulary, places.bounds.tolist()) == ([], [0, 0, 0])


@pytest.mark.parametrize("weights", ["frequency", "tfidf"])
def test_values_are_bit_for_bit_those_of_the_definition(weights: simhash.Weights) -> None:
    texts = [story(n, 150 + 40 * n) for n in range(8)]
    near = found(texts, simhash_weights=weights)
    config = ScreeningConfig(simhash_weights=weights)
    for n, text in enumerate(texts):
        counts = Counter(tokens_of(text, STOP_WORDS))
        words = list(counts)
        each = dict(zip(words, simhash.word_weights(words, (), weights).tolist(), strict=True))
        value = reference({w: each[w] * counts[w] for w in words})
        assert near.hex_of(n) == f"{value:016x}"
        assert simhash.describe(text, config).value == f"{value:016x}"


def test_a_known_value() -> None:
    """Computed once with simhash 2.1.2: ``Simhash({"河道": 3, "清淤": 2, "工程": 1})``."""
    assert reference({"河道": 3, "清淤": 2, "工程": 1}) == KNOWN


def test_hashes_of_words_are_the_ends_of_their_md5() -> None:
    rng = random.Random(6)
    words = ["", "河道", "a" * 55, "a" * 56, "a" * 200, "\ud800x", "𠮷"]
    words += ["".join(rng.choices("aé河𠮷9", k=n % 60)) for n in range(400)]
    assert simhash.word_hashes(words).tolist() == [simhash.word_hash(w) for w in words]
    for word in ("河道", "abc", ""):
        low = hashlib.md5(word.encode()).hexdigest()[16:]
        assert f"{simhash.word_hash(word):016x}" == low


KNOWN = 0x180842890a938f61


def test_the_heaviest_words_come_first() -> None:
    text = "清淤" * 90 + "河道" * 120 + "的" * 400 + "工程"
    shown = simhash.describe(text, CONFIG).words
    assert shown == (("河道", 120), ("清淤", 90), ("工程", 1))


def test_a_text_without_words_or_too_short_has_no_fingerprint() -> None:
    near = found(["的" * 600, story(1, 60), "的了着" * 300, story(2, 500)])
    assert [near.hex_of(n) is None for n in range(4)] == [True, True, True, False]
    assert simhash.describe("的" * 600, CONFIG).value is None
    assert len(near.kept) == 0


def test_texts_of_different_words_are_far_apart() -> None:
    near = found([story(1, 600), prose(2, 1500)])
    assert near.present.all()
    assert int(near.values[0] ^ near.values[1]).bit_count() > 6


# ---------------------------------------------------------------- the join


def planted(seed: int, count: int) -> np.ndarray:
    """Fingerprints in families: each with copies that differ in up to eight bits, and some equal."""
    rng = random.Random(seed)
    values: list[int] = []
    while len(values) < count:
        value = rng.getrandbits(64)
        values.append(value)
        for _ in range(rng.randrange(5)):
            for bit in rng.sample(range(64), rng.randrange(9)):
                value ^= 1 << bit
            values.append(value)
    return np.array(values[:count], dtype=np.uint64)


def brute(values: np.ndarray, distance: int) -> list[tuple[int, int]]:
    rows = values.tolist()
    return [
        (a, b)
        for a in range(len(rows))
        for b in range(a + 1, len(rows))
        if (rows[a] ^ rows[b]).bit_count() <= distance
    ]


@pytest.mark.parametrize("distance", [3, 4, 5, 6])
def test_the_join_finds_what_brute_force_finds(distance: int) -> None:
    values = planted(distance, 900)
    expected = brute(values, distance)
    assert len(expected) > 200
    assert pairs_of(simhash.near_pairs(values, distance)) == expected
    for matched in (0, 1, 2, 3, 4):
        shape = (distance + matched, matched) if matched else (1, 0)
        assert pairs_of(simhash.near_pairs(values, distance, shape)) == expected


@pytest.mark.parametrize("distance", [3, 4, 5, 6])
def test_bits_that_differ_in_every_block_but_one(distance: int) -> None:
    edges = [64 * b // (distance + 1) for b in range(distance + 1)]
    for spared in range(distance + 1):
        bits = sum(1 << at for b, at in enumerate(edges) if b != spared)
        values = np.array([0, bits, bits | 1 << (edges[spared] + 1)], dtype=np.uint64)
        shape = (distance + 1, 1)
        assert (0, 1) in pairs_of(simhash.near_pairs(values, distance, shape))
        assert (0, 2) not in pairs_of(simhash.near_pairs(values, distance, shape))


def test_a_join_with_too_few_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="miss pairs"):
        simhash.near_pairs(np.zeros(2, dtype=np.uint64), 3, (3, 1))


def test_many_fingerprints_take_more_blocks() -> None:
    assert simhash.plan(100, 3) == (1, 0)
    blocks, matched = simhash.plan(10_000_000, 6)
    assert matched > 1
    assert blocks - matched == 6


def test_equal_fingerprints_above_the_cap_form_a_star() -> None:
    values = np.array([7] * 6 + [6], dtype=np.uint64)
    pairs, large = simhash.near_groups(values, 3, 4)
    assert pairs_of(pairs)[:5] == [(0, n) for n in range(1, 6)]
    assert [(n, 6) for n in range(6)] == [p for p in pairs_of(pairs) if p[1] == 6]
    assert large == 1
    assert len(simhash.near_groups(values, 3, 10)[0]) == 21


# ---------------------------------------------------------------- ratios


def test_ratios_are_to_the_bit_those_of_rapidfuzz() -> None:
    rng = random.Random(8)
    texts = ["", "甲", "甲" * 64, "甲" * 65, "甲乙" * 200, prose(1, 129), story(2, 400), "𠮷a" * 70]
    for _ in range(60):
        letters = "甲乙丙丁戊己庚辛"[: rng.randrange(1, 9)]
        texts.append("".join(rng.choices(letters, k=rng.randrange(300))))
        copied = list(texts[rng.randrange(len(texts))])
        for _ in range(len(copied) // 20):
            copied[rng.randrange(len(copied))] = rng.choice("子丑寅卯")
        texts.append("".join(copied))
    points, bounds = packed(texts)
    low, high = (x.astype(np.int64) for x in np.triu_indices(len(texts)))
    for threads in (1, 3):
        result = simhash._ratios(
            points, bounds[low], bounds[low + 1], bounds[high], bounds[high + 1], threads
        )
        assert result.tolist() == [
            Indel.normalized_similarity(texts[a], texts[b])
            for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]


# ---------------------------------------------------------------- limits and reports


def test_limits_go_by_length() -> None:
    lengths = np.array([100, 499, 500, 2000, 9_999, 10_000, 50_000])
    candidate, report = simhash.limits(lengths, CONFIG)
    assert candidate.tolist() == [-1, -1, 3, 3, 3, 5, 5]
    assert report.tolist() == [-1, -1, 2, 2, 2, 3, 3]
    candidate, report = simhash.limits(lengths, ScreeningConfig(simhash_distance=6))
    assert candidate.tolist() == report.tolist() == [-1, -1, 6, 6, 6, 6, 6]


@pytest.mark.parametrize(
    "wrong", [{"simhash_distance": 2}, {"simhash_distance": 7}, {"simhash_weights": "bm25"}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        ScreeningConfig.from_dict(wrong)


def test_an_edited_copy_is_reported_with_its_exact_ratio() -> None:
    text = story(3, 700)
    edited = text.replace("河道", "水渠", 3)
    near = found([text, story(4, 700), edited])
    assert pairs_of(near.kept) == [(0, 2)]
    corpus = pack(
        documents([text, story(4, 700), edited]),
        lambda d: CONFIG.normalise_options,
        folding=True,
        threads=1,
        tick=lambda a, b: None,
    )
    low, high = np.array([0, 0]), np.array([2, 1])
    near.compare(corpus, low, high, 1)
    assert near.distance.tolist() == [
        int(near.values[0] ^ near.values[2]).bit_count(),
        int(near.values[0] ^ near.values[1]).bit_count(),
    ]
    assert near.ratio.tolist() == [
        Indel.normalized_similarity(text, edited),
        Indel.normalized_similarity(text, story(4, 700)),
    ]


def test_the_same_words_in_another_order_are_a_candidate_and_no_report() -> None:
    """A fingerprint does not see order: the texts themselves decide."""
    words = random.Random(1).choices(WORDS, k=1200)
    shuffled = random.Random(2).sample(words, len(words))
    near = found(["".join(words), "".join(shuffled)])
    assert pairs_of(near.hits.pairs) == [(0, 1)]
    assert near.hits.counts["near_texts"] == 1
    assert len(near.kept) == 0


def test_short_texts_propose_nothing() -> None:
    text = story(5, 120)
    assert 200 <= len(text) < 500
    near = found([text, text + "的"])
    assert near.present.all()
    assert len(near.hits.pairs) == 0


def test_a_text_embedded_in_a_long_one_is_found_by_its_window() -> None:
    inner = story(6, 1000)[:2000]
    outer = story(7, 1500)[:3000] + inner + story(8, 1500)[:3000]
    near = found([inner, outer])
    assert int(near.values[0] ^ near.values[1]).bit_count() > 3
    assert pairs_of(near.kept) == pairs_of(near.window_pairs) == [(0, 1)]
    assert near.windows.tolist() == [[0, 2000, 3000, 5000, 0, 1000]]


def test_traditional_and_simplified_characters_have_one_fingerprint() -> None:
    text = story(9, 500)
    other = text.replace("图书馆", "圖書館").replace("时间", "時間").replace("道路", "道路")
    assert other != text
    near = found([text, other])
    assert near.values[0] == near.values[1]
    assert pairs_of(near.kept) == [(0, 1)]
