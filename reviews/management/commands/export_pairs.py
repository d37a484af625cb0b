"""Hand the pairs of a round to another labelling tool."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from dedupreview.commands import BAD_INPUT, DatabaseCommand
from reviews.exchange import FILES, Kind, settled_in, write_file
from reviews.models import ReviewRound

TOOLS = {
    "label-studio": ("label-studio.json", "label-studio.xml"),
    "doccano": ("doccano.jsonl", "doccano-labels.json"),
    "csv": ("pairs.csv",),
    "xlsx": ("pairs.xlsx",),
}


class Command(DatabaseCommand):
    help = "Write the pairs of a review round as files for Label Studio, doccano or a spreadsheet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("round", metavar="ROUND", help="number of the round")
        parser.add_argument("--out", metavar="DIR", required=True, type=Path)
        parser.add_argument("--tool", choices=TOOLS, help="only the files of this tool")
        parser.add_argument(
            "--settled", action="store_true", help="closed pairs only, with their conclusions"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            round = ReviewRound.objects.get(pk=int(options["round"]))
        except (ReviewRound.DoesNotExist, ValueError, OverflowError):
            line = _("There is no round %(round)s.") % {"round": options["round"]}
            raise CommandError(line, returncode=BAD_INPUT) from None
        out: Path = options["out"].absolute()
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"{out}: {error.strerror}", returncode=BAD_INPUT) from None
        kind: Kind = "settled" if options["settled"] else "tasks"
        for name in TOOLS[options["tool"]] if options["tool"] else FILES:
            part = out / f".{name}.part"
            with part.open("wb") as file:
                file.writelines(write_file(round, name, kind))
            part.replace(out / name)
        pairs = settled_in(round) if options["settled"] else round.items.count()
        self.stdout.write(f"pairs: {pairs}")
