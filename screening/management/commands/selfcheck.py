"""selfcheck [--accept]: every way of finding on one fixed sample; exit code 1 where a result is not the accepted one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import ProjectCommand
from screening import checking
from screening.names import DRIFT_WORDS, way_name
from screening.selfcheck import KINDS, Drift, WayRecord, drifts, run_selfcheck
from screening.terminal import ProgressBar


class Command(ProjectCommand):
    help = (
        "Run every way of finding over a small fixed sample (copied, pasted, edited, paraphrased and unrelated texts), print "
        "recall, pairs, time and memory, and compare the results with the last record that was accepted."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--accept",
            action="store_true",
            help="make this the record that later checks must match",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        bar = ProgressBar()
        records: list[WayRecord] = []
        for record in run_selfcheck():
            records.append(record)
            bar(record.way, len(records), len(records) + 1)
        bar.clear()
        checking.write(checking.LAST, records)
        self._table(records)
        if options["accept"]:
            checking.write(checking.ACCEPTED, records)
            self.stdout.write(_("Accepted; later checks are compared with this one."))
            return
        accepted = checking.read(checking.ACCEPTED)
        if accepted is None:
            self.stdout.write(_("There is no accepted record to compare with; --accept makes one."))
            return
        found = drifts(accepted, records)
        for drift in found:
            self.stderr.write(said(drift))
        if found:
            raise SystemExit(1)
        self.stdout.write(_("No result differs from the accepted record."))

    def _table(self, records: list[WayRecord]) -> None:
        """Name, found of labelled by kind, pairs, CPU milliseconds, megabytes; one line a way."""
        self.stdout.write("\t".join(["way", *KINDS, "pairs", "cpu_ms", "mb"]))
        for r in records:
            if r.error:
                self.stdout.write(f"{r.way}\t{r.error}")
                continue
            cells = [f"{r.found[kind]}/{r.labelled[kind]}" for kind in KINDS]
            figures = [str(r.pairs), f"{1000 * r.seconds:.1f}", f"{r.megabytes:.1f}"]
            counts = [f"{name}={value}" for name, value in r.counts.items()]
            self.stdout.write("\t".join([r.way, *cells, *figures, *counts]))


def said(drift: Drift) -> str:
    """One difference in words."""
    return _("%(way)s: %(what)s was %(accepted)s and is %(now)s") % {
        "way": way_name(drift.way),
        "what": DRIFT_WORDS.get(drift.what, drift.what),
        "accepted": "–" if drift.accepted in (None, "") else drift.accepted,
        "now": "–" if drift.now in (None, "") else drift.now,
    }
