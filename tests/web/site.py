"""A small site to look at: one of everything that has a page, with hostile names wherever a name may come from outside."""

from __future__ import annotations

import io
from functools import cached_property
from pathlib import Path

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dedupreview.people.models import Person, Role
from reviews import labelsets, questions, rounds
from reviews.models import LabelSet, Question, ReviewItem, ReviewRound, ReviewTable
from screening import importing, originals
from screening.config import ScreeningConfig
from screening.library import Entry
from screening.models import (
    Candidate,
    Collection,
    Document,
    DocumentImport,
    DocumentPair,
    ScreeningRun,
    SourceFile,
    TemplateEntry,
)
from tests.reviews import world as small

PASSWORD = "correct horse battery staple"
HOSTILE = "<script>document.title='x'</script><img src=x onerror=alert(1)>"
"""Markup that must come out as letters, wherever it went in."""

DOWNLOADS = {
    "screening:document-original",
    "screening:import-report",
    "reviews:label-set-original",
    "reviews:exchange-file",
}
"""Addresses that answer with a file instead of a page."""

PARTS = {
    "workers",
    "notices",
    "screening:import-progress",
    "screening:run-progress",
    "reviews:round-progress",
}
"""Addresses that answer with a part of a page."""


def person(name: str, role: str) -> Person:
    return Person.objects.create_user(username=name, password=PASSWORD, role=role)


