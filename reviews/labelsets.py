"""Uploaded labelled pairs: a named external source, kept apart from what the project's own people judge."""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext

from dedupreview.people import audit
from dedupreview.people.models import Person
from reviews.errors import ReviewError
from reviews.models import LabelRow, LabelSet
from screening import labels_file, originals
from screening.documents import Problem
from screening.models import Collection, Document, DocumentPair

CHUNK = 400
"""Values in one query: SQLite takes 999 at most in its older builds."""
REPORTED = 1_000
"""Refused rows and conflicts kept in the stored report; the counts are always of all."""

NAME_MISSING = "Please give the label set a name."
NAME_TAKEN = "A label set named “%(name)s” is already in this collection."
UNUSABLE = "The file cannot be read as labelled pairs: %(why)s"
NO_ROWS = "The file holds no labelled pairs."
DOCUMENT_UNKNOWN = "Line %(line)s: the collection has no document %(doc_id)s"
SAME_DOCUMENT = "Line %(line)s: %(doc_id)s is paired with itself"
REPEATED = "Line %(line)s repeats line %(first)s"

T = TypeVar("T")


class LabelSetError(ReviewError):
    """A label file could not be used at all. ``problems``: what is wrong, where the file itself says."""

    def __init__(
        self,
        template: str,
        params: Mapping[str, object] | None = None,
        *,
        code: str = "refused",
        problems: Sequence[Problem] = (),
    ) -> None:
        super().__init__(template, params, code=code)
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Fault:
    """A row that was refused, or something worth knowing about one; ``line`` counts from 1, None if about the file."""

    line: int | None
    code: str
    template: str
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """The fault in the active language."""
        text = gettext(self.template)
        return text % self.params if self.params else text

    def to_dict(self) -> dict[str, Any]:
        return {
            "line": self.line,
            "code": self.code,
            "template": self.template,
            "params": self.params,
        }


@dataclass(frozen=True)
class Conflict:
    """A pair with different labels in one file: ``rows`` are (line, label). None of them is kept."""

    left: str
    right: str
    rows: tuple[tuple[int, str], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "left": self.left,
            "right": self.right,
            "rows": [{"line": line, "label": label} for line, label in self.rows],
        }


@dataclass(frozen=True)
class LabelReport:
    """What became of a file. ``label_set`` is None after a dry run. ``accepted`` counts pairs, ``labels`` by label."""

    accepted: int
    refused: list[Fault]
    conflicts: list[Conflict]
    notes: list[Fault]
    labels: dict[str, int]
    sha256: str
    label_set: LabelSet | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with messages in the active language."""
        return self.stored() | {
            "refused": [fault.to_dict() | {"reason": fault.message} for fault in self.refused],
            "notes": [fault.to_dict() | {"reason": fault.message} for fault in self.notes],
            "conflicts": [conflict.to_dict() for conflict in self.conflicts],
            "label_set": self.label_set.pk if self.label_set else None,
        }

    def stored(self) -> dict[str, Any]:
        """As kept with the label set: messages as templates, lists cut after :data:`REPORTED`."""
        return {
            "accepted": self.accepted,
            "refused_count": len(self.refused),
            "conflict_count": len(self.conflicts),
            "labels": self.labels,
            "sha256": self.sha256,
            "refused": [fault.to_dict() for fault in self.refused[:REPORTED]],
            "notes": [fault.to_dict() for fault in self.notes[:REPORTED]],
            "conflicts": [conflict.to_dict() for conflict in self.conflicts[:REPORTED]],
        }


@dataclass(frozen=True)
class _Accepted:
    row: labels_file.LabelRow
    low: int
    high: int


def import_labels(
    *,
    collection: Collection,
    name: str,
    filename: str,
    data: bytes,
    actor: Person | None = None,
    dry_run: bool = False,
) -> LabelReport:
    """Read labelled pairs and store those that can be used; ``dry_run`` only reports.

    (A, B) and (B, A) are one pair. A pair with different labels is listed and not stored. Rows that cannot be used
    are refused with their line; the others are stored all the same. The uploaded bytes are kept.

    :raises LabelSetError: if nothing in the file can be read, or the name is missing or taken by another file.
    """
    name = labels_file.tidy(name)[:200]
    filename = labels_file.tidy(filename)
    if not name:
        raise LabelSetError(NAME_MISSING, code="name")
    there = collection.label_sets.filter(name=name).first()
    sha256 = hashlib.sha256(data).hexdigest()
    if there is not None and (there.sha256 != sha256 or dry_run):
        raise LabelSetError(NAME_TAKEN, {"name": name}, code="name_taken")
    rows, faults, notes = read_labels(data, filename)
    found, unresolved = _resolve(collection, rows)
    accepted, conflicts, repeated = _merge(found)
    report = LabelReport(
        accepted=len(accepted),
        refused=sorted([*faults, *unresolved], key=lambda fault: fault.line or 0),
        conflicts=conflicts,
        notes=[*notes, *repeated],
        labels=_by_label(accepted),
        sha256=sha256,
        label_set=there,
    )
    if dry_run or there is not None:
        return report
    return _store(collection, name, filename, data, actor, report, accepted)


def read_labels(
    data: bytes, filename: str
) -> tuple[list[labels_file.LabelRow], list[Fault], list[Fault]]:
    """The usable rows of a label file, the refused ones, and notes about the file; touches no database.

    :raises LabelSetError: if the file cannot be used at all.
    """
    rows, problems = labels_file.read_label_rows(data, filename)
    refused = [_fault(problem) for problem in problems if "line" in problem.params]
    about_file = [problem for problem in problems if "line" not in problem.params]
    if not rows and not refused:
        if not about_file:
            raise LabelSetError(NO_ROWS, code="no_rows")
        why = "; ".join(_fault(problem).message for problem in about_file)
        raise LabelSetError(UNUSABLE, {"why": why}, code="unusable", problems=about_file)
    return rows, refused, [_fault(problem) for problem in about_file]


def _fault(problem: Problem) -> Fault:
    line = problem.params.get("line")
    return Fault(
        line if isinstance(line, int) else None,
        problem.code,
        problem.template,
        dict(problem.params),
    )


def _resolve(
    collection: Collection, rows: Sequence[labels_file.LabelRow]
) -> tuple[list[_Accepted], list[Fault]]:
    """The rows whose two documents are in the collection, as keys in database order; the others refused."""
    wanted = sorted({doc_id for row in rows for pair in _spellings(row) for doc_id in pair})
    keys: dict[str, int] = {}
    for some in _chunks(wanted):
        documents = Document.objects.filter(collection=collection, doc_id__in=some)
        keys.update(documents.values_list("doc_id", "pk"))
    found: list[_Accepted] = []
    refused: list[Fault] = []
    for row in rows:
        sides = [next((d for d in side if d in keys), side[-1]) for side in _spellings(row)]
        missing = [doc_id for doc_id in sides if doc_id not in keys]
        for doc_id in missing:
            params = {"line": row.line, "doc_id": doc_id[:200]}
            refused.append(Fault(row.line, "document_unknown", DOCUMENT_UNKNOWN, params))
        if missing:
            continue
        low, high = sorted(keys[doc_id] for doc_id in sides)
        if low == high:
            params = {"line": row.line, "doc_id": sides[0][:200]}
            refused.append(Fault(row.line, "label_row_self", SAME_DOCUMENT, params))
            continue
        found.append(_Accepted(row, low, high))
    return found, refused


def _spellings(row: labels_file.LabelRow) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What either id may be: as written, before as people see it, for two ids may differ in what nobody sees."""
    left, right = row.written
    return (left or row.left, row.left), (right or row.right, row.right)


