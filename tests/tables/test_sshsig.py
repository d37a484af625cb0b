"""Signatures and keys, against the tools that strangers have."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from reviews.tables import signing, sshsig
from reviews.tables.errors import TableError
from tests.tables.conftest import need

DATA = "材料对与判断\n".encode() * 50


@pytest.fixture
def key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def ssh_accepts(folder: Path, allowed: str, signature: bytes, data: bytes) -> bool:
    (folder / "allowed").write_text(allowed)
    (folder / "sig").write_bytes(signature)
    command = [need("ssh-keygen"), "-Y", "verify", "-f", str(folder / "allowed")]
    command += ["-I", "dedupreview", "-n", "review-table", "-s", str(folder / "sig")]
    return not subprocess.run(command, input=data, capture_output=True, check=False).returncode


def test_ssh_keygen_accepts_what_we_sign_and_nothing_else(
    key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    allowed = sshsig.allowed_signers_line(sshsig.raw_public(key.public_key()))
    signature = sshsig.sign(key, DATA)
    assert ssh_accepts(tmp_path, allowed, signature, DATA)
    assert not ssh_accepts(tmp_path, allowed, signature, DATA + b"\n")
    other = sshsig.sign(Ed25519PrivateKey.generate(), DATA)
    assert not ssh_accepts(tmp_path, allowed, other, DATA)


def test_the_fingerprint_is_the_one_ssh_keygen_prints(
    key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    public = sshsig.raw_public(key.public_key())
    file = tmp_path / "key.pub"
    file.write_text(sshsig.allowed_signers_line(public).split(" ", 2)[2])
    shown = subprocess.run(
        [need("ssh-keygen"), "-l", "-f", str(file)], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split()[1] == sshsig.fingerprint(public)


def test_every_byte_of_a_signature_matters_to_us_and_to_ssh_keygen(
    key: Ed25519PrivateKey, tmp_path: Path
) -> None:
    public = sshsig.raw_public(key.public_key())
    allowed = sshsig.allowed_signers_line(public)
    signature = sshsig.sign(key, DATA)
    for place in range(0, len(signature), 3):
        changed = bytearray(signature)
        changed[place] ^= 1
        assert not ssh_accepts(tmp_path, allowed, bytes(changed), DATA), place
    message = sshsig.signed_message(hashlib.sha512(DATA).digest())
    for place in range(len(signature)):
        for bit in range(8):
            changed = bytearray(signature)
            changed[place] ^= 1 << bit
            try:
                found = sshsig.parse(bytes(changed))
            except sshsig.MalformedSignature:
                continue
            holds = sshsig.verifies(public, found.signature, message)
            assert not (holds and found.public_key == public), (place, bit)


@pytest.mark.parametrize(
    "cut", [b"", b"-----BEGIN SSH SIGNATURE-----\n", b"x" * 302, "签名".encode()]
)
def test_what_is_no_signature_is_called_malformed(cut: bytes) -> None:
    with pytest.raises(sshsig.MalformedSignature):
        sshsig.parse(cut)


def test_a_signature_written_by_ssh_keygen_itself_verifies_as_the_same_message(
    tmp_path: Path,
) -> None:
    """The signed message is OpenSSH's own: a signature made by ssh-keygen holds for it."""
    import base64

    tool = need("ssh-keygen")
    private = tmp_path / "id"
    subprocess.run([tool, "-q", "-t", "ed25519", "-N", "", "-f", str(private)], check=True)
    (tmp_path / "data").write_bytes(DATA)
    command = [tool, "-Y", "sign", "-f", str(private), "-n", "review-table", str(tmp_path / "data")]
    subprocess.run(command, check=True, capture_output=True)
    lines = (tmp_path / "data.sig").read_text().splitlines()
    blob = base64.b64decode("".join(lines[1:-1]))
    public = base64.b64decode((tmp_path / "id.pub").read_text().split()[1])[-32:]
    message = sshsig.signed_message(hashlib.sha512(DATA).digest())
    assert sshsig.verifies(public, blob[-64:], message)


# --- The installation's keys ---


def test_the_key_is_made_once_and_private(data_dir: Path) -> None:
    assert signing.own_fingerprints() == []
    mark = signing.fingerprint()
    assert signing.fingerprint() == mark
    (file,) = signing.key_files()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.parent == data_dir / "signing"
    assert [path.name for path in file.parent.iterdir()] == ["0001.pem"]


FIRST_KEY = """
import sys
import django
django.setup()
from reviews.tables import signing
print("ready", flush=True)
sys.stdin.read()
print(signing.fingerprint())
"""


def test_processes_that_start_together_agree_on_one_key(data_dir: Path) -> None:
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "dedupreview.settings"}
    env["DEDUPREVIEW_DATA_DIR"] = str(data_dir)
    command = [sys.executable, "-c", FIRST_KEY]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, env=env) for _ in range(6)]
    assert [process.stdout.readline() for process in started] == [b"ready\n"] * 6
    for process in started:
        process.stdin.close()
    marks = [process.stdout.read() for process in started]
    assert [process.wait(60) for process in started] == [0] * 6
    assert len(set(marks)) == 1
    assert marks[0].strip().decode() == signing.fingerprint()
    assert len(signing.key_files()) == 1


def test_rotation_signs_anew_and_keeps_the_old_key_known(data_dir: Path) -> None:
    first = signing.fingerprint()
    second = signing.rotate()
    assert second != first
    assert signing.fingerprint() == second
    assert signing.own_fingerprints() == [first, second]
    signing.revoke(first, "lost\nlaptop")
    assert signing.own_fingerprints() == [second]
    signing.revoke(first)
    assert signing.revoked() == {first}


def test_a_revoked_key_signs_no_more(data_dir: Path) -> None:
    signing.revoke(signing.fingerprint())
    with pytest.raises(TableError, match="rotate"):
        signing.current_key()
    signing.rotate()
    assert signing.current_key()


def test_a_damaged_key_is_named_and_not_replaced(data_dir: Path) -> None:
    signing.fingerprint()
    (file,) = signing.key_files()
    file.write_bytes(b"broken")
    with pytest.raises(TableError, match=r"0001\.pem"):
        signing.current_key()
    assert signing.key_files() == [file]


@pytest.mark.parametrize(
    "mark", ["", "SHA256:abc", "MD5:00", "SHA256:" + "a" * 42, "SHA256:" + "a" * 43 + "#"]
)
def test_only_a_fingerprint_can_be_revoked(data_dir: Path, mark: str) -> None:
    with pytest.raises(TableError):
        signing.revoke(mark)
    assert signing.revoked() == set()


def test_the_command_shows_and_rotates(data_dir: Path, capsys: Any) -> None:
    from django.core.management import call_command

    call_command("signing_key")
    first = capsys.readouterr().out.strip()
    call_command("signing_key", "--rotate", "--public")
    out = capsys.readouterr().out
    assert first.startswith("fingerprint: SHA256:")
    assert first not in out
    assert "BEGIN PUBLIC KEY" in out
