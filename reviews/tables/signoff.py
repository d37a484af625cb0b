"""People's signatures under the stages of a round: annotation, then arbitration, then the final review."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from dedupreview.people import audit
from dedupreview.people.models import AuditEvent
from reviews.labels import REASON_NEEDED, ReasonCode
from reviews.models import ReviewItem, ReviewRound, RoundMember, SignOff
from reviews.records import seal
from reviews.tables import reading, rows
from reviews.tables.errors import TableError

if TYPE_CHECKING:
    from dedupreview.people.models import Person

Stage = SignOff.Stage
Blocker = tuple[str, dict[str, object]]

LISTED = 100
"""Items named at most; the rest is counted."""
WRONG_PASSWORDS = 8
COOL_OFF = timedelta(minutes=10)

_STATES_THAT_BLOCK: dict[str, tuple[str, ...]] = {
    Stage.ANNOTATION: (ReviewItem.State.OPEN, ReviewItem.State.WAITING),
    Stage.ARBITRATION: (
        ReviewItem.State.OPEN,
        ReviewItem.State.WAITING,
        ReviewItem.State.CONFLICT,
    ),
}
_STATES_THAT_BLOCK[Stage.FINAL] = _STATES_THAT_BLOCK[Stage.ARBITRATION]
_BEFORE: dict[str, str] = {
    Stage.ARBITRATION: Stage.ANNOTATION,
    Stage.FINAL: Stage.ARBITRATION,
}
_ITEM_MESSAGES: dict[str, str] = {
    ReviewItem.State.OPEN: _("Item %(item)s is not judged yet."),
    ReviewItem.State.WAITING: _("Item %(item)s waits for more judgments."),
    ReviewItem.State.CONFLICT: _("Item %(item)s is in conflict."),
}


def sign_off(
    *, round: ReviewRound, stage: str, person: Person, password: str, meaning: str
) -> SignOff:
    """Sign ``stage`` of ``round`` with one's own password; ``meaning`` says what the signature stands for.

    What is signed is the digest over the records as they stand: of the judgments for annotation, of all records for
    arbitration and the final review. Raises TableError: not entitled, wrong password, or with ``blockers`` when
    something has to be done first.
    """
    if stage not in Stage.values:
        raise TableError(_("Unknown stage: %(stage)s"), {"stage": str(stage)[:40]}, code="stage")
    if not meaning.strip():
        raise TableError(_("Please say what the signature means."), code="meaning")
    if not _may_sign(round, stage, person):
        raise TableError(_("You cannot sign this stage."), code="forbidden")
    _authenticate(round, person, password)
    whole = connection.vendor == "postgresql" and not connection.in_atomic_block
    with transaction.atomic():
        if (
            whole
        ):  # the look and the digest must see the same records; SQLite's transaction does anyway
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        found = blockers(round=round, stage=stage)
        if found:
            raise TableError(_("This stage cannot be signed yet."), code="blocked", blockers=found)
        signed = SignOff(
            round=round,
            stage=stage,
            person=person,
            meaning=meaning.strip(),
            signed_digest=state_digest(round, stage),
            created_at=timezone.now(),
        )
        seal(signed)
        signed.save(force_insert=True)
        audit.record(
            actor=person,
            action="round.sign_off",
            subject_type="round",
            subject_id=round.pk,
            data={"stage": stage, "signed_digest": signed.signed_digest},
        )
    return signed


def state_digest(round: ReviewRound, stage: str) -> str:
    """The digest that a signature under ``stage`` covers now."""
    digests = rows.StateDigests()
    for entry in reading.walk(round, "default"):
        digests.add(entry)
    return digests.of(stage)


def blockers(*, round: ReviewRound, stage: str) -> list[Blocker]:
    """What has to be done before ``stage`` can be signed, as messages and their params; empty if nothing.

    At most :data:`LISTED` items are named, and a last line counts the rest.
    """
    found: list[Blocker] = []
    before = _BEFORE.get(stage)
    if before and not SignOff.objects.filter(round=round, stage=before).exists():
        found.append(
            (_("The stage before is not signed: %(stage)s"), {"stage": Stage(before).label})
        )
    items = ReviewItem.objects.filter(round=round, state__in=_STATES_THAT_BLOCK[stage])
    listed = items.order_by("position").values_list("pk", "state")[:LISTED]
    found += [(_ITEM_MESSAGES[state], {"item": pk}) for pk, state in listed]
    more = items.count() - LISTED
    if more > 0:
        found.append((_("… and %(count)s more items."), {"count": more}))
    if stage == Stage.FINAL:
        found += islice(_without_reason(round), LISTED)
    return found


def _without_reason(round: ReviewRound) -> Iterator[Blocker]:
    """Closed items whose conclusion lacks the words it needs."""
    for entry in reading.walk(round, "default"):
        decision = entry.decision()
        if not entry.closed:
            continue
        if decision is not None:
            missing = not decision.reason.strip()
        else:
            missing = any(
                not judgment.reason.strip()
                for judgment in entry.standing()
                if judgment.label in REASON_NEEDED or judgment.reason_code == ReasonCode.OTHER
            )
        if missing:
            yield _("Item %(item)s has no reason in words."), {"item": entry.item.pk}


def _may_sign(round: ReviewRound, stage: str, person: Person) -> bool:
    """Annotators sign annotation, arbitrators arbitration, admins anything and alone the final review."""
    if not person.is_active:
        return False
    if person.is_admin:
        return True
    parts: dict[str, str] = {
        Stage.ANNOTATION: RoundMember.Part.ANNOTATOR,
        Stage.ARBITRATION: RoundMember.Part.ARBITRATOR,
    }
    return (
        stage in parts
        and RoundMember.objects.filter(
            round=round, person=person, part=parts[stage], active=True
        ).exists()
    )


def _authenticate(round: ReviewRound, person: Person, password: str) -> None:
    """The password again, with a limit on wrong ones; refusals are recorded."""
    refused = AuditEvent.objects.filter(
        actor=person, action="round.sign_off_refused", created_at__gt=timezone.now() - COOL_OFF
    )
    if refused.count() >= WRONG_PASSWORDS:
        raise TableError(
            _("Too many wrong passwords; please wait %(minutes)s minutes."),
            {"minutes": int(COOL_OFF.total_seconds() // 60)},
            code="locked",
        )
    if not person.check_password(password):
        audit.record(
            actor=person,
            action="round.sign_off_refused",
            subject_type="round",
            subject_id=round.pk,
        )
        raise TableError(_("The password is wrong."), code="password")
