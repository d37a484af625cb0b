"""A person's way through a round: the next pair, its page, and the answer to it."""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from typing import Any, get_args

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dedupreview.people.access import person_of, require
from dedupreview.people.models import Person
from reviews import judging, queue
from reviews.errors import ReviewError
from reviews.items import ItemsError, PairView, pair_view
from reviews.labels import label_sign
from reviews.models import (
    Judgment,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    RoundMember,
    SeatDecline,
    SeatLapse,
)
from reviews.reading import Reading, checks_of, reading_of
from reviews.rounds import judged_in, pairs_in
from reviews.samechange import same_change
from reviews.views import answers

REASONS = {*get_args(queue.Kind), "closed", "lapsed", "given_back"}
"""Why there may be no pair to show: what the page has words for."""
TOO_LATE = {"closed", "grace_over", "judged_meanwhile"}
ONLY_COOKIES = ("dedupreview_only", "dedupreview_shared")


# --- Fetch and authorise ----------------------------------------------------------------------------------------------


def round_for(person: Person, round_id: int) -> ReviewRound:
    """The round, if the person is in it; else 404."""
    return get_object_or_404(ReviewRound, pk=round_id, members__person=person)


def item_for(person: Person, item_id: int) -> PairView:
    """The item as the person may see it; 404 if it is not theirs at all."""
    item = get_object_or_404(
        ReviewItem.objects.select_related(
            "round",
            "candidate",
            "pair__low__collection",
            "pair__high__collection",
            "pair__low__source_file",
            "pair__high__source_file",
        ),
        pk=item_id,
    )
    try:
        return pair_view(item, person)
    except ItemsError:
        raise Http404 from None


def slot_for(person: Person, slot_id: int) -> ReviewSlot:
    """The seat, for anybody in its round: whether it is still theirs is for the services to say."""
    return get_object_or_404(
        ReviewSlot.objects.select_related("item__round"),
        pk=slot_id,
        item__round__members__person=person,
        item__round__members__part=RoundMember.Part.ANNOTATOR,
    )


# --- The next pair ----------------------------------------------------------------------------------------------------


@require("judge")
@never_cache
@require_http_methods(["GET", "POST"])
def next_item(request: HttpRequest, round_id: int) -> HttpResponse:
    """POST takes the next seat and goes to its pair. GET only leads back to the seat one holds, or offers to begin."""
    person = person_of(request)
    round = round_for(person, round_id)
    if request.method == "POST":
        return redirect(next_url(round, person))
    held = ReviewSlot.objects.filter(
        item__round=round, annotator=person, state=ReviewSlot.State.CLAIMED
    ).first()
    if held is not None:
        return redirect("reviews:item", item_id=held.item_id)
    return nothing(request, round, None)


def next_url(round: ReviewRound, person: Person) -> str:
    """Claim the next seat; the address of its pair, or of the page that says why there is none."""
    try:
        claimed = queue.claim(round=round, person=person)
    except queue.QueueError:
        return reverse("reviews:nothing", args=[round.pk, "closed"])
    if isinstance(claimed, queue.Nothing):
        return reverse("reviews:nothing", args=[round.pk, claimed.kind])
    return reverse("reviews:item", args=[claimed.item_id])


@require("judge")
@never_cache
@require_GET
def nothing_to_do(request: HttpRequest, round_id: int, why: str) -> HttpResponse:
    """Why there is no pair for this person now, and what they can do."""
    if why not in REASONS:
        raise Http404
    return nothing(request, round_for(person_of(request), round_id), why)


def nothing(request: HttpRequest, round: ReviewRound, why: str | None) -> HttpResponse:
    person = person_of(request)
    context: dict[str, Any] = {"round": round, "why": why, "total": pairs_in(round)}
    context["done"] = judged_in(round, person)
    if why == "taken":
        # When the first of the seats that others hold comes free: a time, not who or what.
        context["until"] = (
            ReviewSlot.objects.filter(item__round=round, state=ReviewSlot.State.CLAIMED)
            .exclude(annotator=person)
            .exclude(item__judgments__annotator=person)
            .order_by("lease_expires_at")
            .values_list("lease_expires_at", flat=True)
            .first()
        )
    context["recused"] = SeatDecline.objects.filter(
        item__round=round, person=person, how=SeatDecline.How.RECUSE
    ).count()
    return render(request, "reviews/nothing.html", context)


# --- The pair ---------------------------------------------------------------------------------------------------------


@require("see_home")
@never_cache
@require_GET
def item(request: HttpRequest, item_id: int) -> HttpResponse:
    """A pair: to judge it, to correct one's own judgment, or to read it."""
    person = person_of(request)
    view = item_for(person, item_id)
    if view.part == "arbitrator" and (view.can_opine or view.can_decide):
        return redirect("reviews:arbitrate", item_id=item_id)
    if not view.can_judge and not view.own and view.part != "reader" and view.outcome is None:
        return _without_seat(request, view, person)
    return item_page(request, view, person)


