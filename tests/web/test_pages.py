"""What every page keeps to: escaped, without inline code, in the chosen language, with few queries, unmoved by junk."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dedupreview.security import CONTENT_SECURITY_POLICY
from tests.web.site import DOWNLOADS, HOSTILE, PARTS, Site


class Inline(HTMLParser):
    """Collects what the policy forbids: inline scripts and styles, event handlers, javascript: addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        names = dict(attrs)
        if tag == "script" and "src" not in names:
            self.found.append("script without src")
        if tag == "style":
            self.found.append("style element")
        for name, value in attrs:
            if name == "style" or name.startswith(("on", "hx-on")):
                self.found.append(f"{tag} {name}")
            if (value or "").strip().lower().startswith("javascript:"):
                self.found.append(f"{tag} {name}={value}")


def pages(site: Site) -> dict[str, str]:
    """name → text of every page the admin sees."""
    client = site.client(site.admin)
    return {
        name: client.get(address).content.decode()
        for name, address in site.addresses().items()
        if name not in DOWNLOADS
    }


def test_nothing_from_outside_becomes_markup(site: Site) -> None:
    shown_somewhere = 0
    for name, text in pages(site).items():
        assert "<script>document" not in text, name
        assert "<img src=x" not in text, name
        shown_somewhere += "&lt;script&gt;document.title=" in text
    assert shown_somewhere > 10


def test_a_hostile_attribute_stays_a_value(site: Site) -> None:
    text = pages(site)["screening:document-detail"]
    assert 'onload="x' not in text
    assert '<div class="raw-text" lang="zh">' in text
    assert "zh&quot; onload=&quot;x" in text  # as a word, among what is known of the text


