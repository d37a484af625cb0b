"""Tools of strangers, and one finished table that tests may copy and damage."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import absent
from tests.tables import making

SIGNED = ("manifest.json", "SHA256SUMS")


def need(tool: str) -> str:
    """The path of a tool, or a skip by its name."""
    found = shutil.which(tool)
    if found is None:
        absent(tool)
    return found


@pytest.fixture
def table(db: None, data_dir: Path) -> Path:
    """The folder of a table of a finished round."""
    return making.exported(making.finished().round)


@pytest.fixture
def ssh_says(tmp_path: Path) -> Callable[[Path, bytes], bool]:
    """Whether ssh-keygen (both signatures, with allowed_signers from elsewhere) and sha256sum accept a folder."""
    ssh_keygen, sha256sum = need("ssh-keygen"), need("sha256sum")

    def says(folder: Path, allowed: bytes) -> bool:
        signers = tmp_path / "allowed-from-elsewhere"
        signers.write_bytes(allowed)
        for name in SIGNED:
            command = [ssh_keygen, "-Y", "verify", "-f", str(signers), "-I", "dedupreview"]
            command += ["-n", "review-table", "-s", str(folder / f"{name}.sig")]
            data = (folder / name).read_bytes()
            if subprocess.run(command, input=data, capture_output=True, check=False).returncode:
                return False
        sums = subprocess.run(
            [sha256sum, "--strict", "-c", "SHA256SUMS"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
        return sums.returncode == 0

    return says


@pytest.fixture
def openssl_says(tmp_path: Path) -> Callable[[Path, bytes], bool]:
    """Whether openssl accepts both raw signatures of a folder under a public key from elsewhere."""
    openssl = need("openssl")

    def says(folder: Path, pem: bytes) -> bool:
        key = tmp_path / "key-from-elsewhere.pem"
        key.write_bytes(pem)
        for name in SIGNED:
            command = [openssl, "pkeyutl", "-verify", "-pubin", "-inkey", str(key), "-rawin"]
            command += ["-in", str(folder / name), "-sigfile", str(folder / f"{name}.ed25519")]
            if subprocess.run(command, capture_output=True, check=False).returncode:
                return False
        return True

    return says
