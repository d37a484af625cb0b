"""Making tables: the row in the database is the truth, the folder appears whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _
from redis.exceptions import RedisError

from dedupreview import paths
from dedupreview.people import audit
from reviews.models import ReviewRound, ReviewTable
from reviews.tables import bundle, harvest, packing, signing
from reviews.tables.bundle import Written
from reviews.tables.errors import TableError
from reviews.tables.harvest import Harvest, Progress, TableFacts
from reviews.tables.snapshot import snapshot

if TYPE_CHECKING:
    from dedupreview.people.models import Person

logger = logging.getLogger(__name__)

JOB = "reviews.jobs.make_table"
NUMBER_TRIES = 20
ATTEMPTS = 5
REPORT_SECONDS = 1.0
State = ReviewTable.State


def tables_folder() -> Path:
    """Where the tables of the installation lie, one folder each."""
    return Path(settings.DATA_DIR) / "tables"


def table_folder(table: ReviewTable) -> Path:
    """The folder of a finished table."""
    return tables_folder() / table.folder


def export_table(
    *,
    round: ReviewRound,
    actor: Person | None = None,
    out: Path | None = None,
    progress: Progress | None = None,
) -> ReviewTable:
    """Make a table of ``round`` now, in this process; with ``out``, put a copy there too.

    ``out`` becomes the bundle if it is missing or empty, else it gets a new folder ``table-ROUND-NUMBER``: a table never
    replaces an earlier one. :func:`placed` tells where the copy went. Raises TableError.
    """
    table = _new_table(round, actor)
    run_table(table.pk, progress=progress, wait=True, packed=False)
    table.refresh_from_db()
    if table.state != State.DONE:
        raise TableError(_("The table could not be made: %(error)s"), {"error": table.error})
    if out is not None:
        _place_copy(table, out)
    return table


def request_table(*, round: ReviewRound, actor: Person | None) -> ReviewTable:
    """Have a table of ``round`` made in the background; the row tells how far it is."""
    with transaction.atomic():
        table = _new_table(round, actor)
        transaction.on_commit(lambda: _enqueue(table.pk))
    return table


def run_table(
    table_id: int, *, progress: Progress | None = None, wait: bool = False, packed: bool = True
) -> None:
    """The job: make the files of a table, and with ``packed`` the zip to download. Running it twice, or again after it
    was killed, is harmless.

    A lock file tells a table that is being made from one whose maker died. If somebody else is making it, ``wait`` says
    whether to wait for that.
    """
    with _lock(table_id, wait=wait) as attempts:
        if attempts is None:
            return
        todo = ReviewTable.objects.filter(pk=table_id, state__in=(State.QUEUED, State.RUNNING))
        if not todo.update(state=State.RUNNING, error=""):
            return
        table = ReviewTable.objects.select_related("round", "created_by").get(pk=table_id)
        try:
            _count_attempt(attempts)
            _make(table, _Reporter(table_id, progress), packed=packed)
        except TableError as error:
            _fail(table, str(error))
        except Exception as error:
            logger.exception("table %s failed", table_id)
            _fail(table, f"{type(error).__name__}: {error}")


def sweep() -> int:
    """Put back every table that nobody is making: its job was lost or its maker died. The number put back."""
    found = 0
    for pk in ReviewTable.objects.filter(state__in=(State.QUEUED, State.RUNNING)).values_list(
        "pk", flat=True
    ):
        with _lock(pk) as free:
            lost = free is not None
        if lost and _enqueue(pk):
            found += 1
    return found


class _Reporter:
    """Writes into the row how far the table is, once a second and whenever a stage begins; passes it on as well."""

    def __init__(self, table_id: int, then: Progress | None) -> None:
        self.table_id = table_id
        self.then = then
        self._stage = ""
        self._last = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage or now - self._last >= REPORT_SECONDS:
            self._stage, self._last = stage, now
            self._write(stage, done, total)
        if self.then:
            self.then(stage, done, total)

    def _write(self, stage: str, done: int, total: int) -> None:
        rows = ReviewTable.objects.filter(pk=self.table_id, state=State.RUNNING)
        try:
            rows.update(stage=stage, progress_done=done, progress_total=total)
        except OperationalError:
            # A page that shows an old number is no reason to lose an export.
            if connection.in_atomic_block:
                raise


def _new_table(round: ReviewRound, actor: Person | None) -> ReviewTable:
    for _attempt in range(NUMBER_TRIES):
        last = ReviewTable.objects.filter(round=round).order_by("-number").first()
        number = last.number + 1 if last else 1
        with contextlib.suppress(IntegrityError), transaction.atomic():
            table = ReviewTable.objects.create(round=round, number=number, created_by=actor)
            audit.record(
                actor=actor,
                action="table.request",
                subject_type="table",
                subject_id=table.pk,
                data={"round": str(round.pk), "number": number},
            )
            return table
    raise TableError(_("Too many tables are being asked for at once; please try again."))


def _enqueue(table_id: int) -> bool:
    """Hand the id to the queue; while the queue is gone the row waits for the next sweep."""
    import django_rq

    try:
        queue = django_rq.get_queue("default")
        waiting = queue.fetch_job(f"table-{table_id}")
        if waiting is not None and waiting.is_queued:
            return False
        queue.enqueue(JOB, table_id, job_id=f"table-{table_id}")
    except RedisError:
        logger.warning("the queue does not answer; table %s waits", table_id)
        return False
    return True


def _make(table: ReviewTable, progress: Progress, *, packed: bool) -> None:
    """Make the folder of a table, or go on where a maker that died had come to.

    What was read is kept in ``.ID-work`` and written down in ``.ID-work.json``. The folder gets its name when it is whole.
    """
    place = paths.make_private(tables_folder())
    name = str(table.pk)
    target, work, note = place / name, place / f".{name}-work", place / f".{name}-work.json"
    if not target.exists():
        try:
            key = signing.current_key()
            read = harvest.load(note, work) or _gather(table, work, note, progress)
            _complete(read, work, note, key, progress)
            _sync_folder(work)
            work.rename(target)
            _sync_folder(place)
        except Exception:
            # Only who died leaves work behind: a failure is told, and whoever asks again gets the table of that moment.
            shutil.rmtree(work, ignore_errors=True)
            note.unlink(missing_ok=True)
            raise
    note.unlink(missing_ok=True)
    if packed:
        packing.pack(target, progress)
    _finish(table, name, bundle.read_written(target))


def _gather(table: ReviewTable, work: Path, note: Path, progress: Progress) -> Harvest:
    note.unlink(missing_ok=True)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700)
    with snapshot() as alias:
        read = harvest.gather(work, _facts(table, alias), alias, progress)
    read.save(note)
    return read


def _complete(
    read: Harvest, work: Path, note: Path, key: Ed25519PrivateKey, progress: Progress
) -> None:
    """The workbook, unless it is finished already, and the rest."""
    _keep_only(work, read)
    if bundle.WORKBOOK not in read.files:
        read = bundle.write_workbook(work, read, progress)
        read.save(note)
    bundle.finish(work, read, key=key)


def _keep_only(work: Path, read: Harvest) -> None:
    """Remove what a maker that died had begun and not finished."""
    for path in work.iterdir():
        if path.name not in read.files:
            path.unlink()


def _facts(table: ReviewTable, alias: str) -> TableFacts:
    round = (
        ReviewRound.objects.using(alias).select_related("run", "collection").get(pk=table.round_id)
    )
    earlier = ReviewTable.objects.using(alias).filter(
        round=table.round_id, state=State.DONE, number__lt=table.number
    )
    previous = earlier.order_by("-number").first()
    return TableFacts(
        round=round,
        number=table.number,
        made_at=timezone.now(),
        previous=(
            {"number": previous.number, "manifest_sha256": previous.manifest_sha256}
            if previous
            else None
        ),
        run_json=_run_json(round),
    )


def _run_json(round: ReviewRound) -> bytes:
    """The run's own run.json; where its folder is gone, what the row knows."""
    run = round.run
    with contextlib.suppress(OSError, ValueError):
        return (Path(settings.DATA_DIR) / "runs" / run.folder / "run.json").read_bytes()
    known = {"run": str(run.pk), "config": run.config, "fingerprint": run.fingerprint}
    known |= {"inputs": run.inputs, "funnel": run.funnel}
    return json.dumps(known, ensure_ascii=False, indent=2).encode() + b"\n"


