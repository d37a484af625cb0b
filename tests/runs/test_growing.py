"""The web's runs over a growing collection: only what is new is computed, and the files are those of a fresh run."""

from __future__ import annotations

from pathlib import Path

import pytest

from screening import importing, kernels
from screening.artefacts import FILES
from screening.config import ScreeningConfig
from screening.runs import run_folder, start_run
from tests.screening.making import prose

pytestmark = pytest.mark.django_db(transaction=True)


def fill(folder: Path, numbers: range) -> None:
    folder.mkdir(exist_ok=True)
    for n in numbers:
        (folder / f"{n:03d}.txt").write_text(prose(n // 2, 300) + prose(700 + n, 30), "utf-8")


def test_a_second_run_signs_only_the_new_texts_and_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed: list[int] = []
    plain = kernels.sign

    def counted(keys, bounds, entries, *rest):
        lo, hi = rest[2], rest[3]
        signed.append(hi - lo)
        return plain(keys, bounds, entries, *rest)

    monkeypatch.setattr(kernels, "sign", counted)
    fill(tmp_path / "texts", range(40))
    collection = importing.get_or_create_collection(slug="grown")
    other = importing.get_or_create_collection(slug="fresh")
    importing.import_path(path=tmp_path / "texts", collection=collection)
    start_run(collection=collection, config=ScreeningConfig(), inline=True)
    assert sum(signed) == 40
    fill(tmp_path / "texts", range(40, 43))
    importing.import_path(path=tmp_path / "texts", collection=collection)
    importing.import_path(path=tmp_path / "texts", collection=other)
    signed.clear()
    grown = start_run(collection=collection, config=ScreeningConfig(), inline=True)
    assert sum(signed) == 3
    fresh = start_run(collection=other, config=ScreeningConfig(), inline=True)
    assert sum(signed) == 46
    assert fresh.candidate_count == grown.candidate_count == 21
    for name in FILES:
        assert (run_folder(grown) / name).read_bytes() == (run_folder(fresh) / name).read_bytes()
