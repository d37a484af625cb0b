"""The API's routes about documents and runs; each calls the function that the pages call."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from ninja import File, Router, Schema, Status
from ninja.files import UploadedFile

from dedupreview.api import ApiError, Failure
from dedupreview.people.access import may, person_of, within_reach
from screening.config import ConfigError, ScreeningConfig
from screening.importing import ImportingError, confirm_import, receive_files
from screening.models import Candidate, Collection, DocumentImport, ScreeningRun
from screening.runs import RunsError, start_run

router = Router(tags=["screening"])
PAGE = 100


def _require(request: HttpRequest, action: str) -> None:
    if not may(request.user, action):
        raise Http404


def _collections(request: HttpRequest) -> QuerySet[Collection]:
    return within_reach(Collection.objects.all(), person_of(request), through="memberships")


def _runs(request: HttpRequest) -> QuerySet[ScreeningRun]:
    return within_reach(
        ScreeningRun.objects.select_related("collection"),
        person_of(request),
        through="collection__memberships",
    )


class ImportOut(Schema):
    id: str
    collection: str
    state: str
    report: dict[str, Any]
    error: str


def _import_out(row: DocumentImport) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "collection": row.collection.slug,
        "state": row.state,
        "report": row.report,
        "error": row.error,
    }


class DocumentsIn(Schema):
    documents: list[dict[str, Any]]


@router.post(
    "/collections/{slug}/documents",
    response={202: ImportOut, 400: Failure, 404: Failure},
    openapi_extra={
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["documents"],
                        "properties": {"documents": {"type": "array", "items": {"type": "object"}}},
                    }
                }
            }
        }
    },
)
def add_documents(
    request: HttpRequest,
    slug: str,
    files: list[UploadedFile] = File(None),  # type: ignore[type-arg]  # noqa: B008
    dry_run: bool = False,
    encoding: str = "",
) -> Any:
    """Hand over files (multipart, field ``files``) or ``{"documents": [{doc_id, raw, …}]}``; read in the background.

    With ``dry_run`` nothing is added: the report says what would be, and ``POST /imports/{id}/confirm`` does it.
    ``encoding`` (gb18030, big5, utf-8, utf-16-le, utf-16-be) settles files that read plausibly in two encodings, which are
    refused otherwise with both readings named.
    """
    _require(request, "manage_collections")
    collection = get_object_or_404(_collections(request), slug=slug)
    try:
        parts: list[tuple[str, Any]]
        if files:
            parts = [(part.name or "file", part) for part in files]
        else:
            parts = [("documents.jsonl", _lines_of(request.body))]
        row = receive_files(
            collection=collection,
            files=parts,
            actor=person_of(request),
            check_first=dry_run,
            encoding=encoding,
        )
    except ImportingError as error:
        raise ApiError(400, "not_imported", str(error)) from error
    return Status(202, _import_out(row))


def _lines_of(body: bytes) -> io.BytesIO:
    try:
        rows = json.loads(body)["documents"]
        if not isinstance(rows, list):
            raise TypeError
    except (ValueError, KeyError, TypeError) as error:
        shape = '{"documents": [{"doc_id": …, "raw": …}, …]}'
        words = _("The body must be %(shape)s.") % {"shape": shape}
        raise ApiError(400, "invalid", words) from error
    # ASCII escapes, so that a lone surrogate reaches the reader, which knows what to do with it.
    return io.BytesIO(b"".join(json.dumps(row).encode("ascii") + b"\n" for row in rows))


@router.get("/imports/{import_id}", response={200: ImportOut, 404: Failure})
def see_import(request: HttpRequest, import_id: int) -> Any:
    """The state and report of one hand-over of documents."""
    _require(request, "manage_collections")
    return _import_out(
        get_object_or_404(DocumentImport.objects.select_related("collection"), pk=import_id)
    )


@router.post("/imports/{import_id}/confirm", response={202: ImportOut, 404: Failure, 409: Failure})
def confirm(request: HttpRequest, import_id: int) -> Any:
    """Add what a dry run has found fit to be added."""
    _require(request, "manage_collections")
    row = get_object_or_404(DocumentImport.objects.select_related("collection"), pk=import_id)
    try:
        confirm_import(row=row, actor=person_of(request))
    except ImportingError as error:
        raise ApiError(409, "not_waiting", str(error)) from error
    return Status(202, _import_out(row))


class RunIn(Schema):
    collection: str
    preset: str = ""
    config: dict[str, Any] | None = None
    reference: str | None = None
    within: bool = False


class RunOut(Schema):
    id: str
    collection: str
    reference: str | None
    state: str
    stage: str
    progress_done: int
    progress_total: int
    inputs: int
    candidates: int | None
    fingerprint: str
    config: dict[str, Any]
    funnel: dict[str, Any]
    error: str


def _run_out(run: ScreeningRun) -> dict[str, Any]:
    return {
        "id": str(run.pk),
        "collection": run.collection.slug,
        "reference": run.reference.slug if run.reference else None,
        "state": run.state,
        "stage": run.stage,
        "progress_done": run.progress_done,
        "progress_total": run.progress_total,
        "inputs": run.inputs,
        "candidates": run.candidate_count,
        "fingerprint": run.fingerprint,
        "config": run.config,
        "funnel": run.funnel,
        "error": run.error,
    }


@router.post("/runs", response={201: RunOut, 400: Failure, 404: Failure})
def make_run(request: HttpRequest, data: RunIn) -> Any:
    """Start a screening run in the background.

    ``reference``: the slug of a collection to compare with, whose texts are not compared among themselves; pairs are then
    of one new text and one reference unless ``within`` asks for pairs of two new texts too. The leak report is one of
    the files of the run.
    """
    _require(request, "manage_runs")
    collection = get_object_or_404(_collections(request), slug=data.collection)
    reference = (
        get_object_or_404(_collections(request), slug=data.reference) if data.reference else None
    )
    try:
        config = (
            ScreeningConfig.from_dict(data.config)
            if data.config is not None
            else ScreeningConfig.preset(data.preset)
            if data.preset
            else ScreeningConfig()
        )
        if reference is not None:
            config = replace(config, across_only=not data.within)
        run = start_run(
            collection=collection,
            config=config,
            preset=data.preset,
            actor=person_of(request),
            reference=reference,
        )
    except ConfigError as error:
        # The configuration is pure and knows no languages: its own words are English.
        raise ApiError(400, "not_started", _(error.template) % error.params) from error
    except RunsError as error:
        raise ApiError(400, "not_started", str(error)) from error
    return Status(201, _run_out(run))


@router.get("/runs/{run_id}", response={200: RunOut, 404: Failure})
def see_run(request: HttpRequest, run_id: int) -> Any:
    """The state, progress and funnel of a run."""
    _require(request, "see_runs")
    return _run_out(get_object_or_404(_runs(request), pk=run_id))


class CandidateOut(Schema):
    id: str
    rank: int
    left: str
    right: str
    channels: list[str]
    minhash_estimate: float | None
    jaccard: float
    jaccard_folded: float | None
    containment: float
    representative: bool
    suggestion: str


class CandidatePage(Schema):
    candidates: list[CandidateOut]
    next: int | None


@router.get("/runs/{run_id}/candidates", response={200: CandidatePage, 404: Failure})
def list_candidates(request: HttpRequest, run_id: int, after: int = 0, limit: int = PAGE) -> Any:
    """Candidates in order of rank, after rank ``after``; ``next`` is the value for the following page."""
    _require(request, "see_candidates")
    run = get_object_or_404(_runs(request), pk=run_id, state=ScreeningRun.State.DONE)
    size = max(1, min(limit, 1000))
    # Ranks beyond what the column holds cannot exist; asking the database for them would be an error on PostgreSQL.
    rows = list(
        Candidate.objects.filter(run=run, rank__gt=max(0, min(after, 2_147_483_646)))
        .select_related("pair__low__collection", "pair__high__collection")
        .defer("pair__low__raw", "pair__high__raw")
        .order_by("rank")[:size]
    )
    return {
        "candidates": [
            {
                "id": str(row.pk),
                "rank": row.rank,
                "left": row.pair.left.doc_id,
                "right": row.pair.right.doc_id,
                "channels": row.channels,
                "minhash_estimate": row.minhash_estimate,
                "jaccard": row.jaccard,
                "jaccard_folded": row.jaccard_folded,
                "containment": row.containment,
                "representative": row.representative,
                "suggestion": row.suggestion,
            }
            for row in rows
        ],
        "next": rows[-1].rank if len(rows) == size else None,
    }
