"""Every few seconds, puts runs back on the queue whose job or worker is gone. A process of its own under `up`."""

from __future__ import annotations

import logging
import os
import signal
import threading

import django
from django.db import DatabaseError, close_old_connections
from django.utils.module_loading import import_string
from redis.exceptions import RedisError

from dedupreview import processes

logger = logging.getLogger(__name__)

INTERVAL = 3.0
SWEEPS = (
    "dedupreview.hosts.beat",
    "screening.runs.sweep",
    "reviews.tables.exporting.sweep",
    "reviews.tallies.sweep",
)
UNTIL_DONE = ("dedupreview.demo.advance",)
"""Called until they return True. All by name: the ground floor imports nothing from above."""


class Sweeper:
    """Calls the sweeps again and again; a queue or database that is gone for a while is said once."""

    def __init__(
        self, sweeps: tuple[str, ...] = SWEEPS, until_done: tuple[str, ...] = UNTIL_DONE
    ) -> None:
        self.sweeps = [import_string(name) for name in sweeps]
        self.unfinished = [import_string(name) for name in until_done]
        self.trouble = ""

    def once(self) -> int:
        """Run every sweep; the number of runs put back."""
        moved = 0
        try:
            close_old_connections()
            for sweep in self.sweeps:
                moved += sweep()
            self.unfinished = [advance for advance in self.unfinished if not advance()]
        except (RedisError, DatabaseError, OSError) as error:
            self._say(f"{type(error).__name__}: {error}")
            return moved
        except Exception:
            logger.exception("sweep failed; trying again in %.0f s", INTERVAL)
            return moved
        self._say("")
        return moved

    def _say(self, trouble: str) -> None:
        if trouble and trouble != self.trouble:
            logger.warning("cannot look after the runs for the moment: %s", trouble)
        elif self.trouble and not trouble:
            logger.warning("looking after the runs again")
        self.trouble = trouble


def main() -> None:
    """Sweep until SIGTERM."""
    django.setup()
    processes.watch_parent()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_signal: ended.set())
    sweeper = Sweeper()
    while not ended.wait(INTERVAL):
        sweeper.once()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dedupreview.settings")
    main()
