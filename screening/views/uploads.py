"""Bringing files in, and the report of what became of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dedupreview.pages import STOP_POLLING, page_of
from dedupreview.people.access import person_of, require
from screening import importing
from screening.models import DocumentImport
from screening.staging import Readable
from screening.views.reach import collection_for, import_for

OVER = frozenset({DocumentImport.State.DONE, DocumentImport.State.FAILED})


@require("manage_collections")
@require_http_methods(["GET", "POST"])
def upload(request: HttpRequest, slug: str) -> HttpResponse:
    """Take in files, loose or as a folder, and go to their report.

    Each file part may be accompanied, in the same order, by a ``path`` field with its place in the folder: browsers
    send only the last part of the name with the file itself. Sending the same files again is noted as identical.
    """
    collection = collection_for(request, slug)
    context = {"collection": collection, "section": "collections"}
    if request.method == "GET":
        return render(request, "screening/upload.html", context)
    try:
        started = importing.receive_files(
            collection=collection, files=_received(request), actor=person_of(request)
        )
    except importing.ImportingError as error:
        return _refuse(request, context, str(error))
    address = reverse("screening:import-detail", args=[started.pk])
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"url": address})
    return redirect(address)


def _received(request: HttpRequest) -> list[tuple[str, Readable]]:
    """(relative path, file) of every part."""
    files = request.FILES.getlist("files") + request.FILES.getlist("folder")
    paths = request.POST.getlist("path")
    if len(paths) != len(files):
        paths = [file.name or "" for file in files]
    if not files:
        raise importing.ImportingError("No file arrived. Choose a folder or some files first.")
    return list(zip(paths, files, strict=True))


def _refuse(request: HttpRequest, context: dict[str, object], words: str) -> HttpResponse:
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"detail": words}, status=400)
    return render(request, "screening/upload.html", context | {"error": words}, status=400)


@require("see_runs")
@require_safe
def import_detail(request: HttpRequest, import_id: int) -> HttpResponse:
    """The report of one import, live while it runs: what was added, was there already, was refused and why."""
    return render(request, "screening/import_detail.html", _report(request, import_id))


@require("see_runs")
@never_cache
@require_safe
def import_progress(request: HttpRequest, import_id: int) -> HttpResponse:
    """The live part of the report; tells the page to stop asking when the import is over."""
    context = _report(request, import_id)
    response = render(request, "screening/_import.html", context)
    if context["over"]:
        response.status_code = STOP_POLLING
    return response


def _report(request: HttpRequest, import_id: int) -> dict[str, object]:
    received = import_for(request, import_id)
    rows = received.report.get("rows", [])
    shown = request.GET.get("status", "")
    if shown in {"added", "identical", "refused"}:
        rows = [row for row in rows if row.get("status") == shown]
    else:
        shown = ""
    return {
        "import": received,
        "over": received.state in OVER,
        "collection": received.collection,
        "page": page_of(request, rows, 100),
        "status": shown,
        "section": "collections",
    }
