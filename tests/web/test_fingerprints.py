"""Starting a run with further ways of finding, and what the page of a candidate says of fingerprints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.urls import reverse
from rapidfuzz.distance import Indel

from screening import importing, runs
from screening.config import DEFAULT_CHANNELS, ScreeningConfig
from screening.models import Candidate, Collection, ScreeningRun
from tests.screening.test_simhash import story
from tests.web.site import Site


@pytest.mark.parametrize(
    ("preset", "usual"), [("default", DEFAULT_CHANNELS), ("seed64", ("exact", "minhash"))]
)
def test_other_ways_come_beside_those_of_the_preset(
    site: Site, preset: str, usual: tuple[str, ...]
) -> None:
    client = site.client(site.admin)
    address = reverse("screening:start-run", args=[site.collection.slug])
    page = client.get(address).content.decode()
    for name in ("simhash", "lines"):
        assert f'<input type="checkbox" name="also" value="{name}">' in page
    client.post(address, {"preset": preset, "also": ["lines", "simhash"]})
    run = ScreeningRun.objects.latest("pk")
    assert run.config["channels"] == [*usual, "simhash", "lines"]
    client.post(address, {"preset": preset})
    assert ScreeningRun.objects.latest("pk").config["channels"] == list(usual)
    again = client.post(address, {"preset": "none", "also": ["lines"]}).content.decode()
    assert '<input type="checkbox" name="also" value="lines" checked>' in again


def test_a_candidate_shows_bits_ratio_words_and_windows(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    inner = story(6, 1000)[:2000]
    text = story(7, 1500)[:3000] + inner + story(8, 900)
    edited = inner.replace("河道", "水渠", 1)
    for name, raw in (("a", text), ("b", inner), ("c", edited)):
        (folder / f"{name}.txt").write_text(raw, encoding="utf-8")
    collection = Collection.objects.create(slug="prints", name="指纹")
    importing.import_path(path=folder, collection=collection)
    config = ScreeningConfig(channels=(*DEFAULT_CHANNELS, "simhash"))
    run = runs.start_run(collection=collection, config=config, inline=True)
    client = site.client(site.admin)

    def page_of(left: str, right: str) -> tuple[Candidate, str]:
        found = next(
            c for c in run.candidates.all() if {c.pair.low.raw, c.pair.high.raw} == {left, right}
        )
        address = reverse("screening:candidate-detail", args=[found.pk])
        return found, client.get(address).content.decode()

    near, page = page_of(inner, edited)
    assert near.fingerprints is not None
    assert near.fingerprints["ratio"] == Indel.normalized_similarity(inner, edited)
    assert f"{near.simhash_distance} <small>/ 64</small>" in page
    assert "正文精确相似比" in page
    record = json.loads((runs.run_folder(run) / "run.json").read_text("utf-8"))
    stated = {entry["simhash"] for entry in record["inputs"]}
    shown = {value for value in stated if f'<code class="digest">{value}</code>' in page}
    assert len(shown) == len({entry["simhash"] for entry in record["inputs"][1:]})
    assert "权重最大的词" in page
    assert "最接近的窗口" not in page
    embedded, page = page_of(text, inner)
    assert embedded.fingerprints is not None
    assert embedded.fingerprints["window_distance"] == 0
    assert "最接近的窗口" in page


def test_without_fingerprints_the_page_says_nothing_of_them(site: Site) -> None:
    candidate = site.run.candidates.first()
    assert candidate is not None
    client = site.client(site.admin)
    page = client.get(reverse("screening:candidate-detail", args=[candidate.pk])).content.decode()
    assert "/ 64" not in page
    assert "权重最大的词" not in page
