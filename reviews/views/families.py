"""Pages of groups, contradictions and lineage, and of the entry proposed for a group."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import person_of, require
from reviews import families
from reviews.relations import Group
from reviews.rounds import RoundError
from screening.models import Collection, Document

WIDEST = 40
"""Members up to which a group's matrix is drawn; beyond it nobody could read it."""
LISTED = 200
"""Contradictions, circles and steps of lineage shown at most; the page says of how many."""


@dataclass(frozen=True)
class Row:
    """A line of a group's matrix: a text, and for each text before it what the pair is."""

    number: int
    document: Document
    states: list[str]


@require("see_rounds")
@require_safe
def relation_list(request: HttpRequest, collection_id: int) -> HttpResponse:
    """Everything that the closed pairs of a collection say together."""
    collection = get_object_or_404(Collection, pk=collection_id)
    found = families.overview(collection)
    page = page_of(request, found.groups, 50)
    contradictions = found.contradictions[:LISTED]
    edges, circles = found.lineage.edges[:LISTED], found.lineage.refused[:LISTED]
    keys = {group.members[0] for group in page.object_list}
    for some in (*(c.documents for c in contradictions), *edges, *circles):
        keys.update(some)
    documents = families.documents_of(keys)
    context = {
        "collection": collection,
        "page": page,
        "groups": [(group, documents[group.members[0]]) for group in page.object_list],
        "contradictions": [
            (c, [documents[k] for k in c.documents], f"{c.pair[0]}-{c.pair[1]}")
            for c in contradictions
        ],
        "contradiction_count": len(found.contradictions),
        "edges": [(documents[one], documents[other]) for one, other in edges],
        "edge_count": len(found.lineage.edges),
        "undirected": len(found.lineage.undirected),
        "circles": [[documents[k] for k in circle] for circle in circles],
        "section": "collections",
    }
    return render(request, "reviews/relations.html", context)


def _group(collection: Collection, document_id: int) -> Group:
    group = families.overview(collection).group_of(document_id)
    if group is None:
        raise Http404
    return group


@require("see_rounds")
@require_safe
def group_detail(request: HttpRequest, collection_id: int, document_id: int) -> HttpResponse:
    """One group of copies: what of it is judged, what only implied, and the entry proposed for it."""
    return _show(request, get_object_or_404(Collection, pk=collection_id), document_id)


def _show(
    request: HttpRequest, collection: Collection, document_id: int, error: str = ""
) -> HttpResponse:
    group = _group(collection, document_id)
    proposal = families.proposal_for(group)
    shown = group.members[:WIDEST]
    documents = families.documents_of(shown)
    rows = [
        Row(n, documents[key], [group.state_of(key, other) for other in shown[: n - 1]])
        for n, key in enumerate(shown, 1)
    ]
    context = {
        "collection": collection,
        "group": group,
        "document_id": document_id,
        "rows": rows,
        "more": len(group.members) - len(shown),
        "implied": group.pairs - group.judged,
        "run": collection.runs.filter(state="done").first(),
        "proposal": proposal,
        "digest": families.proposal_digest(proposal) if proposal else "",
        "entries": families.entries_of(collection, proposal) if proposal else [],
        "error": error,
        "section": "collections",
    }
    return render(request, "reviews/group.html", context)


@require("manage_rounds")
@require_POST
def sign_entry(request: HttpRequest, collection_id: int, document_id: int) -> HttpResponse:
    """Sign the proposed entry of a group with one's password; no document changes."""
    collection = get_object_or_404(Collection, pk=collection_id)
    try:
        families.sign_entry(
            collection=collection,
            document=document_id,
            shown=request.POST.get("shown", ""),
            person=person_of(request),
            password=request.POST.get("password", ""),
        )
    except families.FamiliesError as error:
        return _show(request, collection, document_id, str(error))
    messages.success(request, _("Signed. The documents are as they were."))
    return redirect("reviews:group-detail", collection_id, document_id)


@require("manage_rounds")
@require_POST
def ask_again(request: HttpRequest, collection_id: int) -> HttpResponse:
    """Open a round over a contradiction, for people who saw none of its pairs."""
    collection = get_object_or_404(Collection, pk=collection_id)
    one, _dash, other = request.POST.get("pair", "").partition("-")
    if not all(part.isascii() and part.isdigit() and len(part) <= 18 for part in (one, other)):
        raise Http404
    try:
        opened = families.ask_again(
            collection=collection,
            pair=(int(one), int(other)),
            name=_("%(collection)s, contradiction") % {"collection": collection},
            actor=person_of(request),
        )
    except (families.FamiliesError, RoundError) as error:
        messages.error(request, str(error))
        return redirect("reviews:relation-list", collection.pk)
    messages.success(request, _("The round is open, for people who saw none of these pairs."))
    return redirect("reviews:round-detail", opened.pk)
