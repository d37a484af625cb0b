"""Pages of collections."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import may, person_of, require, within_reach
from dedupreview.people.audit import record
from screening import rechecking
from screening.forms import CollectionForm
from screening.models import Collection, Document, ScreeningRun
from screening.reach import collection_for


@require("see_documents")
@require_safe
def collection_list(request: HttpRequest) -> HttpResponse:
    """The collections within reach, with how much is in them."""
    mine = within_reach(Collection.objects.all(), person_of(request), through="memberships")
    rows = mine.annotate(
        document_count=_count(Document.objects.all()),
        run_count=_count(ScreeningRun.objects.all()),
    ).order_by("-created_at", "-pk")
    context = {"page": page_of(request, rows.distinct(), 50), "section": "collections"}
    return render(request, "screening/collection_list.html", context)


def _count(rows: QuerySet[Document] | QuerySet[ScreeningRun]) -> Coalesce:
    """Rows of a collection, counted apart: two joins at once would count every pair of rows."""
    counted = rows.filter(collection=OuterRef("pk")).order_by().values("collection")
    return Coalesce(
        Subquery(counted.annotate(n=Count("pk")).values("n"), output_field=IntegerField()), 0
    )


@require("manage_collections")
@require_http_methods(["GET", "POST"])
def create_collection(request: HttpRequest) -> HttpResponse:
    """A new, empty collection; next come its texts."""
    form = CollectionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            collection = _create(request, form)
        except IntegrityError:  # the same form, sent twice at once
            return redirect("screening:collection-detail", slug=form.cleaned_data["slug"])
        messages.success(request, _("The collection is there. Now upload its texts."))
        return redirect("screening:upload", slug=collection.slug)
    context = {"form": form, "section": "collections"}
    return render(request, "screening/collection_form.html", context)


@transaction.atomic
def _create(request: HttpRequest, form: CollectionForm) -> Collection:
    collection: Collection = form.save(commit=False)
    collection.created_by = person_of(request)
    collection.save()
    record(
        actor=person_of(request),
        action="collection.created",
        subject_type="collection",
        subject_id=collection.slug,
    )
    return collection


def _last(collection: Collection) -> Subquery:
    """How many pairs a round has: positions run from 1 on, and the last is found without counting a million."""
    items: Any = collection.rounds.model._meta.get_field("items").related_model
    of_round = items.objects.filter(round=OuterRef("pk")).order_by("-position")
    return Subquery(of_round.values("position")[:1])


@require("see_documents")
@require_safe
def collection_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One collection: its texts, and for those who oversee it imports, runs, label sets and rounds."""
    collection = collection_for(request, slug)
    documents = collection.documents.defer("raw").order_by("doc_id", "pk")
    context: dict[str, object] = {
        "collection": collection,
        "document_count": documents.count(),
        "documents": documents[:10],
        "section": "collections",
    }
    if may(request.user, "see_runs"):
        context |= {
            "checked": rechecking.last_check(),
            "imports": collection.imports.order_by("-pk")[:5],
            "runs": collection.runs.order_by("-pk")[:10],
            "label_sets": collection.label_sets.annotate(row_count=Count("rows")).order_by("-pk")[
                :10
            ],
            "rounds": collection.rounds.annotate(item_count=_last(collection)).order_by("-pk")[:10],
        }
    return render(request, "screening/collection_detail.html", context)
