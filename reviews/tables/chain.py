"""The chain over the insert-only rows of a table.

Starts at 64 zeros; each record's digest gives the next value: sha256 of the two hexadecimal texts, one after the
other. The order is that of records.jsonl, so leaving out, swapping or adding a record changes the end.
Pure: knows nothing of Django.
"""

from __future__ import annotations

import hashlib

START = "0" * 64


class Chain:
    """The running value; ``length`` counts the records."""

    def __init__(self) -> None:
        self.value = START
        self.length = 0

    def add(self, digest: str) -> None:
        self.value = hashlib.sha256((self.value + digest).encode("ascii")).hexdigest()
        self.length += 1
