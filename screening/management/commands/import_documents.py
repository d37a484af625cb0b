"""import_documents PATH --collection SLUG: read files into a collection and say what became of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import BAD_INPUT, DatabaseCommand
from screening.importing import (
    ReportRow,
    check_path,
    get_or_create_collection,
    import_path,
)
from screening.intake.reading import tree_of
from screening.terminal import ProgressBar


class Command(DatabaseCommand):
    help = "Read a folder, zip, .jsonl, .csv, .xlsx or text file into a collection; every file or row is named with its result."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="the folder or file")
        parser.add_argument(
            "--collection", required=True, help="short name of the collection, made if missing"
        )
        parser.add_argument(
            "--quiet", action="store_true", help="name only what was not simply added"
        )

        parser.add_argument(
            "--dry-run", action="store_true", help="say what would happen and change nothing"
        )

        parser.add_argument(
            "--encoding",
            default="",
            metavar="NAME",
            help="read files that are plausible in two encodings as this one: gb18030, big5, utf-8, utf-16-le, utf-16-be",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["path"])
        tree_of(path)  # before a collection is made for nothing
        bar = ProgressBar()

        def echo(row: ReportRow) -> None:
            if row["status"] != "added" or row["warnings"] or not options["quiet"]:
                bar.clear()
                self.stdout.write(line_of(row))

        def progress(done: int, total: int) -> None:
            bar("import", done, total)

        slug = options["collection"]
        encoding = options["encoding"]
        if options["dry_run"]:
            report = check_path(
                path=path, slug=slug, echo=echo, progress=progress, encoding=encoding
            )
        else:
            collection = get_or_create_collection(slug=slug)
            report = import_path(
                path=path, collection=collection, echo=echo, progress=progress, encoding=encoding
            )
        bar.clear()
        if report.conflicting:
            self.stdout.write(
                _("%(count)s of the refused have a doc_id that belongs to another text")
                % {"count": report.conflicting}
            )
        self.stdout.write(
            _("%(added)s added, %(identical)s identical, %(refused)s refused")
            % {"added": report.added, "identical": report.identical, "refused": report.refused}
        )
        if options["dry_run"]:
            self.stdout.write(_("Nothing was changed: this was a dry run"))
        if not report.added and not report.identical:
            self.stderr.write(_("No text was found in %(path)s") % {"path": path})
            raise SystemExit(BAD_INPUT)


def line_of(row: ReportRow) -> str:
    """One row of a report as one line: status, place, doc_id, and what there is to say."""
    words = {
        "added": _("added"),
        "identical": _("identical"),
        "refused": _("refused"),
        "note": _("note"),
    }
    name = row["place"]
    if row["doc_id"] and row["doc_id"] != name:
        name += f" ({row['doc_id']})"
    said = [said_of(row)] if row["template"] else []
    said += [said_of(warning) for warning in row.get("warnings", ())]
    line = f"{words[row['status']]} {name}" + (f": {'; '.join(said)}" if said else "")
    return " ".join(line.encode("utf-8", "replace").decode("utf-8").splitlines())


def said_of(problem: dict[str, Any]) -> str:
    """A stored problem in the active language."""
    return str(_(problem["template"]) % problem["params"])
