"""Passages known from other documents: counted over the run, named within reach, on record when shown, silent about scores."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reviews import elsewhere, judging, queue, reading
from reviews.models import ReviewItem, ReviewSlot
from screening.models import Candidate, Document, DocumentPair
from tests.pair import texts
from tests.pair.desk import Desk, document, shared, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh() -> None:
    elsewhere._known.cache_clear()


def joined(desk: Desk, one: Document, other: Document, rank: int, jaccard: float = 0.1) -> None:
    """A candidate of the run between two documents, as screening would have found it."""
    pair = DocumentPair.objects.create(
        low=min(one, other, key=lambda d: d.pk), high=max(one, other, key=lambda d: d.pk)
    )
    Candidate.objects.create(
        run=desk.run, pair=pair, rank=rank, jaccard=jaccard, containment=0.2, channels=["passages"],
        suggestion="citation", representative=False, excerpts=shared(pair.left.raw, pair.right.raw),
    )  # fmt: skip


def quoting(desk: Desk, n: int) -> Document:
    return document(
        desk.collection,
        f"q-{n:02}",
        f"第{n}篇短讯另有内容：{texts.STATEMENT}又记{n}。",
        title=f"短讯{n}",
    )


def known_of(desk: Desk) -> tuple[elsewhere.Known, ...]:
    item = ReviewItem.objects.select_related("candidate", "pair__low", "pair__high").get(
        pk=desk.item().pk
    )
    return elsewhere.known_passages(item)[0]


def statement_on(desk: Desk, side: str) -> tuple[int, int]:
    raw = texts.REPORT_A if side == "left" else texts.REPORT_B
    start = raw.index(texts.STATEMENT)
    return start, start + len(texts.STATEMENT)


def test_a_quoted_statement_is_known_from_those_that_quote_it() -> None:
    desk = Desk([(texts.REPORT_A, texts.REPORT_B)])
    left, right = desk.item().pair.left, desk.item().pair.right
    for n in range(1, 4):
        third = quoting(desk, n)
        joined(desk, left, third, 10 + 2 * n)
        joined(desk, right, third, 11 + 2 * n)
    found = known_of(desk)
    assert [(k.side, k.start, k.end) for k in found] == [
        ("left", *statement_on(desk, "left")),
        ("right", *statement_on(desk, "right")),
    ]
    # Three, the text itself, and the other side, which the third ones also lead to.
    assert {k.documents for k in found} == {5}
    assert [s.title for s in found[0].sources] == ["短讯1", "短讯2", "短讯3"]


def test_a_passage_of_very_many_is_counted_past_the_one_they_are_joined_to() -> None:
    desk = Desk([(texts.REPORT_A, "完全是另一回事的一段话，与前文没有关系。")])
    left = desk.item().pair.left
    hub = quoting(desk, 1)
    joined(desk, left, hub, 10)
    for n in range(2, 32):
        joined(desk, hub, quoting(desk, n), 10 + n)
    (known,) = known_of(desk)
    assert known.documents == 32
    assert len(known.sources) == elsewhere.NAMED


def test_another_version_of_the_text_shades_nothing() -> None:
    desk = Desk([(texts.RULE, texts.REVISED)])
    third = document(desk.collection, "v-3", texts.RULE.replace("两人", "三人"))
    joined(desk, desk.item().pair.left, third, 9, jaccard=0.9)
    assert known_of(desk) == ()


def test_documents_of_other_collections_are_counted_and_not_named() -> None:
    from screening.models import Collection

    desk = Desk([(texts.REPORT_A, texts.REPORT_B)])
    other = Collection.objects.create(slug="zz", name="别库")
    third = document(other, "x", f"别库里的一篇。{texts.STATEMENT}", title="不可见的题名")
    joined(desk, desk.item().pair.left, third, 9)
    (known,) = known_of(desk)
    assert (known.documents, known.sources) == (2, ())
    queue.claim(round=desk.round, person=desk.annotators[0])
    page = signed_in(desk.annotators[0]).get(reverse("reviews:item", args=[desk.item().pk]))
    assert "不可见的题名" not in page.content.decode()


def test_the_hint_is_on_the_page_on_record_and_names_no_score() -> None:
    desk = Desk([(texts.REPORT_A, texts.REPORT_B)])
    joined(desk, desk.item().pair.left, quoting(desk, 1), 9)
    person = desk.annotators[0]
    slot = queue.claim(round=desk.round, person=person)
    assert isinstance(slot, ReviewSlot)
    client = signed_in(person)
    html = client.get(reverse("reviews:item", args=[slot.item_id])).content.decode()
    assert "data-known" in html
    assert "短讯1" in html
    for word in ("passages", 'citation" ', "0.1", "jaccard"):
        assert word not in html.split('<form class="judge"')[0]
    client.post(
        reverse("reviews:submit-judgment", args=[slot.item_id]),
        {"id": "3f0d6d7e-51a5-4d0e-8a39-0d4d3c3f3a11", "slot": slot.pk, "label": "citation", "source": " 短讯1 "},
    )  # fmt: skip
    judgment = judging.history_of(person).get()
    assert "elsewhere" in judgment.shown["hints"]
    assert judgment.evidence == [{"kind": "source", "text": "短讯1"}]
    again = client.get(reverse("reviews:item", args=[slot.item_id])).content.decode()
    assert 'name="source" maxlength="200" value="短讯1"' in again
    assert "短讯1</dd>" in again


def test_a_source_goes_only_with_the_labels_that_have_one() -> None:
    desk = Desk([(texts.REPORT_A, texts.REPORT_B)] * 1)
    person = desk.annotators[0]
    slot = queue.claim(round=desk.round, person=person)
    assert isinstance(slot, ReviewSlot)
    signed_in(person).post(
        reverse("reviews:submit-judgment", args=[slot.item_id]),
        {"id": "3f0d6d7e-51a5-4d0e-8a39-0d4d3c3f3a12", "slot": slot.pk, "label": "copy", "source": "某文"},
    )  # fmt: skip
    judgment = judging.history_of(person).get()
    assert judgment.evidence == []
    assert judgment.shown["hints"] == ["changes", "facts", "excerpts"]


def test_a_long_list_of_facts_says_what_it_leaves_out() -> None:
    left = "".join(f"第{n}户面积{n + 30}平方米，租金{n * 50 + 7}元。\n" for n in range(1, 70))
    right = "".join(f"第{n}户面积{n + 31}平方米，租金{n * 50 + 9}元。\n" for n in range(1, 70))
    desk = Desk([(left, right)])
    shown = reading.reading_of(desk.item(), sides="lr")
    assert len(shown.facts) == reading.FACTS_LISTED
    assert str(reading.FACTS_LISTED) in shown.notes[0]
    total = sum(check.count for check in shown.checks)
    assert total > reading.FACTS_LISTED


def test_what_was_not_compared_is_not_called_unchanged() -> None:
    changed = texts.RULE.replace("1500元", "1800元")
    assert changed != texts.RULE
    desk = Desk([(texts.RULE, changed)])
    candidate = desk.item().candidate
    kept = reading.reading_of(desk.item(), sides="lr")
    assert not kept.partly
    candidate.containment = 0.2
    candidate.save()
    slot = queue.claim(round=desk.round, person=desk.annotators[0])
    assert isinstance(slot, ReviewSlot)
    client = signed_in(desk.annotators[0])
    html = client.get(reverse("reviews:item", args=[slot.item_id])).content.decode()
    assert 'class="ok"' not in html
    assert len(reading.reading_of(desk.item(), sides="lr").notes) == len(kept.notes) + 1


def test_text_without_a_counterpart_takes_the_ticks_away() -> None:
    dated = texts.RULE + "\n二〇二五年三月一日发布。"
    desk = Desk([(texts.RULE, dated)])
    for sides in ("lr", "rl"):
        shown = reading.reading_of(desk.item(), sides=sides)
        assert shown.partly
        assert not any("share little" in note or "很少" in note for note in shown.notes)
    slot = queue.claim(round=desk.round, person=desk.annotators[0])
    assert isinstance(slot, ReviewSlot)
    client = signed_in(desk.annotators[0])
    html = client.get(reverse("reviews:item", args=[slot.item_id])).content.decode()
    assert 'class="ok"' not in html
