"""A list of a million rows into a collection, with the worker killed half way: memory, time, and what is there at the end.

    python tests/bench/bench_import.py [--rows 1000000] [--megabytes 300] [--postgres] [--whole]

Everything happens in a data directory of its own, which is removed; ``--postgres`` starts a server of its own beside it.
The figure for memory is the peak of the resident sets of the process that reads and of all that it starts, added up, for
each of the two workers. ``--whole``: the worker is not killed, for the rate alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests import servers  # noqa: E402

HAND_OVER = """
import sys
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from screening import importing
collection = importing.get_or_create_collection(slug="bench")
with open(sys.argv[1], "rb") as stream:
    print(importing.receive_files(collection=collection, files=[("list.jsonl", stream)], actor=None).pk)
"""

WORK = """
import sys, time
import django; django.setup()
from screening import importing, leases
from screening.models import DocumentImport
importing.run_import(int(sys.argv[1]))
"""


def write_rows(path: Path, rows: int, megabytes: int) -> None:
    """``rows`` lines of together about ``megabytes`` MB."""
    rng = random.Random(5)
    chars = [chr(code) for code in range(0x4E00, 0x4E00 + 2500)]
    length = max(10, (megabytes * 1_000_000 // rows - 45) // 3)
    stock = "".join(rng.choices(chars, k=400_000))
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            start = rng.randrange(len(stock) - length)
            text = stock[start : start + length]
            file.write(
                json.dumps({"doc_id": f"D{number:07}", "raw": text}, ensure_ascii=False) + "\n"
            )


class Worker:
    """A process that reads the import, watched."""

    def __init__(self, code: str, argument: str, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, argument], env=environment, cwd=ROOT
        )
        self.peak = 0

    def running(self) -> bool:
        """Whether it still works; takes note of its memory and that of its children."""
        total = sum(peak_of(pid) for pid in (self.process.pid, *children_of(self.process.pid)))
        self.peak = max(self.peak, total)
        return self.process.poll() is None


def peak_of(pid: int) -> int:
    """The greatest resident set of a process so far, in MB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) // 1000 if lines else 0


def children_of(pid: int) -> Iterator[int]:
    """All processes below ``pid``."""
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield int(child)
            yield from children_of(int(child))


Ask = Callable[[str], Any]


def asking(url: str, data: Path) -> Ask:
    """A function that gives the first row of a query, or None for a statement without rows."""

    def ask(query: str) -> Any:
        if url:
            import psycopg

            with psycopg.connect(url, autocommit=True) as connection:
                cursor = connection.execute(query)
                return cursor.fetchone() if cursor.description else None
        with sqlite3.connect(data / "db.sqlite3", timeout=60) as connection:
            return connection.execute(query).fetchone()

    return ask


def measure(rows: int, megabytes: int, url: str, whole: bool) -> dict[str, object]:
    """Import, kill at half, import again; the figures."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        environment = {
            **{k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")},
            "DEDUPREVIEW_DATA_DIR": folder,
            "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
            "PYTHONPATH": str(ROOT),
        } | ({"DATABASE_URL": url} if url else {})
        source = data / "list.jsonl"
        write_rows(source, rows, megabytes)
        size = source.stat().st_size
        row = subprocess.run(
            [sys.executable, "-c", HAND_OVER, str(source)],
            env=environment, cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout.split()[-1]  # fmt: skip
        ask = asking(url, data)
        documents = "SELECT count(*) FROM screening_document"
        peaks, figures = [], {"database": "PostgreSQL" if url else "SQLite", "megabytes": round(size / 1e6), "rows": rows}  # fmt: skip
        if not whole:
            first = Worker(WORK, row, environment)
            while first.running() and ask(documents)[0] < rows // 2:
                time.sleep(0.5)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
            peaks.append(first.peak)
            figures["rows when killed"] = ask(documents)[0]
            ask("UPDATE screening_documentimport SET lease_expires_at = '2000-01-01'")
        before, cpu = time.monotonic(), used()
        last = Worker(WORK, row, environment)
        while last.running():
            time.sleep(0.5)
        seconds = time.monotonic() - before
        peaks.append(last.peak)
        state, report = ask("SELECT state, report FROM screening_documentimport")
        report = report if isinstance(report, dict) else json.loads(report)
        return figures | {
            "seconds of the last worker": round(seconds, 1),
            "its processor seconds": round(used() - cpu, 1),
            "documents a second": round(rows / seconds) if whole else "(half of them)",
            "peak MB": peaks,
            "state": state,
            "documents": ask(documents)[0],
            "different doc_ids": ask("SELECT count(DISTINCT doc_id) FROM screening_document")[0],
            "report": {k: report.get(k) for k in ("added", "identical", "refused")},
        }


def used() -> float:
    """Processor seconds of all children that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


@contextlib.contextmanager
def database(postgres: bool) -> Iterator[str]:
    """The address of an empty database; empty for SQLite in the data directory."""
    if not postgres:
        yield ""
        return
    binaries = servers.postgres_binaries()
    if binaries is None:
        sys.exit("PostgreSQL (initdb) was not found")
    with servers.postgres(binaries) as cluster:
        yield cluster.create("bench")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--whole", action="store_true", help="do not kill the worker")
    options = parser.parse_args()
    with database(options.postgres) as url:
        figures = measure(options.rows, options.megabytes, url, options.whole)
    for name, value in figures.items():
        print(f"{name:30} {value}")
    exact = figures["documents"] == figures["different doc_ids"] == options.rows
    sys.exit(0 if exact and figures["state"] == "done" else 1)


if __name__ == "__main__":
    main()
