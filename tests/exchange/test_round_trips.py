"""What is handed to another tool comes back as the same labels of the same pairs, in every format."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from dedupreview.people import tokens
from dedupreview.people.models import Role
from reviews import judging, labelsets
from reviews.exchange import FILES, KINDS, Kind, formats, write_file
from reviews.labels import REASON_NEEDED, Label
from reviews.models import Judgment, LabelSet, ReviewItem
from screening import labels_file
from screening.label_names import LABELS
from screening.models import Document
from tests.reviews.world import World, claimed, new_id, person, world

pytestmark = pytest.mark.django_db

IDS = (
    "=HYPERLINK(\"x\")", "+1", "-公告", "@甲", "'引号", "''两个", "a\u200b", "a", "1,2;3", 'say "yes"', "😀/图.txt", "_x0041_",
    "007", "第1号（修订）", "a|b\\c", "true",
)  # fmt: skip
TEXTS = "甲：“你好”\n=1+1\r\n\t@sum 😀 <b>&amp;</b> 乙｜丙"


@pytest.fixture
def w() -> World:
    """Eight pairs of texts whose ids are meant to come out changed."""
    built = world(len(IDS) // 2)
    for number, item in enumerate(built.items):
        for side, document in enumerate((item.pair.low, item.pair.high)):
            Document.objects.filter(pk=document.pk).update(
                doc_id=IDS[2 * number + side], title=f"标题 {IDS[number]}", raw=TEXTS
            )
    return built


def settle(w: World, count: int) -> dict[frozenset[str], str]:
    """Close so many items with one label after the other; the pairs by doc_id, with their labels."""
    labels = [label for label in map(str, Label.values) if label not in REASON_NEEDED]
    for _ in range(count):
        for one in w.annotators[:2]:
            slot = claimed(w.round, one)
            label = labels[slot.item.position % len(labels)]
            judging.submit(id=new_id(), slot=slot, person=one, label=label)
    closed = [item for item in w.items if item.state == "closed"]
    return {ids_of(item): labels[item.position % len(labels)] for item in closed}


def ids_of(item: ReviewItem) -> frozenset[str]:
    return frozenset((item.pair.low.doc_id, item.pair.high.doc_id))


def written(w: World, name: str, kind: Kind = "settled") -> bytes:
    return b"".join(write_file(w.round, name, kind))


def brought_back(w: World, data: bytes, name: str) -> dict[frozenset[str], str]:
    before = Judgment.objects.count()
    report = labelsets.import_labels(
        collection=w.round.collection, name=f"回 {name}", filename=name, data=data
    )
    assert (report.refused, report.conflicts) == ([], [])
    assert Judgment.objects.count() == before
    rows = LabelSet.objects.get(pk=report.label_set.pk).rows.select_related("pair__low", "pair__high")  # type: ignore[union-attr]
    return {frozenset((r.pair.low.doc_id, r.pair.high.doc_id)): r.label for r in rows}


PAIR_FILES = ("label-studio.json", "doccano.jsonl", "pairs.csv", "pairs.xlsx")


@pytest.mark.parametrize("name", PAIR_FILES)
def test_settled_pairs_come_back_with_their_labels(w: World, name: str) -> None:
    expected = settle(w, 7)
    assert (len(expected), len(set(expected.values()))) == (7, 5)
    assert brought_back(w, written(w, name), name) == expected


def as_label_studio_exports(tasks: bytes, labels: dict[int, str]) -> bytes:
    """The JSON of a Label Studio project in which these tasks were labelled (https://labelstud.io/guide/export)."""
    loaded = json.loads(tasks)
    for number, task in enumerate(loaded, 1):
        assert "annotations" not in task
        result = [
            {"id": "x", "from_name": "label", "to_name": "left_text", "type": "choices", "origin": "manual",
             "value": {"choices": [labels[number]]}},
            {"id": "y", "from_name": "reason", "to_name": "left_text", "type": "textarea", "origin": "manual",
             "value": {"text": ["因为“=甲”\n"]}},
        ]  # fmt: skip
        task |= {
            "id": number, "inner_id": number, "project": 3, "file_upload": "a.json", "total_annotations": 1, "drafts": [],
            "predictions": [{"result": [{"value": {"choices": ["copy"]}}]}],
            "annotations": [{"id": number, "completed_by": 4, "was_cancelled": False, "lead_time": 1.5, "result": result}],
        }  # fmt: skip
    return json.dumps(loaded, ensure_ascii=False).encode()


def as_label_studio_min(tasks: bytes, labels: dict[int, str]) -> bytes:
    rows = [
        {**task["data"], "id": n, "label": labels[n], "annotator": 4, "annotation_id": n, "lead_time": 2.0}
        for n, task in enumerate(json.loads(tasks), 1)
    ]  # fmt: skip
    return json.dumps(rows).encode()


def as_label_studio_csv(tasks: bytes, labels: dict[int, str]) -> bytes:
    rows = json.loads(as_label_studio_min(tasks, labels))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, sorted(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def as_doccano_exports(lines: bytes, labels: dict[int, str]) -> bytes:
    """doccano numbers the lines and writes the columns of the upload beside the text."""
    rows = [json.loads(line) for line in lines.split(b"\n") if line]
    for number, row in enumerate(rows, 1):
        assert row["label"] == []
        row |= {"id": number, "label": [LABELS[labels[number]].zh], "Comments": []}
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def filled_in(table: bytes, labels: dict[int, str]) -> bytes:
    """The CSV file as a person saves it who typed a label in every row."""
    rows = list(csv.reader(io.StringIO(table.decode("utf-8-sig"), newline="")))
    at = rows[0].index("label")
    for number, row in enumerate(rows[1:], 1):
        assert row[at] == ""
        row[at] = LABELS[labels[number]].zh
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=";").writerows(rows)
    return out.getvalue().encode("utf-16")


@pytest.mark.parametrize(
    ("name", "labelled"),
    [
        ("label-studio.json", as_label_studio_exports),
        ("label-studio.json", as_label_studio_min),
        ("label-studio.json", as_label_studio_csv),
        ("doccano.jsonl", as_doccano_exports),
        ("pairs.csv", filled_in),
    ],
)
def test_what_another_tool_labelled_comes_back(
    w: World, name: str, labelled: Callable[[bytes, dict[int, str]], bytes]
) -> None:
    codes = list(LABELS)
    labels = {n: codes[n % len(codes)] for n in range(1, len(w.items) + 1)}
    expected = {ids_of(item): labels[item.position] for item in w.items}
    data = labelled(written(w, name, "tasks"), labels)
    assert brought_back(w, data, name) == expected
    if labelled is as_label_studio_exports:
        reasons = set(LabelSet.objects.get().rows.values_list("reason", "annotator"))
        assert reasons == {("因为“=甲”", "4")}


@pytest.mark.parametrize("name", PAIR_FILES)
def test_nothing_of_an_open_pair_is_handed_out(w: World, name: str) -> None:
    settle(w, 2)
    before = {kind: written(w, name, kind) for kind in KINDS}
    one = w.annotators[0]
    judging.submit(
        id=new_id(), slot=claimed(w.round, one), person=one, label="template", reason="隐秘"
    )  # fmt: skip
    for kind in KINDS:
        after = written(w, name, kind)
        if name != "pairs.xlsx":  # a workbook tells when it was made
            assert after == before[kind]
        assert len(labels_file.read_label_rows(after, name)[0]) == (0 if kind == "tasks" else 2)


def test_only_oversight_gets_the_files(w: World) -> None:
    auditor = person("prüfer", Role.AUDITOR)
    for one, status in ((w.admin, 200), (auditor, 200), (w.annotators[0], 404), (w.arbitrators[0], 404)):  # fmt: skip
        client = Client()
        client.force_login(one)
        key = {"authorization": f"Bearer {tokens.issue(person=one)}"}
        for name in FILES:
            for kind in KINDS:
                tail = f"rounds/{w.round.pk}/pairs/{kind}/{name}"
                page, api = client.get(f"/{tail}"), Client().get(f"/api/v1/{tail}", headers=key)
                assert (page.status_code, api.status_code) == (status, status), tail
                if status == 200:
                    assert (
                        name.endswith("xlsx")
                        or page.getvalue() == api.getvalue() == written(w, name, kind)
                    )
    assert client.get(f"/rounds/{w.round.pk}/pairs/tasks/other.json").status_code == 404


def test_texts_lose_only_what_no_tool_takes() -> None:
    text = "甲\x00乙\x1f\ud800\r\n\t=1+1 😀\ufffe"
    pair = formats.Pair("l", "r", "", "", text, "右" * 40_000, "copy")
    assert formats.shown(text) == "甲␀乙␟\ufffd\r\n\t=1+1 😀\ufffd"
    task = json.loads(b"".join(formats.label_studio([pair])))[0]
    assert task["data"]["left_text"] == formats.shown(text)
    assert task["data"]["right_text"] == "右" * 40_000
    assert json.loads(b"".join(formats.label_studio([]))) == []


def test_a_cell_too_long_says_so(tmp_path: Any) -> None:
    from python_calamine import CalamineWorkbook

    formats.workbook(tmp_path / "a.xlsx", [formats.Pair("l", "=r", "", "", "😀" * 40_000, "_x0041_")])
    row = CalamineWorkbook.from_path(tmp_path / "a.xlsx").get_sheet_by_index(0).to_python()[1]
    assert row[1] == "=r"
    assert row[7] == "_x0041_"
    assert len(row[6].encode("utf-16-le")) // 2 <= 32_767
    assert row[6].endswith("【已截断，全文 40000 字】")


def test_the_settings_name_every_label() -> None:
    root = ElementTree.fromstring(formats.label_studio_settings())
    choices = {c.get("alias"): (c.get("value"), c.get("hotkey")) for c in root.iter("Choice")}
    assert choices == {code: (name.zh, name.key) for code, name in LABELS.items()}
    columns = {t.get("value", "").lstrip("$") for t in root.iter() if t.get("value", "").startswith("$")}  # fmt: skip
    assert columns <= formats._data(formats.Pair("l", "r", "", "", "", "")).keys()
    labels = json.loads(formats.doccano_labels())
    assert [one["text"] for one in labels] == [name.zh for name in LABELS.values()]
    assert all(re.fullmatch("#[0-9a-f]{6}", one["background_color"]) for one in labels)
    assert set(LABELS) == set(Label.values)


HOSTILE = [
    ({"data": {"left": "a", "right": "b"}, "annotations": [{"result": [{"value": {"choices": ["<script>"]}}]}]},
     "label_unknown"),
    ({"data": {"left": "a"}, "annotations": [{"result": [{"value": {"choices": ["copy"]}}]}]}, "label_row_without_document"),
    ({"data": {"left": "a", "right": "a\x00"}, "annotations": [{"result": [{"value": {"choices": ["copy"]}}]}]},
     "document_unknown"),
    ({"data": {"left": ["a"], "right": {"x": 1}}, "annotations": [{"result": [{"value": {"choices": ["copy"]}}]}]},
     None),
    ({"data": {"left": "a", "right": "b"}, "annotations": [{"result": [{"value": {"choices": ["copy", "template"]}}]}]},
     "several_labels"),
    ({"data": {"left": "a", "right": "b"}, "annotations": [{"result": "x"}, 7, {"result": [{"value": {"choices": {"a": 1}}}]}]},
     "label_unknown"),
    ({"left": "a", "right": "nobody", "label": ["copy"]}, "document_unknown"),
    ({"left": "a", "right": "b", "label": [["copy"]]}, "label_unknown"),
    ({"left": "a", "right": "b", "label": [[0, 2, "copy"]]}, "label_unknown"),
    ({"text": "x", "label": ["copy"], "meta": 7}, "label_row_without_document"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "code"), HOSTILE)
def test_hostile_records_are_refused_by_line(w: World, record: Any, code: str | None) -> None:
    good = json.dumps({"left": "a", "right": "007", "label": ["模板"]}, ensure_ascii=False)
    data = f"{good}\n{json.dumps(record)}\n".encode()
    report = labelsets.import_labels(
        collection=w.round.collection, name="x", filename="x.jsonl", data=data, dry_run=True
    )
    assert report.accepted == 1
    assert {fault.line for fault in report.refused} == {2}
    if code:
        assert code in {fault.code for fault in report.refused}
    for fault in report.refused:
        assert "2" in fault.message


def test_a_missing_field_is_named(w: World) -> None:
    data = b'{"left": "a", "right": "", "label": "copy"}\n{"right": "a", "label": "copy"}'
    report = labelsets.import_labels(
        collection=w.round.collection, name="x", filename="x.jsonl", data=data, dry_run=True
    )
    assert [(f.line, f.params["field"]) for f in report.refused] == [(1, "right"), (2, "left")]


def test_the_command_writes_the_same_files(w: World, tmp_path: Any) -> None:
    settle(w, 3)
    call_command("export_pairs", str(w.round.pk), out=tmp_path, settled=True)
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    assert (tmp_path / "doccano.jsonl").read_bytes() == written(w, "doccano.jsonl")
    call_command("export_pairs", str(w.round.pk), out=tmp_path / "one", tool="doccano")
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == ["doccano-labels.json", "doccano.jsonl"]  # fmt: skip
