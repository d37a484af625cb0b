"""Keeps a handful of child processes alive, and ends them in order."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dedupreview import processes

logger = logging.getLogger(__name__)

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
STEADY_AFTER = 60.0
"""Seconds of life after which a child's earlier deaths are forgotten."""


@dataclass
class Child:
    """One program to keep running.

    ``grace`` is how many seconds it may take to stop; ``insist_after``, where set, when it gets a second SIGTERM
    (a worker takes the first one as: finish your job first).
    """

    name: str
    program: Sequence[str]
    grace: float = 3.0
    insist_after: float | None = None
    end_signal: signal.Signals = signal.SIGKILL
    pass_fds: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started: float = field(default=0.0, init=False)
    pause: float = field(default=0.0, init=False)
    due: float | None = field(default=None, init=False)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Supervisor:
    """Starts children, restarts those that die, and stops all of them, last group first."""

    def __init__(self, *, directory: str, environment: Mapping[str, str]) -> None:
        self.directory = directory
        self.environment = {**environment, processes.SUPERVISOR: str(os.getpid())}
        self.groups: list[list[Child]] = []
        self.stopping = False

    def add(self, *children: Child) -> None:
        """Start these children together; they are stopped together, before those added earlier."""
        self.groups.append(list(children))
        for child in children:
            self.start(child)

    def start(self, child: Child) -> None:
        """Start a child in a session of its own: Ctrl-C then reaches it only through the supervisor."""
        child.process = subprocess.Popen(
            processes.tied(list(child.program), child.end_signal, os.getpid()),
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=child.pass_fds,
        )
        child.started = time.monotonic()
        child.due = None

    def request_stop(self, *_signal: object) -> None:
        """Signal handler: stop at the next turn of the loop."""
        self.stopping = True

    def watch(self) -> None:
        """Start again what has died, once its pause is over."""
        now = time.monotonic()
        for child in (child for group in self.groups for child in group):
            if child.alive or child.process is None:
                continue
            if child.due is None:
                child.pause = self._next_pause(child, now)
                child.due = now + child.pause
                logger.warning(
                    "%s ended (%s); starting it again in %.1f s",
                    child.name,
                    describe_end(child.process.returncode),
                    child.pause,
                )
            elif now >= child.due:
                self.start(child)

    @staticmethod
    def _next_pause(child: Child, now: float) -> float:
        if now - child.started >= STEADY_AFTER or not child.pause:
            return FIRST_PAUSE
        return min(child.pause * 2, LONGEST_PAUSE)

    def run(self, interval: float = 0.2) -> None:
        """Watch until somebody asks to stop."""
        while not self.stopping:
            self.watch()
            time.sleep(interval)

    def stop(self) -> None:
        """Stop every group, the one added last first; a child that outstays its grace is killed."""
        for group in reversed(self.groups):
            stop_together(group)
        self.groups.clear()


def describe_end(returncode: int | None) -> str:
    """An exit code in words."""
    if returncode is not None and returncode < 0:
        return f"by signal {-returncode}"
    return f"exit code {returncode}"


def stop_together(children: Sequence[Child]) -> None:
    """End these children: SIGTERM, where wanted a second one, and SIGKILL to the whole session at the last."""
    began = time.monotonic()
    insisted: set[str] = set()
    for child in children:
        signal_child(child, signal.SIGTERM)
    while waiting := [child for child in children if child.alive]:
        elapsed = time.monotonic() - began
        for child in waiting:
            if elapsed >= child.grace:
                signal_child(child, signal.SIGKILL)
            elif child.name not in insisted and elapsed >= (child.insist_after or child.grace):
                insisted.add(child.name)
                signal_child(child, signal.SIGTERM)
        time.sleep(0.05)


def signal_child(child: Child, signum: signal.Signals) -> None:
    """Send a signal to a living child; SIGKILL goes to its whole process group."""
    if not child.alive or child.process is None:
        return
    with contextlib.suppress(ProcessLookupError):
        if signum == signal.SIGKILL:
            os.killpg(child.process.pid, signum)
        else:
            child.process.send_signal(signum)
