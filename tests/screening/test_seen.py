"""Bloom filters keep their stated error and never forget; a filter of seen texts answers, and names nobody."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from datasketch import MinHash, MinHashLSH
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from screening.bloom import BloomFilter, bits_for, keys_of
from screening.channels import bloom
from screening.config import ScreeningConfig
from screening.seen import SeenError, SeenFilter
from screening.text.shingles import shingle_hash, shingle_set
from tests.screening.making import document, documents, prose


def random_keys(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, (count, 2), dtype=np.uint64)


@pytest.mark.parametrize(("error", "hashes"), [(0.001, 10), (0.01, 7), (0.001, 4)])
def test_a_million_keys_keep_the_promise(error, hashes):
    kept = BloomFilter.empty(1_000_000, error, hashes)
    keys = random_keys(1, 1_000_000)
    kept.add(keys)
    assert kept.holds(keys).all()
    wrong = float(kept.holds(random_keys(2, 1_000_000)).mean())
    # four standard deviations of the share among a million new keys
    assert abs(wrong - error) < 4 * (error / 1_000_000) ** 0.5
    assert kept.error_now == pytest.approx(error, rel=0.02)


def test_ten_hashes_at_a_thousandth_cost_fourteen_and_a_half_bits_a_key():
    assert bits_for(1_000_000, 0.001, 10) / 1_000_000 == pytest.approx(14.38, abs=0.01)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=6), max_size=60))
def test_what_was_added_is_known_and_the_first_time_counts_as_new(texts):
    kept = BloomFilter.empty(10_000)
    answers = kept.add(keys_of(texts)).tolist()
    assert answers == [text in texts[:n] for n, text in enumerate(texts)]
    assert kept.count == len(set(texts))
    assert kept.holds(keys_of(texts)).all()


def test_a_filter_answers_for_texts_and_for_paragraphs():
    seen = SeenFilter.empty(capacity=100)
    first, second = prose(1, 60), prose(2, 60)
    list(seen.ask([document("a", first + "\n" + second)], add=True))
    asked = [
        document("same", f"「{first}」\n\n{second}。"),
        document("half", prose(3, 60) + "\n" + second),
        document("new", prose(4, 60)),
        document("empty", "——……"),
        document("short", "甲乙\n" + prose(5, 30)),
    ]
    answers = [(a.seen, a.paragraphs, a.seen_paragraphs) for a in seen.ask(asked, add=False)]
    assert answers == [(True, 2, 2), (False, 2, 1), (False, 1, 0), (None, 0, 0), (False, 1, 0)]


def test_within_one_stream_the_second_copy_is_seen_whatever_the_batches(monkeypatch):
    monkeypatch.setattr("screening.seen.BATCH", 2)
    texts = documents([prose(n % 3, 80) for n in range(7)])
    seen = SeenFilter.empty(capacity=10)
    assert [a.seen for a in seen.ask(texts, add=True)] == [False] * 3 + [True] * 4
    assert [a.seen for a in seen.ask(texts, add=False)] == [True] * 7


def test_like_finds_what_a_minhash_index_finds():
    config = ScreeningConfig(k=3)
    texts = []
    for n in range(40):
        base = prose(n // 2, 300)
        texts.append(base if n % 2 == 0 else base[:120] + prose(900 + n, 6 * (n // 2)) + base[120:])
    seen = SeenFilter.empty(capacity=1000, like=True, config=config)
    answers = [a.like for a in seen.ask(documents(texts), add=True)]
    bands, rows = config.banding
    index = MinHashLSH(num_perm=config.num_perm, params=(bands, rows))
    expected = []
    for n, text in enumerate(texts):
        sketch = MinHash(
            num_perm=config.num_perm, seed=config.seed, scheme="affine32", hashfunc=shingle_hash
        )
        sketch.update_batch(sorted(shingle_set(text, config.k)))
        expected.append(bool(index.query(sketch)))
        index.insert(n, sketch)
    assert 10 < sum(expected) < 30
    assert answers == expected


def test_a_full_filter_refuses_rather_than_break_its_promise():
    seen = SeenFilter.empty(capacity=3)
    list(seen.ask(documents([prose(n, 50) for n in range(3)]), add=True))
    list(seen.ask(documents([prose(0, 50)]), add=True))
    with pytest.raises(SeenError, match="full"):
        list(seen.ask(documents([prose(9, 50)]), add=True))


def test_a_filter_survives_its_file_and_a_damaged_one_is_refused(tmp_path):
    path = tmp_path / "texts.seen"
    seen = SeenFilter.empty(capacity=50, like=True)
    texts = documents([prose(n, 90) for n in range(20)])
    list(seen.ask(texts, add=True))
    seen.save(path)
    again = SeenFilter.load(path)
    assert [(a.seen, a.like) for a in again.ask(texts, add=False)] == [(True, True)] * 20
    assert again.error_now == seen.error_now
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(data)
    with pytest.raises(SeenError, match="damaged"):
        SeenFilter.load(path)
    path.write_bytes(data[:-8])
    with pytest.raises(SeenError, match="damaged"):
        SeenFilter.load(path)
    path.write_bytes(b"something else")
    with pytest.raises(SeenError, match="no filter"):
        SeenFilter.load(path)


def test_the_channel_counts_and_never_pairs():
    text = prose(1, 60)
    given_texts = documents([text, text, text + "\n" + prose(2, 60), prose(3, 60), "。"])
    hits = bloom.find(given_texts, ScreeningConfig())
    assert len(hits.pairs) == 0
    assert dict(hits.counts) == {
        "seen_texts": 1,
        "texts": 4,
        "seen_paragraphs": 2,
        "paragraphs": 5,
        "error_per_million": 1000,
    }


def test_the_command_asks_and_remembers(tmp_path):
    folder, path = tmp_path / "texts", tmp_path / "known.seen"
    folder.mkdir()
    (folder / "a.txt").write_text(prose(1, 80), "utf-8")
    (folder / "b.txt").write_text(prose(2, 80), "utf-8")
    with pytest.raises(CommandError, match="--add"):
        call_command("seen", str(folder), filter=str(path))

    def ask(**options: object) -> tuple[list[dict], str]:
        out, err = StringIO(), StringIO()
        call_command("seen", str(folder), filter=str(path), stdout=out, stderr=err, **options)
        return [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()

    lines, _ = ask(add=True, capacity=10)
    assert [line["seen"] for line in lines] == [False, False]
    (folder / "b.txt").write_text(prose(3, 80), "utf-8")
    lines, said = ask()
    assert [(line["doc_id"], line["seen"]) for line in lines] == [("a.txt", True), ("b.txt", False)]
    assert "0.1 %" in said
    lines, _ = ask()  # asking alone remembers nothing
    assert [line["seen"] for line in lines] == [True, False]
