"""A run over a grown collection takes over what earlier runs kept, and finds exactly what a fresh run finds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from screening import growing
from screening import store as stores
from screening.artefacts import FILES, write_run
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.pipeline import screen
from screening.result import ScreeningResult
from screening.store import Store
from tests.screening.making import document, prose


def texts(count: int, seed: int) -> list[InputDocument]:
    """Copies, revisions, empty and short texts, texts that folding changes, in an order of ids that is not their age."""
    rng = random.Random(seed)
    made: list[str] = []
    for n in range(count):
        kind = rng.randrange(8)
        if kind == 0 and made:
            made.append(rng.choice(made))
        elif kind == 1 and made:
            base = rng.choice(made)
            cut = rng.randrange(len(base) + 1)
            made.append(base[:cut] + prose(900 + n, 9) + base[cut:])
        elif kind == 2:
            made.append(rng.choice(["", "。！", "短", "補助", "补助"]))
        elif kind == 3 and made:
            made.append(" ".join(rng.choice(made)))
        else:
            made.append(rng.choice(["", "資金補助", "资金补助"]) + prose(n % 17, rng.randrange(30, 400)))
    ids = list(range(count))
    rng.shuffle(ids)
    return [document(f"d{i:04d}", text) for i, text in zip(ids, made, strict=True)]


def files(folder: Path, result: ScreeningResult, docs: Sequence[InputDocument]) -> dict[str, bytes]:
    write_run(folder, result, docs)
    return {name: (folder / name).read_bytes() for name in FILES}


CONFIGS = [
    ScreeningConfig(),
    ScreeningConfig(exact_below=0, fold_script=False, channels=("exact", "minhash")),
    ScreeningConfig(exact_below=0, dynamic_k=((60, 2), (200, 3), (0, 5)), threshold=0.3),
    ScreeningConfig(k=5, keep="signs"),
]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_growth_gives_the_bytes_of_a_fresh_run(
    tmp_path: Path, config: ScreeningConfig, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "PARTS", 3)
    rng = random.Random(seed)
    docs = texts(110, seed)
    store = Store(tmp_path / "store")
    size = 50
    for step in range(6):
        some = docs[:size] if step % 4 else rng.sample(docs, size)
        kept = screen(some, config, cache=store)
        fresh = screen(some, config)
        assert files(tmp_path / "kept", kept, some) == files(tmp_path / "fresh", fresh, some)
        assert kept.matcher.signed <= fresh.matcher.signed
        size = min(len(docs), size + rng.randrange(1, 20))


def test_a_grown_collection_computes_only_what_is_new(tmp_path: Path) -> None:
    docs = [document(f"d{n:03d}", prose(n // 2, 300) + prose(500 + n, 20)) for n in range(100)]
    config, store = ScreeningConfig(exact_below=0), Store(tmp_path)
    first = screen(docs[:98], config, cache=store)
    assert first.matcher.signed == 98
    grown = screen(docs, config, cache=store)
    assert grown.matcher.signed == 2
    assert int(grown.matcher.spaces[0].is_filled.sum()) == 2  # the new pair; old ones keep their scores
    assert len(grown.candidates) == 50
    again = screen(docs, config, cache=store)
    assert again.matcher.signed == 0
    assert not again.matcher.spaces[0].is_filled.any()


def test_other_rules_take_nothing_over(tmp_path: Path) -> None:
    docs, store = texts(40, 4), Store(tmp_path)
    screen(docs, ScreeningConfig(), cache=store)
    other = screen(docs, ScreeningConfig(seed=2), cache=store)
    assert other.matcher.signed == len(other.matcher.text_of)
    for k in (4, 5, 6, 7):
        screen(docs, ScreeningConfig(k=k), cache=store)
    assert len(list(tmp_path.iterdir())) == stores.RULES


def test_damage_costs_time_and_is_mended(tmp_path: Path) -> None:
    docs, store, config = texts(80, 5), Store(tmp_path / "store"), ScreeningConfig(exact_below=0)
    screen(docs[:60], config, cache=store)
    fresh = files(tmp_path / "fresh", screen(docs, config), docs)
    (part,) = store.folder.rglob("*.part")
    whole = part.read_bytes()
    for damaged in (b"", whole[:200], whole[: len(whole) // 2], whole[:-70] + bytes([whole[-70] ^ 1]) + whole[-69:]):
        part.write_bytes(damaged)
        result = screen(docs, config, cache=store)
        assert result.matcher.signed == len(result.matcher.text_of)
        assert files(tmp_path / "kept", result, docs) == fresh
        assert screen(docs, config, cache=store).matcher.signed == 0
        part = next(store.folder.rglob("*.part"))
        whole = part.read_bytes()


def test_two_runs_at_once_keep_the_part_of_one(tmp_path: Path) -> None:
    docs, store, config = texts(80, 6), Store(tmp_path), ScreeningConfig(exact_below=0)
    screen(docs[:40], config, cache=store)
    generation, parts = store.load(config.fingerprint)
    screen(docs[:60], config, cache=store)
    assert not store.add(config.fingerprint, generation, len(parts), parts[0])
    assert screen(docs[:60], config, cache=store).matcher.signed == 0


def test_words_and_strata_are_computed_anew(tmp_path: Path) -> None:
    docs, store = texts(30, 7), Store(tmp_path)
    for config in (
        ScreeningConfig(unit="word", k=1),
        ScreeningConfig.from_dict(
            {"strata": [{"field": "language", "value": "en", "keep": "signs"}]}
        ),
    ):
        screen(docs, config, cache=store)
        assert not list(tmp_path.iterdir())
