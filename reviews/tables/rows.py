"""From the rows of a round to the rows of its files, item by item, with little in memory.

Nothing here knows about files. Of an item that is not closed only its identity leaves this module, and whether it
waits for arbitration; never who judged it, how often, when or how.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop as _

from dedupreview.digests import timestamp
from dedupreview.people.models import Person
from reviews.models import Arbitration, Judgment, Opinion, ReviewItem, ReviewRound, SignOff
from reviews.records import BULK_FIELDS, is_intact, record_fields
from reviews.tables.chain import Chain
from reviews.tables.errors import TableError
from screening.models import Collection, Document

Row = dict[str, Any]
CHUNK = 2000
TEXTS = 100
"""Documents fetched at a time where their texts come with them."""
Answered = Judgment | Opinion | Arbitration
Record = Answered | SignOff
T = TypeVar("T", Judgment, Opinion, Arbitration)


@dataclass
class ItemRecords:
    """One item of the round with every record about it, oldest first."""

    item: ReviewItem
    single_seat: bool
    judgments: list[Judgment] = field(default_factory=list)
    opinions: list[Opinion] = field(default_factory=list)
    arbitrations: list[Arbitration] = field(default_factory=list)

    @property
    def closed(self) -> bool:
        return self.item.state == ReviewItem.State.CLOSED

    @property
    def in_conflict(self) -> bool:
        """Whether the item waits for arbitration. Where one judgment is asked, saying so would tell what it is."""
        return self.item.state == ReviewItem.State.CONFLICT and not self.single_seat

    @property
    def pair_id(self) -> str:
        return str(self.item.pair_id)

    def standing(self) -> list[Judgment]:
        """The judgments that count, each person's latest version."""
        replaced = {judgment.supersedes_id for judgment in self.judgments}
        return [j for j in self.judgments if j.counted and j.pk not in replaced]

    def decision(self) -> Arbitration | None:
        """The arbitration that stands."""
        return self.arbitrations[-1] if self.arbitrations else None

    def records(self) -> list[Answered]:
        """Every record, in the order of the chain."""
        return [*self.judgments, *self.opinions, *self.arbitrations]

    def first_answers(self) -> dict[str, str]:
        """Person code → label of the first blind judgments that count: what agreement is measured on."""
        return {
            judgment.annotator.code: judgment.label
            for judgment in self.judgments
            if judgment.counted and judgment.version == 1
        }


class StateDigests:
    """What a person signs off: one chain over all judgments, and one over all records, of a round as it stands."""

    def __init__(self) -> None:
        self.judgments = Chain()
        self.records = Chain()

    def add(self, entry: ItemRecords) -> None:
        for judgment in entry.judgments:
            self.judgments.add(judgment.digest)
        for record in entry.records():
            self.records.add(record.digest)

    def of(self, stage: str) -> str:
        """The digest that a signature under ``stage`` covers: annotation signs the judgments alone."""
        chain = self.judgments if stage == SignOff.Stage.ANNOTATION else self.records
        return chain.value


def walk(round: ReviewRound, alias: str) -> Iterator[ItemRecords]:
    """Every item of a round in its order, each with its records, ready for :func:`record_fields`."""
    items = ReviewItem.objects.using(alias).filter(round_id=round.pk)
    single = round.judgments_per_item == 1
    related = _Related(round, alias)
    slots = ("slot",), ("slot__number",)
    judgments = _Stream(
        _records(Judgment, "created_at", "id", alias=alias, round=round, join=slots)
    )
    opinions = _Stream(_records(Opinion, "created_at", "id", alias=alias, round=round))
    arbitrations = _Stream(_records(Arbitration, "version", alias=alias, round=round))
    for item in _light(items).order_by("position").iterator(CHUNK):
        related.complete(item)
        entry = ItemRecords(
            item,
            single,
            judgments.take(item.pk),
            opinions.take(item.pk),
            arbitrations.take(item.pk),
        )
        for judgment in entry.judgments:
            judgment.annotator = related.people[judgment.annotator_id]
        for opinion in entry.opinions:
            opinion.arbitrator = related.people[opinion.arbitrator_id]
        for decision in entry.arbitrations:
            decision.arbitrator = related.people[decision.arbitrator_id]
        for record in entry.records():
            related.complete_answer(record, item)
        yield entry


