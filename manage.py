#!/usr/bin/env python3
"""The door to every command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command of the line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dedupreview.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
