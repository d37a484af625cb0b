"""The shared cases of queue, judgment, arbitration and security, each by its own expectation; no case is left out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from dedupreview.people import tokens
from dedupreview.people.models import AuditEvent, Person
from reviews import agreement, arbitration, judging, outcomes, queue, rounds
from reviews.labels import LABEL_NAMES_ZH
from reviews.models import Arbitration, Judgment, LabelRow, Opinion, ReviewItem, ReviewSlot
from reviews.tables import export_table
from screening.evidence.facts import fact_changes
from screening.models import Candidate, Document, DocumentPair
from tests.reviews.test_blindness import addresses
from tests.reviews.test_concurrency import at_once
from tests.reviews.world import claimed, judge, new_id, world

AREAS = {"queue", "judgment", "arbitration", "security"}
CODES = {name: code for code, name in LABEL_NAMES_ZH.items()}
ROOT = Path(__file__).resolve().parents[2]
db = pytest.mark.django_db


@pytest.fixture
def cases(shared: Path) -> dict[str, Any]:
    with (shared / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        return {row["id"]: row for row in map(json.loads, file)}


def test_every_case_of_these_areas_has_a_test(cases: dict[str, Any]) -> None:
    wanted = {key for key, case in cases.items() if case["area"] in AREAS}
    names = {name for name in globals() if name.startswith("test_")}
    told = {
        match[1].upper().replace("_", "-")
        for n in names
        if (match := re.match(r"test_([a-z]_\d\d)_", n))
    }
    assert wanted <= told, wanted - told


class Api:
    """One person's API."""

    def __init__(self, who: Person) -> None:
        self.client = Client()
        self.headers = {"Authorization": f"Bearer {tokens.issue(person=who)}"}

    def post(self, path: str, **data: Any) -> Any:
        return self.client.post(
            f"/api/v1{path}",
            json.dumps(data),
            content_type="application/json",
            headers=self.headers,
        )

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/v1{path}", headers=self.headers)


def signed_in(who: Person) -> Client:
    client = Client()
    client.force_login(who)
    return client


def body_of(response: Any) -> bytes:
    return b"".join(response) if response.streaming else response.content


# --- Queue ------------------------------------------------------------------------------------------------------------


@db
def test_q_01_a_pair_stays_until_it_has_its_judgments(cases: dict[str, Any]) -> None:
    w = world(1)
    a, b, c = (Api(who) for who in w.annotators)
    seat = a.post(f"/rounds/{w.round.pk}/claim").json()
    a.post(f"/items/{seat['item']}/judgments", id=str(new_id()), slot=seat["slot"], label="copy")
    second = b.post(f"/rounds/{w.round.pk}/claim")
    seen = {"B": second.status_code == 200 and second.json()["item"] == seat["item"]}
    b.post(
        f"/items/{seat['item']}/judgments",
        id=str(new_id()),
        slot=second.json()["slot"],
        label="copy",
    )
    seen["C"] = c.post(f"/rounds/{w.round.pk}/claim").status_code == 200
    assert seen == cases["Q-01"]["expected"]["p1_visible"]


def test_q_02_two_at_once_never_get_one_pair_on_postgres(
    cases: dict[str, Any], postgres: str
) -> None:
    repetitions = int(re.search(r"(\d+) repetitions", cases["Q-02"]["input"]["steps"][0])[1])  # type: ignore[index]
    w = world(2 * repetitions, seats=1, annotators=2)
    for _ in range(repetitions):
        one, other = at_once(2, lambda n: queue.claim(round=w.round, person=w.annotators[n]))
        assert isinstance(one, ReviewSlot)
        assert isinstance(other, ReviewSlot)
        assert one.item_id != other.item_id
        for slot, who in ((one, w.annotators[0]), (other, w.annotators[1])):
            judging.submit(id=new_id(), slot=slot, person=who, label="copy")
    assert (
        Judgment.objects.filter(counted=True).values("item").distinct().count() == 2 * repetitions
    )
    assert Judgment.objects.count() == 2 * repetitions


@db
def test_q_03_one_vote_a_person(cases: dict[str, Any]) -> None:
    w = world(1)
    client = signed_in(w.annotators[0])
    slot = claimed(w.round, w.annotators[0])
    address = reverse("reviews:item", args=[slot.item_id])
    first, second = (
        dict(
            re.findall(
                r'name="(id|slot|seen)" value="([^"]*)"', client.get(address).content.decode()
            )
        )
        for _ in range(2)
    )
    send = reverse("reviews:submit-judgment", args=[slot.item_id])
    for _ in range(2):
        client.post(send, first | {"label": CODES["副本"]})
    other = client.post(send, second | {"label": CODES["模板"]})
    assert other.status_code == 409
    assert (
        Judgment.objects.filter(annotator=w.annotators[0]).count()
        == (cases["Q-03"]["expected"]["stored_judgments_by_A"])
    )


