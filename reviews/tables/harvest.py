"""The first part of making a table: everything that is read from the database, in one snapshot, as finished files.

What it found is written down beside the files. A maker that dies later leaves them, and whoever takes the table over goes
on from there: the table is that of the moment in which they were read, with the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone

from dedupreview.digests import timestamp
from reviews.labels import Label
from reviews.models import GuidelineVersion, ReviewItem, ReviewRound, SignOff
from reviews.tables import final, reading, rows, texts
from reviews.tables.answers import Answers
from reviews.tables.chain import Chain
from reviews.tables.writers import Csv, CsvLines, FileFacts, JsonLines, write_bytes

Progress = Callable[[str, int, int], None]
"""Told the stage, how many rows of it are done, and of how many."""
FORMAT = 1
"""Raised when what is written down changes its meaning: a harvest of another format is made again."""
STEP = 200


@dataclass(frozen=True)
class TableFacts:
    """What a bundle says of itself."""

    round: ReviewRound
    number: int
    made_at: datetime
    previous: Mapping[str, object] | None
    """Number and manifest_sha256 of the table before this one, if there is one."""
    run_json: bytes


@dataclass(frozen=True)
class Harvest:
    """What came of reading: enough to finish the table without the database."""

    round_id: int
    round_name: str
    number: int
    made_at: datetime
    previous: dict[str, Any] | None
    provisional: bool
    chain: str
    records: int
    signed: list[dict[str, Any]]
    files: dict[str, FileFacts]

    def save(self, path: Path) -> None:
        """Write it down, whole or not at all."""
        known = asdict(self) | {"format": FORMAT, "made_at": self.made_at.isoformat()}
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            file.write(json.dumps(known, ensure_ascii=False).encode())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


def load(path: Path, folder: Path) -> Harvest | None:
    """The harvest written down at ``path``, if its files in ``folder`` are as they were; else None."""
    try:
        known = json.loads(path.read_bytes())
        if known.pop("format") != FORMAT:
            return None
        known["made_at"] = datetime.fromisoformat(known["made_at"])
        known["files"] = {name: FileFacts(**facts) for name, facts in known["files"].items()}
        harvest = Harvest(**known)
        whole = all(_is_whole(folder / name, facts) for name, facts in harvest.files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return harvest if whole else None


def _is_whole(path: Path, facts: FileFacts) -> bool:
    if path.is_symlink() or path.stat().st_size != facts.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == facts.sha256


def gather(
    folder: Path, facts: TableFacts, alias: str, progress: Progress | None = None
) -> Harvest:
    """Read the round through the database connection ``alias`` and write all files that come from it.

    :raises TableError: if a record or text was changed behind the application's back.
    """
    writer = _Writer(folder, facts, alias)
    counts = writer.write(progress)
    small = {
        "flow.json": texts.pretty(_flow(facts.round, counts)),
        "agreement.json": texts.pretty(writer.answers.as_json()),
        "run.json": facts.run_json,
        "guideline.md": _guideline(facts.round, alias),
    }
    for name, data in small.items():
        writer.files[name] = write_bytes(folder / name, data)
    return Harvest(
        facts.round.pk,
        facts.round.name,
        facts.number,
        facts.made_at,
        dict(facts.previous) if facts.previous else None,
        counts.provisional,
        writer.chain.value,
        writer.chain.length,
        writer.signed,
        writer.files,
    )


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


class _Writer:
    """Writes the files that come from walking the items once."""

    def __init__(self, folder: Path, facts: TableFacts, alias: str) -> None:
        self.folder = folder
        self.facts = facts
        self.alias = alias
        self.files: dict[str, FileFacts] = {}
        self.chain = Chain()
        self.state = rows.StateDigests()
        self.counts = _Counts()
        self.answers = Answers()
        self.signed: list[rows.Row] = []
        self.signed_off = SignOff.objects.using(alias).filter(round=facts.round).exists()
        self.zone = timezone.get_default_timezone()
        self.lines = CsvLines()

    def write(self, progress: Progress | None) -> _Counts:
        with ExitStack() as stack:
            self._open(stack)
            total = ReviewItem.objects.using(self.alias).filter(round=self.facts.round).count()
            for done, entry in enumerate(reading.walk(self.facts.round, self.alias), start=1):
                self._item(entry)
                if progress and (done % STEP == 0 or done == total):
                    progress("pairs", done, total)
            self._sign_offs()
            for done, row in enumerate(reading.documents(self.facts.round, self.alias), start=1):
                self.documents.row(row)
                if progress and done % STEP == 0:
                    progress("documents", done, 0)
            for file in self._all:
                self.files[file.path.name] = file.close()
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
        self._all: tuple[JsonLines | Csv, ...] = (
            *(self.documents, self.pairs, self.outcomes, self.judgments, self.arbitrations),
            *(self.sign_offs, self.records, self.final, self.data, self.relations),
        )

    def _item(self, entry: rows.ItemRecords) -> None:
        # Those of an open item are not shown; that they were changed is found all the same.
        records = [(record, *reading.checked(record)) for record in entry.records()]
        if self.signed_off:
            self.state.add(entry)
        conclusion = final.conclude(entry)
        self.counts.item(entry, conclusion)
        self.pairs.row(rows.pair_row(entry))
        self.outcomes.row(final.outcome_row(entry, conclusion))
        for_excel, plain = self.lines.both(final.final_row(entry, conclusion, self.zone))
        self.final.line(for_excel)
        self.data.line(plain)
        if not entry.closed:
            return
        for relation in final.relation_rows(entry, conclusion):
            self.relations.line(self.lines.line(relation))
        opinions: dict[str, tuple[rows.Row, str]] = {}
        for record, fields, text in records:
            kind, mark = fields["record"], record.digest
            if kind == "judgment":
                self.judgments.row(rows.judgment_row(fields, mark))
            elif kind == "opinion":
                opinions[fields["id"]] = (fields, mark)
            else:
                opinion = opinions.get(fields["opinion"])
                self.arbitrations.row(rows.arbitration_row(fields, mark, opinion))
            self.records.line(rows.record_line(text, record))
            self.chain.add(mark)
        self.answers.add(entry.first_answers())

    def _sign_offs(self) -> None:
        given = SignOff.objects.using(self.alias).filter(round=self.facts.round)
        for sign_off in given.select_related("person").order_by("id"):
            _fields, text = reading.checked(sign_off)
            current = sign_off.signed_digest == self.state.of(sign_off.stage)
            row = rows.sign_off_row(sign_off, current=current)
            self.signed.append(row)
            self.sign_offs.row(row)
            self.records.line(rows.record_line(text, sign_off))
            self.chain.add(sign_off.digest)


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
