"""import_labels FILE: store labelled pairs of a collection as a named external source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import DatabaseCommand
from reviews import labelsets
from screening.importing import get_or_create_collection


class Command(DatabaseCommand):
    help = (
        "Store labelled pairs (JSON lines, CSV or XLSX) of a collection as a named external source."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="the file of labelled pairs: left, right, label")
        parser.add_argument("--collection", required=True, help="short name of the collection")
        parser.add_argument("--name", required=True, help="name of the label set")
        parser.add_argument(
            "--dry-run", action="store_true", help="only say what would be accepted and refused"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["file"])
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CommandError(
                _("The file %(path)s cannot be read: %(why)s")
                % {"path": path, "why": error.strerror}
            ) from error
        report = labelsets.import_labels(
            collection=get_or_create_collection(slug=options["collection"]),
            name=options["name"],
            filename=path.name,
            data=data,
            dry_run=options["dry_run"],
        )
        for fault in (*report.notes, *report.refused):
            self.stdout.write(fault.message)
        for conflict in report.conflicts:
            self.stdout.write(_conflict_line(conflict))
        self.stdout.write(
            _("%(accepted)s pairs accepted, %(refused)s rows refused, %(conflicts)s in conflict")
            % {
                "accepted": report.accepted,
                "refused": len(report.refused),
                "conflicts": len(report.conflicts),
            }
        )
        if report.label_set is not None:
            self.stdout.write(f"label set: {report.label_set.pk}")


def _conflict_line(conflict: labelsets.Conflict) -> str:
    rows = ", ".join(
        _("line %(line)s says %(label)s") % {"line": line, "label": label}
        for line, label in conflict.rows
    )
    return _("In conflict, not stored: %(left)s and %(right)s (%(rows)s)") % {
        "left": conflict.left,
        "right": conflict.right,
        "rows": rows,
    }
