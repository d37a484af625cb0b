"""The page of agreement over a round of many pairs with two judgments each: first view, second view, memory.

    python -m tests.bench.bench_agreement [--pairs 1000000] [--people 6] [--database sqlite|postgresql|both]

Rows are made by SQL from a fixed rule, straight into a database of its own: pairs, candidates and judgments have all
their columns, indexes and the width of real ones. The whole page is taken through the test client: with nothing counted
beforehand, once more, and as the first view of a new process after the sweeper went by (which is what a reader meets).
CPU is that of the viewing process: with SQLite the database is in it, with PostgreSQL it
is not. Of up to 50,000 pairs the measures are compared with those of the rows taken one by one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SPEECH = {
    "sqlite": {
        "series": "(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {0}) SELECT n FROM s)",
        "uuid": "printf('%032x', {0})",
        "digest": "printf('%064x', {0})",
        "name": "'D' || printf('%08d', {0})",
        "json": "'{0}'",
        "moment": "strftime('%Y-%m-%d %H:%M:%S', 1780272000 + {0}, 'unixepoch')",
    },
    "postgresql": {
        "series": "generate_series(1, {0}) AS s(n)",
        "uuid": "lpad(to_hex({0}), 32, '0')::uuid",
        "digest": "lpad(to_hex({0}), 64, '0')",
        "name": "'D' || lpad(({0})::text, 8, '0')",
        "json": "'{0}'::jsonb",
        "moment": "to_timestamp(1780272000 + {0})",
    },
}
SHOWN = '{"engine":"tokens-2","scores":false,"side_order":"left"}'
LABELS = ("copy", "revision", "citation", "template", "independent")


def fill(pairs: int, people: int) -> int:
    """A round whose items are closed by agreement (7 of 10) or arbitration, over a year; the key of the round."""
    from django.db import connection

    from tests.reviews.world import world

    made = world(1, annotators=people)
    first = made.annotators[0].pk
    assert [p.pk for p in made.annotators] == list(range(first, first + people))
    document = made.item().pair.low
    speech = SPEECH[connection.vendor]

    def say(name: str, value: object) -> str:
        return speech[name].replace("{0}", str(value))

    base = max(10, pairs // 5)
    numbers = say("series", pairs)
    empty, shown = say("json", "[]"), say("json", SHOWN)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA foreign_keys = OFF")
            cursor.execute("PRAGMA synchronous = OFF")
        else:
            cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            f"""INSERT INTO screening_document (id, collection_id, doc_id, source_id, title, raw, sha256, raw_sha256, chars,
                source_file_id, locator, metadata, warnings, created_at)
            SELECT 1000 + n, {document.collection_id}, {say("name", "n")}, 'source-' || n % 7, '第' || n || '号公告',
                '第' || n || '号公告：街道图书馆每周开放六天，读者凭证入馆。', {say("digest", "n")}, {say("digest", "n")}, 40,
                {document.source_file_id}, '', {say("json", "{}")}, {empty}, {say("moment", 0)}
            FROM {say("series", base + pairs // base + 2)}"""
        )
        cursor.execute(
            f"""INSERT INTO screening_documentpair (id, low_id, high_id)
            SELECT 1000 + n, 1001 + n % {base}, 1002 + n % {base} + n / {base} FROM {numbers}"""
        )
        cursor.execute(
            f"""INSERT INTO screening_candidate (id, run_id, pair_id, rank, channels, jaccard, containment, shared_shingles,
                excerpts, fact_changes, suggestion, representative, note)
            SELECT 1000 + n, {made.run.pk}, 1000 + n, 1 + n, {say("json", '["minhash","passages"]')}, .8, .9, {empty},
                {say("json", "[[0, 40, 0, 40], [60, 90, 61, 91]]")}, {empty},
                CASE n % 3 WHEN 0 THEN 'copy' WHEN 1 THEN 'revision' ELSE 'template' END, TRUE, '' FROM {numbers}"""
        )
        cursor.execute(
            f"""INSERT INTO reviews_reviewitem (id, round_id, pair_id, candidate_id, position, state, closed_by, conflict,
                revision, closed_at)
            SELECT 1000 + n, {made.round.pk}, 1000 + n, 1000 + n, 1 + n, 'closed',
                CASE WHEN n % 10 < 7 THEN 'agreement' ELSE 'arbitration' END,
                CASE WHEN n % 10 < 7 THEN '' ELSE 'label' END, 0, {say("moment", f"n * 31536000.0 / {pairs}")} FROM {numbers}"""
        )
        for seat in (1, 2):
            shift = f"n * 7 + n / {people}"
            step = f"(n % ({people} - 1)) + 1"  # the second person is never the first
            who = f"{first} + ({shift}{'' if seat == 1 else f' + {step}'}) % {people}"
            cursor.execute(
                f"""INSERT INTO reviews_reviewslot (id, item_id, number, state, annotator_id)
                SELECT 1000 + n * 2 + {seat}, 1000 + n, {seat}, 'filled', {who} FROM {numbers}"""
            )
            place = (
                "n / 3 % 5"
                if seat == 1
                else "(n / 3 + (CASE WHEN n % 10 >= 7 THEN 1 + n % 4 ELSE 0 END)) % 5"
            )
            said = f"CASE {place} " + " ".join(
                f"WHEN {k} THEN '{label}'" for k, label in enumerate(LABELS)
            )
            cursor.execute(
                f"""INSERT INTO reviews_judgment (id, label, direction, reason_code, reason, evidence, shown,
                    guideline_version, created_at, digest, digest_version, item_id, slot_id, annotator_id, version, counted,
                    checklist, active_ms)
                SELECT {say("uuid", f"n * 2 + {seat}")}, {said} END, CASE WHEN {place} = 1 THEN 'left_first' ELSE '' END,
                    'same_text', '第 ' || n || ' 项：两份文本已逐段比较。', {empty}, {shown}, 1,
                    {say("moment", f"n * 31536000.0 / {pairs}")}, {say("digest", f"n * 2 + {seat}")}, 1, 1000 + n,
                    1000 + n * 2 + {seat}, {who}, 1, TRUE, {say("json", "{}")}, 5000 + n * 37 % 55000 FROM {numbers}"""
            )
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")
    return int(made.round.pk)


FILL = """
import sys
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.bench.bench_agreement import fill
print(fill(int(sys.argv[1]), int(sys.argv[2])))
"""
VIEW = """
import json, resource, sys, time
import django; django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from django.test import Client
from django.test.utils import setup_test_environment
setup_test_environment()
from dedupreview.people.models import Person
client = Client()
client.force_login(Person.objects.get(username__startswith="admin"))
client.get("/rounds/")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
said = {}
for name in ("first view", "second view"):
    wall, cpu = time.perf_counter(), time.process_time()
    page = client.get(f"/rounds/{sys.argv[1]}/agreement/")
    assert page.status_code == 200, page.status_code
    said[name] = f"wall {time.perf_counter() - wall:.2f} s, CPU {time.process_time() - cpu:.2f} s"
said["MB more"] = round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
said["pairs"] = page.context["found"].answers.items
found = page.context["found"].measures
said["alpha"] = found.krippendorff_alpha.value
if said["pairs"] <= 50_000:
    from reviews.agreement import measures
    from reviews.labels import Label
    from reviews.models import ReviewRound
    from reviews.outcomes import first_answers
    rows = measures(first_answers(ReviewRound.objects.get()), labels=Label.values)
    assert rows == found, "the counts say something else than the rows"
    said["equal to the rows one by one"] = True
print(json.dumps(said))
"""
SWEEP = """
import time
import django; django.setup()
from reviews import tallies
wall, cpu, longest = time.perf_counter(), time.process_time(), 0.0
while not tallies._next_sweep:
    began = time.process_time()
    tallies.sweep()
    longest = max(longest, time.process_time() - began)
print(f"wall {time.perf_counter() - wall:.2f} s, CPU {time.process_time() - cpu:.2f} s, longest turn {longest:.2f} s CPU")
"""


def child(code: str, environment: dict[str, str], *arguments: object) -> str:
    """What a program in a process of its own prints last."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip().splitlines()[-1]


@contextlib.contextmanager
def database(kind: str) -> Iterator[dict[str, str]]:
    """The variable that names a fresh database of this kind; nothing for the default one."""
    if kind == "sqlite":
        yield {}
        return
    from tests.servers import postgres, postgres_binaries

    binaries = postgres_binaries()
    if binaries is None:
        raise SystemExit("PostgreSQL is not installed.")
    with postgres(binaries) as cluster:
        yield {"DATABASE_URL": cluster.create("bench")}


def measure(pairs: int, people: int, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder, database(kind) as address:
        kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
        environment = kept | address
        environment |= {
            "DEDUPREVIEW_DATA_DIR": folder,
            "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
            "PYTHONPATH": str(ROOT),
        }
        start = time.monotonic()
        key = child(FILL, environment, pairs, people)
        print(f"{kind}: {pairs} pairs, {people} people, made in {time.monotonic() - start:.0f} s")
        print(f"  nothing counted before: {child(VIEW, environment, key)}{load()}", flush=True)
        shutil.rmtree(Path(folder) / "cache" / "tallies")
        print(f"  sweeper: {child(SWEEP, environment)}{load()}", flush=True)
        print(f"  after the sweeper: {child(VIEW, environment, key)}{load()}", flush=True)


def load() -> str:
    return f"; load {os.getloadavg()[0]:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    given = parser.parse_args()
    kinds = ("sqlite", "postgresql") if given.database == "both" else (given.database,)
    for kind in kinds:
        measure(given.pairs, given.people, kind)


if __name__ == "__main__":
    main()