def _finish(table: ReviewTable, folder: str, written: Written) -> None:
    rows = ReviewTable.objects.filter(round=table.round_id, number=written.previous or 0)
    previous = rows.values_list("pk", flat=True).first()
    with transaction.atomic():
        ReviewTable.objects.filter(pk=table.pk, state=State.RUNNING).update(
            state=State.DONE,
            folder=folder,
            provisional=written.provisional,
            manifest_sha256=written.manifest_sha256,
            chain_digest=written.chain_digest,
            key_fingerprint=written.fingerprint,
            previous=previous,
            stage="",
            finished_at=timezone.now(),
        )
        audit.record(
            actor=table.created_by,
            action="table.export",
            subject_type="table",
            subject_id=table.pk,
            data={"manifest_sha256": written.manifest_sha256, "provisional": written.provisional},
        )


def _fail(table: ReviewTable, error: str) -> None:
    ReviewTable.objects.filter(pk=table.pk, state=State.RUNNING).update(
        state=State.FAILED, error=error, finished_at=timezone.now()
    )


@contextlib.contextmanager
def _lock(table_id: int, *, wait: bool = False) -> Iterator[BinaryIO | None]:
    """The table's lock file, if nobody else holds it: whoever does makes the table. The lock goes with the process."""
    place = paths.make_private(tables_folder())
    with (place / f".{table_id}.lock").open("ab", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield None
            return
        yield cast(BinaryIO, file)


def _count_attempt(lock: BinaryIO) -> None:
    """A byte per attempt: a table that kills its maker every time must not be tried for ever."""
    if os.fstat(lock.fileno()).st_size >= ATTEMPTS:
        raise TableError(
            _("Its maker died %(count)s times; it is not tried again."), {"count": ATTEMPTS}
        )
    lock.write(b".")


def placed(table: ReviewTable, out: Path) -> Path:
    """Where :func:`export_table` puts the copy of ``table``: ``out`` itself, or a new folder in it."""
    inside = out / f"table-{table.round_id}-{table.number}"
    return inside if inside.is_dir() else out


def _place_copy(table: ReviewTable, out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        target = out if not any(out.iterdir()) else out / f"table-{table.round_id}-{table.number}"
        work = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
        try:
            shutil.copytree(table_folder(table), work, dirs_exist_ok=True)
            work.chmod(0o755)
            _sync_folder(work)
            work.rename(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise TableError(
            _("The table cannot be written to %(place)s: %(error)s"),
            {"place": out, "error": error.strerror or error},
        ) from None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
