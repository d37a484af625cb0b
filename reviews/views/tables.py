"""Exporting, reading, downloading and verifying signed review tables."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dedupreview.pages import STOP_POLLING, is_partial
from dedupreview.people.access import person_of, require
from reviews import tables as services
from reviews.forms import VerifyTableForm
from reviews.models import ReviewRound, ReviewTable

FORM_ROOM = 64 * 1024
"""Bytes of a request beside the file it brings."""
UNDER_WAY = (ReviewTable.State.QUEUED, ReviewTable.State.RUNNING)


@require("manage_tables")
@require_POST
def export(request: HttpRequest, round_id: int) -> HttpResponse:
    """Ask for a table of the round; while one is being made, that one is shown."""
    round = get_object_or_404(ReviewRound, pk=round_id)
    table = round.tables.filter(state__in=UNDER_WAY).first()
    if table is None:
        try:
            table = services.request_table(round=round, actor=person_of(request))
        except services.TableError as error:
            messages.error(request, str(error))
            return redirect("reviews:round-detail", round_id=round.pk)
    else:
        messages.info(request, _("A table of this round is already being made."))
    return redirect("reviews:table-detail", table_id=table.pk)


@require("see_tables")
@never_cache
@require_safe
def table_detail(request: HttpRequest, table_id: int) -> HttpResponse:
    """One table: its state, its digests, the key it is signed with and how a stranger verifies it."""
    table = _table(table_id)
    over = table.state not in UNDER_WAY
    context = {
        "table": table,
        "round": table.round,
        "collection": table.round.collection,
        "over": over,
        "polled": is_partial(request),
        "section": "rounds",
    }
    if not is_partial(request):
        return render(request, "reviews/table_detail.html", context)
    response = render(request, "reviews/_table.html", context)
    if over:
        response.status_code = STOP_POLLING
    return response


def _table(table_id: int) -> ReviewTable:
    rows = ReviewTable.objects.select_related("round__collection", "previous")
    return get_object_or_404(rows, pk=table_id)


@require("see_tables")
@require_safe
def download(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """The folder of a finished table as one zip, or a part of it."""
    return services.zip_response(request, _table(table_id))


@csrf_exempt
@require("see_tables")
@require_http_methods(["GET", "POST"])
def verify(request: HttpRequest) -> HttpResponseBase:
    """Verify a table that was handed in. What is too large is turned away before it is read, hence before the form's
    own token, which :func:`_verify` asks for."""
    limit = settings.TABLE_LIMITS["upload_bytes"]
    if int(request.META.get("CONTENT_LENGTH") or 0) > limit + FORM_ROOM:
        context = {"form": VerifyTableForm(), "too_large": True, "limit": limit}
        return render(
            request, "reviews/verify_table.html", context | {"section": "rounds"}, status=413
        )
    return _verify(request)


@csrf_protect
def _verify(request: HttpRequest) -> HttpResponse:
    form = VerifyTableForm(request.POST or None, request.FILES or None)
    context: dict[str, object] = {
        "form": form,
        "limit": settings.TABLE_LIMITS["upload_bytes"],
        "section": "rounds",
    }
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data["fingerprint"]
        try:
            with _as_path(form.cleaned_data["file"]) as path:
                found = services.verify_table(
                    path,
                    fingerprint=given or None,
                    limit=settings.TABLE_LIMITS["unpacked_bytes"],
                    name=form.cleaned_data["file"].name,
                )
        except services.TableError as error:
            form.add_error("fingerprint", str(error))
        else:
            context |= {"found": found, "name": form.cleaned_data["file"].name}
    return render(request, "reviews/verify_table.html", context)


@contextmanager
def _as_path(file: UploadedFile[Any]) -> Iterator[Path]:
    """The uploaded file on the disk, where it already lies if it is large."""
    if isinstance(file, TemporaryUploadedFile):
        yield Path(file.temporary_file_path())
        return
    with tempfile.NamedTemporaryFile(suffix=".zip") as copy:
        for piece in file.chunks():
            copy.write(piece)
        copy.flush()
        yield Path(copy.name)
