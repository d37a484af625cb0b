"""From the rows of a round in the database to its items with their records, item by item, with little in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext_noop as _

from dedupreview.digests import DIGEST_VERSION, canonical
from dedupreview.people.models import Person
from reviews.models import Arbitration, Judgment, Opinion, ReviewItem, ReviewRound
from reviews.plainrows import (
    ANSWER_FIELDS,
    ArbitrationRow,
    FoundRow,
    ItemRow,
    JudgmentRow,
    OpinionRow,
    PairRow,
    PersonRow,
    SeatRow,
    TextRow,
)
from reviews.records import Record, record_fields
from reviews.tables.errors import TableError
from reviews.tables.rows import ItemRecords, Row
from screening.models import Collection, Document, DocumentMetadata

CHUNK = 2000
TEXTS = 100
"""Documents fetched at a time where their texts come with them."""

_ITEM = (
    *("pk", "pair_id", "round_id", "position", "state", "closed_by", "conflict", "closed_at"),
)
_TEXT = ("id", "collection_id", "doc_id", "raw_sha256", "source_id", "version", "title")
_FOUND = (
    *("rank", "channels", "minhash_estimate", "jaccard", "jaccard_folded", "containment"),
    *("simhash_distance", "excerpts", "fact_changes", "suggestion"),
)
_JUDGMENT = (
    *ANSWER_FIELDS,
    *("annotator_id", "slot__number", "version", "supersedes_id", "counted", "checklist"),
    "active_ms",
)
_OPINION = (*ANSWER_FIELDS, "arbitrator_id")
_ARBITRATION = (
    *ANSWER_FIELDS,
    *("arbitrator_id", "version", "supersedes_id", "opinion_id", "saw_originals", "based_on"),
    "cause_code",
)
_JSON = frozenset(
    {"channels", "excerpts", "fact_changes", "evidence", "shown", "checklist", "based_on"}
)
SHORT = 100
"""Characters of a JSON text that is worth remembering: the short ones repeat."""
_KEPT = ANSWER_FIELDS.index("kept_id")
_OWN = len(ANSWER_FIELDS)


def walk(round: ReviewRound, alias: str) -> Iterator[ItemRecords]:
    """Every item of a round in its order, each with its records, ready for :func:`record_fields`."""
    single = round.judgments_per_item == 1
    world = _World(round, alias)
    judgments = _Stream(_answers(Judgment, _JUDGMENT, ("created_at", "id"), round, alias))
    opinions = _Stream(_answers(Opinion, _OPINION, ("created_at", "id"), round, alias))
    arbitrations = _Stream(_answers(Arbitration, _ARBITRATION, ("version",), round, alias))
    for item in world.items():
        yield ItemRecords(
            item,
            single,
            [world.judgment(row, item) for row in judgments.take(item.pk)],
            [world.opinion(row, item) for row in opinions.take(item.pk)],
            [world.arbitration(row, item) for row in arbitrations.take(item.pk)],
        )


def _answers(
    model: type[Model],
    columns: tuple[str, ...],
    order: tuple[str, ...],
    round: ReviewRound,
    alias: str,
) -> Iterator[tuple[Any, ...]]:
    """The records of a kind in the order of the items."""
    rows = model._default_manager.using(alias).filter(item__round_id=round.pk)
    return _values(rows.order_by("item__position", *order), columns)


def _values(rows: QuerySet[Any], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The columns of the rows; those of :data:`_JSON` are read here, equal ones once, and must not be changed."""
    asked: list[str | Cast] = []
    places: list[int] = []
    for number, column in enumerate(columns):
        if column.rpartition("__")[2] in _JSON:
            asked.append(Cast(column, TextField()))
            places.append(number)
        else:
            asked.append(column)
    for row in rows.values_list(*asked).iterator(CHUNK):
        values = list(row)
        for place in places:
            text = values[place]
            values[place] = _remembered(text) if len(text) < SHORT else json.loads(text)
        yield tuple(values)


_remembered = lru_cache(maxsize=2048)(json.loads)


