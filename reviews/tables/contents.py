"""What the files of a bundle say, checked against each other: records, chain, rows and counts.

Pure: knows nothing of Django but its message marker.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

from django.utils.translation import gettext_noop as _

from dedupreview.digests import canonical, digest
from reviews.tables.chain import Chain
from reviews.tables.faults import Fault
from reviews.tables.opening import READ_ERRORS, Bundle
from reviews.tables.writers import BOM, RowSum

LINE_LIMIT = 8 * 2**20
"""Bytes of the longest row: as JSON it may take twenty times as much memory."""
ROW_LINES = 100_000
"""Lines of the longest row of a CSV file."""
ROW_LIMIT = 20_000_000
"""Rows of a changed file that are looked at: more would keep a verifier busy for nothing."""
SMALL = 4 * 2**20
LISTED = 20
"""Faulty rows named at most, per file."""
BAD_JSON = (ValueError, TypeError, KeyError, RecursionError, AttributeError)

MANIFEST_KEYS = {
    "format",
    "format_version",
    "round",
    "table",
    "provisional",
    "created_at",
    "files",
    "records",
    "chain_digest",
    "previous_table",
    "key_fingerprint",
}
COPIED = {
    "judgment": "judgments.jsonl",
    "arbitration": "arbitrations.jsonl",
    "sign_off": "sign_offs.jsonl",
}
"""Which file repeats the records of a kind."""
COPIED_KEYS: dict[str, tuple[str, ...]] = {
    "judgment": (
        *("pair_id", "item", "annotator", "version", "counted", "label", "direction"),
        *("reason_code", "reason", "kept", "shown", "guideline_version", "created_at"),
    ),
    "arbitration": (
        *("pair_id", "item", "arbitrator", "version", "label", "direction", "reason_code"),
        *("reason", "kept", "saw_originals", "based_on", "cause_code", "shown"),
        *("guideline_version", "created_at"),
    ),
    "sign_off": ("stage", "person", "meaning", "signed_digest", "created_at"),
}


def read_manifest(data: bytes) -> dict[str, Any]:
    """The manifest, if it is canonical JSON of the expected shape; else ValueError."""
    try:
        manifest = json.loads(data)
        if canonical(manifest) != data or not set(manifest) >= MANIFEST_KEYS:
            raise ValueError("shape")
        for facts in manifest["files"].values():
            if not isinstance(facts["sha256"], str) or not isinstance(facts["size"], int):
                raise ValueError("files")
    except BAD_JSON as error:
        raise ValueError(str(error)) from None
    return dict(manifest)


def check(bundle: Bundle, manifest: dict[str, Any]) -> list[Fault]:
    """Every contradiction within the bundle; ``manifest`` may be empty if it could not be read."""
    faults: list[Fault] = []
    for name, facts in sorted(manifest.get("files", {}).items()):
        faults += _changed_rows(bundle, name, facts)
    faults += _Records(bundle, manifest).check()
    faults += _flow(bundle, manifest)
    return faults


def rows_of(name: str, file: BinaryIO) -> Iterator[bytes]:
    """The rows of a ``.jsonl`` or ``.csv`` file as bytes, line ends included; a quoted line break ends no row."""
    csv = name.endswith(".csv")
    held: list[bytes] = []
    quotes = size = 0
    while line := file.readline(LINE_LIMIT):
        if not csv:
            yield line
            continue
        held.append(line)
        size += len(line)
        quotes += line.count(b'"')
        if quotes % 2 == 0 or size > LINE_LIMIT or len(held) > ROW_LINES:
            yield b"".join(held)
            held, quotes, size = [], 0, 0
    if held:
        yield b"".join(held)


def _changed_rows(bundle: Bundle, name: str, facts: dict[str, Any]) -> list[Fault]:
    """Of a file that differs from the manifest: in what way, as far as that can be told."""
    if name not in bundle.sizes or not name.endswith((".jsonl", ".csv", ".json", ".md")):
        return []
    total, sums, rows = hashlib.sha256(), RowSum(), 0
    carriage_returns, first = 0, b""
    try:
        with bundle.open(name) as file:
            for row in islice(rows_of(name, file), ROW_LIMIT):
                first = first or row
                total.update(row)
                sums.add(row)
                carriage_returns += row.endswith(b"\r\n")
                rows += 1
    except READ_ERRORS:
        return []
    if total.hexdigest() == facts["sha256"]:
        return []
    csv = name.endswith(".csv")
    params: dict[str, object] = {"name": name}
    if name == "final.csv" and not first.startswith(BOM):
        return [
            Fault(
                "bom_removed",
                _("%(name)s has lost its byte order mark: it was saved again."),
                params,
            )
        ]
    if (carriage_returns == 0) if csv else (carriage_returns > 0):
        return [Fault("newlines_converted", _("The line ends of %(name)s were converted."), params)]
    expected = facts.get("rows")
    if not isinstance(expected, int):
        return []
    rows -= csv  # the header
    if rows != expected:
        code = "row_missing" if rows < expected else "row_added"
        template = (
            _("%(name)s has fewer rows than were signed: %(rows)s of %(expected)s.")
            if rows < expected
            else _("%(name)s has more rows than were signed: %(rows)s instead of %(expected)s.")
        )
        return [Fault(code, template, params | {"rows": rows, "expected": expected})]
    if sums.value == facts.get("rows_sum"):
        return [Fault("order_changed", _("The rows of %(name)s stand in another order."), params)]
    return [Fault("row_changed", _("Rows of %(name)s were changed."), params)]


class _Records:
    """records.jsonl row by row: digests, chain, and the files that repeat it."""

    def __init__(self, bundle: Bundle, manifest: dict[str, Any]) -> None:
        self.bundle = bundle
        self.manifest = manifest
        self.faults: list[Fault] = []
        self.chain = Chain()
        self.judgments = Chain()
        self.before_signatures = Chain()
        self.copies = {kind: _parsed(bundle, name) for kind, name in COPIED.items()}
        self.given_up: set[str] = set()

    def check(self) -> list[Fault]:
        if "records.jsonl" not in self.bundle.sizes:
            return []
        for number, row in enumerate(_parsed(self.bundle, "records.jsonl"), start=1):
            if len(self.faults) >= LISTED:
                break
            try:
                self._record(number, row)
            except BAD_JSON:
                self._fault(
                    "record_malformed", _("Row %(row)s of %(name)s cannot be read."), number
                )
                return self.faults
        else:
            self._ends()
        return self.faults

    def _fault(self, code: str, template: str, row: int, name: str = "records.jsonl") -> None:
        self.faults.append(Fault(code, template, {"row": row, "name": name}))

    def _record(self, number: int, row: Any) -> None:
        fields, mark = row["fields"], row["digest"]
        if digest(fields) != mark:
            self._fault(
                "record_changed",
                _("Row %(row)s of %(name)s does not match its own digest: the record was changed."),
                number,
            )
        kind = fields["record"]
        self.chain.add(mark)
        if kind == "judgment":
            self.judgments.add(mark)
        if kind != "sign_off":
            self.before_signatures.add(mark)
        if kind in COPIED and kind not in self.given_up:
            self._copy(kind, fields, mark)

    def _copy(self, kind: str, fields: dict[str, Any], mark: str) -> None:
        name = COPIED[kind]
        copy = next(self.copies[kind], None)
        if (
            not isinstance(copy, dict)
            or copy.get("digest") != mark
            or any(copy.get(key) != fields[key] for key in COPIED_KEYS[kind])
        ):
            self.given_up.add(kind)
            self.faults.append(
                Fault(
                    "records_differ",
                    _("%(name)s and records.jsonl differ from record %(digest)s on."),
                    {"name": name, "digest": mark},
                )
            )
            return
        if kind == "sign_off" and copy.get("current") and not self.manifest.get("provisional"):
            self._signed(fields)

    def _signed(self, fields: dict[str, Any]) -> None:
        annotation = fields["stage"] == "annotation"
        covered = self.judgments if annotation else self.before_signatures
        if fields["signed_digest"] != covered.value:
            self.faults.append(
                Fault(
                    "sign_off_differs",
                    _("The signature of %(person)s covers other records than these."),
                    {"person": fields["person"]},
                )
            )

    def _ends(self) -> None:
        for kind, name in COPIED.items():
            if kind not in self.given_up and next(self.copies[kind], None) is not None:
                self.faults.append(
                    Fault("row_added", _("%(name)s has rows without a record."), {"name": name})
                )
        if self.manifest and (
            self.chain.value != self.manifest["chain_digest"]
            or self.chain.length != self.manifest["records"]
        ):
            self.faults.append(
                Fault(
                    "chain_broken",
                    _(
                        "The chain over the records does not end as signed: one is missing, new or moved."
                    ),
                )
            )


def _parsed(bundle: Bundle, name: str) -> Iterator[Any]:
    """The rows of a ``.jsonl`` file; one that cannot be read comes as None and ends it."""
    if name not in bundle.sizes:
        return
    try:
        with bundle.open(name) as file:
            for line in rows_of(name, file):
                yield json.loads(line)
    except (*READ_ERRORS, *BAD_JSON):
        yield None


def _flow(bundle: Bundle, manifest: dict[str, Any]) -> list[Fault]:
    """Whether the counts of flow.json add up and agree with the rows of the files."""
    if not manifest or "flow.json" not in bundle.sizes:
        return []
    try:
        flow = json.loads(bundle.read("flow.json", SMALL))
        rows = {name: facts["rows"] for name, facts in manifest["files"].items()}
        right = (
            flow["items"] == flow["open"] + flow["waiting"] + flow["conflict"] + flow["closed"]
            and flow["closed"] == flow["closed_by_agreement"] + flow["closed_by_arbitration"]
            and flow["closed"] == sum(flow["labels"].values())
            and flow["items"] == rows["pairs.jsonl"] == rows["outcomes.jsonl"]
            and flow["items"] == rows["final.csv"] == rows["final.xlsx"]
            and flow["judgments"] == rows["judgments.jsonl"]
            and manifest["records"] == rows["records.jsonl"]
            and flow["provisional"] is manifest["provisional"]
            and flow["provisional"] is (flow["closed"] != flow["items"])
            and (flow["provisional"] or flow["withheld"] == 0)
        )
    except (*READ_ERRORS, *BAD_JSON):
        return [Fault("flow_malformed", _("flow.json cannot be read."))]
    if right:
        return []
    return [Fault("counts_differ", _("The counts of flow.json do not add up."))]
