"""Holding a row while working on it: one worker at a time, and none for ever.

A worker takes a row by compare-and-set and renews its lease from a thread. A lease that has lapsed means that the
worker is dead; the next one takes the row with a higher ``attempt``, and whatever the old one still writes to the row
misses it.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

from django.db import DatabaseError, connection, models
from django.db.models import F, Q
from django.utils import timezone

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
BEAT = 1.0
"""Seconds between two renewals, each of which also carries the progress and fetches the wish to stop."""

TRIES = 5
"""Interruptions after which a row is given up: something in it kills its workers."""

_ROUND = 1000
"""``attempt`` counts on in the next thousand when a person asks for another start, so that it never repeats."""


class Lost(Exception):
    """Another worker holds the row now; stop without touching it."""


def lapsed(now: datetime) -> Q:
    """Rows that say they are running and whose worker is dead."""
    return Q(state="running") & (Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lt=now))


def take(row_type: type[models.Model], pk: int, **changes: Any) -> int | None:
    """Take a queued row, or a running one whose lease has lapsed; its new ``attempt``, or None if it is not to be had."""
    now = timezone.now()
    rows: Any = row_type._default_manager
    taken = rows.filter(Q(state="queued") | lapsed(now), pk=pk).update(
        state="running", attempt=F("attempt") + 1, lease_expires_at=now + LEASE, **changes
    )
    if not taken:
        return None
    return int(rows.values_list("attempt", flat=True).get(pk=pk))


def tries(attempt: int) -> int:
    """How often the row has been started since a person last asked for it."""
    return attempt % _ROUND


def next_round(attempt: int) -> int:
    """The attempt from which to count on when a person asks for another start."""
    return (attempt // _ROUND + 1) * _ROUND


class Hold:
    """A taken row: renews its lease, carries its progress, and knows whether it should stop.

    Use as a context manager. ``progress`` may be called as often as one likes. In a transaction that nobody else can
    see into (tests), the row is written from this thread, since another one would wait for it.
    """

    def __init__(
        self, row_type: type[models.Model], pk: int, attempt: int, *, cancellable: bool
    ) -> None:
        self._rows: Any = row_type._default_manager
        self.pk, self.attempt = pk, attempt
        self._cancellable = cancellable
        self._report: dict[str, Any] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last = time.monotonic()
        self.cancel_requested = False
        self.lost = False

    def __enter__(self) -> Hold:
        if not connection.in_atomic_block:
            self._thread = threading.Thread(target=self._beats, name="lease", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def progress(self, done: int, total: int, stage: str | None = None) -> None:
        """Note how far the work is; it reaches the row within a second."""
        report: dict[str, Any] = {"progress_done": done, "progress_total": total}
        if stage is not None:
            report["stage"] = stage
        self._report = report
        if self._thread is None and time.monotonic() - self._last > BEAT:
            self._beat()

    def should_stop(self) -> bool:
        """Whether a person has asked to stop, or the row is another worker's."""
        return self.cancel_requested or self.lost

    def update(self, **changes: Any) -> None:
        """Write to the row if it is still ours. Raises Lost."""
        if not self._mine().update(**changes):
            raise Lost

    def _mine(self) -> Any:
        return self._rows.filter(pk=self.pk, state="running", attempt=self.attempt)

    def _beats(self) -> None:
        try:
            while not self._stop.wait(BEAT):
                self._beat()
        finally:
            connection.close()

    def _beat(self) -> None:
        self._last = time.monotonic()
        try:
            if not self._mine().update(lease_expires_at=timezone.now() + LEASE, **self._report):
                self.lost = True
            elif self._cancellable:
                self.cancel_requested = self._mine().filter(cancel_requested=True).exists()
        except DatabaseError as error:
            # A database that is busy or restarting is asked again at the next beat; the lease outlasts many of them.
            logger.warning("the lease of row %s was not renewed: %s", self.pk, error)
            if self._thread is not None:
                connection.close()
