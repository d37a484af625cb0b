"""Verify a signed table, wherever it comes from."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from dedupreview.commands import BAD_INPUT, ProjectCommand
from reviews.tables.verify import verify_table


class Command(ProjectCommand):
    help = "Verify a signed table (folder or zip) and say what is wrong with it; exit 2 if anything is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", type=Path)
        parser.add_argument(
            "--fingerprint",
            metavar="SHA256:…",
            help="of the key that must have signed; else the keys of this installation",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = verify_table(options["path"], fingerprint=options["fingerprint"])
        if found.ok:
            if found.provisional:
                self.stdout.write(
                    _("Provisional: items are still open; their judgments are withheld.")
                )
            self.stdout.write(f"ok: {found.lines()[0]} {found.fingerprint}")
            return
        for fault in found.faults:
            self.stderr.write(f"{fault.code}: {fault}")
        sys.exit(BAD_INPUT)
