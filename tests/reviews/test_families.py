"""Relations of a collection as stored: from closed items only, asked again only by request, signed with a password."""

from __future__ import annotations

from itertools import combinations

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from dedupreview import insert_only
from dedupreview.digests import digest
from dedupreview.people.models import Role
from reviews import arbitration, families, rounds
from reviews.decided import decided
from reviews.models import Judgment, MergedEntry, ReviewItem
from reviews.selection import Selection, choose
from tests.reviews.world import (
    collection,
    documents,
    finished_run,
    judge,
    new_id,
    person,
    world,
)

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"


class Triangle:
    """Three texts a, b, c and their three pairs in a round of two annotators."""

    def __init__(self, labels=("copy", "copy", "template")):
        self.owner = collection()
        self.texts = documents(self.owner, 3)
        a, b, c = self.texts
        self.run = finished_run(self.owner, [(a, b), (b, c), (a, c)])
        self.people = [person("t1"), person("t2")]
        self.arbitrator = person("t-r", Role.ARBITRATOR)
        self.admin = person("t-admin", Role.ADMIN)
        self.admin.set_password(PASSWORD)
        self.admin.save()
        self.round = rounds.open_round(
            run=self.run, name="一", annotators=self.people, arbitrators=[self.arbitrator]
        )
        of = {
            frozenset(pair): label
            for pair, label in zip([(a.pk, b.pk), (b.pk, c.pk), (a.pk, c.pk)], labels, strict=True)
        }
        for someone in self.people:
            for item in self.round.items.order_by("position"):
                label = of[frozenset((item.pair.low_id, item.pair.high_id))]
                if label:
                    extra = {"direction": "left_first"} if label == "revision" else {}
                    judge(self.round, someone, label, **extra)


def test_only_closed_items_say_anything():
    t = Triangle(("copy", "copy", None))
    assert sorted(one.label for one in decided(t.owner)) == ["copy", "copy"]
    judge(t.round, t.people[0], "template")
    assert len(decided(t.owner)) == 2
    judge(t.round, t.people[1], "template")
    assert len(decided(t.owner)) == 3


def test_the_direction_of_a_revision_becomes_a_lineage():
    t = Triangle(("revision", "revision", "revision"))
    a, b, c = (text.pk for text in t.texts)
    assert families.overview(t.owner).lineage.edges == ((a, b), (a, c), (b, c))


def test_of_two_rounds_the_later_conclusion_counts():
    w = world(1)
    for someone in w.annotators[:2]:
        judge(w.round, someone, "copy")
    again = rounds.open_round(
        run=w.run, name="二", annotators=w.annotators, arbitrators=w.arbitrators,
        selection=Selection(again=True),
    )  # fmt: skip
    for someone in w.annotators[:2]:
        judge(again, someone, "independent")
    assert [one.label for one in decided(w.round.collection)] == ["independent"]
    assert [one.label for one in decided(w.round.collection, round=w.round)] == ["copy"]


def test_a_contradiction_is_asked_again_only_by_people_who_saw_none_of_it():
    t = Triangle()
    (found,) = families.overview(t.owner).contradictions
    states = list(t.round.items.values_list("state", "revision"))
    with pytest.raises(families.FamiliesError) as error:
        families.ask_again(collection=t.owner, pair=found.pair, name="再问", actor=t.admin)
    assert error.value.code == "nobody_left"
    fresh, judge_of_it = [person("n1"), person("n2")], person("n-r", Role.ARBITRATOR)
    opened = families.ask_again(collection=t.owner, pair=found.pair, name="再问", actor=t.admin)
    members = {member.person for member in opened.members.all()}
    # The old arbitrator had nothing to decide about these pairs, so saw none of them.
    assert members == {*fresh, judge_of_it, t.arbitrator}
    assert opened.items.count() == 3
    assert list(t.round.items.values_list("state", "revision")) == states
    for someone in fresh:
        for _ in range(3):
            judge(opened, someone, "copy")
    assert families.overview(t.owner).contradictions == ()
    with pytest.raises(families.FamiliesError) as error:
        families.ask_again(collection=t.owner, pair=found.pair, name="再问", actor=t.admin)
    assert error.value.code == "no_contradiction"


def test_an_arbitrator_of_one_of_the_pairs_has_seen_it():
    t = Triangle(("copy", "copy", None))
    judge(t.round, t.people[0], "copy")
    judge(t.round, t.people[1], "template")
    item = ReviewItem.objects.get(round=t.round, state=ReviewItem.State.CONFLICT)
    arbitration.decide(id=new_id(), item=item, person=t.arbitrator, label="template", reason="不同")
    person("n1"), person("n2")
    _annotators, arbitrators = families.people_left([item.pair_id])
    assert t.arbitrator not in arbitrators