def _light(items: QuerySet[ReviewItem]) -> QuerySet[ReviewItem]:
    bulk = [f"pair__{side}__{name}" for side in ("low", "high") for name in BULK_FIELDS]
    return items.select_related("pair__low", "pair__high", "candidate").defer(*bulk)


def _records(
    model: type[T],
    *order: str,
    alias: str,
    round: ReviewRound,
    join: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
) -> QuerySet[T]:
    """The records of a kind, in the order of the items; what they refer to is attached by :class:`_Related`.

    A million judgments would else bring two million documents and their people along.
    """
    joined, fields = join
    own = [field.attname for field in model._meta.concrete_fields]
    rows = model._default_manager.using(alias).filter(item__round_id=round.pk)
    if joined:
        rows = rows.select_related(*joined).only(*own, *fields)
    return rows.order_by("item__position", *order)


class _Related:
    """What items and records refer to, each read once."""

    def __init__(self, round: ReviewRound, alias: str) -> None:
        self.round = round
        self.alias = alias
        members = Person.objects.using(alias).filter(round_memberships__round_id=round.pk)
        self.people = _People(alias, {person.pk: person for person in members.only("id", "code")})
        self.collections: dict[int, Collection] = {}

    def complete(self, item: ReviewItem) -> None:
        item.round = self.round
        for document in (item.pair.low, item.pair.high):
            key = document.collection_id
            if key not in self.collections:
                self.collections[key] = Collection.objects.using(self.alias).get(pk=key)
            document.collection = self.collections[key]

    def complete_answer(self, answer: Answered, item: ReviewItem) -> None:
        answer.item = item
        if answer.kept_id is not None:
            sides = {document.pk: document for document in (item.pair.low, item.pair.high)}
            if answer.kept_id in sides:
                answer.kept = sides[answer.kept_id]


class _People(dict[int, Person]):
    """People by key; one who is no member any more is read when first needed."""

    def __init__(self, alias: str, known: dict[int, Person]) -> None:
        super().__init__(known)
        self.alias = alias

    def __missing__(self, key: int) -> Person:
        self[key] = Person.objects.using(self.alias).only("id", "code").get(pk=key)
        return self[key]


class _Stream(Generic[T]):
    """Records in the order of the items, handed out item by item."""

    def __init__(self, rows: QuerySet[T]) -> None:
        self._rows: Iterator[T] = rows.iterator(CHUNK)
        self._next: T | None = next(self._rows, None)

    def take(self, item_id: int) -> list[T]:
        """The records of this item; items must be asked for in order."""
        found: list[T] = []
        while self._next is not None and self._next.item_id == item_id:
            found.append(self._next)
            self._next = next(self._rows, None)
        return found


def refuse_if_changed(record: Record) -> None:
    """Nothing is signed over a record that was changed behind the application's back.

    :raises TableError: if the record no longer matches the digest that it was written with.
    """
    if not is_intact(record):
        raise TableError(
            _("The %(kind)s %(id)s was changed in the database; no table is signed over it."),
            {"kind": record._meta.model_name, "id": str(record.pk)},
            code="record_changed",
        )


def documents(round: ReviewRound, alias: str) -> Iterator[Row]:
    """Every document of the round's pairs, once, without its text but with the text's hash."""
    items = ReviewItem.objects.using(alias).filter(round_id=round.pk)
    wanted = Q(pk__in=items.values("pair__low")) | Q(pk__in=items.values("pair__high"))
    rows = Document.objects.using(alias).filter(wanted).select_related("collection")
    for document in rows.order_by("pk").iterator(TEXTS):
        if hashlib.sha256(document.raw.encode("utf-8")).hexdigest() != document.raw_sha256:
            raise TableError(
                _(
                    "The text of %(document)s was changed in the database; no table is signed over it."
                ),
                {"document": document.doc_id},
                code="text_changed",
            )
        yield {
            "doc_id": document.doc_id,
            "collection": document.collection.slug,
            "source_id": document.source_id,
            "version": document.version,
            "title": document.title,
            "original_path": document.original_path,
            "captured_at": document.captured_at,
            "sha256": document.sha256,
            "raw_sha256": document.raw_sha256,
            "chars": document.chars,
            "metadata": document.metadata,
        }


