"""The installation's signing keys: files below the data directory, outside the database.

``signing/0001.pem``, ``0002.pem`` … (PKCS 8, mode 0600): the highest number signs, the others are kept so that their
tables stay verifiable. ``signing/revoked`` lists fingerprints that count no longer, one a line, ``#`` for comments.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from django.conf import settings
from django.utils.translation import gettext_noop as _

from dedupreview import paths
from reviews.tables import sshsig
from reviews.tables.errors import TableError

KEY_NAME = re.compile(r"\d{4,}\.pem")


def folder() -> Path:
    """Where the keys lie; it may not exist yet."""
    return Path(settings.DATA_DIR) / "signing"


def key_files() -> list[Path]:
    """The key files there are, oldest first."""
    if not folder().is_dir():
        return []
    found = [path for path in folder().iterdir() if KEY_NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: int(path.stem))


def current_key() -> Ed25519PrivateKey:
    """The key that signs, made on first use; processes that start together agree on one.

    Raises TableError if the newest key is revoked or cannot be read.
    """
    files = key_files()
    if not files:
        _write_key(1)
        files = key_files()
    key = _read_key(files[-1])
    if _fingerprint_of(key) in revoked():
        raise TableError(_("The signing key is revoked: make a new one with signing_key --rotate."))
    return key


def fingerprint() -> str:
    """The fingerprint of the key that signs, ``SHA256:…``, as ``ssh-keygen -l`` prints it."""
    return _fingerprint_of(current_key())


def public_pem() -> bytes:
    """The public key that signs, as openssl reads it."""
    return current_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def own_fingerprints() -> list[str]:
    """The fingerprints of all the installation's keys that are not revoked, oldest first; creates none."""
    known = [_fingerprint_of(_read_key(path)) for path in key_files()]
    gone = revoked()
    return [mark for mark in known if mark not in gone]


def rotate() -> str:
    """Make a new signing key and return its fingerprint; earlier tables stay verifiable by their own key."""
    files = key_files()
    _write_key(int(files[-1].stem) + 1 if files else 1)
    return _fingerprint_of(_read_key(key_files()[-1]))


def revoked() -> set[str]:
    """The fingerprints that count no longer."""
    try:
        text = (folder() / "revoked").read_text(encoding="utf-8")
    except FileNotFoundError:
        return set()
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return {line for line in lines if line}


def checked(mark: str) -> str:
    """``mark`` without blanks around it, if it looks like a fingerprint; else TableError."""
    text = mark.strip()
    if not re.fullmatch(r"SHA256:[A-Za-z0-9+/]{43}", text):
        raise TableError(_("%(mark)s is not a key fingerprint."), {"mark": text[:80]})
    return text


def revoke(mark: str, why: str = "") -> None:
    """Add a fingerprint to the revoked list; a second time changes nothing."""
    mark = checked(mark)
    if mark in revoked():
        return
    paths.make_private(folder())
    note = " ".join(why.split())
    with (folder() / "revoked").open("a", encoding="utf-8") as file:
        file.write(f"{mark}{f'  # {note}' if note else ''}\n")
        file.flush()
        os.fsync(file.fileno())


def _fingerprint_of(key: Ed25519PrivateKey) -> str:
    return sshsig.fingerprint(sshsig.raw_public(key.public_key()))


def _read_key(path: Path) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        raise TableError(
            _("The signing key %(name)s cannot be read."), {"name": path.name}
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise TableError(_("The signing key %(name)s is not an Ed25519 key."), {"name": path.name})
    return key


def _write_key(number: int) -> None:
    """Write a new key under ``number`` unless somebody else just did: theirs counts then."""
    place = paths.make_private(folder())
    data = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    descriptor, name = tempfile.mkstemp(dir=place, prefix=".key-")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(name, place / f"{number:04d}.pem")
    finally:
        os.unlink(name)