@db
def test_q_05_pages_neither_repeat_nor_omit(cases: dict[str, Any]) -> None:
    number = cases["Q-05"]["expected"]["union_of_pages"]
    w = world(number)
    Candidate.objects.filter(run=w.run).update(jaccard=1.0)
    admin = signed_in(w.admin)
    lists = [
        (f"/runs/{w.run.pk}/candidates/?sort={sort}", r'href="/candidates/(\d+)/"')
        for sort in ("rank", "jaccard", "-jaccard", "containment")
    ]
    lists.append((f"/rounds/{w.round.pk}/items/?", r'href="/items/(\d+)/"'))
    lists.append((f"/rounds/{w.round.pk}/items/?state=open", r'href="/items/(\d+)/"'))
    for address, link in lists:
        pages = [admin.get(f"{address}&page={n}").content.decode() for n in (1, 2, 3)]
        found = [key for page in pages for key in dict.fromkeys(re.findall(link, page))]
        assert len(found) == len(set(found)) == number, address
    api = Api(w.admin)
    after: int | None = 0
    ranks: list[int] = []
    while after is not None:
        page = api.get(f"/runs/{w.run.pk}/candidates?limit=50&after={after}").json()
        ranks += [row["rank"] for row in page["candidates"]]
        after = page["next"]
    assert len(ranks) == len(set(ranks)) == number


# --- Judgment ---------------------------------------------------------------------------------------------------------


@db
def test_u_01_nothing_of_the_first_answer_reaches_the_second(data_dir: Any) -> None:
    """In short; test_blindness compares every byte of two worlds."""
    w = world(2)
    a, b = w.annotators[:2]
    Person.objects.filter(pk=a.pk).update(first_name="甲某人")
    secret = "甲写的理由"
    judge(w.round, a, "template", reason=secret)
    claimed(w.round, b)
    client, api = signed_in(b), Api(b)
    words = (secret, "甲某人", a.username, a.code)
    for address in addresses(w):
        answer = (
            api.client.get(address, headers=api.headers)
            if "/api/" in address
            else client.get(address)
        )
        text = body_of(answer).decode(errors="replace")
        assert not [word for word in words if word in text], address


@db
def test_u_02_uploaded_labels_neither_show_nor_vote(data_dir: Any) -> None:
    w = world(10)
    pairs = [(item.pair.left.doc_id, item.pair.right.doc_id) for item in w.items]
    rows = "left,right,label\n" + "".join(f"{one},{other},副本\n" for one, other in pairs)
    from reviews.labelsets import import_labels

    report = import_labels(
        collection=w.round.collection,
        name="外部",
        filename="l.csv",
        data=rows.encode(),
        actor=w.admin,
    )
    assert report.accepted == LabelRow.objects.count() == 10
    slot = claimed(w.round, w.annotators[0])
    page = (
        signed_in(w.annotators[0])
        .get(reverse("reviews:item", args=[slot.item_id]))
        .content.decode()
    )
    radios = re.findall(r'<input[^>]*name="label"[^>]*>', page)
    assert len(radios) == 6
    assert not [radio for radio in radios if "checked" in radio]
    assert "外部" not in page
    assert not Judgment.objects.exists()
    assert rounds.progress(w.round).filled == 0


@db
def test_u_04_suggestions_are_no_progress(cases: dict[str, Any]) -> None:
    w = world(10)
    assert Candidate.objects.filter(run=w.run, suggestion="copy").count() == 10
    assert rounds.progress(w.round).closed == cases["U-04"]["expected"]["completed"]
    page = signed_in(w.admin).get(f"/rounds/{w.round.pk}/progress/").content.decode()
    assert re.search(r"<dd>0 <small>/ 10</small></dd>", page)


# --- Arbitration ------------------------------------------------------------------------------------------------------


@db
def test_a_01_ties_go_to_people(cases: dict[str, Any]) -> None:
    found = {}
    for name, labels in cases["A-01"]["input"]["judgments"].items():
        w = world(1, seats=len(labels), annotators=len(labels))
        for who, label in zip(w.annotators, labels, strict=True):
            judge(w.round, who, CODES[label])
        outcome = outcomes.outcome_of(w.item())
        if outcome.review_status == "conflict":
            assert outcome.label == ""
            found[name] = "needs arbitration"
        else:
            found[name] = f"{outcome.review_status} {LABEL_NAMES_ZH[outcome.label]}"
    assert found == cases["A-01"]["expected"]["status"]


