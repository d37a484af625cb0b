"""The ways of finding side by side, and the repeated passages of a run."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dedupreview.people.access import require
from screening import checking, frozen, runs
from screening.documents import InputDocument
from screening.fragments import LEAST, find_fragments, text_of
from screening.names import DRIFT_WORDS, KIND_WORDS, way_name
from screening.reach import run_for
from screening.selfcheck import KINDS

SHOWN_FRAGMENTS = 100
SHOWN_PLACES = 20
CHOSEN, CHOSEN_TYPED = 1_000, 50_000

MOST_CHARACTERS = 3_000_000
"""Characters of a run whose fragments are listed while the page waits (about a second); more are left to the command."""


@require("see_runs")
@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """The last self-check: every way on the same sample, and what differs from the accepted record."""
    check = checking.last_check()
    rows = []
    for way in check.ways if check else ():
        cells = [(way.found.get(kind, 0), way.labelled.get(kind, 0)) for kind in KINDS]
        rows.append((way_name(way.way), way, cells, 1000 * way.seconds))
    found = [
        (way_name(d.way), DRIFT_WORDS.get(d.what, d.what), d.accepted, d.now)
        for d in (check.drifts if check else ())
    ]
    context = {
        "check": check,
        "rows": rows,
        "kinds": [KIND_WORDS[kind] for kind in KINDS],
        "drifts": found,
        "section": "collections",
    }
    return render(request, "screening/ways.html", context)


@require("see_runs")
@require_safe
def fragments(request: HttpRequest, run_id: int) -> HttpResponse:
    """The passages that stand in two or more places of a run's texts, or of chosen ones, longest first, with their places."""
    run = run_for(request, run_id)
    asked = request.GET.get("least", "")
    least = min(10_000, max(20, int(asked))) if asked.isdecimal() and len(asked) < 7 else LEAST
    context: dict[str, object] = {
        "run": run,
        "collection": run.collection,
        "least": least,
        "section": "collections",
    }
    try:
        documents, keys = frozen.documents(runs.run_folder(run), run.collection, run.reference)
    except (OSError, frozen.InputsChanged):
        return render(request, "screening/fragments.html", context | {"gone": True})
    context["all_texts"] = len(documents)
    documents, keys, chosen = _chosen(request, documents, keys)
    context |= {"chosen": chosen, "texts": len(documents)}
    if sum(len(d.raw) for d in documents) > MOST_CHARACTERS:
        return render(request, "screening/fragments.html", context | {"too_large": MOST_CHARACTERS})
    found = find_fragments(documents, least=least)
    rows = [
        (
            fragment,
            text_of(documents, fragment),
            [(keys[p.document], documents[p.document], p) for p in fragment.places[:SHOWN_PLACES]],
            max(0, len(fragment.places) - SHOWN_PLACES),
        )
        for fragment in found[:SHOWN_FRAGMENTS]
    ]
    return render(
        request, "screening/fragments.html", context | {"rows": rows, "total": len(found)}
    )


def _chosen(
    request: HttpRequest, documents: list[InputDocument], keys: list[int]
) -> tuple[list[InputDocument], list[int], str]:
    """The texts that the address names, by id (one a line) or by key, and their ids as one would type them; else all.

    What is no text of the run is left out; where nothing of it is, nothing is listed.
    """
    typed = request.GET.get("only", "").replace("\0", "")[:CHOSEN_TYPED]
    named = {line.strip() for line in typed.splitlines() if line.strip()}
    numbers = {key for key in request.GET.getlist("text")[:CHOSEN] if key.isascii() and key.isdigit()}
    if not named and not numbers:
        return documents, keys, ""
    rows = [
        (document, key)
        for document, key in zip(documents, keys, strict=True)
        if document.doc_id in named or str(key) in numbers
    ]
    kept = [document for document, _key in rows]
    ids = "\n".join(document.doc_id for document in kept)
    return kept, [key for _document, key in rows], ids or typed.strip() or "–"
