"""What must never happen, tried on purpose against the database itself."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from dedupreview.people.models import Person
from reviews import arbitration
from reviews.models import (
    Arbitration,
    Draft,
    GuidelineVersion,
    Judgment,
    LabelRow,
    LabelSet,
    Opinion,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    ReviewTable,
    RoundMember,
    SeatDecline,
    SeatLapse,
)
from screening.models import Candidate, Document, DocumentPair
from tests.reviews.world import claimed, documents, judge, new_id, world

pytestmark = pytest.mark.django_db


@pytest.fixture
def w():
    return world(2, annotators=4)


def refused(name: str, act) -> None:
    """``act`` must break the constraint of this name, and no other."""
    with pytest.raises(IntegrityError) as error, transaction.atomic():
        act()
    text = str(error.value)
    by_columns = {
        c.name: ", ".join(f"{m._meta.db_table}.{m._meta.get_field(f).column}" for f in c.fields)
        for m in models_under_test()
        for c in m._meta.constraints
        if isinstance(c, models.UniqueConstraint)
    }
    assert name in text or by_columns.get(name, "…") in text, (name, text)


def models_under_test():
    return (
        ReviewRound, GuidelineVersion, RoundMember, ReviewItem, ReviewSlot, SeatLapse, SeatDecline, Draft,
        Judgment, Opinion, Arbitration, LabelSet, LabelRow, ReviewTable, Person,
    )  # fmt: skip


def copy_of(row: models.Model, **changes):
    """Another row like ``row``."""
    fields = {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields}
    fields.pop(row._meta.pk.attname)
    if isinstance(row, (Judgment, Opinion, Arbitration)):
        fields["id"] = uuid.uuid4()
    return type(row)._default_manager.create(**{**fields, **changes})


def test_round(w):
    for number in (0, 10):
        refused("round_seats_1_to_9", lambda n=number: copy_of(w.round, judgments_per_item=n))
    refused("round_state_is_known", lambda: copy_of(w.round, state="lost"))
    refused("round_pass_mark_is_percent", lambda: copy_of(w.round, pass_mark=101))
    refused("guideline_number_once", lambda: copy_of(w.round.guidelines.get()))
    member = w.round.members.first()
    refused("round_member_once", lambda: copy_of(member, part="arbitrator"))
    refused("round_part_is_known", lambda: RoundMember.objects.update(part="judge"))


def test_item(w):
    item = w.item()
    refused("item_pair_once", lambda: copy_of(item, position=99))
    refused("item_position_once", lambda: copy_of(item, pair_id=w.item(2).pair_id, position=2))
    change = ReviewItem.objects.filter(pk=item.pk).update
    refused("item_state_is_known", lambda: change(state="lost"))
    now = timezone.now()
    wrong: dict[str, Any]
    for wrong in (
        {"state": "closed"},
        {"state": "closed", "closed_by": "agreement"},
        {"closed_by": "agreement"},
        {"closed_at": now},
    ):
        refused("item_closed_by_iff_closed", lambda wrong=wrong: change(**wrong))
    for wrong in (
        {"state": "conflict"},
        {"conflict": "label"},
        {"state": "closed", "closed_by": "agreement", "closed_at": now, "conflict": "label"},
        {"state": "closed", "closed_by": "arbitration", "closed_at": now},
    ):
        refused("item_conflict_iff_disputed", lambda wrong=wrong: change(**wrong))


def test_seat(w):
    a, b = w.annotators[:2]
    slot = claimed(w.round, a)
    other = slot.item.slots.exclude(pk=slot.pk).get()
    lease = {"lease_expires_at": timezone.now()}
    refused("slot_number_once", lambda: ReviewSlot.objects.create(item=slot.item, number=1))
    change = ReviewSlot.objects.filter(pk=other.pk).update
    refused("slot_annotator_once", lambda: change(state="claimed", annotator=a, **lease))
    for wrong in (
        {"state": "claimed", **lease},
        {"state": "filled"},
        {"annotator": b},
        {"state": "sold", "annotator": b},
    ):
        refused("slot_annotator_iff_taken", lambda wrong=wrong: change(**wrong))
    for wrong in (
        {"state": "claimed", "annotator": b},
        {"state": "filled", "annotator": b, **lease},
        lease,
    ):
        refused("slot_lease_iff_claimed", lambda wrong=wrong: change(**wrong))
    lapse = SeatLapse.objects.create(slot=slot, person=b, lapsed_at=timezone.now())
    refused("lapse_once", lambda: copy_of(lapse))
    decline = SeatDecline.objects.create(item=slot.item, person=b, how="later")
    refused("decline_once", lambda: copy_of(decline))
    refused("decline_how_is_known", lambda: copy_of(decline, how="never"))
    draft = Draft.objects.create(item=slot.item, person=b)
    refused("draft_once", lambda: copy_of(draft))


def test_judgment(w):
    a, b = w.annotators[:2]
    judgment = judge(w.round, a, "copy").judgment
    refused("one_counted_first_judgment_per_slot", lambda: copy_of(judgment, annotator_id=b.pk))
    other = judgment.item.slots.exclude(pk=judgment.slot_id).get()
    refused("counted_version_once", lambda: copy_of(judgment, slot_id=other.pk))
    wrong: dict[str, Any]
    for wrong in ({"version": 2}, {"version": 1, "supersedes_id": judgment.pk}):
        refused(
            "judgment_supersedes_iff_later_version",
            lambda wrong=wrong: copy_of(judgment, counted=False, **wrong),
        )
    refused("judgment_label_is_known", lambda: copy_of(judgment, counted=False, label="dup"))
    for wrong in (
        {"label": "revision"},
        {"label": "revision", "direction": "sideways"},
        {"direction": "left_first"},
    ):
        refused(
            "judgment_direction_iff_revision",
            lambda wrong=wrong: copy_of(judgment, counted=False, **wrong),
        )
    kept = judgment.item.pair.low_id
    refused(
        "judgment_kept_only_of_copy",
        lambda: copy_of(judgment, counted=False, label="template", kept_id=kept),
    )
    second = copy_of(judgment, version=2, supersedes_id=judgment.pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        copy_of(second, version=3)


def test_surplus_is_not_limited(w):
    judgment = judge(w.round, w.annotators[0], "copy").judgment
    copy_of(judgment, counted=False)
    copy_of(judgment, counted=False)
    assert Judgment.objects.count() == 3


def test_opinion_and_arbitration(w):
    a, b = w.annotators[:2]
    judge(w.round, a, "copy")
    judge(w.round, b, "template")
    item, r = w.item(), w.arbitrators[0]
    opinion = arbitration.give_opinion(id=new_id(), item=item, person=r, label="copy")
    decision = arbitration.decide(id=new_id(), item=item, person=r, label="copy", reason="x")
    refused("opinion_once", lambda: copy_of(opinion))
    other = {"arbitrator_id": b.pk}
    refused("opinion_label_is_known", lambda: copy_of(opinion, label="dup", **other))
    refused("opinion_direction_iff_revision", lambda: copy_of(opinion, label="revision", **other))
    low = item.pair.low_id
    refused(
        "opinion_kept_only_of_copy",
        lambda: copy_of(opinion, label="citation", kept_id=low, **other),
    )
    refused("arbitration_version_once", lambda: copy_of(decision))
    refused("arbitration_supersedes_iff_later_version", lambda: copy_of(decision, version=2))
    later = {"version": 2, "supersedes_id": decision.pk}
    refused("arbitration_label_is_known", lambda: copy_of(decision, label="dup", **later))
    refused(
        "arbitration_direction_iff_revision", lambda: copy_of(decision, label="revision", **later)
    )
    refused(
        "arbitration_kept_only_of_copy",
        lambda: copy_of(decision, label="citation", kept_id=low, **later),
    )
    refused(
        "arbitration_with_opinion_saw_originals",
        lambda: copy_of(decision, saw_originals=False, **later),
    )


def test_sets_tables_and_people(w):
    label_set = LabelSet.objects.create(
        collection=w.round.collection, name="x", filename="x", sha256="0" * 64
    )
    refused("label_set_name_once", lambda: copy_of(label_set))
    row = LabelRow.objects.create(label_set=label_set, pair=w.item().pair, label="copy", line=1)
    refused("label_line_once", lambda: copy_of(row))
    table = ReviewTable.objects.create(round=w.round, number=1)
    refused("table_number_once", lambda: copy_of(table))
    refused("person_role_is_known", lambda: Person.objects.update(role="king"))


def test_documents_pairs_and_candidates(w):
    pair = w.item().pair
    with pytest.raises(IntegrityError), transaction.atomic():
        DocumentPair.objects.create(low=pair.high, high=pair.low)
    with pytest.raises(IntegrityError), transaction.atomic():
        DocumentPair.objects.create(low=pair.low, high=pair.high)
    with pytest.raises(IntegrityError), transaction.atomic():
        Document.objects.create(
            collection=pair.low.collection, doc_id=pair.low.doc_id, raw="x", sha256="0" * 64,
            raw_sha256="0" * 64, chars=1, source_file=pair.low.source_file,
        )  # fmt: skip
    found = w.run.candidates.first()
    fresh = documents(w.round.collection, 2, prefix="more")
    other = DocumentPair.objects.create(low=fresh[0], high=fresh[1])
    with pytest.raises(IntegrityError), transaction.atomic():
        copy_of(found, pair_id=other.pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        copy_of(found, rank=99)
    with pytest.raises(IntegrityError), transaction.atomic():
        Candidate.objects.filter(pk=found.pk).update(jaccard=1.5)


def test_deleting_what_records_rest_on_is_refused(w):
    judge(w.round, w.annotators[0])
    item = w.item()
    for row in (
        w.annotators[0],
        item,
        item.pair,
        item.pair.low,
        item.slots.first(),
        w.round,
        w.run,
    ):
        with pytest.raises(models.ProtectedError), transaction.atomic():
            row.delete()


def test_no_constraint_of_these_models_is_untested(request):
    source = request.path.read_text(encoding="utf-8")
    names = {c.name for model in models_under_test() for c in model._meta.constraints}
    assert len(names) > 30
    assert [name for name in sorted(names) if f'"{name}"' not in source] == []
