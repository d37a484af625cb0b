"""Every page in Chromium: English and narrow as well, light to fetch, still while it loads, and open to the keyboard.

``tests/web/test_browser.py`` has the Chinese pages with axe; ``test_reading.py`` has the pages of pairs with axe.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse

from dedupreview import context as every_page
from dedupreview.people.models import Person
from reviews import judging, queue
from reviews.models import ReviewSlot
from tests.browser.conftest import ready
from tests.pair import texts
from tests.pair.desk import Desk
from tests.web.site import DOWNLOADS, PARTS, Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Person], "Page"]

MOST_BYTES = 200_000
"""Of a first load with nothing in the cache: bodies and headers of the page, styles, scripts and icon, as they are served.

Nothing compresses them: neither the server of these tests nor gunicorn with WhiteNoise, which has no compressed copies
of files that it serves from where they lie. Behind a proxy that compresses it is about a third.
"""

MOST_SHIFT = 0.01
"""The cumulative layout shift of a load."""


WATCH_SHIFTS = """
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
"""


@pytest.fixture(autouse=True)
def _no_queue_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page here waits for a queue server that is not there."""
    monkeypatch.setattr(every_page, "workers_now", lambda: 1)


@dataclass
class Visits:
    """One page of a browser that goes from address to address as if it had never been there."""

    page: Page
    url: str
    bytes: float = 0

    def __post_init__(self) -> None:
        wire = self.page.context.new_cdp_session(self.page)
        wire.send("Network.enable")
        wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
        wire.on("Network.loadingFinished", self._count)
        self.page.add_init_script(WATCH_SHIFTS)

    def _count(self, event: dict[str, Any]) -> None:
        self.bytes += event["encodedDataLength"]

    def _shift_of_load(self, address: str) -> float:
        self.bytes = 0
        self.page.goto(self.url + address, wait_until="load")
        # Two frames later everything that the load itself moves has moved.
        return float(
            self.page.evaluate(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shifted))))"
            )
        )

    def faults(self, name: str, address: str) -> Iterator[tuple[object, ...]]:
        """What is heavy, moves or sticks out at this address."""
        shift = self._shift_of_load(address)
        if shift >= MOST_SHIFT:
            # On a busy machine half a page may be painted before the rest of it has been read: that is not the page's.
            shift = min(shift, self._shift_of_load(address))
        if not 0 < self.bytes <= MOST_BYTES:
            yield name, "bytes", self.bytes
        if shift >= MOST_SHIFT:
            yield name, "moves", shift
        excess = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if excess > 0:
            yield name, "sticks out", excess


def in_language(page: Page, url: str, code: str) -> None:
    page.context.add_cookies([{"name": "dedupreview_language", "value": code, "url": url}])


@pytest.mark.parametrize(
    ("code", "width", "scheme"), [("zh-hans", 1366, "light"), ("en", 360, "dark")]
)
def test_every_page_is_light_still_and_fits(
    transactional_db: None, data_dir: Path, tmp_path: Path, sign_in: SignIn, live_server: Any,
    code: str, width: int, scheme: Any,
) -> None:  # fmt: skip
    site = Site(tmp_path)
    page = sign_in(site.admin)
    in_language(page, live_server.url, code)
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    visits, axe, wrong = Visits(page, live_server.url), Axe(), []
    for name, address in site.addresses().items():
        if name in PARTS | DOWNLOADS:
            continue
        wrong += list(visits.faults(name, address))
        if code == "en":
            found = axe.run(page).response["violations"]
            wrong += [(name, rule["id"], rule["nodes"][0]["html"][:200]) for rule in found]
    assert wrong == []


