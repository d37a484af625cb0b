"""Starting, watching and reading screening runs."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dedupreview.pages import STOP_POLLING, page_of
from dedupreview.people.access import person_of, require
from screening import heavy_words, leaks, runs, suggest
from screening.channels.simhash import Fingerprint
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.figures import channels_of, funnel_of, s_curve
from screening.forms import CandidateFilter, RunForm
from screening.models import Candidate, Collection, Document, ScreeningRun
from screening.names import FILE_WORDS, PRESET_WORDS, STAGE_NAMES
from screening.reach import collection_for, run_for

UNDER_WAY = (ScreeningRun.State.QUEUED, ScreeningRun.State.RUNNING)


@require("manage_runs")
@require_http_methods(["GET", "POST"])
def start_run(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose how to compare and start; the same run that is already under way is shown in place of a second one."""
    collection = collection_for(request, slug)
    form = RunForm(request.POST or None, collection=collection)
    if request.method == "POST" and form.is_valid():
        config: ScreeningConfig = form.cleaned_data["config"]
        reference: Collection | None = form.cleaned_data.get("reference")
        same = collection.runs.filter(
            state__in=UNDER_WAY, config=config.to_dict(), reference=reference
        ).first()
        if same:
            messages.info(request, _("This screening is already under way."))
            return redirect("screening:run-detail", run_id=same.pk)
        try:
            run = runs.start_run(
                collection=collection,
                config=config,
                preset=form.cleaned_data["preset"],
                actor=person_of(request),
                reference=reference,
            )
        except runs.RunsError as error:
            form.add_error(None, str(error))
        else:
            return redirect("screening:run-detail", run_id=run.pk)
    context = {
        "collection": collection,
        "document_count": collection.documents.count(),
        "form": form,
        "section": "collections",
    }
    return render(request, "screening/start_run.html", context)


@require("see_runs")
@require_safe
def run_detail(request: HttpRequest, run_id: int) -> HttpResponse:
    """One run: how far it is, what it found, and its files."""
    return render(request, "screening/run_detail.html", _run_context(run_for(request, run_id)))


@require("see_runs")
@never_cache
@require_safe
def run_progress(request: HttpRequest, run_id: int) -> HttpResponse:
    """The live part of the run page; tells the page to stop asking when the run is over."""
    run = run_for(request, run_id)
    response = render(request, "screening/_run.html", _run_context(run))
    if run.is_over:
        response.status_code = STOP_POLLING
    return response


def _run_context(run: ScreeningRun) -> dict[str, object]:
    context: dict[str, object] = {
        "run": run,
        "collection": run.collection,
        "preset_name": _preset_name(run),
        "stage_name": STAGE_NAMES.get(run.stage, run.stage),
        "section": "collections",
    }
    if run.state == ScreeningRun.State.DONE:
        context |= {
            "asked": run.candidates.filter(representative=True).count(),
            "files": _files(run),
            "funnel": funnel_of(run.funnel),
            "channels": channels_of(run.funnel),
            "curve": s_curve(run.config, run.funnel or {}),
            "repeated_percent": f"{100 * run.funnel.get('repeated_lines', {}).get('share', 0):.1f}",
            "rounds": run.rounds.order_by("-pk"),
        }
    return context


def _preset_name(run: ScreeningRun) -> object:
    """What the preset is called; runs started outside the pages name it in their configuration only."""
    name = run.preset or str(run.config.get("preset_name", ""))
    return PRESET_WORDS.get(name, (name,))[0]


def _files(run: ScreeningRun) -> list[tuple[str, int, object]]:
    """(name, size, plain words) of the run's files that are on this machine."""
    paths = [runs.run_folder(run) / name for name in (*runs.RUN_FILES, *leaks.FILES)]
    return [
        (path.name, path.stat().st_size, FILE_WORDS.get(path.name, ""))
        for path in paths
        if path.is_file()
    ]


