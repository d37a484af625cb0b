"""verify_originals [SLUG]: hash every original and every text again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import DatabaseCommand
from screening import originals
from screening.models import Collection


class Command(DatabaseCommand):
    help = "Hash every original and every text again, of one collection or of all; exit code 1 if anything has changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "slug", nargs="?", help="short name of a collection; all of them without it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        collection = None
        if options["slug"]:
            collection = Collection.objects.filter(slug=options["slug"]).first()
            if collection is None:
                raise CommandError(_("There is no collection %(slug)s") % {"slug": options["slug"]})
        report = originals.verify(collection)
        for problem in report.problems:
            self.stderr.write(_(problem.template) % problem.params)
        self.stdout.write(
            _("%(files)s originals and %(documents)s texts checked, %(bad)s not as they were")
            % {
                "files": report.files,
                "documents": report.documents,
                "bad": len(report.problems),
            }
        )
        if not report.ok:
            raise SystemExit(1)
