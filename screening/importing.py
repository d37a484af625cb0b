"""Files into a collection: received, read in the background, and reported row by row."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext

from dedupreview.people.audit import record
from screening import leases, queueing, saving
from screening.documents import Problem, Refusal
from screening.errors import ScreeningError
from screening.intake.encodings import CHOICES, NAMES
from screening.intake.limits import Limits
from screening.intake.model import REPEATED, Entry, Note, ReadDocument
from screening.intake.reading import MANIFEST, IntakeError, read_tree, tree_of
from screening.intake.trees import Files
from screening.models import Collection, DocumentImport
from screening.staging import Readable, Staging, abandoned

if TYPE_CHECKING:
    from dedupreview.people.models import Person

logger = logging.getLogger(__name__)

JOB = "read_import"
BATCH = 1000
CONFLICTS = frozenset({"doc_id_taken", "doc_id_conflict"})
"""Codes of refusals because another text has the doc_id."""

KEPT_UNCONFIRMED = timedelta(days=14)
"""Time after which an upload that nobody confirms is discarded."""

ROWS_IN_REPORT = 5000
"""Rows of a report that the row of the import holds: refusals first. The whole report is a file beside it."""

ReportRow = dict[str, Any]


class ImportingError(ScreeningError):
    """An import cannot begin."""


@dataclass(slots=True)
class ImportReport:
    """What became of a hand-over, in numbers, with the rows that a page can show."""

    added: int = 0
    identical: int = 0
    refused: int = 0
    conflicting: int = 0
    """How many of the refused are so because their doc_id has another text."""
    files: int = 0
    rows: list[ReportRow] = field(default_factory=list)
    notes: list[ReportRow] = field(default_factory=list)
    import_id: int | None = None

    def count(self, row: ReportRow) -> None:
        """Add one row; beyond the bound a refusal takes the place of a row that was merely added."""
        status = row["status"]
        if status == "note":
            if len(self.notes) < 200:
                self.notes.append(row)
            return
        setattr(self, status, getattr(self, status) + 1)
        self.conflicting += status == "refused" and row["code"] in CONFLICTS
        if len(self.rows) < ROWS_IN_REPORT:
            self.rows.append(row)
        elif status == "refused" and self.refused <= ROWS_IN_REPORT:
            for index in range(len(self.rows) - 1, -1, -1):
                if self.rows[index]["status"] != "refused":
                    del self.rows[index]
                    self.rows.append(row)
                    break

    def to_json(self) -> dict[str, Any]:
        """As it is stored with the import."""
        return {
            "added": self.added,
            "identical": self.identical,
            "refused": self.refused,
            "conflicting": self.conflicting,
            "files": self.files,
            "rows": self.rows,
            "notes": self.notes,
        }


def limits() -> Limits:
    """The limits of this installation: the defaults, with what the settings change."""
    return Limits(**settings.INTAKE_LIMITS)


def get_or_create_collection(
    *, slug: str, actor: Person | None = None, name: str = ""
) -> Collection:
    """The collection of this short name, made if it is missing. Raises ImportingError if the name cannot be one."""
    found = Collection.objects.filter(slug=slug).first()
    if found is not None:
        return found
    if not slug or slugify(slug, allow_unicode=True) != slug.lower() or len(slug) > 80:
        raise ImportingError(
            "“%(slug)s” cannot be the short name of a collection: use letters, digits and hyphens, 80 at most",
            {"slug": slug},
            code="bad_slug",
        )
    with transaction.atomic():
        collection, created = Collection.objects.get_or_create(
            slug=slug, defaults={"name": name or slug, "created_by": actor}
        )
        if created:
            record(
                actor=actor,
                action="collection.created",
                subject_type="collection",
                subject_id=collection.pk,
                data={"slug": slug},
            )
    return collection


def receive_files(
    *,
    collection: Collection,
    files: Iterable[tuple[str, Readable]],
    actor: Person | None,
    check_first: bool = False,
    encoding: str = "",
) -> DocumentImport:
    """Take files in (``relative path, file object``) and have them read in the background.

    With ``check_first`` nothing is added yet: the report says what would be, and :func:`confirm_import` does it.
    ``encoding`` settles the files that read plausibly in two encodings; others are read by their content as always.
    Returns when every byte lies in the data directory. The job is queued once the present transaction is committed.
    Raises ImportingError if there was no file.
    """
    encoding = _codec(encoding)
    staging = Staging.create()
    try:
        if encoding:
            staging.choose("", encoding)
        if not staging.receive(files, limits()):
            raise ImportingError(
                "No file arrived. Choose a folder or some files first.", code="no_file"
            )
        with transaction.atomic():
            row = _create(collection, actor, staging, confirmed=not check_first, encoding=encoding)
            queueing.enqueue_on_commit(JOB, row.pk, row.attempt)
    except BaseException:
        staging.remove()
        raise
    return row


def _codec(encoding: str) -> str:
    """The codec of an encoding that a person names; empty for none. Raises ImportingError for one that is not known."""
    codec = CHOICES.get(encoding.strip().casefold(), "")
    if encoding and not codec:
        raise ImportingError(
            "No encoding is called %(encoding)s", {"encoding": encoding[:80]}, code="bad_encoding"
        )
    return codec


def _create(
    collection: Collection,
    actor: Person | None,
    staging: Staging,
    *,
    confirmed: bool = True,
    encoding: str = "",
) -> DocumentImport:
    row = DocumentImport.objects.create(
        collection=collection, staging=staging.name, created_by=actor, confirmed=confirmed
    )
    record(
        actor=actor,
        action="import.started",
        subject_type="import",
        subject_id=row.pk,
        data={"collection": collection.slug} | ({"encoding": encoding} if encoding else {}),
    )
    return row


def import_path(
    *,
    path: Path,
    collection: Collection,
    actor: Person | None = None,
    echo: Callable[[ReportRow], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    encoding: str = "",
) -> ImportReport:
    """Import a folder, manifest, archive or text file in this process, as the command does.

    ``echo`` gets every row of the report as it is decided; ``encoding`` as in :func:`receive_files`. Raises
    ImportingError if there is no such path.
    """
    encoding = _codec(encoding)
    try:
        tree = tree_of(path)
    except IntakeError as error:
        raise ImportingError(
            error.problem.template, error.problem.params, code=error.problem.code
        ) from None
    staging = Staging.create()
    if encoding:
        staging.choose("", encoding)
    with transaction.atomic():
        row = _create(collection, actor, staging, encoding=encoding)
        attempt = leases.take(DocumentImport, row.pk)
    assert attempt is not None
    with leases.Hold(DocumentImport, row.pk, attempt, cancellable=False) as hold:
        try:
            return _read(row, hold, tree, staging, echo, progress)
        except BaseException as error:
            _fail(
                hold,
                gettext("The import was broken off: %(error)s")
                % {"error": error or type(error).__name__},
            )
            raise
        finally:
            staging.clear()


def check_path(
    *,
    path: Path,
    slug: str,
    echo: Callable[[ReportRow], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    encoding: str = "",
) -> ImportReport:
    """What :func:`import_path` would do, without doing it: nothing is written, not even a missing collection."""
    try:
        tree = tree_of(path)
    except IntakeError as error:
        raise ImportingError(
            error.problem.template, error.problem.params, code=error.problem.code
        ) from None
    collection = Collection.objects.filter(slug=slug).first()
    report = ImportReport(files=len(tree.names()))
    total = expected(tree)
    done = 0
    planner = saving.Planner(collection.pk if collection else None)
    chosen = {"": codec} if (codec := _codec(encoding)) else {}
    for batch in _batches(read_tree(tree, collection=slug, limits=limits(), chosen=chosen)):
        for line in _decided(batch, planner):
            report.count(line)
            if echo is not None:
                echo(line)
        done += len(batch)
        if progress is not None:
            progress(done, max(total, done))
    return report


def confirm_import(*, row: DocumentImport, actor: Person | None) -> None:
    """Add what a check has found fit to be added. Raises ImportingError if the import does not wait for that."""
    _settle(
        row,
        actor,
        "import.confirmed",
        state=DocumentImport.State.QUEUED,
        confirmed=True,
        report={},
        progress_done=0,
        attempt=leases.next_round(row.attempt),
        finished_at=None,
    )


def discard_import(*, row: DocumentImport, actor: Person | None) -> None:
    """Forget files that were checked and are not wanted. Raises ImportingError if the import does not wait for that."""
    _settle(
        row,
        actor,
        "import.discarded",
        state=DocumentImport.State.DISCARDED,
        finished_at=timezone.now(),
    )
    Staging.of(row.staging).clear()


def choose_encoding(
    *, row: DocumentImport, place: str, encoding: str, actor: Person | None
) -> None:
    """Say how a file is to be read that is plausible in two encodings, and have the files checked again.

    The choice is on record with its author, and every text that is read by it carries it as a warning. Raises
    ImportingError if the import does not wait, or there is nothing to choose at this place.
    """
    codec = _codec(encoding)
    unclear = {r["place"] for r in row.report.get("rows", []) if r["code"] == "encoding_unclear"}
    if place not in unclear or not codec:
        raise ImportingError("There is no encoding to choose for this file.", code="not_unclear")
    with transaction.atomic():
        _settle(
            row,
            actor,
            "import.encoding_chosen",
            {"place": place, "encoding": NAMES[codec]},
            state=DocumentImport.State.QUEUED,
            report={},
            progress_done=0,
            attempt=leases.next_round(row.attempt),
            finished_at=None,
        )
        Staging.of(row.staging).choose(place, codec)


def _settle(
    row: DocumentImport,
    actor: Person | None,
    action: str,
    said: Mapping[str, str] | None = None,
    **changes: Any,
) -> None:
    """Leave the waiting state by compare-and-set: of two people who answer, one is heard."""
    with transaction.atomic():
        waiting = DocumentImport.objects.filter(pk=row.pk, state=DocumentImport.State.CHECKED)
        if not waiting.update(**changes):
            raise ImportingError("This import no longer waits to be confirmed.", code="not_waiting")
        record(
            actor=actor,
            action=action,
            subject_type="import",
            subject_id=row.pk,
            data={"collection": row.collection.slug, **(said or {})},
        )
        row.refresh_from_db()
        if row.state == DocumentImport.State.QUEUED:
            queueing.enqueue_on_commit(JOB, row.pk, row.attempt)


def run_import(import_id: int) -> None:
    """Read the files of an import; the job. Harmless for one that is over, being read, or gone.

    A worker that was killed half way is followed by another, which finds what is there already and adds the rest. Of one
    person one import is read at a time, so that many of them leave workers for what others hand over.
    """
    if _waiting_its_turn().filter(pk=import_id).exists():
        return
    attempt = leases.take(DocumentImport, import_id)
    if attempt is None:
        return
    row = DocumentImport.objects.select_related("collection", "created_by").get(pk=import_id)
    staging = Staging.of(row.staging)
    with leases.Hold(DocumentImport, import_id, attempt, cancellable=False) as hold:
        try:
            if leases.tries(attempt) > leases.TRIES:
                _fail(
                    hold,
                    gettext(
                        "Reading these files has ended its worker %(times)s times; it is given up"
                    )
                    % {"times": leases.TRIES},
                )
                return
            _read(row, hold, staging.tree(), staging)
        except leases.Lost:
            logger.warning("import %s was taken over by another worker", import_id)
            return
        except (FileNotFoundError, NotADirectoryError):
            _fail(hold, gettext("The files are no longer there; hand them over again"))
            return
        except DatabaseError:
            raise  # the lease lapses and another worker goes on
        except Exception as error:
            logger.exception("import %s failed", import_id)
            _fail(
                hold,
                gettext("The import failed: %(error)s")
                % {"error": f"{type(error).__name__}: {error}"},
            )
            return
        finally:
            _start_next(row)
    if row.confirmed:
        staging.clear()


def _waiting_its_turn() -> QuerySet[DocumentImport]:
    """Queued imports of people of whom another import is being read just now."""
    running = DocumentImport.objects.filter(
        state=DocumentImport.State.RUNNING, lease_expires_at__gte=timezone.now()
    )
    busy = running.exclude(created_by=None).values("created_by")
    return DocumentImport.objects.filter(state=DocumentImport.State.QUEUED, created_by__in=busy)


def _start_next(row: DocumentImport) -> None:
    """Put the next import of the same person on the queue: its job has come and gone while this one was read."""
    if row.created_by_id is None:
        return
    waiting = DocumentImport.objects.filter(
        state=DocumentImport.State.QUEUED, created_by=row.created_by_id
    )
    if (following := waiting.order_by("pk").first()) is not None:
        queueing.enqueue_on_commit(JOB, following.pk, following.attempt)


def _fail(hold: leases.Hold, words: str) -> None:
    try:
        hold.update(state=DocumentImport.State.FAILED, error=words, finished_at=timezone.now())
    except (leases.Lost, DatabaseError):
        logger.warning("import %s could not be marked as failed: %s", hold.pk, words)


def _read(
    row: DocumentImport,
    hold: leases.Hold,
    tree: Files,
    staging: Staging,
    echo: Callable[[ReportRow], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    report = ImportReport(files=len(tree.names()), import_id=row.pk)
    total = expected(tree)
    done = 0
    saver = saving.Saver(row, tree, again=leases.tries(hold.attempt) > 1)
    decider = saver if row.confirmed else saving.Planner(row.collection_id)
    part = staging.report.with_suffix(f".{hold.attempt}.part")
    with part.open("w", encoding="utf-8") as file:
        entries = read_tree(
            tree, collection=row.collection.slug, limits=limits(), chosen=staging.chosen()
        )
        for batch in _batches(entries):
            if hold.lost:
                raise leases.Lost
            for line in _decided(batch, decider):
                report.count(line)
                _write(file, line)
                if echo is not None:
                    echo(line)
            done += len(batch)
            hold.progress(done, max(total, done))
            if progress is not None:
                progress(done, max(total, done))
    if row.confirmed and report.added and MANIFEST in tree.paths:
        saver.keep(
            [MANIFEST]
        )  # it says where the texts come from, and may hold none of them itself
    part.replace(staging.report)
    hold.update(
        state=DocumentImport.State.DONE if row.confirmed else DocumentImport.State.CHECKED,
        report=report.to_json(),
        progress_done=done,
        progress_total=done,
        finished_at=timezone.now(),
    )
    return report


def _write(file: TextIO, line: ReportRow) -> None:
    # ASCII escapes, so that a file name that is no Unicode cannot break the report.
    file.write(json.dumps(line, ensure_ascii=True) + "\n")


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    chars = 0
    for entry in entries:
        batch.append(entry)
        if isinstance(entry, ReadDocument):
            chars += len(entry.document.raw)
        if len(batch) >= BATCH or chars > 8_000_000:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def expected(tree: Files) -> int:
    """Roughly how many entries the files will give: lines of manifests, one for any other file."""
    names = [MANIFEST] if MANIFEST in tree.paths else tree.names()
    count = 0
    for name in names:
        if not name.casefold().endswith((".jsonl", ".ndjson", ".csv", ".tsv")):
            count += 1
            continue
        with tree.open(name) as stream:
            while chunk := stream.read(1 << 22):
                count += chunk.count(b"\n")
    return count


def _decided(batch: list[Entry], decider: saving.Saver | saving.Planner) -> Iterator[ReportRow]:
    """The rows of the report for a batch, once it is decided, and saved if it is to be."""
    return _report_rows(batch, decider.save([e for e in batch if isinstance(e, ReadDocument)]))


def _report_rows(batch: list[Entry], saved: dict[str, saving.Saved]) -> Iterator[ReportRow]:
    """One row of the report for each entry, in the order of the files."""
    for entry in batch:
        if isinstance(entry, ReadDocument):
            result = saved[entry.place]
            problem = result.problem
            row = _row(entry.place, entry.document.doc_id, result.status, problem)
            row["warnings"] = [_problem(warning) for warning in (*entry.warnings, *result.warnings)]
            if result.status == "refused":
                row["sha256"] = entry.document.sha256
        elif isinstance(entry, Note):
            row = _row(entry.place, "", "note", entry.problem)
        else:
            status = "identical" if entry.problem.code == REPEATED else "refused"
            row = _row(entry.place, entry.doc_id or "", status, entry.problem)
            if entry.sha256:
                row["sha256"] = entry.sha256
        yield row


def _row(place: str, doc_id: str, status: str, problem: Problem | None) -> ReportRow:
    row: ReportRow = {"place": place, "doc_id": doc_id, "status": status}
    return row | (_problem(problem) if problem else {"code": "", "template": "", "params": {}})


def _problem(problem: Problem) -> dict[str, Any]:
    return {"code": problem.code, "template": problem.template, "params": dict(problem.params)}


def refusals_of(collection: Collection) -> list[Refusal]:
    """What imports of the collection have refused and not accepted since, by place: it belongs to the list of originals."""
    standing: dict[str, Refusal] = {}
    done = DocumentImport.objects.filter(collection=collection, state=DocumentImport.State.DONE)
    for staging in done.order_by("pk").values_list("staging", flat=True):
        try:
            file = Staging.of(staging).report.open(encoding="utf-8")
        except FileNotFoundError:
            continue
        with file:
            for line in file:
                _note_standing(json.loads(line), standing)
    return [standing[place] for place in sorted(standing)]


def _note_standing(row: ReportRow, standing: dict[str, Refusal]) -> None:
    place = row["place"]
    if row["status"] == "note":
        return
    if row["status"] == "added" or not row["code"]:
        standing.pop(place, None)
        return
    problem = Problem(row["code"], row["template"], row["params"])
    standing[place] = Refusal(place, problem, row["doc_id"] or None, row.get("sha256"))


def sweep(now: Any = None) -> int:
    """Put imports back on the queue whose job or worker is gone, and remove what broken uploads left; how many moved."""
    moved = 0
    now = now or timezone.now()
    waiting = DocumentImport.objects.filter(
        Q(state=DocumentImport.State.QUEUED) | leases.lapsed(now)
    ).exclude(pk__in=_waiting_its_turn().values("pk"))
    for row in waiting.order_by("pk")[:50]:
        moved += queueing.enqueue(JOB, row.pk, row.attempt)
    unwanted = DocumentImport.objects.filter(
        state=DocumentImport.State.CHECKED, finished_at__lt=now - KEPT_UNCONFIRMED
    )
    for row in unwanted.select_related("collection")[:50]:
        discard_import(row=row, actor=None)
    named = set(DocumentImport.objects.values_list("staging", flat=True))
    for staging in abandoned(named):
        staging.remove()
    return moved
