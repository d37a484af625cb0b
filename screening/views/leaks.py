"""The leak report of a run against a reference collection, item by item."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import require
from screening import frozen, leaks, runs
from screening.forms import LeakFilter
from screening.models import Document, ScreeningRun
from screening.names import VERDICT_WORDS
from screening.reach import run_for

ITEMS = 50
TEXTS_SHOWN, PLACES_SHOWN, EXCERPT = 5, 3, 200


@require("see_candidates")
@require_safe
def leak_report(request: HttpRequest, run_id: int) -> HttpResponse:
    """What became of every item: its verdict, the texts in which it stands, and where in either."""
    run = run_for(request, run_id)
    folder = runs.run_folder(run)
    if run.reference_id is None or run.state != ScreeningRun.State.DONE:
        raise Http404
    context: dict[str, object] = {"run": run, "collection": run.collection, "section": "collections"}
    try:
        rows, keys = leaks.read_leaks(folder), frozen.keys_by_id(folder)
    except OSError:
        return render(request, "screening/leaks.html", context | {"gone": True})
    form = LeakFilter(request.GET)
    form.is_valid()
    counts = Counter(row["verdict"] for row in rows)
    page = page_of(request, _chosen(rows, keys, form.cleaned_data), ITEMS)
    context |= {
        "form": form,
        "total": len(rows),
        "counts": [(VERDICT_WORDS[name], counts[name]) for name in leaks.VERDICTS if counts[name]],
        "filtered": bool(form.cleaned_data.get("q") or form.cleaned_data.get("verdict")),
        "page": page,
        "rows": _shown(list(page.object_list), keys),
    }
    return render(request, "screening/leaks.html", context)


def _chosen(
    rows: list[dict[str, Any]], keys: dict[tuple[str, str], int], wanted: dict[str, Any]
) -> list[dict[str, Any]]:
    if wanted.get("verdict"):
        rows = [row for row in rows if row["verdict"] == wanted["verdict"]]
    if words := str(wanted.get("q") or "").casefold():
        titles = _titles([keys["reference", row["item"]] for row in rows])
        rows = [
            row
            for row in rows
            if words in row["item"].casefold()
            or words in titles.get(keys["reference", row["item"]], "").casefold()
        ]
    sort = wanted.get("sort")
    if sort == "documents":
        return sorted(rows, key=lambda row: -len(row["leaks"]))
    if sort in ("covered", "longest"):
        return sorted(rows, key=lambda row: -max((leak[sort] for leak in row["leaks"]), default=-1))
    return rows


def _titles(keys: list[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for start in range(0, len(keys), 500):
        rows = Document.objects.filter(pk__in=keys[start : start + 500])
        found |= {pk: title or "" for pk, title in rows.values_list("pk", "title")}
    return found


def _shown(
    rows: list[dict[str, Any]], keys: dict[tuple[str, str], int]
) -> list[tuple[Document | None, dict[str, Any], list[dict[str, Any]], int]]:
    """(item, its row, its fullest texts with their places and the words there, how many more)."""
    wanted = {keys["reference", row["item"]] for row in rows}
    for row in rows:
        wanted |= {keys["subject", leak["document"]] for leak in row["leaks"][:TEXTS_SHOWN]}
    documents = Document.objects.in_bulk(wanted)
    shown = []
    for row in rows:
        texts = []
        for leak in row["leaks"][:TEXTS_SHOWN]:
            document = documents.get(keys["subject", leak["document"]])
            raw = document.raw if document else ""
            places = [(*place, raw[place[2] : place[3]][:EXCERPT]) for place in leak["places"]]
            texts.append(
                leak
                | {
                    "document": document,
                    "places": places[:PLACES_SHOWN],
                    "more": max(0, len(places) - PLACES_SHOWN),
                }
            )
        item = documents.get(keys["reference", row["item"]])
        row = row | {"words": VERDICT_WORDS.get(row["verdict"], row["verdict"])}
        shown.append((item, row, texts, max(0, len(row["leaks"]) - TEXTS_SHOWN)))
    return shown
