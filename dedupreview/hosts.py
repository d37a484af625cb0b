"""Which machines serve this installation, and whether they may do so together.

Every `up` keeps one row, which its sweeper renews. A machine that starts looks at the rows of the others: on SQLite, or
with a queue of its own, there must be none that is alive; with shared ones, they must have the same secret key and the
same data directory.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from dedupreview import paths
from dedupreview.models import Host

logger = logging.getLogger(__name__)

ROLES = ("all", "web", "worker")

BEAT = 3.0
"""Seconds between two renewals: the sweeper's turn."""

PATIENCE = 4 * BEAT
"""How long another machine's row is watched for a renewal. Whether it counts on is independent of any clock."""


class Refused(Exception):
    """This machine may not serve the installation; the message says what to do."""


def mark_of_machine() -> str:
    """The same for every process and container of one machine since it was started; the name where there is no such mark."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return socket.gethostname()


def key_mark() -> str:
    """A digest by which two machines see whether they have the same secret key; it does not give the key away."""
    return salted_hmac("dedupreview.hosts", "key", algorithm="sha256").hexdigest()[:32]


def files_mark() -> str:
    """A digest of a random word that is kept in the data directory: who reads the same word shares the directory."""
    word = paths.read_or_create_secret(Path(settings.DATA_DIR) / "installation")
    return hashlib.sha256(word.encode()).hexdigest()[:32]


def missing_for(role: str) -> list[str]:
    """The variables that a machine needs to do only a part of the work, and does not have."""
    missing = [name for name in ("DATABASE_URL", "REDIS_URL") if not os.environ.get(name)]
    return [] if role == "all" else missing


def check_role(role: str) -> None:
    """Raise Refused if this machine could not share the work it leaves to others."""
    missing = missing_for(role)
    if not missing and (role == "all" or connection.vendor != "sqlite"):
        return
    what = " and ".join(missing) or "DATABASE_URL of a PostgreSQL server"
    raise Refused(
        f"--role {role} needs other machines for the rest, and they need what is shared: set {what} "
        "(docs/operating.md)"
    )


def check_alone(pause: Callable[[float], None] = time.sleep) -> None:
    """Raise Refused if another machine uses this SQLite database, or this database beside a queue of its own.

    Only a row that is renewed while one looks counts: what a machine left behind that lost its power hinders nobody.
    """
    if connection.vendor != "sqlite" and os.environ.get("REDIS_URL"):
        return
    before = _others()
    waited = 0.0
    while before and waited < PATIENCE:
        pause(BEAT)
        waited += BEAT
        for mark, (name, beats) in _others().items():
            if mark in before and beats != before[mark][1]:
                raise Refused(_alone_words(name))
        before = {mark: row for mark, row in _others().items() if mark in before}


def _others() -> dict[str, tuple[str, int]]:
    try:
        rows = Host.objects.exclude(mark=mark_of_machine())
        return {
            mark: (name, beats) for mark, name, beats in rows.values_list("mark", "name", "beats")
        }
    except DatabaseError:  # a database that has not been made, or is older than this table
        return {}


def _alone_words(name: str) -> str:
    what = "REDIS_URL" if connection.vendor != "sqlite" else "DATABASE_URL and REDIS_URL"
    here = "SQLite serves" if connection.vendor == "sqlite" else "a private queue serves"
    return (
        f"dedupreview is already running on the machine {name}, and {here} one machine only: "
        f"stop it there, or set {what} on both (docs/operating.md)"
    )


def check_same() -> None:
    """Raise Refused if a machine that is alive has another secret key or another data directory."""
    alive = Host.objects.exclude(mark=mark_of_machine()).filter(
        seen_at__gt=Now() - timedelta(seconds=PATIENCE)
    )
    for host in alive:
        if host.key_mark != key_mark():
            raise Refused(
                f"the secret key differs from that of the machine {host.name}: people would be signed out at random. "
                "Set the same DEDUPREVIEW_SECRET_KEY on every machine"
            )
        if host.files_mark != files_mark():
            raise Refused(
                f"the data directory {settings.DATA_DIR} is not that of the machine {host.name}: originals and tables "
                "would be missing here. Mount the same directory on every machine, or set DEDUPREVIEW_DATA_DIR to it"
            )


def enter(role: str) -> None:
    """Put this machine into the list."""
    Host.objects.update_or_create(
        mark=mark_of_machine(),
        defaults={
            "name": socket.gethostname(),
            "role": role,
            "key_mark": key_mark(),
            "files_mark": files_mark(),
            "seen_at": Now(),
        },
    )


def beat() -> int:
    """Renew this machine's row; 0, since no run was put back. The sweeper calls it."""
    Host.objects.filter(mark=mark_of_machine()).update(beats=F("beats") + 1, seen_at=Now())
    return 0


def leave() -> None:
    """Take this machine off the list, where the database still answers; else its row just stops moving, and hinders nobody."""
    try:
        Host.objects.filter(mark=mark_of_machine()).delete()
    except DatabaseError as error:
        logger.info(
            "this machine stays on the list, as the database is gone: %s", type(error).__name__
        )
    finally:
        connection.close()
