"""A round over given texts, with people who can sign in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.test import Client

from dedupreview.people.models import Person, Role
from reviews import rounds
from reviews.models import ReviewItem, ReviewRound
from screening import originals
from screening.models import (
    Candidate,
    Collection,
    Document,
    DocumentPair,
    ScreeningRun,
    SourceFile,
)

PASSWORD = "correct horse battery staple"


def person(name: str, role: str = Role.ANNOTATOR) -> Person:
    return Person.objects.create_user(username=name, password=PASSWORD, role=role)


def document(owner: Collection, doc_id: str, raw: str, **extra: Any) -> Document:
    """A document with a file of its own; the file's bytes are in the store if ``stored``."""
    import io

    data = raw.encode()
    sha = hashlib.sha256(data).hexdigest()
    if extra.pop("stored", False):
        originals.store(io.BytesIO(data))
    file = SourceFile.objects.create(
        collection=owner, sha256=sha, size=len(data), media_type="text/plain", original_path=f"{doc_id}.txt"
    )  # fmt: skip
    return Document.objects.create(
        collection=owner, doc_id=doc_id, raw=raw, sha256=sha, raw_sha256=sha, chars=len(raw), source_file=file, **extra
    )  # fmt: skip


class Desk:
    """A round whose pairs are ``texts``: annotators a1, a2, …, arbitrators r1, r2, an admin, an auditor, a stranger."""

    def __init__(
        self,
        texts: Sequence[tuple[str, str]],
        *,
        seats: int = 2,
        annotators: int = 2,
        arbitrators: int = 2,
        meta: Sequence[dict[str, Any]] = ({}, {}),
        **opening: Any,
    ) -> None:
        self.collection = Collection.objects.create(slug="desk", name="审读台")
        self.run = ScreeningRun.objects.create(
            collection=self.collection, state="done", config={}, fingerprint="0" * 64
        )
        for rank, (one, other) in enumerate(texts, 1):
            left = document(self.collection, f"{rank:02}-a", one, **meta[0])
            right = document(self.collection, f"{rank:02}-b", other, **meta[1])
            pair = DocumentPair.objects.create(low=left, high=right)
            Candidate.objects.create(
                run=self.run, pair=pair, rank=rank, jaccard=0.8125, containment=0.9,
                minhash_estimate=0.8281, channels=["minhash"], suggestion="revision",
                excerpts=shared(one, other),
            )  # fmt: skip
        self.annotators = [person(f"a{n}") for n in range(1, annotators + 1)]
        self.arbitrators = [person(f"r{n}", Role.ARBITRATOR) for n in range(1, arbitrators + 1)]
        self.admin = person("admin", Role.ADMIN)
        self.auditor = person("auditor", Role.AUDITOR)
        self.stranger = person("stranger")
        self.round: ReviewRound = rounds.open_round(
            run=self.run,
            name="第一轮",
            annotators=self.annotators,
            arbitrators=self.arbitrators,
            judgments=seats,
            guideline="先看日期，再看数字。",
            actor=self.admin,
            **opening,
        )

    def item(self, position: int = 1) -> ReviewItem:
        return self.round.items.get(position=position)


def shared(left: str, right: str) -> list[list[int]]:
    """The longest run of characters that both have, as an excerpt."""
    from difflib import SequenceMatcher

    if len(left) * len(right) > 10_000_000:
        # Long texts of these tests begin alike; to find more would take longer than the tests.
        size = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
        return [[0, size, 0, size]] if size else []
    match = SequenceMatcher(None, left, right, autojunk=False).find_longest_match()
    if not match.size:
        return []
    return [[match.a, match.a + match.size, match.b, match.b + match.size]]


def signed_in(who: Person) -> Client:
    client = Client()
    client.force_login(who)
    return client
