"""The second part of making a table: from what was read to the whole bundle of design §6, sealed and signed."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.utils import timezone

from dedupreview.digests import canonical, timestamp
from reviews.tables import final, report, sshsig, texts
from reviews.tables.harvest import STEP, Harvest, Progress
from reviews.tables.workbook import Workbook
from reviews.tables.writers import FileFacts, write_bytes

FORMAT = "dedupreview-review-table"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SIGNED = (MANIFEST, SUMS)
SIGNATURES = tuple(name + suffix for name in SIGNED for suffix in (".sig", ".ed25519"))
WORKBOOK = "final.xlsx"


@dataclass(frozen=True)
class Written:
    """What came of writing a bundle."""

    provisional: bool
    manifest_sha256: str
    chain_digest: str
    fingerprint: str
    previous: int | None = None
    """Number of the table before this one."""


def write_workbook(folder: Path, harvest: Harvest, progress: Progress | None = None) -> Harvest:
    """Make the workbook from the rows of the plain CSV; the harvest that knows it."""
    # The limit of the csv module is a guard against strangers' files; this one is ours.
    csv.field_size_limit(2**31 - 1)
    total = harvest.files["final.data.csv"].rows or 0
    book = Workbook(folder / WORKBOOK, final.COLUMNS, made_at=harvest.made_at)
    try:
        with (folder / "final.data.csv").open(encoding="utf-8", newline="") as file:
            table = csv.reader(file)
            next(table)
            for done, row in enumerate(table, start=1):
                book.texts(row)
                if progress and (done % STEP == 0 or done == total):
                    progress("workbook", done, total)
        zone = str(timezone.get_default_timezone())
        facts = book.close(notes=texts.workbook_notes(zone))
    finally:
        book.abandon()
    return replace(harvest, files={**harvest.files, WORKBOOK: facts})


def finish(folder: Path, harvest: Harvest, *, key: Ed25519PrivateKey) -> Written:
    """Write what is still missing, the manifest, the sums and the signatures."""
    public = sshsig.raw_public(key.public_key())
    fingerprint = sshsig.fingerprint(public)
    flow, agreement = (
        json.loads((folder / name).read_bytes()) for name in ("flow.json", "agreement.json")
    )
    made_at = harvest.made_at.astimezone(timezone.get_default_timezone())
    about = report.ReportFacts(
        harvest.round_name,
        harvest.number,
        made_at,
        fingerprint,
        harvest.chain,
        harvest.previous,
        harvest.signed,
    )
    files = dict(harvest.files)
    small = {
        "report.html": report.render(about, flow, agreement),
        **texts.static_files(),
        **texts.key_files(public),
    }
    for name, data in small.items():
        files[name] = write_bytes(folder / name, data)
    package = texts.datapackage(files, harvest.round_name)
    files["datapackage.json"] = write_bytes(folder / "datapackage.json", texts.pretty(package))
    manifest = _manifest(harvest, files, fingerprint)
    sealed = _seal(folder, canonical(manifest), files, key)
    return Written(harvest.provisional, sealed, harvest.chain, fingerprint, _number(manifest))


def _manifest(
    harvest: Harvest, files: Mapping[str, FileFacts], fingerprint: str
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "round": {"id": str(harvest.round_id), "name": harvest.round_name},
        "table": harvest.number,
        "provisional": harvest.provisional,
        "created_at": timestamp(harvest.made_at),
        "files": {name: file.as_json() for name, file in files.items()},
        "records": harvest.records,
        "chain_digest": harvest.chain,
        "previous_table": harvest.previous,
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


def read_written(folder: Path) -> Written:
    """What a finished bundle of this installation says of itself; OSError, ValueError or KeyError if it is none."""
    data = (folder / MANIFEST).read_bytes()
    said = json.loads(data)
    return Written(
        bool(said["provisional"]),
        hashlib.sha256(data).hexdigest(),
        str(said["chain_digest"]),
        str(said["key_fingerprint"]),
        _number(said),
    )


def _number(manifest: Mapping[str, Any]) -> int | None:
    previous = manifest["previous_table"]
    return int(previous["number"]) if previous else None
