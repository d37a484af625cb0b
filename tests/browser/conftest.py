"""A signed-in Chromium on the live site."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.test import Client

from dedupreview.people.models import Person

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def sign_in(page: Page, live_server: Any) -> Callable[[Person], Page]:
    """Signs a person in, in place of whoever was; gives the page."""

    def as_person(person: Person) -> Page:
        client = Client()
        client.force_login(person)
        name = settings.SESSION_COOKIE_NAME
        page.context.clear_cookies()
        page.context.add_cookies(
            [{"name": name, "value": client.cookies[name].value, "url": live_server.url}]
        )
        return page

    return as_person


def ready(page: Page) -> None:
    """Wait until the page's scripts listen."""
    page.wait_for_selector("html[data-ready]", state="attached")
