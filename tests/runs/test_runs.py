"""Screening runs: the row is the truth, and whoever carries one out gives the same bytes and rows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections, transaction
from django.utils import timezone
from redis import Redis

from screening import importing, leases, publishing, runs
from screening.config import ScreeningConfig
from screening.models import Candidate, Collection, DocumentPair, ScreeningRun
from screening.pipeline import Cancelled
from tests.runs import making

pytestmark = pytest.mark.usefixtures("data_dir")
CONFIG = ScreeningConfig.preset("seed64")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = making.rows(8)
    return making.folder(tmp_path / "in", [*rows, rows[0], {"doc_id": "leer", "raw": " "}])


def library(source: Path) -> Collection:
    collection = importing.get_or_create_collection(slug="runs")
    importing.import_path(path=source, collection=collection)
    return collection


@pytest.fixture
def collection(db: None, source: Path) -> Collection:
    return library(source)


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in runs.RUN_FILES}


def rows_of(run: ScreeningRun) -> list[Any]:
    """Everything a run published, by the names of its documents."""
    fields = (
        "rank",
        "channels",
        "jaccard",
        "containment",
        "excerpts",
        "fact_changes",
        "representative",
        "note",
    )
    return [
        (row.pair.left.doc_id, row.pair.right.doc_id, *(getattr(row, field) for field in fields))
        for row in run.candidates.select_related("pair__low__collection", "pair__high__collection")
    ]


def test_a_run_inline_is_done_with_files_and_rows(collection: Collection) -> None:
    run = runs.start_run(collection=collection, config=CONFIG, inline=True)
    assert (run.state, run.inputs, run.stage, run.error) == ("done", 8, "", "")
    assert run.finished_at is not None
    assert run.candidate_count == len(rows_of(run)) > 0
    first = rows_of(run)[0]
    assert first[:2] == ("D0000", "D0001")
    assert set(files(runs.run_folder(run))) == set(runs.RUN_FILES)


def test_the_run_gives_the_bytes_of_the_command(
    collection: Collection, source: Path, tmp_path: Path
) -> None:
    run = runs.start_run(collection=collection, config=CONFIG)
    runs.execute(run.pk)
    call_command("screen", str(source), "--out", str(tmp_path / "out"), "--preset", "seed64")
    assert files(runs.run_folder(run)) == files(tmp_path / "out")
    originals = (tmp_path / "out" / "originals.csv").read_text("utf-8-sig")
    assert "leer" in originals
    assert "documents.jsonl:9" in originals


def test_a_worker_carries_a_run_out(
    collection: Collection, work: Callable[[], bool], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = runs.start_run(collection=collection, config=CONFIG)
    assert run.state == "queued"
    assert work()
    run.refresh_from_db()
    assert run.state == "done"


def test_a_rolled_back_start_leaves_no_run_and_no_job(
    transactional_db: None, source: Path, queue_server: Redis
) -> None:
    collection = library(source)

    def start_in_vain() -> None:
        with transaction.atomic():
            runs.start_run(collection=collection, config=CONFIG)
            making.trouble()

    with pytest.raises(RuntimeError):
        start_in_vain()
    assert not ScreeningRun.objects.exists()
    assert queue_server.keys("rq:job:*") == []
    with transaction.atomic():
        runs.start_run(collection=collection, config=CONFIG)
        assert queue_server.keys("rq:job:*") == []
    assert len(queue_server.keys("rq:job:*")) == 1


def test_executing_again_changes_nothing(collection: Collection) -> None:
    run = runs.start_run(collection=collection, config=CONFIG, inline=True)
    keys = list(Candidate.objects.order_by("pk").values_list("pk", "pair_id", "rank"))
    runs.execute(run.pk)
    assert list(Candidate.objects.order_by("pk").values_list("pk", "pair_id", "rank")) == keys
    second = runs.start_run(collection=collection, config=CONFIG, inline=True)
    assert second.supersedes == run
    assert rows_of(second) == rows_of(run)
    assert DocumentPair.objects.count() == len(keys)


def test_two_workers_at_once_carry_it_out_once(transactional_db: None, source: Path) -> None:
    run = runs.start_run(collection=library(source), config=CONFIG)
    start = threading.Barrier(2)
    errors: list[BaseException] = []

    def work() -> None:
        start.wait()
        try:
            runs.execute(run.pk)
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    run.refresh_from_db()
    assert errors == []
    assert (run.state, run.attempt) == ("done", 1)
    assert run.candidate_count == run.candidates.count() > 0


def test_a_zombie_that_publishes_again_changes_nothing(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that lost its lease in mid-run may still be publishing while the next one is done."""
    run = runs.start_run(collection=collection, config=CONFIG)
    publish = publishing.publish

    def twice(*args: Any, **options: Any) -> int:
        publish(*args, **options)
        return publish(*args, **options)

    monkeypatch.setattr(publishing, "publish", twice)
    runs.execute(run.pk)
    run.refresh_from_db()
    assert run.candidate_count == run.candidates.count() > 0


