"""screen PATH|SLUG --out DIR: find candidate pairs and write the files of the run."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import ProjectCommand
from screening.artefacts import FILES, Drafts, write_run
from screening.config import PRESETS, ConfigError, ScreeningConfig
from screening.documents import InputDocument, Problem, Refusal
from screening.evaluation import LabelledPair
from screening.labels_file import LabelRow, read_label_rows
from screening.leaks import FILES as LEAK_FILES
from screening.leaks import VERDICTS, as_references, report_of_run, write_leaks
from screening.pipeline import screen
from screening.targets import add_target, out_folder, read_target
from screening.terminal import ProgressBar
from screening.writing import copy_whole


class Command(ProjectCommand):
    help = (
        "Screen a folder, a manifest or a collection for near-duplicate pairs and write the files of the run. "
        "With a path it needs no database, queue or network."
    )
    # Checks look at the database and the settings of a site, neither of which a folder of texts needs.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_target(parser)
        parser.add_argument(
            "--out", required=True, help="folder for the files; existing ones are replaced"
        )
        parser.add_argument("--preset", help=f"one of: {', '.join(PRESETS)}")
        parser.add_argument("--config", help="a JSON file of settings, over those of the preset")
        parser.add_argument(
            "--labels", help="labelled pairs (JSON lines, CSV or XLSX): left, right, label"
        )
        parser.add_argument(
            "--thresholds", default="0.5,0.7,0.9", help="thresholds to compare, with --labels"
        )
        parser.add_argument(
            "--reference",
            metavar="PATH|SLUG",
            help="texts to compare with, such as a test set; writes leaks.csv and leaks.jsonl too",
        )
        parser.add_argument(
            "--within",
            action="store_true",
            help="with --reference: look for pairs within the new texts too",
        )
        parser.add_argument(
            "--exhaustive", action="store_true", help="score all pairs of a small collection"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        config = config_of(options["preset"], options["config"], options["exhaustive"])
        thresholds = thresholds_of(options["thresholds"])
        labels = self._labels(Path(options["labels"])) if options["labels"] else None
        out = out_folder(Path(options["out"]))
        target, reference = options["target"], options["reference"]
        if reference:
            config = replace(config, across_only=not options["within"])
        if Path(target).exists() or (reference and Path(reference).exists()):
            self._screen_path(target, reference, out, config, labels, thresholds)
        else:
            self._screen_collection(
                target, reference, out, config, options["preset"] or "", labels, thresholds
            )

    def _labels(self, path: Path) -> list[LabelledPair]:
        """The labelled pairs of a file; rows that cannot be used are named and left out."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CommandError(
                _("The file %(path)s cannot be read: %(why)s")
                % {"path": path, "why": error.strerror}
            ) from None
        rows, problems = read_label_rows(data, path.name)
        lines = [_said(problem) for problem in problems]
        if not rows:
            raise CommandError(
                "\n".join(lines or [_("%(path)s holds no labelled pairs") % {"path": path}])
            )
        for line in lines:
            self.stderr.write(line)
        pairs, contradictions = without_contradictions(rows)
        for line in contradictions:
            self.stderr.write(line)
        return pairs

    def _screen_path(
        self,
        target: str,
        reference: str | None,
        out: Path,
        config: ScreeningConfig,
        labels: list[LabelledPair] | None,
        thresholds: Sequence[float],
    ) -> None:
        """A run that no database keeps: either of target and reference is a path."""
        bar = ProgressBar()
        refusals: list[Refusal] = []
        documents = self._read(target, bar, refusals)
        self._name_unknown(labels, {document.doc_id for document in documents})
        refusals.sort(
            key=lambda refusal: refusal.place
        )  # the order in which a collection keeps them
        count = len(documents)
        if reference:
            documents += as_references(self._read(reference, bar, []))
        with Drafts(out) as drafts:
            result = screen(
                documents, config, progress=bar, refusals=refusals, meanwhile=drafts.lay
            )
            write_run(
                out,
                result,
                documents,
                labels=labels,
                thresholds=tuple(thresholds),
                drafts=drafts,
            )
        if reference:
            write_leaks(out, documents, report_of_run(result, documents))
        bar.clear()
        self._summary(count, len(refusals), len(result.candidates), out)
        if reference:
            self._leaks(out)

    def _read(self, target: str, bar: ProgressBar, refusals: list[Refusal]) -> list[InputDocument]:
        def say(line: str) -> None:
            bar.clear()
            self.stderr.write(line)

        documents = read_target(
            target, say=say, prepare_database=self.prepare_database, refusals=refusals, bar=bar
        )
        bar.clear()
        return documents

    def _leaks(self, out: Path) -> None:
        """How many items of the reference set came to which verdict."""
        with (out / "leaks.csv").open(encoding="utf-8", newline="") as file:
            verdicts = Counter(row["verdict"] for row in csv.DictReader(file))
        said = ", ".join(f"{name} {verdicts[name]}" for name in VERDICTS)
        self.stdout.write(
            _("Items of the reference set: %(items)s (%(verdicts)s)")
            % {"items": sum(verdicts.values()), "verdicts": said}
        )

    def _screen_collection(
        self,
        slug: str,
        reference: str | None,
        out: Path,
        config: ScreeningConfig,
        preset: str,
        labels: list[LabelledPair] | None,
        thresholds: Sequence[float],
    ) -> None:
        if os.sep in slug:
            raise CommandError(_("There is no folder or file %(path)s") % {"path": slug})
        self.prepare_database()
        from screening import frozen
        from screening.models import Collection, Document
        from screening.runs import run_folder, start_run

        collection, other = (
            Collection.objects.filter(slug=name).first() if name else None
            for name in (slug, reference)
        )
        for name, found in ((slug, collection), (reference, other)):
            if name and found is None:
                raise CommandError(
                    _("There is neither a path nor a collection %(name)s") % {"name": name}
                )
        assert collection is not None
        if labels:
            rows = Document.objects.filter(collection=collection).values_list("doc_id", flat=True)
            self._name_unknown(labels, set(rows))
        bar = ProgressBar()
        run = start_run(
            collection=collection,
            config=config,
            preset=preset,
            inline=True,
            labels=labels,
            thresholds=thresholds,
            progress=bar,
            reference=other,
        )
        for name in (*FILES, *(LEAK_FILES if other else ())):
            copy_whole(run_folder(run) / name, out / name)
        bar.clear()
        refused = len(frozen.refusals(run_folder(run)))
        self._summary(run.inputs, refused, run.candidate_count or 0, out)
        if other:
            self._leaks(out)
        self.stdout.write(f"run: {run.pk}")

    def _name_unknown(self, labels: list[LabelledPair] | None, doc_ids: set[str]) -> None:
        named = {doc_id for left, right, _label in labels or () for doc_id in (left, right)}
        for doc_id in sorted(named - doc_ids):
            self.stderr.write(
                _("The labels name %(doc_id)s, which is not among the documents")
                % {"doc_id": doc_id}
            )

    def _summary(self, documents: int, refused: int, candidates: int, out: Path) -> None:
        self.stdout.write(
            _(
                "%(documents)s documents, %(refused)s refused or repeated, %(candidates)s candidate pairs; files in %(out)s"
            )
            % {"documents": documents, "refused": refused, "candidates": candidates, "out": out}
        )


