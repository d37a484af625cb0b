"""Signing a person out everywhere."""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from dedupreview.people import audit, tokens
from dedupreview.people.models import Person


def sessions_of(person: Person) -> list[str]:
    """The keys of the person's live sessions; reads every live session, since a session does not say whose it is."""
    live = Session.objects.filter(expire_date__gt=timezone.now()).iterator(chunk_size=1_000)
    return [one.session_key for one in live if one.get_decoded().get(SESSION_KEY) == str(person.pk)]


def sign_out_everywhere(
    *, person: Person, actor: Person | None = None, but: str | None = None
) -> tuple[int, int]:
    """End the person's sessions (but the one with key ``but``) and revoke their API keys; how many of each."""
    with transaction.atomic():
        ended = [key for key in sessions_of(person) if key != but]
        for start in range(0, len(ended), 500):
            Session.objects.filter(session_key__in=ended[start : start + 500]).delete()
        revoked = tokens.revoke_all(person=person, actor=actor)
        audit.record(
            actor=actor or person,
            action="person.signed_out",
            subject_type="person",
            subject_id=person.code,
            data={"sessions": len(ended), "keys": revoked},
        )
    return len(ended), revoked
