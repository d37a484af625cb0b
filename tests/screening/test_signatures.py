"""Shingles and signatures against datasketch and plain sets."""

from __future__ import annotations

import random

import numpy as np
import pytest
from datasketch import MinHash, MinHashLSH

from screening.channels import minhash, split
from screening.config import BANDINGS, ConfigError, ScreeningConfig
from screening.text.normalise import code_points
from screening.text.shingles import permutations, shingle, shingle_hash, shingle_set, sign
from tests.screening.making import brute_jaccard, pairs, prose, run


def packed(texts: list[str], k: int):  # type: ignore[no-untyped-def]
    points = code_points("".join(texts))
    bounds = np.concatenate(([0], np.cumsum([len(t) for t in texts]))).astype(np.int64)
    return shingle(points, bounds, k, packed=k <= 3)


def reference(text: str, k: int, num_perm: int, seed: int) -> MinHash:
    sketch = MinHash(num_perm=num_perm, seed=seed, scheme="affine32", hashfunc=shingle_hash)
    sketch.update_batch(sorted(shingle_set(text, k)))
    return sketch


@pytest.mark.parametrize(
    ("k", "num_perm", "seed"), [(3, 64, 1), (3, 128, 7), (5, 128, 1), (7, 96, 3), (1, 32, 1)]
)
def test_signatures_are_bit_for_bit_those_of_datasketch(k: int, num_perm: int, seed: int) -> None:
    texts = [prose(s, n) for s, n in ((1, 5), (2, 40), (3, 700), (4, 2), (5, 0))] + [
        "𠮷野家🙂ab" * 9
    ]
    rows = sign(packed(texts, k), num_perm, seed, threads=2)
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(row, reference(text, k, num_perm, seed).hashvalues)


@pytest.mark.parametrize(("num_perm", "seed"), [(1, 0), (64, 1), (128, 1), (96, 4294967295)])
def test_permutations_are_those_of_datasketch(num_perm: int, seed: int) -> None:
    a, b = MinHash(num_perm=num_perm, seed=seed, scheme="affine32").permutations
    ours = permutations(num_perm, seed)
    assert np.array_equal(ours[0], a)
    assert np.array_equal(ours[1], b)


def test_recorded_bandings_are_those_of_datasketch() -> None:
    for (threshold, num_perm, weights), banding in BANDINGS.items():
        lsh = MinHashLSH(threshold=threshold, num_perm=num_perm, weights=weights)
        assert (lsh.b, lsh.r) == banding


def test_the_band_join_finds_the_pairs_of_minhash_lsh() -> None:
    rng = random.Random(5)
    texts = []
    for s in range(60):
        base = prose(s, 300)
        texts.append(base)
        cut = rng.randrange(20, 280)
        texts.append(base[:cut] + prose(1000 + s, rng.randrange(5, 200)) + base[cut:])
    bands, width = ScreeningConfig().banding
    rows = sign(packed(texts, 3), 128, 1, threads=1)
    empty = np.zeros(len(texts), dtype=bool)
    low, high = split(minhash.banded(rows, empty, bands=bands, width=width, cap=500).pairs)
    index = MinHashLSH(num_perm=128, params=(bands, width))
    sketches = [reference(text, 3, 128, 1) for text in texts]
    expected = set()
    for number, sketch in enumerate(sketches):
        expected |= {(other, number) for other in index.query(sketch)}
        index.insert(number, sketch)
    assert set(zip(low.tolist(), high.tolist(), strict=True)) == expected
    assert expected


def test_default_bands_are_those_of_datasketch() -> None:
    assert ScreeningConfig().banding == (30, 4)
    assert ScreeningConfig.preset("seed64").banding == (16, 4)
    assert ScreeningConfig(threshold=1.0).banding == (1, 128)
    assert ScreeningConfig(threshold=0.99).banding[0] >= 1


def test_the_s_curve() -> None:
    found = [
        minhash.candidate_probability(0.8, b, r) for b, r in ((9, 13), (8, 16), (16, 8), (32, 4))
    ]
    assert [round(p, 4) for p in found] == [0.3988, 0.2042, 0.947, 1.0]


def test_permutations_that_the_rows_do_not_divide_are_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="cannot be divided"):
        ScreeningConfig(num_perm=128, bands=18, rows=7)
    with pytest.raises(ConfigError, match="need 160 permutations"):
        ScreeningConfig(num_perm=128, bands=40, rows=4)


def test_two_shingles_with_one_32_bit_hash_are_not_the_same() -> None:
    seen: dict[int, str] = {}
    rng = random.Random(1)
    while True:
        text = "".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(3))
        other = seen.setdefault(shingle_hash(text), text)
        if other != text:
            break
    result = run([other, text], channels=["exact", "minhash"], threshold=0.1)
    assert pairs(result) == {}
    both = result.matcher.score(np.array([0]), np.array([1]))
    assert both.estimate[0] == 1.0
    assert both.jaccard[0] == 0.0


