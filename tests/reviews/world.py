"""A small world to review in: a collection, a finished run with candidates, people and a round."""

from __future__ import annotations

import hashlib
import itertools
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dedupreview.people.models import Person, Role
from reviews import judging, queue, rounds
from reviews.models import ReviewItem, ReviewRound, ReviewSlot
from screening.models import (
    Candidate,
    Collection,
    Document,
    DocumentPair,
    ScreeningRun,
    SourceFile,
)

_serial = itertools.count(1)


def person(name: str, role: str = Role.ANNOTATOR, **extra: Any) -> Person:
    """A user without a usable password."""
    return Person.objects.create(username=name, role=role, **extra)


def collection(slug: str = "") -> Collection:
    slug = slug or f"library-{next(_serial)}"
    return Collection.objects.create(slug=slug, name=slug)


def documents(owner: Collection, count: int, *, prefix: str = "doc") -> list[Document]:
    """``count`` short documents, ``doc-001`` and so on."""
    digest = hashlib.sha256(prefix.encode()).hexdigest()
    file, _created = SourceFile.objects.get_or_create(
        collection=owner,
        sha256=digest,
        original_path=f"{prefix}.jsonl",
        defaults={"size": 1, "media_type": "application/jsonl"},
    )
    made = []
    for number in range(1, count + 1):
        raw = f"第{number}号公告：街道图书馆每周开放{number % 7 + 1}天。"
        sha = hashlib.sha256(raw.encode()).hexdigest()
        made.append(
            Document(
                collection=owner,
                doc_id=f"{prefix}-{number:03}",
                raw=raw,
                sha256=sha,
                raw_sha256=sha,
                chars=len(raw),
                source_file=file,
            )
        )
    return Document.objects.bulk_create(made)


def finished_run(owner: Collection, pairs: Sequence[tuple[Document, Document]]) -> ScreeningRun:
    """A finished run whose candidates are ``pairs``, best first."""
    run = ScreeningRun.objects.create(
        collection=owner, state=ScreeningRun.State.DONE, config={}, fingerprint="0" * 64
    )
    for rank, (one, other) in enumerate(pairs, 1):
        low, high = sorted((one, other), key=lambda document: document.pk)
        pair, _created = DocumentPair.objects.get_or_create(low=low, high=high)
        Candidate.objects.create(
            run=run, pair=pair, rank=rank, channels=["minhash"], jaccard=0.8, containment=0.9,
            suggestion="copy", minhash_estimate=0.81,
        )  # fmt: skip
    return run


@dataclass
class World:
    """A round over ``pairs`` unrelated pairs, with annotators named a1, a2, … and arbitrators r1, …"""

    round: ReviewRound
    run: ScreeningRun
    annotators: list[Person]
    arbitrators: list[Person]
    admin: Person

    @property
    def items(self) -> list[ReviewItem]:
        return list(self.round.items.order_by("position"))

    def item(self, position: int = 1) -> ReviewItem:
        return self.round.items.get(position=position)


def world(
    pairs: int = 1, *, seats: int = 2, annotators: int = 3, arbitrators: int = 1, **changes: Any
) -> World:
    """Build it; ``changes`` are set on the round's row afterwards."""
    owner = collection()
    texts = documents(owner, pairs * 2)
    run = finished_run(owner, list(zip(texts[::2], texts[1::2], strict=True)))
    mark = next(_serial)
    people = [person(f"a{n}-{mark}") for n in range(1, annotators + 1)]
    judges = [person(f"r{n}-{mark}", Role.ARBITRATOR) for n in range(1, arbitrators + 1)]
    admin = person(f"admin-{mark}", Role.ADMIN)
    opened = rounds.open_round(
        run=run, name="第一轮", annotators=people, arbitrators=judges, judgments=seats, actor=admin
    )
    if changes:
        ReviewRound.objects.filter(pk=opened.pk).update(**changes)
        opened.refresh_from_db()
    return World(opened, run, people, judges, admin)


def claimed(round: ReviewRound, who: Person, **extra: Any) -> ReviewSlot:
    """The seat that ``who`` gets; fails the test if there is none."""
    slot = queue.claim(round=round, person=who, **extra)
    assert isinstance(slot, ReviewSlot), slot
    return slot


def judge(round: ReviewRound, who: Person, label: str = "copy", **extra: Any) -> judging.Submission:
    """Claim the next seat and answer it."""
    now = {"now": extra["now"]} if "now" in extra else {}
    slot = claimed(round, who, **now)
    if label == "undecided":
        extra.setdefault("reason", "看不清")
    return judging.submit(id=uuid.uuid4(), slot=slot, person=who, label=label, **extra)


def new_id() -> uuid.UUID:
    """An id as a client makes it."""
    return uuid.uuid4()
