"""Nobody learns another person's answer from any byte of any page or API answer while the pair is open.

Two worlds that differ only in what somebody else answered must look the same: every URL is read as every role in both,
and the bytes are compared. This finds labels and reasons, but also counts, times, orders and states that depend on them.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from dedupreview import context
from dedupreview.people import tokens
from dedupreview.people.models import Person, Role
from reviews import arbitration, judging
from reviews.items import pair_view
from reviews.models import Judgment, ReviewTable
from reviews.outcomes import outcome_of
from tests.reviews.world import World, claimed, person, world

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SKIPPED = ("healthz", "readyz", "workers", "language", "logout", "login", "<path:", "favicon")
"""No page about rounds, or not the same from one second to the next."""
VARIES = re.compile(
    rb'csrfmiddlewaretoken" value="[^"]+"|csrf[-_]?token[^>]{0,20}content="[^"]+"|data-csrf="[^"]+"'
    rb'|name="id" value="[0-9a-f-]{36}"|"id": ?"[0-9a-f-]{36}"'
)
"""What differs between any two readings of the same page."""
IDS = [uuid.UUID(int=n) for n in range(1, 9)]
Answer = tuple[int, str, str, str]
"""Who (number of the annotator), label, direction, reason."""


NOW = datetime(2031, 5, 6, 9, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _steady(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Time stands still, so that two readings differ by content only; and no queue server is asked."""
    monkeypatch.setattr(context, "workers_now", lambda: 1)
    with time_machine.travel(NOW, tick=False):
        yield


def patterns(resolver: URLResolver, prefix: str = "") -> list[str]:
    found = []
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            found += patterns(entry, route)
        elif isinstance(entry, URLPattern):
            found.append(route)
    return found


def addresses(w: World) -> list[str]:
    """Every address of the site with the ids of this world put in."""
    item, slots = w.item(), w.item().slots.order_by("pk")
    keys: dict[str, list[object]] = {
        "run_id": [w.run.pk],
        "round_id": [w.round.pk],
        "item_id": [item.pk, w.item(2).pk],
        "slot_id": [slot.pk for slot in slots],
        "collection_id": [w.round.collection_id],
        "slug": [w.round.collection.slug],
        "document_id": [item.pair.low_id],
        "candidate_id": [item.candidate_id],
        "person_id": [someone.pk for someone in w.annotators[:2]],
        "table_id": list(ReviewTable.objects.values_list("pk", flat=True)),
        "side": ["left"],
        "why": ["all_done"],
        "name": ["candidates.jsonl"],
        "index": [0],
        "kind": ["tasks", "settled"],
        "file": ["label-studio.json", "doccano.jsonl", "pairs.csv"],
    }
    found = []
    for route in patterns(get_resolver()):
        if any(word in route for word in SKIPPED):
            continue
        routes = [route.lstrip("^").rstrip("$")]
        for place in re.findall(r"<[^>]+>|\{[^}]+\}", route):
            name = place.strip("<>{}").split(":")[-1]
            routes = [r.replace(place, str(key)) for r in routes for key in keys.get(name, [])]
        found += ["/" + r for r in routes]
    return sorted(set(found))


def look(
    w: World, readers: dict[str, Person], urls: list[str]
) -> dict[tuple[str, str], tuple[int, bytes]]:
    seen = {}
    for name, reader in readers.items():
        client = Client()
        client.force_login(reader)
        headers = {"authorization": f"Bearer {readers_keys[reader.pk]}"}
        for url in urls:
            # Claiming is an act; everything else that is read must change nothing.
            with transaction.atomic():
                response = client.get(url, headers=headers if "/api/" in url else {})
                body = b"".join(response) if response.streaming else response.content
                transaction.set_rollback(True)
            seen[name, url] = (response.status_code, VARIES.sub(b"", body))
    return seen


def first_difference(left: Any, right: Any) -> str:
    """Where two worlds part, with some context: for whoever has to find the leak."""
    for key in left:
        one, other = left[key][1], right[key][1]
        if one != other:
            at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
            near = slice(max(0, at - 150), at + 150)
            return f"{key}: {one[near].decode(errors='replace')!r} / {other[near].decode(errors='replace')!r}"
    return "status"


readers_keys: dict[int, str] = {}


def in_world(w: World, answers: list[Answer], act: Any) -> Any:
    """``act()`` after these answers; then everything is as before."""
    with transaction.atomic():
        for number, (who, label, direction, reason) in enumerate(answers):
            someone = w.annotators[who]
            slot = w.item().slots.filter(annotator=someone).first() or claimed(w.round, someone)
            judging.submit(
                id=IDS[number], slot=slot, person=someone, label=label, direction=direction,
                reason=reason, now=NOW + timedelta(seconds=number),
            )  # fmt: skip
        result = act()
        transaction.set_rollback(True)
    return result


A_COPY: Answer = (0, "copy", "", "甲以为相同")
A_TEMPLATE: Answer = (0, "template", "", "只是格式一样，内容完全两样")
A_REVISION: Answer = (0, "revision", "left_first", "")
B_COPY: Answer = (1, "copy", "", "")
B_TEMPLATE: Answer = (1, "template", "", "")
B_CITATION: Answer = (1, "citation", "", "乙引用")
B_REVERSED: Answer = (1, "revision", "right_first", "")
B_UNSURE: Answer = (1, "undecided", "", "看不出")


