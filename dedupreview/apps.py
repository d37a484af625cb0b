from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register
from django.db.models.signals import post_migrate


def install_triggers(using: str, **_kwargs: Any) -> None:
    """Put the insert-only triggers back after every migrate: SQLite loses them when Django rebuilds a table."""
    from dedupreview import insert_only

    insert_only.install(using)


def check_triggers(*, databases: Sequence[str] | None, **_kwargs: Any) -> list[CheckMessage]:
    from dedupreview import insert_only

    found: list[CheckMessage] = []
    for using in databases or ():
        for name in insert_only.missing(using):
            found.append(
                Error(
                    f"The insert-only trigger {name} is missing from the database {using!r}.",
                    hint="Run: python3 manage.py migrate",
                    id="dedupreview.E001",
                )
            )
    return found


class DedupreviewConfig(AppConfig):
    name = "dedupreview"

    def ready(self) -> None:
        post_migrate.connect(install_triggers, dispatch_uid="insert-only-triggers")
        register(check_triggers, "database")
