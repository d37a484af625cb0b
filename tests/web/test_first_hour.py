"""The way from an empty site to a signed table: on each page one prominent button, and it is the next step."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from django.urls import reverse

from dedupreview.people.models import Role
from reviews.models import ReviewTable
from screening.models import Collection, DocumentImport
from tests.reviews import world as small
from tests.web.site import Site, person


class Prominent(HTMLParser):
    """Where the prominent buttons of the main part lead: a link's address, or that of the form around a button."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.form = ""
        self.found: list[str] = []
        self.feed(page.partition("<main")[2])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "form":
            self.form = values.get("action") or "itself"
        if "button-primary" in (values.get("class") or "").split():
            self.found.append((values.get("href") if tag == "a" else self.form) or "itself")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = ""


def prominent(client: Any, address: str) -> list[str]:
    answer = client.get(address)
    assert answer.status_code == 200
    return Prominent(answer.content.decode()).found


def test_an_empty_site_begins_with_a_collection(db: None, client: Any) -> None:
    client.force_login(person("first", Role.ADMIN))
    assert prominent(client, "/") == [reverse("screening:create-collection")]
    assert prominent(client, reverse("screening:create-collection")) == ["itself"]


def test_an_empty_collection_asks_for_texts(site: Site) -> None:
    client = site.client(site.admin)
    empty = Collection.objects.create(slug="new", name="新建", created_by=site.admin)
    upload = reverse("screening:upload", args=["new"])
    assert prominent(client, "/") == [upload]
    assert prominent(client, reverse("screening:collection-detail", args=["new"])) == [upload]
    assert empty.documents.count() == 0


def test_a_checked_upload_asks_to_be_confirmed_and_then_to_be_screened(site: Site) -> None:
    client = site.client(site.admin)
    address = reverse("screening:import-detail", args=[site.done_import.pk])
    start = reverse("screening:start-run", args=[site.collection.slug])
    assert prominent(client, address) == [start]
    assert prominent(client, start) == ["itself"]
    DocumentImport.objects.filter(pk=site.done_import.pk).update(state="checked", confirmed=False)
    confirm = reverse("screening:confirm-import", args=[site.done_import.pk])
    assert prominent(client, address) == [confirm]


def test_a_finished_run_leads_to_a_round_and_the_round_to_its_table(site: Site) -> None:
    client = site.client(site.admin)
    collection = Collection.objects.create(slug="second", name="第二个", created_by=site.admin)
    texts = small.documents(collection, 2)
    run = small.finished_run(collection, [(texts[0], texts[1])])
    run.candidate_count = 1
    run.save()
    opening = reverse("reviews:open-round", args=[run.pk])
    assert prominent(client, reverse("screening:run-detail", args=[run.pk])) == [opening]
    assert prominent(client, opening) == ["itself"]
    export = reverse("reviews:export-table", args=[site.round.pk])
    assert prominent(client, reverse("reviews:round-detail", args=[site.round.pk])) == [export]


def test_a_table_is_there_to_be_downloaded(site: Site) -> None:
    client = site.client(site.admin)
    ReviewTable.objects.filter(pk=site.table.pk).update(state="done")
    found = prominent(client, reverse("reviews:table-detail", args=[site.table.pk]))
    assert found == [reverse("reviews:table-download", args=[site.table.pk])]


@pytest.mark.parametrize("who", ["annotator", "second"])
def test_whoever_judges_has_one_button_and_it_has_the_focus(site: Site, who: str) -> None:
    client = site.client(getattr(site, who))
    begin = reverse("reviews:claim-item", args=[site.round.pk])
    assert prominent(client, "/") == [begin]
    page = client.get("/").content.decode()
    assert page.count(" autofocus") == 1
    assert "开始审核" in page


def test_whoever_has_begun_goes_on_and_learns_how_long_it_takes(site: Site) -> None:
    small.judge(site.round, site.annotator, "copy", active_ms=30_000)
    page = site.client(site.annotator).get("/").content.decode()
    assert "继续审核" in page
    assert "按你的速度" not in page