def opened_desk() -> tuple[Desk, dict[str, tuple[Person, str]]]:
    """A pair in conflict and one before its first annotator; who looks at which address."""
    desk = Desk([(texts.RULE, texts.REVISED), (texts.REPORT_A, texts.REPORT_B)])
    for person, label in zip(desk.annotators, ("copy", "template"), strict=True):
        slot = queue.claim(round=desk.round, person=person)
        assert isinstance(slot, ReviewSlot)
        judging.submit(id=uuid.uuid4(), slot=slot, person=person, label=label, reason="理由")
    one, judge = desk.annotators[0], desk.arbitrators[0]
    slot = queue.claim(round=desk.round, person=one)
    assert isinstance(slot, ReviewSlot)
    return desk, {
        "item": (one, reverse("reviews:item", args=[slot.item_id])),
        "mine": (one, reverse("reviews:my-judgments")),
        "home": (one, reverse("home")),
        "arbitrate": (judge, reverse("reviews:arbitrate", args=[desk.item().pk])),
        "conflicts": (judge, reverse("reviews:conflict-list", args=[desk.round.pk])),
    }


@pytest.mark.parametrize(("code", "widths"), [("zh-hans", [1366, 360]), ("en", [1366, 360])])
def test_pages_of_pairs_are_light_still_and_fit(
    transactional_db: None, sign_in: SignIn, live_server: Any, code: str, widths: list[int]
) -> None:
    _desk, looks = opened_desk()
    page: Page | None = None
    visits: Visits | None = None
    wrong: list[tuple[object, ...]] = []
    for name, (who, address) in looks.items():
        page = sign_in(who)
        visits = visits or Visits(page, live_server.url)
        in_language(page, live_server.url, code)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 800})
            wrong += list(visits.faults(f"{name} {width}", address))
            if code == "en":
                found = Axe().run(page).response["violations"]
                wrong += [(name, rule["id"], rule["nodes"][0]["html"][:200]) for rule in found]
    assert wrong == []


STOPS = """() => {
  const groups = new Set();
  window.stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter((one) => !one.disabled && one.type !== 'hidden' && one.tabIndex >= 0 && !one.closest('[inert]'))
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .filter((one) => {
      // Of the radio buttons of one name, Tab stops at one.
      if (one.type !== 'radio') return true;
      if (groups.has(one.name)) return false;
      return groups.add(one.name);
    });
  return window.stops.length;
}"""

STOPPED = """() => {
  const one = document.activeElement;
  const at = window.stops.findIndex((stop) => stop === one
    || (stop.type === 'radio' && one.type === 'radio' && stop.name === one.name));
  const outlined = (element) => {
    const style = getComputedStyle(element);
    return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
  };
  const shown = outlined(one) || (one.closest('label') && outlined(one.closest('label')));
  return [at, Boolean(shown), one.outerHTML.slice(0, 120)];
}"""


def keyboard_faults(page: Page, name: str) -> list[tuple[object, ...]]:
    """What Tab does not reach on the page, and where it stops without an outline."""
    count = page.evaluate(STOPS)
    reached: set[int] = set()
    wrong: list[tuple[object, ...]] = []
    for _press in range(count + 10):
        page.keyboard.press("Tab")
        at, shown, markup = page.evaluate(STOPPED)
        if at in reached and len(reached) == count:
            break
        reached.add(at)
        if at >= 0 and not shown:
            wrong.append((name, "no outline", markup))
    missed = sorted(set(range(count)) - reached)
    wrong += [
        (name, "not reached", page.evaluate(f"window.stops[{at}].outerHTML.slice(0, 120)"))
        for at in missed
    ]
    return wrong


def test_tab_reaches_everything_and_shows_where_it_is(
    transactional_db: None, data_dir: Path, tmp_path: Path, sign_in: SignIn, live_server: Any
) -> None:
    site = Site(tmp_path)
    page = sign_in(site.admin)
    wrong: list[tuple[object, ...]] = []
    for name in ("home", "screening:collection-detail", "screening:upload", "screening:start-run", "screening:candidate-list",
                 "reviews:open-round", "reviews:round-detail", "reviews:agreement", "add-person", "audit"):  # fmt: skip
        page.goto(live_server.url + site.addresses()[name])
        wrong += keyboard_faults(page, name)
    assert wrong == []


def test_tab_goes_through_the_pair(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    _desk, looks = opened_desk()
    wrong: list[tuple[object, ...]] = []
    for name in ("item", "arbitrate"):
        who, address = looks[name]
        page = sign_in(who)
        page.goto(live_server.url + address)
        ready(page)
        wrong += keyboard_faults(page, name)
    assert wrong == []
