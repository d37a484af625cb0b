"""The pair page: who may see it, what is on it, and what a form sent twice does."""

from __future__ import annotations

import json
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dedupreview.people.models import Person
from reviews import judging, queue
from reviews.items import is_swapped
from reviews.labels import REASON_CODES, ReasonCode
from reviews.models import Draft, Judgment, ReviewItem, ReviewSlot, SeatLapse
from tests.pair import texts
from tests.pair.desk import Desk, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Desk:
    more = (f"附件\n{texts.RULE}", f"附件\n{texts.REVISED}")
    return Desk([(texts.RULE, texts.REVISED), more])


def seat(desk: Desk, who: Person) -> ReviewSlot:
    slot = queue.claim(round=desk.round, person=who)
    assert isinstance(slot, ReviewSlot)
    return slot


def post(client: Client, slot: ReviewSlot, label: str, **fields: Any) -> Any:
    data = {"id": str(uuid.uuid4()), "slot": slot.pk, "label": label, "sides": "lr"} | fields
    return client.post(reverse("reviews:submit-judgment", args=[slot.item_id]), data)


def page_of(client: Client, item_id: int) -> str:
    response = client.get(reverse("reviews:item", args=[item_id]))
    assert response.status_code == 200
    return response.content.decode()


def test_claim_leads_to_the_pair_and_again_to_the_same(desk: Desk) -> None:
    client = signed_in(desk.annotators[0])
    first = client.post(reverse("reviews:claim-item", args=[desk.round.pk]))
    again = client.post(reverse("reviews:claim-item", args=[desk.round.pk]))
    back = client.get(reverse("reviews:claim-item", args=[desk.round.pk]))
    assert first["Location"] == again["Location"] == back["Location"]
    assert "第 1 对" in client.get(first["Location"]).content.decode()


def test_get_claims_nothing(desk: Desk) -> None:
    client = signed_in(desk.annotators[0])
    assert client.get(reverse("reviews:claim-item", args=[desk.round.pk])).status_code == 200
    assert not ReviewSlot.objects.filter(state="claimed").exists()


def test_strangers_and_the_unseated_get_404(desk: Desk) -> None:
    url = reverse("reviews:item", args=[desk.item().pk])
    assert signed_in(desk.stranger).get(url).status_code == 404
    assert signed_in(desk.annotators[0]).get(url).status_code == 404
    assert Client().get(url).status_code == 302
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.stranger)
    assert post(client, slot, "copy").status_code == 404
    for name in ("release-seat", "renew-seat"):
        assert client.post(reverse(f"reviews:{name}", args=[slot.pk])).status_code == 404
    for name in ("original-text", "original-file"):
        assert (
            client.get(reverse(f"reviews:{name}", args=[slot.item_id, "left"])).status_code == 404
        )
    assert not Judgment.objects.exists()


