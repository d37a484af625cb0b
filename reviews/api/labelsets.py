"""The API's routes about label sets."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile

from dedupreview.api import ApiError, Failure
from dedupreview.people.access import may, person_of, within_reach
from reviews import labelsets as services
from reviews.errors import ReviewError
from screening.models import Collection

router = Router(tags=["reviews"])


class LabelReportOut(Schema):
    accepted: int
    refused_count: int
    conflict_count: int
    labels: dict[str, int]
    sha256: str
    refused: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]
    label_set: int | None


@router.post(
    "/label-sets",
    response={200: LabelReportOut, 201: LabelReportOut, 400: Failure, 404: Failure},
)
def add_label_set(
    request: HttpRequest,
    collection: Form[str],
    name: Form[str],
    file: UploadedFile = File(...),  # type: ignore[type-arg]  # noqa: B008
    dry_run: Form[bool] = False,
) -> Any:
    """Upload labelled pairs; with ``dry_run`` only the report is made."""
    if not may(request.user, "manage_label_sets"):
        raise Http404
    person = person_of(request)
    reachable = within_reach(Collection.objects.all(), person, through="memberships")
    row = get_object_or_404(reachable, slug=collection)
    try:
        report = services.import_labels(
            collection=row,
            name=name,
            filename=file.name or "labels",
            data=file.read(),
            actor=person,
            dry_run=dry_run,
        )
    except ReviewError as error:
        raise ApiError(400, error.code, str(error)) from error
    return Status(200 if dry_run else 201, report.to_dict())
