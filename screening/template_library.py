"""The template library of a collection as rows: proposed from its texts, decided by people, frozen into runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from dedupreview.people.audit import record
from screening.documents import InputDocument
from screening.errors import ScreeningError
from screening.library import Entry, Library
from screening.models import Collection, Document, TemplateEntry
from screening.proposing import SAMPLE, Proposal, propose
from screening.writing import write_lines

if TYPE_CHECKING:
    from dedupreview.people.models import Person

FILE = "library.json"
"""The library that a run was started with, beside its inputs; missing where nothing was confirmed."""

State = TemplateEntry.State


class TemplateLibraryError(ScreeningError):
    """An entry cannot be decided."""


@dataclass(frozen=True, slots=True)
class Built:
    """What looking through the texts came to: ``entries`` found, ``new`` of them, in ``looked_at`` of ``texts`` texts."""

    entries: int
    new: int
    looked_at: int
    texts: int


def build(*, collection: Collection, actor: Person | None, sample: int = SAMPLE) -> Built:
    """Look through a sample of the collection's texts and propose entries.

    What was decided stays decided, with figures as they are now; proposals that are found no more go. Takes a second for
    a million characters and at most ``sample`` of them.
    """
    keys, documents = _texts(collection, sample)
    found = propose(documents, sample=sample)
    total = collection.documents.count()
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)  # one at a time
        known = {row.digest: row for row in TemplateEntry.objects.filter(collection=collection)}
        for one in found.rows:
            row = known.get(one.entry.digest) or TemplateEntry(
                collection=collection, digest=one.entry.digest, entry=one.entry.to_dict()
            )
            _fill(row, one, keys, found.looked_at)
            row.save()
        digests = {one.entry.digest for one in found.rows}
        stale = [row.pk for row in known.values() if row.digest not in digests]
        TemplateEntry.objects.filter(pk__in=stale, state=State.PROPOSED).delete()
        built = Built(len(digests), len(digests - set(known)), found.looked_at, total)
        record(
            actor=actor,
            action="templates.proposed",
            subject_type="collection",
            subject_id=collection.slug,
            data={"entries": built.entries, "new": built.new, "texts": built.looked_at},
        )
    return built


def _texts(collection: Collection, sample: int) -> tuple[list[int], list[InputDocument]]:
    """Keys and texts of a sample of the collection, by the smallest hashes; all of it where it is small."""
    rows = Document.objects.filter(collection=collection).order_by("raw_sha256", "doc_id")
    wanted: list[int] = []
    size = 0
    for pk, chars in rows.values_list("pk", "chars").iterator(chunk_size=5000):
        if wanted and size + chars > sample:
            continue
        wanted.append(pk)
        size += chars
    texts = {}
    for start in range(0, len(wanted), 500):
        some = Document.objects.filter(pk__in=wanted[start : start + 500])
        for pk, doc_id, raw, sha256, source in some.values_list(
            "pk", "doc_id", "raw", "raw_sha256", "source_id"
        ):
            texts[pk] = InputDocument(doc_id, raw, sha256, source_id=source)
    keys = sorted(texts, key=lambda pk: texts[pk].doc_id)
    return keys, [texts[pk] for pk in keys]


def _fill(row: TemplateEntry, one: Proposal, keys: Sequence[int], looked_at: int) -> None:
    row.level, row.documents, row.sources = one.level, one.documents, one.sources
    row.looked_at = looked_at
    row.examples = [
        {
            "document": keys[example.document],
            "start": example.passage.start,
            "end": example.passage.end,
            "fixed": [list(span) for span in example.passage.fixed],
        }
        for example in one.examples
    ]


def decide(*, entry: TemplateEntry, state: str, seen: str, actor: Person) -> None:
    """Confirm or reject an entry that was seen in state ``seen``; the same decision twice is one.

    Raises TemplateLibraryError for another state, or where somebody decided otherwise meanwhile.
    """
    if state not in (State.CONFIRMED, State.REJECTED):
        raise TemplateLibraryError("An entry is confirmed or rejected.", code="unknown")
    with transaction.atomic():
        moved = (
            TemplateEntry.objects.filter(pk=entry.pk, state=seen)
            .exclude(state=state)
            .update(state=state, decided_by=actor, decided_at=timezone.now())
        )
        if moved:
            record(
                actor=actor,
                action=f"template.{state}",
                subject_type="template",
                subject_id=entry.pk,
                data={"digest": entry.digest, "was": seen},
            )
    if not moved and not TemplateEntry.objects.filter(pk=entry.pk, state=state).exists():
        raise TemplateLibraryError(
            "Somebody decided about this entry meanwhile; look at it again.", code="stale"
        )


def confirmed(collection_id: int) -> tuple[list[TemplateEntry], Library | None]:
    """The confirmed entries of a collection in the order of their digests, which is the library's; None without any."""
    rows = list(
        TemplateEntry.objects.filter(collection=collection_id, state=State.CONFIRMED).order_by(
            "digest"
        )
    )
    if not rows:
        return [], None
    return rows, _library(tuple((json.dumps(row.entry), row.documents) for row in rows))


@lru_cache(maxsize=8)
def _library(rows: tuple[tuple[str, int], ...]) -> Library:
    entries = tuple(Entry.from_dict(json.loads(entry)) for entry, _ in rows)
    return Library(entries, tuple(weight for _, weight in rows))


def freeze(folder: Path, collection: Collection) -> None:
    """Write down the library as it is now for a run; nothing where nothing is confirmed."""
    _, library = confirmed(collection.pk)
    if library is not None:
        write_lines(folder / FILE, [json.dumps(library.to_dict(), ensure_ascii=True)])


def frozen(folder: Path) -> Library | None:
    """The library that a run was started with."""
    path = folder / FILE
    if not path.is_file():
        return None
    values: Any = json.loads(path.read_text("utf-8"))
    return Library.from_dict(values)