def test_page_shows_both_whole_texts_facts_and_no_score(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    html = page_of(signed_in(desk.annotators[0]), slot.item_id)
    for raw, side in ((slot.item.pair.left.raw, "l"), (slot.item.pair.right.raw, "r")):
        cells = re.findall(rf'data-d="{side}" data-s="\d+"[^>]*>(.*?)</div>', html, re.DOTALL)
        shown = "".join(re.sub(r"<[^>]+>", "", cell) for cell in cells)
        assert shown == raw.replace("\n", "")
    assert "1500元" in html
    assert "频次" in html
    for hidden in ("0.8125", "0.8281", "minhash"):
        assert hidden not in html


def test_scores_are_shown_only_where_the_round_says_so() -> None:
    desk = Desk([(texts.RULE, texts.REVISED)], show_scores=True)
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    assert "0.812" in page_of(client, slot.item_id)
    post(client, slot, "copy")
    assert Judgment.objects.get().shown["scores"] is True


def test_sides_are_by_chance_and_answers_name_the_texts_themselves() -> None:
    pairs = [(texts.RULE, texts.REVISED)] * 12
    desk = Desk([(f"{n}\n{a}", f"{n}\n{b}") for n, (a, b) in enumerate(pairs)])
    client = signed_in(desk.annotators[0])
    seen = set()
    for item in desk.round.items.all():
        slot = item.slots.first()
        assert slot is not None
        moment = timezone.now() + timedelta(minutes=30)
        ReviewSlot.objects.filter(pk=slot.pk).update(
            state="claimed", annotator=desk.annotators[0], lease_expires_at=moment
        )
        html = page_of(client, item.pk)
        swapped = is_swapped(item, desk.annotators[0])
        seen.add(swapped)
        left = re.search(r'name="direction" data-side="left" value="(\w+)"', html)
        kept = re.search(r'name="kept" data-side="left" value="(\d+)"', html)
        assert left
        assert kept
        assert left[1] == ("right_first" if swapped else "left_first")
        shown_left = item.pair.right if swapped else item.pair.left
        assert kept[1] == str(shown_left.pk)
        assert html.index(f'data-d="{"r" if swapped else "l"}"') < html.index(
            f'data-d="{"l" if swapped else "r"}"'
        )
    assert seen == {True, False}


def test_judgment_is_stored_with_what_was_shown(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    evidence = [{"side": "left", "start": 3, "end": 9, "text": "区图书馆夜"}, {"side": "up"}, 7]
    response = post(
        client, slot, "revision", direction="left_first", kept=str(slot.item.pair.left.pk),
        reason_code="same_text", evidence=json.dumps(evidence), sides="rl", swapped="1",
        checked=["date"], active_ms="4200",
    )  # fmt: skip
    assert response.status_code == 302
    stored = Judgment.objects.get()
    assert (stored.label, stored.direction, stored.kept_id) == ("revision", "left_first", None)
    # A code of another label is what a browser without scripts sends; the label's own preset stands in.
    assert stored.reason_code == "facts_changed"
    assert stored.evidence == evidence[:1]
    assert stored.shown["side_order"] == "right_left"
    assert stored.shown["swapped"] == 1
    assert stored.shown["scores"] is False
    assert stored.shown["diff"]
    assert stored.checklist["date"] == "checked"
    assert stored.checklist["number"] == "flagged"
    assert stored.checklist["conclusion"] == "unchanged"
    assert stored.active_ms == 4200


def test_same_form_twice_is_one_judgment_and_one_next_pair(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    key = str(uuid.uuid4())
    first = post(client, slot, "copy", id=key)
    second = post(client, slot, "copy", id=key)
    assert Judgment.objects.count() == 1
    assert first.url == second.url
    assert first.url != reverse("reviews:item", args=[slot.item_id])


def test_script_gets_the_next_address_and_refusals_as_json(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    url = reverse("reviews:submit-judgment", args=[slot.item_id])
    asks = {"X-Requested-With": "fetch"}
    bad = client.post(
        url, {"id": str(uuid.uuid4()), "slot": slot.pk, "label": "undecided"}, headers=asks
    )
    assert bad.status_code == 400
    assert bad.json()["code"] == "reason"
    assert "理由" in bad.json()["detail"]
    good = client.post(
        url,
        {"id": str(uuid.uuid4()), "slot": slot.pk, "label": "undecided", "reason": "太短"},
        headers=asks,
    )
    assert good.json()["status"] == "created"
    assert good.json()["next"].startswith("/items/")


def test_refused_form_comes_back_with_everything_typed(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    response = post(client, slot, "", reason="写了很久的理由")
    assert response.status_code == 400
    assert "写了很久的理由" in response.content.decode()
    assert post(client, slot, "copy", id="none").status_code == 400
    assert not Judgment.objects.exists()


def test_lapsed_seat_is_told_plainly_and_the_answer_kept(desk: Desk) -> None:
    one, two = desk.annotators
    slot = seat(desk, one)
    ReviewSlot.objects.filter(pk=slot.pk).update(
        lease_expires_at=timezone.now() - timedelta(minutes=1)
    )
    # Both other seats of the pair are gone before the late answer comes.
    ReviewSlot.objects.filter(item=slot.item).exclude(pk=slot.pk).delete()
    taken = queue.claim(round=desk.round, person=two)
    assert isinstance(taken, ReviewSlot)
    assert taken.pk == slot.pk
    assert SeatLapse.objects.filter(person=one).exists()
    client = signed_in(one)
    assert "席位已到期" in page_of(client, slot.item_id)
    response = client.post(
        reverse("reviews:submit-judgment", args=[slot.item_id]),
        {"id": str(uuid.uuid4()), "slot": slot.pk, "label": "copy"},
        follow=True,
    )
    assert "作为补充保留" in response.content.decode()
    stored = Judgment.objects.get()
    assert stored.counted is False
    assert "补充，不计入" in page_of(client, slot.item_id)


def test_later_and_recuse(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    url = reverse("reviews:release-seat", args=[slot.pk])
    assert client.post(url, {"how": "sideways"}).status_code == 400
    moved = client.post(url, {"how": "later"})
    assert moved["Location"] != reverse("reviews:item", args=[slot.item_id])
    second = seat(desk, desk.annotators[0])
    back = client.post(
        reverse("reviews:release-seat", args=[second.pk]), {"how": "recuse"}, follow=True
    )
    assert "你先前放到稍后" in back.content.decode()


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("all_done", "全部完成"),
        ("taken", "由他人占用"),
        ("not_eligible", "不参加本轮"),
        ("set_aside", "已回避"),
        ("closed", "未开放"),
    ],
)
def test_each_reason_for_nothing_has_its_own_words(desk: Desk, why: str, words: str) -> None:
    client = signed_in(desk.annotators[0])
    response = client.get(reverse("reviews:nothing", args=[desk.round.pk, why]))
    assert words in response.content.decode()


def test_taken_names_the_time(desk: Desk) -> None:
    one, two = desk.annotators
    ReviewSlot.objects.exclude(item=desk.item(), number=1).delete()
    slot = seat(desk, one)
    client = signed_in(two)
    response = client.post(reverse("reviews:claim-item", args=[desk.round.pk]), follow=True)
    assert slot.lease_expires_at is not None
    at = timezone.localtime(slot.lease_expires_at).strftime("%H:%M")
    assert f"最早 {at} 空出" in response.content.decode()


def test_renew_extends_and_refuses_when_lost(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    url = reverse("reviews:renew-seat", args=[slot.pk])
    assert "lease_expires_at" in client.post(url).json()
    ReviewSlot.objects.filter(pk=slot.pk).update(annotator=desk.annotators[1])
    assert client.post(url).status_code == 409


def test_draft_is_kept_and_goes_with_the_judgment(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    url = reverse("reviews:save-draft", args=[slot.item_id])
    assert (
        client.post(url, {"data": json.dumps({"reason": "写到一半", "at": 1})}).status_code == 200
    )
    assert client.post(url, {"data": "[1]"}).status_code == 400
    assert client.post(url, {"data": "{"}).status_code == 400
    assert "写到一半" in page_of(client, slot.item_id)
    assert signed_in(desk.annotators[1]).post(url, {"data": "{}"}).status_code == 409
    post(client, slot, "copy")
    assert not Draft.objects.exists()


def test_correction_within_grace_is_a_new_version(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    post(client, slot, "copy", reason="第一次")
    html = page_of(client, slot.item_id)
    assert "第一次" in html
    assert "提交更正" in html
    corrected = post(client, slot, "revision", direction="left_first")
    assert corrected.url == reverse("reviews:my-judgments")
    assert [j.version for j in Judgment.objects.order_by("version")] == [1, 2]
    later = timezone.now() + timedelta(minutes=desk.round.grace_minutes + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timezone, "now", lambda: later)
        assert "提交更正" not in page_of(client, slot.item_id)
        assert post(client, slot, "copy").status_code == 400


def test_a_correction_starts_with_the_ticks_that_stand(desk: Desk) -> None:
    client = signed_in(desk.annotators[0])
    slot = seat(desk, desk.annotators[0])
    assert 'value="date" form="judge" data-name="日期">' in page_of(client, slot.item_id)
    post(client, slot, "copy", checked=["date"])
    html = page_of(client, slot.item_id)
    assert 'value="date" form="judge" data-name="日期" checked>' in html
    assert 'value="number" form="judge" data-name="数字">' in html
    refused = post(client, slot, "undecided", checked=["number"]).content.decode()
    assert 'value="number" form="judge" data-name="数字" checked>' in refused


def test_history_names_the_reason_chosen(desk: Desk) -> None:
    one = desk.annotators[0]
    code = REASON_CODES["copy"][1]
    post(signed_in(one), seat(desk, one), "copy", reason_code=code)
    html = signed_in(one).get(reverse("reviews:my-judgments")).content.decode()
    assert f">{ReasonCode(code).label}<" in html


def test_history_is_one_s_own(desk: Desk) -> None:
    one, two = desk.annotators
    post(signed_in(one), seat(desk, one), "copy", reason="我的话")
    post(signed_in(two), seat(desk, two), "template", reason="别人的话")
    html = signed_in(one).get(reverse("reviews:my-judgments")).content.decode()
    assert "我的话" in html
    assert "别人的话" not in html
    assert "有分歧" not in html


def test_original_text_and_file(desk: Desk, data_dir: object) -> None:
    from tests.pair.desk import document

    stored = document(desk.collection, "kept", "存下的原文", stored=True)
    item = desk.item()
    item.pair.low.source_file = stored.source_file
    item.pair.low.save()
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    text = client.get(reverse("reviews:original-text", args=[slot.item_id, "left"]))
    assert "夜间开放补助标准为每馆每月1500元" in text.content.decode()
    folded = client.get(text.request["PATH_INFO"] + "?form=normalized").content.decode()
    assert "夜间开放补助标准为每馆每月1500元由区财政承担" in folded
    file = client.get(reverse("reviews:original-file", args=[slot.item_id, "left"]))
    assert b"".join(file) == "存下的原文".encode()
    assert file["Content-Disposition"].startswith("attachment")
    missing = client.get(reverse("reviews:original-file", args=[slot.item_id, "right"]))
    assert missing.status_code == 404


def test_hostile_text_is_text() -> None:
    desk = Desk([(texts.HOSTILE_A, texts.HOSTILE_B)], meta=({"title": "<b>题</b>\u202e"}, {}))
    slot = seat(desk, desk.annotators[0])
    html = page_of(signed_in(desk.annotators[0]), slot.item_id)
    assert "<script>window" not in html
    assert "<img src=x" not in html
    assert "&lt;script&gt;" in html
    assert "<b>题" not in html
    assert not re.search("[\u200b\u202e\u202c\ufeff]", html)
    assert html.count('data-c="RLO"') >= 2
    assert 'data-c="ZWSP"' in html
    assert "收入&lt;<mark" in html


def test_each_reader_gets_their_own_language(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    for language, word, other in (
        ("zh-hans", "左先右后", "then right"),
        ("en", "then right", "左先右后"),
    ):
        client.cookies["dedupreview_language"] = language
        html = page_of(client, slot.item_id)
        assert word in html
        assert other not in html
        assert f'data-a="{"左" if language == "zh-hans" else "left"}"' in html


def test_page_has_no_inline_style_or_handler(desk: Desk) -> None:
    slot = seat(desk, desk.annotators[0])
    html = page_of(signed_in(desk.annotators[0]), slot.item_id)
    assert not re.search(r"<[^>]+\sstyle=", html)
    assert not re.search(r"<[^>]+\son\w+=", html)
    assert "<style" not in html
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", html))


def test_number_of_queries_does_not_grow_with_the_round(
    desk: Desk, django_assert_max_num_queries: Any
) -> None:
    slot = seat(desk, desk.annotators[0])
    client = signed_in(desk.annotators[0])
    page_of(client, slot.item_id)
    with django_assert_max_num_queries(22):
        page_of(client, slot.item_id)


@pytest.mark.parametrize("state", ["open", "conflict", "closed"])
def test_nobody_reads_another_s_judgment_before_the_pair_is_closed(desk: Desk, state: str) -> None:
    """Every page of an item and every list, for every role: the other's words and label leave no trace in the bytes."""
    one, two = desk.annotators
    item = desk.item()
    first = seat(desk, one)
    assert first.item_id == item.pk
    judging.submit(
        id=uuid.uuid4(), slot=first, person=one, label="citation", reason="只有甲知道的理由",
    )  # fmt: skip
    if state != "open":
        label = "template" if state == "conflict" else "citation"
        judging.submit(id=uuid.uuid4(), slot=seat(desk, two), person=two, label=label)
    else:
        seat(desk, two)
    item.refresh_from_db()
    assert item.state == {"open": "waiting"}.get(state, state)
    people = [two, desk.arbitrators[0], desk.admin, desk.auditor, desk.stranger]
    names = ["item", "arbitrate", "decided-meanwhile"]
    urls = [reverse(f"reviews:{name}", args=[item.pk]) for name in names]
    urls += [reverse("reviews:my-judgments"), reverse("home")]
    urls += [
        reverse(f"reviews:{name}", args=[desk.round.pk]) for name in ("claim-item", "conflict-list")
    ]
    urls += [reverse("reviews:nothing", args=[desk.round.pk, "taken"])]
    found = False
    for person in people:
        client = signed_in(person)
        for url in urls:
            response = client.get(url, follow=True)
            body = b"".join(response) if response.streaming else response.content
            text = body.decode()
            if "只有甲知道的理由" in text or one.code in text or "判断不同" in text:
                found = True
                assert state == "closed", (person.username, url)
                assert person != desk.stranger
    assert found == (state == "closed")


def test_closed_pair_shows_everything_to_those_who_judged(desk: Desk) -> None:
    one, two = desk.annotators
    for person in (one, two):
        judging.submit(
            id=uuid.uuid4(),
            slot=seat(desk, person),
            person=person,
            label="citation",
            reason="同一句话",
        )
    item = ReviewItem.objects.get(pk=desk.item().pk)
    assert item.state == "closed"
    html = page_of(signed_in(one), item.pk)
    assert html.count("同一句话") == 2
    assert "判断一致" in html
    assert 'id="judge"' not in html