def test_an_entry_is_signed_with_the_password_and_touches_nothing():
    t = Triangle(("copy", "copy", None))
    before = [(d.doc_id, d.raw, d.title) for d in t.texts]
    judgments = list(Judgment.objects.values())
    group = families.overview(t.owner).groups[0]
    proposal = families.proposal_for(group)
    sign = {
        "collection": t.owner,
        "document": group.members[1],
        "shown": families.proposal_digest(proposal),
        "person": t.admin,
    }
    with pytest.raises(families.FamiliesError) as error:
        families.sign_entry(**sign, password="wrong")
    assert error.value.code == "password"
    entry = families.sign_entry(**sign, password=PASSWORD)
    assert entry.members == [text.doc_id for text in t.texts]
    stored = MergedEntry.objects.get(pk=entry.pk)
    assert stored.digest == digest(families.entry_fields(stored))
    for text in t.texts:
        text.refresh_from_db()
    assert [(d.doc_id, d.raw, d.title) for d in t.texts] == before
    assert list(Judgment.objects.values()) == judgments
    assert insert_only.missing() == []
    with pytest.raises(DatabaseError), transaction.atomic():
        MergedEntry.objects.update(members=[])
    with pytest.raises(families.FamiliesError) as error:
        families.sign_entry(**{**sign, "shown": "0" * 64}, password=PASSWORD)
    assert error.value.code == "outdated"


def test_a_group_that_contradicts_itself_has_no_entry():
    t = Triangle()
    with pytest.raises(families.FamiliesError) as error:
        families.sign_entry(
            collection=t.owner, document=t.texts[0].pk, shown="", person=t.admin, password=PASSWORD
        )
    assert error.value.code == "disputed"


def test_wrong_passwords_are_counted():
    t = Triangle(("copy", "copy", None))
    for code in ["password"] * families.WRONG_PASSWORDS + ["locked"]:
        with pytest.raises(families.FamiliesError) as error:
            families.sign_entry(
                collection=t.owner, document=t.texts[0].pk, shown="", person=t.admin, password="x"
            )
        assert error.value.code == code


def test_a_round_of_the_fewest_pairs_asks_eleven_of_sixty_six():
    owner = collection()
    run = finished_run(owner, list(combinations(documents(owner, 12), 2)))
    choice = choose(run, Selection(fewest=True))
    assert len(choice.pairs) == 11
    assert choice.left_out["waits"] == 55
    assert len(choose(run, Selection()).pairs) == 66
    people = [person("p1"), person("p2")]
    opened = rounds.open_round(
        run=run, name="少", annotators=people, arbitrators=[person("p-r", Role.ARBITRATOR)],
        selection=Selection(fewest=True),
    )  # fmt: skip
    for someone in people:
        for _ in range(11):
            judge(opened, someone, "copy")
    assert choose(run, Selection(fewest=True)).pairs == []
    (group,) = families.overview(owner).groups
    assert (group.judged, group.pairs) == (11, 66)


def test_pairs_that_do_not_look_like_copies_are_all_asked():
    owner = collection()
    run = finished_run(owner, list(combinations(documents(owner, 4), 2)))
    run.candidates.filter(rank__lte=3).update(suggestion="template")
    assert len(choose(run, Selection(fewest=True)).pairs) >= 3 + 2


def test_the_pages_show_the_matrix_and_sign(client):
    t = Triangle(("copy", "copy", None))
    client.force_login(t.admin)
    page = client.get(reverse("reviews:relation-list", args=[t.owner.pk])).content.decode()
    assert "doc-001" in page
    address = reverse("reviews:group-detail", args=[t.owner.pk, t.texts[0].pk])
    group = client.get(address)
    assert group.content.decode().count('class="implied"') == 1
    sent = {"shown": group.context["digest"], "password": "wrong"}
    assert 'role="alert"' in client.post(address + "sign/", sent).content.decode()
    sent["password"] = PASSWORD
    assert client.post(address + "sign/", sent).status_code == 302
    assert MergedEntry.objects.count() == 1
    alone = reverse("reviews:group-detail", args=[t.owner.pk, 10**9])
    assert client.get(alone).status_code == 404


def test_the_page_opens_the_new_round(client):
    t = Triangle()
    client.force_login(t.admin)
    address = reverse("reviews:ask-again", args=[t.owner.pk])
    low, high = families.overview(t.owner).contradictions[0].pair
    refused = client.post(address, {"pair": f"{low}-{high}"})
    assert refused["Location"] == reverse("reviews:relation-list", args=[t.owner.pk])
    for name, role in (("n1", Role.ANNOTATOR), ("n2", Role.ANNOTATOR), ("nr", Role.ARBITRATOR)):
        person(name, role)
    opened = client.post(address, {"pair": f"{low}-{high}"})
    assert "/rounds/" in opened["Location"]
    assert client.post(address, {"pair": "x"}).status_code == 404
