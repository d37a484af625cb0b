"""What the project's commands have in common: they make their database when it is missing, and speak plainly."""

from __future__ import annotations

import contextlib
import fcntl
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext

from dedupreview import paths

BAD_INPUT = 2
"""Exit code of a command that was given something it cannot use."""


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """Hold the lock of this name in the data directory; wait while another process holds it."""
    path = paths.make_private(settings.DATA_DIR) / f"{name}.lock"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def pending_migrations() -> bool:
    """Whether the database lacks any migration."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def ensure_migrated() -> bool:
    """Bring the database up to date if it is not, one process at a time; whether anything was done."""
    paths.make_private(settings.DATA_DIR)
    if not pending_migrations():
        return False
    with alone("migrate"):
        if not pending_migrations():
            return False
        call_command("migrate", interactive=False, verbosity=0)
    return True


def lines_of(error: Exception) -> list[str] | None:
    """The lines in which a domain error speaks to a person; None if it is not one.

    A domain error carries ``template`` (an English msgid) and ``params``, or ``problems``: several that do.
    """
    problems = getattr(error, "problems", None)
    if problems:
        return [line for problem in problems for line in (lines_of(problem) or [str(problem)])]
    template = getattr(error, "template", None)
    params = getattr(error, "params", None)
    if isinstance(template, str) and isinstance(params, Mapping):
        return [gettext(template) % dict(params)]
    return None


class ProjectCommand(BaseCommand):
    """A command whose domain errors become one line each on standard error, and exit code 2."""

    requires_system_checks: list[str] = []  # they load every page; `up` and the tests run them

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; domain errors leave as exit code 2."""
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            raise self._bad_input(str(error).splitlines(), error) from error
        except Exception as error:
            lines = lines_of(error)
            if lines is None or options.get("traceback"):
                raise
            raise self._bad_input(lines, error) from error

    def _bad_input(self, lines: list[str], error: Exception) -> BaseException:
        code = BAD_INPUT
        if isinstance(error, CommandError) and error.returncode != 1:
            code = error.returncode
        if not getattr(self, "_called_from_command_line", False):
            return CommandError("\n".join(lines), returncode=code)
        for line in lines:
            self.stderr.write(line)
        return SystemExit(code)

    def prepare_database(self) -> None:
        """Make or update the database; for commands that need one only sometimes."""
        ensure_migrated()


class DatabaseCommand(ProjectCommand):
    """A command that needs the database: on an empty or missing data directory it is made first."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Migrate if needed, then run the command."""
        self.prepare_database()
        return super().execute(*args, **options)


def fail(line: str) -> None:
    """Say one line on standard error and end with exit code 1."""
    print(line, file=sys.stderr)
    raise SystemExit(1)
