"""Runs against a reference collection: pairs across, a leak report beside the files, the same from the command."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from screening import importing, leaks, runs
from screening.config import ScreeningConfig
from screening.forms import RunForm
from screening.models import Collection
from tests.runs import making
from tests.screening.making import prose

pytestmark = pytest.mark.usefixtures("data_dir")

ITEMS = [prose(n, 90) for n in range(4)]
NEW = [
    prose(11, 200) + ITEMS[0] + prose(12, 100),
    prose(13, 200) + ITEMS[1][:45] + "\n— 7 —\n" + ITEMS[1][45:],
    prose(14, 200) + ITEMS[2][:40],
    prose(14, 200) + prose(15, 40),
]


def rows(texts: list[str]) -> list[dict[str, str]]:
    return [{"doc_id": f"{n}.txt", "raw": text} for n, text in enumerate(texts)]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return making.folder(tmp_path / "new", rows(NEW)), making.folder(tmp_path / "set", rows(ITEMS))


@pytest.fixture(params=[("a-new", "z-set"), ("z-new", "a-set")], ids=["first", "last"])
def both(
    request: pytest.FixtureRequest, db: None, folders: tuple[Path, Path]
) -> tuple[Collection, Collection]:
    """The two collections, in either order of their names: left and right follow the names."""
    made = [importing.get_or_create_collection(slug=slug) for slug in request.param]
    for collection, folder in zip(made, folders, strict=True):
        importing.import_path(path=folder, collection=collection)
    return made[0], made[1]


def verdicts(folder: Path) -> dict[str, tuple[str, str]]:
    with (folder / "leaks.csv").open(encoding="utf-8", newline="") as file:
        return {row["item"]: (row["verdict"], row["document"]) for row in csv.DictReader(file)}


EXPECTED = {
    "0.txt": ("whole", "0.txt"),
    "1.txt": ("whole", "1.txt"),
    "2.txt": ("part", "2.txt"),
    "3.txt": ("none", ""),
}


def test_a_run_against_a_collection_pairs_across_and_reports_every_item(
    both: tuple[Collection, Collection],
) -> None:
    new, items = both
    config = ScreeningConfig(across_only=True)
    run = runs.start_run(collection=new, reference=items, config=config, inline=True)
    assert (run.state, run.inputs, run.error) == ("done", 4, "")
    assert verdicts(runs.run_folder(run)) == EXPECTED
    found = list(run.candidates.select_related("pair__low__collection", "pair__high__collection"))
    assert len(found) == 3
    for candidate in found:
        left, right = candidate.pair.left, candidate.pair.right
        assert {left.collection, right.collection} == {new, items}
        for a, b, c, d in candidate.excerpts:
            assert left.raw[a:b].strip("，。—\n 7") in right.raw[c:d]
    fresh = runs.start_run(collection=new, reference=items, config=config, inline=True)
    assert fresh.supersedes == run
    for name in (*runs.RUN_FILES, *leaks.FILES):
        files = [(runs.run_folder(r) / name).read_bytes() for r in (run, fresh)]
        assert files[0] == files[1]


def test_a_run_against_a_collection_supersedes_no_usual_run(
    both: tuple[Collection, Collection],
) -> None:
    new, items = both
    usual = runs.start_run(collection=new, config=ScreeningConfig(), inline=True)
    across = runs.start_run(collection=new, reference=items, config=ScreeningConfig(), inline=True)
    again = runs.start_run(collection=new, config=ScreeningConfig(), inline=True)
    assert across.supersedes is None
    assert again.supersedes == usual
    assert not (runs.run_folder(usual) / "leaks.csv").exists()
    # without across_only the pairs within the new texts are there too
    assert across.candidate_count == 3 + (usual.candidate_count or 0)


def test_a_collection_is_no_reference_of_itself(both: tuple[Collection, Collection]) -> None:
    with pytest.raises(runs.RunsError):
        runs.start_run(collection=both[0], reference=both[0], config=ScreeningConfig())
    form = RunForm(collection=both[0])
    assert list(form.fields["reference"].queryset) == [both[1]]  # type: ignore[attr-defined]


def test_the_form_asks_for_pairs_across_unless_told_otherwise(
    both: tuple[Collection, Collection],
) -> None:
    given = {"preset": "default", "reference": both[1].pk}
    form = RunForm(given, collection=both[0])
    assert form.is_valid(), form.errors
    assert form.cleaned_data["config"].across_only
    form = RunForm({**given, "within": "on"}, collection=both[0])
    assert form.is_valid()
    assert not form.cleaned_data["config"].across_only
    form = RunForm({"preset": "default"}, collection=both[0])
    assert form.is_valid()
    assert form.cleaned_data["config"] == ScreeningConfig()


def test_the_command_reports_the_same_from_paths_and_from_collections(
    both: tuple[Collection, Collection], folders: tuple[Path, Path], tmp_path: Path
) -> None:
    new, items = both
    said = StringIO()
    for name, target, reference in (
        ("paths", str(folders[0]), str(folders[1])),
        ("mixed", new.slug, str(folders[1])),
        ("slugs", new.slug, items.slug),
    ):
        call_command("screen", target, reference=reference, out=str(tmp_path / name), stdout=said)
        assert verdicts(tmp_path / name) == EXPECTED
        lines = (tmp_path / name / "candidates.jsonl").read_text("utf-8").splitlines()
        pairs = {frozenset((json.loads(x)["left"], json.loads(x)["right"])) for x in lines}
        assert pairs == {frozenset((f"{n}.txt", f"reference/{n}.txt")) for n in range(3)}
    assert "whole 2, part 1, like 0, none 1" in said.getvalue()
    with pytest.raises(CommandError, match="no-such"):
        call_command("screen", new.slug, reference="no-such", out=str(tmp_path / "x"))
