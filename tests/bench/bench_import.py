"""A list of a million rows into a collection, with the worker killed half way: memory, time, and what is there at the end.

    python tests/bench/bench_import.py [--rows 1000000] [--megabytes 300]

Everything happens in a data directory of its own, which is removed. The figure for memory is the peak resident set
(VmHWM) of the process that reads, for each of the two workers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

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
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
            if lines:
                self.peak = max(self.peak, int(lines[0].split()[1]) // 1000)
        except OSError:
            pass
        return self.process.poll() is None


def count(database: Path, query: str) -> int:
    with sqlite3.connect(database, timeout=30) as connection:
        return int(connection.execute(query).fetchone()[0])


def measure(rows: int, megabytes: int) -> dict[str, object]:
    """Import, kill at half, import again; the figures."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        database = data / "db.sqlite3"
        environment = {
            **{k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")},
            "DEDUPREVIEW_DATA_DIR": folder,
            "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
            "PYTHONPATH": str(ROOT),
        }
        source = data / "list.jsonl"
        write_rows(source, rows, megabytes)
        size = source.stat().st_size
        row = subprocess.run(
            [sys.executable, "-c", HAND_OVER, str(source)],
            env=environment, cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout.split()[-1]  # fmt: skip
        started = time.monotonic()
        first = Worker(WORK, row, environment)
        documents = "SELECT count(*) FROM screening_document"
        while first.running() and count(database, documents) < rows // 2:
            time.sleep(0.5)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        at_death, half = count(database, documents), time.monotonic() - started
        with sqlite3.connect(database, timeout=30) as connection:
            connection.execute(
                "UPDATE screening_documentimport SET lease_expires_at = '2000-01-01'"
            )
        started = time.monotonic()
        second = Worker(WORK, row, environment)
        while second.running():
            time.sleep(0.5)
        with sqlite3.connect(database) as connection:
            state, report = connection.execute(
                "SELECT state, report FROM screening_documentimport"
            ).fetchone()
        report = json.loads(report)
        return {
            "megabytes": round(size / 1e6),
            "rows": rows,
            "rows when killed": at_death,
            "seconds to there": round(half, 1),
            "seconds of the second worker": round(time.monotonic() - started, 1),
            "peak MB": [first.peak, second.peak],
            "state": state,
            "documents": count(database, documents),
            "different doc_ids": count(
                database, "SELECT count(DISTINCT doc_id) FROM screening_document"
            ),
            "report": {k: report.get(k) for k in ("added", "identical", "refused")},
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=300)
    options = parser.parse_args()
    figures = measure(options.rows, options.megabytes)
    for name, value in figures.items():
        print(f"{name:30} {value}")
    exact = figures["documents"] == figures["different doc_ids"] == options.rows
    sys.exit(0 if exact and figures["state"] == "done" else 1)


if __name__ == "__main__":
    main()
