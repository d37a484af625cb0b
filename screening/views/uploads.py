"""Bringing files in, and the report of what became of them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dedupreview.pages import STOP_POLLING, page_of
from dedupreview.people.access import person_of, require
from screening import importing
from screening.models import DocumentImport
from screening.reach import collection_for, import_for
from screening.staging import Readable, Staging

STATUSES = ("added", "identical", "refused")
RESTING = frozenset(DocumentImport.State) - {
    DocumentImport.State.QUEUED,
    DocumentImport.State.RUNNING,
}


@require("manage_collections")
@require_http_methods(["GET", "POST"])
def upload(request: HttpRequest, slug: str) -> HttpResponse:
    """Take in files, loose or as a folder, and go to the report on what would become of them.

    Each file part may be accompanied, in the same order, by a ``path`` field with its place in the folder: browsers
    send only the last part of the name with the file itself. Sending the same files again is noted as identical.
    """
    collection = collection_for(request, slug)
    context = {"collection": collection, "section": "collections"}
    if request.method == "GET":
        return render(request, "screening/upload.html", context)
    try:
        started = importing.receive_files(
            collection=collection,
            files=_received(request),
            actor=person_of(request),
            check_first=True,
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


@require("manage_collections")
@require_POST
def confirm(request: HttpRequest, import_id: int) -> HttpResponse:
    """Add what the check found (``confirm``), forget the files (``discard``), or read one as ``encoding`` and check again."""
    received = import_for(request, import_id)
    act = importing.discard_import if "discard" in request.POST else importing.confirm_import
    try:
        if "encoding" in request.POST:
            importing.choose_encoding(
                row=received,
                place=request.POST.get("place", ""),
                encoding=request.POST["encoding"],
                actor=person_of(request),
            )
        else:
            act(row=received, actor=person_of(request))
    except importing.ImportingError as error:
        messages.error(request, str(error))
    return redirect("screening:import-detail", received.pk)


def _report(request: HttpRequest, import_id: int) -> dict[str, object]:
    received = import_for(request, import_id)
    rows = received.report.get("rows", [])
    listed = len(rows)
    shown = request.GET.get("status", "")
    if shown in STATUSES:
        rows = [row for row in rows if row.get("status") == shown]
    else:
        shown = ""
    page = page_of(request, rows, 100)
    return {
        "import": received,
        "over": received.state in RESTING,
        "collection": received.collection,
        "page": page,
        "rows": _with_documents(received, list(page.object_list)),
        "listed": listed,
        "total": sum(received.report.get(name, 0) for name in STATUSES),
        "status": shown,
        "section": "collections",
    }


def _with_documents(
    received: DocumentImport, rows: list[dict[str, Any]]
) -> list[tuple[dict[str, Any], int | None]]:
    """Rows of the report with the key of the document they are about, if it is there."""
    ids = {row["doc_id"] for row in rows if row.get("doc_id")}
    there = received.collection.documents.filter(doc_id__in=ids)
    keys = dict(there.values_list("doc_id", "pk"))
    return [(row, keys.get(row.get("doc_id", ""))) for row in rows]


@require("see_runs")
@require_safe
def import_report(request: HttpRequest, import_id: int) -> FileResponse:
    """Every row of the report as JSON lines: the page itself lists a bounded number of them."""
    received = import_for(request, import_id)
    if received.state != DocumentImport.State.DONE:
        raise Http404
    try:
        stream = Staging.of(received.staging).report.open("rb")
    except OSError:
        raise Http404 from None
    name = f"{received.collection.slug}-import-{received.pk}.jsonl"
    return FileResponse(stream, as_attachment=True, filename=name)
