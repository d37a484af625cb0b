"""Check the records of rounds in the database, against their digests and against the tables made from them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from dedupreview.commands import BAD_INPUT, DatabaseCommand
from reviews.models import ReviewRound
from reviews.tables.ledger import verify_chain


class Command(DatabaseCommand):
    help = "Find records that were changed or removed in the database; exit 2 if there are any."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "round", metavar="ROUND", nargs="?", help="number of the round; else all rounds"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        rounds = ReviewRound.objects.order_by("pk")
        if options["round"] is not None:
            try:
                rounds = rounds.filter(pk=int(options["round"]))
            except ValueError:
                rounds = rounds.none()
            if not rounds.exists():
                line = _("There is no round %(round)s.") % {"round": options["round"]}
                raise CommandError(line, returncode=BAD_INPUT)
        wrong = False
        for round in rounds:
            found = verify_chain(round=round)
            for fault in found.faults:
                wrong = True
                self.stderr.write(f"{fault.code}: {fault}")
            self.stdout.write(
                f"round {round.pk}: {found.records} records, {found.tables} tables,"
                f" {len(found.faults)} faults"
            )
        if wrong:
            sys.exit(BAD_INPUT)
