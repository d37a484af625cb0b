"""Once a day every original and every text is hashed again, and the result goes on record."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from dedupreview.people.audit import record
from dedupreview.people.models import AuditEvent
from screening import originals, queueing
from screening.models import SourceFile

EVERY = timedelta(days=1)
JOB = "check_originals"
SUBJECT = "originals"
_LISTED = 20

_asked_again_from: datetime | None = None


def last_check() -> AuditEvent | None:
    """The record of the last check; its ``data`` has files, documents, bad and the first 20 problems."""
    return AuditEvent.objects.filter(subject_type=SUBJECT, action="originals.checked").last()


def check() -> AuditEvent:
    """Hash everything again and write down what was found; the job."""
    report = originals.verify()
    return record(
        actor=None,
        action="originals.checked",
        subject_type=SUBJECT,
        data={
            "files": report.files,
            "documents": report.documents,
            "bytes": report.bytes,
            "bad": len(report.problems),
            "problems": [str(problem) for problem in report.problems[:_LISTED]],
        },
    )


def sweep(now: datetime | None = None) -> int:
    """Put the check on the queue if the last one, or the first original, is a day old; how many were put there."""
    global _asked_again_from
    now = now or timezone.now()
    if _asked_again_from is not None and now < _asked_again_from:
        return 0
    # The sweeper comes by every few seconds; the answer does not change that fast.
    _asked_again_from = now + timedelta(minutes=5)
    last = last_check()
    since = last.created_at if last else _first_original()
    if since is None or now - since < EVERY:
        return 0
    return int(queueing.enqueue(JOB, now.toordinal(), 0))


def _first_original() -> datetime | None:
    return SourceFile.objects.order_by("pk").values_list("received_at", flat=True).first()
