"""A maker that dies leaves nothing half-done, and its table is finished by another with the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from reviews.models import ReviewTable
from reviews.tables import exporting, packing, run_table, sweep, verify_table, zip_stream
from tests.tables import making

KILLED = """
import os, signal, sys, django
django.setup()
from reviews.tables import bundle, exporting, harvest, packing
from reviews.tables.workbook import Workbook
from reviews.tables.writers import JsonLines
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
where = sys.argv[2]
if where == "reading":
    harvest._Writer._sign_offs = die
elif where == "workbook":
    Workbook.close = die
elif where == "sealing":
    bundle._seal = die
elif where == "packing":
    def some(folder):
        yield 1, b"PK"
        die()
    packing.pieces = some
else:
    exporting._finish = die
exporting.run_table(int(sys.argv[1]))
"""


def killed(table: ReviewTable, where: str, data_dir: Path) -> None:
    """Make ``table`` in a process that dies at ``where``."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
        "DEDUPREVIEW_DATA_DIR": str(data_dir),
        "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
    }
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(table.pk), where],
        env=environment,
        cwd=Path(exporting.__file__).parents[2],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    table.refresh_from_db()
    assert table.state == ReviewTable.State.RUNNING


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("where", ["reading", "workbook", "sealing", "packing", "telling"])
@pytest.mark.django_db(transaction=True)
def test_a_table_is_taken_over_wherever_its_maker_died(data_dir: Path, where: str) -> None:
    made = making.finished(6)
    table = ReviewTable.objects.create(round=made.round, number=1)
    killed(table, where, data_dir)
    place = data_dir / "tables"
    work = place / f".{table.pk}-work"
    kept = contents(work) if where in ("workbook", "sealing") else {}
    moment = None
    if kept:
        note = json.loads((place / f".{table.pk}-work.json").read_bytes())
        moment = note["made_at"]
        assert set(note["files"]) <= set(kept)
    # Work goes on between the two: it belongs to the next table, unless nothing had been read yet.
    made.round.guidelines.create(number=2, text="新规则", html="<p>新规则</p>")
    run_table(table.pk)
    table.refresh_from_db()
    assert table.state == ReviewTable.State.DONE, table.error
    folder = exporting.table_folder(table)
    found = verify_table(folder)
    assert found.ok, found.lines()
    after = contents(folder)
    assert ("新规则".encode() in after["guideline.md"]) is (where == "reading")
    if moment:
        assert all(after[name] == kept[name] for name in note["files"])
        assert found.manifest["created_at"][:26] == moment[:26]
    names = {path.name for path in place.iterdir()}
    assert names == {str(table.pk), f"{table.pk}.zip", f".{table.pk}.lock"}
    assert packing.packed(folder).read_bytes() == b"".join(zip_stream(table))


@pytest.mark.django_db(transaction=True)
def test_two_that_take_over_the_same_work_make_the_same_bytes(
    data_dir: Path, tmp_path: Path
) -> None:
    made = making.finished(6)
    table = ReviewTable.objects.create(round=made.round, number=1)
    killed(table, "workbook", data_dir)
    place = data_dir / "tables"
    shutil.copytree(place, tmp_path / "copy")
    run_table(table.pk)
    first = contents(place / str(table.pk))
    shutil.rmtree(place)
    shutil.copytree(tmp_path / "copy", place)
    ReviewTable.objects.filter(pk=table.pk).update(state=ReviewTable.State.RUNNING)
    run_table(table.pk)
    assert contents(place / str(table.pk)) == first


@pytest.mark.django_db(transaction=True)
def test_work_that_was_damaged_meanwhile_is_done_again(data_dir: Path) -> None:
    made = making.finished(6)
    table = ReviewTable.objects.create(round=made.round, number=1)
    killed(table, "workbook", data_dir)
    file = data_dir / "tables" / f".{table.pk}-work" / "judgments.jsonl"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"copy", b"cope", 1))
    run_table(table.pk)
    table.refresh_from_db()
    folder = exporting.table_folder(table)
    assert (folder / "judgments.jsonl").read_bytes() == before
    assert verify_table(folder).ok


@pytest.mark.django_db(transaction=True)
def test_the_sweep_hands_a_dead_makers_table_to_the_queue(
    data_dir: Path, queue_server: Any, work: Any
) -> None:
    made = making.finished(2)
    table = ReviewTable.objects.create(round=made.round, number=1)
    killed(table, "workbook", data_dir)
    assert sweep() == 1
    assert work()
    table.refresh_from_db()
    assert table.state == ReviewTable.State.DONE, table.error


@pytest.mark.django_db(transaction=True)
def test_the_row_tells_how_many_rows_are_done(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = making.finished(4)
    monkeypatch.setattr("reviews.tables.harvest.STEP", 1)
    monkeypatch.setattr("reviews.tables.exporting.REPORT_SECONDS", 0)
    seen: list[tuple[str, int, int]] = []

    def look(_stage: str, _done: int, _total: int) -> None:
        row = ReviewTable.objects.get()
        assert row.state == ReviewTable.State.RUNNING
        seen.append((row.stage, row.progress_done, row.progress_total))

    table = ReviewTable.objects.create(round=made.round, number=1)
    run_table(table.pk, progress=look)
    assert [one for one in seen if one[0] == "pairs"] == [("pairs", n, 4) for n in range(1, 5)]
    assert ("workbook", 4, 4) in seen
    table.refresh_from_db()
    assert table.stage == ""
