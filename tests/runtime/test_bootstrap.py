"""The environment follows the lock files and the Python, and survives what people do to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from dedupreview import bootstrap
from dedupreview.bootstrap import DEV_LOCK, RUNTIME_LOCK, BootstrapError, Environment

ROOT = Path(__file__).resolve().parents[2]


class Installer:
    """Stands in for uv, venv and pip: makes the files they would make, and remembers what was asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.commands: list[list[str]] = []
        self.fail_at: str | None = None

    def __call__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.commands.append(list(command))
        self.environment = environment
        words = " ".join(command)
        if self.fail_at and self.fail_at in words:
            raise BootstrapError("no network")
        if "venv" in command:
            python = self.root / ".venv" / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.write_text("")

    @property
    def created(self) -> int:
        return sum("venv" in command for command in self.commands)

    @property
    def installed(self) -> list[str]:
        return [Path(c[-1]).name for c in self.commands if "install" in c or "sync" in c]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "a checkout"
    root.mkdir()
    (root / RUNTIME_LOCK).write_text("a==1\n")
    (root / DEV_LOCK).write_text("a==1\nb==1\n")
    return root


@pytest.fixture
def installer(root: Path) -> Installer:
    return Installer(root)


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def environment(root: Path, installer: Installer, lines: list[str]) -> Environment:
    return Environment(root=root, say=lines.append, run=installer, find=lambda _name: None)


def test_the_first_start_creates_and_installs_and_says_so(
    environment: Environment, installer: Installer, lines: list[str]
) -> None:
    assert not environment.is_current(RUNTIME_LOCK)
    environment.update(RUNTIME_LOCK)
    assert environment.is_current(RUNTIME_LOCK)
    assert not environment.is_current(DEV_LOCK)
    assert installer.created == 1
    assert installer.installed == [RUNTIME_LOCK]
    assert "--require-hashes" in installer.commands[-1]
    assert len(lines) == 3
    assert all("\n" not in line for line in lines)


def test_a_second_start_does_nothing(environment: Environment, installer: Installer) -> None:
    environment.update(RUNTIME_LOCK)
    before = len(installer.commands)
    environment.update(RUNTIME_LOCK)
    assert len(installer.commands) == before


def test_the_tests_need_more_and_what_they_need_is_enough_for_the_rest(
    environment: Environment, installer: Installer
) -> None:
    environment.update(RUNTIME_LOCK)
    environment.update(DEV_LOCK)
    assert environment.is_current(DEV_LOCK)
    assert environment.is_current(RUNTIME_LOCK)
    assert installer.created == 1
    assert bootstrap.lock_for(["test", "-k", "x"]) == DEV_LOCK
    assert bootstrap.lock_for(["up"]) == RUNTIME_LOCK
    assert bootstrap.lock_for([]) == RUNTIME_LOCK


def test_a_changed_lock_file_updates_in_place(
    environment: Environment, installer: Installer, root: Path
) -> None:
    environment.update(DEV_LOCK)
    (root / RUNTIME_LOCK).write_text("a==2\n")
    assert not environment.is_current(RUNTIME_LOCK)
    environment.update(RUNTIME_LOCK)
    assert environment.is_current(RUNTIME_LOCK)
    assert installer.created == 1
    # The environment of somebody who runs the tests stays one in which they run.
    assert installer.installed == [DEV_LOCK, DEV_LOCK]


def test_another_python_makes_it_anew(environment: Environment, installer: Installer) -> None:
    environment.update(RUNTIME_LOCK)
    stamp = json.loads(environment.stamp_path.read_text())
    environment.stamp_path.write_text(
        json.dumps({**stamp, "python": "cpython 3.10.1 linux x86_64"})
    )
    leftover = environment.folder / "leftover"
    leftover.write_text("")
    environment.update(RUNTIME_LOCK)
    assert installer.created == 2
    assert not leftover.exists()


@pytest.mark.parametrize("step", ["venv", "install"])
def test_an_interrupted_installation_is_made_anew(
    environment: Environment, installer: Installer, step: str
) -> None:
    installer.fail_at = step
    with pytest.raises(BootstrapError, match="no network"):
        environment.update(RUNTIME_LOCK)
    assert not environment.is_current(RUNTIME_LOCK)
    (environment.folder / "half").mkdir(parents=True)
    installer.fail_at = None
    environment.update(RUNTIME_LOCK)
    assert environment.is_current(RUNTIME_LOCK)
    assert not (environment.folder / "half").exists()


