"""Reading a pair in a real browser: jumps, sides, folding, hostile text, long text, and axe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse

from dedupreview.people.models import Person
from reviews import queue
from reviews.models import ReviewSlot
from tests.browser.conftest import ready
from tests.pair import texts
from tests.pair.desk import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Person], "Page"]


def opened(desk: Desk, sign_in: SignIn, live_server: Any) -> Page:
    """The first pair of the desk, open before its first annotator."""
    slot = queue.claim(round=desk.round, person=desk.annotators[0])
    assert isinstance(slot, ReviewSlot)
    page = sign_in(desk.annotators[0])
    page.goto(live_server.url + reverse("reviews:item", args=[slot.item_id]))
    ready(page)
    return page


def lit(page: Page) -> list[str]:
    return list(
        page.evaluate("[...(CSS.highlights.get('spot') ?? [])].map((range) => range.toString())")
    )


def test_registry_has_no_collision(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    page = opened(Desk([(texts.RULE, texts.REVISED)]), sign_in, live_server)
    found = page.evaluate(
        """async () => {
          const { KEYS, collisions } = await import('/static/js/keys.js');
          const twice = [...KEYS, { keys: ['n'], act: 'other', scope: 'page' }];
          return [collisions(), collisions(twice), KEYS.length];
        }"""
    )
    assert found[0] == []
    assert found[1] == ["n: next-change / other"]
    assert found[2] > 25


def test_changes_facts_and_sides(transactional_db: None, sign_in: SignIn, live_server: Any) -> None:
    page = opened(Desk([(texts.RULE, texts.REVISED)]), sign_in, live_server)
    total = int(page.locator("#pair").get_attribute("data-changes") or "0")
    counter = page.locator("[data-counter]")
    page.keyboard.press("n")
    assert counter.inner_text() == f"1/{total}"
    page.keyboard.press("p")
    assert counter.inner_text() == f"{total}/{total}"
    assert page.locator("mark.cur").first.is_visible()
    before = page.evaluate("scrollY")
    page.locator(".strip a").first.click(force=True)
    assert counter.inner_text() == f"1/{total}"
    assert page.evaluate("scrollY") <= before

    chip = page.locator('[data-spot="fact"]', has_text="金额")
    chip.click()
    assert sorted(lit(page)) == ["1500元", "2000元"]

    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    chosen = page.locator('input[name="direction"]:checked').get_attribute("value")
    left = page.locator(".pr .cell").first.get_attribute("data-d")
    page.keyboard.press("x")
    assert page.locator(".pr .cell").first.get_attribute("data-d") != left
    # The answer is about the texts: it stays, and now reads as the other side.
    checked = page.locator('input[name="direction"]:checked')
    assert checked.get_attribute("value") == chosen
    assert checked.get_attribute("data-side") == "right"
    page.keyboard.press("ArrowRight")
    assert page.locator('input[name="direction"]:checked').get_attribute("value") != chosen


def test_only_changes_folds_and_nothing_is_lost(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    filler = "".join(f"第{n}段文字没有变化，只是占据位置。\n" for n in range(60))
    desk = Desk([(filler + texts.RULE, filler + texts.REVISED)])
    page = opened(desk, sign_in, live_server)
    texts_of = page.locator(".texts")
    middle = page.locator(".pr", has_text="第30段文字没有变化")
    assert middle.is_visible()
    page.keyboard.press("o")
    assert not middle.is_visible()
    assert page.locator(".fold").first.is_visible()
    assert "第30段文字没有变化" in (texts_of.text_content() or "")
    page.reload()
    ready(page)
    assert page.locator("#pair.only").count() == 1
    page.keyboard.press("o")
    assert middle.is_visible()


def test_hostile_text_runs_nothing_and_offsets_hold(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    page = opened(Desk([(texts.HOSTILE_A, texts.HOSTILE_B)]), sign_in, live_server)
    assert page.evaluate("window.ran") is None
    shown = page.locator(".texts").text_content() or ""
    assert '<script>window.ran = 1</script><img src=x onerror="window.ran = 2">' in shown
    assert "收入<3000元的家庭，支出>5000元的除外。" in shown
    assert page.locator(".z[data-c='RLO']").count() == 2
    # Astral characters before a passage do not shift it: offsets are code points.
    start = texts.HOSTILE_A.index("第三条")
    found = page.evaluate(
        f"""async () => {{
          const spots = await import('/static/js/spots.js');
          const [range] = spots.rangesOf('l', {start}, {start + 3});
          getSelection().removeAllRanges();
          getSelection().addRange(range);
          return [range.toString(), spots.selected()];
        }}"""
    )
    assert found[0] == "第三条"
    assert (found[1]["side"], found[1]["start"], found[1]["end"]) == ("left", start, start + 3)
    page.keyboard.press("e")
    assert page.locator(".chip.own").inner_text().startswith("第三条")
    hidden = texts.HOSTILE_A.index("宽与")
    text = page.evaluate(
        f"async () => (await import('/static/js/spots.js')).rangesOf('l', {hidden}, {hidden + 2}).join('|')"
    )
    assert text == "宽与"
    # A passage over several paragraphs lights up on its own side only.
    across = page.evaluate(
        "async () => (await import('/static/js/spots.js')).rangesOf('r', 0, 30).map(String)"
    )
    assert across == [texts.HOSTILE_B.splitlines()[0], texts.HOSTILE_B.splitlines()[1][:5]]


def test_settled_pair_can_be_read_but_not_judged(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    import uuid

    from reviews import judging

    desk = Desk([(texts.RULE, texts.REVISED)])
    for person in desk.annotators:
        slot = queue.claim(round=desk.round, person=person)
        assert isinstance(slot, ReviewSlot)
        judging.submit(
            id=uuid.uuid4(), slot=slot, person=person, label="revision", direction="left_first",
            evidence=[{"side": "left", "start": 0, "end": 6, "text": texts.RULE[:6]}],
        )  # fmt: skip
    page = sign_in(desk.annotators[0])
    page.goto(live_server.url + reverse("reviews:item", args=[desk.item().pk]))
    ready(page)
    assert page.locator(".card").count() == 2
    page.locator(".card [data-spot]").first.click()
    assert lit(page) == [texts.RULE[:6]]
    for key in ("1", "n", "s", "x", "?"):
        page.keyboard.press(key)
    assert page.locator("#help dt").count() > 5
    assert page.locator("form#judge").count() == 0


def test_long_texts_answer_keys_quickly(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    left = (texts.RULE.replace("\n\n", "\n") * 210)[:50_000]
    right = left.replace("1500元", "2000元", 9).replace("两人", "三人", 5)
    page = opened(Desk([(left, right)]), sign_in, live_server)
    page.evaluate(
        """() => {
          window.spans = [];
          new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.spans.push(entry.duration)))
            .observe({ type: 'event', durationThreshold: 16 });
        }"""
    )
    slowest: dict[str, list[int]] = {}
    # From the key to the next paint; the best of three, for the machine has other things to do.
    for key in ("n", "p", "j", "f", "o", "o", "1", "2", "x") * 3:
        page.evaluate("window.spans.length = 0")
        page.keyboard.press(key)
        page.wait_for_timeout(60)
        slowest.setdefault(key, []).append(page.evaluate("Math.max(0, ...window.spans)"))
    assert {key: min(spans) for key, spans in slowest.items() if min(spans) > 200} == {}, slowest
    page.keyboard.press("x")
    assert page.locator("#pair").get_attribute("data-changes") == "14"


def test_article_by_article_and_back(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    page = opened(Desk([(texts.RULE, texts.REVISED)]), sign_in, live_server)
    page.keyboard.press("v")
    table = page.locator("#pair #articles")
    table.wait_for()
    assert not page.locator(".texts").is_visible()
    assert table.locator("tr.art.changed").count() == 5
    page.keyboard.press("n")
    mark = table.locator("mark.cur").first
    assert mark.is_visible()
    # Text of the table is evidence like any other: its offsets are those of the raw text.
    found = page.evaluate(
        """async () => {
          const spots = await import('/static/js/spots.js');
          getSelection().selectAllChildren(document.querySelector('#articles .changed .cell[data-d="r"] mark'));
          return spots.selected();
        }"""
    )
    raw = texts.REVISED
    assert raw[found["start"] : found["end"]] == found["text"]
    first = table.locator("tr.changed .cell").first.get_attribute("data-d")
    page.keyboard.press("x")
    page.wait_for_function(
        "was => ![undefined, was].includes(document.querySelector('#articles tr.changed .cell')?.dataset.d)",
        arg=first,
    )
    page.keyboard.press("v")
    assert page.locator(".texts").is_visible()
    assert not table.is_visible()


def test_what_other_documents_have_is_grey_and_said(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    from reviews import elsewhere
    from tests.pair.test_elsewhere import joined, quoting

    elsewhere._known.cache_clear()
    desk = Desk([(texts.REPORT_A, texts.REPORT_B)])
    for n, side in enumerate((desk.item().pair.left, desk.item().pair.right), 1):
        joined(desk, side, quoting(desk, n), 10 + n)
    page = opened(desk, sign_in, live_server)
    grey = "[...CSS.highlights.get('known')].map(String)"
    assert texts.STATEMENT in page.evaluate(grey)
    assert page.locator(".known-tag").count() == 2
    page.keyboard.press("x")
    assert sum(texts.STATEMENT in text for text in page.evaluate(grey)) == 2
    assert "出现" not in (page.locator(".texts").text_content() or "")
    page.keyboard.press("3")
    assert page.locator('input[name="source"]').is_visible()
    page.keyboard.press("1")
    assert not page.locator('input[name="source"]').is_visible()


def test_the_bar_leaves_a_narrow_screen_to_the_texts(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    page = opened(Desk([(texts.RULE, texts.REVISED)]), sign_in, live_server)
    page.set_viewport_size({"width": 360, "height": 740})
    for key in "123450":
        page.keyboard.press(key)
        share = page.evaluate("document.querySelector('.judge').offsetHeight / innerHeight")
        assert share <= 0.33, (key, share)
        assert page.locator(".pick").evaluate_all("all => all.every(one => one.offsetWidth >= 36)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1366, 360])
def test_axe_is_clean(
    transactional_db: None, sign_in: SignIn, live_server: Any, scheme: Any, width: int
) -> None:
    import uuid

    from axe_playwright_python.sync_playwright import Axe

    from reviews import arbitration, judging

    desk = Desk([(texts.REPORT_A, texts.REPORT_B), (texts.RULE, texts.REVISED)])
    one, two = desk.annotators
    for person, label in ((one, "copy"), (two, "template")):
        slot = queue.claim(round=desk.round, person=person)
        assert isinstance(slot, ReviewSlot)
        judging.submit(id=uuid.uuid4(), slot=slot, person=person, label=label, reason="理由")
    item = desk.round.items.get(state="conflict")
    arbitration.give_opinion(id=uuid.uuid4(), item=item, person=desk.arbitrators[0], label="copy")
    page = opened(desk, sign_in, live_server)
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.keyboard.press("2")
    page.keyboard.press("n")
    faults = _faults(Axe(), page, "pair")
    if page.locator('[data-do="articles"]').count():
        page.keyboard.press("v")
        page.locator("#articles").wait_for()
        faults += _faults(Axe(), page, "articles")
    page.keyboard.press("?")
    faults += _faults(Axe(), page, "help")
    for name, args in (("my-judgments", []), ("nothing", [desk.round.pk, "taken"])):
        page.goto(live_server.url + reverse(f"reviews:{name}", args=args))
        faults += _faults(Axe(), page, name)
    for person in desk.arbitrators:
        page = sign_in(person)
        page.goto(live_server.url + reverse("reviews:arbitrate", args=[item.pk]))
        ready(page)
        faults += _faults(Axe(), page, "arbitration")
    page.goto(live_server.url + reverse("reviews:conflict-list", args=[desk.round.pk]))
    faults += _faults(Axe(), page, "conflicts")
    assert not faults


def _faults(axe: Any, page: Page, where: str) -> list[tuple[str, str, str]]:
    violations = axe.run(page).response["violations"]
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    wide = [(where, "wider than the screen", str(overflow))] if overflow > 0 else []
    return wide + [
        (where, violation["id"], node["html"][:200])
        for violation in violations
        for node in violation["nodes"]
    ]


def _households(by: int) -> str:
    return "".join(f"第{n}户面积{n + 30 + by}平方米，租金{n * 50 + by}元。\n" for n in range(1, 40))


MANY = (_households(1), _households(2))


@pytest.mark.parametrize("pair", [MANY, ("短文甲。", "短文乙。")])
def test_texts_begin_on_the_first_screen_and_the_bar_stands_at_its_end(
    transactional_db: None, sign_in: SignIn, live_server: Any, pair: tuple[str, str]
) -> None:
    page = opened(Desk([pair]), sign_in, live_server)
    page.set_viewport_size({"width": 1366, "height": 800})
    top, bar, end, height = page.evaluate(
        """() => {
          const box = (one) => document.querySelector(one).getBoundingClientRect();
          return [box('.texts').top, box('.judge').top, box('.judge').bottom, innerHeight];
        }"""
    )
    # Ten lines of text at least, whatever was found.
    assert bar - top > 320
    assert end == height


def test_what_does_not_fit_one_line_is_counted_and_one_press_away(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    page = opened(Desk([MANY]), sign_in, live_server)
    rest = page.locator(".rest").first
    hidden = page.locator(".one-line .beyond").count()
    assert hidden > 40
    assert rest.inner_text() == f"其余 {hidden} 条"
    rest.click()
    assert page.locator(".one-line .beyond").count() == 0
    rest.click()
    assert page.locator(".one-line .beyond").count() == hidden
    for _ in range(12):
        page.keyboard.press("f")
    assert page.locator("[data-spot].here").is_visible()


def test_badges_stand_between_phrases_and_grey_leaves_changes_their_colour(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    page = opened(Desk([(texts.RULE, texts.REVISED)]), sign_in, live_server)
    found = page.evaluate(
        """async () => {
          const { beforePhrase, besidesMarks, rangesOf } = await import('/static/js/spots.js');
          const cell = [...document.querySelectorAll('.cell[data-d="l"]')].find((one) => one.textContent.includes('1500'));
          const start = Number(cell.dataset.s);
          const at = [...cell.textContent].join('').indexOf('1500') + 2;
          const before = beforePhrase('l', start + at);
          const text = cell.ownerDocument.createRange();
          text.setStart(cell, 0);
          text.setEnd(before.startContainer, before.startOffset);
          const whole = rangesOf('l', start, start + cell.textContent.length).flatMap(besidesMarks);
          return [text.toString(), whole.map(String).join('|'), before.collapsed];
        }"""
    )
    assert found[0] == "第四条 "
    assert found[2] is True
    assert "夜间开放补助标准" in found[1]
    assert "1500" not in found[1]


def test_other_wording_is_one_press_away_and_no_line_crosses_a_sign(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    right = texts.RULE.replace("阅读需要", "阅读愿望").replace("两人", "三人")
    page = opened(Desk([(texts.RULE, right)]), sign_in, live_server)
    page.locator('[data-other="wording"]').click()
    assert sorted(lit(page)) == ["愿望", "需要"]
    lines = page.evaluate(
        """[...document.querySelectorAll('.texts mark')].map((mark) => getComputedStyle(mark).textDecorationLine
             + ' ' + getComputedStyle(mark).textDecorationStyle)"""
    )
    assert set(lines) == {"underline dashed", "underline solid"}


def test_the_record_before_a_text_folds_and_opens_for_whoever_goes_there(
    transactional_db: None, sign_in: SignIn, live_server: Any
) -> None:
    record = "来源：青禾晚报\n发布日期：2024-02-03\n浏览次数：318\n"
    page = opened(Desk([(record + texts.RULE, texts.REVISED)]), sign_in, live_server)
    fold = page.locator("details.record")
    assert fold.evaluate("node => node.open") is False
    assert page.locator("text=浏览次数").is_hidden()
    page.keyboard.press("n")
    assert fold.evaluate("node => node.open") is True
    assert page.locator("text=浏览次数").is_visible()
    assert page.locator(".cur").first.is_visible()
    page.keyboard.press("x")
    assert page.locator("text=浏览次数").is_visible()
    assert page.locator(".strip .view").get_attribute("width") not in (None, "0")
