"""A very large round on PostgreSQL, with fifty annotators over HTTP: how long the next pair and the lists take.

    python -m tests.bench.bench_queue [--pairs 100000] [--seats 2] [--seconds 60] [--people 50] [--explain]

Rows are made by SQL from a fixed seed, in a cluster of its own. With ``--seats 2`` the round is nearly done: of a
hundred pairs 95 are settled or in conflict, 3 wait for a second judgment and 2 have none. With ``--seats 3`` every pair
has two judgments and waits for a third: nobody may get a pair that they have judged. Design §10 asks for 1,000,000 pairs
and 2,000,000 judgments: next pair p95 at most 150 ms, lists at most 400 ms, no seat given twice, nothing lost.
Prints one JSON object; exit status 1 if a seat was given twice, a judgment lost, or (at the full scale) a time not held.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LABELS = "(ARRAY['copy','template','citation','independent'])"
NEXT_MS, LIST_MS = 150, 400


@dataclass
class Scene:
    """A filled database: keys of what is measured."""

    round: int
    run: int
    collection: int
    slug: str
    people: list[int]
    arbitrator: int
    admin: int


# --- Filling ----------------------------------------------------------------------------------------------------------


def fill(pairs: int, seats: int, people: int) -> Scene:
    """One round over ``pairs`` pairs in an empty, migrated PostgreSQL database."""
    from django.db import connection

    from tests.reviews.world import world

    made = world(1, seats=seats, annotators=people, arbitrators=2)
    first = made.annotators[0].pk
    assert [p.pk for p in made.annotators] == list(range(first, first + people))
    scene = Scene(
        made.round.pk, made.run.pk, made.round.collection_id, made.round.collection.slug, [p.pk for p in made.annotators],
        made.arbitrators[0].pk, made.admin.pk,
    )  # fmt: skip
    document = made.item().pair.low
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
        for statement in _statements(scene, pairs, seats, people, document):
            cursor.execute(statement)
        for table in ("screening_document", "screening_documentpair", "screening_candidate",
                      "reviews_reviewitem", "reviews_reviewslot"):  # fmt: skip
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
            )
    connection.set_autocommit(True)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return scene


def _statements(scene: Scene, pairs: int, seats: int, people: int, like: Any) -> Iterator[str]:
    """Pair n of documents n % base and its (n / base)-th neighbour; ids from 1,000 on."""
    base = max(10, pairs // 5)
    series = f"generate_series(1, {pairs}) AS n"
    # A person of the first seat and, half the people further, one of the second: never the same.
    one = f"({scene.people[0]} + (n * 7 + n / 50) % {people})"
    other = f"({scene.people[0]} + (n * 7 + n / 50 + {people // 2}) % {people})"
    if seats == 2:
        # Live pairs lie at the end, as they do when people have worked through a round.
        filled = f"CASE WHEN n <= {pairs} * 0.95 THEN 2 WHEN n <= {pairs} * 0.98 THEN 1 ELSE 0 END"
    else:
        filled = "2"
    disputed = "n % 25 = 0"
    yield f"""INSERT INTO screening_document (id, collection_id, doc_id, source_id, title, raw, sha256, raw_sha256, chars,
        source_file_id, locator, metadata, warnings, created_at)
        SELECT 1000 + n, {scene.collection}, 'D' || lpad(n::text, 8, '0'), 'source-' || n % 7, '第' || n || '号公告',
        '第' || n || '号公告：' || repeat('街道图书馆每周开放六天，读者凭证入馆。', 20), md5(n::text) || md5(n::text),
        md5(n::text) || md5(n::text), 400, {like.source_file_id}, '', '{{}}', '[]', now()
        FROM generate_series(0, {base + pairs // base + 2}) AS n"""
    yield f"""INSERT INTO screening_documentpair (id, low_id, high_id)
        SELECT 1000 + n, 1000 + n % {base}, 1001 + n % {base} + n / {base} FROM {series}"""
    yield f"""INSERT INTO screening_candidate (id, run_id, pair_id, rank, channels, minhash_estimate, jaccard, containment,
        shared_shingles, excerpts, fact_changes, suggestion, representative, note)
        SELECT 1000 + n, {scene.run}, 1000 + n, 1 + n, '["minhash"]', 0.8, 0.5 + (n % 499) / 1000.0, 0.75, '[]',
        '[[0, 40, 0, 40]]', '[]', 'copy', TRUE, '' FROM {series}"""
    if seats == 2:
        state = f"""CASE WHEN f.k = 0 THEN 'open' WHEN f.k = 1 THEN 'waiting'
            WHEN {disputed} THEN CASE WHEN n % 100 = 0 THEN 'conflict' ELSE 'closed' END ELSE 'closed' END"""
    else:
        state = "'waiting'"
    yield f"""INSERT INTO reviews_reviewitem (id, round_id, pair_id, candidate_id, position, state, closed_by, conflict,
        revision, closed_at)
        SELECT 1000 + n, {scene.round}, 1000 + n, 1000 + n, 1 + n, s.state,
        CASE WHEN s.state <> 'closed' THEN '' WHEN {disputed} THEN 'arbitration' ELSE 'agreement' END,
        CASE WHEN s.state IN ('closed', 'conflict') AND {disputed} THEN 'label' ELSE '' END,
        CASE WHEN s.state = 'closed' AND {disputed} THEN 1 ELSE 0 END,
        CASE WHEN s.state = 'closed' THEN now() - interval '1 day' END
        FROM {series}, LATERAL (SELECT {filled} AS k) f, LATERAL (SELECT {state} AS state) s"""
    yield f"""INSERT INTO reviews_reviewslot (id, item_id, number, state, annotator_id)
        SELECT 1000 + n * {seats} + seat, 1000 + n, seat + 1, CASE WHEN seat < f.k THEN 'filled' ELSE 'free' END,
        CASE WHEN seat < f.k THEN CASE WHEN seat = 0 THEN {one} ELSE {other} END END
        FROM {series}, LATERAL (SELECT {filled} AS k) f, generate_series(0, {seats - 1}) AS seat"""
    yield f"""INSERT INTO reviews_judgment (id, label, direction, reason_code, reason, evidence, shown, guideline_version,
        created_at, digest, digest_version, item_id, slot_id, annotator_id, version, counted, checklist, active_ms)
        SELECT gen_random_uuid(), CASE WHEN {disputed} AND seat = 1 THEN 'template' ELSE 'copy' END, '', '', '', '[]', '{{}}',
        1, now() - interval '30 days' + n * interval '2 seconds', repeat('0', 64), 1, 1000 + n, 1000 + n * {seats} + seat,
        CASE WHEN seat = 0 THEN {one} ELSE {other} END, 1, TRUE, '{{}}', 30000 + n % 20000
        FROM {series}, LATERAL (SELECT {filled} AS k) f, generate_series(0, 1) AS seat WHERE seat < f.k"""
    yield f"""INSERT INTO reviews_arbitration (id, label, direction, reason_code, reason, evidence, shown,
        guideline_version, created_at, digest, digest_version, item_id, arbitrator_id, version, saw_originals, based_on,
        cause_code)
        SELECT gen_random_uuid(), 'copy', '', '', 'x', '[]', '{{}}', 1, now(), repeat('0', 64), 1, id,
        {scene.arbitrator}, 1, FALSE, '[]', '' FROM reviews_reviewitem
        WHERE round_id = {scene.round} AND closed_by = 'arbitration'"""


# --- Measuring --------------------------------------------------------------------------------------------------------


def times(values: list[float]) -> dict[str, Any]:
    """Median, p95 and maximum in milliseconds, of how many."""
    if not values:
        return {"n": 0}
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return {
        "n": len(ordered), "median_ms": round(statistics.median(ordered) * 1000, 1),
        "p95_ms": round(p95 * 1000, 1), "max_ms": round(ordered[-1] * 1000, 1),
    }  # fmt: skip


def lists(
    scene: Scene, pairs: int, repeat: int, slow: list[tuple[str, float, str]]
) -> dict[str, Any]:
    """Every list that somebody watches while such a round runs, in this process: times and number of queries."""
    from django.db import connection, reset_queries
    from django.test import Client

    from dedupreview.people.models import Person

    clients = {}
    for name, key in (
        ("admin", scene.admin),
        ("annotator", scene.people[0]),
        ("arbitrator", scene.arbitrator),
    ):
        clients[name] = Client(HTTP_HOST="localhost")
        clients[name].force_login(Person.objects.get(pk=key))
    last = pairs // 50
    pages = {
        "home of an annotator": ("annotator", "/"),
        "home of an arbitrator": ("arbitrator", "/"),
        "home of an admin": ("admin", "/"),
        "rounds": ("admin", "/rounds/"),
        "round": ("admin", f"/rounds/{scene.round}/"),
        "progress of the round": ("admin", f"/rounds/{scene.round}/progress/"),
        "pairs of the round": ("admin", f"/rounds/{scene.round}/items/"),
        "pairs, last page": ("admin", f"/rounds/{scene.round}/items/?page={last}"),
        "pairs in conflict": ("admin", f"/rounds/{scene.round}/items/?state=conflict"),
        "pairs that are closed, last page": ("admin", f"/rounds/{scene.round}/items/?state=closed&page={last // 2}"),
        "conflicts": ("arbitrator", f"/rounds/{scene.round}/conflicts/"),
        "my judgments": ("annotator", "/judgments/"),
        "candidates": ("admin", f"/runs/{scene.run}/candidates/"),
        "candidates, last page": ("admin", f"/runs/{scene.run}/candidates/?page={last}"),
        "run": ("admin", f"/runs/{scene.run}/"),
        "collection": ("admin", f"/collections/{scene.slug}/"),
        "documents": ("admin", f"/collections/{scene.slug}/documents/"),
        "a pair to judge": ("annotator", f"/items/{_held(scene)}/"),
        "questions": ("admin", f"/rounds/{scene.round}/questions/"),
        "people of the round": ("admin", f"/rounds/{scene.round}/people/"),
    }  # fmt: skip
    found: dict[str, Any] = {}
    for name, (who, address) in pages.items():
        clients[who].get(address)  # modules and templates are loaded once in the life of a process
        taken = []
        for _ in range(repeat):
            reset_queries()
            began = time.perf_counter()
            answer = clients[who].get(address)
            taken.append(time.perf_counter() - began)
        number = len(connection.queries)
        for query in connection.queries:
            if float(query["time"]) > 0.03:
                slow.append((name, float(query["time"]), query["sql"]))
        found[name] = times(taken) | {"status": answer.status_code, "queries": number}
    return found


def _held(scene: Scene) -> int:
    """The pair of a seat that the measured annotator holds."""
    from dedupreview.people.models import Person
    from reviews import queue
    from reviews.models import ReviewRound, ReviewSlot

    slot = queue.claim(
        round=ReviewRound.objects.get(pk=scene.round), person=Person.objects.get(pk=scene.people[0])
    )
    assert isinstance(slot, ReviewSlot)
    return slot.item_id


@dataclass
class Measured:
    """What fifty clients saw."""

    claims: list[float] = field(default_factory=list)
    judgments: list[float] = field(default_factory=list)
    seats: Counter[str] = field(default_factory=Counter)
    stored: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


def work(call: Callable[..., tuple[int, Any]], round_id: int, seed: int, end: float, pause: float, seen: Measured) -> None:  # fmt: skip
    """One annotator: next pair, answer, next pair, with a pause for reading."""
    chance = random.Random(seed)
    time.sleep(chance.uniform(0, pause))
    while time.monotonic() < end:
        began = time.perf_counter()
        status, seat = call("POST", f"/rounds/{round_id}/claim")
        taken = time.perf_counter() - began
        with seen.lock:
            seen.statuses[f"claim {status}"] += 1
            seen.claims.append(taken)
            if status == 200:
                seen.seats[seat["slot"]] += 1
        if status != 200:
            time.sleep(pause)
            continue
        time.sleep(chance.uniform(0.5, 1.5) * pause)
        key = str(uuid.uuid4())
        body = {
            "id": key,
            "slot": seat["slot"],
            "label": chance.choice(["copy", "copy", "copy", "template"]),
        }
        began = time.perf_counter()
        status, _answer = call("POST", f"/items/{seat['item']}/judgments", body)
        with seen.lock:
            seen.statuses[f"judgment {status}"] += 1
            seen.judgments.append(time.perf_counter() - began)
            if status == 201:
                seen.stored.add(key)


def over_http(scene: Scene, seconds: float, pause: float) -> tuple[Measured, list[str]]:
    """Everybody works for so long through gunicorn; what they saw, and what is wrong with the rows afterwards."""
    from django.db import connection, connections

    from dedupreview.people import tokens
    from dedupreview.people.models import Person
    from tests.faults.simulate_people import Api, free_port, web

    keys = [tokens.issue(person=Person.objects.get(pk=pk)) for pk in scene.people]
    connections.close_all()
    seen, port = Measured(), free_port()
    with web(port):
        Api(port, keys[0])("GET", "/rounds")
        end = time.monotonic() + seconds
        threads = [
            threading.Thread(target=work, args=(Api(port, key), scene.round, n, end, pause, seen))
            for n, key in enumerate(keys)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    wrong = [f"seat {slot} was given {n} times" for slot, n in seen.seats.items() if n > 1]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id::text FROM reviews_judgment WHERE id = ANY(%s::uuid[])", [list(seen.stored)]
        )
        lost = seen.stored - {row[0] for row in cursor.fetchall()}
        cursor.execute(
            "SELECT COUNT(*) FROM (SELECT slot_id FROM reviews_judgment WHERE counted AND version = 1 "
            "GROUP BY slot_id HAVING COUNT(*) > 1) AS twice"
        )
        twice = cursor.fetchone()[0]
    wrong += [f"lost: {key}" for key in lost]
    if twice:
        wrong.append(f"{twice} seats with two counted judgments")
    wrong += [f"{n} answers {status}" for status, n in seen.statuses.items() if status[-3] == "5"]
    return seen, wrong


def in_process(scene: Scene, rounds: int) -> dict[str, Any]:
    """The next pair as a service, without web and without others: claim and give back, every person in turn."""
    from dedupreview.people.models import Person
    from reviews import queue
    from reviews.models import ReviewRound, ReviewSlot

    round = ReviewRound.objects.get(pk=scene.round)
    taken = []
    held = []
    for n in range(rounds):
        person = Person.objects.get(pk=scene.people[n % len(scene.people)])
        began = time.perf_counter()
        slot = queue.claim(round=round, person=person)
        taken.append(time.perf_counter() - began)
        if isinstance(slot, ReviewSlot):
            held.append((slot, person))
    for slot, _person in held:
        ReviewSlot.objects.filter(pk=slot.pk).update(
            state="free", annotator=None, claimed_at=None, lease_expires_at=None
        )
    return times(taken) | {"seats": len({slot.pk for slot, _person in held})}


def explain(slow: list[tuple[str, float, str]]) -> None:
    """The plans of the slow queries, on standard error."""
    from django.db import connection

    for name, seconds, sql in sorted(slow, key=lambda one: -one[1])[:12]:
        print(f"\n--- {name}: {seconds * 1000:.0f} ms\n{sql[:1500]}", file=sys.stderr)
        with contextlib.suppress(Exception), connection.cursor() as cursor:
            cursor.execute("EXPLAIN (ANALYZE, BUFFERS) " + sql)
            print("\n".join(row[0] for row in cursor.fetchall()), file=sys.stderr)


def bench(chosen: argparse.Namespace) -> dict[str, Any]:
    """Fill, measure, check."""
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    began = time.monotonic()
    scene = fill(chosen.pairs, chosen.seats, chosen.people)
    result: dict[str, Any] = {
        "pairs": chosen.pairs, "seats": chosen.seats, "people": chosen.people,
        "filled_in_s": round(time.monotonic() - began),
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM reviews_judgment")
        result["judgments"] = cursor.fetchone()[0]
    settings.DEBUG = connection.force_debug_cursor = True
    slow: list[tuple[str, float, str]] = []
    result["lists"] = lists(scene, chosen.pairs, chosen.repeat, slow)
    settings.DEBUG = connection.force_debug_cursor = False
    if chosen.explain:
        explain(slow)
    result["next pair, alone"] = in_process(scene, 3 * chosen.people)
    load = os.getloadavg()[0]
    seen, wrong = over_http(scene, chosen.seconds, chosen.pause)
    worst = max(one["p95_ms"] for one in result["lists"].values())
    result |= {
        "next pair, over HTTP": times(seen.claims), "judgment, over HTTP": times(seen.judgments),
        "answers": dict(seen.statuses), "worst list p95_ms": worst, "load": [load, os.getloadavg()[0]],
        "wrong": wrong[:20],
        "held": not wrong and times(seen.claims)["p95_ms"] <= NEXT_MS and worst <= LIST_MS,
    }  # fmt: skip
    return result


def main() -> int:
    """Run on a PostgreSQL cluster of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seats", type=int, default=2, choices=[2, 3])
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--pause", type=float, default=5.0, help="seconds of reading between two requests"
    )
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--explain", action="store_true")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ddr-queue-"))
    os.environ["DEDUPREVIEW_DATA_DIR"] = str(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "dedupreview.settings"
    os.environ["DEDUPREVIEW_LOG_LEVEL"] = "ERROR"
    from tests import servers

    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        binaries = servers.postgres_binaries()
        if binaries is None:
            parser.error("PostgreSQL is not installed")
        cluster = stack.enter_context(servers.postgres(binaries))
        os.environ["DATABASE_URL"] = cluster.create("queue")
        result = bench(chosen)
    print(json.dumps(result, ensure_ascii=False, indent=1))
    return 0 if result["held"] or (chosen.pairs < 1_000_000 and not result["wrong"]) else 1


if __name__ == "__main__":
    sys.exit(main())
