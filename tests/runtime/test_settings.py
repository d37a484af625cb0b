"""What the environment decides, and what it may not."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dedupreview import paths
from dedupreview import settings as project
from dedupreview.logs import JsonFormatter

ROOT = Path(__file__).resolve().parents[2]


def in_process(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("DEDUPREVIEW_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**kept, "DJANGO_SETTINGS_MODULE": "dedupreview.settings", **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("Yes", True), ("off", False), ("", False), (" 0 ", False)]
)
def test_yes_and_no(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("X", value)
    assert project.env_bool("X", False) is expected


def test_malformed_values_stop_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "perhaps")
    with pytest.raises(ImproperlyConfigured, match="X='perhaps'"):
        project.env_bool("X", False)
    with pytest.raises(ImproperlyConfigured, match="whole number"):
        project.env_int("X", 1)


def test_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "a, b,,")
    assert project.env_list("X", ["c"]) == ["a", "b"]
    monkeypatch.setenv("X", "")
    assert project.env_list("X", ["c"]) == ["c"]


def test_the_secret_is_made_once_and_only_the_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret_key"
    secrets: list[str] = []
    threads = [
        threading.Thread(target=lambda: secrets.append(paths.read_or_create_secret(path)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(secrets)) == 1
    assert len(secrets[0]) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["secret_key"]


def test_loading_the_settings_writes_nothing(tmp_path: Path) -> None:
    code = (
        "import django; django.setup(); from django.conf import settings; print(settings.DATA_DIR)"
    )
    done = in_process(code, DEDUPREVIEW_DATA_DIR=str(tmp_path / "data"))
    assert done.stdout.strip() == str(tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_database_url_is_used(tmp_path: Path) -> None:
    code = "from dedupreview import settings as s; print(s.DATABASES['default']['HOST'])"
    done = in_process(code, DATABASE_URL="postgresql://me@db.example/reviews")
    assert done.stdout.strip() == "db.example"


@pytest.mark.parametrize("name", ["a b", "a%20b#c?d"])
def test_a_strange_data_directory_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    code = "from dedupreview import settings as s; print(s.DATABASES['default']['NAME'])"
    done = in_process(code, DEDUPREVIEW_DATA_DIR=str(tmp_path / name))
    assert done.stdout.strip() == str(tmp_path / name / "db.sqlite3")


def test_deployment_checks_are_clean_behind_https(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={
            **{n: v for n, v in os.environ.items() if not n.startswith("DJANGO_")},
            "DEDUPREVIEW_DATA_DIR": str(tmp_path),
            "DEDUPREVIEW_HTTPS": "1",
            "DEDUPREVIEW_HOSTS": "reviews.example",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_json_log_lines() -> None:
    record = logging.LogRecord("a.b", logging.WARNING, "", 0, "甲 %s", ("乙",), None)
    line = json.loads(JsonFormatter().format(record))
    assert line["message"] == "甲 乙"
    assert line["level"] == "WARNING"
    assert "error" not in line
