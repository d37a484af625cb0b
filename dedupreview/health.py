"""Is everything there that the site needs? For machines at /healthz, and for the banner on the pages."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis
from redis.exceptions import RedisError

WORKER_KEY = "dedupreview:worker:"
"""Prefix of the key that each living worker renews; followed by its name."""

HEARTBEAT_TTL = 6
"""Seconds after which a worker that has stopped renewing its key counts as gone."""


def queue_connection() -> Redis:
    """A connection to the queue server that gives up within two seconds, so that no page waits for a dead one."""
    return Redis.from_url(settings.QUEUE_URL, socket_timeout=2, socket_connect_timeout=2)


def count_workers(redis: Redis) -> int:
    """How many workers have renewed their key within the last :data:`HEARTBEAT_TTL` seconds."""
    return sum(1 for _ in redis.scan_iter(match=f"{WORKER_KEY}*", count=1000))


def workers_seen() -> int | None:
    """Number of living background workers; None if the queue server does not answer."""
    try:
        with queue_connection() as redis:
            return count_workers(redis)
    except (RedisError, OSError):
        return None


def database_answers() -> bool:
    """Whether the database answers a trivial question."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except DatabaseError:
        return False


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 and ``{"status": "ok"}`` when database, queue and a worker are there; else 503 with ``reasons``."""
    workers = workers_seen()
    reasons = []
    if not database_answers():
        reasons.append("database does not answer")
    if workers is None:
        reasons.append("queue does not answer")
    elif workers == 0:
        reasons.append("no background worker is running")
    body = {
        "status": "unavailable" if reasons else "ok",
        "database": "failing" if "database does not answer" in reasons else "ok",
        "queue": "failing" if workers is None else "ok",
        "workers": workers or 0,
        "reasons": reasons,
    }
    response = JsonResponse(body, status=503 if reasons else 200)
    response._has_been_logged = True  # type: ignore[attr-defined]  # whoever asks every second knows it already
    return response