def test_pages_have_no_inline_code_and_the_policy(site: Site) -> None:
    for name, text in pages(site).items():
        parser = Inline()
        parser.feed(text)
        assert parser.found == [], name
    response = site.client(site.admin).get("/")
    assert response["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY


def test_error_pages_have_no_inline_code(site: Site, client: Any) -> None:
    client.raise_request_exception = False
    for response in (client.get("/no-such-page/"), client.get("/login")):
        parser = Inline()
        parser.feed(response.content.decode())
        assert parser.found == []


def test_pages_stand_on_landmarks(site: Site) -> None:
    for name, text in pages(site).items():
        if name in PARTS:
            continue  # parts of pages
        assert text.count("<h1") == 1, name
        assert '<main id="main"' in text, name
        assert 'href="#main"' in text, name
        assert '<html lang="zh-Hans"' in text, name
        assert re.search(r"<title>.+ · 重复审核</title>", text, re.S), name


def test_chinese_unless_english_is_chosen(site: Site) -> None:
    client = site.client(site.admin)
    assert "资料库" in client.get("/", headers={"accept-language": "en"}).content.decode()
    response = client.post("/language", {"language": "en", "next": "/collections/"})
    assert response["Location"] == "/collections/"
    english = client.get("/collections/").content.decode()
    assert '<html lang="en"' in english
    assert "Create a collection" in english
    client.post("/language", {"language": "zh-hans", "next": "/"})
    assert "新建资料库" in client.get("/collections/").content.decode()


def test_the_language_cookie_may_hold_anything(site: Site) -> None:
    client = site.client(site.admin)
    client.cookies["dedupreview_language"] = "../../etc"
    assert "资料库" in client.get("/").content.decode()


JUNK = [
    "?min=abc&max=NaN&page=0&page=99999999999999999999&sort=__class__",
    "?page=-1&min=-inf&max=1e999&channel=%27%3B--&asked=perhaps",
    "?page=%00&q=%00&action=%00&subject=%00&actor=%00&status=%00",
    "?q=" + "%F0%9F%98%80" * 300,
    "?page=1e3&sort=rank,-jaccard&min=0,5",
    "?q=%22%5D%25_%5C&channel=exact&min=0.1&max=0.2&asked=yes&sort=jaccard&page=2",
]


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_the_address_never_breaks_a_page(site: Site, junk: str) -> None:
    client = site.client(site.admin)
    for name, address in site.addresses().items():
        # A page that is not an admin's stays away, whatever is asked of it.
        expected = {200, 286, 400} if client.get(address).status_code != 404 else {404}
        assert client.get(address + junk).status_code in expected, name


def test_candidates_are_filtered_and_ordered(site: Site) -> None:
    client = site.client(site.admin)
    address = reverse("screening:candidate-list", args=[site.run.pk])
    site.run.candidates.filter(rank=2).update(jaccard=0.3, channels=["exact"], representative=False)

    def ranks(query: str) -> list[int]:
        return [candidate.rank for candidate in client.get(address + query).context["page"]]

    assert ranks("") == [1, 2]
    assert ranks("?min=0.5") == [1]
    assert ranks("?max=0.5") == [2]
    assert ranks("?channel=exact") == [2]
    assert ranks("?asked=no") == [2]
    assert ranks("?sort=jaccard&min=0&max=1") == [1, 2]
    assert ranks("?q=公告3") == [2]
    assert ranks("?q=%25") == []
    assert ranks("?min=abc") == [1, 2]


def test_paging_shows_every_row_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = site.client(site.admin)
    address = reverse("screening:document-list", args=[site.collection.slug])
    from screening.models import Document

    first = site.documents[0]
    for n in range(120):
        Document.objects.create(
            collection=site.collection, doc_id=f"x{n:03}", raw="同", sha256="0", raw_sha256="0", chars=1,
            source_file=first.source_file, title="同名",
        )  # fmt: skip
    seen: list[int] = []
    for number in (1, 2, 3):
        seen += [document.pk for document in client.get(f"{address}?page={number}").context["page"]]
    assert (
        len(seen) == len(set(seen)) == Document.objects.filter(collection=site.collection).count()
    )


LISTS = [
    "home",
    "screening:collection-list",
    "screening:collection-detail",
    "screening:document-list",
    "screening:candidate-list",
    "screening:run-detail",
    "reviews:round-list",
    "reviews:round-detail",
    "reviews:item-list",
    "reviews:label-set-detail",
    "person-list",
    "audit",
]


def test_more_rows_do_not_mean_more_queries(db: None, data_dir: Path, tmp_path: Path) -> None:
    site = Site(tmp_path, pairs=1)
    client = site.client(site.admin)
    few = {name: _queries(client, site.addresses()[name]) for name in LISTS}
    _grow(site)
    many = {name: _queries(client, site.addresses()[name]) for name in LISTS}
    assert {name: (few[name], many[name]) for name in LISTS if many[name] > few[name]} == {}
    assert max(many.values()) <= 20, many


def _queries(client: Any, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def _grow(site: Site) -> None:
    """Ten more of everything that the lists show."""
    from dedupreview.people.audit import record
    from dedupreview.people.models import Person, Role
    from reviews import rounds
    from reviews.models import LabelRow
    from screening.models import Candidate, Collection, Document, DocumentPair, ScreeningRun

    for n in range(10):
        who = Person.objects.create_user(username=f"more{n}", role=Role.ANNOTATOR)
        Collection.objects.create(slug=f"more-{n}", name="又一个")
        record(actor=who, action="person.added", subject_type="person", subject_id=who.code)
        one, other = (
            Document.objects.create(
                collection=site.collection, doc_id=f"{side}{n}", raw="正文", sha256="0", raw_sha256="0", chars=2,
                source_file=site.documents[0].source_file,
            )
            for side in "ab"
        )  # fmt: skip
        pair = DocumentPair.objects.create(low=one, high=other)
        Candidate.objects.create(
            run=site.run, pair=pair, rank=100 + n, jaccard=0.5, containment=0.5
        )
        LabelRow.objects.create(
            label_set=site.label_set, pair=pair, label="copy", label_as_written="1", line=100 + n
        )
        ScreeningRun.objects.create(collection=site.collection, config={}, fingerprint="0" * 64)
        rounds.open_round(
            run=site.run, name=f"轮{n}", annotators=[site.annotator, site.second], arbitrators=[site.arbitrator],
            actor=site.admin,
        )  # fmt: skip


def test_hostile_words_come_back_from_forms_as_words(site: Site) -> None:
    client = site.client(site.admin)
    answer = client.get(
        reverse("screening:document-list", args=[site.collection.slug]), {"q": HOSTILE + "x"}
    )
    assert "<script>document" not in answer.content.decode()
    answer = client.post(reverse("screening:create-collection"), {"name": "", "slug": HOSTILE})
    assert answer.status_code == 200
    assert "<script>document" not in answer.content.decode()
