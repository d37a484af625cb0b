"""The API's routes about label sets."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import File, Form, Router, Status
from ninja.files import UploadedFile

from dedupreview.api import ApiError, Failure
from dedupreview.people.access import may, person_of, within_reach
from reviews import labelsets as services
from reviews.errors import ReviewError
from screening.models import Collection

router = Router(tags=["reviews"])


@router.post("/label-sets", response={200: dict, 201: dict, 400: Failure, 404: Failure})
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