def config_of(preset: str | None, path: str | None, exhaustive: bool) -> ScreeningConfig:
    """The configuration that the options ask for. Raises CommandError or ConfigError."""
    values: dict[str, Any] = {}
    if path:
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            raise CommandError(
                _("The configuration %(path)s cannot be read: %(why)s")
                % {"path": path, "why": error}
            ) from None
        if not isinstance(values, dict):
            raise CommandError(
                _("The configuration %(path)s is not a JSON object") % {"path": path}
            )
    if preset:
        values = {**values, "preset": preset}
        values.pop("preset_name", None)
    try:
        config = ScreeningConfig.from_dict(values)
        return replace(config, exhaustive=True) if exhaustive else config
    except ConfigError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise CommandError(
            _("The configuration cannot be used: %(why)s") % {"why": error}
        ) from None


def thresholds_of(text: str) -> list[float]:
    """Thresholds from a list with commas, each above 0 and at most 1. Raises CommandError."""
    try:
        values = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        values = []
    if not values or not all(0 < value <= 1 for value in values):
        raise CommandError(
            _(
                "--thresholds takes numbers above 0 and up to 1, with commas between them, not %(text)s"
            )
            % {"text": text}
        )
    return values


def without_contradictions(rows: Sequence[LabelRow]) -> tuple[list[LabelledPair], list[str]]:
    """The labelled pairs, each once; pairs with two different labels are left out and named."""
    found: dict[tuple[str, str], LabelRow] = {}
    contradicted: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (min(row.left, row.right), max(row.left, row.right))
        first = found.setdefault(key, row)
        if first.label != row.label:
            contradicted[key] = _(
                "%(left)s and %(right)s have two labels (lines %(first)s and %(second)s) and are left out"
            ) % {"left": key[0], "right": key[1], "first": first.line, "second": row.line}
    kept = [(*key, row.label) for key, row in found.items() if key not in contradicted]
    return kept, list(contradicted.values())


def _said(problem: Problem) -> str:
    return _(problem.template) % dict(problem.params)
