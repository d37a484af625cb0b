"""`manage.py test`: the whole test suite, or what pytest's arguments choose of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand

from dedupreview.paths import BASE_DIR

IN_ONE_PROCESS = {"-n", "--numprocesses", "--pdb", "--trace", "--collect-only", "--co", "-s"}


def pytest_command(arguments: Sequence[str]) -> list[str]:
    """The command line: two processes, unless the arguments say otherwise or make no sense in several."""
    alone = any(argument.split("=")[0] in IN_ONE_PROCESS for argument in arguments)
    spread = [] if alone else ["-n", "2", "--dist", "loadgroup"]
    return [sys.executable, "-m", "pytest", *spread, *arguments]


class Command(BaseCommand):
    """Hands everything to pytest, in a process of its own: tests have settings of their own."""

    help = "Run the tests; arguments go to pytest"

    def run_from_argv(self, argv: list[str]) -> None:
        """Run pytest from the project's folder and leave with its exit code."""
        raise SystemExit(subprocess.call(pytest_command(argv[2:]), cwd=BASE_DIR))

    def handle(self, *args: Any, **options: Any) -> None:
        """Only for `call_command`."""
        self.run_from_argv(["manage.py", "test", *args])
