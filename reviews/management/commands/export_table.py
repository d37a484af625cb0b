"""Export a round as a signed table."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews.models import ReviewRound
from reviews.tables.errors import TableError
from reviews.tables.exporting import export_table, placed


class Command(BaseCommand):
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
            raise CommandError(f"There is no round {options['round']}.", returncode=2) from None
        show = self._progress if sys.stderr.isatty() else None
        out = options["out"].absolute()
        try:
            table = export_table(round=round, out=out, progress=show)
        except TableError as error:
            raise CommandError(str(error), returncode=2) from None
        kind = "provisional table" if table.provisional else "table"
        self.stdout.write(f"{kind} {table.number} of round {round.pk}")
        self.stdout.write(f"fingerprint: {table.key_fingerprint}")
        self.stdout.write(f"table: {placed(table, out)}")

    def _progress(self, done: int, total: int) -> None:
        end = "\n" if done == total else ""
        self.stderr.write(f"\r{done}/{total}", ending=end)
