"""The list before publishing: what is computed follows the rows, what is signed names its signer."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from reviews import checklist, evaluating
from tests.reviews.world import judge, person, world

pytestmark = pytest.mark.django_db


def states(points: list[checklist.Point]) -> dict[str, str]:
    return {point.code: point.state for point in points}


def test_computed_points_follow_the_rows(data_dir: object) -> None:
    made = world(2, annotators=2)
    before = states(checklist.of_round(made.round))
    assert (before["closed"], before["arbitrated"], before["stages"]) == ("open", "met", "open")
    for who in made.annotators:
        for _ in range(2):
            judge(made.round, who, "copy")
    assert states(checklist.of_round(made.round))["closed"] == "met"
    assert states(checklist.of_run(made.run))["originals"] == "open"  # there are no files of it
    assert states(checklist.of_run(made.run))["traceable"] == "open"
    made.run.collection.documents.update(source_id="甲站")
    assert states(checklist.of_run(made.run))["traceable"] == "met"


def test_a_signature_names_its_person_and_only_where_a_person_can_answer() -> None:
    made = world()
    client = Client()
    client.force_login(made.admin)
    address = reverse("reviews:round-checklist", args=[made.round.pk])
    client.post(address, {"point": "limits_stated", "note": "见报告第三节"})
    client.post(address, {"point": "closed", "note": "x"})
    client.post(address, {"point": "retention_words", "note": " "})
    points = {point.code: point for point in checklist.of_round(made.round)}
    assert points["limits_stated"].state == "met"
    assert points["limits_stated"].signature is not None
    assert points["limits_stated"].signature.actor == made.admin
    assert points["closed"].state == points["retention_words"].state == "open"
    assert "见报告第三节" in client.get(address).content.decode()
    client.force_login(person("seer", "auditor"))
    assert client.get(address).status_code == 200
    assert client.post(address, {"point": "limits_stated", "note": "x"}).status_code == 404


def test_a_look_at_the_acceptance_half_accepts_nothing_by_itself() -> None:
    """A passed acceptance is in test_evaluating; here nobody has labelled a pair, so nothing can be reached."""
    made = world()
    label_set = made.run.collection.label_sets.create(name="甲", filename="a", sha256="0" * 64)
    evaluating.look(run=made.run, label_set=label_set, part="all", reason="看看", actor=made.admin)
    assert states(checklist.of_round(made.round))["acceptance"] == "open"
    evaluating.look(
        run=made.run, label_set=label_set, part="acceptance", reason="验收", actor=made.admin,
        criterion=evaluating.Criterion("copy", "jaccard", 0.5, 0.0, 0.0),
    )  # fmt: skip
    assert states(checklist.of_round(made.round))["acceptance"] == "open"
