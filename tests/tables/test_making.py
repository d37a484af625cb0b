"""Making tables: by command, by the queue, after a kill, and while people go on judging."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.test import RequestFactory
from django.utils import timezone

from dedupreview.people.models import Role
from reviews.models import ReviewRound, ReviewTable, SignOff
from reviews.records import seal
from reviews.tables import (
    download_name,
    export_table,
    exporting,
    request_table,
    run_table,
    sweep,
    verify_table,
    zip_response,
)
from reviews.tables.errors import TableError
from tests.reviews import world as worlds
from tests.tables import making
from tests.tables.reading import flow, lines


@pytest.mark.django_db
def test_the_commands_export_and_verify(data_dir: Path, tmp_path: Path, capsys: Any) -> None:
    made = making.finished(2)
    out = tmp_path / "有 空格" / "table"
    call_command("export_table", str(made.round.pk), "--out", str(out))
    assert capsys.readouterr().out.splitlines()[-1] == f"table: {out}"
    assert (out / "manifest.json").is_file()
    call_command("verify_table", str(out))
    assert "ok: " in capsys.readouterr().out
    # The folder is taken now: the next table goes beside, and the first stays.
    call_command("export_table", str(made.round.pk), "--out", str(out.parent))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"table: {out.parent / f'table-{made.round.pk}-2'}"
    (out / "flow.json").write_text("{}")
    with pytest.raises(SystemExit) as stopped:
        call_command("verify_table", str(out))
    assert stopped.value.code == 2
    assert "content_changed" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["999999", "x", "9" * 30])
@pytest.mark.django_db
def test_an_unknown_round_is_one_clear_line(data_dir: Path, tmp_path: Path, number: str) -> None:
    with pytest.raises(CommandError, match="999999|x|999") as refused:
        call_command("export_table", number, "--out", str(tmp_path / "out"))
    assert refused.value.returncode == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.django_db
def test_a_place_that_cannot_be_written_is_said(data_dir: Path, tmp_path: Path) -> None:
    made = making.finished(1)
    (tmp_path / "file").write_text("x")
    with pytest.raises(TableError, match="cannot be written|无法写入"):
        export_table(round=made.round, out=tmp_path / "file" / "out")


@pytest.mark.django_db(transaction=True)
def test_a_requested_table_is_made_by_the_queue(data_dir: Path, work: Any) -> None:
    made = making.finished(2)
    table = request_table(round=made.round, actor=worlds.person("boss", Role.ADMIN))
    assert table.state == ReviewTable.State.QUEUED
    assert sweep() == 0  # its job is waiting
    assert work()
    table.refresh_from_db()
    assert table.state == ReviewTable.State.DONE, table.error
    assert verify_table(exporting.table_folder(table)).ok
    before = table.manifest_sha256
    run_table(table.pk)
    table.refresh_from_db()
    assert table.manifest_sha256 == before


@pytest.mark.django_db(transaction=True)
def test_a_lost_job_is_found_again(data_dir: Path, queue_server: Any, work: Any) -> None:
    made = making.finished(1)
    table = request_table(round=made.round, actor=None)
    queue_server.flushall()
    assert sweep() == 1
    assert work()
    table.refresh_from_db()
    assert table.state == ReviewTable.State.DONE


@pytest.mark.django_db
def test_a_failure_leaves_nothing_but_its_reason(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = making.finished(1)

    def broken(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reviews.tables.bundle._seal", broken)
    with pytest.raises(TableError, match="No space left"):
        export_table(round=made.round)
    table = ReviewTable.objects.get()
    assert table.state == ReviewTable.State.FAILED
    assert "No space left" in table.error
    assert [path for path in (data_dir / "tables").iterdir() if path.is_dir()] == []
    monkeypatch.undo()
    later = export_table(round=made.round)
    assert later.number == 2
    assert later.previous is None


KILLED = """
import os, signal, sys, django
django.setup()
from reviews.tables import bundle, exporting
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
bundle._seal = die
exporting.run_table(int(sys.argv[1]))
"""


@pytest.mark.django_db(transaction=True)
def test_a_killed_export_leaves_no_table_and_is_taken_over(
    data_dir: Path, work: Any, queue_server: Any
) -> None:
    made = making.finished(2)
    table = ReviewTable.objects.create(round=made.round, number=1)
    path = str(connection.settings_dict["NAME"])
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
        "DEDUPREVIEW_DATA_DIR": str(data_dir),
        "DATABASE_URL": f"sqlite:///{path}",
    }
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(table.pk)],
        env=environment,
        cwd=Path(exporting.__file__).parents[2],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    table.refresh_from_db()
    assert table.state == ReviewTable.State.RUNNING
    assert not (data_dir / "tables" / str(table.pk)).exists()
    assert sweep() == 1
    assert work()
    table.refresh_from_db()
    assert table.state == ReviewTable.State.DONE, table.error
    assert verify_table(exporting.table_folder(table)).ok
    assert [path.name for path in (data_dir / "tables").iterdir() if path.is_dir()] == [
        str(table.pk)
    ]


@pytest.mark.django_db(transaction=True)
def test_whoever_finds_a_table_being_made_waits_for_it(data_dir: Path) -> None:
    made = making.finished(1)
    table = ReviewTable.objects.create(round=made.round, number=1)
    makers = [
        threading.Thread(target=make_and_close, args=(table.pk,), daemon=True) for _n in range(3)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join(timeout=60)
    table.refresh_from_db()
    assert table.state == ReviewTable.State.DONE, table.error
    assert (data_dir / "tables" / f".{table.pk}.lock").read_bytes() == b"."


def make_and_close(table_id: int) -> None:
    try:
        run_table(table_id, wait=True)
        assert ReviewTable.objects.get(pk=table_id).state == ReviewTable.State.DONE
    finally:
        connections.close_all()


@pytest.mark.django_db
def test_a_table_that_kills_its_maker_is_given_up(data_dir: Path) -> None:
    made = making.finished(1)
    table = ReviewTable.objects.create(round=made.round, number=1)
    (data_dir / "tables").mkdir()
    (data_dir / "tables" / f".{table.pk}.lock").write_bytes(b"." * exporting.ATTEMPTS)
    run_table(table.pk)
    table.refresh_from_db()
    assert table.state == ReviewTable.State.FAILED
    assert str(exporting.ATTEMPTS) in table.error


@pytest.mark.django_db
def test_the_download_is_named_after_the_round_in_any_script(data_dir: Path) -> None:
    made = making.finished(1)
    made.round.name = '审阅表（第一批）/"../\n'
    made.round.save()
    table = export_table(round=made.round)
    name = download_name(table)
    assert name.startswith("审阅表（第一批）")
    assert name.endswith("-1.zip")
    assert not set('/\\"\n') & set(name)
    response = zip_response(RequestFactory().get("/"), table)
    assert b"".join(response).startswith(b"PK")
    assert "filename*=utf-8''%E5%AE%A1" in response["Content-Disposition"]


# --- One moment ---


def judge_without_pause(round_id: int, stop: threading.Event, done: list[int]) -> None:
    """Two people judge one item after the other until told to stop."""
    try:
        opened = ReviewRound.objects.get(pk=round_id)
        people = [member.person for member in opened.members.filter(part="annotator")[:2]]
        while not stop.is_set():
            if making.answer(opened, people[len(done) % 2], "copy") is None:
                return
            done.append(1)
    finally:
        connections.close_all()


def sign(made: worlds.World) -> None:
    """A signature, whatever the state of the round."""
    signed = SignOff(
        round=made.round,
        stage="annotation",
        person=made.admin,
        meaning="x",
        signed_digest="0" * 64,
        created_at=timezone.now(),
    )
    seal(signed)
    signed.save(force_insert=True)


def check_one_moment(pairs: int) -> None:
    made = worlds.world(pairs, annotators=2)
    stop, done = threading.Event(), list[int]()
    judge = threading.Thread(target=judge_without_pause, args=(made.round.pk, stop, done))
    judge.start()
    try:
        while len(done) < 20:
            time.sleep(0.01)
        begun = len(done)

        def look(stage: str, _done: int, _total: int) -> None:
            if stage != "pairs":
                return
            # A long export, in the middle of its reading: judging goes on, and somebody signs.
            limit = time.monotonic() + 30
            while len(done) < begun + 20 and time.monotonic() < limit:
                time.sleep(0.01)
            sign(made)

        table = export_table(round=made.round, progress=look)
        ended = len(done)
    finally:
        stop.set()
        judge.join(timeout=30)
    folder = exporting.table_folder(table)
    counts = flow(folder)
    assert verify_table(folder).ok, verify_table(folder).lines()
    assert ended - begun >= 20, "writers were held up"
    # The moment is that of the start: what was judged while the export went on is not in it.
    total = counts["judgments"] + counts["withheld"]
    assert begun <= total < ended
    assert SignOff.objects.filter(round=made.round).exists()
    assert lines(folder, "sign_offs.jsonl") == []
    times = [row["created_at"] for row in lines(folder, "judgments.jsonl")]
    assert len(times) == 2 * counts["closed"]


@pytest.mark.django_db(transaction=True)
def test_an_export_while_people_judge_is_one_moment(data_dir: Path) -> None:
    check_one_moment(150)


def test_an_export_while_people_judge_is_one_moment_on_postgresql(
    data_dir: Path, postgres: str
) -> None:
    check_one_moment(150)
    made = making.finished(6)
    folder = making.exported(made.round)
    assert verify_table(folder).ok
    assert [alias for alias in connections if alias != "default"] == []
