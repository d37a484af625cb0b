"""One consistent view of the database for as long as an export takes, without holding up those who write."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections, transaction

_IN_MEMORY = ("mode=memory", ":memory:")


@contextmanager
def snapshot() -> Iterator[str]:
    """The alias of a connection that sees the database as it was at one moment, until the block ends.

    PostgreSQL: a connection of its own, REPEATABLE READ and read-only. SQLite: a connection of its own with a deferred
    transaction, which in WAL mode lets writers go on. Inside a transaction of the caller, and on an in-memory database,
    the caller's connection is used, and the view is as consistent as that transaction.
    """
    default = connections["default"]
    in_memory = any(mark in str(default.settings_dict["NAME"]) for mark in _IN_MEMORY)
    if default.in_atomic_block or in_memory:
        with transaction.atomic():
            yield "default"
        return
    alias = f"snapshot-{uuid.uuid4().hex}"
    connection = default.copy(alias)
    sqlite = connection.vendor == "sqlite"
    if sqlite:
        # IMMEDIATE, the default here, would take the write lock for the whole export.
        options = connection.settings_dict["OPTIONS"]
        connection.settings_dict["OPTIONS"] = {**options, "transaction_mode": "DEFERRED"}
    connections[alias] = connection
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            if sqlite:
                cursor.execute("PRAGMA query_only = 1")
        with transaction.atomic(using=alias):
            with connection.cursor() as cursor:
                if sqlite:
                    # A deferred transaction sees the state of its first read, not of its BEGIN.
                    cursor.execute("SELECT count(*) FROM sqlite_master")
                else:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield alias
    finally:
        connection.close()
        del connections[alias]