def test_rows_of_another_version_of_the_program_are_replaced(collection: Collection) -> None:
    whole = runs.start_run(collection=collection, config=CONFIG, inline=True)
    run = runs.start_run(collection=collection, config=CONFIG)
    wrong = whole.candidates.order_by("-rank").first()
    assert wrong is not None
    wrong.pk, wrong.run, wrong.rank = None, run, 1
    wrong.save()
    runs.execute(run.pk)
    run.refresh_from_db()
    assert rows_of(run) == rows_of(whole)


def test_a_collection_without_documents_cannot_be_screened(db: None, data_dir: Path) -> None:
    empty = importing.get_or_create_collection(slug="empty")
    with pytest.raises(runs.RunsError):
        runs.start_run(collection=empty, config=CONFIG)
    assert not ScreeningRun.objects.exists()


# --- Stopping and starting again --------------------------------------------------------------------------------------


def test_a_waiting_run_is_cancelled_at_once(collection: Collection) -> None:
    run = runs.start_run(collection=collection, config=CONFIG)
    runs.cancel_run(run=run, actor=None)
    assert run.state == "cancelled"
    runs.execute(run.pk)
    run.refresh_from_db()
    assert run.state == "cancelled"
    with pytest.raises(runs.RunsError):
        runs.cancel_run(run=run, actor=None)


def test_a_running_run_obeys_at_its_next_step(
    transactional_db: None, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT", 0.02)
    run = runs.start_run(collection=library(source), config=CONFIG)
    seen = threading.Event()
    progress = leases.Hold.progress

    def slowly(self: leases.Hold, done: int, total: int, stage: str | None = None) -> None:
        progress(self, done, total, stage)
        if stage == "sign":
            seen.set()
            for _ in range(500):
                if self.should_stop():
                    return
                threading.Event().wait(0.02)

    monkeypatch.setattr(leases.Hold, "progress", slowly)

    def work() -> None:
        runs.execute(run.pk)
        connections.close_all()

    worker = threading.Thread(target=work)
    worker.start()
    assert seen.wait(60)
    runs.cancel_run(run=ScreeningRun.objects.get(pk=run.pk), actor=None)
    worker.join(30)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert not run.candidates.exists()


def test_a_cancelled_run_starts_again_on_its_own_inputs(
    collection: Collection, tmp_path: Path
) -> None:
    run = runs.start_run(collection=collection, config=CONFIG)
    runs.cancel_run(run=run, actor=None)
    importing.import_path(
        path=making.folder(tmp_path / "more", [{"doc_id": "neu", "raw": making.NOTICE}]),
        collection=collection,
    )
    runs.retry_run(run=run, actor=None)
    assert (run.state, run.cancel_requested) == ("queued", False)
    runs.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.inputs) == ("done", 8)
    with pytest.raises(runs.RunsError):
        runs.retry_run(run=run, actor=None)