class Site:
    """People of every role, a collection, an import, a finished and a waiting run, a round, a table and a label set.

    ``annotator`` and ``second`` judge in the round, ``arbitrator`` arbitrates, ``stranger`` is an annotator of nothing.
    """

    def __init__(self, folder: Path, *, pairs: int = 2) -> None:
        self.admin = person("admin", Role.ADMIN)
        self.auditor = person("auditor", Role.AUDITOR)
        self.annotator = person("annotator", Role.ANNOTATOR)
        self.second = person("second", Role.ANNOTATOR)
        self.arbitrator = person("arbitrator", Role.ARBITRATOR)
        self.stranger = person("stranger", Role.ANNOTATOR)
        self.collection = Collection.objects.create(
            slug="街道-library", name=f"街道 {HOSTILE}", created_by=self.admin
        )
        self.documents = self._documents(pairs * 2)
        self.done_import = self._import(folder)
        self.run = self._run(pairs)
        self.template = self._template()
        self.waiting_run = ScreeningRun.objects.create(
            collection=self.collection, config={}, fingerprint="0" * 64, inputs=4
        )
        self.round = self._round()
        self.table = ReviewTable.objects.create(
            round=self.round, number=1, state=ReviewTable.State.DONE, key_fingerprint="SHA256:abc"
        )
        self.label_set = self._labels()

    def _documents(self, count: int) -> list[Document]:
        made = []
        for n in range(1, count + 1):
            raw = f"第{n}号公告：{HOSTILE}街道图书馆每周开放{n % 7 + 1}天。"
            sha, size = originals.store(io.BytesIO(raw.encode()))
            file = SourceFile.objects.create(
                collection=self.collection,
                sha256=sha,
                size=size,
                media_type="text/plain",
                original_path=f"通知/审阅表（第{n}批）{HOSTILE.replace('/', '')}.txt",
            )
            document = Document.objects.create(
                collection=self.collection,
                doc_id=f"d{n:03}{HOSTILE}",
                title=f"公告{n}{HOSTILE}",
                source_id=f"来源{HOSTILE}",
                raw=raw,
                sha256=sha,
                raw_sha256=sha,
                chars=len(raw),
                source_file=file,
                metadata={"issuer": HOSTILE, "language": 'zh" onload="x'},
                warnings=[
                    {"template": "Odd: %(what)s", "params": {"what": HOSTILE}, "code": "odd"}
                ],
            )
            made.append(document)
        return made

    def _import(self, folder: Path) -> DocumentImport:
        """A real import of a folder with a good, a repeated and an empty file."""
        texts = folder / "hand-over"
        texts.mkdir()
        (texts / "好.txt").write_text("河堤公园明日起延长开放时间，至晚上十点。", encoding="utf-8")
        (texts / "空<b>.txt").write_bytes(b"")
        importing.import_path(path=texts, collection=self.collection, actor=self.admin)
        return DocumentImport.objects.get(collection=self.collection)

    def _template(self) -> TemplateEntry:
        """A confirmed entry of the library, so that it outlives another look through the texts."""
        entry = Entry((f"{HOSTILE}街道图书馆每周开放时间如下请各位读者知悉",), ())
        return TemplateEntry.objects.create(
            collection=self.collection,
            digest=entry.digest,
            entry=entry.to_dict(),
            level="exact",
            documents=2,
            sources=1,
            looked_at=4,
            examples=[
                {
                    "document": self.documents[0].pk,
                    "start": 6,
                    "end": 20,
                    "fixed": [[6, 12], [15, 20]],
                }
            ],
            state=TemplateEntry.State.CONFIRMED,
            decided_by=self.admin,
            decided_at=timezone.now(),
        )

    def _run(self, pairs: int) -> ScreeningRun:
        run = ScreeningRun.objects.create(
            collection=self.collection,
            state=ScreeningRun.State.DONE,
            config=ScreeningConfig().to_dict(),
            preset="default",
            fingerprint="0" * 64,
            folder="run-for-tests",
            inputs=len(self.documents),
            candidate_count=pairs,
            funnel={
                "documents": pairs * 2,
                "with_text": pairs * 2,
                "by_channel": {"minhash": pairs},
            },
        )
        for rank in range(1, pairs + 1):
            low, high = self.documents[2 * rank - 2 : 2 * rank]
            pair, _new = DocumentPair.objects.get_or_create(low=low, high=high)
            Candidate.objects.create(
                run=run,
                pair=pair,
                rank=rank,
                channels=["minhash", "passages"],
                jaccard=0.8,
                containment=0.9,
                minhash_estimate=0.81,
                excerpts=[[0, 40, 0, 40]],
                fact_changes=[{"kind": "number", "left": HOSTILE, "right": None}],
                suggestion="copy",
            )
        return run

    def _round(self) -> ReviewRound:
        return rounds.open_round(
            run=self.run,
            name=f"第一轮 {HOSTILE}",
            annotators=[self.annotator, self.second],
            arbitrators=[self.arbitrator],
            guideline=f"先看数字。{HOSTILE}",
            actor=self.admin,
        )

    def _labels(self) -> LabelSet:
        one, other = self.documents[:2]
        rows = f'left,right,label\n"{one.doc_id}","{other.doc_id}",副本\n"{HOSTILE}",x,副本\n'
        report = labelsets.import_labels(
            collection=self.collection,
            name=f"外部 {HOSTILE}",
            filename=f"标注（甲）{HOSTILE.replace('/', '')}.csv",
            data=rows.encode(),
            actor=self.admin,
        )
        assert report.label_set is not None
        return report.label_set

    @cached_property
    def question(self) -> Question:
        """What an annotator asked about the first pair."""
        return questions.ask(item=self.item, person=self.annotator, text=f"这算副本吗？{HOSTILE}")

    @cached_property
    def grouped(self) -> Document:
        """A text that a closed round, in a collection of its own, found to be a copy of another."""
        owner = small.collection("grouped")
        texts = small.documents(owner, 2, prefix=f"g{HOSTILE}")
        opened = rounds.open_round(
            run=small.finished_run(owner, [(texts[0], texts[1])]),
            name="旧轮",
            annotators=[person("former", Role.ANNOTATOR)],
            arbitrators=[self.arbitrator],
            judgments=1,
        )
        small.judge(opened, Person.objects.get(username="former"), "copy")
        return rounds.set_state(round=opened, state="closed").items.get().pair.low

    @property
    def item(self) -> ReviewItem:
        return self.round.items.order_by("position")[0]

    def addresses(self) -> dict[str, str]:
        """Every page of this site that answers GET, by the name of its view."""
        slug = self.collection.slug
        arguments: dict[str, list[object]] = {
            "home": [],
            "workers": [],
            "notices": [],
            "api-docs": [],
            "password_change": [],
            "person-list": [],
            "add-person": [],
            "edit-person": [self.second.pk],
            "own-keys": [],
            "person-keys": [self.second.pk],
            "audit": [],
            "screening:collection-list": [],
            "screening:create-collection": [],
            "screening:collection-detail": [slug],
            "screening:document-list": [slug],
            "screening:upload": [slug],
            "screening:start-run": [slug],
            "screening:template-library": [slug],
            "screening:document-detail": [self.documents[0].pk],
            "screening:document-original": [self.documents[0].pk],
            "screening:correct-metadata": [self.documents[0].pk],
            "screening:import-detail": [self.done_import.pk],
            "screening:import-progress": [self.done_import.pk],
            "screening:import-report": [self.done_import.pk],
            "screening:run-detail": [self.run.pk],
            "screening:run-progress": [self.run.pk],
            "screening:candidate-list": [self.run.pk],
            "screening:candidate-detail": [self.run.candidates.get(rank=1).pk],
            "reviews:round-list": [],
            "reviews:open-round": [self.run.pk],
            "reviews:round-detail": [self.round.pk],
            "reviews:round-progress": [self.round.pk],
            "reviews:agreement": [self.round.pk],
            "reviews:item-list": [self.round.pk],
            "reviews:guideline": [self.round.pk],
            "reviews:sign-off": [self.round.pk],
            "reviews:exchange": [self.round.pk],
            "reviews:exchange-file": [self.round.pk, "tasks", "pairs.csv"],
            "reviews:table-detail": [self.table.pk],
            "reviews:run-checklist": [self.run.pk],
            "reviews:round-checklist": [self.round.pk],
            "reviews:evaluation": [self.run.pk],
            "reviews:experiments": [self.collection.pk],
            "reviews:upload-labels": [self.collection.pk],
            "reviews:label-set-detail": [self.label_set.pk],
            "reviews:label-set-original": [self.label_set.pk],
            "reviews:round-people": [self.round.pk],
            "reviews:question-list": [self.question.round_id],
            "reviews:gold-results": [self.round.pk],
            "reviews:ask": [self.item.pk],
            "reviews:relation-list": [self.grouped.collection_id],
            "reviews:group-detail": [self.grouped.collection_id, self.grouped.pk],
        }
        return {name: reverse(name, args=args) for name, args in arguments.items()}

    def client(self, who: Person | None) -> Client:
        client = Client()
        if who is not None:
            client.force_login(who)
        return client
