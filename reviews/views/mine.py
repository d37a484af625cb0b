"""A person's own history, and the two originals of a pair one click away."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dedupreview.pages import page_of
from dedupreview.people.access import person_of, require
from dedupreview.people.models import Person
from reviews import judging
from reviews.items import is_swapped
from reviews.labels import Label, ReasonCode, label_sign
from reviews.models import Judgment, ReviewItem
from reviews.views.answers import choice_name, version_words
from reviews.views.items import item_for
from screening import originals
from screening.models import Document


@require("judge")
@never_cache
@require_GET
def my_judgments(request: HttpRequest) -> HttpResponse:
    """The signed-in person's own judgments, latest first; nothing that others said, nor whether they agree."""
    person = person_of(request)
    own = judging.standing_of(person)
    sides = ("item__pair__low", "item__pair__high")
    named = own.select_related("annotator", *(f"{side}__collection" for side in sides))
    page = page_of(request, named.defer(*(f"{side}__raw" for side in sides)), 50)
    rows = [_row(judgment) for judgment in page]
    return render(request, "reviews/mine.html", {"page": page, "rows": rows})


def _row(judgment: Judgment) -> dict[str, Any]:
    item = judgment.item
    first = judgment.created_at
    until = None
    # By time alone until the pair is closed: an offer that vanished would tell that somebody disagrees.
    if judgment.counted and item.state != ReviewItem.State.CLOSED:
        # The grace time runs from the first version; a correction does not prolong it.
        if judgment.version > 1:
            first = item.judgments.get(
                annotator_id=judgment.annotator_id, version=1, counted=True
            ).created_at
        end = first + timedelta(minutes=item.round.grace_minutes)
        until = end if end > timezone.now() else None
    return {
        "judgment": judgment,
        "item": item,
        "titles": _titles(item, judgment.annotator),
        "label": judgment.label,
        "name": str(Label(judgment.label).label),
        "sign": label_sign(judgment.label),
        "code_name": choice_name(ReasonCode, judgment.reason_code),
        "until": until,
        "closed": item.state == ReviewItem.State.CLOSED,
        "note": version_words(judgment),
    }


def _titles(item: ReviewItem, person: Person) -> list[str]:
    """The titles of a pair in the order in which the person saw the texts."""
    both = [item.pair.left, item.pair.right]
    if is_swapped(item, person):
        both.reverse()
    return [document.title or document.doc_id for document in both]


def _document(request: HttpRequest, item_id: int, side: str) -> Document:
    view = item_for(person_of(request), item_id)
    return view.left if side == "left" else view.right


@require("see_home")
@never_cache
@require_GET
def original_text(request: HttpRequest, item_id: int, side: str) -> HttpResponse:
    """The raw text of one side, complete and unmarked; ``?form=normalized`` gives what the screening compares."""
    document = _document(request, item_id, side)
    normalized = request.GET.get("form") == "normalized"
    text = document.raw
    if normalized:
        # The kernels are loaded for who asks for them, not with every page.
        from screening.text.normalise import normalise

        text = normalise(document.raw).text
    context = {"document": document, "item_id": item_id, "text": text, "normalized": normalized}
    return render(request, "reviews/original_text.html", context)


@require("see_home")
@require_GET
def original_file(request: HttpRequest, item_id: int, side: str) -> FileResponse:
    """The file as it was received, always as a download: nothing in it may run here."""
    source = _document(request, item_id, side).source_file
    try:
        stream = originals.open_original(source.sha256)
    except FileNotFoundError:
        raise Http404 from None
    name = source.original_path.replace("\\", "/").rsplit("/", 1)[-1] or source.sha256
    response = FileResponse(stream, content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response
