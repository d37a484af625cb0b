"""The verifier that travels with a table needs neither this software nor its libraries."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reviews.tables import signing
from tests.tables.conftest import need
from tests.tables.making import copied

PROGRAM = Path(signing.__file__).parent / "files" / "verify.py"


def verdict(folder: Path, mark: str) -> tuple[int, str]:
    need("ssh-keygen")
    # -I -S: no site packages, no environment.
    command = [sys.executable, "-I", "-S", str(PROGRAM), str(folder), mark]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_it_finds_a_good_table_fine(table: Path) -> None:
    assert verdict(table, signing.fingerprint()) == (0, "fine: genuine and whole\n")
    assert (table / "verify.py").read_bytes() == PROGRAM.read_bytes()


def test_it_names_another_key(table: Path) -> None:
    status, said = verdict(table, "SHA256:" + "A" * 43)
    assert status == 1
    assert "wrong key" in said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("final.csv", "changed: final.csv"),
        ("manifest.json", "the signature of manifest.json"),
        ("SHA256SUMS.sig", "the signature of SHA256SUMS"),
        ("records.jsonl", "changed: records.jsonl"),
    ],
)
def test_it_names_a_changed_file(table: Path, tmp_path: Path, name: str, said: str) -> None:
    folder = copied(table, tmp_path)
    data = bytearray((folder / name).read_bytes())
    place = next(n for n in range(len(data) // 2, len(data)) if chr(data[n]) in "abcdefghij")
    data[place] ^= 1
    (folder / name).write_bytes(data)
    status, output = verdict(folder, signing.fingerprint())
    assert status == 1
    assert said in output


def test_it_names_missing_and_foreign_files(table: Path, tmp_path: Path) -> None:
    folder = copied(table, tmp_path)
    (folder / "flow.json").unlink()
    (folder / "extra.txt").write_text("x")
    status, output = verdict(folder, signing.fingerprint())
    assert status == 1
    assert "missing: flow.json" in output
    assert "does not belong to the table: extra.txt" in output
