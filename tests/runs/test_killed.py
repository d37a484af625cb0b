"""A worker process that is killed with -9 in mid-run, and the one that follows it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.runs import making

START = """
import django; django.setup()
from screening import importing, runs
from screening.config import ScreeningConfig
run = runs.start_run(collection=importing.get_or_create_collection(slug="k"), config=ScreeningConfig())
print(run.pk, flush=True)
"""

EXECUTE = """
import sys, time
from datetime import timedelta
import django; django.setup()
from screening import leases, publishing, runs
leases.LEASE, leases.BEAT, publishing.CHUNK = timedelta(seconds=2), 0.2, 5
progress = leases.Hold.progress

def halting(self, done, total, stage=None):
    progress(self, done, total, stage)
    if stage == sys.argv[2] and (stage != "publish" or done >= 5):
        print("halted", flush=True)
        time.sleep(300)

leases.Hold.progress = halting
runs.execute(int(sys.argv[1]))
"""

PRINT = """
import django; django.setup()
from screening import runs
from screening.models import ScreeningRun
run = ScreeningRun.objects.get(pk=int(__import__("sys").argv[1]))
print(run.state, run.attempt, run.candidate_count, run.candidates.count(), runs.run_folder(run))
for row in run.candidates.select_related("pair__low__collection", "pair__high__collection"):
    print(row.rank, row.pair.left.doc_id, row.pair.right.doc_id, row.jaccard, row.excerpts, row.fact_changes)
"""

SWEEP = """
import django; django.setup()
from screening import runs
runs.sweep()
"""


class Installation:
    """A data directory of its own, used only by processes."""

    def __init__(self, data_dir: Path) -> None:
        kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
        self.environment = {
            **kept,
            "DEDUPREVIEW_DATA_DIR": str(data_dir),
            "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
            "PYTHONPATH": str(ROOT),
        }

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            env=self.environment,
            cwd=ROOT,
            timeout=120,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def script(self, text: str, *arguments: str) -> str:
        return self.run("-c", text, *arguments)

    def kill_at(self, run: str, stage: str) -> None:
        worker = subprocess.Popen(
            [sys.executable, "-c", EXECUTE, run, stage],
            env=self.environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert worker.stdout is not None
        try:
            assert worker.stdout.readline() == "halted\n"
        finally:
            worker.send_signal(signal.SIGKILL)
            worker.wait(10)
            worker.stdout.close()


@pytest.fixture
def installation(short_dir: Path, tmp_path: Path) -> Installation:
    made = Installation(short_dir)
    source = making.folder(tmp_path / "in", making.rows(12))
    made.run("manage.py", "import_documents", str(source), "--collection", "k", "--quiet")
    return made


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["measure", "write", "publish"])
def test_a_run_killed_anywhere_ends_like_one_that_was_not(
    installation: Installation, stage: str
) -> None:
    whole = installation.script(START).strip()
    installation.script(EXECUTE, whole, "-")
    first, *expected = installation.script(PRINT, whole).splitlines()
    state, attempt, *counts, folder = first.split()
    assert (state, attempt) == ("done", "1")

    run = installation.script(START).strip()
    installation.kill_at(run, stage)
    state, attempt, count, *_ = installation.script(PRINT, run).splitlines()[0].split()
    assert (state, attempt, count) == ("running", "1", "None")
    import time

    time.sleep(2.1)
    installation.script(SWEEP)
    assert installation.script(PRINT, run).split()[0] == "queued"
    installation.script(EXECUTE, run, "-")
    first, *found = installation.script(PRINT, run).splitlines()
    assert first.split()[:4] == ["done", "2", *counts]
    assert found == expected
    for name in (
        "candidates.jsonl",
        "run.json",
        "originals.csv",
        "normalized.jsonl",
        "review_table.csv",
    ):
        assert Path(first.split()[4], name).read_bytes() == Path(folder, name).read_bytes()
