"""Digests of records: what makes an insert-only row checkable by anyone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

import rfc8785

DIGEST_VERSION = 1
"""Raised whenever the set of digested fields of any record changes."""


def canonical(value: object) -> bytes:
    """The canonical JSON of ``value`` (RFC 8785), UTF-8, no trailing newline."""
    return rfc8785.dumps(value)  # type: ignore[arg-type]


def digest(fields: Mapping[str, object]) -> str:
    """The sha256, in hexadecimal, of the canonical JSON of ``fields``.

    Times must already be text (:func:`timestamp`); people are given by code, never by name.
    """
    return hashlib.sha256(canonical(dict(fields))).hexdigest()


def timestamp(moment: datetime) -> str:
    """``moment`` as RFC 3339 in UTC with microseconds, so that every database gives the same text back."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
