"""Two hundred contests for the same few seats, with leases of a second and clocks that jump.

    python -m tests.faults.contest                  SQLite, 8 processes
    python -m tests.faults.contest --postgres       PostgreSQL, 40 threads (two windows for each of 20 people)
    python -m tests.faults.contest --postgres --serializable

Each round: 10 pairs of 2 seats, fresh. Afterwards every pair must have exactly two counted judgments, everything that
a contender was told is kept must be there, and the rest be surplus. Any error but a refusal in words is a fault; so is
a deadlock that the server saw. Prints one JSON object; exit status 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

PAIRS, SEATS = 10, 2
JUMPS = 0.15
PATIENCE = 60.0
"""Seconds after which a round that is not finished is a fault."""

Told = tuple[Counter[str], list[str]]


def contender(round_id: int, person_id: int, start: float, seed: int) -> Told:
    """One window of one person, in a thread or process of its own; errors of the moment are met by going on."""
    import django

    django.setup()
    from django.db import connection

    from dedupreview.errors import passing
    from tests.reviews.contest import contend

    happened: Counter[str] = Counter()
    told: list[str] = []
    for attempt in range(200):
        left = start + PATIENCE - time.time()
        if left <= 0:
            break
        try:
            happened += contend(
                round_id, person_id, start=start, seconds=time.time() - start + left,
                seed=seed + 10_007 * attempt, jumps=JUMPS, told=told,
            )  # fmt: skip
        except Exception as error:
            # Under SERIALIZABLE the loser of a race is told to try again: the site answers 503, never 500.
            happened["try again" if passing(error) else f"FAULT {error!r}"[:200]] += 1
            connection.close()
            if not passing(error):
                break
            continue
        break
    return happened, told


def one_round(
    pool: Executor, windows: int, people: int, seed: int
) -> tuple[Counter[str], list[str]]:
    """One contest; what happened and what is wrong."""
    from reviews.models import Judgment
    from tests.reviews.contest import faults
    from tests.reviews.world import world

    made = world(PAIRS, seats=SEATS, annotators=people, lease_minutes=1)
    keys = [person.pk for person in made.annotators]
    start = time.time() + 0.1
    jobs = [
        pool.submit(contender, made.round.pk, keys[n % people], start, seed * 1_000 + n)
        for n in range(windows)
    ]
    happened: Counter[str] = Counter()
    told: set[str] = set()
    for job in jobs:
        one, ids = job.result(PATIENCE + 60)
        happened += one
        told.update(ids)
    wrong = faults(made.round.pk, seats=SEATS)
    kept = Judgment.objects.filter(item__round=made.round)
    stored = {str(pk) for pk in kept.values_list("pk", flat=True)}
    wrong += [f"told to be kept and lost: {key}" for key in told - stored]
    wrong += [f"stored and not told: {key}" for key in stored - told]
    wrong += [what for what in happened if what.startswith("FAULT")]
    happened["surplus"] = kept.filter(counted=False).count()
    happened["counted"] = kept.filter(counted=True, version=1).count()
    return happened, [f"round {seed}: {fault}" for fault in wrong]


@contextlib.contextmanager
def engine(chosen: argparse.Namespace) -> Iterator[Callable[[], int]]:
    """A migrated database of its own; a function that says how many deadlocks the server has seen."""
    import django

    folder = Path(tempfile.mkdtemp(prefix="ddr-contest-"))
    os.environ["DEDUPREVIEW_DATA_DIR"] = str(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "dedupreview.settings"
    os.environ.pop("DATABASE_URL", None)
    from tests import servers

    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if chosen.postgres:
            binaries = servers.postgres_binaries()
            if binaries is None:
                raise SystemExit("PostgreSQL is not installed")
            cluster = stack.enter_context(servers.postgres(binaries))
            os.environ["DATABASE_URL"] = cluster.create("contest")
        django.setup()
        from django.core.management import call_command
        from django.db import connection, connections

        call_command("migrate", verbosity=0)
        if chosen.serializable:
            with connection.cursor() as cursor:
                cursor.execute(
                    "ALTER DATABASE contest SET default_transaction_isolation = 'serializable'"
                )
        connections.close_all()
        stack.callback(connections.close_all)
        yield _deadlocks if chosen.postgres else lambda: 0


def _deadlocks() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def contest(chosen: argparse.Namespace) -> dict[str, Any]:
    """All rounds on one engine; figures and faults."""
    windows = chosen.windows or (40 if chosen.postgres else 8)
    people = windows // 2 if chosen.postgres else windows
    started, processor = time.monotonic(), time.process_time()
    happened: Counter[str] = Counter()
    wrong: list[str] = []
    with engine(chosen) as deadlocks:
        pool: Executor
        if chosen.postgres:
            pool = ThreadPoolExecutor(windows)
        else:
            # No connection crosses the fork: engine() has closed them.
            pool = ProcessPoolExecutor(windows, multiprocessing.get_context("fork"))
        with pool:
            for number in range(1, chosen.rounds + 1):
                one, faults = one_round(pool, windows, people, number)
                happened += one
                wrong += faults
        seen = deadlocks()
        if seen:
            wrong.append(f"{seen} deadlocks")
    return {
        "engine": "postgresql" if chosen.postgres else "sqlite", "serializable": chosen.serializable,
        "windows": windows, "people": people, "rounds": chosen.rounds,
        "seconds": round(time.monotonic() - started), "processor": round(time.process_time() - processor),
        "load": os.getloadavg()[0], "deadlocks": seen, "happened": dict(sorted(happened.items())),
        "wrong": wrong[:50], "wrong_count": len(wrong),
    }  # fmt: skip


def main() -> int:
    """Run as the module's description says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument(
        "--serializable", action="store_true", help="with --postgres: that isolation"
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument(
        "--windows", type=int, help="threads or processes; 40 on PostgreSQL, 8 on SQLite"
    )
    result = contest(parser.parse_args())
    print(json.dumps(result, ensure_ascii=False))
    return 1 if result["wrong_count"] else 0


if __name__ == "__main__":
    sys.exit(main())
