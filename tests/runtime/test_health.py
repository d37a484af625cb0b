"""/healthz and the number of living workers, against a real queue server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from django.db import DatabaseError
from django.test import Client

from dedupreview import health
from screening import workers

if TYPE_CHECKING:
    from redis import Redis


def test_everything_there(client: Client, db: None, queue_server: Redis) -> None:
    with workers.heartbeat():
        assert _wait_for(1)
        answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "database": "ok",
        "queue": "ok",
        "workers": 1,
        "reasons": [],
    }
    assert "no-store" in answer["Cache-Control"]


def test_no_worker(client: Client, db: None, queue_server: Redis) -> None:
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["reasons"] == ["no background worker is running"]
    assert answer.json()["database"] == "ok"


def test_no_queue(client: Client, db: None, settings: Any) -> None:
    settings.QUEUE_URL = "unix:///nowhere/queue.sock?db=0"
    began = time.monotonic()
    answer = client.get("/healthz")
    assert time.monotonic() - began < 5
    assert answer.status_code == 503
    assert answer.json()["queue"] == "failing"
    assert answer.json()["reasons"] == ["queue does not answer"]
    assert health.workers_seen() is None


def test_no_database(
    client: Client, db: None, queue_server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone:
        def cursor(self) -> None:
            raise DatabaseError("gone")

    monkeypatch.setattr(health, "connection", Gone())
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert "database does not answer" in answer.json()["reasons"]


def test_ready_needs_more_than_healthy(
    client: Client, db: None, queue_server: Redis, monkeypatch: pytest.MonkeyPatch, data_dir: Any
) -> None:
    with workers.heartbeat():
        assert _wait_for(1)
        assert client.get("/readyz").status_code == 200
        monkeypatch.setattr(health, "LEAST_FREE", 2**70)
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert "free in the data directory" in answer.json()["reasons"][0]
        assert client.get("/healthz").status_code == 200


def test_ready_names_a_database_that_is_behind(
    client: Client, db: None, queue_server: Redis, data_dir: Any
) -> None:
    from django.db.migrations.recorder import MigrationRecorder

    last = MigrationRecorder.Migration.objects.filter(app="reviews").order_by("-id").first()
    assert last is not None
    last.delete()
    with workers.heartbeat():
        assert _wait_for(1)
        answer = client.get("/readyz")
        assert client.get("/healthz").status_code == 200
    assert answer.status_code == 503
    assert answer.json()["reasons"] == [
        "the database is older than this program: run manage.py migrate"
    ]


def test_ready_says_that_the_data_directory_is_gone(
    client: Client, db: None, queue_server: Redis, settings: Any
) -> None:
    settings.DATA_DIR = settings.DATA_DIR / "gone"
    assert any("data directory" in why for why in client.get("/readyz").json()["reasons"])
    assert client.post("/readyz").status_code == 405


def test_it_needs_no_login_and_answers_only_reads(client: Client, db: None) -> None:
    assert client.post("/healthz").status_code == 405


def test_a_stopped_worker_is_gone_at_once(queue_server: Redis) -> None:
    with workers.heartbeat():
        assert _wait_for(1)
    assert health.workers_seen() == 0


def test_a_killed_worker_is_forgotten_within_ten_seconds(queue_server: Redis) -> None:
    with workers.heartbeat() as key:
        assert _wait_for(1)
        remaining = queue_server.pttl(key)
    # A killed worker leaves its key as it is; pages remember a count for at most two seconds more.
    assert 0 < remaining <= health.HEARTBEAT_TTL * 1000
    assert health.HEARTBEAT_TTL + 2 < 10


def test_a_heartbeat_outlives_a_queue_server_that_is_gone_for_a_moment(
    queue_server: Redis, settings: Any
) -> None:
    with workers.heartbeat(interval=0.05):
        assert _wait_for(1)
        queue_server.flushall()  # what it kept is lost
        assert _wait_for(1)


def _wait_for(count: int, seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while health.workers_seen() != count:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
