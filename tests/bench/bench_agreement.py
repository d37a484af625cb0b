"""The page of agreement over a round of many pairs with two judgments each: seconds and memory.

    python -m tests.bench.bench_agreement [--pairs 1000000]

Rows are made by SQL, straight into a new database; pairs, candidates and judgments have all their columns and indexes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time


def fill(pairs: int) -> int:
    """A round whose items are closed by agreement (7 of 10) or arbitration; the key of the round."""
    from django.db import connection

    from tests.reviews.world import world

    made = world(1, annotators=4)
    people = [p.pk for p in made.annotators]
    candidate = made.run.candidates.get()
    texts = int(pairs**0.5) * 2 + 10
    moment = "2026-11-01 08:00:00"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys = OFF")
        cursor.execute("PRAGMA synchronous = OFF")
        low = candidate.pair.low_id
        cursor.execute(
            f"""WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {pairs})
            INSERT INTO screening_documentpair (id, low_id, high_id)
            SELECT x + 1000, {low} + 100 + x / {texts}, {low} + 1000000 + x % {texts} FROM n"""
        )
        cursor.execute(
            f"""INSERT INTO screening_candidate (id, run_id, pair_id, rank, channels, jaccard, containment, shared_shingles,
                excerpts, fact_changes, suggestion, representative, note)
            SELECT id, {made.run.pk}, id, id, '["minhash"]', .8, .9, '[]', '[]', '[]',
                CASE id % 3 WHEN 0 THEN 'copy' WHEN 1 THEN 'revision' ELSE 'template' END, 1, ''
            FROM screening_documentpair WHERE id > 1000"""
        )
        cursor.execute(
            f"""INSERT INTO reviews_reviewitem (id, round_id, pair_id, candidate_id, position, state, closed_by, conflict,
                revision, closed_at)
            SELECT id, {made.round.pk}, id, id, id, 'closed', CASE WHEN id % 10 < 7 THEN 'agreement' ELSE 'arbitration' END,
                CASE WHEN id % 10 < 7 THEN '' ELSE 'label' END, 0, '{moment}' FROM screening_documentpair WHERE id > 1000"""
        )
        for seat in (1, 2):
            who = f"{people[seat - 1]} + (id % 2) * {people[2] - people[0]}"
            cursor.execute(
                f"""INSERT INTO reviews_reviewslot (id, item_id, number, state, annotator_id)
                SELECT id * 2 + {seat}, id, {seat}, 'filled', {who} FROM reviews_reviewitem WHERE id > 1000"""
            )
            label = "CASE {} % 5 WHEN 0 THEN 'copy' WHEN 1 THEN 'revision' WHEN 2 THEN 'citation' WHEN 3 THEN 'template' ELSE 'independent' END"
            shift = "id" if seat == 1 else "(id + (id % 10 >= 7))"
            said = label.format(shift)
            cursor.execute(
                f"""INSERT INTO reviews_judgment (id, label, direction, reason_code, reason, evidence, shown, guideline_version,
                    created_at, digest, digest_version, item_id, slot_id, annotator_id, version, counted, checklist, active_ms)
                SELECT printf('%032x', id * 2 + {seat}), {said}, CASE WHEN {said} = 'revision' THEN 'left_first' ELSE '' END, '',
                    '', '[]', '{{}}', 1, '{moment}', printf('%064x', id * 2 + {seat}), 1, id, id * 2 + {seat}, {who}, 1, 1,
                    '{{}}', 5000 + id % 55000 FROM reviews_reviewitem WHERE id > 1000"""
            )
        cursor.execute("ANALYZE")
    return int(made.round.pk)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    given = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.test.utils import setup_databases, setup_test_environment

    settings.ALLOWED_HOSTS.append("testserver")
    setup_test_environment()
    setup_databases(verbosity=0, interactive=False)
    start = time.perf_counter()
    key = fill(given.pairs)
    print(f"{given.pairs} pairs made in {time.perf_counter() - start:.0f} s")

    from django.test import Client

    from dedupreview.people.models import Person
    from reviews import concord
    from reviews.models import ReviewRound

    round = ReviewRound.objects.get(pk=key)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = {}
    for name in ("concord_of", "workload", "closed_by_day", "against_suggestions"):
        start = time.perf_counter()
        getattr(concord, name)(round)
        took[name] = round_to(time.perf_counter() - start)
    client = Client()
    client.force_login(Person.objects.get(username__startswith="admin"))
    start = time.perf_counter()
    page = client.get(f"/rounds/{key}/agreement/")
    took["page"] = round_to(time.perf_counter() - start)
    start = time.perf_counter()
    client.get(f"/rounds/{key}/agreement/")
    took["page again"] = round_to(time.perf_counter() - start)
    assert page.status_code == 200
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps(took), f"memory + {grown:.0f} MB")


def round_to(seconds: float) -> float:
    return float(f"{seconds:.2f}")


if __name__ == "__main__":
    main()
