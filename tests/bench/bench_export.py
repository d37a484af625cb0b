"""A signed table of many pairs with two judgments each: processor seconds, seconds on the wall, peak memory.

    python tests/bench/bench_export.py [--pairs 100000] [--database sqlite|postgresql] [--verify] [--profile FILE]

Everything happens in a data directory and, for PostgreSQL, a cluster of its own, which are removed. The database is
filled by SQL, which is not counted. Memory is that of the exporting process and its children; the database server of
PostgreSQL is not among them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.large_run import tree_memory  # noqa: E402

FILL = """
import sys
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.bench.filled_round import fill
fill(int(sys.argv[1]))
"""
EXPORT = """
import cProfile, sys
import django; django.setup()
from reviews.models import ReviewRound
from reviews.tables import export_table, table_folder
def run():
    table = export_table(round=ReviewRound.objects.get())
    print(table_folder(table))
if sys.argv[1]:
    cProfile.run("run()", sys.argv[1])
else:
    run()
"""
VERIFY = """
import sys
import django; django.setup()
from reviews.tables import verify_table
found = verify_table(sys.argv[1])
print(found.lines()[:3])
sys.exit(not found.ok)
"""


class Measured:
    """One child process: what it used and printed."""

    def __init__(self, code: str, argument: str, environment: dict[str, str]) -> None:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started, self.memory = time.monotonic(), 0.0
        with tempfile.TemporaryFile("w+") as said:
            command = [sys.executable, "-c", code, argument]
            with subprocess.Popen(command, stdout=said, env=environment, cwd=ROOT) as process:
                while process.poll() is None:
                    self.memory = max(self.memory, tree_memory(process.pid))
                    time.sleep(0.2)
            if process.returncode:
                raise SystemExit(process.returncode)
            said.seek(0)
            self.said = said.read().strip()
        self.wall = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def __str__(self) -> str:
        return f"{self.cpu:8.1f} s CPU {self.wall:8.1f} s wall {self.memory:6.0f} MB"


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


def measure(pairs: int, kind: str, *, verify: bool, profile: str) -> None:
    """Fill, export and verify; prints a line for each."""
    with tempfile.TemporaryDirectory() as folder, database(kind) as address:
        kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
        environment = kept | address
        environment |= {
            "DEDUPREVIEW_DATA_DIR": folder,
            "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
            "PYTHONPATH": str(ROOT),
        }
        print(f"{kind}, {pairs} pairs × 2 judgments; load {os.getloadavg()[0]:.1f}", flush=True)
        print(f"fill    {Measured(FILL, str(pairs), environment)}", flush=True)
        made = Measured(EXPORT, profile, environment)
        print(f"export  {made}", flush=True)
        for path in sorted(Path(made.said).iterdir()):
            if path.stat().st_size > 1_000_000:
                print(f"        {path.stat().st_size / 1e6:10.1f} MB {path.name}")
        if verify:
            found = Measured(VERIFY, made.said, environment)
            print(f"verify  {found} {found.said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--verify", action="store_true", help="verify the table too")
    parser.add_argument("--profile", metavar="FILE", default="", help="of cProfile, for pstats")
    options = parser.parse_args()
    kinds = ("sqlite", "postgresql") if options.database == "both" else (options.database,)
    for kind in kinds:
        measure(options.pairs, kind, verify=options.verify, profile=options.profile)


if __name__ == "__main__":
    main()
