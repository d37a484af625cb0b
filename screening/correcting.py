"""Correcting what is known about a document: as a new version, with a name and a reason; what came in stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils import timezone

from dedupreview.digests import DIGEST_VERSION, digest, timestamp
from dedupreview.people.audit import record
from screening.documents import OPTIONAL_METADATA, Problem
from screening.errors import ScreeningError
from screening.intake.fields import metadata_of
from screening.models import Document, DocumentMetadata

if TYPE_CHECKING:
    from dedupreview.people.models import Person

OWN_FIELDS = ("source_id", "version", "title", "captured_at")
FIELDS = ("title", "source_id", "version", "captured_at", *OPTIONAL_METADATA)
"""What can be corrected. The doc_id, the path and the text cannot."""


class CorrectingError(ScreeningError):
    """A correction cannot be made."""


@dataclass(frozen=True, slots=True)
class Known:
    """One field of a document: its value now, and the correction that it comes from (None: it came with the file)."""

    value: str
    correction: DocumentMetadata | None = None


def received(document: Document) -> dict[str, str]:
    """The metadata that came with the file; empty fields are left out."""
    found = {field: getattr(document, field) for field in OWN_FIELDS} | dict(document.metadata)
    return {field: str(found[field]) for field in FIELDS if found.get(field) not in (None, "", [])}


def known(document: Document) -> dict[str, Known]:
    """The metadata as they are now, each field with its origin."""
    values = {field: Known(value) for field, value in received(document).items()}
    for correction in document.corrections.select_related("created_by").order_by("number"):
        before = values
        values = {}
        for field, value in correction.values.items():
            same = field in before and before[field].value == value
            values[field] = before[field] if same else Known(value, correction)
    return values


def correct(
    *, document: Document, values: Mapping[str, str], reason: str = "", actor: Person | None
) -> DocumentMetadata:
    """Write down all metadata of the document as they are from now on; fields that ``values`` lacks are removed.

    Raises CorrectingError if nothing changes, a value is too long, or somebody else has just corrected it.
    """
    cleaned = metadata_of({field: values.get(field) for field in FIELDS})
    if isinstance(cleaned, Problem):
        raise CorrectingError(cleaned.template, cleaned.params, code=cleaned.code)
    wanted = {field: value for field in FIELDS if (value := cleaned.get(field))}
    now = timezone.now()
    try:
        with transaction.atomic():
            present = known(document)
            if wanted == {field: one.value for field, one in present.items()}:
                raise CorrectingError("Nothing was changed.", code="nothing_changed")
            number = document.corrections.count() + 1
            fields: dict[str, object] = {
                "document": document.doc_id,
                "raw_sha256": document.raw_sha256,
                "number": number,
                "values": wanted,
                "reason": reason.strip(),
                "created_by": actor.code if actor else None,
                "created_at": timestamp(now),
            }
            correction = DocumentMetadata.objects.create(
                document=document,
                number=number,
                values=wanted,
                reason=reason.strip(),
                created_by=actor,
                created_at=now,
                digest=digest(fields),
                digest_version=DIGEST_VERSION,
            )
            changed = [f for f in FIELDS if wanted.get(f) != (present[f].value if f in present else None)]  # fmt: skip
            record(
                actor=actor,
                action="document.corrected",
                subject_type="document",
                subject_id=document.pk,
                data={"number": number, "fields": changed},
            )
    except IntegrityError:
        raise CorrectingError(
            "Somebody else has just corrected this document; look at it again.", code="conflict"
        ) from None
    return correction
