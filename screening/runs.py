"""Screening runs from start to published candidates. The row is the truth; the queue only carries its id."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from dedupreview.people.audit import record
from screening import (
    frozen,
    importing,
    leases,
    publishing,
    queueing,
    rechecking,
    template_library,
)
from screening.artefacts import Drafts, write_run
from screening.config import ConfigError, ScreeningConfig
from screening.errors import ScreeningError
from screening.leaks import report_of_run, write_leaks
from screening.meaning import MeaningError
from screening.models import Collection, ScreeningRun
from screening.pipeline import Cancelled, screen
from screening.store import Store

if TYPE_CHECKING:
    from dedupreview.people.models import Person
    from screening.result import ScreeningResult

logger = logging.getLogger(__name__)

JOB = "screen"
RUN_FILES = (
    "run.json",
    "originals.csv",
    "normalized.jsonl",
    "candidates.jsonl",
    "thresholds.csv",
    "review_table.csv",
)
"""The files of a finished run, in the order in which people read them."""

LINES_SHOWN = 50
"""Repeated lines that the page of a run lists; run.json has up to 200."""

THRESHOLDS = (0.5, 0.7, 0.9)

Progress = Callable[[str, int, int], None]
State = ScreeningRun.State


class RunsError(ScreeningError):
    """A run cannot be started, cancelled or started again."""


def run_folder(run: ScreeningRun) -> Path:
    """Where the files of a run lie."""
    return Path(settings.DATA_DIR) / "runs" / run.folder


def start_run(
    *,
    collection: Collection,
    config: ScreeningConfig,
    preset: str = "",
    actor: Person | None = None,
    inline: bool = False,
    labels: Any = None,
    thresholds: Sequence[float] = THRESHOLDS,
    progress: Progress | None = None,
    reference: Collection | None = None,
) -> ScreeningRun:
    """Fix the inputs of a run and have it carried out in the background.

    The job is queued once the present transaction is committed. With ``inline`` the run is carried out here instead,
    with ``labels``, ``thresholds`` and ``progress`` if given, and errors are raised. ``reference``: a collection to
    compare against, for a leak report beside the pairs. Raises RunsError for a collection without documents, or one
    compared with itself.
    """
    if reference is not None and reference.pk == collection.pk:
        raise RunsError("A collection is compared with itself without being its reference.")
    with transaction.atomic():
        run = ScreeningRun.objects.create(
            collection=collection,
            config=config.to_dict(),
            preset=preset,
            fingerprint=config.fingerprint,
            created_by=actor,
            reference=reference,
            supersedes=ScreeningRun.objects.filter(
                collection=collection, reference=reference, state=State.DONE
            ).first(),
        )
        run.folder = f"{run.pk}-{uuid.uuid4().hex[:8]}"
        folder = run_folder(run)
        folder.mkdir(parents=True)
        run.inputs = frozen.freeze(
            folder, collection, importing.refusals_of(collection), reference
        )
        if not run.inputs:
            raise RunsError(
                "The collection has no documents yet; import some first.", code="no_documents"
            )
        template_library.freeze(folder, collection)
        run.save(update_fields=["folder", "inputs"])
        record(
            actor=actor,
            action="run.started",
            subject_type="run",
            subject_id=run.pk,
            data={
                "collection": collection.slug,
                "inputs": run.inputs,
                "fingerprint": run.fingerprint,
            },
        )
        attempt = leases.take(ScreeningRun, run.pk, started_at=timezone.now()) if inline else None
        if attempt is None:
            queueing.enqueue_on_commit(JOB, run.pk, run.attempt)
    if attempt is not None:
        _carry_out_here(run, attempt, labels, thresholds, progress)
        run.refresh_from_db()
    return run


def _carry_out_here(
    run: ScreeningRun,
    attempt: int,
    labels: Any,
    thresholds: Sequence[float],
    progress: Progress | None,
) -> None:
    with leases.Hold(ScreeningRun, run.pk, attempt, cancellable=True) as hold:
        try:
            _carry_out(run, hold, labels, thresholds, progress)
        except Cancelled:
            _finish(hold, State.CANCELLED, "")
            raise RunsError("The run was cancelled.", code="cancelled") from None
        except BaseException as error:
            _finish(hold, State.FAILED, in_words(error))
            raise


def execute(run_id: int) -> None:
    """Carry out a run; the job. Harmless for one that is over, held by a living worker, or gone.

    The run of a dead worker is begun again from its frozen inputs, which gives the same files and rows.
    """
    attempt = leases.take(ScreeningRun, run_id, started_at=timezone.now(), error="")
    if attempt is None:
        return
    run = ScreeningRun.objects.select_related("collection", "reference").get(pk=run_id)
    with leases.Hold(ScreeningRun, run_id, attempt, cancellable=True) as hold:
        try:
            if leases.tries(attempt) > leases.TRIES:
                _finish(
                    hold,
                    State.FAILED,
                    gettext(
                        "The run has ended its worker %(times)s times; most likely the memory is too small"
                    )
                    % {"times": leases.TRIES},
                )
                return
            _carry_out(run, hold, None, THRESHOLDS, None)
        except leases.Lost:
            logger.warning("run %s was taken over by another worker", run_id)
        except Cancelled:
            if not hold.lost:
                _finish(hold, State.CANCELLED, "")
        except DatabaseError:
            raise  # the row stays ours until its lease lapses, and then another worker goes on
        except Exception as error:
            logger.exception("run %s failed", run_id)
            _finish(hold, State.FAILED, in_words(error))


def _carry_out(
    run: ScreeningRun,
    hold: leases.Hold,
    labels: Any,
    thresholds: Sequence[float],
    progress: Progress | None,
) -> None:
    """Load, screen, write the files, publish the rows; only then is the run done."""

    def tell(stage: str, done: int, total: int) -> None:
        hold.progress(done, total, stage)
        if progress is not None:
            progress(stage, done, total)

    def step(done: int, total: int) -> None:
        if hold.should_stop():
            raise Cancelled("publish")
        tell("publish", done, total)

    folder = run_folder(run)
    tell("read", 0, run.inputs)
    documents, keys = frozen.documents(folder, run.collection, run.reference)
    with Drafts(folder) as drafts:
        result = screen(
            documents,
            ScreeningConfig.from_dict(run.config),
            progress=tell,
            cancelled=hold.should_stop,
            cache=None if run.reference else _store(run),
            refusals=frozen.refusals(folder),
            meanwhile=drafts.lay,
            library=template_library.frozen(folder),
        )
        tell("write", 0, len(RUN_FILES))
        write_run(
            folder, result, documents, labels=labels, thresholds=tuple(thresholds), drafts=drafts
        )
    if run.reference is not None:
        write_leaks(folder, documents, report_of_run(result, documents))
    published = publishing.publish(run.pk, result, keys, tick=step)
    hold.update(
        state=State.DONE,
        stage="",
        error="",
        funnel=result.funnel | {"published": published} | _beside(result),
        candidate_count=len(result.candidates),
        finished_at=timezone.now(),
    )


def _beside(result: ScreeningResult) -> dict[str, Any]:
    """What the record of a run has beside pairs, for its page: the first repeated lines, the template library."""
    names = ("repeated_lines", "template_library")
    found = {name: result.manifest[name] for name in names if name in result.manifest}
    if lines := found.get("repeated_lines"):
        found["repeated_lines"] = lines | {"lines": lines["lines"][:LINES_SHOWN], "all": len(lines["lines"])}
    return found


def _store(run: ScreeningRun) -> Store:
    """What runs over this collection leave to the next one; it may be removed at any time."""
    return Store(Path(settings.DATA_DIR) / "cache" / "collections" / str(run.collection_id))


def in_words(error: BaseException) -> str:
    """Why a run failed, for a person."""
    if isinstance(error, ConfigError | MeaningError):
        return gettext(error.template) % error.params
    if isinstance(error, frozen.InputsChanged):
        return gettext("The text %(doc_id)s is missing or has changed; check the originals") % {
            "doc_id": error.doc_id
        }
    if isinstance(error, MemoryError):
        return gettext("There was not enough memory for this many documents")
    if isinstance(error, FileNotFoundError):
        return gettext("A file of the run is missing: %(path)s") % {
            "path": Path(str(error.filename)).name
        }
    if isinstance(error, KeyboardInterrupt):
        return gettext("The run was stopped by the keyboard")
    if type(error).__name__ == "JobTimeoutException":
        return gettext(
            "The run took longer than the queue allows a job; raise DEDUPREVIEW_JOB_TIMEOUT"
        )
    if isinstance(error, OSError) and error.strerror:
        return gettext("The files of the run could not be written: %(error)s") % {
            "error": error.strerror
        }
    return gettext("An unexpected error: %(error)s") % {"error": f"{type(error).__name__}: {error}"}


def _finish(hold: leases.Hold, state: ScreeningRun.State, words: str) -> None:
    try:
        hold.update(state=state, stage="", error=words, finished_at=timezone.now())
    except (leases.Lost, DatabaseError):
        logger.warning("run %s could not be marked as %s", hold.pk, state)


def cancel_run(*, run: ScreeningRun, actor: Person | None) -> None:
    """Stop a run: at once if nobody works on it, else at its worker's next step. Raises RunsError if it is over."""
    now = timezone.now()
    rows = ScreeningRun.objects.filter(pk=run.pk)
    with transaction.atomic():
        idle = rows.filter(Q(state=State.QUEUED) | leases.lapsed(now))
        if not idle.update(
            state=State.CANCELLED, stage="", finished_at=now, cancel_requested=True
        ) and not rows.filter(state=State.RUNNING).update(cancel_requested=True):
            raise RunsError("The run is over already.", code="over")
        record(actor=actor, action="run.cancelled", subject_type="run", subject_id=run.pk)
    run.refresh_from_db()


