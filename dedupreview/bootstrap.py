"""Makes the virtual environment beside manage.py, keeps it true to the lock files, and continues inside it.

Standard library only: it runs before anything else is installed. The environment is described by a stamp that is
written last, so that an interrupted installation is recognised and made anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RUNTIME_LOCK = "requirements.lock"
DEV_LOCK = "requirements-dev.lock"
"""Holds everything of the runtime lock, in the same versions, and the tools of the tests."""

Runner = Callable[[Sequence[str], Mapping[str, str]], None]


class BootstrapError(Exception):
    """The environment could not be made; the message says what to do about it."""


def python_identity() -> str:
    """Which Python this is, as far as installed packages depend on it."""
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{sys.implementation.name} {version} {sys.platform} {platform.machine()}"


def lock_for(arguments: Sequence[str]) -> str:
    """The lock file that the command of these arguments needs."""
    return DEV_LOCK if arguments[:1] == ["test"] else RUNTIME_LOCK


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Environment:
    """The virtual environment of one checkout."""

    root: Path
    say: Callable[[str], None]
    run: Runner
    find: Callable[[str], str | None] = shutil.which

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp_path(self) -> Path:
        return self.folder / "dedupreview-stamp.json"

    def stamp(self) -> dict[str, str]:
        """What was installed last: ``python`` and the digest of each lock file; empty if that is not known."""
        try:
            content = json.loads(self.stamp_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def is_current(self, lock: str) -> bool:
        """Whether what ``lock`` names is installed for this Python."""
        stamp = self.stamp()
        return (
            stamp.get("python") == python_identity()
            and stamp.get(lock) == digest_of(self.root / lock)
            and self.python.exists()
        )

    def update(self, lock: str) -> None:
        """Bring the environment to the state of ``lock``; of several processes that try, one does it."""
        with self._alone():
            if self.is_current(lock):
                return
            stamp = self.stamp()
            if stamp.get(DEV_LOCK):
                lock = DEV_LOCK  # who ran the tests once will run them again
            uv = self._uv()
            if stamp.get("python") != python_identity() or not self.python.exists():
                self._create(uv)
            self.stamp_path.unlink(missing_ok=True)
            self._install(uv, lock)
            self._write_stamp(lock)
            self.say("environment ready")

    def _create(self, uv: str | None) -> None:
        if self.folder.is_symlink() or self.folder.is_file():
            self.folder.unlink()
        elif self.folder.exists():
            self.say(f"removing {self.folder}: interrupted, or made by another Python")
            shutil.rmtree(self.folder)
        self.say(f"creating {self.folder} with {python_identity()}")
        base = getattr(sys, "_base_executable", None) or sys.executable
        if uv:
            self.run(
                [uv, "venv", "--quiet", "--python", base, str(self.folder)], clean_environment()
            )
            return
        if importlib.util.find_spec("ensurepip") is None:
            raise BootstrapError(
                "this Python cannot make virtual environments: its module ensurepip is missing.\n"
                "On Debian or Ubuntu: apt-get install python3-venv; or install uv and try again."
            )
        self.run([base, "-m", "venv", str(self.folder)], clean_environment())

    def _install(self, uv: str | None, lock: str) -> None:
        count = sum("==" in line for line in (self.root / lock).read_text("utf-8").splitlines())
        tool = "uv" if uv else "pip"
        self.say(f"installing {count} packages from {lock} with {tool}; this may take some minutes")
        path = str(self.root / lock)
        if uv:
            command = [
                uv,
                "pip",
                "sync",
                "--quiet",
                "--require-hashes",
                "--python",
                str(self.python),
                path,
            ]
        else:
            command = [
                *(
                    str(self.python),
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-input",
                    "--no-deps",
                    "--no-compile",
                ),
                *("--disable-pip-version-check", "--require-hashes", "-r", path),
            ]
        self.run(command, clean_environment())

    def _write_stamp(self, lock: str) -> None:
        stamp = {"python": python_identity(), lock: digest_of(self.root / lock)}
        if lock == DEV_LOCK:
            stamp[RUNTIME_LOCK] = digest_of(self.root / RUNTIME_LOCK)
        beside = self.stamp_path.with_suffix(".new")
        beside.write_text(json.dumps(stamp, indent=1) + "\n", encoding="utf-8")
        beside.replace(self.stamp_path)

    def _uv(self) -> str | None:
        found = self.find("uv")
        # One inside the environment itself would be deleted with it.
        return None if found and Path(found).is_relative_to(self.folder) else found

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        # The folder itself is locked: there is no lock file to leave behind.
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.say("another process is preparing the environment; waiting for it")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def clean_environment() -> dict[str, str]:
    """The process environment without what would lead Python or an installer to another place."""
    dropped = {
        *("PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__", "VIRTUAL_ENV"),
        *("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "UV_SYSTEM_PYTHON"),
    }
    return {name: value for name, value in os.environ.items() if name not in dropped}


def run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run an installer; raise BootstrapError with the end of what it printed if it fails."""
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        tail = "\n".join(done.stdout.strip().splitlines()[-15:])
        raise BootstrapError(
            f"{tail}\nfailed with exit code {done.returncode}: {' '.join(command)}"
        )


def say(line: str) -> None:
    """Tell the person what is happening, one line a step."""
    print(f"dedupreview: {line}", file=sys.stderr, flush=True)


def enter(root: Path, arguments: Sequence[str]) -> None:
    """Return inside an environment that has what the command needs; otherwise prepare it and start again in it.

    An environment without a stamp that the person entered by its own name (``.venv/bin/python manage.py``) was made
    by hand and is left alone.
    """
    environment = Environment(root=root, say=say, run=run)
    inside = Path(sys.prefix).resolve() == environment.folder.resolve()
    lock = lock_for(arguments)
    if not environment.is_current(lock) and not (inside and not environment.stamp()):
        try:
            environment.update(lock)
        except BootstrapError as error:
            say(str(error))
            raise SystemExit(1) from None
        except KeyboardInterrupt:
            say("interrupted; the next start begins again")
            raise SystemExit(130) from None
    elif inside and not os.environ.get("PYTHONPATH"):
        return
    again = {**clean_environment(), "VIRTUAL_ENV": str(environment.folder)}
    python = str(environment.python)
    os.execve(python, [python, *sys.orig_argv[1:]], again)
