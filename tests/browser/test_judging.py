"""Judging in a real browser: by keyboard alone, with an input method, twice, and after the session has gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse

from dedupreview.people.models import Person
from reviews.models import Arbitration, Judgment, ReviewItem, ReviewSlot
from tests.browser.conftest import ready
from tests.pair import texts
from tests.pair.desk import PASSWORD, Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Person], "Page"]


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return Desk([(texts.RULE, texts.REVISED), (f"附件\n{texts.RULE}", f"附件\n{texts.REVISED}")])


def begin(page: Page, live_server: Any, desk: Desk) -> None:
    """From the first page of the queue to its first pair, by keyboard."""
    page.goto(live_server.url + reverse("reviews:claim-item", args=[desk.round.pk]))
    if "/items/" not in page.url:
        page.locator("main form button").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/items/*/")
    ready(page)


def keys(page: Page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)


def send(page: Page) -> None:
    """Ctrl+Enter, and wait for the page after it."""
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    if page.locator("#pair").count():
        ready(page)


def test_whole_loop_by_keyboard(desk: Desk, sign_in: SignIn, live_server: Any) -> None:
    """Two annotators agree on one pair and differ on the other; an arbitrator decides."""
    one, two = desk.annotators
    page = sign_in(one)
    begin(page, live_server, desk)
    keys(page, "2", "ArrowRight")
    send(page)
    keys(page, "4")
    send(page)
    assert page.locator("h1", has_text="全部完成").is_visible()
    first, second = desk.round.items.order_by("position")
    direction = Judgment.objects.get(item=first).direction

    page = sign_in(two)
    begin(page, live_server, desk)
    keys(page, "2", "x") if _swapped(first, one) != _swapped(first, two) else keys(page, "2")
    keys(page, "ArrowRight")
    send(page)
    assert ReviewItem.objects.get(pk=first.pk).state == "closed"
    assert set(Judgment.objects.filter(item=first).values_list("direction")) == {(direction,)}
    keys(page, "1")
    # Facts differ, so a copy is not taken before they are ticked: one key does it.
    page.keyboard.press("Control+Enter")
    assert "核对后按 C" in page.locator("[data-say]").inner_text()
    keys(page, "c")
    send(page)
    assert ReviewItem.objects.get(pk=second.pk).state == "conflict"

    page = sign_in(desk.arbitrators[0])
    page.goto(live_server.url + reverse("reviews:conflict-list", args=[desk.round.pk]))
    page.locator("a.button-primary").focus()
    keys(page, "Enter")
    page.wait_for_url("**/arbitration/")
    ready(page)
    keys(page, "4")
    send(page)
    assert page.locator(".cards .card").count() == 3
    keys(page, "a")
    card = page.locator(".card").first
    assert card.locator('input[name="adopt"]').is_checked()
    adopted = page.locator('input[name="label"]:checked').get_attribute("value")
    assert card.locator(f".label-{adopted}").count() == 1
    page.keyboard.press("Control+Enter")
    assert page.locator('textarea[name="reason"]').evaluate("e => e === document.activeElement")
    page.keyboard.type("同一格式，内容各异")
    send(page)
    decision = Arbitration.objects.get()
    assert decision.label == adopted
    assert adopted in {"copy", "template"}
    assert decision.reason == "同一格式，内容各异"
    assert ReviewItem.objects.get(pk=second.pk).state == "closed"


def _swapped(item: ReviewItem, person: Person) -> bool:
    from reviews.items import is_swapped

    return is_swapped(item, person)


def test_input_method_and_fields_trigger_nothing(
    desk: Desk, sign_in: SignIn, live_server: Any
) -> None:
    page = sign_in(desk.annotators[0])
    begin(page, live_server, desk)
    url = page.url
    page.evaluate(
        """() => {
          for (const key of ['1', '2', '3', '4', '5', '0', 'n', 'p', 's', 'x', 'c', 'r', 'Enter']) {
            for (const extra of [{isComposing: true}, {keyCode: 229}, {key: 'Process'}, {repeat: true}]) {
              for (const place of [document.body, document.querySelector('textarea')]) {
                place.dispatchEvent(new KeyboardEvent('keydown',
                  {key, bubbles: true, cancelable: true, ctrlKey: key === 'Enter', ...extra}));
              }
            }
          }
        }"""
    )
    assert page.locator('input[name="checked"]:checked').count() == 0
    assert page.locator('textarea[name="reason"]').is_hidden()
    page.keyboard.press("r")
    page.keyboard.type("1 2 s n x c r")
    assert page.locator('textarea[name="reason"]').input_value() == "1 2 s n x c r"
    assert page.locator('input[name="checked"]:checked').count() == 0
    assert page.locator('input[name="label"]:checked').count() == 0
    page.keyboard.press("Escape")
    for combination in ("Control+1", "Alt+2", "Meta+s"):
        page.keyboard.press(combination)
    assert page.locator('input[name="label"]:checked').count() == 0
    assert page.url == url
    assert not Judgment.objects.exists()
    assert ReviewSlot.objects.filter(state="claimed").count() == 1


def test_keys_rest_while_a_dialog_is_open(desk: Desk, sign_in: SignIn, live_server: Any) -> None:
    page = sign_in(desk.annotators[0])
    begin(page, live_server, desk)
    page.keyboard.press("?")
    dialog = page.locator("#help")
    assert dialog.is_visible()
    assert dialog.locator("dt").count() > 20
    assert all(text.strip() for text in dialog.locator("dd").all_inner_texts())
    keys(page, "1", "s")
    assert page.locator('input[name="label"]:checked').count() == 0
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    keys(page, "5")
    assert page.locator('input[name="label"]:checked').get_attribute("value") == "independent"


def test_twenty_submits_are_one_judgment_and_skip_nothing(
    desk: Desk, sign_in: SignIn, live_server: Any
) -> None:
    page = sign_in(desk.annotators[0])
    begin(page, live_server, desk)
    keys(page, "5")
    with page.expect_navigation():
        page.evaluate(
            """() => {
              for (let i = 0; i < 20; i++) {
                document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true}));
              }
              document.querySelector('.submit button').click();
              document.querySelector('.submit button').click();
            }"""
        )
    ready(page)
    assert Judgment.objects.count() == 1
    assert page.url.endswith(f"/items/{desk.round.items.get(position=2).pk}/")


def test_expired_session_loses_nothing(desk: Desk, sign_in: SignIn, live_server: Any) -> None:
    one = desk.annotators[0]
    page = sign_in(one)
    begin(page, live_server, desk)
    url = page.url
    keys(page, "0")
    page.locator('textarea[name="reason"]').fill("写了很久的理由")
    Session.objects.all().delete()
    page.keyboard.press("Control+Enter")
    dialog = page.locator("#signed-out")
    dialog.wait_for(state="visible")
    assert page.url == url
    assert page.locator('textarea[name="reason"]').input_value() == "写了很久的理由"
    with page.context.expect_page() as opened:
        dialog.locator("a.button").click()
    other = opened.value
    other.fill('input[name="username"]', one.username)
    other.fill('input[name="password"]', PASSWORD)
    other.locator("main form button").click()
    other.wait_for_url(live_server.url + "/")
    other.close()
    with page.expect_navigation():
        dialog.locator("[data-retry]").click()
    stored = Judgment.objects.get()
    assert (stored.label, stored.reason) == ("undecided", "写了很久的理由")


def test_draft_comes_back_after_a_reload(desk: Desk, sign_in: SignIn, live_server: Any) -> None:
    page = sign_in(desk.annotators[0])
    begin(page, live_server, desk)
    key = page.locator('input[name="id"]').input_value()
    keys(page, "2", "=")
    page.locator('textarea[name="reason"]').fill("半句话")
    page.reload()
    ready(page)
    assert page.locator('textarea[name="reason"]').input_value() == "半句话"
    assert page.locator('input[name="direction"]:checked').get_attribute("value") == "same_origin"
    assert page.locator('input[name="id"]').input_value() == key
    # Another person at the same machine gets none of it.
    page = sign_in(desk.annotators[1])
    begin(page, live_server, desk)
    assert page.locator('textarea[name="reason"]').input_value() == ""


def test_works_without_scripts(desk: Desk, browser: Any, live_server: Any) -> None:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(desk.annotators[0])
    context = browser.new_context(java_script_enabled=False, locale="zh-CN")
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies(
        [{"name": name, "value": client.cookies[name].value, "url": live_server.url}]
    )
    page = context.new_page()
    page.goto(live_server.url + reverse("reviews:claim-item", args=[desk.round.pk]))
    page.locator("main form button").click()
    page.locator('input[name="label"][value="revision"]').check(force=True)
    page.locator('input[name="direction"][data-side="left"]').check()
    page.locator(".submit button").click()
    page.wait_for_url("**/items/*/")
    stored = Judgment.objects.get()
    assert stored.label == "revision"
    assert stored.direction in {"left_first", "right_first"}
    page.locator('button[name="how"][value="later"]').click()
    page.wait_for_load_state()
    assert Judgment.objects.count() == 1
    context.close()
