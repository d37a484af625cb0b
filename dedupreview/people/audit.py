"""Writing the record of what people did apart from judging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils import timezone

from dedupreview.digests import DIGEST_VERSION, digest, timestamp
from dedupreview.people.models import AuditEvent

if TYPE_CHECKING:
    from dedupreview.people.models import Person


def record(
    *,
    actor: Person | None,
    action: str,
    subject_type: str = "",
    subject_id: object = "",
    data: Mapping[str, object] | None = None,
) -> AuditEvent:
    """Write one audit event and return it.

    ``data`` must hold neither document text nor labels. Call it inside the transaction of the act that it records.
    """
    now = timezone.now()
    fields: dict[str, object] = {
        "actor": actor.code if actor else None,
        "action": action,
        "subject_type": subject_type,
        "subject_id": str(subject_id),
        "data": dict(data or {}),
        "created_at": timestamp(now),
    }
    return AuditEvent.objects.create(
        actor=actor,
        action=action,
        subject_type=subject_type,
        subject_id=str(subject_id),
        data=fields["data"],
        created_at=now,
        digest=digest(fields),
        digest_version=DIGEST_VERSION,
    )
