"""Metadata are corrected as new versions; what came in, and the runs that saw it, stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import DatabaseError, transaction

from dedupreview.people.models import AuditEvent
from screening import correcting, frozen, importing
from screening.models import Collection, Document, DocumentMetadata
from tests.runs import making

pytestmark = pytest.mark.usefixtures("data_dir")


@pytest.fixture
def library(db: None, tmp_path: Path) -> Collection:
    collection = importing.get_or_create_collection(slug="青禾")
    rows = making.rows(3)
    rows[0]["doc_number"] = "青图〔2026〕7号"
    importing.import_path(path=making.folder(tmp_path / "in", rows), collection=collection)
    return collection


def values(document: Document) -> dict[str, str]:
    return {field: one.value for field, one in correcting.known(document).items()}


def test_a_correction_is_a_version_and_the_document_keeps_what_came(library: Collection) -> None:
    document = library.documents.get(doc_id="D0000")
    before = values(document)
    assert before["doc_number"] == "青图〔2026〕7号"
    first = correcting.correct(
        document=document, values=before | {"doc_number": "青图〔2026〕8号", "issuer": " 图书馆 "},
        reason="抄错一位", actor=None,
    )  # fmt: skip
    assert first.number == 1
    known = correcting.known(document)
    assert (known["doc_number"].value, known["doc_number"].correction) == ("青图〔2026〕8号", first)
    assert known["issuer"].value == "图书馆"
    assert known["title"].correction is None
    now = values(document)
    now.pop("issuer")
    second = correcting.correct(document=document, values=now, actor=None)
    assert second.number == 2
    assert "issuer" not in values(document)
    assert correcting.known(document)["doc_number"].correction == first
    document.refresh_from_db()
    assert document.metadata == {"doc_number": "青图〔2026〕7号"}
    events = AuditEvent.objects.filter(action="document.corrected").order_by("pk")
    assert [event.data["fields"] for event in events] == [["doc_number", "issuer"], ["issuer"]]


def test_a_correction_needs_a_change_and_fits_its_field(library: Collection) -> None:
    document = library.documents.get(doc_id="D0001")
    for changed, code in (({}, "nothing_changed"), ({"title": "长" * 1001}, "field_too_long")):
        with pytest.raises(correcting.CorrectingError) as error:
            correcting.correct(document=document, values=values(document) | changed, actor=None)
        assert error.value.code == code
    assert not DocumentMetadata.objects.exists()


def test_corrections_cannot_be_changed(library: Collection) -> None:
    document = library.documents.get(doc_id="D0001")
    correcting.correct(document=document, values={"title": "另题"}, actor=None)
    with pytest.raises(DatabaseError), transaction.atomic():
        DocumentMetadata.objects.update(reason="x")


def test_a_run_takes_the_metadata_of_its_start(library: Collection, tmp_path: Path) -> None:
    document = library.documents.get(doc_id="D0001")
    correcting.correct(document=document, values={"title": "新题", "issuer": "图书馆"}, actor=None)
    folder = tmp_path / "run"
    folder.mkdir()
    assert frozen.freeze(folder, library, []) == 3
    correcting.correct(document=document, values={"title": "更新的题"}, actor=None)
    texts, _ = frozen.documents(folder, library)
    assert [text.title for text in texts] == ["材料0", "新题", "材料2"]
    assert dict(texts[1].metadata) == {"issuer": "图书馆"}
    assert texts[1].version is None
    assert texts[0].version == "0"
