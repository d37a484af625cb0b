"""The digested fields of every record: used when a row is written, and when anybody checks it later."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import QuerySet

from dedupreview.digests import DIGEST_VERSION, digest, timestamp
from reviews.models import Answer, Arbitration, Judgment, Opinion, ReviewItem, SignOff
from reviews.plainrows import ArbitrationRow, JudgmentRow, OpinionRow

Answered = Judgment | Opinion | Arbitration | JudgmentRow | OpinionRow | ArbitrationRow
Record = Answered | SignOff
A = TypeVar("A", bound=Answer)

# Never the raw texts: a table of a million judgments must not read a million articles.
_DOCUMENT_FIELDS = ("collection__slug", "doc_id", "raw_sha256")
BULK_FIELDS = ("raw", "metadata", "warnings")
"""Fields of a document that no record needs."""
_PAIR_FIELDS = tuple(
    f"item__pair__{side}__{field}" for side in ("low", "high") for field in _DOCUMENT_FIELDS
)


def record_fields(record: Record) -> dict[str, Any]:
    """The fields whose digest a record carries: JSON values only, people by code, times as text.

    ``kept``, ``left`` and ``right`` are doc_ids; ``left`` and ``right`` are the canonical sides, with the sha256 of the
    raw texts that were judged. The digest itself is not among them. Source: design §3.2 and §6.
    """
    if isinstance(record, SignOff):
        return _sign_off_fields(record)
    fields = _answer_fields(record)
    if isinstance(record, (Judgment, JudgmentRow)):
        return fields | {
            "record": "judgment",
            "annotator": record.annotator.code,
            "slot": record.slot.number,
            "version": record.version,
            "supersedes": str(record.supersedes_id) if record.supersedes_id else None,
            "counted": record.counted,
            "checklist": record.checklist,
            "active_ms": record.active_ms,
        }
    if isinstance(record, (Opinion, OpinionRow)):
        return fields | {"record": "opinion", "arbitrator": record.arbitrator.code}
    return fields | {
        "record": "arbitration",
        "arbitrator": record.arbitrator.code,
        "version": record.version,
        "supersedes": str(record.supersedes_id) if record.supersedes_id else None,
        "opinion": str(record.opinion_id) if record.opinion_id else None,
        "saw_originals": record.saw_originals,
        "based_on": record.based_on,
        "cause_code": record.cause_code,
    }


def _answer_fields(answer: Answered) -> dict[str, Any]:
    pair = answer.item.pair
    left, right = pair.left, pair.right
    return {
        "id": str(answer.pk),
        "item": str(answer.item_id),
        "pair_id": str(answer.item.pair_id),
        "round": str(answer.item.round_id),
        "left": left.doc_id,
        "right": right.doc_id,
        "left_sha256": left.raw_sha256,
        "right_sha256": right.raw_sha256,
        "label": answer.label,
        "direction": answer.direction,
        "reason_code": answer.reason_code,
        "reason": answer.reason,
        "kept": answer.kept.doc_id if answer.kept else None,
        "evidence": answer.evidence,
        "shown": answer.shown,
        "guideline_version": answer.guideline_version,
        "created_at": timestamp(answer.created_at),
    }


def _sign_off_fields(sign_off: SignOff) -> dict[str, Any]:
    return {
        "record": "sign_off",
        "round": str(sign_off.round_id),
        "stage": sign_off.stage,
        "person": sign_off.person.code,
        "meaning": sign_off.meaning,
        "signed_digest": sign_off.signed_digest,
        "created_at": timestamp(sign_off.created_at),
    }


def seal(record: Judgment | Opinion | Arbitration | SignOff) -> None:
    """Give an unsaved record its digest; nothing in it may change afterwards."""
    record.digest_version = DIGEST_VERSION
    record.digest = digest(record_fields(record))


def is_intact(record: Record) -> bool:
    """Whether a stored record still has the content that it was sealed with."""
    return record.digest_version == DIGEST_VERSION and record.digest == digest(
        record_fields(record)
    )


def with_relations(answers: QuerySet[A], person: str) -> QuerySet[A]:
    """``answers`` with everything :func:`record_fields` reads, and without the texts. ``person``: the author's field."""
    own = [field.attname for field in answers.model._meta.concrete_fields]
    related = [person, "kept", "item__pair__low__collection", "item__pair__high__collection"]
    needed = [f"{person}__code", "kept__doc_id", "item__round_id", "item__pair_id", *_PAIR_FIELDS]
    if answers.model is Judgment:
        related.append("slot")
        needed.append("slot__number")
    return answers.select_related(*related).only(*own, *needed)


def judgments_of(round_id: int) -> QuerySet[Judgment]:
    """Every judgment of a round, all versions and surplus, by position of the item and then by time."""
    rows = Judgment.objects.filter(item__round_id=round_id)
    return with_relations(rows, "annotator").order_by("item__position", "created_at", "id")


def opinions_of(round_id: int) -> QuerySet[Opinion]:
    """Every opinion of a round, by position of the item and then by time."""
    rows = Opinion.objects.filter(item__round_id=round_id)
    return with_relations(rows, "arbitrator").order_by("item__position", "created_at", "id")


def arbitrations_of(round_id: int) -> QuerySet[Arbitration]:
    """Every decision of a round, all versions, by position of the item and then by version."""
    rows = Arbitration.objects.filter(item__round_id=round_id)
    return with_relations(rows, "arbitrator").order_by("item__position", "version")


def item_for_record(item_id: int) -> ReviewItem:
    """The item with its round and its pair's identities, without the texts."""
    bulk = [f"pair__{side}__{field}" for side in ("low", "high") for field in BULK_FIELDS]
    related = ("pair__low__collection", "pair__high__collection", "round")
    return ReviewItem.objects.select_related(*related).defer(*bulk).get(pk=item_id)