@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_exact_scores_are_those_of_sets(k: int) -> None:
    texts = [
        prose(1, 200),
        prose(1, 150) + prose(2, 60),
        "哈" * 30,
        "哈哈哈" + prose(1, 90),
        prose(9, k),
    ]
    found = pairs(run(texts, k=k, exhaustive=True))
    assert len(found) == 10
    for (a, b), candidate in found.items():
        assert candidate.jaccard == brute_jaccard(texts[a], texts[b], k)


def test_jaccard_at_the_threshold_counts_and_just_below_does_not() -> None:
    texts = ["子丑寅卯辰巳午", "子丑寅卯辰巳", "甲乙丙丁戊己庚辛壬癸", "甲乙丙丁戊己庚辛壬子"]
    assert set(pairs(run(texts, threshold=0.8))) == {(0, 1)}
    assert set(pairs(run(texts, threshold=7 / 9))) == {(0, 1), (2, 3)}


def test_a_small_collection_misses_nothing_at_any_threshold() -> None:
    texts = [prose(s, 80)[: 80 - 4 * s] + prose(99, 4 * s) for s in range(1, 18)]
    for threshold in (0.1, 0.3, 0.45, 0.6, 0.9):
        found = set(pairs(run(texts, channels=["exact", "minhash"], threshold=threshold)))
        expected = {
            (a, b)
            for a in range(len(texts))
            for b in range(a + 1, len(texts))
            if brute_jaccard(texts[a], texts[b], 3) >= threshold
        }
        assert found == expected


def test_short_and_empty_texts() -> None:
    texts = ["收到", "同意", "收到。", "", "——", "👍👍", "已阅"]
    for k in (3, 5, 7):
        result = run(texts, k=k)
        assert set(pairs(result)) == {(0, 2)}
        assert result.candidates[0].jaccard == 1.0
        assert result.left_out[0].problem.params["count"] == 3
        assert [key[1] for key in result.left_out[0].documents] == ["d003", "d004", "d005"]


def test_threshold_one_finds_equal_sets_only() -> None:
    texts = ["下午开会", "下午开会", "下午开会了", "哈哈哈哈哈", "哈哈哈哈"]
    assert set(pairs(run(texts, threshold=1.0))) == {(0, 1), (3, 4)}


def test_dynamic_k_compares_at_the_smaller_k() -> None:
    long, short = prose(3, 400), prose(3, 150)
    found = pairs(run([long, long[:-5], short], dynamic_k=[[200, 3], [0, 5]], exhaustive=True))
    assert found[0, 1].jaccard == brute_jaccard(long, long[:-5], 5)
    assert found[0, 2].jaccard == brute_jaccard(long, short, 3)
    assert all(len(s) == 3 for s in found[0, 2].shared_shingles)


def test_words_can_be_the_unit_and_stop_words_keep_negations() -> None:
    from screening.text.words import STOP_WORDS, tokens_of

    assert not set(STOP_WORDS) & set(
        "不 未 无 非 不得 禁止 应当 可以 必须 不能 没有 莫 勿 严禁 允许".split()
    )
    assert tokens_of("本股份不得转让", ("不", "不得", "得", "本")) == ["股份", "转让"]
    found = pairs(
        run(
            ["商铺可以转让给他人", "商铺不得转让给他人"],
            unit="word",
            k=1,
            stop_words="default",
            threshold=0.4,
        )
    )
    assert found[0, 1].jaccard < 1.0


def test_a_changed_rule_changes_the_fingerprint() -> None:
    base = ScreeningConfig()
    assert base.fingerprint == ScreeningConfig(threshold=0.7, passage_length=40).fingerprint
    others = [
        ScreeningConfig(k=5),
        ScreeningConfig(seed=2),
        ScreeningConfig(num_perm=64),
        ScreeningConfig(keep="signs"),
        ScreeningConfig(fold_script=False),
        ScreeningConfig(dynamic_k=((100, 3), (0, 5))),
        ScreeningConfig(unit="word"),
    ]
    assert len({c.fingerprint for c in [base, *others]}) == len(others) + 1


def test_settings_survive_the_way_through_json() -> None:
    config = ScreeningConfig.from_dict(
        {
            "preset": "seed64",
            "threshold": 0.6,
            "strata": [{"field": "language", "value": "en", "threshold": 0.8}],
        }
    )
    assert ScreeningConfig.from_dict(config.to_dict()) == config
    with pytest.raises(ConfigError, match="Unknown setting"):
        ScreeningConfig.from_dict({"treshold": 0.5})
