"""Which machines may serve one installation together, and what the others are told."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from dedupreview import hosts, sweeper
from dedupreview.models import Host
from tests.servers import Site

pytestmark = pytest.mark.django_db


def other(**changes: Any) -> Host:
    """Another machine, which agrees with this one in everything that is not in ``changes``."""
    facts = {
        "mark": "another boot",
        "name": "archive-2",
        "role": "all",
        "key_mark": hosts.key_mark(),
        "files_mark": hosts.files_mark(),
        "seen_at": timezone.now(),
    }
    return Host.objects.create(**facts | changes)


def goes_on(_seconds: float) -> None:
    Host.objects.filter(name="archive-2").update(beats=F("beats") + 1)


def stands_still(_seconds: float) -> None:
    pass


@pytest.fixture
def alone_here(data_dir: Path) -> None:
    hosts.enter("all")


@pytest.mark.usefixtures("alone_here")
class TestSqlite:
    def test_a_second_machine_is_told_what_to_do(self) -> None:
        other()
        with pytest.raises(hosts.Refused) as refused:
            hosts.check_alone(goes_on)
        words = str(refused.value)
        assert "archive-2" in words
        assert "DATABASE_URL and REDIS_URL" in words
        assert "\n" not in words

    def test_a_clock_that_is_wrong_changes_nothing(self) -> None:
        other(seen_at=timezone.now() - timedelta(days=400))
        with pytest.raises(hosts.Refused):
            hosts.check_alone(goes_on)

    def test_a_machine_that_lost_its_power_hinders_nobody(self) -> None:
        other()
        waited: list[float] = []
        hosts.check_alone(waited.append)
        assert sum(waited) >= 2 * hosts.BEAT  # long enough to have seen a renewal

    def test_nobody_waits_where_there_is_no_other(self) -> None:
        waited: list[float] = []
        hosts.check_alone(waited.append)
        assert waited == []

    def test_shared_servers_admit_everyone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        other()
        monkeypatch.setenv("REDIS_URL", "redis://queue.example/0")
        monkeypatch.setattr(connection, "vendor", "postgresql")
        waited: list[float] = []
        hosts.check_alone(waited.append)
        assert waited == []

    def test_a_shared_database_beside_a_private_queue_does_not(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other()
        monkeypatch.delenv("REDIS_URL", raising=False)
        monkeypatch.setattr(connection, "vendor", "postgresql")
        with pytest.raises(hosts.Refused, match="set REDIS_URL on both"):
            hosts.check_alone(goes_on)


@pytest.mark.usefixtures("alone_here")
class TestSame:
    def test_same_key_and_files(self) -> None:
        other()
        hosts.check_same()

    def test_another_secret_key(self) -> None:
        other(key_mark="0" * 32)
        with pytest.raises(hosts.Refused, match=r"archive-2.*DEDUPREVIEW_SECRET_KEY"):
            hosts.check_same()

    def test_another_data_directory(self) -> None:
        other(files_mark="0" * 32)
        with pytest.raises(hosts.Refused, match=r"archive-2.*DEDUPREVIEW_DATA_DIR"):
            hosts.check_same()

    def test_one_that_is_gone_says_nothing(self) -> None:
        other(key_mark="0" * 32, seen_at=timezone.now() - timedelta(minutes=5))
        hosts.check_same()

    def test_the_mark_does_not_give_the_key_away(self, settings: Any) -> None:
        mark = hosts.key_mark()
        assert mark not in str(settings.SECRET_KEY)
        settings.SECRET_KEY = "another"
        assert hosts.key_mark() != mark


@pytest.mark.usefixtures("alone_here")
def test_the_sweeper_renews_the_row_and_leaving_removes_it() -> None:
    assert "dedupreview.hosts.beat" in sweeper.SWEEPS
    assert sweeper.INTERVAL <= hosts.BEAT
    before = Host.objects.get()
    hosts.beat()
    after = Host.objects.get()
    assert after.beats == before.beats + 1
    assert after.seen_at >= before.seen_at


@pytest.mark.parametrize("role", ["web", "worker"])
def test_a_part_of_the_work_needs_what_is_shared(
    monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(hosts.Refused, match="set DATABASE_URL and REDIS_URL"):
        hosts.check_role(role)
    monkeypatch.setenv("REDIS_URL", "redis://queue.example/0")
    with pytest.raises(hosts.Refused, match="set DATABASE_URL "):
        hosts.check_role(role)
    monkeypatch.setenv("DATABASE_URL", "sqlite:////srv/shared.sqlite3")
    with pytest.raises(hosts.Refused, match="PostgreSQL"):
        hosts.check_role(role)
    hosts.check_role("all")


@pytest.mark.slow
def test_up_says_so_in_one_line_and_leaves_nothing(whole_site: Site) -> None:
    site = whole_site
    for arguments, words in [
        (["--role", "worker"], "set DATABASE_URL and REDIS_URL"),
        (["--role", "web", "--workers", "2"], "--role web has no workers"),
    ]:
        done = subprocess.run(
            site.command(*arguments),
            env=site.environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (site.data_dir / "db.sqlite3").exists()
