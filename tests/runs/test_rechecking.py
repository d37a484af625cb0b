"""Once a day everything that was received is hashed again, by a worker, and the page says when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from redis import Redis

from screening import importing, originals, rechecking
from screening.models import Document, SourceFile
from tests.runs import making

pytestmark = pytest.mark.usefixtures("data_dir")


@pytest.fixture
def kept(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceFile:
    library = importing.get_or_create_collection(slug="青禾")
    importing.import_path(path=making.folder(tmp_path / "in", making.rows(3)), collection=library)
    return SourceFile.objects.get()


def sweep_at(monkeypatch: pytest.MonkeyPatch, after: timedelta) -> int:
    monkeypatch.setattr(rechecking, "_asked_again_from", None)
    return rechecking.sweep(timezone.now() + after)


def test_the_check_is_due_a_day_after_the_first_original_and_then_daily(
    kept: SourceFile,
    queue_server: Redis,
    work: Callable[[], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sweep_at(monkeypatch, timedelta(hours=23)) == 0
    assert rechecking.last_check() is None
    assert sweep_at(monkeypatch, timedelta(hours=25)) == 1
    assert sweep_at(monkeypatch, timedelta(hours=25)) == 0  # it is on the queue already
    assert work()
    found = rechecking.last_check()
    assert found is not None
    assert (found.data["files"], found.data["documents"], found.data["bad"]) == (1, 3, 0)
    assert sweep_at(monkeypatch, timedelta(hours=23)) == 0
    assert sweep_at(monkeypatch, timedelta(hours=25)) == 1


def test_nothing_is_due_where_nothing_was_received(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sweep_at(monkeypatch, timedelta(days=9)) == 0


def test_what_has_changed_is_named(kept: SourceFile) -> None:
    path = originals.path_of(kept.sha256)
    path.chmod(0o644)
    path.write_bytes(b"other")
    Document.objects.filter(doc_id="D0001").update(raw="别的正文")
    found = rechecking.check()
    assert found.data["bad"] == 2
    assert "documents.jsonl" in found.data["problems"][0]
    assert "D0001" in found.data["problems"][1]
    path.unlink()  # no test leaves an original behind that is not what it was stored as