@require("manage_runs")
@require_POST
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask a run to stop; one that is over stays as it is."""
    run = run_for(request, run_id)
    try:
        runs.cancel_run(run=run, actor=person_of(request))
    except runs.RunsError as error:
        messages.error(request, str(error))
    return redirect("screening:run-detail", run_id=run.pk)


@require("manage_runs")
@require_POST
def retry(request: HttpRequest, run_id: int) -> HttpResponse:
    """Start a failed or cancelled run again, on the same inputs."""
    run = run_for(request, run_id)
    try:
        runs.retry_run(run=run, actor=person_of(request))
    except runs.RunsError as error:
        messages.error(request, str(error))
    return redirect("screening:run-detail", run_id=run.pk)


@require("see_runs")
@require_safe
def run_file(request: HttpRequest, run_id: int, name: str) -> FileResponse:
    """One of the files of a finished run, as a download."""
    run = run_for(request, run_id)
    path = runs.run_folder(run) / name
    known = name in runs.RUN_FILES or name in leaks.FILES
    if not known or run.state != ScreeningRun.State.DONE or not path.is_file():
        raise Http404
    return FileResponse(
        path.open("rb"), as_attachment=True, filename=f"{run.collection.slug}-{run.pk}-{name}"
    )


@require("see_candidates")
@require_safe
def candidate_list(request: HttpRequest, run_id: int) -> HttpResponse:
    """The pairs a run found, strongest evidence first, with filters that survive junk."""
    run = run_for(request, run_id)
    form = CandidateFilter(request.GET)
    form.is_valid()
    wanted = {name: value for name, value in form.cleaned_data.items() if value not in (None, "")}
    sort = str(wanted.pop("sort", "rank"))
    rows = _filtered(run.candidates.all(), wanted).order_by(*CandidateFilter.SORTS[sort])
    rows = rows.select_related("pair__low__collection", "pair__high__collection").defer(
        "pair__low__raw", "pair__high__raw"
    )
    context = {
        "run": run,
        "collection": run.collection,
        "form": form,
        "filtered": bool(wanted),
        "page": page_of(
            request,
            rows,
            50,
            None if wanted else run.candidate_count,
            key="rank" if sort == "rank" else "",
        ),
        "section": "collections",
    }
    return render(request, "screening/candidate_list.html", context)


def _filtered(rows: QuerySet[Candidate], wanted: dict[str, object]) -> QuerySet[Candidate]:
    if "channel" in wanted:
        # JSON containment is not the same on every database; the name in its quotes is found as text on all.
        rows = rows.annotate(named=Cast("channels", TextField())).filter(
            named__contains=f'"{wanted["channel"]}"'
        )
    if "min" in wanted:
        rows = rows.filter(jaccard__gte=wanted["min"])
    if "max" in wanted:
        rows = rows.filter(jaccard__lte=wanted["max"])
    if "asked" in wanted:
        rows = rows.filter(representative=wanted["asked"] == "yes")
    if "q" in wanted:
        words = str(wanted["q"])
        named = Q()
        for side in ("pair__low", "pair__high"):
            named |= Q(**{f"{side}__title__icontains": words})
            named |= Q(**{f"{side}__doc_id__icontains": words})
        rows = rows.filter(named)
    return rows


def _reasons(candidate: Candidate, left: Document, right: Document) -> list[dict[str, object]]:
    """Why the pair reads as it is suggested."""
    one, other = (
        InputDocument(d.doc_id, d.raw, d.sha256, version=d.version, title=d.title)
        for d in (left, right)
    )
    seen = suggest.Evidence.of(
        one,
        other,
        jaccard=candidate.jaccard,
        containment=candidate.containment,
        passages=[end - start for start, end, _left, _right in candidate.excerpts],
        kinds=[str(change["kind"]) for change in candidate.fact_changes],
    )
    found = suggest.reasons(candidate.suggestion, seen)
    return [{"template": reason.template, "params": dict(reason.params)} for reason in found]


def _prints(
    candidate: Candidate, left: Document, right: Document
) -> list[tuple[str, Fingerprint]]:
    """The fingerprint and the heaviest words of each side, where the run had them."""
    if candidate.simhash_distance is None:
        return []
    sides = [
        InputDocument(d.doc_id, d.raw, d.sha256, source_id=d.source_id, metadata=d.metadata)
        for d in (left, right)
    ]
    found = heavy_words.fingerprints(sides, candidate.run.config)
    return list(zip((_("Left"), _("Right")), found, strict=False))


@require("see_candidates")
@require_safe
def candidate_detail(request: HttpRequest, candidate_id: int) -> HttpResponse:
    """One pair a run found: its figures and the shared passages as they stand in both texts."""
    rows = Candidate.objects.select_related(
        "run__collection", "pair__low__collection", "pair__high__collection"
    )
    candidate = get_object_or_404(rows, pk=candidate_id)
    left, right = candidate.pair.left, candidate.pair.right
    excerpts = [
        (left.raw[a:b], right.raw[c:d], a, c) for a, b, c, d in candidate.excerpts if b > a or d > c
    ]
    context = {
        "candidate": candidate,
        "run": candidate.run,
        "collection": candidate.run.collection,
        "sides": [(_("Left"), left), (_("Right"), right)],
        "excerpts": excerpts[:20],
        "reasons": _reasons(candidate, left, right),
        "prints": _prints(candidate, left, right),
        "section": "collections",
    }
    return render(request, "screening/candidate_detail.html", context)
