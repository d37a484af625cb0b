"""Uploading labelled pairs: looked through first, stored on confirmation."""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import person_of, require
from reviews import labelsets as services
from reviews.forms import LabelSetForm
from reviews.models import LabelSet
from screening import originals
from screening.models import Collection

KEPT_SECONDS = 24 * 3600
"""How long an uploaded file waits for its confirmation."""


@require("manage_label_sets")
@require_http_methods(["GET", "POST"])
def upload(request: HttpRequest, collection_id: int) -> HttpResponse:
    """First POST: read the file and show what would be accepted and refused. Second POST: store it."""
    collection = get_object_or_404(Collection, pk=collection_id)
    if request.method == "POST" and "sha256" in request.POST:
        return _confirm(request, collection)
    form = LabelSetForm(request.POST or None, request.FILES or None)
    context: dict[str, object] = {"collection": collection, "form": form, "section": "collections"}
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data["file"].read()
        filename = form.cleaned_data["file"].name
        try:
            report = services.import_labels(
                collection=collection,
                name=form.cleaned_data["name"],
                filename=filename,
                data=data,
                actor=person_of(request),
                dry_run=True,
            )
        except services.LabelSetError as error:
            form.add_error("name" if error.code in {"name", "name_taken"} else "file", str(error))
        else:
            context |= {
                "report": report.stored(),
                "sha256": _set_aside(data),
                "filename": filename,
            }
    return render(request, "reviews/label_set_upload.html", context)


def _confirm(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Store the file that was looked through; sent twice, the set that is there is shown."""
    name = request.POST.get("name", "")[:200].strip()
    data = _fetch(request.POST.get("sha256", ""))
    if data is None:
        messages.error(request, _("The file is no longer here; please choose it again."))
        return redirect("reviews:upload-labels", collection_id=collection.pk)
    try:
        report = services.import_labels(
            collection=collection,
            name=name,
            filename=request.POST.get("filename", "")[:300],
            data=data,
            actor=person_of(request),
        )
    except services.LabelSetError as error:
        messages.error(request, str(error))
        return redirect("reviews:upload-labels", collection_id=collection.pk)
    assert report.label_set is not None  # only a dry run has none
    messages.success(request, _("The label set is stored."))
    return redirect("reviews:label-set-detail", label_set_id=report.label_set.pk)


def _waiting_room() -> Path:
    room: Path = settings.DATA_DIR / "cache" / "labels"
    room.mkdir(parents=True, exist_ok=True)
    return room


def _set_aside(data: bytes) -> str:
    """Keep the bytes until they are confirmed, and forget files that nobody confirmed within a day."""
    room = _waiting_room()
    for old in room.iterdir():
        if time.time() - old.stat().st_mtime > KEPT_SECONDS:
            old.unlink(missing_ok=True)
    digest = hashlib.sha256(data).hexdigest()
    (room / digest).write_bytes(data)
    return digest


def _fetch(digest: str) -> bytes | None:
    """The bytes set aside under a digest; None if they are gone or the digest is none."""
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        return None
    path = _waiting_room() / digest
    return path.read_bytes() if path.is_file() else None


@require("see_label_sets")
@require_safe
def label_set_detail(request: HttpRequest, label_set_id: int) -> HttpResponse:
    """One label set: where it came from, what was refused, and its rows."""
    label_set = get_object_or_404(LabelSet.objects.select_related("collection"), pk=label_set_id)
    rows = label_set.rows.select_related("pair__low__collection", "pair__high__collection").defer(
        "pair__low__raw", "pair__high__raw"
    )
    context = {
        "label_set": label_set,
        "collection": label_set.collection,
        "page": page_of(request, rows.order_by("line", "pk"), 50),
        "section": "collections",
    }
    return render(request, "reviews/label_set_detail.html", context)


@require("see_label_sets")
@require_safe
def original(request: HttpRequest, label_set_id: int) -> FileResponse:
    """The label file as it was uploaded."""
    label_set = get_object_or_404(LabelSet, pk=label_set_id)
    try:
        stream = originals.open_original(label_set.sha256)
    except OSError:
        raise Http404 from None
    return FileResponse(
        stream,
        as_attachment=True,
        filename=label_set.filename,
        content_type="application/octet-stream",
    )
