"""The bytes of every original are the same before and after everything that is done with them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import call_command

from dedupreview.people.models import Role
from reviews import labelsets, rounds
from reviews.models import ReviewSlot
from reviews.tables import exporting
from screening import correcting, importing, originals, rechecking, runs
from screening.config import ScreeningConfig
from screening.models import Collection, Document
from tests.intake import files
from tests.reviews.world import person
from tests.runs import making
from tests.tables.making import answer
from tests.untouched import changed_originals, kept_originals


def hand_over(folder: Path) -> Path:
    """A folder with a file of every kind."""
    texts = [row["raw"] for row in making.rows(6)]
    folder.mkdir()
    (folder / "a.txt").write_bytes(texts[0].encode("gb18030"))
    (folder / "b.md").write_text(f"---\ntitle: 乙\n---\n{texts[1]}", encoding="utf-8")
    (folder / "c.docx").write_bytes(files.docx(files.p(texts[2])))
    (folder / "d.pdf").write_bytes(files.pdf(files.column(texts[3])))
    (folder / "e.html").write_text(f"<html><body><p>{texts[4]}</p></body></html>", encoding="utf-8")
    (folder / "f.jsonl").write_text(json.dumps({"doc_id": "f", "raw": texts[5]}), encoding="utf-8")
    (folder / "g.csv").write_text(f"编号,正文\ng,{texts[0]}\n", encoding="utf-8-sig")
    with zipfile.ZipFile(folder / "h.zip", "w") as archive:
        archive.writestr("i.txt", texts[2])
    return folder


def everything(library: Collection, source: Path, out: Path) -> None:
    """Import again, screen, label, review, export, check, correct."""
    assert importing.import_path(path=source, collection=library).added == 0
    run = runs.start_run(collection=library, config=ScreeningConfig(), inline=True)
    assert run.state == "done"
    labels = "left,right,label\na.txt,b.md,副本\n".encode()
    labelsets.import_labels(collection=library, name="样本", filename="l.csv", data=labels)
    people = [person("甲"), person("乙"), person("丙", Role.ARBITRATOR)]
    opened = rounds.open_round(
        run=run, name="一", annotators=people[:2], arbitrators=people[2:], judgments=2
    )
    rounds.publish_guideline(round=opened, text="请先看日期。", actor=None)
    for who in people[:2]:
        while answer(opened, who, "copy"):
            pass
    assert not ReviewSlot.objects.filter(item__round=opened, judgments=None).exists()
    exporting.export_table(round=opened, out=out / "table")
    document = Document.objects.get(doc_id="a.txt")
    correcting.correct(document=document, values={"title": "新题名"}, reason="补录", actor=None)
    call_command("screen", str(source), "--out", str(out / "run"))
    assert rechecking.check().data["bad"] == 0
    assert originals.verify().ok


def test_nothing_that_is_done_changes_an_original(db: None, data_dir: Path, tmp_path: Path) -> None:
    source = hand_over(tmp_path / "in")
    received = {path.name: path.read_bytes() for path in source.iterdir()}
    library = importing.get_or_create_collection(slug="青禾")
    assert importing.import_path(path=source, collection=library).refused == 0
    before = kept_originals(data_dir)
    assert len(before) == len(received)
    everything(library, source, tmp_path)
    after = kept_originals(data_dir)
    assert {name: after[name] for name in before} == before
    assert changed_originals(data_dir) == []
    for document in Document.objects.select_related("source_file"):
        with originals.open_original(document.source_file.sha256) as stream:
            assert stream.read() == received[document.source_file.original_path]


@pytest.mark.parametrize("harm", ["bytes", "rights"])
def test_a_change_would_be_noticed(tmp_path: Path, harm: str) -> None:
    (tmp_path / "originals" / "ab").mkdir(parents=True)
    good = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    path = tmp_path / "originals" / "ab" / good
    path.write_bytes(b"abc")
    path.chmod(0o444)
    assert changed_originals(tmp_path) == []
    before = kept_originals(tmp_path)
    path.chmod(0o644)
    if harm == "bytes":
        path.write_bytes(b"abd")
        path.chmod(0o444)
    assert len(changed_originals(tmp_path)) == 1
    assert kept_originals(tmp_path) != before