@db
def test_a_03_what_was_decided_upon_stays(data_dir: Any, tmp_path: Path) -> None:
    w = world(1)
    a, b = w.annotators[:2]
    one, two = judge(w.round, a, "copy"), judge(w.round, b, "template")
    item, r = w.item(), w.arbitrators[0]
    arbitration.give_opinion(id=new_id(), item=item, person=r, label="template")
    arbitration.decide(id=new_id(), item=item, person=r, label="template", reason="同一格式")
    with pytest.raises(judging.JudgingError) as refused:
        judging.submit(id=new_id(), slot=one.judgment.slot, person=a, label="revision")
    assert refused.value.code == "closed"
    export_table(round=w.round, out=tmp_path / "t")
    (decision,) = map(json.loads, (tmp_path / "t" / "arbitrations.jsonl").read_text().splitlines())
    assert decision["label"] == "template"
    assert decision["based_on"] == sorted(str(done.judgment.pk) for done in (one, two))


@db
def test_a_04_the_arbitrator_is_not_counted_among_the_annotators(cases: dict[str, Any]) -> None:
    answers = [("copy", "copy")] * 4 + [("template", "template")] * 3 + [("copy", "template")] * 3
    w = world(len(answers), annotators=2)
    for pair in answers:
        for who, label in zip(w.annotators, pair, strict=True):
            judge(w.round, who, label)
    for item in w.items:
        if item.state == "conflict":
            arbitration.decide(
                id=new_id(), item=item, person=w.arbitrators[0], label="copy", reason="x"
            )
    assert Arbitration.objects.count() == 3
    measured = agreement.measures(list(outcomes.first_answers(w.round)))
    expected = Fraction(cases["A-04"]["expected"]["alpha_annotators_only"].split()[0])
    assert measured["krippendorff_alpha"].value == pytest.approx(float(expected), abs=1e-12)
    assert f"{float(expected):.4f}" == cases["A-04"]["expected"]["must"]


@db
def test_a_06_who_decides_on_an_old_state_sees_the_decision_first() -> None:
    w = world(1, arbitrators=2)
    judge(w.round, w.annotators[0], "copy")
    judge(w.round, w.annotators[1], "template")
    item = w.item()
    forms = []
    for who in w.arbitrators:
        arbitration.give_opinion(id=new_id(), item=item, person=who, label="template")
        page = signed_in(who).get(reverse("reviews:arbitrate", args=[item.pk])).content.decode()
        forms.append(dict(re.findall(r'name="(id|revision)" value="([^"]*)"', page)))
    address = reverse("reviews:decide", args=[item.pk])
    x, y = (signed_in(who) for who in w.arbitrators)
    assert x.post(address, forms[0] | {"label": "copy", "reason": "甲裁"}).status_code == 302
    late = y.post(address, forms[1] | {"label": "template", "reason": "乙裁"}, follow=True)
    text = late.content.decode()
    assert "甲裁" in text
    assert "乙裁" in text, "what was typed is not lost"
    assert outcomes.outcome_of(w.item()).label == "copy"
    assert Arbitration.objects.count() == w.item().revision == 1


# --- Security ---------------------------------------------------------------------------------------------------------


@db
def test_c_01_markup_from_outside_is_text_everywhere(cases: dict[str, Any], data_dir: Any) -> None:
    hostile = cases["C-01"]["input"]["text"]
    w = world(2)
    Document.objects.update(raw=hostile, chars=len(hostile), title=hostile, original_path=hostile)
    for document in Document.objects.all():
        Document.objects.filter(pk=document.pk).update(
            doc_id=f"{document.pk}{hostile}", source_id=hostile
        )
    Candidate.objects.update(excerpts=[[0, 20, 0, 20]], note=hostile)
    type(w.round).objects.update(name=hostile)
    rounds.publish_guideline(round=w.round, text=hostile, actor=w.admin)
    judge(w.round, w.annotators[0], "template", reason=hostile)
    judge(w.round, w.annotators[1], "copy", reason=hostile)
    arbitration.give_opinion(
        id=new_id(), item=w.item(), person=w.arbitrators[0], label="copy", reason=hostile
    )
    claimed(w.round, w.annotators[0])
    shown = 0
    for who in (w.admin, w.annotators[0], w.arbitrators[0]):
        client = signed_in(who)
        for address in addresses(w):
            if "/api/" in address:
                continue
            answer = client.get(address)
            if "html" not in answer.headers.get("Content-Type", ""):
                continue
            text = body_of(answer).decode(errors="replace")
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"], address
            assert not re.search(r"<script>(?!</script>)|<img[^>]+onerror", text), address
            shown += "&lt;script&gt;" in text
    assert shown > 10
    refused = signed_in(w.admin).post(
        reverse("reviews:upload-labels", args=[w.round.collection_id]),
        {
            "name": hostile,
            "file": SimpleUploadedFile("<img src=x onerror=alert(1)>.csv", hostile.encode()),
        },
    )
    assert not re.search(r"<img[^>]+onerror", body_of(refused).decode())


