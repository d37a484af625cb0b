"""Notices: what they say to whom, when they go away, and that they never tell who answered what."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from reviews.models import ReviewSlot, ReviewTable
from screening.models import DocumentImport, ScreeningRun
from tests.reviews import world as small
from tests.web.site import Site

LIBRARY = "screening:collection-list"


def words(client: Any, name: str = LIBRARY, **headers: str) -> str:
    """The notices on a page."""
    answer = client.get(reverse(name), headers=headers)
    body = str(answer.content.decode())
    _before, found, rest = body.partition('id="notices"')
    return rest.partition("<main")[0] if found else body


def finish(site: Site, state: str = "done") -> ScreeningRun:
    run = site.waiting_run
    run.state, run.finished_at, run.candidate_count = state, timezone.now(), 7
    run.created_by = site.admin
    run.save()
    return run


def test_a_finished_run_is_said_until_its_page_is_opened(site: Site) -> None:
    client = site.client(site.admin)
    run = finish(site)
    page = reverse("screening:run-detail", args=[run.pk])
    assert f"第 {run.pk} 次筛查" in words(client)
    assert "7 对候选" in words(client)
    assert page in words(client)
    client.get(page)
    assert page not in words(client)


def test_a_run_that_finishes_while_its_page_is_open_is_no_news(site: Site) -> None:
    client = site.client(site.admin)
    run = finish(site)
    page = reverse("screening:run-detail", args=[run.pk])
    here = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{page}"}
    assert page not in words(client, "notices", **here)
    assert page not in words(client)


def test_what_finished_on_the_page_before_was_seen_there(site: Site) -> None:
    client = site.client(site.admin)
    run = finish(site)
    page = reverse("screening:run-detail", args=[run.pk])
    assert page in words(client, Referer=f"https://elsewhere.example{page}")
    assert page not in words(client, Referer=f"http://testserver{page}")
    assert page not in words(client)


def test_a_page_says_two_things_at_most_and_then_the_next(site: Site) -> None:
    client = site.client(site.admin)
    first = finish(site)
    rest = [
        ScreeningRun.objects.create(
            collection=site.collection,
            config={},
            fingerprint="0" * 64,
            state="done",
            created_by=site.admin,
            finished_at=timezone.now(),
        )
        for _number in range(2)
    ]
    assert words(client).count('class="notice ') == 2
    assert f"run-{first.pk}-done" not in words(client)
    client.post(reverse("notices"), {"key": f"run-{rest[0].pk}-done"})
    assert f"run-{first.pk}-done" in words(client)


def test_the_first_page_tells_what_is_done_in_its_steps_but_not_what_stopped(site: Site) -> None:
    client = site.client(site.admin)
    run = finish(site)
    assert f"run-{run.pk}-done" not in words(client, "home")
    finish(site, "failed")
    assert f"run-{run.pk}-failed" in words(client, "home")


def test_what_was_built_upon_is_no_news(site: Site) -> None:
    client = site.client(site.admin)
    ScreeningRun.objects.filter(pk=site.run.pk).update(
        created_by=site.admin, finished_at=timezone.now()
    )
    DocumentImport.objects.update(
        created_by=site.admin, finished_at=timezone.now() - timedelta(hours=1)
    )
    assert site.round.run_id == site.run.pk
    assert 'class="notice ' not in words(client)
    ScreeningRun.objects.update(created_at=timezone.now() - timedelta(hours=2))
    said = words(client)
    assert reverse("screening:import-detail", args=[site.done_import.pk]) in said
    assert said.count('class="notice ') == 1


def test_a_run_that_stopped_says_so_and_is_told_apart(site: Site) -> None:
    client = site.client(site.admin)
    run = finish(site, "failed")
    assert "notice-error" in words(client)
    assert f"第 {run.pk} 次筛查" in words(client)


def test_only_whoever_started_it_hears_of_it_and_only_for_a_day(site: Site) -> None:
    run = finish(site)
    page = reverse("screening:run-detail", args=[run.pk])
    for person in (site.auditor, site.annotator, site.stranger):
        assert page not in words(site.client(person))
    run.finished_at = timezone.now() - timedelta(hours=25)
    run.save()
    assert page not in words(site.client(site.admin))


def test_putting_away_works_twice_with_and_without_scripts(site: Site) -> None:
    client = site.client(site.admin)
    run = finish(site)
    key = f"run-{run.pk}-done"
    answer = client.post(reverse("notices"), {"key": key, "next": "/collections/?q=1"})
    assert answer["Location"] == "/collections/?q=1"
    part = client.post(reverse("notices"), {"key": key}, headers={"HX-Request": "true"})
    assert part.status_code == 200
    assert f"run-{run.pk}-done" not in part.content.decode()
    assert f"run-{run.pk}-done" not in words(client)


def test_putting_away_leads_nowhere_else(site: Site) -> None:
    client = site.client(site.admin)
    for elsewhere in ("https://example.com/", "//example.com/", "javascript:alert(1)", ""):
        answer = client.post(reverse("notices"), {"key": "x" * 5000, "next": elsewhere})
        assert answer["Location"] == "/"
    assert max(map(len, client.session["notices_put_away"])) == 100


def test_a_session_remembers_a_bounded_number(site: Site) -> None:
    client = site.client(site.admin)
    for number in range(205):
        client.post(reverse("notices"), {"key": f"k{number}"})
    kept = client.session["notices_put_away"]
    assert len(kept) == 200
    assert kept[-1] == "k204"


def test_a_finished_table_is_said_to_whoever_asked_for_it(site: Site) -> None:
    ReviewTable.objects.filter(pk=site.table.pk).update(
        created_by=site.admin, finished_at=timezone.now()
    )
    assert reverse("reviews:table-detail", args=[site.table.pk]) in words(site.client(site.admin))


def conflict(site: Site) -> None:
    """Two people who disagree about one pair."""
    for person, label in ((site.annotator, "copy"), (site.second, "independent")):
        small.judge(site.round, person, label)
    assert site.round.items.filter(state="conflict").count() == 1


@pytest.mark.parametrize("name", ["home", LIBRARY])
def test_the_first_page_says_conflicts_in_its_own_place(site: Site, name: str) -> None:
    conflict(site)
    said = words(site.client(site.arbitrator), name)
    page = reverse("reviews:conflict-list", args=[site.round.pk])
    assert (page in said) == (name != "home")
    assert page not in words(site.client(site.annotator), name)
    for answer in ("副本", "各自独立", site.annotator.username, site.annotator.code):
        assert answer not in said


def test_a_seat_that_ends_soon_is_said_to_its_holder_only(site: Site) -> None:
    slot = small.claimed(site.round, site.annotator)
    page = reverse("reviews:item", args=[slot.item_id])
    assert page not in words(site.client(site.annotator))
    ReviewSlot.objects.filter(pk=slot.pk).update(
        lease_expires_at=timezone.now() + timedelta(minutes=4)
    )
    assert page in words(site.client(site.annotator))
    assert page not in words(site.client(site.second))
    ReviewSlot.objects.filter(pk=slot.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert page not in words(site.client(site.annotator))


def test_hostile_names_stay_letters(site: Site) -> None:
    finish(site)
    assert "<script>document" not in words(site.client(site.admin))
