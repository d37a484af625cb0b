#!/usr/bin/env python3
"""The door to every command: makes or updates the virtual environment, then runs the command inside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Run the command of the line."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the person may have started it with any Python
        sys.exit("dedupreview needs Python 3.11 or newer; this is " + sys.version.split()[0])
    if os.name != "posix":
        sys.exit("dedupreview runs on Linux and macOS; on Windows use WSL")
    from dedupreview import bootstrap

    bootstrap.enter(Path(__file__).resolve().parent, sys.argv[1:])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dedupreview.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