@db
def test_c_02_ids_of_others_lead_nowhere_whatever_the_verb(data_dir: Any) -> None:
    w = world(2, annotators=2)
    judge(w.round, w.annotators[0], "copy")
    stranger = w_member = world(1).annotators[0]
    assert w_member.round_memberships.exists(), (
        "a person of another project, not a stranger to the site"
    )
    client, api = signed_in(stranger), Api(stranger)
    owned = re.compile(r"/\d+|/" + re.escape(w.round.collection.slug))
    models = (
        Judgment,
        Opinion,
        Arbitration,
        ReviewItem,
        ReviewSlot,
        Document,
        DocumentPair,
        Candidate,
    )
    before = [list(model.objects.order_by("pk").values()) for model in models]
    asked = [a for a in addresses(w) if owned.search(a)]
    assert len(asked) > 40
    for address in asked:
        for verb in ("get", "post", "put", "patch", "delete"):
            by = api if "/api/" in address else None
            who, headers = (by.client, by.headers) if by else (client, {})
            here = _ask(who, verb, address, headers)
            # A verb that a route has not got says nothing: the same for a thing that does not exist.
            nowhere = _ask(who, verb, re.sub(r"/\d+", "/999999", address), headers)
            assert here.status_code in {403, 404, 405}, (verb, address, here.status_code)
            if re.search(r"/\d+", address):
                assert here.status_code == nowhere.status_code, (verb, address)
    assert [list(model.objects.order_by("pk").values()) for model in models] == before
    assert not AuditEvent.objects.filter(actor=stranger).exclude(action="token.issued").exists()


def _ask(client: Client, verb: str, address: str, headers: dict[str, str]) -> Any:
    """A request that would do something if the thing were one's own."""
    if verb == "get":
        return client.get(address, headers=headers)
    fields = {
        "id": str(new_id()),
        "slot": "1",
        "label": "copy",
        "reason": "x",
        "how": "later",
        "documents": [],
    }
    body = json.dumps(fields) if "/api/" in address else fields
    kind = {"content_type": "application/json"} if "/api/" in address or verb != "post" else {}
    return getattr(client, verb)(address, body, headers=headers, **kind)


MEASURE = """
import resource, sys, time
from pathlib import Path
from screening.intake.reading import read_path
from screening.documents import Refusal
import screening.intake.docx
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
entries = list(read_path(Path(sys.argv[1])))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
refusals = [entry for entry in entries if isinstance(entry, Refusal)]
print(len(entries), len(refusals), grown // 1024, refusals[0] if refusals else "")
"""


@pytest.mark.parametrize("name", ["bomb.docx", "bomb.doc"])
def test_c_03_a_file_that_swells_is_refused(shared: Path, tmp_path: Path, name: str) -> None:
    bomb = shared / "cases" / "files" / "bomb_60MB.docx"
    (tmp_path / name).write_bytes(bomb.read_bytes())
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path)], cwd=ROOT, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    entries, refused, grown, words = done.stdout.split(maxsplit=3)
    assert (entries, refused) == ("1", "1"), words
    assert int(grown) < 50, f"{grown} MB"


def spelled(expression: str) -> str:
    """A text written as ``'国'×60+'x'``."""
    parts = re.findall(r"'([^']*)'(?:×(\d+))?", expression)
    return "".join(text * int(times or 1) for text, times in parts)


def test_c_05_hostile_texts_are_read_in_time(cases: dict[str, Any]) -> None:
    for expression in cases["C-05"]["input"]["texts"]:
        text = spelled(expression)
        assert len(text) > 60
        began = time.process_time()
        fact_changes(text, text[:-1] + "第9条", None)
        # Of the processor's time, so that a busy machine does not fail it; both sides are read.
        assert time.process_time() - began < 2.0, expression


@db
def test_c_07_a_copied_download_address_opens_nothing(data_dir: Any) -> None:
    w = world(1)
    judge(w.round, w.annotators[0], "copy")
    judge(w.round, w.annotators[1], "copy")
    table = export_table(round=w.round)
    places = [
        reverse("reviews:table-download", args=[table.pk]),
        reverse("screening:run-file", args=[w.run.pk, "candidates.jsonl"]),
        reverse("reviews:original-file", args=[w.item().pk, "left"]),
    ]
    other = signed_in(world(1).annotators[0])
    for address in places:
        out = Client().get(address)
        assert (out.status_code, out.headers["Location"][:7]) == (302, "/login?"), address
        assert other.get(address).status_code == 404, address
    assert Client().get(f"/api/v1/tables/{table.pk}/download").status_code == 401