def retry_run(*, run: ScreeningRun, actor: Person | None) -> None:
    """Start a failed or cancelled run again on the inputs that it was given. Raises RunsError for any other run."""
    with transaction.atomic():
        moved = ScreeningRun.objects.filter(
            pk=run.pk, attempt=run.attempt, state__in=[State.FAILED, State.CANCELLED]
        ).update(
            state=State.QUEUED,
            attempt=leases.next_round(run.attempt),
            cancel_requested=False,
            error="",
            stage="",
            progress_done=0,
            progress_total=0,
            lease_expires_at=None,
            finished_at=None,
        )
        if not moved:
            raise RunsError(
                "Only a run that failed or was cancelled can be started again.", code="not_over"
            )
        record(actor=actor, action="run.retried", subject_type="run", subject_id=run.pk)
        run.refresh_from_db()
        queueing.enqueue_on_commit(JOB, run.pk, run.attempt)


def sweep(now: datetime | None = None) -> int:
    """Put runs back on the queue whose job or worker is gone, and imports likewise; how many were put back.

    A run whose worker died waits in the queue again at once, so that no page shows it as running. A queue server
    that does not answer changes nothing.
    """
    now = now or timezone.now()
    dead = ScreeningRun.objects.filter(leases.lapsed(now))
    dead.filter(cancel_requested=True).update(state=State.CANCELLED, stage="", finished_at=now)
    dead.update(state=State.QUEUED, stage="interrupted")
    moved = 0
    for run in ScreeningRun.objects.filter(state=State.QUEUED).order_by("pk")[:50]:
        moved += queueing.enqueue(JOB, run.pk, run.attempt)
    return moved + importing.sweep(now) + rechecking.sweep(now)
