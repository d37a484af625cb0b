"""A progress bar for people at a terminal; anywhere else it prints nothing."""

from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 30


class ProgressBar:
    """Redraws one line on standard error, at most ten times a second. ``clear`` before printing anything else."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._shown = bool(getattr(self._stream, "isatty", lambda: False)())
        self._last = 0.0
        self._length = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is."""
        now = time.monotonic()
        if not self._shown or (now - self._last < 0.1 and done < total):
            return
        self._last = now
        filled = WIDTH * min(done, total) // total if total else 0
        line = f"{stage:<12} [{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total}"
        self._stream.write("\r" + line.ljust(self._length))
        self._stream.flush()
        self._length = len(line)

    def clear(self) -> None:
        """Take the bar off the terminal."""
        if self._shown and self._length:
            self._stream.write("\r" + " " * self._length + "\r")
            self._stream.flush()
            self._length = 0
