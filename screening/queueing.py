"""Putting work on the queue: after the commit, by id, and never failing because the queue is away."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from functools import partial

from django.db import transaction
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

STARTING = timedelta(seconds=30)
"""How long a job may have been taken from the queue without its row having been taken; then its worker is dead."""


def enqueue_on_commit(entry: str, row_id: int, attempt: int) -> None:
    """Put ``screening.jobs.<entry>(row_id)`` on the queue once the present transaction is committed.

    The row, which is committed first, is the truth: if the queue is away, the row stays queued and the sweep
    enqueues it later.
    """
    transaction.on_commit(partial(enqueue, entry, row_id, attempt), robust=True)


def enqueue(entry: str, row_id: int, attempt: int) -> bool:
    """Put the job on the queue unless it is there already or just being started; whether it was put there now.

    Raises nothing when the queue server does not answer: it returns False.
    """
    from django_rq import get_queue
    from rq.job import Job
    from rq.serializers import JSONSerializer

    try:
        queue = get_queue("default", commit_mode="auto")  # the caller has seen to the commit
        job_id = job_id_of(entry, row_id, attempt)
        if Job.exists(job_id, connection=queue.connection):
            job = Job.fetch(job_id, connection=queue.connection, serializer=JSONSerializer)
            if _is_alive(job) and (job.is_started or job_id in queue.job_ids):
                return False
            job.delete()
        queue.enqueue_call(
            f"screening.jobs.{entry}",
            args=(row_id,),
            job_id=job_id,
            result_ttl=60,
            failure_ttl=86_400,
        )
    except (RedisError, OSError) as error:
        logger.warning("the queue does not answer; the work waits in the database: %s", error)
        return False
    return True


def job_id_of(entry: str, row_id: int, attempt: int) -> str:
    """The name of the job that will be this row's next attempt; the same name is never queued twice."""
    return f"{entry}-{row_id}-try-{attempt + 1}"


def _is_alive(job: object) -> bool:
    status = str(getattr(job.get_status(refresh=False), "value", ""))  # type: ignore[attr-defined]
    if status == "started":
        begun: datetime | None = job.started_at  # type: ignore[attr-defined]
        return begun is not None and datetime.now(UTC) - begun.astimezone(UTC) < STARTING
    return status in {"queued", "deferred", "scheduled", "created"}
