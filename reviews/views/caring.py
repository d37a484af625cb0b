"""Caring for a round that is under way: its people, what they ask, and how they did on known answers."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import person_of, require
from dedupreview.people.models import Person, Role
from reviews import members, quality, questions
from reviews.models import Question, ReviewItem, ReviewRound, RoundMember
from reviews.rounds import RoundError
from screening.models import Document


def _round(round_id: int) -> ReviewRound:
    return get_object_or_404(ReviewRound.objects.select_related("collection"), pk=round_id)


def _key(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Http404
    return int(text)


@require("manage_rounds")
@require_http_methods(["GET", "POST"])
def round_people(request: HttpRequest, round_id: int) -> HttpResponse:
    """The people of a round: replace one, say how many pairs one judges at most, keep one away from a text."""
    round = _round(round_id)
    if request.method == "POST":
        person = get_object_or_404(Person, pk=_key(request.POST.get("person", "")))
        try:
            messages.success(request, _change(request, round, person))
        except RoundError as error:
            messages.error(request, str(error))
        return redirect("reviews:round-people", round.pk)
    rows = round.members.select_related("person").order_by("part", "person__username", "pk")
    context = {
        "round": round,
        "collection": round.collection,
        "members": rows,
        "newcomers": Person.objects.filter(
            is_active=True, role__in=[Role.ANNOTATOR, Role.ARBITRATOR]
        )
        .exclude(round_memberships__in=round.members.filter(active=True))
        .order_by("role", "username", "pk"),
        "section": "rounds",
    }
    return render(request, "reviews/round_people.html", context)


def _change(request: HttpRequest, round: ReviewRound, person: Person) -> str:
    actor = person_of(request)
    act = request.POST.get("act", "")
    if act == "quota":
        text = request.POST.get("quota", "").strip()
        quota = _key(text) if text else None
        if quota is not None and quota > 1_000_000_000:
            raise Http404
        members.set_quota(round=round, person=person, quota=quota, actor=actor)
        return _("%(name)s's quota is set.") % {"name": person}
    if act == "replace":
        by = get_object_or_404(Person, pk=_key(request.POST.get("by", "")))
        members.replace_member(round=round, person=person, by=by, actor=actor)
        return _("%(by)s takes the part of %(name)s now; what was judged stays.") % {
            "by": by,
            "name": person,
        }
    if act == "keep_away":
        if not RoundMember.objects.filter(round=round, person=person).exists():
            raise RoundError(members.NOT_A_MEMBER, {"name": person.username}, code="people")
        document = Document.objects.filter(
            collection=round.collection, doc_id=request.POST.get("document", "")
        ).first()
        if document is None:
            raise RoundError(NO_DOCUMENT, code="document")
        count = members.keep_away(round=round, person=person, document=document, actor=actor)
        return _("%(name)s is kept away from %(count)s pairs.") % {"name": person, "count": count}
    raise Http404


NO_DOCUMENT = "There is no text with this doc_id in the collection."


# --- Questions --------------------------------------------------------------------------------------------------------


@require("judge")
@never_cache
@require_http_methods(["GET", "POST"])
def ask(request: HttpRequest, item_id: int) -> HttpResponse:
    """Put a question about a pair to the admin, and see one's own; nobody else's."""
    person = person_of(request)
    item = get_object_or_404(
        ReviewItem.objects.filter(
            round__members__in=RoundMember.objects.filter(person=person, active=True)
        ).select_related("round"),
        pk=item_id,
    )
    error = ""
    if request.method == "POST":
        try:
            questions.ask(item=item, person=person, text=request.POST.get("text", ""))
        except questions.QuestionError as refused:
            error = str(refused)
        else:
            messages.success(request, _("Your question is with the admin."))
            return redirect("reviews:ask", item.pk)
    context = {
        "item": item,
        "round": item.round,
        "questions": questions.own_questions(item, person),
        "error": error,
        "typed": request.POST.get("text", ""),
        "longest": questions.LONGEST,
    }
    return render(request, "reviews/ask.html", context)


@require("manage_rounds")
@require_safe
def question_list(request: HttpRequest, round_id: int) -> HttpResponse:
    """What people of a round asked: the unanswered first."""
    round = _round(round_id)
    rows = round.questions.select_related("item", "person").order_by("answer", "pk")
    context = {
        "round": round,
        "collection": round.collection,
        "page": page_of(request, rows, 50),
        "section": "rounds",
    }
    return render(request, "reviews/questions.html", context)


@require("manage_rounds")
@require_POST
def answer(request: HttpRequest, question_id: int) -> HttpResponse:
    """Answer a question through the guideline's next version."""
    question = get_object_or_404(Question, pk=question_id)
    try:
        questions.answer(
            question=question, text=request.POST.get("answer", ""), actor=person_of(request)
        )
    except questions.QuestionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The answer stands in the guideline's new version."))
    return redirect("reviews:question-list", question.round_id)


# --- Known answers ----------------------------------------------------------------------------------------------------


@require("manage_rounds")
@require_safe
def gold_results(request: HttpRequest, round_id: int) -> HttpResponse:
    """How everybody did on the known answers, once the round is closed."""
    round = _round(round_id)
    context: dict[str, object] = {"round": round, "section": "rounds"}
    try:
        context["results"] = [
            (member, score, score.passes(round.pass_mark) if round.pass_mark else None)
            for member, score in quality.results(round)
        ]
    except quality.QualityError as error:
        context["refused"] = str(error)
    return render(request, "reviews/gold.html", context)
