"""Fetching rows for a person: what they may not see does not exist (404)."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from dedupreview.people.access import person_of, within_reach
from screening.models import Collection, Document, DocumentImport, ScreeningRun


def collection_for(request: HttpRequest, slug: str) -> Collection:
    """The collection, if it lies within the person's reach."""
    rows = within_reach(Collection.objects.all(), person_of(request), through="memberships")
    return get_object_or_404(rows.distinct(), slug=slug)


def document_for(request: HttpRequest, document_id: int) -> Document:
    """The document with its collection and original, if its collection lies within reach."""
    rows = Document.objects.select_related("collection", "source_file")
    mine = within_reach(rows, person_of(request), through="collection__memberships")
    return get_object_or_404(mine, pk=document_id)


def import_for(request: HttpRequest, import_id: int) -> DocumentImport:
    """The import with its collection; the page's action already excludes people without oversight."""
    return get_object_or_404(DocumentImport.objects.select_related("collection"), pk=import_id)


def run_for(request: HttpRequest, run_id: int) -> ScreeningRun:
    """The run with its collection; the page's action already excludes people without oversight."""
    return get_object_or_404(ScreeningRun.objects.select_related("collection"), pk=run_id)
