"""Background workers that have loaded everything before the first job arrives.

A worker forks for each job; what it has not loaded itself, every job would load again (four to eight seconds).
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import django
from redis.exceptions import ConnectionError as QueueGone
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as QueueSilent
from rq.worker import SimpleWorker, Worker
from rq.worker.base import BaseWorker

from dedupreview import processes

if TYPE_CHECKING:
    from rq.executions import Execution
    from rq.job import Job
    from rq.queue import Queue

logger = logging.getLogger(__name__)

HEARTBEAT_INTERVAL = 2.0


def warm() -> None:
    """Load what jobs need: the pipeline with its compiled kernels, and the dictionary of the word splitter."""
    from screening.warmup import warm_up

    warm_up()


@contextmanager
def heartbeat(interval: float = HEARTBEAT_INTERVAL) -> Iterator[str]:
    """Keep this worker's key alive in the queue server, from a thread; give the key, remove it at the end."""
    from dedupreview import health

    key = f"{health.WORKER_KEY}{socket.gethostname()}:{os.getpid()}"
    ended = threading.Event()

    def beat() -> None:
        with health.queue_connection() as redis:
            while not ended.is_set():
                try:
                    redis.set(key, "alive", ex=health.HEARTBEAT_TTL)
                except RedisError:
                    logger.debug("queue server does not answer", exc_info=True)
                ended.wait(interval)
            try:
                redis.delete(key)
            except RedisError:
                logger.debug("queue server went first", exc_info=True)

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield key
    finally:
        ended.set()
        thread.join(timeout=3)


class Warm(BaseWorker):
    """What the workers on every system have in common."""

    max_connection_wait_time = 4.0  # seconds; the server comes back within one

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Maintenance notices jobs of killed workers; RQ's own ten minutes are long for a person who waits.
        kwargs.setdefault("maintenance_interval", 60)
        super().__init__(*args, **kwargs)

    def work(self, *args: Any, **kwargs: Any) -> bool:
        """Load everything, then take jobs until told to stop.

        Alive from the beginning: on a new machine loading compiles for tens of seconds, and a job that comes meanwhile
        waits in the queue; nobody has to wait with opening the site.
        """
        with heartbeat():
            warm()
            return super().work(*args, **kwargs)

    def maintain_heartbeats(self, job: Job, execution: Execution) -> None:
        """Tell the queue server that the job is alive; one that is gone for a moment must not end the job."""
        try:
            super().maintain_heartbeats(job, execution)
        except (QueueGone, QueueSilent) as error:
            logger.warning("queue server does not answer (%s); the job goes on", error)


class WarmWorker(Warm, Worker):
    """Forks for each job, so that a job that dies takes nothing with it."""

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        """Fork with no database connection open: two processes on one connection destroy it."""
        from django.db import connections

        connections.close_all()
        self._parent = os.getpid()
        super().fork_work_horse(job, queue)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Run the job in the forked process, which ends with its worker."""
        processes.die_with_parent(signal.SIGKILL, self._parent)
        super().main_work_horse(job, queue)


class WarmSimpleWorker(Warm, SimpleWorker):
    """Runs jobs in its own process: forking a process with threads is not safe on macOS."""


def main() -> int:
    """Run one worker on the default queue until it is told to stop; 1 if the queue server is not there."""
    django.setup()
    from django_rq import get_queue
    from rq.serializers import JSONSerializer

    processes.watch_parent()
    kind = WarmSimpleWorker if sys.platform == "darwin" else WarmWorker
    queue = get_queue("default")
    try:
        worker = kind([queue], connection=queue.connection, serializer=JSONSerializer)
        worker.work(logging_level="WARNING")
    except (QueueGone, QueueSilent) as error:
        logger.error("queue server does not answer: %s", error)
        return 1
    return 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dedupreview.settings")
    sys.exit(main())
