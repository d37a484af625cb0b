"""The texts that a command is given: a path that exists, else the short name of a collection."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from screening.documents import InputDocument, Problem, Refusal
from screening.intake.limits import Limits
from screening.intake.model import REPEATED, Note, ReadDocument
from screening.intake.reading import read_path


def add_target(parser: CommandParser) -> None:
    """The argument that names the texts."""
    parser.add_argument(
        "target",
        metavar="PATH|SLUG",
        help="a path that exists, else the short name of a collection",
    )


def read_target(
    target: str,
    *,
    say: Callable[[str], object],
    prepare_database: Callable[[], None],
    refusals: list[Refusal] | None = None,
    bar: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> list[InputDocument]:
    """The documents of a path or collection; ``say`` is told of every file or row that is not one, ``bar`` of progress.

    Refused files and rows are added to ``refusals``. Raises CommandError where there is nothing to read.
    """
    if Path(target).exists():
        documents = _of_path(Path(target), say, refusals if refusals is not None else [], bar)
    else:
        documents = _of_collection(target, prepare_database)
    if not documents:
        raise CommandError(_("No text was found in %(path)s") % {"path": target})
    return documents


def _of_path(
    path: Path,
    say: Callable[[str], object],
    refusals: list[Refusal],
    bar: Callable[[str, int, int], None],
) -> list[InputDocument]:
    documents: list[InputDocument] = []
    for entry in read_path(path, limits=Limits(**settings.INTAKE_LIMITS)):
        bar("read", len(documents), len(documents) + 1)
        problems: Sequence[Problem]
        if isinstance(entry, ReadDocument):
            documents.append(entry.document)
            problems = entry.warnings
        else:
            problems = (entry.problem,)
            if not isinstance(entry, Note):
                refusals.append(entry)
        if problems:
            say(line_of(entry, problems))
    return documents


def _of_collection(slug: str, prepare_database: Callable[[], None]) -> list[InputDocument]:
    if os.sep in slug:
        raise CommandError(_("There is no folder or file %(path)s") % {"path": slug})
    prepare_database()
    from screening import frozen
    from screening.models import Collection

    collection = Collection.objects.filter(slug=slug).first()
    if collection is None:
        raise CommandError(_("There is neither a path nor a collection %(name)s") % {"name": slug})
    with tempfile.TemporaryDirectory() as folder:
        frozen.freeze(Path(folder), collection, ())
        documents, _keys = frozen.documents(Path(folder), collection)
    return documents


def line_of(entry: ReadDocument | Refusal | Note, problems: Sequence[Problem]) -> str:
    """One line about one file or row."""
    if isinstance(entry, Refusal):
        word = _("repeated") if entry.problem.code == REPEATED else _("refused")
    else:
        word = _("note")
    said = "; ".join(_(problem.template) % dict(problem.params) for problem in problems)
    line = f"{word} {entry.place}: {said}"
    return " ".join(line.encode("utf-8", "replace").decode("utf-8").splitlines())


def out_folder(path: Path) -> Path:
    """The folder for a command's files, made where missing. Raises CommandError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(
            _("The folder %(path)s cannot be made: %(why)s") % {"path": path, "why": error.strerror}
        ) from None
    return path
