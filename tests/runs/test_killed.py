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

SETUP = """
import sys, time
from datetime import timedelta
import django; django.setup()
from screening import importing, leases, publishing, runs
from screening.config import ScreeningConfig
from screening.models import ScreeningRun
leases.LEASE, leases.BEAT, publishing.CHUNK = timedelta(seconds=2), 0.2, 5

def start():
    collection = importing.get_or_create_collection(slug="k")
    return runs.start_run(collection=collection, config=ScreeningConfig())

def show(run):
    run.refresh_from_db()
    print(run.state, run.attempt, run.candidate_count, runs.run_folder(run))

def rows(run):
    for row in run.candidates.select_related("pair__low__collection", "pair__high__collection"):
        print(row.rank, row.pair.left.doc_id, row.pair.right.doc_id, row.jaccard, row.excerpts, row.fact_changes)
"""

WHOLE = (
    SETUP
    + """
run = start()
runs.execute(run.pk)
show(run)
rows(run)
"""
)

HALTING = (
    SETUP
    + """
progress = leases.Hold.progress

def halting(self, done, total, stage=None):
    progress(self, done, total, stage)
    if stage == sys.argv[1] and (stage != "publish" or done >= 5):
        print("halted", flush=True)
        time.sleep(300)

leases.Hold.progress = halting
run = start()
runs.execute(run.pk)
"""
)

FOLLOWING = (
    SETUP
    + """
run = ScreeningRun.objects.latest("pk")
show(run)
time.sleep(2.2)
runs.sweep()
show(run)
runs.execute(run.pk)
show(run)
rows(run)
"""
)


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

    def kill_at(self, stage: str) -> None:
        worker = subprocess.Popen(
            [sys.executable, "-c", HALTING, stage],
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


@pytest.mark.slow
def test_a_run_killed_anywhere_ends_like_one_that_was_not(short_dir: Path, tmp_path: Path) -> None:
    installation = Installation(short_dir)
    source = making.folder(tmp_path / "in", making.rows(12))
    installation.run("manage.py", "import_documents", str(source), "--collection", "k", "--quiet")
    first, *expected = installation.run("-c", WHOLE).splitlines()
    state, attempt, count, folder = first.split()
    assert (state, attempt) == ("done", "1")
    assert int(count) == len(expected) > 5

    for stage in ("measure", "publish"):
        installation.kill_at(stage)
        dead, waiting, done, *found = installation.run("-c", FOLLOWING).splitlines()
        assert dead.split()[:3] == ["running", "1", "None"]
        assert waiting.split()[0] == "queued"
        assert done.split()[:3] == ["done", "2", count]
        assert found == expected
        for name in ("candidates.jsonl", "run.json", "originals.csv", "normalized.jsonl"):
            again = Path(done.split()[3], name)
            assert again.read_bytes() == Path(folder, name).read_bytes()
