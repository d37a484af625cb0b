"""Groups, contradictions and lineage of a collection, and what an admin may do about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from dedupreview.digests import DIGEST_VERSION, digest, timestamp
from dedupreview.people import audit
from dedupreview.people.models import AuditEvent, Person, Role
from reviews.decided import decided
from reviews.errors import ReviewError
from reviews.models import (
    Arbitration,
    Judgment,
    MergedEntry,
    Opinion,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    SeatDecline,
    SeatLapse,
)
from reviews.proposals import Copy, Proposal, propose
from reviews.relations import Contradiction, Group, Lineage, copy_groups, lineage
from reviews.rounds import open_round
from reviews.selection import Selection
from screening.models import Candidate, Collection, Document, DocumentPair, ScreeningRun

NO_CONTRADICTION = "These texts do not contradict each other (any more)."
NO_RUN = "No finished screening run has these pairs, so they cannot be asked again."
NOBODY_LEFT = (
    "Only %(annotators)s annotators and %(arbitrators)s arbitrators have seen none of these pairs; "
    "a new round needs two and one."
)
NO_GROUP = "This text is in no group of copies."
DISPUTED = "The group contradicts itself; settle that before an entry is signed."
OUTDATED = "The group has changed since the page was shown. Please look at it again."
WRONG_PASSWORD = "The password is wrong."
TOO_MANY = "Too many wrong passwords; please wait %(minutes)s minutes."
WRONG_PASSWORDS, COOL_OFF = 8, timedelta(minutes=10)


class FamiliesError(ReviewError):
    """A group could not be signed, or a contradiction not be asked again."""


@dataclass(frozen=True)
class Overview:
    """Everything that judged pairs of a collection say together. Documents are primary keys."""

    groups: tuple[Group, ...]
    lineage: Lineage

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        return tuple(found for group in self.groups for found in group.contradictions)

    def group_of(self, document: int) -> Group | None:
        """The group that a document is in."""
        return next((group for group in self.groups if document in group.members), None)


def overview(collection: Collection) -> Overview:
    """What the latest conclusions of a collection's pairs say together; nothing of open pairs."""
    judged = decided(collection)
    return Overview(copy_groups(judged), lineage(judged))


def documents_of(keys: Iterable[int]) -> dict[int, Document]:
    """Documents by primary key, without their texts."""
    rows = Document.objects.filter(pk__in=set(keys)).defer("raw").select_related("collection")
    return {document.pk: document for document in rows}


def proposal_for(group: Group) -> Proposal | None:
    """The merged entry proposed for a group; None while the group contradicts itself."""
    if group.contradictions:
        return None
    return propose([_copy(one) for one in documents_of(group.members).values()])


def _copy(document: Document) -> Copy:
    return Copy(
        doc_id=document.doc_id,
        title=document.title or "",
        chars=document.chars,
        raw_sha256=document.raw_sha256,
        source_id=document.source_id or "",
        original_path=document.original_path or "",
        captured_at=document.captured_at or "",
        metadata=document.metadata,
    )


def entries_of(collection: Collection, proposal: Proposal) -> QuerySet[MergedEntry]:
    """The signatures under a group of just these members, latest first."""
    entries = MergedEntry.objects.filter(collection=collection, members=list(proposal.members))
    return entries.select_related("person").order_by("-pk")


def entry_fields(entry: MergedEntry) -> dict[str, object]:
    """What the digest of a signed entry covers."""
    return {
        "record": "merged_entry",
        "collection": entry.collection.slug,
        "person": entry.person.code,
        "members": entry.members,
        "proposal": entry.proposal,
        "created_at": timestamp(entry.created_at),
    }


def proposal_digest(proposal: Proposal) -> str:
    """Names a proposal, so that nobody signs another one than was shown."""
    return digest(proposal.to_dict())


def sign_entry(
    *, collection: Collection, document: int, shown: str, person: Person, password: str
) -> MergedEntry:
    """Sign the entry proposed for the group of ``document`` with one's own password; the documents stay as they are.

    ``shown`` is the :func:`proposal_digest` of what the person saw.

    :raises FamiliesError: wrong password, no such group, a group that contradicts itself, or one that has changed.
    """
    _authenticate(collection, person, password)
    group = overview(collection).group_of(document)
    if group is None:
        raise FamiliesError(NO_GROUP, code="no_group")
    proposal = proposal_for(group)
    if proposal is None:
        raise FamiliesError(DISPUTED, code="disputed")
    if proposal_digest(proposal) != shown:
        raise FamiliesError(OUTDATED, code="outdated")
    entry = MergedEntry(
        collection=collection,
        person=person,
        members=list(proposal.members),
        proposal=proposal.to_dict(),
        created_at=timezone.now(),
        digest_version=DIGEST_VERSION,
    )
    entry.digest = digest(entry_fields(entry))
    with transaction.atomic():
        entry.save(force_insert=True)
        _record(collection, person, "entry.signed", entry=entry.pk, digest=entry.digest)
    return entry


