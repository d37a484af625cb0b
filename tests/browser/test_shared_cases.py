"""The shared cases of reading a pair (diff, facts, web), each by its own expectation; no case is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse

from dedupreview.people.models import Person
from reviews import queue
from reviews.models import ReviewSlot
from screening.evidence.diff import compare
from screening.evidence.excerpts import excerpts
from screening.evidence.facts import fact_changes
from screening.models import Candidate
from screening.text.normalise import normalise
from tests.browser.conftest import ready
from tests.pair.desk import Desk, signed_in
from tests.screening import test_facts_shared

if TYPE_CHECKING:
    from playwright.sync_api import Page

AREAS = {"diff", "facts", "web"}


@pytest.fixture
def cases(shared: Path) -> dict[str, Any]:
    with (shared / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        return {row["id"]: row for row in map(json.loads, file)}


def test_every_case_of_these_areas_has_a_test(cases: dict[str, Any]) -> None:
    wanted = {key for key, case in cases.items() if case["area"] in AREAS}
    here = {
        match[1].upper().replace("_", "-")
        for name in globals()
        if (match := re.match(r"test_([a-z]_\d\d)_", name))
    }
    facts = set(re.findall(r'"([A-Z]-\d\d)"', Path(test_facts_shared.__file__).read_text("utf-8")))
    assert wanted <= here | facts, wanted - here - facts


def _page_of(desk: Desk) -> str:
    slot = queue.claim(round=desk.round, person=desk.annotators[0])
    assert isinstance(slot, ReviewSlot)
    url = reverse("reviews:item", args=[slot.item_id])
    return signed_in(desk.annotators[0]).get(url).content.decode()


def _marked(left: str, right: str) -> tuple[str, str]:
    changes = compare(left, right).changes
    return (
        "|".join(left[c.left_start : c.left_end] for c in changes),
        "|".join(right[c.right_start : c.right_end] for c in changes),
    )


def test_x_01_a_table_with_two_edits_shows_two(cases: dict[str, Any]) -> None:
    given, wanted = cases["X-01"]["input"], cases["X-01"]["expected"]
    left, right = _marked(given["A"], given["B"])
    assert (left, right) == ("61|90", "16|99")
    # whole numbers are marked, so that a digit more than differs is lit in each
    assert len(compare(given["A"], given["B"]).changes) <= wanted["true_changed_chars_max"]


def test_x_02_one_digit_more_is_one_number(cases: dict[str, Any]) -> None:
    given = cases["X-02"]["input"]
    assert _marked(given["A"], given["B"]) == ("50", "500")
    changes = fact_changes(given["A"], given["B"])
    assert [(c.left, c.right) for c in changes] == [("50 元", "500 元")]


def test_x_03_characters_are_never_cut(cases: dict[str, Any]) -> None:
    given = cases["X-03"]["input"]
    ops = []
    for row in compare(given["A"], given["B"]).rows:
        for one, other in zip(row.left, row.right, strict=True):
            same = one.op == "equal"
            ops.append([one.op, one.text] if same else [one.op, one.text, other.text])
    assert ops == cases["X-03"]["expected"]["ops"]
    assert json.loads(json.dumps(ops)) == ops


@pytest.mark.django_db
def test_x_04_one_endless_line_is_compared() -> None:
    left = "平安" * 50_000
    half = len(left) // 2
    right = left[:half] + "X" + left[half:]
    right = right[:-5_000] + right[-2_500:] + right[-5_000:-2_500]
    comparison = compare(left, right)
    assert (comparison.side("left"), comparison.side("right")) == (left, right)
    assert 1 <= len(comparison.changes) <= 5
    assert "X" in _page_of(Desk([(left, right)]))


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_x_06_offsets_are_code_points_in_the_browser_too(
    transactional_db: None,
    sign_in: Callable[[Person], Page],
    live_server: Any,
    cases: dict[str, Any],
) -> None:
    text, fragment = cases["X-06"]["input"]["text"], cases["X-06"]["input"]["fragment"]
    start, end = cases["X-06"]["expected"]["code_point_span"]
    assert text[start:end] == fragment
    desk = Desk([(text, text + "。")])
    slot = queue.claim(round=desk.round, person=desk.annotators[0])
    assert isinstance(slot, ReviewSlot)
    page = sign_in(desk.annotators[0])
    page.goto(live_server.url + reverse("reviews:item", args=[slot.item_id]))
    ready(page)
    found = page.evaluate(
        f"""async () => {{
          const spots = await import('/static/js/spots.js');
          const [range] = spots.rangesOf('l', {start}, {end});
          getSelection().addRange(range);
          const {{ start, end, text }} = spots.selected();
          return [range.toString(), start, end, text, range.startOffset, range.endOffset];
        }}"""
    )
    assert found[:4] == [fragment, start, end, fragment]
    assert found[4:] == cases["X-06"]["expected"]["utf16_span"]


@pytest.mark.django_db
def test_x_07_signs_of_comparison_are_text(cases: dict[str, Any]) -> None:
    given = cases["X-07"]["input"]
    shown = _page_of(Desk([(given["A"], given["B"])]))
    plain = re.sub(r"<[^>]*>", "", shown).replace("&lt;", "<").replace("&gt;", ">")
    assert given["A"] in plain
    assert given["B"] in plain
    assert _marked(given["A"], given["B"]) == ("3000", "3500")


@pytest.mark.django_db
def test_b_01_senseless_filters_are_no_fault(cases: dict[str, Any]) -> None:
    desk = Desk([("甲文。", "乙文。")])
    client = signed_in(desk.admin)
    query = cases["B-01"]["input"]["request"].partition("?")[2]
    pages = [
        reverse("reviews:item-list", args=[desk.round.pk]),
        reverse("reviews:conflict-list", args=[desk.round.pk]),
        reverse("reviews:round-list"),
        reverse("screening:run-detail", args=[desk.run.pk]),
        reverse("screening:candidate-list", args=[desk.run.pk]),
    ]
    for person in (desk.admin, desk.arbitrators[0]):
        client = signed_in(person)
        for url in pages:
            assert client.get(f"{url}?{query}").status_code < 500, (person, url)


@pytest.mark.django_db
def test_b_03_a_clause_in_a_long_text_is_found_and_shown(
    cases: dict[str, Any], shared: Path
) -> None:
    files = shared / "cases" / "files"
    clause = (files / "clause.txt").read_text("utf-8")
    long = (files / "long_with_clause.txt").read_text("utf-8") * 20
    wanted = int(re.search(r"(\d+) normalised", cases["B-03"]["expected"]["must"])[1])  # type: ignore[index]
    found = excerpts(normalise(clause), normalise(long))
    first = found[0]
    shared_text = clause[first.left_start : first.left_end]
    assert len(normalise(shared_text).text) == wanted
    desk = Desk([(clause, long)])
    Candidate.objects.update(
        excerpts=[[e.left_start, e.left_end, e.right_start, e.right_end] for e in found],
        containment=0.4,
    )
    shown = _page_of(desk)
    assert f'data-ls="{first.left_start}" data-le="{first.left_end}"' in shown
    assert 'class="same"' in shown
