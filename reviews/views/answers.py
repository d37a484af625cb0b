"""What the forms of judgments, opinions and decisions have in common: their fields in and their page out."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from reviews.errors import ReviewError
from reviews.items import PairView, canonical_side
from reviews.labels import LABEL_KEYS, REASON_CODES, Direction, Label, ReasonCode, label_sign
from reviews.models import Answer, Arbitration, Judgment, Opinion
from reviews.reading import CHECKS, hints_of, shown_state

MAX_EVIDENCE = 20
MAX_SOURCE = 200
"""Characters of a source's or library entry's name."""
NAMED_BY: dict[str, str] = {Label.CITATION: "source", Label.TEMPLATE: "entry"}
"""What a label may name: the source that is quoted, the entry of the template library."""
LETTERS = {"zh": "甲乙丙丁戊己庚辛壬", "en": "ABCDEFGHI"}
"""What people are called whose names are not told, by language."""

BAD_FORM = "The form did not arrive whole. Reload the page; what you typed is kept."


class FormError(ReviewError):
    """The posted form cannot be an answer at all."""


def wants_json(request: HttpRequest) -> bool:
    """Whether a script of ours asks: it gets JSON where a browser gets a page."""
    return request.headers.get("X-Requested-With") == "fetch"


def go(request: HttpRequest, url: str, status: str = "done") -> HttpResponse:
    """Send the person on: a redirect, or its address for our script."""
    if wants_json(request):
        return JsonResponse({"status": status, "next": url})
    return redirect(url)


def refusal(error: ReviewError, status: int = 400) -> JsonResponse:
    """A refusal for our script."""
    return JsonResponse({"detail": str(error), "code": error.code}, status=status)


def answer_id(request: HttpRequest) -> uuid.UUID:
    """The id that the page made for its answer.

    :raises FormError: if there is none.
    """
    try:
        return uuid.UUID(request.POST.get("id", ""))
    except ValueError:
        raise FormError(BAD_FORM, code="id") from None


def whole(text: str | None, highest: int) -> int | None:
    """A whole number from 0 to ``highest``; None for anything else."""
    if text and text.isascii() and text.isdigit() and len(text) < 12:
        return min(int(text), highest)
    return None


def answer_fields(request: HttpRequest, view: PairView) -> dict[str, Any]:
    """The fields of an answer as the services take them; what does not go with the label is left out.

    The radio buttons of direction and entry name the canonical sides and documents, whatever side they stand on.
    """
    posted = request.POST
    label = posted.get("label", "")
    code = posted.get("reason_code", "")
    return {
        "label": label,
        "direction": posted.get("direction", "") if label == Label.REVISION else "",
        # Without a script the list offers the codes of all labels, its first one chosen.
        "reason_code": code if code in REASON_CODES.get(label, ()) else "",
        "reason": posted.get("reason", ""),
        "kept": (posted.get("kept") or None) if label == Label.COPY else None,
        "evidence": [
            *_evidence(posted.get("evidence", "")),
            *_named(label, posted.get("source", "")),
        ],
        "shown": shown_of(request, view),
    }


def shown_of(request: HttpRequest, view: PairView) -> dict[str, Any]:
    """What the page showed. The server knows all of it but the sides, which the reader may have exchanged."""
    own = "rl" if view.swapped else "lr"
    sides = request.POST.get("sides", "")
    return shown_state(
        sides if sides in {"lr", "rl"} else own,
        swapped=whole(request.POST.get("swapped"), 1000) or 0,
        scores=view.scores is not None,
        hints=hints_of(view.item),
    )


def _evidence(text: str) -> list[dict[str, Any]]:
    """The passages that the person marked; anything else in the field is dropped, it comes from a script only."""
    try:
        found = json.loads(text or "[]")
    except ValueError:
        return []
    if not isinstance(found, list):
        return []
    kept = []
    for one in found[:MAX_EVIDENCE]:
        if not isinstance(one, dict) or one.get("side") not in {"left", "right"}:
            continue
        start, end = one.get("start"), one.get("end")
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= 2**31:
            text = str(one.get("text", ""))[:300]
            kept.append({"side": one["side"], "start": start, "end": end, "text": text})
    return kept


def _named(label: str, text: str) -> list[dict[str, str]]:
    """What a citation quotes, or the library entry of a template, as one more piece of evidence."""
    words = " ".join(text.split())[:MAX_SOURCE]
    if label not in NAMED_BY or not words:
        return []
    return [{"kind": NAMED_BY[label], "text": words}]


def source_of(evidence: list[Any]) -> str:
    """The source or library entry among the evidence of an answer; empty if it names none."""
    for one in evidence:
        if isinstance(one, dict) and one.get("kind") in NAMED_BY.values():
            return str(one.get("text", ""))
    return ""


def checklist_of(request: HttpRequest, counts: dict[str, int]) -> dict[str, str]:
    """The checklist as stored: ``unchanged`` where nothing was detected, else ``checked`` or ``flagged``."""
    ticked = set(request.POST.getlist("checked"))
    return {
        key: "unchanged" if not counts[key] else "checked" if key in ticked else "flagged"
        for key, _name, _kinds in CHECKS
    }


# --- The page ---------------------------------------------------------------------------------------------------------


def letter(place: int) -> str:
    """What the person at this place, counted from 0, is called: 甲, 乙 … in Chinese, elsewhere A, B …"""
    letters = LETTERS["zh" if (get_language() or "zh").startswith("zh") else "en"]
    return letters[place % len(letters)]


def label_choices() -> list[dict[str, str]]:
    """The six labels as the judgment bar shows them."""
    return [
        {"value": value, "name": str(Label(value).label), "sign": label_sign(value), "key": key}
        for value, key in LABEL_KEYS.items()
    ]


def code_groups() -> list[dict[str, Any]]:
    """The reason codes under their labels."""
    return [
        {
            "label": label,
            "name": str(Label(label).label),
            "codes": [{"value": code, "name": str(ReasonCode(code).label)} for code in codes],
        }
        for label, codes in REASON_CODES.items()
    ]


def answer_of(row: Answer | None) -> dict[str, Any]:
    """What the form starts with: empty, or an answer that stands already."""
    if row is None:
        return {"label": "", "evidence": "[]", "source": ""}
    return {
        "label": row.label,
        "direction": row.direction,
        "reason_code": row.reason_code,
        "reason": row.reason,
        "kept": row.kept_id,
        "evidence": json.dumps(
            [spot for spot in row.evidence if _is_spot(spot)], ensure_ascii=False
        ),
        "source": source_of(row.evidence),
    }


def posted_answer(request: HttpRequest) -> dict[str, Any]:
    """What the form starts with after a refusal: everything as it was typed."""
    names = ("label", "direction", "reason_code", "reason", "cause_code", "adopt", "source")
    kept = whole(request.POST.get("kept"), 2**62)
    evidence = json.dumps(_evidence(request.POST.get("evidence", "")), ensure_ascii=False)
    return {name: request.POST.get(name, "") for name in names} | {
        "kept": kept,
        "evidence": evidence,
    }


def card_of(row: Judgment | Opinion | Arbitration, view: PairView, heading: str) -> dict[str, Any]:
    """An answer as a card: sides are named as this reader sees them."""
    return {
        "pk": str(row.pk),
        "heading": heading,
        "label": row.label,
        "sign": label_sign(row.label),
        "name": str(Label(row.label).label),
        "direction": row.direction,
        "direction_name": direction_name(row.direction, swapped=view.swapped),
        "reason_code": row.reason_code,
        "code_name": choice_name(ReasonCode, row.reason_code),
        "reason": row.reason,
        "kept": row.kept_id,
        "kept_name": _kept_name(row.kept_id, view),
        "source": source_of(row.evidence),
        "source_head": _("Library entry") if row.label == Label.TEMPLATE else _("Source quoted"),
        "evidence": [{**spot, "key": spot["side"][0]} for spot in row.evidence if _is_spot(spot)],
        "when": row.created_at,
        "shown_note": _shown_note(row.shown),
    }


def _is_spot(spot: object) -> bool:
    keys = ("start", "end", "text")
    return (
        isinstance(spot, dict)
        and spot.get("side") in {"left", "right"}
        and all(key in spot for key in keys)
    )


def choice_name(choices: Any, value: str) -> str:
    """What a stored choice is called; one that is no longer offered is called by its value."""
    return str(choices(value).label) if value in choices.values else value


def direction_name(direction: str, *, swapped: bool) -> str:
    """A canonical direction in words about the sides as this reader sees them; empty for none."""
    if not direction:
        return ""
    if direction in {Direction.SAME_ORIGIN, Direction.UNKNOWN}:
        return str(Direction(direction).label)
    first = canonical_side(
        "left" if direction == Direction.LEFT_FIRST else "right", swapped=swapped
    )
    return _("the left one is earlier") if first == "left" else _("the right one is earlier")


def _kept_name(pk: int | None, view: PairView) -> str:
    if pk is None:
        return ""
    return _("left") if pk == view.shown_left.pk else _("right")


def _shown_note(shown: dict[str, Any]) -> str:
    """What stood before the author's eyes: the order of the sides, and scores if there were any."""
    notes = []
    order = shown.get("side_order")
    if order == "left_right":
        notes.append(_("saw the sides in library order"))
    elif order == "right_left":
        notes.append(_("saw the sides exchanged"))
    if shown.get("scores"):
        notes.append(_("saw the scores"))
    return "，".join(notes)


