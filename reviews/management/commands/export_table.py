"""Export a round as a signed table."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from dedupreview.commands import BAD_INPUT, DatabaseCommand
from reviews.models import ReviewRound, ReviewTable
from reviews.tables.exporting import export_table, placed


class Command(DatabaseCommand):
    help = "Export a review round as a signed table that anybody can verify."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("round", metavar="ROUND", help="number of the round")
        parser.add_argument(
            "--out",
            metavar="DIR",
            required=True,
            type=Path,
            help="becomes the table if missing or empty, else gets it as a new folder",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            round = ReviewRound.objects.get(pk=int(options["round"]))
        except (ReviewRound.DoesNotExist, ValueError, OverflowError):
            line = _("There is no round %(round)s.") % {"round": options["round"]}
            raise CommandError(line, returncode=BAD_INPUT) from None
        show = self._progress if sys.stderr.isatty() else None
        out = options["out"].absolute()
        table = export_table(round=round, out=out, progress=show)
        if table.provisional:
            self.stdout.write(_("Provisional: items are still open; their judgments are withheld."))
        self.stdout.write(f"fingerprint: {table.key_fingerprint}")
        self.stdout.write(f"table: {placed(table, out)}")

    def _progress(self, stage: str, done: int, total: int) -> None:
        end = "\n" if done == total else ""
        self.stderr.write(f"\r{ReviewTable.Stage(stage).label} {done}/{total or '…'}", ending=end)
