"""Ed25519 signatures in the two forms that strangers' tools read: SSHSIG and 64 raw bytes.

The SSHSIG format is that of OpenSSH's ``PROTOCOL.sshsig``; a key's fingerprint is the one ``ssh-keygen -l`` prints.
Pure: knows nothing of Django or of where keys are kept.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from typing import BinaryIO

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

NAMESPACE = "review-table"
IDENTITY = "dedupreview"
KEY_TYPE = b"ssh-ed25519"
MAGIC = b"SSHSIG"
HASH_NAME = b"sha512"
BEGIN = b"-----BEGIN SSH SIGNATURE-----\n"
END = b"\n-----END SSH SIGNATURE-----"
RAW_LENGTH = 64


class MalformedSignature(ValueError):
    """The bytes are not an SSHSIG as this module writes it."""


@dataclass(frozen=True)
class Signature:
    """What an SSHSIG says: the 32 bytes of the key and the 64 of the signature."""

    public_key: bytes
    signature: bytes


def raw_public(key: Ed25519PublicKey) -> bytes:
    """The 32 bytes of a public key."""
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def key_blob(public_key: bytes) -> bytes:
    """The SSH wire form of a 32-byte public key."""
    return _string(KEY_TYPE) + _string(public_key)


def fingerprint(public_key: bytes) -> str:
    """``SHA256:…`` as ``ssh-keygen -l`` prints it, of a 32-byte public key."""
    mark = base64.b64encode(hashlib.sha256(key_blob(public_key)).digest()).decode()
    return "SHA256:" + mark.rstrip("=")


def allowed_signers_line(public_key: bytes) -> str:
    """The one line of an ``allowed_signers`` file that admits this key for tables only."""
    body = base64.b64encode(key_blob(public_key)).decode()
    return f'{IDENTITY} namespaces="{NAMESPACE}" {KEY_TYPE.decode()} {body}\n'


def read_allowed_signers(text: bytes) -> bytes:
    """The 32-byte key of an ``allowed_signers`` file; ValueError unless it is one line as written here."""
    words = text.decode("ascii").split()
    if len(words) != 4:
        raise ValueError("not one line of four words")
    blob = base64.b64decode(words[3], validate=True)
    reader = _Reader(blob)
    if reader.string() != KEY_TYPE:
        raise ValueError("not an Ed25519 key")
    public_key = reader.string()
    reader.end()
    if text != allowed_signers_line(public_key).encode():
        raise ValueError("not the line of this format")
    return public_key


def signed_message(digest: bytes) -> bytes:
    """The bytes that an SSHSIG signs for a file whose SHA-512 is ``digest``."""
    return MAGIC + _string(NAMESPACE.encode()) + _string(b"") + _string(HASH_NAME) + _string(digest)


def sign(private_key: Ed25519PrivateKey, data: bytes) -> bytes:
    """An armoured SSHSIG over ``data``.

    The base64 stands on one line and nothing follows the END line: readers skip white space and whatever comes
    after, so any other byte could be changed without their noticing.
    """
    public_key = raw_public(private_key.public_key())
    signature = private_key.sign(signed_message(hashlib.sha512(data).digest()))
    return _armour(public_key, signature)


def _armour(public_key: bytes, signature: bytes) -> bytes:
    blob = (
        MAGIC
        + struct.pack(">I", 1)
        + _string(key_blob(public_key))
        + _string(NAMESPACE.encode())
        + _string(b"")
        + _string(HASH_NAME)
        + _string(_string(KEY_TYPE) + _string(signature))
    )
    return BEGIN + base64.b64encode(blob) + END


def parse(armoured: bytes) -> Signature:
    """Read an SSHSIG; :class:`MalformedSignature` unless it is byte for byte one that :func:`sign` can write."""
    if not (armoured.startswith(BEGIN) and armoured.endswith(END)):
        raise MalformedSignature("armour")
    try:
        blob = base64.b64decode(armoured[len(BEGIN) : -len(END)], validate=True)
        reader = _Reader(blob)
        reader.expect(MAGIC + struct.pack(">I", 1))
        key = _Reader(reader.string())
        reader.expect(_string(NAMESPACE.encode()) + _string(b"") + _string(HASH_NAME))
        value = _Reader(reader.string())
        reader.end()
        key.expect(_string(KEY_TYPE))
        value.expect(_string(KEY_TYPE))
        found = Signature(key.string(), value.string())
        key.end()
        value.end()
    except (ValueError, binascii.Error) as error:
        raise MalformedSignature(str(error)) from None
    if len(found.public_key) != 32 or len(found.signature) != RAW_LENGTH:
        raise MalformedSignature("length")
    if _armour(found.public_key, found.signature) != armoured:
        raise MalformedSignature("not canonical")
    return found


def verifies(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether ``signature`` (64 bytes) is that of ``message`` under the 32-byte key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def sha512_of(file: BinaryIO) -> bytes:
    """The SHA-512 of what is left of an open file, read in pieces."""
    total = hashlib.sha512()
    while piece := file.read(1 << 20):
        total.update(piece)
    return total.digest()


def _string(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


class _Reader:
    """Takes SSH wire fields off the front of some bytes; ValueError when they are not there."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def expect(self, value: bytes) -> None:
        if not self.data.startswith(value):
            raise ValueError("unexpected field")
        self.data = self.data[len(value) :]

    def string(self) -> bytes:
        if len(self.data) < 4:
            raise ValueError("too short")
        (length,) = struct.unpack(">I", self.data[:4])
        if len(self.data) < 4 + length:
            raise ValueError("too short")
        value, self.data = self.data[4 : 4 + length], self.data[4 + length :]
        return value

    def end(self) -> None:
        if self.data:
            raise ValueError("bytes left over")
