"""Uploaded labelled pairs: what is accepted, refused, in conflict; nothing merged, nothing lost."""

from __future__ import annotations

import hashlib
import json

import pytest

from dedupreview.people.models import AuditEvent
from reviews.labelsets import LabelSetError, import_labels
from reviews.models import Judgment, LabelRow, LabelSet
from screening import originals
from screening.models import DocumentPair
from tests.reviews.world import collection, documents, person

pytestmark = pytest.mark.django_db


@pytest.fixture
def library(data_dir):
    owner = collection()
    documents(owner, 6)
    return owner


def upload(library, text, **extra):
    data = text.encode() if isinstance(text, str) else text
    extra.setdefault("name", "外部标注")
    return import_labels(collection=library, filename="labels.csv", data=data, **extra)


def test_good_rows_become_a_named_source_with_the_bytes_kept(library):
    text = "left,right,label,why\ndoc-002,doc-001,副本,再次采集\ndoc-003,doc-004,无关,\ndoc-001,doc-003,0,\n"
    actor = person("boss")
    report = upload(library, text, actor=actor)
    assert (report.accepted, report.refused, report.conflicts) == (3, [], [])
    assert report.labels == {"copy": 1, "independent": 1, "not_copy": 1}
    label_set = LabelSet.objects.get()
    assert report.label_set == label_set
    assert (label_set.sha256, label_set.uploaded_by) == (
        hashlib.sha256(text.encode()).hexdigest(), actor,
    )  # fmt: skip
    assert originals.open_original(label_set.sha256).read() == text.encode()
    first = label_set.rows.get(line=2)
    assert (first.label, first.label_as_written, first.reason) == ("copy", "副本", "再次采集")
    assert first.pair.left.doc_id == "doc-001"
    assert AuditEvent.objects.get(action="label_set.import").data["rows"] == 3
    assert not Judgment.objects.exists()
    json.dumps(report.to_dict())


def test_bad_rows_are_refused_with_their_line_and_the_others_stored(library):
    text = (
        "left,right,label\ndoc-001,doc-002,copy\ndoc-001,doc-001,copy\ndoc-001,doc-099,copy\n"
        "doc-003,doc-004,perhaps\n,doc-004,copy\n"
    )
    report = upload(library, text)
    assert report.accepted == 1
    assert [(fault.line, fault.code) for fault in report.refused] == [
        (3, "label_row_self"), (4, "document_unknown"), (5, "label_unknown"),
        (6, "label_row_without_document"),
    ]  # fmt: skip
    assert "doc-099" in report.refused[1].message
    assert all(fault.message for fault in report.refused)
    assert LabelSet.objects.get().report["refused_count"] == 4


def test_both_orders_are_one_pair_and_contradictions_are_listed_and_not_stored(library):
    text = (
        "left,right,label\ndoc-001,doc-002,copy\ndoc-002,doc-001,copy\n"
        "doc-003,doc-004,copy\ndoc-004,doc-003,template\ndoc-005,doc-006,citation\n"
    )
    report = upload(library, text)
    assert report.accepted == 2
    assert [(n.line, n.code) for n in report.notes] == [(3, "repeated")]
    (conflict,) = report.conflicts
    assert conflict.rows == ((4, "copy"), (5, "template"))
    assert sorted(LabelRow.objects.values_list("line", flat=True)) == [2, 6]
    assert DocumentPair.objects.count() == 2


def test_a_dry_run_says_the_same_and_stores_nothing(library, data_dir):
    text = "left,right,label\ndoc-001,doc-002,copy\nx,doc-002,copy\n"
    dry = upload(library, text, dry_run=True)
    assert not LabelSet.objects.exists()
    assert not DocumentPair.objects.exists()
    assert not (data_dir / "originals").exists()
    real = upload(library, text)
    assert dry.stored() == real.stored()


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", None), (b"left,right\na,b\n", "unusable"), (b"left,right,label\n", "no_rows"),
     (b"PK\x03\x04broken", None), (b"\xff\xfe\x00\xd8", None)],
)  # fmt: skip
def test_a_file_that_is_no_label_file_is_refused_in_words(library, data, code):
    with pytest.raises(LabelSetError) as refusal:
        upload(library, data)
    assert str(refusal.value)
    assert code in (None, refusal.value.code)
    assert not LabelSet.objects.exists()


def test_a_name_is_taken_once_and_the_same_file_again_changes_nothing(library):
    text = "left,right,label\ndoc-001,doc-002,copy\n"
    first = upload(library, text)
    again = upload(library, text)
    assert again.label_set == first.label_set
    assert LabelRow.objects.count() == 1
    with pytest.raises(LabelSetError) as refusal:
        upload(library, text + "doc-003,doc-004,copy\n")
    assert refusal.value.code == "name_taken"
    with pytest.raises(LabelSetError) as refusal:
        upload(library, text, name="  ")
    assert refusal.value.code == "name"


def test_documents_of_another_collection_do_not_count(library):
    other = collection()
    documents(other, 2, prefix="other")
    report = upload(library, "left,right,label\nother-001,other-002,copy\n")
    assert report.accepted == 0
    assert [fault.code for fault in report.refused] == ["document_unknown"] * 2


def test_many_rows(library):
    documents(library, 1200, prefix="big")
    lines = [f"big-{n:03},big-{n + 1:03},copy" for n in range(1, 1200)]
    report = upload(library, "left,right,label\n" + "\n".join(lines))
    assert report.accepted == 1199
    assert LabelRow.objects.count() == 1199


def test_ids_and_names_that_no_database_takes_end_as_refused_rows(library):
    text = 'left,right,label,why\n"doc-001\x00",doc-002,copy,\ndoc-001,doc-002,copy,"a\x00b"\n'
    report = upload(library, text, name="甲\x00")
    assert [(f.line, f.code) for f in report.refused] == [(2, "document_unknown")]
    assert LabelRow.objects.get().reason == "a\ufffdb"
    lone = b'{"left":"\\ud800","right":"doc-002","label":"copy"}'
    report = upload(library, lone, name="乙")
    assert [f.code for f in report.refused] == ["document_unknown"]


def test_both_orders_conflict_whatever_the_words_for_a_label(library):
    text = "left,right,label\ndoc-001,doc-002,副本\ndoc-002,doc-001,copy\ndoc-002,doc-001,0\n"
    report = upload(library, text)
    assert report.accepted == 0
    (conflict,) = report.conflicts
    assert conflict.rows == ((2, "copy"), (3, "copy"), (4, "not_copy"))