def pair_row(entry: ItemRecords) -> Row:
    """The line of pairs.jsonl: the two documents and what screening found; offsets count code points of the raw texts."""
    pair, candidate = entry.item.pair, entry.item.candidate
    left, right = pair.left, pair.right
    return {
        "pair_id": entry.pair_id,
        "item": str(entry.item.pk),
        "position": entry.item.position,
        "left": left.doc_id,
        "right": right.doc_id,
        "left_source": left.source_id,
        "right_source": right.source_id,
        "left_version": left.version,
        "right_version": right.version,
        "left_sha256": left.raw_sha256,
        "right_sha256": right.raw_sha256,
        "rank": candidate.rank,
        "channels": candidate.channels,
        "minhash_estimate": candidate.minhash_estimate,
        "jaccard": candidate.jaccard,
        "jaccard_folded": candidate.jaccard_folded,
        "containment": candidate.containment,
        "simhash_distance": candidate.simhash_distance,
        "excerpts": candidate.excerpts,
        "fact_changes": candidate.fact_changes,
        "suggestion": candidate.suggestion,
    }


def judgment_row(judgment: Judgment) -> Row:
    """The line of judgments.jsonl, keys as design §6."""
    return {
        "pair_id": str(judgment.item.pair_id),
        "item": str(judgment.item_id),
        "annotator": judgment.annotator.code,
        "version": judgment.version,
        "counted": judgment.counted,
        "label": judgment.label,
        "direction": judgment.direction,
        "reason_code": judgment.reason_code,
        "reason": judgment.reason,
        "kept": judgment.kept.doc_id if judgment.kept else None,
        "shown": judgment.shown,
        "guideline_version": judgment.guideline_version,
        "created_at": timestamp(judgment.created_at),
        "digest": judgment.digest,
    }


def arbitration_row(arbitration: Arbitration, opinions: Sequence[Opinion]) -> Row:
    """The line of arbitrations.jsonl: the decision and the opinion its author gave before seeing the originals."""
    opinion = next((one for one in opinions if one.pk == arbitration.opinion_id), None)
    return {
        "pair_id": str(arbitration.item.pair_id),
        "item": str(arbitration.item_id),
        "arbitrator": arbitration.arbitrator.code,
        "version": arbitration.version,
        "label": arbitration.label,
        "direction": arbitration.direction,
        "reason_code": arbitration.reason_code,
        "reason": arbitration.reason,
        "kept": arbitration.kept.doc_id if arbitration.kept else None,
        "opinion": _opinion(opinion) if opinion else None,
        "saw_originals": arbitration.saw_originals,
        "based_on": arbitration.based_on,
        "cause_code": arbitration.cause_code,
        "shown": arbitration.shown,
        "guideline_version": arbitration.guideline_version,
        "created_at": timestamp(arbitration.created_at),
        "digest": arbitration.digest,
    }


def _opinion(opinion: Opinion) -> Row:
    return {
        "label": opinion.label,
        "direction": opinion.direction,
        "reason_code": opinion.reason_code,
        "reason": opinion.reason,
        "kept": opinion.kept.doc_id if opinion.kept else None,
        "created_at": timestamp(opinion.created_at),
        "digest": opinion.digest,
    }


def record_row(record: Record) -> Row:
    """The line of records.jsonl: everything the digest is made of."""
    return {
        "digest": record.digest,
        "digest_version": record.digest_version,
        "fields": record_fields(record),
    }


def sign_off_row(sign_off: SignOff, *, current: bool) -> Row:
    """The line of sign_offs.jsonl; ``current`` says whether the records still are those that were signed."""
    return {
        "stage": sign_off.stage,
        "person": sign_off.person.code,
        "meaning": sign_off.meaning,
        "signed_digest": sign_off.signed_digest,
        "current": current,
        "created_at": timestamp(sign_off.created_at),
        "digest": sign_off.digest,
    }
