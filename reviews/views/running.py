"""Running a round that is open: its pairs, its people, its state."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from dedupreview.pages import page_of
from dedupreview.people.access import person_of, require
from dedupreview.people.models import Person
from reviews import members, rounds
from reviews.models import ReviewItem, ReviewRound, RoundMember
from reviews.outcomes import outcomes_of

STATE_NAMES: dict[str, object] = {
    ReviewItem.State.OPEN: gettext_lazy("Not begun"),
    ReviewItem.State.WAITING: gettext_lazy("Waiting for more judgments"),
    ReviewItem.State.CONFLICT: gettext_lazy("In conflict"),
    ReviewItem.State.CLOSED: gettext_lazy("Closed"),
}
"""What the states of an item are called here: one that nobody has begun is not “under way”, as an open round is."""

_WORDS: dict[str, object] = {
    ReviewRound.State.FROZEN: gettext_lazy(
        "The round is frozen: nobody can judge or decide until it is opened again."
    ),
    ReviewRound.State.OPEN: gettext_lazy("The round is open again."),
    ReviewRound.State.CLOSED: gettext_lazy("The round is closed."),
}


@require("see_rounds")
@require_safe
def item_list(request: HttpRequest, round_id: int) -> HttpResponse:
    """The pairs of a round with their state; what was judged appears only where a pair is closed."""
    round = _round(round_id)
    rows = round.items.select_related("pair__low__collection", "pair__high__collection").defer(
        "pair__low__raw", "pair__high__raw"
    )
    state = request.GET.get("state", "")
    if state in ReviewItem.State.values:
        rows = rows.filter(state=state)
    known = None if state in ReviewItem.State.values else rounds.pairs_in(round)
    page = page_of(request, rows.order_by("position"), 50, known, key="position")
    items = list(page.object_list)
    context = {
        "round": round,
        "collection": round.collection,
        "page": page,
        "rows": [
            (item, STATE_NAMES[item.state], outcome)
            for item, outcome in zip(items, outcomes_of(items), strict=True)
        ],
        "state": state if state in ReviewItem.State.values else "",
        "states": STATE_NAMES,
        "section": "rounds",
    }
    return render(request, "reviews/round_items.html", context)


def _round(round_id: int) -> ReviewRound:
    return get_object_or_404(ReviewRound.objects.select_related("collection"), pk=round_id)


@require("manage_rounds")
@require_POST
def change_members(request: HttpRequest, round_id: int) -> HttpResponse:
    """Take a person into the round (``part``) or let them leave it (``leave``); what they judged stays."""
    round = _round(round_id)
    person = _person(request.POST.get("person", ""))
    try:
        if "leave" in request.POST:
            members.remove_member(round=round, person=person, actor=person_of(request))
            words = _("%(name)s no longer takes part; what they judged stays.")
        else:
            part = request.POST.get("part", "")
            if part not in RoundMember.Part.values:
                raise Http404
            members.add_member(round=round, person=person, part=part, actor=person_of(request))
            words = _("%(name)s takes part now.")
    except rounds.RoundError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, words % {"name": person})
    return redirect("reviews:round-detail", round_id=round.pk)


def _person(key: str) -> Person:
    if not key.isascii() or not key.isdigit() or len(key) > 18:
        raise Http404
    return get_object_or_404(Person, pk=int(key))


@require("manage_rounds")
@require_POST
def change_state(request: HttpRequest, round_id: int) -> HttpResponse:
    """Freeze, re-open or close a round; to be where one wants to be already changes nothing."""
    round = _round(round_id)
    state = request.POST.get("state", "")
    if state == round.state:
        return redirect("reviews:round-detail", round_id=round.pk)
    try:
        rounds.set_state(round=round, state=state, actor=person_of(request))
    except rounds.RoundError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, str(_WORDS[state]))
    return redirect("reviews:round-detail", round_id=round.pk)
