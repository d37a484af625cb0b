"""A run against labels: from rows to figures, the half that opens on purpose, and runs side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from dedupreview.people.models import AuditEvent, Role
from reviews import checklist, evaluating, labelsets
from screening import importing, measuring, runs
from screening.config import ScreeningConfig
from screening.models import ScreeningRun
from tests.reviews.world import person
from tests.screening.making import prose

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(data_dir: Path, tmp_path: Path):  # type: ignore[no-untyped-def]
    """A finished run over twelve texts, three copies of each of three and three alone, and labels for them."""
    del data_dir
    admin = person("keeper", Role.ADMIN)
    folder = tmp_path / "texts"
    folder.mkdir()
    for n in range(3):
        text = prose(n, 400)
        for m in range(3):
            (folder / f"t{n}{m}.txt").write_text(text + prose(90 + 3 * n + m, 20 * m), "utf-8")
        (folder / f"x{n}.txt").write_text(prose(50 + n, 400), "utf-8")
    collection = importing.get_or_create_collection(slug="measured", actor=admin)
    importing.import_path(path=folder, collection=collection, actor=admin)
    run = runs.start_run(collection=collection, config=ScreeningConfig(), actor=admin, inline=True)
    rows = ["left,right,label,family"]
    for n in range(3):
        rows += [f"t{n}0.txt,t{n}1.txt,副本,", f"t{n}0.txt,t{n}2.txt,有效修订,"]
        rows += [f"x{n}.txt,t{n}0.txt,无关,"]
    rows += ["x0.txt,x1.txt,副本,"]  # a copy that no channel can find
    report = labelsets.import_labels(
        collection=collection,
        name="甲",
        filename="l.csv",
        data="\n".join(rows).encode(),
        actor=admin,
    )
    run.refresh_from_db()
    assert run.state == ScreeningRun.State.DONE
    assert report.accepted == 10
    return admin, run, report.label_set


def test_what_was_never_retrieved_counts_against_candidate_recall(made) -> None:  # type: ignore[no-untyped-def]
    _admin, run, label_set = made
    found = evaluating.labelled(run, label_set)
    assert len(found.pairs) == 10
    missing = [p for p in found.pairs if p.score is None]
    assert {p.label for p in missing} == {"copy", "independent"}
    record = measuring.records(found.pairs, [0.5])[0]
    assert (record.candidate_recall.part, record.candidate_recall.whole) == (3, 4)
    assert record.recall.part == 3
    assert record.fp == 3  # the revisions are just as similar
    assert found.split.shared == 0
    run.state = "failed"
    with pytest.raises(evaluating.EvaluationError):
        evaluating.labelled(run, label_set)


def test_the_acceptance_half_opens_with_a_reason_that_stays_on_record(made) -> None:  # type: ignore[no-untyped-def]
    admin, run, label_set = made
    client = Client()
    client.force_login(admin)
    address = reverse("reviews:evaluation", args=[run.pk])
    assert client.get(address).context["part"] == "tuning"
    assert client.get(address + "?part=acceptance").context["part"] == "tuning"
    assert client.post(address, {"part": "acceptance", "reason": " "}).context["part"] == "tuning"
    assert evaluating.looks(label_set) == []
    without = {"part": "acceptance", "reason": "最后验收"}
    assert client.post(address, without).context["part"] == "tuning"
    wrong = {**CRITERION, **without, "recall": "1.2"}
    assert client.post(address, wrong).context["part"] == "tuning"
    assert evaluating.looks(label_set) == []
    page = client.post(address, {**CRITERION, **without})
    assert page.context["part"] == "acceptance"
    (event,) = AuditEvent.objects.filter(action=evaluating.LOOK)
    assert (event.data["run"], event.data["part"]) == (run.pk, "acceptance")
    assert event.data["reason"] == "最后验收"
    (said,) = AuditEvent.objects.filter(action=evaluating.CRITERION)
    assert said.pk < event.pk
    assert said.data["criterion"] == event.data["criterion"]
    assert "最后验收" in client.get(address).content.decode()
    auditor = person("looker", Role.AUDITOR)
    client.force_login(auditor)
    assert client.get(address).status_code == 200
    assert client.post(address, {"part": "all", "reason": "x"}).status_code == 404


CRITERION = {
    "label": "copy", "score": "jaccard", "threshold": "0.5", "recall": "0.6", "precision": "0.4",
}  # fmt: skip


def test_an_acceptance_is_passed_when_what_was_said_before_is_reached(made) -> None:  # type: ignore[no-untyped-def]
    admin, run, label_set = made
    pairs = evaluating.labelled(run, label_set).part("acceptance")
    record = measuring.records(pairs, [0.5])[0]
    assert record.recall.value is not None
    assert record.precision.value is not None
    reached = evaluating.Criterion(
        "copy", "jaccard", 0.5, record.recall.value, record.precision.value
    )
    missed = replace(reached, precision=record.precision.value + 0.01)
    assert evaluating.acceptance_of(run) is None
    for number, (criterion, passed) in enumerate([(missed, False), (reached, True)]):
        event = evaluating.look(
            run=run, label_set=label_set, part="acceptance", reason="x", actor=admin,
            criterion=criterion,
        )  # fmt: skip
        assert event.data["passed"] is passed
        assert event.data["looks_before"] == number
        assert event.data["result"]["tp"] == record.tp
        assert (checklist._acceptance(run).state == "met") is passed
    evaluating.look(run=run, label_set=label_set, part="all", reason="y", actor=admin)
    assert checklist._acceptance(run).state == "met"  # a look at everything accepts nothing anew
    undefined = evaluating.Criterion("citation", "jaccard", 0.5, 0.0, 0.0)
    event = evaluating.look(
        run=run, label_set=label_set, part="acceptance", reason="x", actor=admin,
        criterion=undefined,
    )  # fmt: skip
    assert event.data["passed"] is False
    assert event.data["result"]["recall"] is None


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?score=containment&label=revision&thresholds=0.1，0.95 x nan 7",
        "?labels=x&score=y&label=z",
    ],
)
def test_the_page_survives_what_people_type(made, query: str) -> None:  # type: ignore[no-untyped-def]
    admin, run, _labels = made
    client = Client()
    client.force_login(admin)
    page = client.get(reverse("reviews:evaluation", args=[run.pk]) + query)
    assert page.status_code == 200
    text = page.content.decode()
    assert text.count('<svg class="chart"') == 4
    assert " style=" not in text
    thresholds = [r.threshold for r in page.context["records"]]
    assert thresholds == ([0.1, 0.95] if "0.95" in query else [0.5, 0.7, 0.9])


def test_an_exhaustive_check_lists_what_a_coarse_banding_missed(made) -> None:  # type: ignore[no-untyped-def]
    admin, run, _labels = made
    complete = evaluating.exhaustive(run)
    assert (complete.texts, complete.reaching, complete.missed) == (12, 9, ())
    lost = run.candidates.order_by("rank").last()
    name = sorted((lost.pair.low.doc_id, lost.pair.high.doc_id))
    lost.delete()
    (missed,) = evaluating.exhaustive(run).missed
    assert [missed.left, missed.right] == name
    bands, rows = ScreeningConfig().banding
    assert missed.chance == pytest.approx((1 - missed.jaccard**rows) ** bands)
    client = Client()
    client.force_login(admin)
    page = client.get(reverse("reviews:evaluation", args=[run.pk]) + "?exhaustive=1")
    assert len(page.context["check"].missed) == 1


def test_runs_stand_side_by_side_on_the_tuning_half(made) -> None:  # type: ignore[no-untyped-def]
    admin, run, label_set = made
    for k in (5, 7):
        config = ScreeningConfig.from_dict({**ScreeningConfig().to_dict(), "k": k})
        runs.start_run(collection=run.collection, config=config, actor=admin, inline=True)
    finished = list(run.collection.runs.order_by("pk"))
    trials = evaluating.trials(finished, label_set)
    assert [dict(t.settings)["k"] for t in trials] == ["3", "5", "7"]
    tuning = evaluating.labelled(run, label_set).part("tuning")
    assert trials[0].record is not None
    assert trials[0].record.labelled == len(tuning)
    assert sum(s.whole for s in trials[0].retrieved.values()) == len(tuning)
    client = Client()
    client.force_login(admin)
    address = reverse("reviews:experiments", args=[run.collection_id])
    assert len(client.get(address).context["trials"]) == 3
    start = reverse("reviews:start-experiment", args=[run.pk])
    assert client.post(start, {"vary": "nothing"}).status_code == 302
    assert run.collection.runs.count() == 3
    assert client.post(start, {"vary": "k"}).status_code == 302
    ks = [r.config["k"] for r in run.collection.runs.order_by("pk")]
    assert ks[3:] == [3, 5, 7]
