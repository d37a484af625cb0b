"""Pages of single texts and their originals."""

from __future__ import annotations

from pathlib import PurePosixPath

from django.db.models import Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import person_of, require
from screening import correcting, originals
from screening.models import Document
from screening.reach import collection_for, document_for

FIELD_NAMES = {
    "title": _("Title"),
    "source_id": _("Source"),
    "version": _("Version"),
    "captured_at": _("Captured at"),
    "doc_number": _("Document number"),
    "issuer": _("Issuer"),
    "published_on": _("Published on"),
    "author": _("Author"),
    "licence": _("Licence"),
    "original_source": _("Original source"),
    "attachments": _("Attachments"),
    "language": _("Language"),
    "doc_type": _("Kind of text"),
}


@require("see_documents")
@require_safe
def document_list(request: HttpRequest, slug: str) -> HttpResponse:
    """The texts of a collection, by id; ``q`` looks in id, title and source."""
    collection = collection_for(request, slug)
    rows = collection.documents.defer("raw").order_by("doc_id", "pk")
    words = request.GET.get("q", "").replace("\0", "").strip()[:200]
    if words:
        rows = rows.filter(
            Q(doc_id__icontains=words) | Q(title__icontains=words) | Q(source_id__icontains=words)
        )
    context = {
        "collection": collection,
        "page": page_of(request, rows, 50),
        "q": words,
        "section": "collections",
    }
    return render(request, "screening/document_list.html", context)


@require("see_documents")
@require_safe
def document_detail(request: HttpRequest, document_id: int) -> HttpResponse:
    """One text as it came, with where it came from and what was odd about it."""
    document = document_for(request, document_id)
    context = {
        "document": document,
        "collection": document.collection,
        "metadata": _metadata(document),
        "corrections": document.corrections.select_related("created_by").order_by("-number"),
        "section": "collections",
    }
    return render(request, "screening/document_detail.html", context)


def _metadata(document: Document) -> list[tuple[object, correcting.Known]]:
    """(name, what is known) in a fixed order; empty fields are left out, the title heads the page."""
    known = correcting.known(document)
    return [(FIELD_NAMES[field], known[field]) for field in correcting.FIELDS if field in known]


@require("manage_collections")
@require_http_methods(["GET", "POST"])
def correct_metadata(request: HttpRequest, document_id: int) -> HttpResponse:
    """Correct what is known about a text: a new version, with a name and a reason."""
    document = document_for(request, document_id)
    error = ""
    values = {field: one.value for field, one in correcting.known(document).items()}
    reason = ""
    if request.method == "POST":
        values = {field: request.POST.get(field, "").replace("\0", "") for field in FIELD_NAMES}
        reason = request.POST.get("reason", "").replace("\0", "")[:2000]
        try:
            correcting.correct(
                document=document, values=values, reason=reason, actor=person_of(request)
            )
        except correcting.CorrectingError as refused:
            error = str(refused)
        else:
            return redirect("screening:document-detail", document.pk)
    context = {
        "document": document,
        "collection": document.collection,
        "fields": [(field, name, values.get(field, "")) for field, name in FIELD_NAMES.items()],
        "reason": reason,
        "error": error,
        "section": "collections",
    }
    return render(
        request, "screening/document_metadata.html", context, status=400 if error else 200
    )


@require("see_documents")
@require_safe
def original(request: HttpRequest, document_id: int) -> FileResponse:
    """The bytes as received, always as a download: a page of somebody else's must not open in ours."""
    document = document_for(request, document_id)
    try:
        stream = originals.open_original(document.source_file.sha256)
    except OSError:
        raise Http404 from None
    return FileResponse(
        stream,
        as_attachment=True,
        filename=PurePosixPath(document.source_file.original_path.replace("\\", "/")).name,
        content_type="application/octet-stream",
    )
