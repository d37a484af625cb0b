"""Where the state of one installation lives; standard library only, so that it can be read before Django starts."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
from pathlib import Path
from urllib.parse import quote

BASE_DIR = Path(__file__).resolve().parent.parent

LONGEST_SOCKET_PATH = 100
"""Bytes; Linux allows 107 for a Unix socket and macOS 103, and the server needs a few for itself."""

PLAIN_PATH = re.compile(r"[A-Za-z0-9_./+~,-]+")


def data_dir() -> Path:
    """The directory of all state: ``DEDUPREVIEW_DATA_DIR``, else ``var`` beside manage.py. It may not exist yet."""
    return Path(os.environ.get("DEDUPREVIEW_DATA_DIR") or BASE_DIR / "var").expanduser().absolute()


def make_private(directory: Path) -> Path:
    """Create ``directory`` for its owner alone where it is missing; an existing one keeps its mode."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def queue_socket(directory: Path) -> Path:
    """The socket of the queue server that belongs to this data directory; the same for every process that asks.

    It lies in the data directory unless its path is too long for a Unix socket or has a character that the client
    cannot read back from the server's list of clients, such as a space; then in a private folder whose name is
    derived from it.
    """
    inside = directory / "queue.sock"
    if len(os.fsencode(inside)) <= LONGEST_SOCKET_PATH and PLAIN_PATH.fullmatch(str(inside)):
        return inside
    mark = hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]
    return Path("/tmp") / f"dedupreview-{os.getuid()}-{mark}" / "queue.sock"


def queue_url(directory: Path) -> str:
    """``REDIS_URL`` if it is set, else the address of the data directory's own queue server."""
    return os.environ.get("REDIS_URL") or f"unix://{quote(str(queue_socket(directory)))}?db=0"


def read_or_create_secret(path: Path) -> str:
    """The secret kept in ``path`` (mode 0600), made on first use; two processes that start together agree on one."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        make_private(path.parent)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(64) + "\n")
        try:
            os.link(name, path)  # fails if another process was first: then its secret counts
        except FileExistsError:
            pass
    finally:
        os.unlink(name)
    return path.read_text(encoding="ascii").strip()