@pytest.mark.parametrize(
    ("one", "other", "readers"),
    [
        # The first answer is in: what it says must not show, to the second annotator least of all.
        ([A_COPY], [A_TEMPLATE], "b c r admin auditor stranger"),
        # In conflict: neither what nor which kind, to anybody but the authors.
        ([A_COPY, B_TEMPLATE], [A_TEMPLATE, B_CITATION], "c r admin auditor stranger"),
        ([A_COPY, B_TEMPLATE], [A_REVISION, B_REVERSED], "c r admin auditor stranger"),
        ([A_COPY, B_TEMPLATE], [A_COPY, B_UNSURE], "a c r admin auditor stranger"),
        ([A_COPY, B_TEMPLATE], [A_COPY, B_CITATION], "a"),
        # That somebody else has answered, and otherwise, is no news for the first one either.
        ([A_COPY], [A_COPY, B_TEMPLATE], "a c stranger"),
    ],
    ids=["first", "labels", "direction", "undecided", "author", "whether"],
)
def test_what_others_answered_changes_no_byte(one, other, readers, data_dir):
    w = world(2, annotators=3)
    everybody = dict(zip("abc", w.annotators, strict=True)) | {
        "r": w.arbitrators[0],
        "admin": w.admin,
        "auditor": person("auditor-b", Role.AUDITOR),
        "stranger": person("stranger-b"),
    }
    chosen = {name: everybody[name] for name in readers.split()}
    readers_keys.update({p.pk: tokens.issue(person=p) for p in chosen.values()})
    # Both hold their seats before the worlds part, so that leases do not differ.
    for someone in w.annotators[:2]:
        claimed(w.round, someone)
    urls = addresses(w)
    assert len(urls) > 40
    left = in_world(w, one, lambda: look(w, chosen, urls))
    right = in_world(w, other, lambda: look(w, chosen, urls))
    differing = [(key, left[key][0], right[key][0]) for key in left if left[key] != right[key]]
    assert differing == [], first_difference(left, right)
    # The comparison would be empty if nobody saw a page.
    assert sum(status == 200 for status, _body in left.values()) >= 5


def test_the_comparison_sees_what_may_be_seen(data_dir):
    """The author's own page differs, and so does everybody's once the pair is closed: the crawler is not blind itself."""
    w = world(2, annotators=3)
    a = w.annotators[0]
    readers_keys.update({p.pk: tokens.issue(person=p) for p in (a, w.admin)})
    for someone in w.annotators[:2]:
        claimed(w.round, someone)
    urls = [f"/items/{w.item().pk}/", f"/api/v1/items/{w.item().pk}"]
    own = [
        in_world(w, [answer], lambda: look(w, {"a": a}, urls)) for answer in (A_COPY, A_TEMPLATE)
    ]
    assert all(own[0][key] != own[1][key] for key in own[0])

    def closed(label: str):
        def act():
            arbitration.decide(
                id=IDS[7], item=w.item(), person=w.arbitrators[0], label=label, reason="裁定"
            )
            return look(w, {"admin": w.admin}, urls)

        return in_world(w, [A_COPY, B_TEMPLATE], act)

    both = closed("copy"), closed("template")
    assert all(both[0][key] != both[1][key] for key in both[0])


def _everything(item: Any, person: Person, **more: Any) -> Any:
    """The view without the question whether the pair is closed."""
    view = pair_view(item, person, **more)
    return replace(
        view,
        judgments=list(item.judgments.select_related("annotator", "slot")),
        outcome=outcome_of(item),
    )


GUARDS: dict[str, tuple[str, Any, str, list[Answer], list[Answer]]] = {
    # Offering a correction only while the pair is live: what this application itself once did.
    "correction": (
        "reviews.items._may_correct",
        lambda item, own, moment: bool(own) and item.state in ("open", "waiting"),
        "a", [A_COPY], [A_COPY, B_TEMPLATE],
    ),
    "state in the api": ("reviews.api.judgments.may", lambda *_: True, "a", [A_COPY], [A_COPY, B_TEMPLATE]),
    "all of a closed pair": ("reviews.views.items.pair_view", _everything, "c", [A_COPY], [A_TEMPLATE]),
    "conflicts": ("reviews.api.arbitration._arbitrates", lambda *_: True, "a", [A_COPY], [A_COPY, B_TEMPLATE]),
    "own history": (
        "reviews.judging.history_of",
        lambda person: Judgment.objects.select_related("item__round", "slot").order_by("-created_at", "-id"),
        "c", [A_COPY], [A_TEMPLATE],
    ),
}  # fmt: skip
"""What is taken away, what stands for it, who looks, and the two worlds that they could then tell apart."""


@pytest.mark.parametrize("guard", GUARDS)
def test_the_crawler_notices_when_a_guard_is_gone(data_dir, monkeypatch, guard):
    place, instead, who, one, other = GUARDS[guard]
    w = world(2, annotators=3)
    reader = w.admin if who == "admin" else w.annotators["abc".index(who)]
    readers_keys[reader.pk] = tokens.issue(person=reader)
    for someone in w.annotators[:2]:
        claimed(w.round, someone)
    item = w.item().pk
    urls = [
        f"/items/{item}/",
        f"/api/v1/items/{item}",
        f"/api/v1/rounds/{w.round.pk}/conflicts",
        "/judgments/",
    ]

    def both():
        return [in_world(w, a, lambda: look(w, {who: reader}, urls)) for a in (one, other)]

    left, right = both()
    assert left == right
    monkeypatch.setattr(place, instead)
    left, right = both()
    assert left != right
