"""Database triggers that refuse to change records.

A model with the class attribute ``insert_only = True`` gets triggers that refuse UPDATE and DELETE (and TRUNCATE on
PostgreSQL). SQLite drops triggers silently whenever Django rebuilds a table, so they are installed again after every
``migrate`` and a system check looks for them.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.apps import apps
from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

OPERATIONS = ("UPDATE", "DELETE")
MESSAGE = "insert-only table"


def insert_only_models() -> list[type[models.Model]]:
    """Every concrete model whose rows may never change."""
    return [model for model in apps.get_models() if getattr(model, "insert_only", False)]


def trigger_names(table: str, vendor: str) -> set[str]:
    """The names of the triggers that ``table`` must have on a database of this vendor."""
    names = {f"{table}_no_{operation.lower()}" for operation in OPERATIONS}
    names.add(f"{table}_no_truncate" if vendor == "postgresql" else f"{table}_no_replace")
    return names


def _existing_tables(connection: BaseDatabaseWrapper) -> list[str]:
    present = set(connection.introspection.table_names())
    return [m._meta.db_table for m in insert_only_models() if m._meta.db_table in present]


def install(using: str = "default") -> None:
    """Install every missing trigger; running it again changes nothing."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for table in _existing_tables(connection):
            for statement in _create_statements(table, connection.vendor):
                cursor.execute(statement)


def remove(using: str = "default") -> None:
    """Drop the triggers. Only the test suite does this, between tests that empty tables."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for table in _existing_tables(connection):
            suffix = f' ON "{table}"' if connection.vendor == "postgresql" else ""
            for name in sorted(trigger_names(table, connection.vendor)):
                cursor.execute(f'DROP TRIGGER IF EXISTS "{name}"{suffix}')


def missing(using: str = "default") -> list[str]:
    """Names of triggers that ought to be there and are not."""
    connection = connections[using]
    query = (
        "SELECT tgname FROM pg_trigger"
        if connection.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        present = {row[0] for row in cursor.fetchall()}
    wanted: set[str] = set()
    for table in _existing_tables(connection):
        wanted |= trigger_names(table, connection.vendor)
    return sorted(wanted - present)


def _create_statements(table: str, vendor: str) -> Iterable[str]:
    if vendor == "sqlite":
        for operation in OPERATIONS:
            yield (
                f'CREATE TRIGGER IF NOT EXISTS "{table}_no_{operation.lower()}" '
                f'BEFORE {operation} ON "{table}" '
                f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
            )
        # INSERT OR REPLACE deletes the old row without firing its DELETE trigger.
        yield (
            f'CREATE TRIGGER IF NOT EXISTS "{table}_no_replace" BEFORE INSERT ON "{table}" '
            f'WHEN EXISTS (SELECT 1 FROM "{table}" WHERE id = NEW.id) '
            f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        )
        return
    yield (
        "CREATE OR REPLACE FUNCTION dedupreview_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN RAISE EXCEPTION '{MESSAGE}: %', TG_TABLE_NAME USING ERRCODE = 'restrict_violation'; END $$"
    )
    for operation in (*OPERATIONS, "TRUNCATE"):
        each = "STATEMENT" if operation == "TRUNCATE" else "ROW"
        yield (
            f'CREATE OR REPLACE TRIGGER "{table}_no_{operation.lower()}" '
            f'BEFORE {operation} ON "{table}" FOR EACH {each} EXECUTE FUNCTION dedupreview_refuse()'
        )
