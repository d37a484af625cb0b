"""The API's routes about signed tables."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status

from dedupreview.api import ApiError, Failure
from dedupreview.people.access import may, person_of
from reviews import tables as services
from reviews.api.common import (
    number,
    round_of,
)
from reviews.models import (
    ReviewTable,
)

router = Router(tags=["reviews"])


class TableOut(Schema):
    id: str
    round: str
    number: int
    state: str
    provisional: bool
    manifest_sha256: str
    key_fingerprint: str
    error: str
    stage: str
    progress_done: int
    progress_total: int


def _table_out(row: ReviewTable) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "round": str(row.round_id),
        "number": row.number,
        "state": row.state,
        "provisional": row.provisional,
        "manifest_sha256": row.manifest_sha256,
        "key_fingerprint": row.key_fingerprint,
        "error": row.error,
        "stage": row.stage,
        "progress_done": row.progress_done,
        "progress_total": row.progress_total,
    }


@router.post("/rounds/{round_id}/tables", response={202: TableOut, 400: Failure, 404: Failure})
def make_table(request: HttpRequest, round_id: str) -> Any:
    """Ask for a signed table of the round; it is made in the background."""
    if not may(request.user, "manage_tables"):
        raise Http404
    try:
        row = services.request_table(round=round_of(request, round_id), actor=person_of(request))
    except services.TableError as error:
        raise ApiError(400, "not_exported", str(error)) from error
    return Status(202, _table_out(row))


def _table(request: HttpRequest, table_id: str) -> ReviewTable:
    if not may(request.user, "see_tables"):
        raise Http404
    return get_object_or_404(ReviewTable, pk=number(table_id))


@router.get("/tables/{table_id}", response={200: TableOut, 404: Failure})
def see_table(request: HttpRequest, table_id: str) -> Any:
    """The state and digests of a table."""
    return _table_out(_table(request, table_id))


@router.get(
    "/tables/{table_id}/download",
    response={404: Failure},
    openapi_extra={
        "responses": {
            200: {
                "description": "The table as a zip",
                "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
            }
        }
    },
)
def download_table(request: HttpRequest, table_id: str) -> Any:
    """The folder of a finished table as one zip; in parts too, where ``Accept-Ranges`` says so."""
    return services.zip_response(request, _table(request, table_id))
