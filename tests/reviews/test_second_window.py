"""A window that was left open corrects nothing unknowingly; the same person is asked first."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from reviews import judging
from reviews.models import Judgment
from tests.reviews.world import World, claimed, judge, new_id, world

pytestmark = pytest.mark.django_db


def window(client: Client, item: int) -> dict[str, str]:
    """The hidden fields of the form as a browser has them."""
    html = client.get(reverse("reviews:item", args=[item])).content.decode()
    found = re.findall(r'<input type="hidden" name="(id|slot|seen)" value="([^"]*)"', html)
    assert {name for name, _value in found} == {"id", "slot", "seen"}
    return dict(found)


def send(client: Client, item: int, form: dict[str, str], label: str, **extra: str) -> Any:
    address = reverse("reviews:submit-judgment", args=[item])
    return client.post(address, form | {"label": label} | extra)


@pytest.fixture
def w() -> World:
    return world(2)


@pytest.fixture
def client(w: World) -> Client:
    client = Client()
    client.force_login(w.annotators[0])
    return client


def test_a_second_window_is_told_and_changes_nothing(w: World, client: Client) -> None:
    item = claimed(w.round, w.annotators[0]).item_id
    first, second = window(client, item), window(client, item)
    assert send(client, item, first, "copy").status_code == 302
    refused = send(client, item, second, "template", reason="只是同一种格式")
    assert refused.status_code == 409
    page = refused.content.decode()
    assert "另一个窗口" in page
    assert "只是同一种格式" in page, "what was typed is not lost"
    assert [j.label for j in Judgment.objects.all()] == ["copy"]
    # The page that came back knows of the judgment: sending that one is a correction on purpose.
    again = dict(re.findall(r'<input type="hidden" name="(id|slot|seen)" value="([^"]*)"', page))
    assert again["seen"] == "1"
    assert send(client, item, again, "template").status_code == 302
    assert [j.label for j in judging.latest_counted(w.item(1))] == ["template"]
    assert Judgment.objects.filter(counted=True, version=1).count() == 1


def test_a_script_is_told_in_json(w: World, client: Client) -> None:
    item = claimed(w.round, w.annotators[0]).item_id
    first, second = window(client, item), window(client, item)
    send(client, item, first, "copy")
    address = reverse("reviews:submit-judgment", args=[item])
    refused = client.post(
        address, second | {"label": "template"}, headers={"X-Requested-With": "fetch"}
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "judged_meanwhile")
    assert Judgment.objects.count() == 1


def test_the_same_window_sent_twice_is_no_conflict(w: World, client: Client) -> None:
    item = claimed(w.round, w.annotators[0]).item_id
    form = window(client, item)
    assert send(client, item, form, "copy").status_code == 302
    assert send(client, item, form, "copy").status_code == 302
    assert Judgment.objects.count() == 1


def test_of_two_windows_that_correct_the_later_is_told(w: World, client: Client) -> None:
    item = claimed(w.round, w.annotators[0]).item_id
    send(client, item, window(client, item), "copy")
    first, second = window(client, item), window(client, item)
    assert send(client, item, first, "template").status_code == 302
    assert send(client, item, second, "independent").status_code == 409
    assert Judgment.objects.count() == 2


def test_whoever_names_no_version_corrects(w: World) -> None:
    """What the services do by default, and the API with them: a correction within the grace time."""
    done = judge(w.round, w.annotators[0], "copy")
    changed = judging.submit(
        id=new_id(), slot=done.judgment.slot, person=w.annotators[0], label="template"
    )
    assert changed.status == "corrected"


@pytest.mark.parametrize("why", ["zzz", "nothing", "all-done", "open"])
def test_a_reason_that_does_not_exist_is_no_page(w: World, client: Client, why: str) -> None:
    assert client.get(f"/rounds/{w.round.pk}/nothing/{why}/").status_code == 404
