"""Arbitration: conflicts by number, the own opinion first, then what the others said, then the decision."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from dedupreview.pages import page_of
from dedupreview.people.access import person_of, require
from dedupreview.people.models import Person
from reviews import arbitration
from reviews.errors import ReviewError
from reviews.items import PairView, is_swapped
from reviews.models import CauseCode, Judgment, Opinion, ReviewItem, ReviewRound, RoundMember
from reviews.rounds import pairs_in
from reviews.views import answers
from reviews.views.items import draft_key, frame, item_for, item_page, read_pair

REFUSED_STATUS = {"decided_meanwhile": 409, "opinion_given": 409, "not_in_conflict": 409}
KEYS = ("A", "B")


def round_for(person: Person, round_id: int) -> ReviewRound:
    """A round that the person arbitrates; else 404."""
    return get_object_or_404(
        ReviewRound,
        pk=round_id,
        members__person=person,
        members__part=RoundMember.Part.ARBITRATOR,
        members__active=True,
    )


@require("arbitrate")
@never_cache
@require_GET
def conflict_list(request: HttpRequest, round_id: int) -> HttpResponse:
    """The pairs that wait for this arbitrator: numbers and titles only, so that nothing sways the opinion."""
    person = person_of(request)
    round = round_for(person, round_id)
    waiting = conflicts_for(round, person)
    opined = set(
        Opinion.objects.filter(item__round=round, arbitrator=person).values_list("item", flat=True)
    )
    context = {
        "round": round,
        "page": _titled(page_of(request, waiting, 50), person),
        "opined": opined,
        "first": waiting.first(),
        "waiting": waiting.count(),
        "total": pairs_in(round),
    }
    return render(request, "reviews/conflicts.html", context)


def _titled(page: Any, person: Person) -> Any:
    """``page`` with the two titles of each pair, in the order in which this person sees the texts."""
    keys = [item.pk for item in page.object_list]
    both = ("pair__low__collection", "pair__high__collection")
    # The texts themselves stay where they are: a page of titles need not fetch a hundred of them.
    items = (
        ReviewItem.objects.filter(pk__in=keys)
        .select_related(*both)
        .defer("pair__low__raw", "pair__high__raw")
    )
    pairs = {item.pk: (item.pair.left, item.pair.right) for item in items}
    for item in page.object_list:
        first, last = pairs[item.pk]
        if is_swapped(item, person):
            first, last = last, first
        item.titles = [document.title or document.doc_id for document in (first, last)]
    return page


def conflicts_for(round: ReviewRound, person: Person) -> Any:
    """The conflicts that the person may arbitrate: not those they judged themselves."""
    return arbitration.conflicts(round=round).exclude(judgments__annotator=person)


def arbitrator_view(person: Person, item_id: int) -> PairView:
    """The item, for an arbitrator who has not judged it; else 404."""
    view = item_for(person, item_id)
    if view.part != "arbitrator" or view.own:
        raise Http404
    return view


@require("arbitrate")
@never_cache
@require_GET
def arbitrate(request: HttpRequest, item_id: int) -> HttpResponse:
    """The step of this item that is this arbitrator's next: opinion, decision, or reading what was decided."""
    person = person_of(request)
    view = arbitrator_view(person, item_id)
    if view.item.state == ReviewItem.State.CONFLICT:
        if view.can_opine:
            return opinion_page(request, view, person)
        if view.can_decide:
            return decision_page(request, view, person)
        raise Http404
    if view.outcome is None:
        raise Http404
    if view.can_decide and request.GET.get("again") == "1":
        return decision_page(request, view, person)
    return item_page(request, view, person)