def version_words(judgment: Judgment) -> str:
    """Which version it is, where there is more to say than "the first"."""
    notes = []
    if judgment.version > 1:
        notes.append(_("version %(number)s") % {"number": judgment.version})
    if not judgment.counted:
        notes.append(_("surplus, not counted"))
    return "，".join(notes)


def words() -> list[tuple[str, str]]:
    """The sentences that the scripts of the page need, in the reader's language."""
    keys = {f"key-label-{value}": str(Label(value).label) for value in LABEL_KEYS}
    return [*keys.items(), *_key_words().items(), *_state_words().items()]


def _key_words() -> dict[str, str]:
    return {
        "key-left-first": _("revision: the left one is earlier"),
        "key-right-first": _("revision: the right one is earlier"),
        "key-same-origin": _("revision: common origin"),
        "key-unknown-direction": _("revision: direction unknown"),
        "key-keep-left": _("copy: keep the left entry"),
        "key-keep-right": _("copy: keep the right entry"),
        "key-check-facts": _("all flagged facts are checked"),
        "key-write-reason": _("write the reason"),
        "key-adopt-1": _("adopt the first answer"),
        "key-adopt-2": _("adopt the second answer"),
        "key-adopt-own": _("adopt your own opinion"),
        "key-submit": _("send and go to the next pair"),
        "key-later": _("later"),
        "key-recuse": _("recuse yourself"),
        "key-next-change": _("next change"),
        "key-previous-change": _("previous change"),
        "key-next-evidence": _("next evidence"),
        "key-previous-evidence": _("previous evidence"),
        "key-next-fact": _("next fact"),
        "key-mark-evidence": _("keep the selected text as evidence"),
        "key-only-changes": _("only changes, or only shared text"),
        "key-swap": _("swap sides"),
        "key-articles": _("article by article, and back"),
        "key-guideline": _("guideline"),
        "key-help": _("this list"),
        "key-escape": _("leave the field, close the window"),
    }


def _state_words() -> dict[str, str]:
    return {
        "need-label": _("Choose a judgment first (1 to 5, or 0)."),
        "need-reason": _("Please say why in words."),
        "need-check": _(
            "Changes were found in: {what}. Still a copy? Press C once you have checked them."
        ),
        "checked": _("Checked."),
        "sending": _("Sending …"),
        "offline": _("No connection. Your answer is kept in this browser; try again."),
        "failed": _(
            "The server could not take it. Your answer is kept in this browser; try again."
        ),
        "signed-out": _("You have been signed out. Your answer is kept in this browser."),
        "draft-saved": _("draft saved"),
        "draft-local": _("draft kept in this browser"),
        "draft-restored": _("draft restored"),
        "lease-left": _("seat kept for {n} min"),
        "lease-over": _("the seat's time is over"),
        "lapsed": _(
            "Your seat's time is over. You can still send: it counts if nobody has taken the seat; otherwise it is kept as surplus."
        ),
        "select-first": _("Select some text first, then press E."),
        "drop-evidence": _("Remove this evidence"),
        "rest": _("{n} more"),
        "fold": _("Fewer"),
    }
