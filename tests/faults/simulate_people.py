"""Many people judge and arbitrate over HTTP while connections drop and web workers are killed. Also a program.

    python -m tests.faults.simulate_people --people 50 --pairs 1000 [--postgres] [--seconds 600]

Starts gunicorn on a database of its own, lets everybody work through the API, and compares what the clients were told
with what is stored. Prints one JSON object; exit status 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SEATS = 2
TIMEOUT = 30.0
STATES = """
SELECT state, n, COUNT(*) FROM (
  SELECT i.state AS state, (SELECT COUNT(*) FROM reviews_judgment j
                            WHERE j.item_id = i.id AND j.counted AND j.version = 1) AS n
  FROM reviews_reviewitem i WHERE i.round_id = %s) AS items
GROUP BY state, n
"""
"""One statement, so that it sees one moment, whatever is being written meanwhile."""
ALLOWED = {"open": {0}, "waiting": set(range(1, SEATS)), "conflict": {SEATS}, "closed": {SEATS}}


class Dropped(Exception):
    """No answer came: the connection was dropped, on purpose or because a worker died."""


@dataclass
class Ledger:
    """What the clients were told."""

    stored: dict[str, str] = field(default_factory=dict)
    happened: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self.lock:
            self.happened[what] += 1

    def fault(self, what: str) -> None:
        with self.lock:
            self.wrong.append(what)


@dataclass
class Api:
    """One person's client. Every request has a connection of its own, as behind a careless proxy."""

    port: int
    key: str

    def __call__(
        self, method: str, path: str, body: Any = None, *, drop: bool = False
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            connection.request(method, "/api/v1" + path, json.dumps(body or {}), headers)
            if drop:
                raise Dropped
            answer = connection.getresponse()
            text = answer.read()
            is_json = "json" in answer.headers.get("Content-Type", "")
            return answer.status, json.loads(text) if text and is_json else None
        except (OSError, http.client.HTTPException) as error:
            raise Dropped from error
        finally:
            connection.close()


def insist(api: Api, ledger: Ledger, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """Ask again until an answer comes, as a browser's user does."""
    for attempt in range(60):
        try:
            status, answer = api(method, path, body)
        except Dropped:
            ledger.count("no answer")
            time.sleep(0.1 * min(attempt + 1, 10))
            continue
        if status < 500:
            return status, answer
        if status == 503:
            ledger.count("busy")
            time.sleep(1)
            continue
        ledger.fault(f"{method} {path}: {status} {answer}")
        time.sleep(0.2)
    raise TimeoutError(path)


def annotate(api: Api, round_id: int, seed: int, ledger: Ledger, done: threading.Event) -> None:
    """Claim and judge until the round is over: sometimes twice at once, sometimes without waiting for the answer."""
    chance = random.Random(seed)
    while not done.is_set():
        status, seat = insist(api, ledger, "POST", f"/rounds/{round_id}/claim")
        if status != 200:
            if status != 204:
                ledger.fault(f"claim: {status} {seat}")
            done.wait(chance.uniform(0.2, 0.6))
            continue
        label = chance.choices(["copy", "revision", "template", "undecided"], [80, 8, 8, 4])[0]
        answer = {"id": str(uuid.uuid4()), "slot": seat["slot"], "label": label, "reason": "模拟"}
        submit(api, ledger, f"/items/{seat['item']}/judgments", answer, chance)


def submit(
    api: Api, ledger: Ledger, path: str, answer: dict[str, str], chance: random.Random
) -> None:
    way = chance.choices(["once", "twice", "dropped"], [70, 15, 15])[0]
    twin: threading.Thread | None = None
    if way == "twice":

        def again() -> None:
            status, _body = insist(api, ledger, "POST", path, answer)
            ledger.count(f"twin {status}")

        twin = threading.Thread(target=again)
        twin.start()
    elif way == "dropped":
        with contextlib.suppress(Dropped):
            api("POST", path, answer, drop=True)
        ledger.count("dropped")
    status, body = insist(api, ledger, "POST", path, answer)
    if twin is not None:
        twin.join()
    ledger.count(f"judgment {status}")
    if status in (200, 201, 409) and body.get("code", "lapsed") == "lapsed":
        with ledger.lock:
            ledger.stored[answer["id"]] = answer["label"]
    else:
        ledger.fault(f"judgment: {status} {body}")


def arbitrate(api: Api, round_id: int, seed: int, ledger: Ledger, done: threading.Event) -> None:
    """Give opinions and decide, beside another arbitrator at the same conflicts."""
    chance = random.Random(seed)
    while not done.is_set():
        _status, found = insist(api, ledger, "GET", f"/rounds/{round_id}/conflicts")
        items = [entry["item"] for entry in (found or {}).get("items", [])]
        if not items:
            done.wait(0.5)
            continue
        chance.shuffle(items)
        for item in items[:20]:
            opinion = {"id": str(uuid.uuid4()), "label": "copy"}
            status, _body = insist(api, ledger, "POST", f"/items/{item}/opinions", opinion)
            ledger.count(f"opinion {status}")
            decision = {
                "id": str(uuid.uuid4()),
                "label": "copy",
                "reason": "核对原文",
                "based_on": [],
            }
            status, _body = insist(api, ledger, "POST", f"/items/{item}/arbitrations", decision)
            ledger.count(f"decision {status}")


def watch(round_id: int, pairs: int, ledger: Ledger, done: threading.Event, seconds: float) -> int:
    """Look at the rows again and again until everything is closed; the number of looks."""
    from django.db import connection

    looks, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        with connection.cursor() as cursor:
            cursor.execute(STATES, [round_id])
            rows = cursor.fetchall()
        looks += 1
        if sum(number for _state, _filled, number in rows) != pairs:
            ledger.fault(f"items do not add up: {rows}")
        for state, filled, number in rows:
            if filled not in ALLOWED[state]:
                ledger.fault(f"{number} items {state} with {filled} counted judgments")
        if rows == [("closed", SEATS, pairs)]:
            break
        time.sleep(0.05)
    else:
        ledger.fault(f"not finished in {seconds} s: {rows}")
    done.set()
    return looks


def kill_workers(master: int, every: float, ledger: Ledger, done: threading.Event) -> None:
    """Kill one of the web server's workers now and then, in the middle of whatever it does, once work goes on again."""
    before = -1
    while not done.wait(every):
        if len(ledger.stored) < before + 5:
            continue
        before = len(ledger.stored)
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        if children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(random.choice(children)), signal.SIGKILL)
            ledger.count("workers killed")


def differences(round_id: int, ledger: Ledger) -> list[str]:
    """What was told to clients and is not stored so, or is stored twice; and every fault of the rows themselves."""
    from reviews.models import Judgment, ReviewRound
    from reviews.rounds import progress
    from tests.reviews.contest import faults

    rows = Judgment.objects.filter(item__round=round_id).values_list("pk", "label")
    stored = {str(pk): label for pk, label in rows}
    found = [f"lost: {key}" for key in ledger.stored.keys() - stored.keys()]
    found += [f"never sent: {key}" for key in stored.keys() - ledger.stored.keys()]
    found += [
        f"changed: {key}" for key, label in ledger.stored.items() if stored.get(key, label) != label
    ]
    now = progress(ReviewRound.objects.get(pk=round_id))
    if now.items != now.open + now.waiting + now.conflict + now.closed:
        found.append(f"progress does not add up: {now}")
    return found + faults(round_id, seats=SEATS)


@contextlib.contextmanager
def web(port: int) -> Iterator[int]:
    """gunicorn with two workers of eight threads on the database of the environment; its process id."""
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "dedupreview.wsgi", "-b", f"127.0.0.1:{port}", "-w", "2",
         "-k", "gthread", "--threads", "8", "--preload", "--log-level", "critical", "--timeout", "60"],
        cwd=ROOT,
    )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.2)
        yield server.pid
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def simulate(people: int, pairs: int, seconds: float, kill_every: float) -> dict[str, Any]:
    """The whole contest on the database of the settings; what happened and what is wrong."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from dedupreview.people import tokens
    from tests.reviews.world import world

    call_command("migrate", verbosity=0)
    made = world(pairs, seats=SEATS, annotators=people, arbitrators=2)
    round_id = made.round.pk
    keys = [tokens.issue(person=person) for person in made.annotators]
    judges = [tokens.issue(person=person) for person in made.arbitrators]
    connections.close_all()
    ledger, done, port = Ledger(), threading.Event(), free_port()
    started = time.monotonic()
    with web(port) as master:
        threads = [
            threading.Thread(target=work, args=(Api(port, key), round_id, n, ledger, done))
            for work, group in ((annotate, keys), (arbitrate, judges))
            for n, key in enumerate(group)
        ]
        threads.append(
            threading.Thread(target=kill_workers, args=(master, kill_every, ledger, done))
        )
        for thread in threads:
            thread.start()
        looks = watch(round_id, pairs, ledger, done, seconds)
        for thread in threads:
            thread.join(TIMEOUT + 30)
    wrong = [*ledger.wrong, *differences(round_id, ledger)]
    return {
        "people": people, "pairs": pairs, "seconds": round(time.monotonic() - started, 1),
        "looks": looks, "judgments": len(ledger.stored), "happened": dict(ledger.happened),
        "wrong": wrong[:50], "wrong_count": len(wrong),
    }  # fmt: skip


def main() -> int:
    """Run on an empty SQLite database, or with ``--postgres`` on a cluster of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--kill-every", type=float, default=10)
    parser.add_argument("--postgres", action="store_true")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ddr-people-"))
    os.environ["DEDUPREVIEW_DATA_DIR"] = str(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "dedupreview.settings"
    os.environ.pop("DATABASE_URL", None)
    from tests import servers

    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if chosen.postgres:
            binaries = servers.postgres_binaries()
            if binaries is None:
                parser.error("PostgreSQL is not installed")
            cluster = stack.enter_context(servers.postgres(binaries))
            os.environ["DATABASE_URL"] = cluster.create("people")
        result = simulate(chosen.people, chosen.pairs, chosen.seconds, chosen.kill_every)
        print(json.dumps(result, ensure_ascii=False))
    return 1 if result["wrong_count"] else 0


if __name__ == "__main__":
    sys.exit(main())