def _authenticate(collection: Collection, person: Person, password: str) -> None:
    wrong = AuditEvent.objects.filter(
        actor=person, action="entry.sign_refused", created_at__gt=timezone.now() - COOL_OFF
    )
    if wrong.count() >= WRONG_PASSWORDS:
        minutes = int(COOL_OFF.total_seconds() // 60)
        raise FamiliesError(TOO_MANY, {"minutes": minutes}, code="locked")
    if not person.check_password(password):
        _record(collection, person, "entry.sign_refused")
        raise FamiliesError(WRONG_PASSWORD, code="password")


def _record(collection: Collection, person: Person, action: str, **data: object) -> None:
    audit.record(
        actor=person,
        action=action,
        subject_type="collection",
        subject_id=collection.pk,
        data=data,
    )


def ask_again(
    *, collection: Collection, pair: tuple[int, int], name: str, actor: Person
) -> ReviewRound:
    """Open a round over the pairs of the contradiction about ``pair``, for people who saw none of them.

    The items that contradict each other stay as they are: the new conclusions stand beside them, and count as later.

    :raises FamiliesError: if there is no contradiction about the pair, or too few people are left.
    """
    found = next((c for c in overview(collection).contradictions if c.pair == pair), None)
    if found is None:
        raise FamiliesError(NO_CONTRADICTION, code="no_contradiction")
    pairs = _pair_keys(found)
    run = _run_with(collection, pairs)
    annotators, arbitrators = people_left(pairs)
    if len(annotators) < 2 or not arbitrators:
        counts = {"annotators": len(annotators), "arbitrators": len(arbitrators)}
        raise FamiliesError(NOBODY_LEFT, counts, code="nobody_left")
    return open_round(
        run=run,
        name=name,
        annotators=annotators,
        arbitrators=arbitrators,
        selection=Selection(again=True, pairs=tuple(pairs)),
        actor=actor,
    )


def _pair_keys(found: Contradiction) -> list[int]:
    wanted = Q()
    for low, high in found.pairs:
        wanted |= Q(low_id=low, high_id=high) | Q(low_id=high, high_id=low)
    return list(DocumentPair.objects.filter(wanted).order_by("pk").values_list("pk", flat=True))


def _run_with(collection: Collection, pairs: Sequence[int]) -> ScreeningRun:
    """The latest finished run that found all of these pairs."""
    runs = ScreeningRun.objects.filter(collection=collection, state=ScreeningRun.State.DONE)
    found = Candidate.objects.filter(run__in=runs, pair__in=pairs).values("run").order_by("-run")
    whole = found.annotate(number=Count("pair", distinct=True)).filter(number=len(pairs)).first()
    if whole is None:
        raise FamiliesError(NO_RUN, code="no_run")
    return ScreeningRun.objects.get(pk=whole["run"])


def people_left(pairs: Sequence[int]) -> tuple[list[Person], list[Person]]:
    """Who has seen none of these pairs in any round: annotators, and arbitrators, active ones only.

    Seen is what was judged, arbitrated, or only had on the screen: a seat held, given back or lost.
    """
    items = ReviewItem.objects.filter(pair__in=pairs)
    me = OuterRef("pk")
    saw = (
        Judgment.objects.filter(item__in=items, annotator=me),
        Opinion.objects.filter(item__in=items, arbitrator=me),
        Arbitration.objects.filter(item__in=items, arbitrator=me),
        ReviewSlot.objects.filter(item__in=items, annotator=me),
        SeatLapse.objects.filter(slot__item__in=items, person=me),
        SeatDecline.objects.filter(item__in=items, person=me),
    )
    people = Person.objects.filter(is_active=True).order_by("username", "pk")
    for rows in saw:
        people = people.filter(~Exists(rows))
    return (
        list(people.filter(role=Role.ANNOTATOR)),
        list(people.filter(role=Role.ARBITRATOR)),
    )
