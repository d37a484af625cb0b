"""Opening, watching and signing review rounds."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dedupreview.pages import is_partial, page_of
from dedupreview.people.access import may, person_of, require
from dedupreview.people.models import Person, Role
from reviews import rounds as services
from reviews import tables
from reviews.errors import ReviewError
from reviews.forms import GuidelineForm, RoundForm, SignOffForm
from reviews.models import ReviewRound, RoundMember
from reviews.quality import Quality
from reviews.selection import Selection
from screening.models import Collection, ScreeningRun


@require("see_rounds")
@require_safe
def round_list(request: HttpRequest) -> HttpResponse:
    """All rounds, the newest first."""
    rows = ReviewRound.objects.select_related("collection").order_by("-pk")
    page = page_of(request, rows, 50)
    closed = services.closed_in(list(page.object_list))
    pairs = services.pairs_of(list(page.object_list))
    listed = [(row, pairs.get(row.pk, 0), closed.get(row.pk, 0)) for row in page.object_list]
    context = {"page": page, "rounds": listed, "section": "rounds"}
    return render(request, "reviews/round_list.html", context)


@require("manage_rounds")
@require_http_methods(["GET", "POST"])
def open_round(request: HttpRequest, run_id: int) -> HttpResponse:
    """Choose people and judgments per pair, see what it costs them, confirm.

    ``step=preview`` (also sent by the page as choices change) answers with the workload; only ``step=confirm`` opens.
    """
    run = get_object_or_404(
        ScreeningRun.objects.select_related("collection"), pk=run_id, state=ScreeningRun.State.DONE
    )
    form = RoundForm(request.POST or None, run=run, initial=_defaults(run))
    context: dict[str, object] = {
        "run": run,
        "collection": run.collection,
        "form": form,
        "asked": run.candidates.filter(representative=True).count(),
        "live": is_partial(request),
        "section": "rounds",
    }
    if request.method == "POST" and form.is_valid():
        try:
            if request.POST.get("step") == "confirm":
                opened = _open(request, run, form)
                return redirect("reviews:round-detail", round_id=opened.pk)
            context["workload"] = _workload(run, form)
        except ReviewError as error:
            form.add_error(None, str(error))
    if is_partial(request):
        return render(request, "reviews/_workload.html", context)
    return render(request, "reviews/round_form.html", context)


def _defaults(run: ScreeningRun) -> dict[str, object]:
    number = run.collection.rounds.count() + 1
    return {
        "name": _("%(collection)s, round %(number)s")
        % {"collection": run.collection, "number": number}
    }


def _workload(run: ScreeningRun, form: RoundForm) -> services.Workload:
    chosen = form.cleaned_data
    return services.workload(
        run=run,
        people=len(chosen["annotators"]),
        judgments=chosen["judgments"],
        selection=_selection(form),
    )


def _selection(form: RoundForm) -> Selection:
    chosen = form.cleaned_data
    return Selection(
        limit=chosen["limit"],
        again=chosen["again"],
        fewest=chosen["fewest"],
        sample=chosen["sample"],
        stratum=chosen["stratum"] or "suggestion",
    )


def _quality(form: RoundForm) -> Quality:
    chosen = form.cleaned_data
    return Quality(
        gold=chosen["gold"],
        hidden=chosen["hidden"] or 20,
        pass_mark=chosen["pass_mark"],
        calibration=chosen["calibration"],
        deadline=chosen["deadline"],
    )


@transaction.atomic
def _open(request: HttpRequest, run: ScreeningRun, form: RoundForm) -> ReviewRound:
    """The new round, or the one that the same form, sent a moment before, has opened.

    The lock on the collection makes the second of two equal POSTs see the first one's round.
    """
    Collection.objects.select_for_update().get(pk=run.collection_id)
    chosen = form.cleaned_data
    same = run.rounds.filter(name=chosen["name"], created_by=person_of(request)).first()
    if same:
        messages.info(request, _("A round of this name is already open for this run; here it is."))
        return same
    opened = services.open_round(
        run=run,
        name=chosen["name"],
        annotators=list(chosen["annotators"]),
        arbitrators=list(chosen["arbitrators"]),
        judgments=chosen["judgments"],
        guideline=chosen["guideline"],
        selection=_selection(form),
        quality=_quality(form),
        show_scores=chosen["show_scores"],
        actor=person_of(request),
    )
    messages.success(
        request, _("The round is open. The people chosen find it on their first page.")
    )
    return opened


@require("see_rounds")
@require_safe
def round_detail(request: HttpRequest, round_id: int) -> HttpResponse:
    """One round: how far it is, who takes part, its guideline, tables and signatures."""
    round = _round(round_id)
    return render(request, "reviews/round_detail.html", _context(round))


def _round(round_id: int) -> ReviewRound:
    return get_object_or_404(ReviewRound.objects.select_related("collection", "run"), pk=round_id)


def _round_for(request: HttpRequest, round_id: int) -> ReviewRound:
    """The round, for those who oversee rounds and for the people in it."""
    rounds = ReviewRound.objects.select_related("collection", "run")
    if not may(request.user, "see_rounds"):
        rounds = rounds.filter(members__person=person_of(request), members__active=True)
    return get_object_or_404(rounds, pk=round_id)


def _context(round: ReviewRound) -> dict[str, object]:
    return {
        "round": round,
        "collection": round.collection,
        "progress": services.progress(round),
        "members": _members(round),
        "newcomers": Person.objects.filter(
            is_active=True, role__in=[Role.ANNOTATOR, Role.ARBITRATOR]
        )
        .exclude(round_memberships__in=round.members.filter(active=True))
        .order_by("role", "username", "pk"),
        "parts": RoundMember.Part.choices,
        "tables": round.tables.order_by("-number"),
        "sign_offs": round.sign_offs.select_related("person").order_by("pk"),
        "section": "rounds",
    }


def _members(round: ReviewRound) -> QuerySet[RoundMember]:
    """The people of the round; how much each has done stays theirs until the items are closed."""
    return round.members.select_related("person").order_by("part", "person__username", "pk")


@require("see_rounds")
@never_cache
@require_safe
def round_progress(request: HttpRequest, round_id: int) -> HttpResponse:
    """The figures of a round, recomputed from the rows each time."""
    round = _round(round_id)
    context = {"round": round, "progress": services.progress(round)}
    return render(request, "reviews/_progress.html", context)


@require("see_home")
@require_http_methods(["GET", "POST"])
def guideline(request: HttpRequest, round_id: int) -> HttpResponse:
    """What people judge by: to read for everyone in the round, to publish anew for admins."""
    round = _round_for(request, round_id)
    current = round.guidelines.filter(number=round.guideline_version).first()
    context: dict[str, object] = {
        "round": round,
        "collection": round.collection,
        "current": current,
    }
    context["section"] = "rounds"
    if may(request.user, "manage_rounds"):
        initial = {"text": current.text if current else ""}
        form = GuidelineForm(request.POST or None, initial=initial)
        context["form"] = form
        if request.method == "POST" and form.is_valid():
            return _publish(request, round, form)
    elif request.method == "POST":
        raise Http404
    return render(request, "reviews/round_guideline.html", context)


def _publish(request: HttpRequest, round: ReviewRound, form: GuidelineForm) -> HttpResponse:
    text = form.cleaned_data["text"]
    if form.has_changed():
        services.publish_guideline(round=round, text=text, actor=person_of(request))
        messages.success(request, _("The new guideline is out; judgments from now on name it."))
    return redirect("reviews:guideline", round_id=round.pk)


@require("sign_off")
@require_http_methods(["GET", "POST"])
def sign_off(request: HttpRequest, round_id: int) -> HttpResponse:
    """Sign a stage of the round with one's password; what still stands in the way is listed."""
    round = _round_for(request, round_id)
    form = SignOffForm(request.POST or None)
    context: dict[str, object] = {"round": round, "form": form, "section": "rounds"}
    if request.method == "POST" and form.is_valid():
        try:
            tables.sign_off(round=round, person=person_of(request), **form.cleaned_data)
        except tables.TableError as error:
            form.add_error("password" if error.code in {"password", "locked"} else None, str(error))
            context["blockers"] = [
                {"template": words, "params": params} for words, params in error.blockers
            ]
        else:
            messages.success(
                request, _("Signed. The signature is exported with every later table.")
            )
            return redirect("reviews:sign-off", round_id=round.pk)
    context["sign_offs"] = round.sign_offs.select_related("person").order_by("pk")
    return render(request, "reviews/round_sign.html", context)
