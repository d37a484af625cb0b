"""Keys to the API: made once, kept as a digest, revocable."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from dedupreview.people import audit
from dedupreview.people.models import ApiToken, Person

LIFETIME = timedelta(days=90)
MARK = "ddr_"
"""Starts every key, so that one that leaked into a file can be found by searching."""


def _digest(key: str) -> str:
    # A key has 256 random bits: a plain hash is as good as a slow one, and is looked up by index.
    return hashlib.sha256(key.encode()).hexdigest()


def issue(*, person: Person, now: datetime | None = None) -> str:
    """Make a key for ``person`` and return it; nobody can read it again later."""
    key = MARK + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        person=person, digest=_digest(key), expires_at=(now or timezone.now()) + LIFETIME
    )
    audit.record(actor=person, action="token.issued", subject_type="token", subject_id=token.pk)
    return key


def person_of(key: str, now: datetime | None = None) -> Person | None:
    """Whose key this is, or None where it is unknown, revoked, expired or its person deactivated."""
    moment = now or timezone.now()
    token = (
        ApiToken.objects.select_related("person")
        .filter(
            Q(revoked_at__isnull=True),
            digest=_digest(key),
            expires_at__gt=moment,
            person__is_active=True,
        )
        .first()
    )
    return token.person if token else None


def live_of(person: Person, now: datetime | None = None) -> QuerySet[ApiToken]:
    """The keys of a person that still open something, latest first."""
    return ApiToken.objects.filter(
        person=person, revoked_at__isnull=True, expires_at__gt=now or timezone.now()
    ).order_by("-pk")


def revoke(*, token: ApiToken, actor: Person) -> bool:
    """Revoke one key; False if it was revoked already."""
    live = ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True)
    if not live.update(revoked_at=timezone.now()):
        return False
    audit.record(actor=actor, action="token.revoked", subject_type="token", subject_id=token.pk)
    return True


def revoke_all(*, person: Person, actor: Person | None = None) -> int:
    """Revoke every live key of ``person`` and return how many there were."""
    count = ApiToken.objects.filter(person=person, revoked_at__isnull=True).update(
        revoked_at=timezone.now()
    )
    if count:
        audit.record(
            actor=actor or person,
            action="token.revoked",
            subject_type="person",
            subject_id=person.code,
            data={"count": count},
        )
    return count
