"""Writing one bundle into an empty folder: every file of design §6, the manifest, the sums and the signatures."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.utils import timezone

from dedupreview.digests import canonical, timestamp
from reviews.labels import Label
from reviews.models import GuidelineVersion, ReviewItem, ReviewRound, SignOff
from reviews.tables import final, report, rows, sshsig, texts
from reviews.tables.answers import Answers
from reviews.tables.chain import Chain
from reviews.tables.writers import Csv, FileFacts, JsonLines, Workbook, write_bytes

FORMAT = "dedupreview-review-table"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SIGNED = (MANIFEST, SUMS)
SIGNATURES = tuple(name + suffix for name in SIGNED for suffix in (".sig", ".ed25519"))
ALLOWED_SIGNERS = "allowed_signers"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TableFacts:
    """What a bundle says of itself."""

    round: ReviewRound
    number: int
    made_at: datetime
    previous: Mapping[str, object] | None
    """Number and manifest_sha256 of the table before this one, if there is one."""
    run_json: bytes
    previous_id: int | None = None


@dataclass(frozen=True)
class Written:
    """What came of writing a bundle."""

    provisional: bool
    manifest_sha256: str
    chain_digest: str
    fingerprint: str


@dataclass
class _Counts:
    """What flow.json counts while the items go by."""

    states: Counter[str] = field(default_factory=Counter)
    closed_by: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    judgments: int = 0
    surplus: int = 0
    withheld: int = 0

    @property
    def provisional(self) -> bool:
        return self.states.total() != self.states[ReviewItem.State.CLOSED]

    def item(self, entry: rows.ItemRecords, conclusion: final.Conclusion) -> None:
        self.states[entry.item.state] += 1
        if not entry.closed:
            self.withheld += len(entry.judgments)
            return
        self.closed_by[entry.item.closed_by] += 1
        self.labels[conclusion.label] += 1
        self.judgments += len(entry.judgments)
        self.surplus += sum(not judgment.counted for judgment in entry.judgments)


def write_bundle(
    folder: Path,
    facts: TableFacts,
    *,
    key: Ed25519PrivateKey,
    alias: str,
    progress: Progress | None = None,
) -> Written:
    """Write all files of a table of ``facts.round``, read through the database connection ``alias``."""
    files: dict[str, FileFacts] = {}
    writer = _Records(folder, facts, alias, files)
    counts = writer.write(progress)
    public = sshsig.raw_public(key.public_key())
    fingerprint = sshsig.fingerprint(public)
    flow, agreement = _flow(facts.round, counts), writer.answers.as_json()
    small = {
        "flow.json": _pretty(flow),
        "agreement.json": _pretty(agreement),
        "report.html": report.render(writer.report_facts(fingerprint), flow, agreement),
        "run.json": facts.run_json,
        "guideline.md": _guideline(facts.round, alias),
        **texts.static_files(),
        **texts.key_files(public),
    }
    for name, data in small.items():
        files[name] = write_bytes(folder / name, data)
    package = texts.datapackage(files, facts.round.name)
    files["datapackage.json"] = write_bytes(folder / "datapackage.json", _pretty(package))
    manifest = _manifest(
        facts, files, writer.chain, provisional=counts.provisional, fingerprint=fingerprint
    )
    sealed = _seal(folder, canonical(manifest), files, key)
    return Written(counts.provisional, sealed, writer.chain.value, fingerprint)


class _Records:
    """Writes the files that come from walking the items once."""

    def __init__(
        self, folder: Path, facts: TableFacts, alias: str, files: dict[str, FileFacts]
    ) -> None:
        self.folder = folder
        self.facts = facts
        self.alias = alias
        self.files = files
        self.chain = Chain()
        self.state = rows.StateDigests()
        self.counts = _Counts()
        self.answers = Answers()
        self.signed: list[rows.Row] = []

    def write(self, progress: Progress | None) -> _Counts:
        with ExitStack() as stack:
            self._open(stack)
            total = ReviewItem.objects.using(self.alias).filter(round=self.facts.round).count()
            for done, entry in enumerate(rows.walk(self.facts.round, self.alias), start=1):
                self._item(entry)
                if progress and (done % 500 == 0 or done == total):
                    progress(done, total)
            self._sign_offs()
            for row in rows.documents(self.facts.round, self.alias):
                self.documents.row(row)
            self._close()
        return self.counts

    def _open(self, stack: ExitStack) -> None:
        def lines(name: str) -> JsonLines:
            return stack.enter_context(JsonLines(self.folder / f"{name}.jsonl"))

        def table(name: str, header: tuple[str, ...], *, excel: bool) -> Csv:
            return stack.enter_context(Csv(self.folder / name, header, excel=excel))

        self.documents, self.pairs, self.outcomes = map(lines, ("documents", "pairs", "outcomes"))
        self.judgments, self.arbitrations = map(lines, ("judgments", "arbitrations"))
        self.sign_offs, self.records = map(lines, ("sign_offs", "records"))
        self.final = table("final.csv", final.HEADER, excel=True)
        self.data = table("final.data.csv", final.HEADER, excel=False)
        self.relations = table("relations.csv", final.RELATIONS_HEADER, excel=False)
        self.book = Workbook(self.folder / "final.xlsx", final.COLUMNS, made_at=self.facts.made_at)
        self.zone = timezone.get_default_timezone()

    def _item(self, entry: rows.ItemRecords) -> None:
        for record in entry.records():
            rows.refuse_if_changed(record)
        self.state.add(entry)
        conclusion = final.conclude(entry)
        self.counts.item(entry, conclusion)
        self.pairs.row(rows.pair_row(entry))
        self.outcomes.row(final.outcome_row(entry, conclusion))
        cells = final.final_row(entry, conclusion, self.zone)
        self.final.row(cells)
        self.data.row(cells)
        self.book.row(cells)
        if not entry.closed:
            return
        for relation in final.relation_rows(entry, conclusion):
            self.relations.row(relation)
        for judgment in entry.judgments:
            self.judgments.row(rows.judgment_row(judgment))
        for arbitration in entry.arbitrations:
            self.arbitrations.row(rows.arbitration_row(arbitration, entry.opinions))
        for record in entry.records():
            self.records.row(rows.record_row(record))
            self.chain.add(record.digest)
        self.answers.add(entry.first_answers())

    def _sign_offs(self) -> None:
        given = SignOff.objects.using(self.alias).filter(round=self.facts.round)
        for sign_off in given.select_related("person").order_by("id"):
            rows.refuse_if_changed(sign_off)
            current = sign_off.signed_digest == self.state.of(sign_off.stage)
            row = rows.sign_off_row(sign_off, current=current)
            self.signed.append(row)
            self.sign_offs.row(row)
            self.records.row(rows.record_row(sign_off))
            self.chain.add(sign_off.digest)

    def report_facts(self, fingerprint: str) -> report.ReportFacts:
        return report.ReportFacts(
            self.facts.round.name,
            self.facts.number,
            self.facts.made_at.astimezone(self.zone),
            fingerprint,
            self.chain.value,
            self.facts.previous,
            self.signed,
        )

    def _close(self) -> None:
        lines = (self.documents, self.pairs, self.judgments, self.arbitrations)
        more = (self.outcomes, self.sign_offs, self.records)
        for file in (*lines, *more, self.final, self.data, self.relations):
            self.files[file.path.name] = file.close()
        self.files["final.xlsx"] = self.book.close(notes=texts.workbook_notes(str(self.zone)))


def _flow(round: ReviewRound, counts: _Counts) -> dict[str, object]:
    """From the inputs of the run to the conclusions, in numbers that add up."""
    states = {state: counts.states[state] for state in ReviewItem.State.values}
    return {
        "inputs": round.run.inputs,
        "candidates": round.run.candidate_count,
        "selection": round.selection,
        "items": counts.states.total(),
        **states,
        "closed_by_agreement": counts.closed_by[ReviewItem.ClosedBy.AGREEMENT],
        "closed_by_arbitration": counts.closed_by[ReviewItem.ClosedBy.ARBITRATION],
        "labels": {label: counts.labels[label] for label in Label.values},
        "judgments": counts.judgments,
        "surplus": counts.surplus,
        "withheld": counts.withheld,
        "provisional": counts.provisional,
    }


def _guideline(round: ReviewRound, alias: str) -> bytes:
    """The text people judged by; where it changed, every version under a heading of its own."""
    versions = list(GuidelineVersion.objects.using(alias).filter(round=round).order_by("number"))
    if len(versions) == 1:
        return versions[0].text.encode()
    parts = [f"# {version.number} · {timestamp(version.created_at)}" for version in versions]
    return "\n\n".join(
        f"{head}\n\n{version.text}" for head, version in zip(parts, versions, strict=True)
    ).encode()


def _manifest(
    facts: TableFacts,
    files: Mapping[str, FileFacts],
    chain: Chain,
    *,
    provisional: bool,
    fingerprint: str,
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "round": {"id": str(facts.round.pk), "name": facts.round.name},
        "table": facts.number,
        "provisional": provisional,
        "created_at": timestamp(facts.made_at),
        "files": {name: file.as_json() for name, file in files.items()},
        "records": chain.length,
        "chain_digest": chain.value,
        "previous_table": dict(facts.previous) if facts.previous else None,
        "key_fingerprint": fingerprint,
    }


def _seal(
    folder: Path, manifest: bytes, files: Mapping[str, FileFacts], key: Ed25519PrivateKey
) -> str:
    """Write the manifest, the sums over everything and the four signatures; the manifest's sha256."""
    all_files = {**files, MANIFEST: write_bytes(folder / MANIFEST, manifest)}
    sums = "".join(f"{all_files[name].sha256}  {name}\n" for name in sorted(all_files)).encode()
    write_bytes(folder / SUMS, sums)
    for name, data in ((MANIFEST, manifest), (SUMS, sums)):
        write_bytes(folder / f"{name}.sig", sshsig.sign(key, data))
        write_bytes(folder / f"{name}.ed25519", key.sign(data))
    return hashlib.sha256(manifest).hexdigest()


def _pretty(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"
