"""Verifying a bundle that may come from anybody, against a key fingerprint obtained elsewhere.

Nothing in the bundle is trusted before the pinned key has signed for it; every finding is a :class:`Fault` with a stable
code, so that a changed file, a foreign key and a damaged signature are told apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from reviews.tables import contents, sshsig
from reviews.tables.errors import TableError
from reviews.tables.faults import Fault
from reviews.tables.opening import MAX_TOTAL, READ_ERRORS, Bundle, UnsafeBundle, open_bundle

__all__ = ["Fault", "Verification", "verify_bundle", "verify_table"]

SMALL = 4 * 2**20
"""Bytes of the largest manifest, sums or signature file that is read."""
SUM_LINE = re.compile(rb"([0-9a-f]{64})  ([^/\\\x00-\x1f]{1,200})\n")
SIGNED = ("manifest.json", "SHA256SUMS")
UNLISTED = {"SHA256SUMS", *(f"{name}{kind}" for name in SIGNED for kind in (".sig", ".ed25519"))}
REQUIRED = (
    "documents.jsonl",
    "pairs.jsonl",
    "judgments.jsonl",
    "arbitrations.jsonl",
    "outcomes.jsonl",
    "sign_offs.jsonl",
    "records.jsonl",
    "final.csv",
    "final.xlsx",
    "relations.csv",
    "agreement.json",
    "flow.json",
    "run.json",
    "guideline.md",
    "VERIFY.md",
    "allowed_signers",
    "manifest.json",
)


@dataclass(frozen=True)
class Verification:
    """What came of it: fine, or every fault found. ``provisional`` and ``fingerprint`` as the bundle says."""

    faults: tuple[Fault, ...]
    fingerprint: str = ""
    provisional: bool | None = None
    manifest: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.faults

    def lines(self) -> list[str]:
        """The faults in the reader's language, or that all is well."""
        return [str(fault) for fault in self.faults] or [gettext("The table is genuine and whole.")]


def verify_table(
    path: Path | str,
    *,
    fingerprint: str | None = None,
    limit: int = MAX_TOTAL,
    name: str = "",
) -> Verification:
    """Verify the folder or zip at ``path`` against ``fingerprint``, else against the installation's own keys.

    ``limit``: bytes that a zip may unpack to; a larger one is refused. ``name``: what to call the zip, else as its file.
    Raises TableError if there is no fingerprint to compare with: the key in a bundle proves nothing by itself.
    """
    from reviews.tables import signing

    pinned = [signing.checked(fingerprint)] if fingerprint else signing.own_fingerprints()
    if not pinned:
        raise TableError(
            _(
                "This installation has no key yet: give the fingerprint that you were told, with --fingerprint."
            ),
            code="fingerprint",
        )
    return verify_bundle(
        Path(path), pinned=pinned, revoked=signing.revoked(), limit=limit, name=name
    )


def verify_bundle(
    path: Path,
    *,
    pinned: Sequence[str],
    revoked: set[str] | frozenset[str] = frozenset(),
    limit: int = MAX_TOTAL,
    name: str = "",
) -> Verification:
    """Verify a bundle against any of the ``pinned`` fingerprints."""
    try:
        with open_bundle(path, limit=limit, name=name) as bundle:
            return _Check(bundle, pinned, revoked).run()
    except UnsafeBundle as unsafe:
        return Verification((Fault("refused", unsafe.template, unsafe.params),))


