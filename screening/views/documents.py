"""Pages of single texts and their originals."""

from __future__ import annotations

from pathlib import PurePosixPath

from django.db.models import Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import require
from screening import originals
from screening.models import Document
from screening.views.reach import collection_for, document_for

METADATA_NAMES = {
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
        "section": "collections",
    }
    return render(request, "screening/document_detail.html", context)


def _metadata(document: Document) -> list[tuple[object, object]]:
    """(name, value) of what is known about the text, in a fixed order; empty values are left out."""
    known = [
        (_("Source"), document.source_id),
        (_("Version"), document.version),
        (_("Captured at"), document.captured_at),
        *((name, document.metadata.get(key)) for key, name in METADATA_NAMES.items()),
    ]
    return [(name, value) for name, value in known if value not in (None, "", [])]


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