def opinion_page(
    request: HttpRequest,
    view: PairView,
    person: Person,
    *,
    fault: str = "",
    answer: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Step 1: the same page as an annotator's. Neither the answers nor the kind of conflict are on it."""
    page = frame(view, person) | _form(view, person, "opinion")
    page |= {
        "step": 1,
        "fault": fault,
        "action": reverse("reviews:give-opinion", args=[view.item.pk]),
        "submit_name": _("Send my opinion"),
    }
    context = _context(request, view, page, answer or answers.answer_of(None), "opinion")
    return render(request, "reviews/arbitration.html", context, status=status)


def _form(view: PairView, person: Person, mode: str) -> dict[str, Any]:
    return {
        "answers": True,
        "form_mode": mode,
        "draft_key": draft_key(view, person, mode),
        "draft_url": reverse("reviews:save-draft", args=[view.item.pk]),
        "draft": json.dumps(view.draft, ensure_ascii=False) if view.draft else "",
    }


def _context(
    request: HttpRequest, view: PairView, page: dict[str, Any], answer: dict[str, Any], mode: str
) -> dict[str, Any]:
    return {
        "item": view.item,
        "mode": mode,
        "view": read_pair(request, view),
        "page": page,
        "answer": answer,
    }


def decision_page(
    request: HttpRequest,
    view: PairView,
    person: Person,
    *,
    fault: str = "",
    answer: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Step 2: the answers as cards in an order by chance, the kind of conflict, and the form of the decision."""
    own = view.own_opinion
    given = answers.answer_of(own) | {"reason": ""}
    chosen = (answer or {}).get("adopt", "own" if own else "")
    cards = _cards(view, person, chosen)
    if own is not None:
        card = answers.card_of(own, view, _("Your opinion"))
        card |= {"own": True, "adopt": "own", "adopt_name": _("Keep my opinion"), "key": "D"}
        cards.append(card | {"adopted": chosen == "own"})
    page = frame(view, person) | _form(view, person, "decide")
    page |= {
        "step": 2,
        "fault": fault,
        "cards": cards,
        "kind": _kind(view.item),
        "revision": view.item.revision,
        "causes": CauseCode.choices,
        "action": reverse("reviews:decide", args=[view.item.pk]),
        "submit_name": _("Decide, next pair"),
        "chosen": chosen,
    }
    context = _context(request, view, page, answer or given, "decide")
    return render(request, "reviews/arbitration.html", context, status=status)


def _cards(view: PairView, person: Person, chosen: str) -> list[dict[str, Any]]:
    """One card per judge, named by place; the order is by chance for each arbitrator and always the same."""
    rows = arbitration.originals(item=view.item, person=person)
    latest = [row for row in rows if not any(other.supersedes_id == row.pk for other in rows)]
    cards = []
    for place, judgment in enumerate(sorted(latest, key=lambda row: _chance(row, person))):
        letter = answers.letter(place)
        card = answers.card_of(judgment, view, letter)
        card["version_note"] = answers.version_words(judgment)
        if judgment.counted:
            name = _("Adopt %(letter)s") % {"letter": letter}
            card |= {"adopt": str(judgment.pk), "adopt_name": name, "place": place + 1}
            card["key"] = KEYS[place] if place < len(KEYS) else ""
            card["adopted"] = chosen == str(judgment.pk)
        cards.append(card)
    return cards


def _chance(judgment: Judgment, person: Person) -> tuple[bool, bytes]:
    seed = f"{judgment.pk}|{person.code}".encode()
    return (not judgment.counted, hashlib.sha256(seed).digest())


def _kind(item: ReviewItem) -> str:
    kinds: dict[str, str] = {
        ReviewItem.Conflict.LABEL: _("The labels differ."),
        ReviewItem.Conflict.DIRECTION: _("Same label, opposite directions."),
        ReviewItem.Conflict.UNDECIDED: _("Somebody cannot tell."),
    }
    return kinds.get(item.conflict, "")


@require("arbitrate")
@require_POST
def give_opinion(request: HttpRequest, item_id: int) -> HttpResponse:
    """Store the arbitrator's own opinion; then the originals may be read."""
    person = person_of(request)
    view = arbitrator_view(person, item_id)
    try:
        arbitration.give_opinion(
            id=answers.answer_id(request),
            item=view.item,
            person=person,
            **answers.answer_fields(request, view),
        )
    except ReviewError as error:
        status = REFUSED_STATUS.get(error.code, 400)
        if answers.wants_json(request):
            return answers.refusal(error, status)
        if status == 409:
            messages.warning(request, str(error))
            return redirect("reviews:arbitrate", item_id=item_id)
        posted = answers.posted_answer(request)
        return opinion_page(request, view, person, fault=str(error), answer=posted, status=400)
    return answers.go(request, reverse("reviews:arbitrate", args=[item_id]))


@require("arbitrate")
@require_POST
def decide(request: HttpRequest, item_id: int) -> HttpResponse:
    """Store the decision, unless somebody else decided meanwhile: then show theirs and keep what was typed."""
    person = person_of(request)
    view = arbitrator_view(person, item_id)
    try:
        fields = _adopted(request, view) or answers.answer_fields(request, view)
        arbitration.decide(
            id=answers.answer_id(request),
            item=view.item,
            person=person,
            cause_code=request.POST.get("cause_code", ""),
            revision=answers.whole(request.POST.get("revision"), 10_000) or 0,
            **fields,
        )
    except ReviewError as error:
        return _refused(request, person, item_id, error)
    messages.success(request, _("The decision is stored."))
    return answers.go(request, _next_conflict(view.item.round, person))


def _adopted(request: HttpRequest, view: PairView) -> dict[str, Any] | None:
    """The content of the adopted answer, where the form (without a script) only says whose it is."""
    adopt = request.POST.get("adopt", "")
    if not adopt or request.POST.get("label"):
        return None
    row: Any = view.own_opinion
    if adopt != "own":
        row = next(
            (
                judgment
                for judgment in arbitration.originals(item=view.item, person=person_of(request))
                if str(judgment.pk) == adopt
            ),
            None,
        )
    if row is None:
        raise answers.FormError(answers.BAD_FORM, code="adopt")
    return {
        "label": row.label,
        "direction": row.direction,
        "reason_code": row.reason_code,
        "kept": row.kept_id,
        "evidence": row.evidence,
        "reason": request.POST.get("reason", ""),
        "shown": answers.shown_of(request, view),
    }


def _refused(
    request: HttpRequest, person: Person, item_id: int, error: ReviewError
) -> HttpResponse:
    status = REFUSED_STATUS.get(error.code, 400)
    if error.code == "decided_meanwhile":
        # Theirs has to be looked at first; what this person typed stays beside it.
        request.session[f"lost:{item_id}"] = request.POST.get("reason", "")[:5000]
        messages.warning(request, str(error))
        return answers.go(request, reverse("reviews:decided-meanwhile", args=[item_id]), "conflict")
    if answers.wants_json(request):
        return answers.refusal(error, status)
    if error.code == "opinion_first":
        return redirect("reviews:arbitrate", item_id=item_id)
    view = arbitrator_view(person, item_id)
    posted = answers.posted_answer(request)
    return decision_page(request, view, person, fault=str(error), answer=posted, status=status)


@require("arbitrate")
@never_cache
@require_GET
def decided_meanwhile(request: HttpRequest, item_id: int) -> HttpResponse:
    """The decision that came first, with the reason that this person had typed."""
    person = person_of(request)
    view = arbitrator_view(person, item_id)
    if view.outcome is None:
        return redirect("reviews:arbitrate", item_id=item_id)
    typed = request.session.get(f"lost:{item_id}", "")
    last = view.arbitrations[-1] if view.arbitrations else None
    context = {
        "item": view.item,
        "typed": typed,
        "card": answers.card_of(last, view, _("The decision that stands")) if last else None,
        "next": _next_conflict(view.item.round, person),
        "may_decide": view.can_decide,
    }
    return render(request, "reviews/decided_meanwhile.html", context, status=409)


def _next_conflict(round: ReviewRound, person: Person) -> str:
    following = conflicts_for(round, person).first()
    if following is None:
        return reverse("reviews:conflict-list", args=[round.pk])
    return reverse("reviews:arbitrate", args=[following.pk])
