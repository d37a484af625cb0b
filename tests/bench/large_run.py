"""The command ``screen`` on 100,000 documents: time, and memory summed over all of its processes."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds on the wall and of processors, peak memory of all processes together in MB, the command's last line."""

    wall: float
    cpu: float
    memory: float
    said: str


def tree_memory(root: int) -> float:
    """Resident memory of a process and all its descendants now, in MB (Linux; 0 elsewhere)."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            try:
                fields = Path("/proc", name, "stat").read_text("ascii", "replace").rpartition(")")
            except OSError:  # it has ended meanwhile
                continue
            parents[int(name)] = int(fields[2].split()[1])
    family = {root}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    pages = 0
    for pid in family:
        try:
            pages += int(Path("/proc", str(pid), "statm").read_text("ascii").split()[1])
        except (OSError, IndexError):
            continue
    return pages * resource.getpagesize() / 1e6


def measure(folder: Path) -> Usage:
    """Run ``manage.py screen`` on a folder, all files and facts included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started, peak = time.monotonic(), 0.0
    with tempfile.TemporaryDirectory() as out, tempfile.TemporaryFile("w+") as said:
        command = [sys.executable, str(ROOT / "manage.py"), "screen", str(folder), "--out", out]
        with subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, cwd=ROOT) as process:
            while process.poll() is None:
                peak = max(peak, tree_memory(process.pid))
                time.sleep(0.2)
        wall = time.monotonic() - started
        said.seek(0)
        words = said.read().strip().splitlines() or [""]
        if process.returncode:
            raise SystemExit("\n".join(words[-5:]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Usage(wall, used, peak, words[-1])


def made(generator: Path, folder: Path) -> Path:
    """The scale corpus, made into ``folder`` by the generator of the shared sets."""
    subprocess.run(
        [sys.executable, str(generator), "--out", str(folder)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder
