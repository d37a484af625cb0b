"""Known answers, calibration, deadlines, questions and changes of people in mid-round."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.urls import reverse

from dedupreview.people.models import Role
from reviews import members, quality, questions, queue, rounds
from reviews.decided import decided
from reviews.models import GoldItem, LabelRow, LabelSet, Question, ReviewRound, SeatLapse
from reviews.quality import Quality
from reviews.selection import Selection, choose
from tests.reviews.test_blindness import VARIES
from tests.reviews.world import claimed, collection, documents, finished_run, judge, person, world

pytestmark = pytest.mark.django_db


class Known:
    """Six pairs in a run, of which a label set knows ``labels`` for the first ones."""

    def __init__(self, labels=("copy", "template", "not_copy")):
        self.owner = collection()
        texts = documents(self.owner, 12)
        self.run = finished_run(self.owner, list(zip(texts[::2], texts[1::2], strict=True)))
        self.pairs = [c.pair for c in self.run.candidates.order_by("rank")]
        self.set = LabelSet.objects.create(
            collection=self.owner, name="外部", filename="x.csv", sha256="0" * 64
        )
        for line, label in enumerate(labels, 1):
            LabelRow.objects.create(
                label_set=self.set, pair=self.pairs[line - 1], label=label,
                label_as_written=label, line=line,
            )  # fmt: skip
        self.people = [person("k1"), person("k2")]
        self.arbitrator = person("k-r", Role.ARBITRATOR)
        self.admin = person("k-admin", Role.ADMIN)

    def open(self, **extra):
        return rounds.open_round(
            run=self.run, name="轮", annotators=self.people, arbitrators=[self.arbitrator], **extra
        )


def test_known_pairs_are_hidden_among_the_others():
    k = Known()
    opened = k.open(quality=Quality(gold=k.set, hidden=2))
    assert opened.items.count() == 6
    assert GoldItem.objects.filter(item__round=opened).count() == 2
    # Drawn with the round's seed: the same again.
    again = k.open(quality=Quality(gold=k.set, hidden=2))
    first, second = (
        set(r.items.filter(gold__isnull=False).values_list("pair", flat=True))
        for r in (opened, again)
    )
    assert first == second


def test_known_pairs_come_in_even_where_the_selection_leaves_them_out():
    k = Known(("copy",))
    opened = k.open(
        selection=Selection(suggestions=("nothing-like-it",)), quality=Quality(gold=k.set)
    )
    assert [item.pair_id for item in opened.items.all()] == [k.pairs[0].pk]


def test_a_set_without_a_pair_of_the_run_is_refused():
    k = Known()
    other = LabelSet.objects.create(collection=k.owner, name="空", filename="y", sha256="1" * 64)
    with pytest.raises(quality.QualityError) as error:
        k.open(quality=Quality(gold=other))
    assert error.value.code == "gold"
    assert ReviewRound.objects.count() == 0


def test_what_a_set_says_in_two_ways_is_no_known_answer():
    k = Known(("copy",))
    LabelRow.objects.create(
        label_set=k.set, pair=k.pairs[0], label="template", label_as_written="x", line=9
    )
    with pytest.raises(quality.QualityError):
        k.open(quality=Quality(gold=k.set))


def test_no_page_or_answer_of_an_annotator_differs_for_a_known_pair(client):
    k = Known(("copy",))
    opened = k.open(quality=Quality(gold=k.set))
    client.force_login(k.people[0])
    slot = claimed(opened, k.people[0])
    addresses = ["/", f"/items/{slot.item_id}/", f"/rounds/{opened.pk}/guideline/", "/judgments/"]

    def read():
        # The clock of the lease ticks; what else varies from reading to reading is known to the crawler.
        with time_machine.travel(slot.claimed_at, tick=False):
            return [VARIES.sub(b"", client.get(address).content) for address in addresses]

    known = read()
    GoldItem.objects.all().delete()
    assert read() == known
    assert client.get(reverse("reviews:gold-results", args=[opened.pk])).status_code == 404


def test_results_are_for_admins_after_closing(client):
    k = Known()
    opened = k.open(quality=Quality(gold=k.set))
    answers = {k.pairs[0].pk: "copy", k.pairs[1].pk: "independent", k.pairs[2].pk: "independent"}
    for someone in k.people:
        for _ in range(6):
            slot = claimed(opened, someone)
            judge(opened, someone, answers.get(slot.item.pair_id, "copy"))
    with pytest.raises(quality.QualityError):
        quality.results(opened)
    client.force_login(k.admin)
    address = reverse("reviews:gold-results", args=[opened.pk])
    assert "k1" not in client.get(address).content.decode().split("<main", 1)[1]
    opened = rounds.set_state(round=opened, state="closed")
    scores = [score for _member, score in quality.results(opened)]
    assert [(s.right, s.answered, s.known, s.percent) for s in scores] == [(2, 3, 3, 66)] * 2
    assert "66" in client.get(address).content.decode()


def test_a_practice_round_asks_known_pairs_of_everybody_and_opens_the_real_one():
    k = Known(("copy", "template", "independent"))
    practice = k.open(quality=Quality(gold=k.set, pass_mark=66))
    assert practice.items.count() == 3
    assert practice.judgments_per_item == 2
    real = k.open(quality=Quality(calibration=practice))
    assert queue.claim(round=real, person=k.people[0]) == queue.Nothing("not_calibrated")
    known = {k.pairs[0].pk: "copy", k.pairs[1].pk: "template", k.pairs[2].pk: "template"}
    for n in range(3):
        assert queue.claim(round=real, person=k.people[0]) == queue.Nothing("not_calibrated"), n
        slot = claimed(practice, k.people[0])
        judge(practice, k.people[0], known[slot.item.pair_id])
    claimed(real, k.people[0])
    for _ in range(3):
        judge(practice, k.people[1], "citation")
    assert queue.claim(round=real, person=k.people[1]) == queue.Nothing("not_calibrated")


def test_practice_decides_nothing_about_pairs():
    k = Known(("copy",))
    practice = k.open(quality=Quality(gold=k.set, pass_mark=100))
    for someone in k.people:
        judge(practice, someone, "copy")
    assert practice.items.get().state == "closed"
    assert decided(k.owner) == []
    assert len(choose(k.run, Selection()).pairs) == 6


@pytest.mark.parametrize(
    ("made", "code"),
    [({"pass_mark": 80}, "gold"), ({"pass_mark": 0, "gold": True}, "pass_mark"),
     ({"pass_mark": 101, "gold": True}, "pass_mark")],
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused(made, code):
    k = Known()
    if made.pop("gold", False):
        made["gold"] = k.set
    with pytest.raises(quality.QualityError) as error:
        k.open(quality=Quality(**made))
    assert error.value.code == code


def test_after_the_deadline_no_seat_is_given_but_a_held_one_counts():
    k = Known()
    end = datetime(2031, 1, 1, tzinfo=UTC)
    opened = k.open(quality=Quality(deadline=end))
    before, after = end - timedelta(minutes=1), end + timedelta(minutes=1)
    held = claimed(opened, k.people[0], now=before)
    assert claimed(opened, k.people[0], now=after).pk == held.pk
    assert judge(opened, k.people[0], "copy", now=after).status == "created"
    assert queue.claim(round=opened, person=k.people[0], now=after) == queue.Nothing("overdue")
    assert queue.claim(round=opened, person=k.people[1], now=end) == queue.Nothing("overdue")


# --- Questions --------------------------------------------------------------------------------------------------------


def test_a_question_is_its_authors_and_its_answer_everybodys(client):
    w = world(1)
    asker, other = w.annotators[:2]
    words = "我觉得是副本，对吗？"
    client.force_login(asker)
    address = reverse("reviews:ask", args=[w.item().pk])
    claimed(w.round, asker)
    assert client.post(address, {"text": words}).status_code == 302
    client.post(address, {"text": words})
    question = Question.objects.get()
    for someone in (other, w.arbitrators[0]):
        client.force_login(someone)
        assert words not in client.get(address).content.decode()
        assert client.get(reverse("reviews:question-list", args=[w.round.pk])).status_code == 404
    client.force_login(w.admin)
    assert words in client.get(reverse("reviews:question-list", args=[w.round.pk])).content.decode()
    reply = "只有版式不同的，算副本。"
    client.post(reverse("reviews:answer-question", args=[question.pk]), {"answer": reply})
    w.round.refresh_from_db()
    assert w.round.guideline_version == 2
    client.force_login(other)
    guideline = client.get(reverse("reviews:guideline", args=[w.round.pk])).content.decode()
    assert reply in guideline
    assert words not in guideline
    assert asker.code not in guideline.split("<main", 1)[1]


def test_a_question_is_answered_once_and_answers_gather_under_one_heading():
    w = world(1)
    asked = [questions.ask(item=w.item(), person=w.annotators[0], text=t) for t in ("甲？", "乙？")]
    for one in asked:
        questions.answer(question=one, text=f"答{one.text}", actor=w.admin)
    with pytest.raises(questions.QuestionError) as error:
        questions.answer(question=asked[0], text="再答", actor=w.admin)
    assert error.value.code == "answered"
    text = w.round.guidelines.get(number=3).text
    assert text.count(questions.HEADING) == 1
    assert text.endswith("- 答甲？\n- 答乙？")


def test_strangers_and_empty_words_are_refused(client):
    w = world(1)
    with pytest.raises(questions.QuestionError):
        questions.ask(item=w.item(), person=person("nobody"), text="？")
    with pytest.raises(questions.QuestionError):
        questions.ask(item=w.item(), person=w.annotators[0], text="  ")
    client.force_login(person("nobody2"))
    assert client.get(reverse("reviews:ask", args=[w.item().pk])).status_code == 404


# --- People in mid-round ----------------------------------------------------------------------------------------------


def test_a_person_is_replaced_and_what_they_judged_stays(client):
    w = world(2, annotators=2)
    leaver, stayer, newcomer = *w.annotators, person("new")
    judge(w.round, leaver, "copy")
    held = claimed(w.round, leaver)
    client.force_login(w.admin)
    address = reverse("reviews:round-people", args=[w.round.pk])
    client.post(address, {"act": "replace", "person": leaver.pk, "by": newcomer.pk})
    assert SeatLapse.objects.filter(slot=held, person=leaver).exists()
    assert w.item(1).judgments.get().annotator == leaver
    for someone in (stayer, newcomer):
        while not isinstance(queue.claim(round=w.round, person=someone), queue.Nothing):
            judge(w.round, someone, "copy")
    assert {item.state for item in w.items} == {"closed"}
    assert w.item(1).judgments.count() == 2


def test_replacing_by_somebody_who_cannot_is_refused_whole():
    w = world(1)
    with pytest.raises(rounds.RoundError):
        members.replace_member(round=w.round, person=w.annotators[0], by=w.arbitrators[0])
    assert w.round.members.get(person=w.annotators[0]).active


def test_quota_and_keeping_away_are_set_on_the_page(client):
    w = world(3)
    client.force_login(w.admin)
    address = reverse("reviews:round-people", args=[w.round.pk])
    who = w.annotators[0]
    client.post(address, {"act": "quota", "person": who.pk, "quota": "1"})
    text = w.item(1).pair.low.doc_id
    client.post(address, {"act": "keep_away", "person": who.pk, "document": text})
    assert claimed(w.round, who).item_id != w.item(1).pk
    judge(w.round, who, "copy")
    assert queue.claim(round=w.round, person=who) == queue.Nothing("all_done")
    client.post(address, {"act": "quota", "person": who.pk, "quota": ""})
    claimed(w.round, who)
    unknown = client.post(
        address, {"act": "keep_away", "person": who.pk, "document": "?"}, follow=True
    )
    assert "doc_id" in unknown.content.decode()
    assert client.post(address, {"act": "x", "person": who.pk}).status_code == 404