class _Check:
    """One verification; collects faults as it goes."""

    def __init__(self, bundle: Bundle, pinned: Sequence[str], revoked: set[str] | frozenset[str]):
        self.bundle = bundle
        self.pinned = pinned
        self.revoked = revoked
        self.faults: list[Fault] = []
        self.signer = ""

    def fault(self, code: str, template: str, **params: object) -> None:
        self.faults.append(Fault(code, template, params))

    def run(self) -> Verification:
        sums = self._sums()
        self._signatures()
        self._key_files()
        self._names(sums)
        digests = self._hashes(sums)
        manifest = self._manifest(digests)
        self.faults += contents.check(self.bundle, manifest)
        provisional = manifest.get("provisional")
        return Verification(
            tuple(dict.fromkeys(self.faults)),
            self.signer,
            provisional if isinstance(provisional, bool) else None,
            manifest,
        )

    def _small(self, name: str) -> bytes | None:
        if name not in self.bundle.sizes:
            return None
        try:
            return self.bundle.read(name, SMALL)
        except (*READ_ERRORS, ValueError):
            self.fault("unreadable", _("%(name)s cannot be read."), name=name)
            return None

    # --- Signatures and keys ---

    def _signatures(self) -> None:
        for name in SIGNED:
            data = self._small(name)
            signature = self._ssh_signature(name)
            raw = self._raw_signature(name)
            if data is None:
                continue
            self._judge(name, data, signature, raw)

    def _ssh_signature(self, name: str) -> sshsig.Signature | None:
        data = self._small(f"{name}.sig")
        if data is None:
            return None
        try:
            return sshsig.parse(data)
        except sshsig.MalformedSignature:
            self.fault(
                "signature_malformed",
                _("%(name)s is not a signature: it was damaged or cut."),
                name=f"{name}.sig",
            )
            return None

    def _raw_signature(self, name: str) -> bytes | None:
        data = self._small(f"{name}.ed25519")
        if data is not None and len(data) != sshsig.RAW_LENGTH:
            self.fault(
                "signature_malformed",
                _("%(name)s is not a signature: it was damaged or cut."),
                name=f"{name}.ed25519",
            )
            return None
        return data

    def _judge(
        self, name: str, data: bytes, signature: sshsig.Signature | None, raw: bytes | None
    ) -> None:
        """Which of the two signatures of ``name`` hold under the pinned key, and what follows."""
        key = self._trusted_key(name, signature)
        if key is None:
            return
        message = sshsig.signed_message(hashlib.sha512(data).digest())
        ssh_holds = signature is not None and sshsig.verifies(key, signature.signature, message)
        raw_holds = raw is not None and sshsig.verifies(key, raw, data)
        if ssh_holds and raw_holds:
            return
        if not ssh_holds and not raw_holds:
            self.fault(
                "signature_invalid",
                _("%(name)s was changed after it was signed."),
                name=name,
            )
            return
        if not ssh_holds and signature is not None:
            self._damaged(f"{name}.sig")
        if not raw_holds and raw is not None:
            self._damaged(f"{name}.ed25519")

    def _damaged(self, name: str) -> None:
        self.fault(
            "signature_damaged",
            _(
                "%(name)s does not fit, but the other signature of the same file does: it was changed."
            ),
            name=name,
        )

    def _trusted_key(self, name: str, signature: sshsig.Signature | None) -> bytes | None:
        """The key of ``signature`` if its fingerprint is pinned; else, if it is damaged, that of allowed_signers."""
        if signature is None:
            key = self._allowed_key()
            return key if key and sshsig.fingerprint(key) in self._good() else None
        mark = sshsig.fingerprint(signature.public_key)
        self.signer = self.signer or mark
        if mark != self.signer:
            self.fault("wrong_key", _("The two signatures were made with different keys."))
        if mark in self.revoked:
            self.fault("key_revoked", _("The key %(mark)s was revoked."), mark=mark)
        if mark in self.pinned:
            return signature.public_key
        self.fault(
            "wrong_key",
            _(
                "%(name)s was signed with the key %(mark)s, which is not the one expected: %(pinned)s"
            ),
            name=name,
            mark=mark,
            pinned=", ".join(self.pinned),
        )
        return None

    def _good(self) -> set[str]:
        return set(self.pinned) - set(self.revoked)

    def _allowed_key(self) -> bytes | None:
        data = self._small("allowed_signers")
        try:
            return sshsig.read_allowed_signers(data) if data is not None else None
        except ValueError:
            return None

    def _key_files(self) -> None:
        data = self._small("allowed_signers")
        if data is None:
            return
        key = self._allowed_key()
        if key is None:
            self.fault(
                "allowed_signers_changed", _("allowed_signers is not as this software writes it.")
            )
        elif sshsig.fingerprint(key) not in self.pinned:
            self.fault(
                "key_not_pinned",
                _(
                    "allowed_signers names the key %(mark)s, which is not the one expected: %(pinned)s"
                ),
                mark=sshsig.fingerprint(key),
                pinned=", ".join(self.pinned),
            )

    # --- Files ---

    def _sums(self) -> dict[str, str]:
        data = self._small("SHA256SUMS")
        if data is None:
            return {}
        sums = {
            name.decode("utf-8", "replace"): mark.decode() for mark, name in SUM_LINE.findall(data)
        }
        expected = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()
        if expected != data:
            self.fault("sums_malformed", _("SHA256SUMS is not as this software writes it."))
        return sums

    def _names(self, sums: dict[str, str]) -> None:
        present = set(self.bundle.sizes)
        for name in sorted((set(sums) | set(REQUIRED) | UNLISTED) - present):
            self.fault("file_missing", _("%(name)s is missing."), name=name)
        for name in sorted(present - set(sums) - UNLISTED):
            self.fault("file_unlisted", _("%(name)s does not belong to the table."), name=name)
        if set(sums) & UNLISTED:
            self.fault("sums_malformed", _("SHA256SUMS is not as this software writes it."))
        for name in sorted(set(REQUIRED) - set(sums)):
            self.fault("sums_incomplete", _("SHA256SUMS does not cover %(name)s."), name=name)

    def _hashes(self, sums: dict[str, str]) -> dict[str, str]:
        digests: dict[str, str] = {}
        for name in sorted(set(self.bundle.sizes) - UNLISTED):
            try:
                digests[name] = _sha256(self.bundle, name)
            except READ_ERRORS:
                self.fault("unreadable", _("%(name)s cannot be read."), name=name)
                continue
            if name in sums and digests[name] != sums[name]:
                self.fault("content_changed", _("%(name)s was changed."), name=name)
        return digests

    def _manifest(self, digests: dict[str, str]) -> dict[str, Any]:
        data = self._small("manifest.json")
        if data is None:
            return {}
        try:
            manifest = contents.read_manifest(data)
        except ValueError:
            self.fault("manifest_malformed", _("manifest.json is not as this software writes it."))
            return {}
        if self.signer and manifest["key_fingerprint"] != self.signer:
            self.fault(
                "wrong_key", _("manifest.json names another key than the one that signed it.")
            )
        files = manifest["files"]
        covered = set(digests) - {"manifest.json"}
        for name in sorted(covered ^ set(files)):
            self.fault(
                "manifest_differs", _("manifest.json and the folder differ: %(name)s"), name=name
            )
        for name in sorted(covered & set(files)):
            if files[name]["sha256"] != digests[name]:
                self.fault("content_changed", _("%(name)s was changed."), name=name)
            elif files[name]["size"] != self.bundle.sizes[name]:
                self.fault("size_differs", _("The size of %(name)s is not as stated."), name=name)
        return manifest


def _sha256(bundle: Bundle, name: str) -> str:
    total = hashlib.sha256()
    with bundle.open(name) as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()
