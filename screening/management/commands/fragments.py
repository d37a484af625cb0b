"""fragments PATH|SLUG --out DIR: every passage that stands in two places of a set of texts, with all its places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import ProjectCommand
from screening.fragments import LEAST, find_fragments, write_fragments
from screening.targets import add_target, out_folder, read_target


class Command(ProjectCommand):
    help = (
        "List every passage that stands in two or more places of a folder, a manifest or a collection, exactly and "
        "with all its documents and places (fragments.jsonl, fragments.csv)."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_target(parser)
        parser.add_argument(
            "--out", required=True, help="folder for the files; existing ones are replaced"
        )
        parser.add_argument(
            "--min-length",
            type=int,
            default=LEAST,
            help="letters and digits from which a passage is listed (default %(default)s)",
        )
        parser.add_argument(
            "--only", action="append", metavar="DOC_ID", help="only this document; repeat for more"
        )
        parser.add_argument(
            "--all",
            action="store_true",
            help="list also the passages that a longer one in the same documents stands for",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        documents = read_target(
            options["target"], say=self.stderr.write, prepare_database=self.prepare_database
        )
        if options["only"]:
            wanted = set(options["only"])
            unknown = sorted(wanted - {d.doc_id for d in documents})
            if unknown:
                raise CommandError(
                    "\n".join(_("There is no document %(doc_id)s") % {"doc_id": d} for d in unknown)
                )
            documents = [d for d in documents if d.doc_id in wanted]
        out = out_folder(Path(options["out"]))
        found = find_fragments(documents, least=options["min_length"], merged=not options["all"])
        write_fragments(out, documents, found)
        places = sum(len(fragment.places) for fragment in found)
        self.stdout.write(
            _(
                "%(documents)s documents, %(fragments)s passages of %(least)s characters or more in %(places)s places; files in %(out)s"
            )
            % {
                "documents": len(documents),
                "fragments": len(found),
                "least": options["min_length"],
                "places": places,
                "out": out,
            }
        )