def test_an_interrupted_update_is_not_taken_for_a_finished_one(
    environment: Environment, installer: Installer, root: Path
) -> None:
    environment.update(RUNTIME_LOCK)
    (root / RUNTIME_LOCK).write_text("a==2\n")
    installer.fail_at = "install"
    with pytest.raises(BootstrapError):
        environment.update(RUNTIME_LOCK)
    (root / RUNTIME_LOCK).write_text("a==1\n")
    assert not environment.is_current(RUNTIME_LOCK)


@pytest.mark.parametrize("content", ["", "[]", "{", "null"])
def test_a_spoilt_stamp_counts_as_none(environment: Environment, content: str) -> None:
    environment.update(RUNTIME_LOCK)
    environment.stamp_path.write_text(content)
    assert not environment.is_current(RUNTIME_LOCK)
    environment.update(RUNTIME_LOCK)
    assert environment.is_current(RUNTIME_LOCK)


def test_uv_is_used_where_it_is(root: Path, installer: Installer) -> None:
    environment = Environment(
        root=root, say=lambda _line: None, run=installer, find=lambda _name: "/opt/uv"
    )
    environment.update(RUNTIME_LOCK)
    assert [command[0] for command in installer.commands] == ["/opt/uv", "/opt/uv"]
    assert "--require-hashes" in installer.commands[1]


def test_a_uv_inside_the_environment_is_not_used(root: Path, installer: Installer) -> None:
    inside = str(root / ".venv" / "bin" / "uv")
    environment = Environment(root=root, say=lambda _: None, run=installer, find=lambda _: inside)
    environment.update(RUNTIME_LOCK)
    assert not any(inside in command for command in installer.commands)


def test_a_python_without_ensurepip_is_told_what_to_install(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(BootstrapError, match="python3-venv"):
        environment.update(RUNTIME_LOCK)


def test_starts_at_the_same_time_install_once(root: Path, installer: Installer) -> None:
    def slow(command: Sequence[str], variables: Mapping[str, str]) -> None:
        time.sleep(0.1)
        installer(command, variables)

    lines: list[str] = []

    def start() -> None:
        Environment(root=root, say=lines.append, run=slow, find=lambda _: None).update(RUNTIME_LOCK)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert installer.created == 1
    assert installer.installed == [RUNTIME_LOCK]
    assert any("waiting" in line for line in lines)


def test_foreign_paths_do_not_reach_the_installer(
    environment: Environment, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("VIRTUAL_ENV", "/elsewhere")
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("KEPT", "yes")
    environment.update(RUNTIME_LOCK)
    assert installer.environment["KEPT"] == "yes"
    assert not {"PYTHONPATH", "VIRTUAL_ENV", "PIP_USER"} & set(installer.environment)


def test_an_installer_that_fails_is_quoted() -> None:
    command = [sys.executable, "-c", "print('cannot reach the index'); raise SystemExit(3)"]
    with pytest.raises(BootstrapError, match=r"cannot reach the index\nfailed with exit code 3"):
        bootstrap.run(command, dict(os.environ))


def test_the_check_of_a_second_start_is_immediate(environment: Environment, root: Path) -> None:
    for name in (RUNTIME_LOCK, DEV_LOCK):
        (root / name).write_bytes((ROOT / name).read_bytes())
    environment.update(DEV_LOCK)
    best = min(_timed(environment) for _ in range(5))
    assert best < 0.05


def _timed(environment: Environment) -> float:
    began = time.perf_counter()
    assert environment.is_current(DEV_LOCK)
    return time.perf_counter() - began


def test_a_foreign_pythonpath_does_not_shadow_the_environment(tmp_path: Path) -> None:
    (tmp_path / "django.py").write_text("raise SystemExit('the wrong Django')")
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "version"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("5.2")


@pytest.mark.parametrize("name", [RUNTIME_LOCK, DEV_LOCK])
def test_lock_files_hold_versions_and_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert "index-url" not in text
    assert "find-links" not in text
    requirements = [line for line in text.splitlines() if line and line[0] not in " #"]
    assert len(requirements) > 30
    assert all("==" in line and line.endswith("\\") for line in requirements)


def test_the_dev_lock_holds_the_runtime_lock() -> None:
    def pins(name: str) -> set[str]:
        lines = (ROOT / name).read_text().splitlines()
        return {line.split(" ")[0] for line in lines if line[:1].isalnum()}

    assert pins(RUNTIME_LOCK) < pins(DEV_LOCK)