class _Stream:
    """Records in the order of the items, handed out item by item."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def take(self, item_id: int) -> list[tuple[Any, ...]]:
        """The records of this item; items must be asked for in order."""
        found: list[tuple[Any, ...]] = []
        while self._next is not None and self._next[1] == item_id:
            found.append(self._next)
            self._next = next(self._rows, None)
        return found


class _World:
    """What items and records refer to, each read once."""

    def __init__(self, round: ReviewRound, alias: str) -> None:
        self.round = round
        self.alias = alias
        self.metadata = Metadata(round, alias)
        self._people = _Remembered(self._person)
        self._seats = _Remembered(SeatRow)
        self._slugs = _Remembered(self._slug)

    def items(self) -> Iterator[ItemRow]:
        columns = [*_ITEM]
        columns += [f"pair__{side}__{name}" for side in ("low", "high") for name in _TEXT]
        columns += [f"candidate__{name}" for name in _FOUND]
        rows = ReviewItem.objects.using(self.alias).filter(round_id=self.round.pk)
        first, second, third = len(_ITEM), len(_ITEM) + len(_TEXT), len(_ITEM) + 2 * len(_TEXT)
        for row in _values(rows.order_by("position"), columns):
            pair = PairRow(self._text(row[first:second]), self._text(row[second:third]))
            own: list[Any] = [*row[:first], pair, FoundRow(*row[third:])]
            yield ItemRow(*own)

    def _text(self, row: tuple[Any, ...]) -> TextRow:
        pk, collection_id, *rest = row
        text = TextRow(pk, self._slugs[collection_id], *rest)
        if pk in self.metadata.corrected:
            now = self.metadata.corrected[pk].values
            text.source_id, text.version = now.get("source_id"), now.get("version")
            text.title = now.get("title")
        return text

    def judgment(self, row: tuple[Any, ...], item: ItemRow) -> JudgmentRow:
        who, seat = self._people[row[_OWN]], self._seats[row[_OWN + 1]]
        values: list[Any] = [*row[:_OWN], item, self._kept(row[_KEPT], item), who, seat]
        return JudgmentRow(*values, *row[_OWN + 2 :])

    def opinion(self, row: tuple[Any, ...], item: ItemRow) -> OpinionRow:
        who = self._people[row[_OWN]]
        values: list[Any] = [*row[:_OWN], item, self._kept(row[_KEPT], item), who]
        return OpinionRow(*values)

    def arbitration(self, row: tuple[Any, ...], item: ItemRow) -> ArbitrationRow:
        who = self._people[row[_OWN]]
        values: list[Any] = [*row[:_OWN], item, self._kept(row[_KEPT], item), who]
        return ArbitrationRow(*values, *row[_OWN + 1 :])

    def _kept(self, pk: int | None, item: ItemRow) -> TextRow | None:
        if pk is None:
            return None
        for text in (item.pair.low, item.pair.high):
            if text.pk == pk:
                return text
        rows = Document.objects.using(self.alias).filter(pk=pk)
        return self._text(rows.values_list(*_TEXT).get())

    def _person(self, pk: int) -> PersonRow:
        return PersonRow(Person.objects.using(self.alias).values_list("code", flat=True).get(pk=pk))

    def _slug(self, pk: int) -> str:
        rows = Collection.objects.using(self.alias)
        return str(rows.values_list("slug", flat=True).get(pk=pk))


class _Remembered(dict[int, Any]):
    """Values by number, each made when it is first asked for."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: int) -> Any:
        self[key] = self._make(key)
        return self[key]


@dataclass(frozen=True)
class Correction:
    """Metadata that a document had when the run was started; ``number`` counts its corrections from 1."""

    number: int
    values: dict[str, str]


class Metadata:
    """The corrections that the screening run of a round worked with, by document: later ones do not count.

    The run's own list of inputs names them; where its folder is gone, the times of the corrections tell.
    """

    def __init__(self, round: ReviewRound, alias: str) -> None:
        run = round.run
        rows = DocumentMetadata.objects.using(alias).filter(
            document__collection=run.collection_id
        )
        used = _corrections_used(Path(settings.DATA_DIR) / "runs" / run.folder / "inputs.jsonl")
        rows = rows.filter(created_at__lte=run.created_at) if used is None else rows
        self.corrected: dict[int, Correction] = {}
        for pk, document, number, values in rows.order_by("number").values_list(
            "pk", "document_id", "number", "values"
        ):
            if used is None or used.get(document) == pk:
                self.corrected[document] = Correction(number, values)


def _corrections_used(inputs: Path) -> dict[int, int] | None:
    """Document → correction, from the list of a run's inputs; None if it cannot be read."""
    found: dict[int, int] = {}
    try:
        with inputs.open(encoding="utf-8") as file:
            for line in file:
                if '"metadata"' in line:
                    row = json.loads(line)
                    if "metadata" in row:
                        found[row["pk"]] = row["metadata"]
    except (OSError, ValueError, KeyError):
        return None
    return found


def checked(record: Record) -> tuple[dict[str, Any], bytes]:
    """The digested fields of a record and their canonical JSON. Nothing is signed over what was changed unnoticed.

    :raises TableError: if the record no longer matches the digest that it was written with.
    """
    fields = record_fields(record)
    text = canonical(fields)
    if (
        record.digest != hashlib.sha256(text).hexdigest()
        or record.digest_version != DIGEST_VERSION
    ):
        raise TableError(
            _("The %(kind)s %(id)s was changed in the database; no table is signed over it."),
            {"kind": fields["record"], "id": str(record.pk)},
            code="record_changed",
        )
    return fields, text


def documents(round: ReviewRound, alias: str) -> Iterator[Row]:
    """Every document of the round's pairs, once, without its text but with the text's hash."""
    items = ReviewItem.objects.using(alias).filter(round_id=round.pk)
    wanted = Q(pk__in=items.values("pair__low")) | Q(pk__in=items.values("pair__high"))
    corrected = Metadata(round, alias).corrected
    rows = Document.objects.using(alias).filter(wanted).order_by("pk")
    columns = ("pk", "raw", "doc_id", "collection__slug", "source_id", "version", "title")
    more = ("original_path", "captured_at", "sha256", "raw_sha256", "chars", "metadata")
    for pk, raw, *values in rows.values_list(*columns, *more).iterator(TEXTS):
        row = dict(zip(("doc_id", "collection", *columns[4:], *more), values, strict=True))
        if hashlib.sha256(raw.encode("utf-8")).hexdigest() != row["raw_sha256"]:
            raise TableError(
                _(
                    "The text of %(document)s was changed in the database; no table is signed over it."
                ),
                {"document": row["doc_id"]},
                code="text_changed",
            )
        yield _as_of_the_run(row, corrected.get(pk))


def _as_of_the_run(row: Row, correction: Correction | None) -> Row:
    """``metadata_version``: 0 for what came with the file, else the number of the correction that the run used."""
    if correction is None:
        return row | {"metadata_version": 0}
    own = ("source_id", "version", "title", "captured_at")
    values = dict(correction.values)
    changed = {name: values.pop(name, None) for name in own}
    return row | changed | {"metadata": values, "metadata_version": correction.number}