def test_a_failure_is_told_in_words_and_can_be_retried(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise MemoryError

    run = runs.start_run(collection=collection, config=CONFIG)
    with monkeypatch.context() as patch:
        patch.setattr(runs, "screen", fail)
        runs.execute(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert run.error
    assert "MemoryError" not in run.error
    assert not run.candidates.exists()
    runs.retry_run(run=run, actor=None)
    runs.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error) == ("done", "")


def test_a_changed_text_stops_the_run(collection: Collection) -> None:
    run = runs.start_run(collection=collection, config=CONFIG)
    document = collection.documents.get(doc_id="D0003")
    document.raw_sha256 = "0" * 64
    document.save()
    runs.execute(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "D0003" in run.error


# --- Workers that die, queues that go away ---------------------------------------------------------------------------


def lapse(run: ScreeningRun) -> None:
    ScreeningRun.objects.filter(pk=run.pk).update(lease_expires_at=timezone.now() - leases.LEASE)


def test_a_dead_workers_run_is_taken_over_and_its_late_writes_miss(collection: Collection) -> None:
    run = runs.start_run(collection=collection, config=CONFIG)
    attempt = leases.take(ScreeningRun, run.pk)
    assert attempt == 1
    old = leases.Hold(ScreeningRun, run.pk, attempt, cancellable=True)
    assert leases.take(ScreeningRun, run.pk) is None
    lapse(run)
    runs.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("done", 2)
    with pytest.raises(leases.Lost):
        old.update(state="failed")
    run.refresh_from_db()
    assert run.state == "done"


def test_the_sweep_shows_a_dead_run_as_waiting_and_queues_it(
    collection: Collection, queue_server: Redis, work: Callable[[], bool]
) -> None:
    run = runs.start_run(collection=collection, config=CONFIG)
    leases.take(ScreeningRun, run.pk)
    assert runs.sweep() == 0
    lapse(run)
    assert runs.sweep() == 1
    run.refresh_from_db()
    assert (run.state, run.stage) == ("queued", "interrupted")
    assert runs.sweep() == 0
    assert work()
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("done", 2)


def test_a_run_that_kills_its_workers_is_given_up(collection: Collection) -> None:
    run = runs.start_run(collection=collection, config=CONFIG)
    for _ in range(leases.TRIES):
        assert leases.take(ScreeningRun, run.pk) is not None
        lapse(run)
    runs.execute(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert str(leases.TRIES) in run.error
    runs.retry_run(run=run, actor=None)
    runs.execute(run.pk)
    run.refresh_from_db()
    assert run.state == "done"


def test_without_a_queue_the_run_waits_in_the_database(
    transactional_db: None,
    source: Path,
    settings: Any,
    queue_server: Redis,
    work: Callable[[], bool],
    tmp_path: Path,
) -> None:
    collection = library(source)
    good = settings.RQ_QUEUES
    settings.RQ_QUEUES = {
        "default": {**good["default"], "URL": f"unix://{tmp_path}/gone.sock?db=0"}
    }
    run = runs.start_run(collection=collection, config=CONFIG)
    assert run.state == "queued"
    assert runs.sweep() == 0
    settings.RQ_QUEUES = good
    assert queue_server.keys("rq:job:*") == []
    assert runs.sweep() == 1
    assert work()
    run.refresh_from_db()
    assert run.state == "done"


def test_a_job_that_was_lost_from_the_queue_is_put_back(
    collection: Collection,
    queue_server: Redis,
    django_capture_on_commit_callbacks: Any,
    work: Callable[[], bool],
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = runs.start_run(collection=collection, config=CONFIG)
    assert runs.sweep() == 0
    queue_server.flushall()
    assert runs.sweep() == 1
    assert work()
    run.refresh_from_db()
    assert run.state == "done"


def test_stopping_between_two_chunks_shows_no_candidates_as_complete(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.start_run(collection=collection, config=CONFIG)

    def cut(*args: Any, **options: Any) -> int:
        raise Cancelled("publish")

    monkeypatch.setattr(publishing, "publish", cut)
    runs.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.candidate_count) == ("cancelled", None)


def test_the_hash_seed_of_the_process_does_not_matter(source: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    from tests.conftest import ROOT

    for seed in ("0", "1"):
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "manage.py"),
                "screen",
                str(source),
                "--out",
                str(tmp_path / seed),
            ],
            check=True,
            timeout=120,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
            },
            capture_output=True,
        )
    assert files(tmp_path / "0") == files(tmp_path / "1")
