#!/usr/bin/env python3
"""Verify a signed review table with Python's standard library and ssh-keygen alone.

    python3 verify.py FOLDER SHA256:FINGERPRINT

The fingerprint must come from outside the folder. So should this program: a forged table may bring a forged one.
Exit status: 0 fine, 1 something is wrong (one line each), 2 wrong usage.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SIGNED = ("manifest.json", "SHA256SUMS")
UNLISTED = {"SHA256SUMS", *(name + kind for name in SIGNED for kind in (".sig", ".ed25519"))}


def fingerprint(blob: bytes) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def signer(folder: Path) -> tuple[str, bytes]:
    """The line of allowed_signers and the key in it."""
    text = (folder / "allowed_signers").read_text(encoding="ascii")
    words = text.split()
    if len(words) != 4 or words[2] != "ssh-ed25519" or text.count("\n") != 1:
        raise ValueError("allowed_signers is not one line with one Ed25519 key")
    return text, base64.b64decode(words[3], validate=True)


def signature_holds(folder: Path, name: str, allowed: str) -> bool:
    """Whether ssh-keygen accepts the SSHSIG of a file under the key that was compared, not under a file that changed."""
    with (
        tempfile.NamedTemporaryFile("w", suffix=".allowed") as key,
        (folder / name).open("rb") as data,
    ):
        key.write(allowed)
        key.flush()
        command = ["ssh-keygen", "-Y", "verify", "-f", key.name, "-I", "dedupreview"]
        command += ["-n", "review-table", "-s", str(folder / f"{name}.sig")]
        return subprocess.run(command, stdin=data, capture_output=True, check=False).returncode == 0


def sha256(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()


def problems(folder: Path, expected: str) -> Iterator[str]:
    present = set()
    for path in folder.iterdir():
        if not stat.S_ISREG(path.lstat().st_mode):
            yield f"not a plain file: {path.name}"
            return
        present.add(path.name)
    missing = {"allowed_signers", "manifest.json", *UNLISTED} - present
    if missing:
        yield f"missing: {', '.join(sorted(missing))}"
        return
    allowed, blob = signer(folder)
    if fingerprint(blob) != expected:
        yield f"wrong key: {fingerprint(blob)}, expected {expected}"
        return
    for name in SIGNED:
        if not signature_holds(folder, name, allowed):
            yield f"the signature of {name} does not hold: one of the two was changed"
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").split("\n")
    sums = {line[66:]: line[:64] for line in lines if re.fullmatch(r"[0-9a-f]{64}  [^/\\]+", line)}
    for name in sorted(set(sums) - present):
        yield f"missing: {name}"
    for name in sorted(present - set(sums) - UNLISTED):
        yield f"does not belong to the table: {name}"
    for name in sorted(set(sums) & present):
        if sha256(folder / name) != sums[name]:
            yield f"changed: {name}"
    yield from chain_problems(folder)


def chain_problems(folder: Path) -> Iterator[str]:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    value, count = "0" * 64, 0
    with (folder / "records.jsonl").open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            value = hashlib.sha256((value + json.loads(line)["digest"]).encode()).hexdigest()
            count += 1
    if (value, count) != (manifest["chain_digest"], manifest["records"]):
        yield "the chain over records.jsonl does not end as signed"


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found: list[str] = []
    try:
        found.extend(problems(Path(arguments[0]), arguments[1]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        found.append(f"cannot be read: {type(error).__name__}: {error}")
    for problem in found:
        print(problem, file=sys.stderr)
    if not found:
        print("fine: genuine and whole")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
