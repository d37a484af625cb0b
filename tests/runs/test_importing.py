"""Imports: received, read in the background, reported row by row, safe to repeat and to kill."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from redis import Redis

from screening import importing, leases, originals, saving
from screening.models import Collection, Document, DocumentImport, SourceFile
from screening.staging import Staging
from tests.runs import making

pytestmark = pytest.mark.usefixtures("data_dir")
TEXT = "本馆每周一闭馆整理图书，其余日期上午九时至下午五时开放。"


@pytest.fixture
def library(db: None) -> Collection:
    return importing.get_or_create_collection(slug="青禾")


def statuses(report: importing.ImportReport) -> dict[str, str]:
    return {row["place"]: row["status"] for row in report.rows}


def test_a_folder_becomes_documents_with_their_originals(
    library: Collection, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_bytes(TEXT.encode("gb18030"))
    (source / "b.md").write_text("---\ntitle: 乙\n---\n" + TEXT, encoding="utf-8")
    (source / "c.pdf").write_bytes(b"%PDF-1.4")
    report = importing.import_path(path=source, collection=library)
    assert (report.added, report.identical, report.refused, report.files) == (2, 0, 1, 3)
    first, second = Document.objects.order_by("doc_id")
    assert (first.doc_id, first.raw, first.chars) == ("a.txt", TEXT, len(TEXT))
    assert first.warnings[0]["code"] == "encoding_guessed"
    assert second.title == "乙"
    with originals.open_original(first.source_file.sha256) as stream:
        assert stream.read() == (source / "a.txt").read_bytes()
    assert first.sha256 == first.source_file.sha256
    assert originals.verify().ok
    row = DocumentImport.objects.get()
    assert row.state == "done"
    assert row.report["refused"] == 1


def test_repeating_adds_nothing_and_another_text_is_refused(
    library: Collection, tmp_path: Path
) -> None:
    rows = making.rows(5)
    importing.import_path(path=making.folder(tmp_path / "1", rows), collection=library)
    again = importing.import_path(path=making.folder(tmp_path / "1", rows), collection=library)
    assert (again.added, again.identical, again.refused) == (0, 5, 0)
    rows[2]["raw"] += "（修订）"
    rows[3]["title"] = "另一个标题"
    changed = importing.import_path(path=making.folder(tmp_path / "2", rows), collection=library)
    assert statuses(changed)["documents.jsonl:3"] == "refused"
    assert changed.rows[2]["code"] == "doc_id_taken"
    assert changed.rows[3]["warnings"][0]["code"] == "metadata_kept"
    assert Document.objects.count() == 5
    assert Document.objects.get(doc_id="D0003").title == "材料3"
    assert SourceFile.objects.count() == 1


def test_equal_bytes_under_another_doc_id_are_a_second_document(
    library: Collection, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(TEXT, encoding="utf-8")
        importing.import_path(path=tmp_path / name, collection=library)
    assert Document.objects.values_list("raw_sha256", flat=True).distinct().count() == 1
    assert sorted(Document.objects.values_list("doc_id", flat=True)) == ["a.txt", "b.txt"]
    kept = [path for path in originals.folder().rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o777 == 0o444


def test_the_same_doc_id_in_another_collection_is_another_document(
    library: Collection, tmp_path: Path
) -> None:
    other = importing.get_or_create_collection(slug="other")
    source = making.folder(tmp_path / "in", making.rows(2))
    importing.import_path(path=source, collection=library)
    assert importing.import_path(path=source, collection=other).added == 2


def test_a_manifest_and_the_files_it_names_are_kept(library: Collection, tmp_path: Path) -> None:
    source = making.folder(tmp_path / "in", [{"doc_id": "甲", "path": "docs/甲.txt"}])
    (source / "docs").mkdir()
    (source / "docs" / "甲.txt").write_text(TEXT, encoding="utf-8")
    importing.import_path(path=source, collection=library)
    assert sorted(SourceFile.objects.values_list("original_path", flat=True)) == [
        "docs/甲.txt",
        "documents.jsonl",
    ]
    assert Document.objects.get().source_file.original_path == "docs/甲.txt"


@pytest.mark.parametrize("slug", ["", "两 词", "a/b", "x" * 81])
def test_bad_short_names_are_refused(db: None, slug: str) -> None:
    with pytest.raises(importing.ImportingError):
        importing.get_or_create_collection(slug=slug)


# --- In the background -----------------------------------------------------------------------------------------------


def test_an_upload_is_read_by_a_worker(
    library: Collection,
    work: Callable[[], bool],
    django_capture_on_commit_callbacks: Any,
    tmp_path: Path,
) -> None:
    files = [
        making.upload("语料/docs/a.txt", TEXT.encode("utf-16")),
        making.upload("语料/b.txt", b""),
        making.upload("../c.txt", TEXT.encode()),
    ]
    with django_capture_on_commit_callbacks(execute=True):
        row = importing.receive_files(collection=library, files=files[:2], actor=None)
    assert Document.objects.count() == 0
    assert work()
    row.refresh_from_db()
    assert (row.state, row.progress_done, row.attempt) == ("done", 2, 1)
    assert Document.objects.get().doc_id == "docs/a.txt"  # as `import_documents 语料` would name it
    assert {r["place"]: r["code"] for r in row.report["rows"]} == {
        "b.txt": "empty",
        "docs/a.txt": "",
    }
    assert not (tmp_path / row.staging / "files").exists()
    with django_capture_on_commit_callbacks(execute=True):
        outside = importing.receive_files(collection=library, files=files[2:], actor=None)
    work()
    outside.refresh_from_db()
    assert [r["code"] for r in outside.report["rows"]] == ["path_outside"]


def test_an_upload_without_files_is_refused(library: Collection, data_dir: Path) -> None:
    with pytest.raises(importing.ImportingError):
        importing.receive_files(collection=library, files=[], actor=None)
    assert list((data_dir / "imports").iterdir()) == []
    assert not DocumentImport.objects.exists()


def test_a_file_over_the_limit_is_not_received(
    library: Collection, settings: Any, data_dir: Path, django_capture_on_commit_callbacks: Any
) -> None:
    settings.INTAKE_LIMITS = {"file_bytes": 100}
    files = [making.upload("big.txt", b"x" * 101), making.upload("small.txt", TEXT[:30].encode())]
    row = importing.receive_files(collection=library, files=files, actor=None)
    importing.run_import(row.pk)
    row.refresh_from_db()
    assert {r["place"]: r["code"] for r in row.report["rows"]} == {
        "big.txt": "too_large_to_receive",
        "small.txt": "",
    }


def test_a_rolled_back_upload_enqueues_nothing(
    transactional_db: None, data_dir: Path, queue_server: Redis
) -> None:
    library = importing.get_or_create_collection(slug="w04")

    def upload_in_vain() -> None:
        with transaction.atomic():
            files = [making.upload("a.txt", b"abc")]
            importing.receive_files(collection=library, files=files, actor=None)
            making.trouble()

    with pytest.raises(RuntimeError):
        upload_in_vain()
    assert queue_server.keys("rq:job:*") == []
    with transaction.atomic():
        row = importing.receive_files(
            collection=library, files=[making.upload("a.txt", b"abc")], actor=None
        )
        assert queue_server.keys("rq:job:*") == []
    assert queue_server.keys("rq:job:*") == [f"rq:job:read_import-{row.pk}-try-1".encode()]


def test_running_an_import_twice_changes_nothing(library: Collection, data_dir: Path) -> None:
    row = importing.receive_files(
        collection=library,
        files=[making.upload("m.jsonl", making.manifest(making.rows(4)))],
        actor=None,
    )
    importing.run_import(row.pk)
    row.refresh_from_db()
    before = row.report
    importing.run_import(row.pk)
    row.refresh_from_db()
    assert row.report == before
    assert row.attempt == 1
    assert Document.objects.count() == 4


def test_a_killed_import_is_finished_by_the_next_worker(
    library: Collection, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 10)
    row = importing.receive_files(
        collection=library,
        files=[making.upload("m.jsonl", making.manifest(making.rows(35)))],
        actor=None,
    )
    save = saving.Saver.save
    saved: list[int] = []

    def killed_later(self: saving.Saver, entries: Any) -> Any:
        if len(saved) == 2:
            raise SystemExit("killed")
        saved.append(len(entries))
        return save(self, entries)

    monkeypatch.setattr(saving.Saver, "save", killed_later)
    with pytest.raises(SystemExit):
        importing.run_import(row.pk)
    assert Document.objects.count() == 20
    importing.run_import(row.pk)  # its lease is still good: nobody else may touch it
    assert Document.objects.count() == 20
    monkeypatch.setattr(saving.Saver, "save", save)
    DocumentImport.objects.filter(pk=row.pk).update(lease_expires_at=timezone.now() - leases.LEASE)
    importing.run_import(row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("done", 2)
    assert (row.report["added"], row.report["identical"]) == (35, 0)
    assert Document.objects.count() == 35


def test_files_that_are_gone_fail_the_import_in_words(library: Collection, data_dir: Path) -> None:
    row = importing.receive_files(
        collection=library, files=[making.upload("a.txt", b"abc")], actor=None
    )
    Staging.of(row.staging).remove()
    importing.run_import(row.pk)
    row.refresh_from_db()
    assert row.state == "failed"
    assert row.error


def test_the_sweep_puts_a_waiting_import_on_the_queue(
    library: Collection, data_dir: Path, queue_server: Redis, work: Callable[[], bool]
) -> None:
    row = importing.receive_files(
        collection=library, files=[making.upload("a.txt", b"abc def")], actor=None
    )
    assert importing.sweep() == 1
    assert importing.sweep() == 0  # it is there already
    assert work()
    row.refresh_from_db()
    assert row.state == "done"
    assert importing.sweep() == 0


def test_the_report_keeps_refusals_first(
    library: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "ROWS_IN_REPORT", 4)
    rows: list[Any] = [*making.rows(5), {"doc_id": "x"}, {"doc_id": "y"}]
    report = importing.import_path(path=making.folder(tmp_path / "in", rows), collection=library)
    assert (report.added, report.refused) == (5, 2)
    assert [row["status"] for row in report.rows] == ["added", "added", "refused", "refused"]
    whole = Staging.of(DocumentImport.objects.get().staging).report.read_text("utf-8")
    assert len(whole.splitlines()) == 7
    assert json.loads(whole.splitlines()[0])["status"] == "added"


def test_a_refusal_stands_until_its_place_is_accepted(library: Collection, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_bytes(b"")
    (source / "b.txt").write_bytes(b"")
    importing.import_path(path=source, collection=library)
    assert [refusal.place for refusal in importing.refusals_of(library)] == ["a.txt", "b.txt"]
    (source / "a.txt").write_text(TEXT, encoding="utf-8")
    importing.import_path(path=source, collection=library)
    (refusal,) = importing.refusals_of(library)
    assert (refusal.place, refusal.problem.code) == ("b.txt", "empty")
    assert refusal.sha256 is None


# --- Checked first ---------------------------------------------------------------------------------------------------


def checked(library: Collection, rows: list[Any]) -> DocumentImport:
    files = [making.upload("m.jsonl", making.manifest(rows))]
    row = importing.receive_files(collection=library, files=files, actor=None, check_first=True)
    importing.run_import(row.pk)
    row.refresh_from_db()
    return row


def test_a_check_adds_nothing_and_its_confirmation_does_what_it_said(
    library: Collection, tmp_path: Path
) -> None:
    rows = making.rows(6)
    importing.import_path(path=making.folder(tmp_path / "in", rows[:2]), collection=library)
    rows[1]["raw"] += "（修订）"
    rows.append({"doc_id": "x"})
    row = checked(library, rows)
    assert (row.state, row.attempt) == ("checked", 1)
    assert Document.objects.count() == 2
    assert SourceFile.objects.count() == 1
    planned = dict(row.report)
    counts = {name: planned[name] for name in ("added", "identical", "refused", "conflicting")}
    assert counts == {"added": 4, "identical": 1, "refused": 2, "conflicting": 1}
    importing.run_import(row.pk)  # only a confirmation sets it going
    assert Document.objects.count() == 2
    importing.confirm_import(row=row, actor=None)
    assert row.report == {}
    importing.run_import(row.pk)
    row.refresh_from_db()
    assert row.state == "done"
    assert row.report == planned
    assert Document.objects.count() == 6
    assert not Staging.of(row.staging).folder.joinpath("files").exists()


def test_a_check_is_answered_once(library: Collection, data_dir: Path) -> None:
    row = checked(library, making.rows(2))
    other = DocumentImport.objects.get(pk=row.pk)
    importing.discard_import(row=row, actor=None)
    with pytest.raises(importing.ImportingError):
        importing.confirm_import(row=other, actor=None)
    importing.run_import(row.pk)
    assert Document.objects.count() == 0
    assert not Staging.of(row.staging).folder.joinpath("files").exists()


def test_what_nobody_confirms_is_discarded_in_the_end(library: Collection, data_dir: Path) -> None:
    row = checked(library, making.rows(2))
    importing.sweep(timezone.now() + importing.KEPT_UNCONFIRMED / 2)
    row.refresh_from_db()
    assert row.state == "checked"
    importing.sweep(timezone.now() + importing.KEPT_UNCONFIRMED * 2)
    row.refresh_from_db()
    assert row.state == "discarded"


def test_what_changed_after_the_check_is_decided_anew(library: Collection, tmp_path: Path) -> None:
    rows = making.rows(3)
    row = checked(library, rows)
    rows[0]["raw"] = "先到的另一份正文，与要加入的不同。"
    importing.import_path(path=making.folder(tmp_path / "in", rows[:2]), collection=library)
    importing.confirm_import(row=row, actor=None)
    importing.run_import(row.pk)
    row.refresh_from_db()
    assert (row.report["added"], row.report["identical"], row.report["conflicting"]) == (1, 1, 1)
    assert Document.objects.get(doc_id="D0000").raw == rows[0]["raw"]


def test_a_dry_run_of_the_command_writes_nothing(
    db: None, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = making.folder(tmp_path / "in", [*making.rows(2), {"doc_id": "x"}])
    call_command("import_documents", str(source), "--collection", "neu", "--dry-run")
    assert "documents.jsonl:3" in capsys.readouterr().out
    assert not Collection.objects.exists()
    assert not originals.folder().exists()


# --- Two plausible readings ------------------------------------------------------------------------------------------

UNCLEAR = "00元".encode("gb18030")


def unclear_import(library: Collection) -> DocumentImport:
    files = [making.upload("a.txt", UNCLEAR), making.upload("b.txt", TEXT.encode())]
    row = importing.receive_files(collection=library, files=files, actor=None, check_first=True)
    importing.run_import(row.pk)
    row.refresh_from_db()
    return row


def test_a_person_chooses_between_two_readings_and_the_choice_is_on_record(
    library: Collection, data_dir: Path
) -> None:
    from dedupreview.people.models import AuditEvent

    row = unclear_import(library)
    (unclear,) = [r for r in row.report["rows"] if r["code"] == "encoding_unclear"]
    assert [reading[0] for reading in unclear["params"]["readings"]] == ["utf-8", "gb18030"]
    importing.choose_encoding(row=row, place="a.txt", encoding="gb18030", actor=None)
    importing.run_import(row.pk)
    row.refresh_from_db()
    assert (row.state, row.report["added"], row.report["refused"]) == ("checked", 2, 0)
    assert Document.objects.count() == 0
    importing.confirm_import(row=row, actor=None)
    importing.run_import(row.pk)
    chosen, plain = Document.objects.order_by("doc_id")
    assert chosen.raw == "00元"
    assert [w["code"] for w in chosen.warnings] == ["encoding_chosen"]
    assert plain.warnings == []
    event = AuditEvent.objects.get(action="import.encoding_chosen")
    assert (event.data["place"], event.data["encoding"]) == ("a.txt", "GB18030")


def test_only_what_is_unclear_can_be_chosen(library: Collection, data_dir: Path) -> None:
    row = unclear_import(library)
    for place, encoding in (
        ("b.txt", "gb18030"),
        ("a.txt", "klingon"),
        ("a.txt", ""),
        ("x", "utf-8"),
    ):
        with pytest.raises(importing.ImportingError):
            importing.choose_encoding(row=row, place=place, encoding=encoding, actor=None)
    importing.discard_import(row=row, actor=None)
    with pytest.raises(importing.ImportingError):
        importing.choose_encoding(row=row, place="a.txt", encoding="gb18030", actor=None)


def test_the_command_refuses_naming_both_unless_it_is_told(
    db: None, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.txt"
    source.write_bytes(UNCLEAR)
    with pytest.raises(SystemExit) as refused:
        call_command("import_documents", str(source), "--collection", "neu")
    assert refused.value.code == 2
    said = capsys.readouterr().out
    assert "UTF-8" in said
    assert "GB18030" in said
    call_command("import_documents", str(source), "--collection", "neu", "--encoding", "gbk")
    assert Document.objects.get().raw == "00元"


# --- Several people --------------------------------------------------------------------------------------------------


def test_of_one_person_one_import_is_read_at_a_time(
    library: Collection,
    data_dir: Path,
    queue_server: Redis,
    django_capture_on_commit_callbacks: Any,
) -> None:
    from tests.reviews.world import person

    first, second = person("甲", "admin"), person("乙", "admin")

    def handed_over(name: str, actor: Any) -> DocumentImport:
        rows = [{"doc_id": name, "raw": TEXT + name}]
        files = [making.upload("m.jsonl", making.manifest(rows))]
        return importing.receive_files(collection=library, files=files, actor=actor)

    reading, waiting, others = (
        handed_over("a", first), handed_over("b", first), handed_over("c", second)
    )  # fmt: skip
    later = timezone.now() + leases.LEASE
    DocumentImport.objects.filter(pk=reading.pk).update(state="running", lease_expires_at=later, attempt=1)  # fmt: skip
    importing.run_import(waiting.pk)
    importing.run_import(others.pk)
    assert set(Document.objects.values_list("doc_id", flat=True)) == {"c"}
    assert importing.sweep() == 0  # what waits for its turn is not put on the queue again and again
    DocumentImport.objects.filter(pk=reading.pk).update(lease_expires_at=timezone.now() - leases.LEASE)  # fmt: skip
    with django_capture_on_commit_callbacks(execute=True):
        importing.run_import(reading.pk)
    assert queue_server.exists(f"rq:job:read_import-{waiting.pk}-try-1")
    importing.run_import(waiting.pk)
    assert Document.objects.count() == 3


def test_long_texts_are_packed_quickly_where_postgresql_can(postgres: str, data_dir: Path) -> None:
    from django.db import connection

    library = importing.get_or_create_collection(slug="青禾")
    rows = [{"doc_id": "a", "raw": "".join(f"{TEXT}{n}" for n in range(400))}]
    source = making.folder(data_dir / "in", rows)
    assert importing.import_path(path=source, collection=library).added == 1
    assert Document.objects.get().raw == rows[0]["raw"]
    if not saving._packs_quickly():
        pytest.skip("this PostgreSQL was built without LZ4")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_compression(raw) FROM screening_document")
        assert cursor.fetchone() == ("lz4",)
