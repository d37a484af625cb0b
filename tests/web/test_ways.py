"""The page of the ways of finding and the page of a run's repeated passages."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from screening import checking, importing, runs
from screening.config import ScreeningConfig
from screening.models import ScreeningRun
from screening.selfcheck import Answer, run_selfcheck
from tests.runs import making
from tests.screening.making import prose
from tests.web.site import Site


def test_the_ways_stand_side_by_side_and_drift_is_named(site: Site) -> None:
    client = site.client(site.admin)
    address = reverse("screening:ways")
    assert "selfcheck" in client.get(address).content.decode()
    found = [("library/copy", "library/original")]
    way = {"exact": lambda documents: Answer(tuple(found), {})}
    checking.write(checking.ACCEPTED, list(run_selfcheck(way)))
    checking.write(checking.LAST, list(run_selfcheck(way)))
    page = client.get(address).content.decode()
    assert "1 / 7" in page
    assert "结果与采纳的记录一致" in page
    found.clear()
    checking.write(checking.LAST, list(run_selfcheck(way)))
    page = client.get(address).content.decode()
    assert "整篇转贴 原为 1，现为 0" in page


@pytest.fixture
def run(site: Site, tmp_path: Path) -> ScreeningRun:
    core = prose(1, 130)
    rows = [
        {"doc_id": "a", "raw": prose(2, 40) + core, "title": "<b>甲</b>"},
        {"doc_id": "b", "raw": core + prose(3, 40)},
        {"doc_id": "c", "raw": prose(4, 200)},
    ]
    collection = importing.get_or_create_collection(slug="passages")
    importing.import_path(path=making.folder(tmp_path / "in", rows), collection=collection)
    return runs.start_run(collection=collection, config=ScreeningConfig(), inline=True)


def test_a_run_lists_its_repeated_passages_with_their_places(
    site: Site, run: ScreeningRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = site.client(site.auditor)
    address = reverse("screening:run-fragments", args=[run.pk])
    page = client.get(address).content.decode()
    assert "130 字，2 份材料，2 处" in page
    assert "40–170" in page
    assert "<b>甲</b>" not in page
    assert "130 字" not in client.get(address, {"least": "131"}).content.decode()
    for junk in ("", "-5", "9" * 50, "x", "٣٠"):
        assert client.get(address, {"least": junk}).status_code == 200
    monkeypatch.setattr("screening.views.ways.MOST_CHARACTERS", 100)
    assert "fragments" in client.get(address).content.decode()
    (runs.run_folder(run) / "inputs.jsonl").unlink()
    assert client.get(address).status_code == 200
