"""Children live, come back, and end in order; with real processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dedupreview import processes
from dedupreview.supervisor import FIRST_PAUSE, LONGEST_PAUSE, Child, Supervisor

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
STUBBORN = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('ready', flush=True); open(sys.argv[1], 'w').close(); time.sleep(60)"
)
SECOND_WORD = (
    "import signal, sys, time\n"
    "calls = []\n"
    "def term(*_):\n"
    "    calls.append(1)\n"
    "    if len(calls) == 2: sys.exit(0)\n"
    "signal.signal(signal.SIGTERM, term)\n"
    "open(sys.argv[1], 'w').close()\n"
    "end = time.monotonic() + 60\n"
    "while time.monotonic() < end: time.sleep(0.05)\n"
)


def until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_there(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    return False


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    made = Supervisor(directory=str(tmp_path), environment=dict(os.environ))
    yield made
    made.stop()


def test_a_dead_child_is_started_again(supervisor: Supervisor) -> None:
    child = Child("sleeper", SLEEP)
    supervisor.add(child)
    assert child.process is not None
    first = child.process.pid
    child.process.kill()
    child.process.wait()
    supervisor.watch()
    assert not child.alive, "not at once: a child that cannot start must not spin"

    def again() -> bool:
        supervisor.watch()
        return child.alive

    assert until(again, 5)
    assert child.process.pid != first


def test_the_pause_grows_while_a_child_keeps_dying_and_has_a_limit() -> None:
    child = Child("sleeper", SLEEP)
    pauses = []
    for _ in range(9):
        child.pause = Supervisor._next_pause(child, now=child.started + 1)
        pauses.append(child.pause)
    assert pauses[:3] == [FIRST_PAUSE, FIRST_PAUSE * 2, FIRST_PAUSE * 4]
    assert pauses[-1] == LONGEST_PAUSE
    assert Supervisor._next_pause(child, now=child.started + 100) == FIRST_PAUSE


def test_groups_stop_in_reverse_order(supervisor: Supervisor, tmp_path: Path) -> None:
    note = (
        "import signal, sys, time\n"
        "def term(*_):\n"
        "    with open(sys.argv[2], 'a') as f: f.write(sys.argv[1] + '\\n')\n"
        "    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, term)\n"
        "open(sys.argv[2] + sys.argv[1], 'w').close()\n"
        "time.sleep(60)\n"
    )
    log = tmp_path / "log"
    for name in ("store", "worker", "web"):
        supervisor.add(Child(name, [sys.executable, "-c", note, name, str(log)]))
    assert until(lambda: all(Path(f"{log}{n}").exists() for n in ("store", "worker", "web")))
    supervisor.stop()
    assert log.read_text().split() == ["web", "worker", "store"]


def test_a_child_that_does_not_listen_is_killed_when_its_grace_is_over(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    child = Child("stubborn", [sys.executable, "-c", STUBBORN, str(ready)], grace=0.5)
    supervisor.add(child)
    assert until(ready.exists)
    began = time.monotonic()
    supervisor.stop()
    assert 0.4 < time.monotonic() - began < 5
    assert child.process is not None
    assert child.process.returncode == -signal.SIGKILL


def test_a_child_gets_a_second_word_where_it_needs_one(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    program = [sys.executable, "-c", SECOND_WORD, str(ready)]
    child = Child("worker", program, grace=8, insist_after=0.3)
    supervisor.add(child)
    assert until(ready.exists)
    supervisor.stop()
    assert child.process is not None
    assert child.process.returncode == 0


@pytest.mark.skipif(not processes.LINUX, reason="the kernel does this on Linux only")
def test_children_end_with_a_killed_parent(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    parent = (
        "import os, signal, subprocess, sys, time\n"
        "from dedupreview import processes\n"
        f"program = [sys.executable, '-c', {child!r}]\n"
        "subprocess.Popen(processes.tied(program, signal.SIGKILL, os.getpid()))\n"
        "time.sleep(60)\n"
    )
    root = Path(processes.__file__).parent.parent
    process = subprocess.Popen([sys.executable, "-c", parent], cwd=root)
    assert until(lambda: pid_file.exists() and pid_file.read_text() != "")
    pid = int(pid_file.read_text())
    assert is_there(pid)
    process.kill()
    process.wait()
    assert until(lambda: not is_there(pid), 3)


@pytest.mark.skipif(not processes.LINUX, reason="the kernel does this on Linux only")
def test_a_child_whose_parent_was_gone_already_does_not_start() -> None:
    program = processes.tied([sys.executable, "-c", "print('alive')"], signal.SIGKILL, parent=1)
    done = subprocess.run(program, capture_output=True, text=True, timeout=20)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == ""
