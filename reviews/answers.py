"""What every answer (judgment, opinion, decision) must satisfy before it becomes a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dedupreview.digests import canonical
from reviews.errors import ReviewError
from reviews.labels import REASON_CODES, REASON_NEEDED, Direction, Label, ReasonCode
from reviews.models import Answer, ReviewItem
from screening.models import Document

MAX_REASON = 5_000
"""Characters of a reason."""
MAX_JSON = 65_536
"""Bytes of canonical JSON in ``evidence``, ``shown`` or ``checklist``."""

UNKNOWN_LABEL = "Unknown label: %(label)s"
UNKNOWN_DIRECTION = "Unknown direction: %(direction)s"
DIRECTION_NEEDS_REVISION = "Only a revision has a direction."
UNKNOWN_REASON_CODE = "This reason code does not go with the label: %(code)s"
REASON_MISSING = "Please give the reason in words."
REASON_TOO_LONG = "The reason is longer than %(limit)s characters."
KEPT_NEEDS_COPY = "Only for copies can one entry be kept."
KEPT_UNKNOWN = "The entry to keep must be one of the two texts."
BAD_TEXT = "The text holds a character that cannot be stored."
BAD_JSON = "The data sent with the answer cannot be stored."
OTHER_CONTENT = "This id already belongs to another answer."


@dataclass(frozen=True)
class Content:
    """The checked content of an answer, as it will be stored."""

    label: str
    direction: str
    reason_code: str
    reason: str
    kept: Document | None
    evidence: list[Any]
    shown: dict[str, Any]

    def same_as(self, row: Answer) -> bool:
        """Whether ``row`` says the same; what was shown around the answer is not part of it."""
        return (
            row.label == self.label
            and row.direction == self.direction
            and row.reason_code == self.reason_code
            and row.reason == self.reason
            and row.kept_id == (self.kept.pk if self.kept else None)
            and canonical(row.evidence) == canonical(self.evidence)
        )


def checked(
    error: type[ReviewError],
    *,
    item: ReviewItem,
    label: str,
    direction: str = "",
    reason_code: str = "",
    reason: str = "",
    kept: object = None,
    evidence: Sequence[Any] = (),
    shown: Mapping[str, Any] | None = None,
) -> Content:
    """Check an answer to ``item`` and fill in what the server presets.

    A revision without direction is ``unknown``; a missing reason code is the label's first. ``kept`` is ``left``,
    ``right`` (of the canonical order, whatever the page showed), a document or its primary key, or nothing.

    :raises error: with a code naming the field.
    """
    if label not in Label.values:
        raise error(UNKNOWN_LABEL, {"label": str(label)[:40]}, code="label")
    code = _reason_code(error, label, reason_code)
    return Content(
        label=str(label),
        direction=_direction(error, label, direction),
        reason_code=code,
        reason=_reason(error, label, code, reason),
        kept=_kept(error, item, label, kept),
        evidence=stored_json(error, list(evidence)),
        shown=stored_json(error, dict(shown or {})),
    )


def _direction(error: type[ReviewError], label: str, direction: str) -> str:
    if label != Label.REVISION:
        if direction:
            raise error(DIRECTION_NEEDS_REVISION, code="direction")
        return ""
    if direction and direction not in Direction.values:
        raise error(UNKNOWN_DIRECTION, {"direction": str(direction)[:40]}, code="direction")
    return str(direction or Direction.UNKNOWN)


def _reason_code(error: type[ReviewError], label: str, reason_code: str) -> str:
    codes = REASON_CODES[label]
    if not reason_code:
        return str(codes[0])
    if reason_code not in codes:
        raise error(UNKNOWN_REASON_CODE, {"code": str(reason_code)[:40]}, code="reason_code")
    return str(reason_code)


def _reason(error: type[ReviewError], label: str, code: str, reason: str) -> str:
    text = reason.strip()
    if not text and (label in REASON_NEEDED or code == ReasonCode.OTHER):
        raise error(REASON_MISSING, code="reason")
    return stored_text(error, text)


def stored_text(error: type[ReviewError], text: str) -> str:
    """``text``, if every database can keep it: no NUL, no lone surrogate, not too long."""
    if len(text) > MAX_REASON:
        raise error(REASON_TOO_LONG, {"limit": MAX_REASON}, code="reason")
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise error(BAD_TEXT, code="reason")
    return text


def _kept(error: type[ReviewError], item: ReviewItem, label: str, kept: object) -> Document | None:
    if kept is None or kept == "":
        return None
    if label != Label.COPY:
        raise error(KEPT_NEEDS_COPY, code="kept")
    pair = item.pair
    sides = {"left": pair.left, "right": pair.right}
    for document in (pair.low, pair.high):
        sides[str(document.pk)] = document
    found = sides.get(str(kept.pk if isinstance(kept, Document) else kept))
    if found is None:
        raise error(KEPT_UNKNOWN, code="kept")
    return found


def stored_json(error: type[ReviewError], value: Any) -> Any:
    """``value``, if it is JSON that every database gives back unchanged.

    :raises error: for NaN, integers beyond 2**53, NUL or lone surrogates in strings, and more than ``MAX_JSON`` bytes.
    """
    try:
        data = canonical(value)
        data.decode("utf-8")
    except (ValueError, TypeError, RecursionError):
        raise error(BAD_JSON, code="json") from None
    if len(data) > MAX_JSON or b"\\u0000" in data:
        raise error(BAD_JSON, code="json")
    return value
