"""Real servers for tests: PostgreSQL, the queue server, and the whole site as `manage.py up` starts it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dedupreview import queue_server

# --- PostgreSQL -------------------------------------------------------------------------------------------------------


def postgres_binaries() -> Path | None:
    """The folder of ``initdb`` and ``postgres``: on PATH, else the newest of Debian's."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: int(path.parent.parent.name),
    )
    return folders[-1].parent if folders else None


@dataclass(frozen=True)
class Cluster:
    """A running PostgreSQL server that listens on a Unix socket only."""

    folder: Path

    def url(self, name: str) -> str:
        """The address of one of its databases."""
        return f"postgresql://tester@{quote(str(self.folder), safe='')}/{name}"

    def create(self, name: str, template: str = "template0") -> str:
        """Make a database and give its address."""
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def drop(self, name: str) -> None:
        """Remove a database, whoever is still connected."""
        self._run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def _run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)


def unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: the arguments that start a process as somebody else."""
    if os.geteuid() != 0:
        return {}
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in names else "nobody"
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@contextlib.contextmanager
def postgres(binaries: Path) -> Iterator[Cluster]:
    """Make and start a cluster in a temporary folder; it is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="ddr-pg-"))
    who = unprivileged()
    if who:
        os.chown(folder, who["user"], who["group"])
    quiet: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    initdb: list[str | Path] = [
        binaries / "initdb",
        "-D",
        folder / "data",
        "-A",
        "trust",
        "-U",
        "tester",
        "-E",
        "UTF8",
    ]
    subprocess.run([*initdb, "--locale=C", "--no-sync"], check=True, timeout=120, **quiet, **who)
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": str(folder),
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "max_connections": "200",
        "shared_buffers": "64MB",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    log = (folder / "log").open("wb")
    server = subprocess.Popen(
        [binaries / "postgres", "-D", folder / "data", *options],
        cwd=folder,
        stdout=log,
        stderr=log,
        **who,
    )
    cluster = Cluster(folder)
    try:
        wait_for_postgres(cluster, server)
        yield cluster
    finally:
        server.send_signal(signal.SIGINT)  # fast shutdown
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=15)
        server.kill()
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def wait_for_postgres(cluster: Cluster, server: subprocess.Popen[bytes]) -> None:
    """Wait until it answers; fail with its own words if it does not."""
    import psycopg

    end = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(cluster.url("postgres"), connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError((cluster.folder / "log").read_text(errors="replace")) from None
            time.sleep(0.05)


# --- Queue server -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def queue(data_dir: Path) -> Iterator[Path]:
    """The application's own queue server on the socket of this data directory."""
    socket = queue_server.prepare_socket(data_dir)
    program = queue_server.command(queue_server.find_server(), data_dir)
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
    try:
        if not queue_server.wait_until(lambda: queue_server.answers(socket), 10):
            raise RuntimeError("the queue server did not start")
        yield socket
    finally:
        process.terminate()
        process.wait(timeout=10)


# --- The whole site ---------------------------------------------------------------------------------------------------


@dataclass
class Site:
    """`manage.py up` in a process of its own."""

    root: Path
    data_dir: Path
    process: subprocess.Popen[str] | None = None
    url: str = ""
    printed: list[str] = field(default_factory=list)

    def environment(self) -> dict[str, str]:
        """What a person's shell would have, with this data directory."""
        dropped = ("DJANGO_SETTINGS_MODULE", "REDIS_URL", "DATABASE_URL", "PYTEST_CURRENT_TEST")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        return {**kept, "DEDUPREVIEW_DATA_DIR": str(self.data_dir)}

    def command(self, *arguments: str) -> list[str]:
        """The command line of `up` on any free port."""
        return [sys.executable, str(self.root / "manage.py"), "up", "--port", "0", *arguments]

    def start(self, *arguments: str, patience: float = 150) -> str:
        """Start, wait until the site is healthy, give its address."""
        self.process = subprocess.Popen(
            self.command(*(arguments or ("--no-demo",))),
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=(self.data_dir.parent / "log").open("ab"),
            text=True,
        )
        assert self.process.stdout is not None
        end = time.monotonic() + patience
        for line in self.process.stdout:
            self.printed.append(line.rstrip())
            if found := re.search(r"dedupreview is at (\S+)", line):
                self.url = found[1]
                return self.url
            if time.monotonic() > end:
                break
        raise RuntimeError("\n".join([*self.printed, self.log()]))

    def log(self) -> str:
        """What its processes complained about."""
        return (self.data_dir.parent / "log").read_text(errors="replace")

    def health(self) -> dict[str, Any]:
        """What /healthz says; empty if nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            return dict(json.load(error))
        except OSError:
            return {}

    def processes(self) -> dict[int, str]:
        """Every living process of this data directory, by id with its command line. Linux only.

        It has the directory in its environment or, where it writes its title over that, in the title.
        """
        mark = f"DEDUPREVIEW_DATA_DIR={self.data_dir}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").strip()
                ours = mark in (folder / "environ").read_bytes().split(b"\0")
                if line and (ours or os.fsencode(self.data_dir) in line):  # a zombie has no line
                    found[int(folder.name)] = line.decode(errors="replace")
        return found

    def find(self, what: str) -> list[int]:
        """Ids of the processes with these words in their command line."""
        return [pid for pid, line in self.processes().items() if what in line]

    def end(self) -> None:
        """Kill whatever is left."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(timeout=15)
            if self.process.stdout:
                self.process.stdout.close()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