def _merge(
    found: Sequence[_Accepted],
) -> tuple[list[_Accepted], list[Conflict], list[Fault]]:
    """One row a pair; pairs with different labels apart, repetitions noted."""
    by_pair: dict[tuple[int, int], list[_Accepted]] = defaultdict(list)
    for one in found:
        by_pair[one.low, one.high].append(one)
    accepted: list[_Accepted] = []
    conflicts: list[Conflict] = []
    repeated: list[Fault] = []
    for same in by_pair.values():
        first = same[0].row
        if len({one.row.label for one in same}) > 1:
            rows = tuple((one.row.line, one.row.label) for one in same)
            conflicts.append(Conflict(first.left, first.right, rows))
            continue
        accepted.append(same[0])
        for one in same[1:]:
            params = {"line": one.row.line, "first": first.line}
            repeated.append(Fault(one.row.line, "repeated", REPEATED, params))
    return accepted, conflicts, repeated


def _by_label(accepted: Iterable[_Accepted]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for one in accepted:
        counts[one.row.label] += 1
    return dict(sorted(counts.items()))


def _store(
    collection: Collection,
    name: str,
    filename: str,
    data: bytes,
    actor: Person | None,
    report: LabelReport,
    accepted: Sequence[_Accepted],
) -> LabelReport:
    originals.store(io.BytesIO(data))
    try:
        with transaction.atomic():
            label_set = LabelSet.objects.create(
                collection=collection,
                name=name,
                filename=filename[:300],
                sha256=report.sha256,
                report=report.stored(),
                uploaded_by=actor,
            )
            pairs = _pairs(accepted)
            for some in _chunks(accepted):
                LabelRow.objects.bulk_create(_row(label_set, pairs, one) for one in some)
            audit.record(
                actor=actor,
                action="label_set.import",
                subject_type="label_set",
                subject_id=label_set.pk,
                data={
                    "collection": collection.slug,
                    "sha256": report.sha256,
                    "rows": len(accepted),
                },
            )
    except IntegrityError:
        if collection.label_sets.filter(name=name).exists():
            raise LabelSetError(NAME_TAKEN, {"name": name}, code="name_taken") from None
        raise
    return LabelReport(**{**vars(report), "label_set": label_set})


def _row(label_set: LabelSet, pairs: Mapping[tuple[int, int], int], one: _Accepted) -> LabelRow:
    extra = one.row.extra
    return LabelRow(
        label_set=label_set,
        pair_id=pairs[one.low, one.high],
        label=one.row.label,
        label_as_written=one.row.word[:100],
        line=one.row.line,
        reason=extra.get("why", ""),
        annotator=extra.get("annotator", "")[:200],
        family=extra.get("family", "")[:200],
    )


def _pairs(accepted: Sequence[_Accepted]) -> dict[tuple[int, int], int]:
    """The keys of the pairs, made where they are missing."""
    keys: dict[tuple[int, int], int] = {}
    for some in _chunks(accepted):
        DocumentPair.objects.bulk_create(
            (DocumentPair(low_id=one.low, high_id=one.high) for one in some), ignore_conflicts=True
        )
        wanted = Q(low_id__in=[one.low for one in some], high_id__in=[one.high for one in some])
        for pk, low, high in DocumentPair.objects.filter(wanted).values_list(
            "pk", "low_id", "high_id"
        ):
            keys[low, high] = pk
    return keys


def _chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]
