"""The suite's own servers are real and clean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from redis import Redis


def test_the_postgres_fixture_makes_a_migrated_postgres_the_default_database(postgres: str) -> None:
    from django.db import connection

    from dedupreview import insert_only
    from dedupreview.people.models import Person

    assert connection.vendor == "postgresql"
    assert insert_only.missing() == []
    assert Person.objects.count() == 0
    Person.objects.create_user(username="alice", password="secret")


def test_each_postgres_test_starts_empty(postgres: str) -> None:
    from dedupreview.people.models import Person

    assert Person.objects.count() == 0
    Person.objects.create_user(username="alice", password="secret")


def test_the_default_database_is_sqlite_with_wal_and_immediate_transactions(db: None) -> None:
    from django.db import connection

    assert connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)
    assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert connection.settings_dict["OPTIONS"]["timeout"] == 20


@pytest.mark.parametrize("turn", [1, 2])
def test_insert_only_rows_do_not_survive_a_transactional_test(
    transactional_db: None, turn: int
) -> None:
    from dedupreview import insert_only
    from dedupreview.people.audit import record
    from dedupreview.people.models import AuditEvent

    assert AuditEvent.objects.count() == 0
    assert insert_only.missing() == []
    record(actor=None, action="tested", data={"turn": turn})


def test_queued_jobs_run_in_the_test(work: Callable[[], bool], queue_server: Redis) -> None:
    from django_rq import get_queue

    job = get_queue("default").enqueue("os.path.basename", "a/b")
    assert work() is True
    assert job.return_value() == "b"
    assert work() is False


def test_shared_sets_are_found_by_name(shared: Path) -> None:
    assert (shared / "corpora").is_dir()


def test_a_page_can_be_driven(page: Page, live_server: Any) -> None:
    answer = page.goto(f"{live_server.url}/healthz")
    assert answer is not None
    assert answer.json()["database"] == "ok"
