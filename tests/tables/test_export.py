"""What a table says is what the database says, at one moment, and nothing of what is still open."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from pathlib import Path

import pytest
from django.db import connection

from reviews import judging, queue
from reviews.models import Judgment, ReviewItem, ReviewRound, ReviewSlot
from reviews.tables import (
    export_table,
    exporting,
    verify_table,
)
from screening.models import ScreeningRun
from tests.reviews import world as worlds
from tests.tables import making
from tests.tables.reading import final, flow, lines

SHAPE = {"value", "low", "high", "n", "reason"}
JUDGMENT_KEYS = [
    *("pair_id", "item", "annotator", "version", "counted", "label", "direction", "reason_code"),
    *("reason", "kept", "shown", "guideline_version", "created_at", "digest"),
]
FILES = {
    *("documents.jsonl", "pairs.jsonl", "judgments.jsonl", "arbitrations.jsonl"),
    *("outcomes.jsonl", "sign_offs.jsonl", "final.csv", "final.xlsx", "relations.csv"),
    *("agreement.json", "flow.json", "run.json", "guideline.md", "VERIFY.md", "allowed_signers"),
    *("manifest.json", "SHA256SUMS", "manifest.json.sig", "manifest.json.ed25519"),
    *("SHA256SUMS.sig", "SHA256SUMS.ed25519"),
}


def scalar(query: str, *params: str | int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query, params)
        return int(cursor.fetchone()[0])


def test_a_bundle_has_every_file_of_the_design(table: Path) -> None:
    assert {path.name for path in table.iterdir()} >= FILES
    assert all(list(row) == JUDGMENT_KEYS for row in lines(table, "judgments.jsonl"))
    agreement = json.loads((table / "agreement.json").read_bytes())
    measures = {"percent", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"}
    assert set(agreement) == measures | {"per_label"}
    assert all(set(agreement[name]) == SHAPE for name in measures)
    assert all(set(measure) == SHAPE for measure in agreement["per_label"].values())
    manifest = json.loads((table / "manifest.json").read_bytes())
    assert set(manifest["files"]) == {path.name for path in table.iterdir()} - {
        *("manifest.json", "SHA256SUMS", "manifest.json.sig", "manifest.json.ed25519"),
        *("SHA256SUMS.sig", "SHA256SUMS.ed25519"),
    }


def test_the_final_table_tells_conclusions_people_and_advice(table: Path) -> None:
    rows = final(table)
    by_label = {row["label"]: row for row in rows if row["arbitration"] == "none"}
    assert by_label["copy"]["label_zh"] == "副本"
    assert by_label["copy"]["kept"] == by_label["copy"]["left"]
    assert by_label["copy"]["retention_advice"] == "建议合并检索入口"
    assert by_label["revision"]["retention_advice"] == "有效修订"
    assert by_label["revision"]["direction"] == "left_first"
    assert by_label["revision"]["reason"] == "=1+1 条款\n“改”了"
    assert by_label["template"]["reason"] == "同一格式，𠮷😀"
    assert all(len(row["reviewers"].split()) == 2 for row in rows)
    decided = [row for row in rows if row["arbitration"] == "decided"]
    assert len(decided) == 2
    assert all(row["arbitrator"] and row["reason"] == "两份文本逐字相同" for row in decided)
    guarded = final(table, "final.csv")
    assert {row["reason"] for row in guarded} - {row["reason"] for row in rows} == {
        "'=1+1 条款\n“改”了"
    }


def test_the_workbook_holds_the_same_rows_as_the_csv(table: Path) -> None:
    import python_calamine

    sheet = python_calamine.load_workbook(table / "final.xlsx").get_sheet_by_index(0).to_python()
    rows = final(table)
    names = [str(name) for name in sheet[0]]
    assert len(sheet) - 1 == len(rows)
    for values, row in zip(sheet[1:], rows, strict=True):
        cells = dict(zip(names, values, strict=True))
        for name in ("pair_id", "left", "right", "label", "label_zh", "reason", "reviewers"):
            assert cells[name] == row[name]
        assert cells["jaccard"] == float(row["jaccard"])
        assert cells["rank"] == int(row["rank"])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.django_db
def test_a_table_of_any_state_equals_the_database(data_dir: Path, seed: int) -> None:
    made = making.random_state(seed)
    number = made.round.pk
    folder = making.exported(made.round)
    assert verify_table(folder).ok, verify_table(folder).lines()
    counts = flow(folder)
    states = {
        state: scalar(
            "SELECT count(*) FROM reviews_reviewitem WHERE round_id = %s AND state = %s",
            *(number, state),
        )
        for state in ReviewItem.State.values
    }
    assert {state: counts[state] for state in states} == states
    assert counts["items"] == sum(states.values()) == len(final(folder))
    judged = (
        "SELECT count(*) FROM reviews_judgment j JOIN reviews_reviewitem i ON i.id = j.item_id "
        "WHERE i.round_id = %s AND i.state "
    )
    closed, rest = scalar(judged + "= 'closed'", number), scalar(judged + "<> 'closed'", number)
    assert counts["withheld"] == rest
    assert counts["judgments"] == len(lines(folder, "judgments.jsonl")) == closed
    arbitrated = scalar(
        "SELECT count(*) FROM reviews_arbitration a JOIN reviews_reviewitem i ON i.id = a.item_id "
        "WHERE i.round_id = %s",
        number,
    )
    assert len(lines(folder, "arbitrations.jsonl")) == arbitrated
    labels = Counter(row["label"] for row in final(folder) if row["label"])
    assert {label: n for label, n in counts["labels"].items() if n} == dict(labels)
    assert counts["provisional"] is (states["closed"] != counts["items"])


@pytest.mark.django_db
def test_a_provisional_table_tells_nothing_of_open_items(data_dir: Path) -> None:
    made = worlds.world(4, annotators=2)
    first, second = made.annotators
    secret = "机密理由"
    # Item 1: closed. Item 2: conflict. Item 3: one judgment. Item 4: untouched.
    for who, labels in ((first, ("copy", "revision", "template")), (second, ("copy", "citation"))):
        for label in labels:
            reason = "公开理由" if label == "copy" else secret
            made_item = making.answer(made.round, who, label, reason=reason)
            assert made_item is not None
    arbitrator = made.arbitrators[0]
    conflict = made.round.items.get(state="conflict")
    from reviews import arbitration

    arbitration.give_opinion(
        id=uuid.uuid4(), item=conflict, person=arbitrator, label="citation", reason=secret
    )
    folder = making.exported(made.round)
    found = verify_table(folder)
    assert found.ok
    assert found.provisional is True
    open_items = made.round.items.exclude(state="closed")
    hidden = [
        str(value)
        for answers in (Judgment.objects.filter(item__in=open_items), conflict.opinions.all())
        for answer in answers
        for value in (answer.pk, answer.digest)
    ]
    assert len(hidden) == 8
    for path in folder.iterdir():
        data = path.read_bytes()
        if path.suffix == ".xlsx":
            import zipfile

            with zipfile.ZipFile(path) as archive:
                data = b"".join(archive.read(name) for name in archive.namelist())
        assert secret.encode() not in data, path.name
        assert not any(value.encode() in data for value in hidden), path.name
    assert flow(folder)["withheld"] == 3
    rows = {row["item"]: row for row in final(folder)}
    statuses = sorted(row["review_status"] for row in rows.values())
    assert statuses == ["agreed", "conflict", "pending", "pending"]
    pending = [row for row in rows.values() if row["review_status"] == "pending"]
    differing = {name for name in pending[0] if pending[0][name] != pending[1][name]}
    # One of the two has a judgment, the other none: nothing but their identity may differ.
    assert differing <= {"pair_id", "item", "left", "right", "rank"}
    assert rows[str(conflict.pk)]["retention_advice"] == "待仲裁"
    assert rows[str(conflict.pk)]["reviewers"] == ""
    assert json.loads((folder / "agreement.json").read_bytes())["percent"]["n"] == 1


@pytest.mark.django_db
def test_with_one_judgment_a_pair_a_conflict_would_tell_it_and_is_not_told(data_dir: Path) -> None:
    made = worlds.world(1, seats=1)
    making.answer(made.round, made.annotators[0], "undecided", reason="看不清")
    assert made.item().state == "conflict"
    (row,) = final(making.exported(made.round))
    assert row["review_status"] == "pending"
    assert row["arbitration"] == ""
    assert row["retention_advice"] == "保留双方"


@pytest.mark.django_db
def test_an_empty_round_gives_an_empty_table_that_verifies(data_dir: Path) -> None:
    made = worlds.world(1)
    run = ScreeningRun.objects.create(
        collection=made.run.collection, state="done", config={}, fingerprint="0" * 64
    )
    empty = ReviewRound.objects.create(collection=run.collection, run=run, name="空")
    folder = making.exported(empty)
    assert verify_table(folder).ok
    assert final(folder) == []
    agreement = json.loads((folder / "agreement.json").read_bytes())
    assert agreement["percent"]["value"] is None
    assert agreement["percent"]["reason"]


@pytest.mark.django_db
def test_corrections_and_surplus_are_told_apart_and_only_the_last_word_concludes(
    data_dir: Path,
) -> None:
    made = worlds.world(1, annotators=2)
    first, second = made.annotators
    slot = queue.claim(round=made.round, person=first)
    assert isinstance(slot, ReviewSlot)
    for label in ("template", "copy"):
        judging.submit(id=uuid.uuid4(), slot=slot, person=first, label=label)
    making.answer(made.round, second, "copy")
    folder = making.exported(made.round)
    assert [(row["version"], row["label"]) for row in lines(folder, "judgments.jsonl")] == [
        (1, "template"),
        (2, "copy"),
        (1, "copy"),
    ]
    (row,) = final(folder)
    assert row["label"] == "copy"
    assert row["judgments"] == "2"
    # Agreement looks at the first answers, before anybody thought again.
    assert json.loads((folder / "agreement.json").read_bytes())["percent"]["value"] == 0


@pytest.mark.django_db
def test_a_later_table_names_the_earlier_and_replaces_nothing(data_dir: Path) -> None:
    made = making.finished(2)
    one, two = export_table(round=made.round), export_table(round=made.round)
    assert (one.number, two.number) == (1, 2)
    assert two.previous == one
    manifest = json.loads((exporting.table_folder(two) / "manifest.json").read_bytes())
    assert manifest["previous_table"] == {"number": 1, "manifest_sha256": one.manifest_sha256}
    assert verify_table(exporting.table_folder(one)).ok
    records = [
        (exporting.table_folder(table) / "records.jsonl").read_bytes() for table in (one, two)
    ]
    assert records[0] == records[1]
    assert one.chain_digest == two.chain_digest
