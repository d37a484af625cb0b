"""The tour of the pair page: offered to newcomers, walked by keyboard, and in nobody's way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from dedupreview.people.models import Person
from reviews.models import Judgment
from tests.browser.test_judging import begin
from tests.pair import texts
from tests.pair.desk import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Person], "Page"]


@pytest.fixture
def page(transactional_db: None, sign_in: SignIn, live_server: Any) -> Page:
    desk = Desk([(texts.RULE, texts.REVISED), (f"附件\n{texts.RULE}", f"附件\n{texts.REVISED}")])
    page = sign_in(desk.annotators[0])
    begin(page, live_server, desk)
    return page


def stop(page: Page) -> str:
    return page.locator("#tour-title").inner_text()


def test_a_newcomer_walks_through_it_by_keyboard(page: Page) -> None:
    offer = page.locator(".pair-top [data-do=tour]")
    offer.focus()
    page.keyboard.press("Enter")
    page.locator("#tour[open]").wait_for()
    seen = []
    for _number in range(5):
        outlined = page.locator(".toured")
        assert outlined.count() == 1
        seen.append((stop(page), outlined.get_attribute("class")))
        box = page.locator("#tour").bounding_box()
        size = page.viewport_size
        assert box
        assert size
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size["height"]
        assert box["x"] + box["width"] <= size["width"]
        page.keyboard.press("ArrowRight")
    assert len(set(seen)) == 5
    assert stop(page) == seen[-1][0]
    page.keyboard.press("ArrowLeft")
    assert stop(page) == seen[-2][0]
    page.keyboard.press("Escape")
    assert page.locator("#tour[open]").count() == 0
    assert page.locator(".toured").count() == 0


def test_it_judges_nothing_and_the_page_works_after_it(page: Page) -> None:
    page.locator(".pair-top [data-do=tour]").click()
    page.locator("#tour[open]").wait_for()
    for key in ("1", "Control+Enter", "s"):
        page.keyboard.press(key)
    assert page.locator("input[name=label]:checked").count() == 0
    page.keyboard.press("Escape")
    first = page.url
    page.keyboard.press("5")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != first and "/items/" in url)
    assert Judgment.objects.count() == 1
    assert page.locator(".pair-top > [data-do=tour]").count() == 0


def test_it_is_among_the_keys_for_whoever_looks_for_it(page: Page) -> None:
    page.keyboard.press("?")
    page.locator("#help [data-do=tour]").click()
    page.locator("#tour[open]").wait_for()
    assert page.locator("#help[open]").count() == 0


@pytest.mark.parametrize("width", [360, 1366])
def test_it_is_accessible_and_fits(page: Page, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    page.set_viewport_size({"width": width, "height": 720})
    page.locator("[data-do=help]").first.click()
    page.locator("#help [data-do=tour]").click()
    for _number in range(5):
        assert [found["id"] for found in axe.run(page).response["violations"]] == []
        box = page.locator("#tour").bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        page.keyboard.press("ArrowRight")