def _without_seat(request: HttpRequest, view: PairView, person: Person) -> HttpResponse:
    """A seat that was lost or given back is said plainly; to everybody else the pair does not exist."""
    lapsed = SeatLapse.objects.filter(slot__item=view.item, person=person).exists()
    given = SeatDecline.objects.filter(item=view.item, person=person).exists()
    if not lapsed and not given:
        raise Http404
    return nothing(request, view.item.round, "lapsed" if lapsed else "given_back")


def item_page(
    request: HttpRequest,
    view: PairView,
    person: Person,
    *,
    fault: str = "",
    answer: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of a pair in the mode that fits the person; ``answer`` is what a refused form had."""
    mode = "judge" if view.can_judge else "correct" if view.can_correct else "read"
    current = view.own[-1] if view.own else None
    reading = read_pair(request, view, _ticks(request, current if mode == "correct" else None))
    page = frame(view, person) | {
        "answers": mode != "read",
        "fault": fault,
        "action": reverse("reviews:submit-judgment", args=[view.item.pk]),
        "form_mode": mode,
        "submit_name": _("Send, next pair") if mode == "judge" else _("Send the correction"),
    }
    if mode == "judge" and view.slot is not None:
        page |= _seat(view, view.slot, person)
    if mode == "correct" and current is not None:
        page |= _correction(view, current, person)
    if mode == "read":
        page |= _record(view, current)
    context = {
        "item": view.item,
        "mode": mode,
        "view": reading,
        "page": page,
        "answer": answer or answers.answer_of(current if mode == "correct" else None),
    }
    return render(request, "reviews/item.html", context, status=status)


def _ticks(request: HttpRequest, current: Judgment | None) -> frozenset[str]:
    """The entries of the checklist that are ticked already: in the form that was refused, else in the judgment."""
    if request.method == "POST":
        return frozenset(request.POST.getlist("checked"))
    stored = current.checklist if current else {}
    return frozenset(key for key, state in stored.items() if state == "checked")


def read_pair(
    request: HttpRequest, view: PairView, ticked: frozenset[str] = frozenset()
) -> Reading:
    """The pair laid out for this reader: their sides, and folded if they had it so last time."""
    wishes = [{"1": True, "0": False}.get(request.COOKIES.get(n, "")) for n in ONLY_COOKIES]
    return reading_of(
        view.item,
        sides="rl" if view.swapped else "lr",
        scores=view.scores is not None,
        only=wishes[0],
        only_shared=wishes[1],
        ticked=ticked,
    )


def frame(view: PairView, person: Person) -> dict[str, Any]:
    """What every page of a pair shows around it."""
    round = view.item.round
    annotates = view.part == "annotator"
    return {
        "now": timezone.now(),
        "total": pairs_in(round),
        "done": judged_in(round, person) if annotates else None,
        "guideline": view.guideline,
        "labels": answers.label_choices(),
        "codes": answers.code_groups(),
        "words": answers.words(),
        "answer_id": uuid.uuid4(),
        # How many versions of one's own this page knows of: one left open in a forgotten window corrects nothing.
        "seen": sum(judgment.counted for judgment in view.own) if annotates else None,
    }


def _seat(view: PairView, slot: ReviewSlot, person: Person) -> dict[str, Any]:
    return {
        "seat": slot,
        "slot_id": slot.pk,
        "draft_key": draft_key(view, person, "judge"),
        "draft_url": reverse("reviews:save-draft", args=[view.item.pk]),
        "draft": json.dumps(view.draft, ensure_ascii=False) if view.draft else "",
        "was_set_aside": SeatDecline.objects.filter(
            item=view.item, person=person, how=SeatDecline.How.LATER
        ).exists(),
        "same_as": _same_as(view, person),
    }


def _same_as(view: PairView, person: Person) -> ReviewItem | None:
    """The pair that the person judged last in this round, if it shows the same change; their own way, nobody else's."""
    last = (
        Judgment.objects.filter(annotator=person, item__round=view.item.round)
        .select_related("item__pair__low__collection", "item__pair__high__collection")
        .order_by("-created_at")
        .first()
    )
    if last is None or last.item_id == view.item.pk:
        return None
    pair = last.item.pair
    alike = same_change((pair.left.raw, pair.right.raw), (view.left.raw, view.right.raw))
    return last.item if alike else None


def draft_key(view: PairView, person: Person, mode: str) -> str:
    """The name under which a browser keeps a draft: another person or another version never gets it."""
    return f"dedupreview.{person.code}.{view.item.pk}.{mode}.{len(view.own) + view.item.revision}"


def _correction(view: PairView, current: Judgment, person: Person) -> dict[str, Any]:
    return {
        "slot_id": current.slot_id,
        "draft_key": draft_key(view, person, "correct"),
        "cards": _own_cards(view, current),
        "notice": _(
            "You have judged this pair. You may still correct it; the earlier version is kept."
        ),
    }


def _own_cards(view: PairView, current: Judgment | None) -> list[dict[str, Any]]:
    if current is None:
        return []
    card = answers.card_of(current, view, _("Your judgment"))
    return [card | {"version_note": answers.version_words(current)}]


def _record(view: PairView, current: Judgment | None) -> dict[str, Any]:
    """What may be read of a pair: everything once it is closed, before that one's own judgment."""
    if view.outcome is None:
        return {"cards": _own_cards(view, current), "notice": _("This pair is not settled yet.")}
    cards = []
    for judgment in view.judgments:
        letter = answers.letter(judgment.slot.number - 1)
        card = answers.card_of(judgment, view, letter)
        card["own"] = judgment.annotator_id == (current.annotator_id if current else None)
        card["version_note"] = answers.version_words(judgment)
        cards.append(card)
    for decision in view.arbitrations:
        card = answers.card_of(decision, view, _("Arbitration"))
        card["cause_name"] = decision.get_cause_code_display()
        cards.append(card)
    return {"cards": cards, "outcome": _outcome(view)}


def _outcome(view: PairView) -> dict[str, str]:
    outcome = view.outcome
    assert outcome is not None
    by = _("by agreement") if outcome.by == "agreement" else _("by arbitration")
    return {
        "label": outcome.label,
        "name": next(
            (c["name"] for c in answers.label_choices() if c["value"] == outcome.label), ""
        ),
        "sign": label_sign(outcome.label),
        "by": by,
        "advice": outcome.advice,
    }


# --- Answers ----------------------------------------------------------------------------------------------------------


@require("judge")
@require_POST
def submit_judgment(request: HttpRequest, item_id: int) -> HttpResponse:
    """Store the judgment and go to the next pair. Sent twice, it is stored once and leads to the same next pair."""
    person = person_of(request)
    view = item_for(person, item_id)
    slot_id = answers.whole(request.POST.get("slot"), 2**62) or 0
    slot = slot_for(person, slot_id)
    if slot.item_id != view.item.pk:
        raise Http404
    try:
        done = judging.submit(
            id=answers.answer_id(request),
            slot=slot,
            person=person,
            checklist=answers.checklist_of(request, check_counts(view)),
            active_ms=answers.whole(request.POST.get("active_ms"), judging.MAX_ACTIVE_MS),
            seen=answers.whole(request.POST.get("seen"), 2**31),
            **answers.answer_fields(request, view),
        )
    except ReviewError as error:
        if answers.wants_json(request):
            return answers.refusal(error, 409 if error.code in TOO_LATE else 400)
        fresh = item_for(person, item_id)
        posted = answers.posted_answer(request)
        status = 409 if error.code == "judged_meanwhile" else 400
        return item_page(request, fresh, person, fault=str(error), answer=posted, status=status)
    _tell(request, done)
    if done.status == "corrected":
        return answers.go(request, reverse("reviews:my-judgments"), done.status)
    return answers.go(request, next_url(view.item.round, person), done.status)


def check_counts(view: PairView) -> dict[str, int]:
    """How many fact changes each entry of the checklist stands for."""
    return {check.key: check.count for check in checks_of(view.item)}


def _tell(request: HttpRequest, done: judging.Submission) -> None:
    if done.status == "lapsed":
        messages.warning(
            request,
            _(
                "Your seat's time had run out and somebody else has taken it. Your judgment is kept as surplus: it is on record, and it does not count."
            ),
        )
    elif done.status == "corrected":
        messages.success(request, _("The correction is stored; the earlier version is kept."))


@require("judge")
@require_POST
def release_seat(request: HttpRequest, slot_id: int) -> HttpResponse:
    """Give the seat back: for later, or for good."""
    person = person_of(request)
    slot = slot_for(person, slot_id)
    how = request.POST.get("how", "")
    try:
        queue.release(slot=slot, person=person, how=how)
    except queue.QueueError as error:
        if error.code != "lapsed":
            return answers.refusal(error)
        messages.info(request, str(error))
    return answers.go(request, next_url(slot.item.round, person))


@require("judge")
@require_POST
def renew_seat(request: HttpRequest, slot_id: int) -> HttpResponse:
    """Extend the lease of a seat while its page is open."""
    person = person_of(request)
    try:
        until: datetime = queue.renew(slot=slot_for(person, slot_id), person=person)
    except queue.QueueError as error:
        return answers.refusal(error, 409)
    return JsonResponse({"lease_expires_at": until.isoformat()})


@require("judge")
@require_POST
def save_draft(request: HttpRequest, item_id: int) -> HttpResponse:
    """Keep what has been typed. Only who may answer the pair has a draft for it."""
    person = person_of(request)
    view = item_for(person, item_id)
    if not (view.can_judge or view.can_correct or view.can_opine or view.can_decide):
        return answers.refusal(queue.QueueError(queue.SEAT_NOT_YOURS, code="lapsed"), 409)
    try:
        data = json.loads(request.POST.get("data", ""))
        if not isinstance(data, dict):
            raise ValueError
        judging.save_draft(item=view.item, person=person, data=data)
    except ValueError:
        return answers.refusal(answers.FormError(answers.BAD_FORM, code="json"))
    except ReviewError as error:
        return answers.refusal(error)
    return JsonResponse({"status": "saved"})
