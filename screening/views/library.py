"""The template library of a collection: its entries, and what people decide about them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import person_of, require
from screening import template_library
from screening.models import Document, TemplateEntry
from screening.reach import collection_for

State = TemplateEntry.State


@require("see_runs")
@require_safe
def library(request: HttpRequest, slug: str) -> HttpResponse:
    """The entries of one state, those of most texts first, each with its slots marked and links to where it stands."""
    collection = collection_for(request, slug)
    rows = TemplateEntry.objects.filter(collection=collection)
    asked = request.GET.get("state", "")
    state = asked if asked in State.values else ""
    counts = [(value, name, rows.filter(state=value).count()) for value, name in State.choices]
    shown = rows.filter(state=state) if state else rows
    page = page_of(request, shown.select_related("decided_by").order_by("-documents", "pk"), 20)
    wanted = {example["document"] for row in page.object_list for example in row.examples}
    documents = Document.objects.filter(collection=collection).in_bulk(wanted)
    context = {
        "collection": collection,
        "page": page,
        "rows": [(row, *_places(row, documents)) for row in page.object_list],
        "state": state,
        "counts": counts,
        "total": sum(count for _value, _name, count in counts),
        "section": "collections",
    }
    return render(request, "screening/library.html", context)


def _places(
    row: TemplateEntry, documents: dict[int, Document]
) -> tuple[list[tuple[bool, str]], list[tuple[Document, int, int]]]:
    """The first example as stretches (fixed or slot, text), and (document, start, end) of all."""
    places = [
        (documents[one["document"]], one["start"], one["end"])
        for one in row.examples
        if one["document"] in documents
    ]
    stretches: list[tuple[bool, str]] = []
    for one in row.examples[:1]:
        raw = documents[one["document"]].raw if one["document"] in documents else ""
        at = one["start"]
        for start, end in one["fixed"]:
            if start > at:
                stretches.append((False, raw[at:start]))
            stretches.append((True, raw[start:end]))
            at = end
    return stretches, places


@require("manage_runs")
@require_POST
def propose_templates(request: HttpRequest, slug: str) -> HttpResponse:
    """Look through the texts for entries; what was decided stays decided."""
    collection = collection_for(request, slug)
    built = template_library.build(collection=collection, actor=person_of(request))
    words = ngettext(
        "%(entries)s entry found in %(looked)s of %(texts)s texts, %(new)s new.",
        "%(entries)s entries found in %(looked)s of %(texts)s texts, %(new)s new.",
        built.entries,
    ) % {
        "entries": built.entries,
        "looked": built.looked_at,
        "texts": built.texts,
        "new": built.new,
    }
    messages.success(request, words)
    return redirect("screening:template-library", slug=slug)


@require("manage_runs")
@require_POST
def decide_template(request: HttpRequest, entry_id: int) -> HttpResponse:
    """Confirm or reject an entry; pressing twice is harmless."""
    entry = get_object_or_404(TemplateEntry.objects.select_related("collection"), pk=entry_id)
    try:
        template_library.decide(
            entry=entry,
            state=request.POST.get("state", ""),
            seen=request.POST.get("seen", ""),
            actor=person_of(request),
        )
    except template_library.TemplateLibraryError as error:
        messages.error(request, str(error))
    shown = request.POST.get("shown", "")
    query = f"?state={shown}" if shown in State.values else ""
    return redirect(
        reverse("screening:template-library", args=[entry.collection.slug]) + f"{query}#e{entry.pk}"
    )
