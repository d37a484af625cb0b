"""Is everything there that the site needs? For machines at /healthz, and for the banner on the pages."""

from __future__ import annotations

import shutil

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis
from redis.exceptions import RedisError

WORKER_KEY = "dedupreview:worker:"
"""Prefix of the key that each living worker renews; followed by its name."""

HEARTBEAT_TTL = 6
"""Seconds after which a worker that has stopped renewing its key counts as gone."""


LEAST_FREE = 200 * 2**20
"""Bytes that have to be free in the data directory: below it the next import or run is likely to end with a full disk."""


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


def migrated() -> bool:
    """Whether the database has everything that this program expects of it."""
    try:
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return False


def room_left() -> bool:
    """Whether the data directory can be read and has :data:`LEAST_FREE` bytes left."""
    try:
        return shutil.disk_usage(settings.DATA_DIR).free >= LEAST_FREE
    except OSError:
        return False


def _state() -> dict[str, object]:
    """Database, queue and workers, with the reasons why the site is not whole."""
    workers = workers_seen()
    reasons = []
    if not database_answers():
        reasons.append("database does not answer")
    if workers is None:
        reasons.append("queue does not answer")
    elif workers == 0:
        reasons.append("no background worker is running")
    return {
        "status": "unavailable" if reasons else "ok",
        "database": "failing" if "database does not answer" in reasons else "ok",
        "queue": "failing" if workers is None else "ok",
        "workers": workers or 0,
        "reasons": reasons,
    }


def _answer(body: dict[str, object]) -> JsonResponse:
    response = JsonResponse(body, status=503 if body["reasons"] else 200)
    response._has_been_logged = True  # type: ignore[attr-defined]  # whoever asks every second knows it already
    return response


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 and ``{"status": "ok"}`` when database, queue and a worker are there; else 503 with ``reasons``."""
    return _answer(_state())


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """As /healthz, and whether the database is up to date and the data directory has room: may people be sent here?"""
    body = _state()
    reasons = list(body["reasons"])  # type: ignore[call-overload]
    if body["database"] == "ok" and not migrated():
        reasons.append("the database is older than this program: run manage.py migrate")
    if not room_left():
        reasons.append(f"less than {LEAST_FREE // 2**20} MB are free in the data directory")
    return _answer({**body, "status": "unavailable" if reasons else "ok", "reasons": reasons})
