"""seen PATH|SLUG --filter FILE [--add]: was each text seen before? With a stated error, and never by whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import ProjectCommand
from screening.bloom import ERROR, HASHES
from screening.seen import CAPACITY, SeenFilter
from screening.targets import add_target, read_target


class Command(ProjectCommand):
    help = (
        "Ask a Bloom filter whether each text of a folder, a manifest or a collection, and each paragraph of it, was seen "
        "before. One JSON line a text. A yes may be wrong with the stated chance, a no never is; no pair is made."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_target(parser)
        parser.add_argument("--filter", required=True, metavar="FILE", help="the filter's file")
        parser.add_argument(
            "--add",
            action="store_true",
            help="remember the texts afterwards; a file that is missing is made",
        )
        parser.add_argument(
            "--capacity", type=int, default=CAPACITY, help="texts that a new filter is made for"
        )
        parser.add_argument(
            "--error",
            type=float,
            default=ERROR,
            help="chance of a wrong yes in a new filter (default %(default)s)",
        )
        parser.add_argument("--hashes", type=int, default=HASHES, help="hashes of a new filter")
        parser.add_argument(
            "--like",
            action="store_true",
            help="a new filter also remembers signatures, and says whether a similar text was seen",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["filter"])
        seen = self._filter(path, options)
        documents = read_target(
            options["target"], say=self.stderr.write, prepare_database=self.prepare_database
        )
        texts = again = 0
        for answer in seen.ask(documents, add=options["add"]):
            texts += answer.seen is not None
            again += bool(answer.seen)
            line: dict[str, object] = {
                "doc_id": answer.doc_id,
                "seen": answer.seen,
                "paragraphs": answer.paragraphs,
                "seen_paragraphs": answer.seen_paragraphs,
            }
            if seen.bands:
                line["like"] = answer.like
            self.stdout.write(json.dumps(line))
        if options["add"]:
            try:
                seen.save(path)
            except OSError as error:
                raise self._unreadable(path, error) from None
        self.stderr.write(
            _(
                "%(again)s of %(texts)s texts were seen before; the filter holds %(count)s of %(capacity)s, and a new text is wrongly called seen in %(error)s of cases (promised: %(promised)s)"
            )
            % {
                "again": again,
                "texts": texts,
                "count": seen.texts.count,
                "capacity": seen.texts.capacity,
                "error": f"{100 * seen.error_now:.4f} %",
                "promised": f"{100 * seen.texts.error:g} %",
            }
        )

    def _filter(self, path: Path, options: dict[str, Any]) -> SeenFilter:
        try:
            return SeenFilter.load(path)
        except FileNotFoundError:
            if not options["add"]:
                raise CommandError(
                    _("There is no filter %(path)s; --add makes one") % {"path": path}
                ) from None
        except OSError as error:
            raise self._unreadable(path, error) from None
        return SeenFilter.empty(
            capacity=options["capacity"],
            error=options["error"],
            hashes=options["hashes"],
            like=options["like"],
        )

    def _unreadable(self, path: Path, error: OSError) -> CommandError:
        return CommandError(
            _("The file %(path)s cannot be read: %(why)s") % {"path": path, "why": error.strerror}
        )
