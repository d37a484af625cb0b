"""Processes that end with the one that started them, however it ended.

Run as a program, it starts another program with that property: ``processes.py SIGNAL PARENT PROGRAM [ARGUMENTS]``.
Standard library only, so that it can be run with ``python -I -S`` at the cost of a few milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys
import threading
import time

LINUX = platform.system() == "Linux"
PR_SET_PDEATHSIG = 1
SUPERVISOR = "DEDUPREVIEW_SUPERVISOR"
"""Environment variable with the id of the process that `up` runs in."""


def die_with_parent(signum: int, parent: int) -> None:
    """Have the kernel send this process ``signum`` when its parent ends; at once if it is no longer ``parent``.

    Linux only, elsewhere nothing happens. The wish is kept across exec and lost by fork.
    """
    if not LINUX:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signum, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    if os.getppid() != parent:  # it ended before the wish was known
        os.kill(os.getpid(), signum)


def watch_parent(interval: float = 1.0) -> None:
    """Where the kernel does not do it, end this process within ``interval`` seconds of the supervisor's end."""
    supervisor = os.environ.get(SUPERVISOR)
    if LINUX or not supervisor:
        return

    def watch() -> None:
        while os.getppid() == int(supervisor):
            time.sleep(interval)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def tied(program: list[str], signum: signal.Signals, parent: int) -> list[str]:
    """The command line that starts ``program`` so that it ends with ``parent``."""
    return [sys.executable, "-I", "-S", __file__, str(int(signum)), str(parent), *program]


def main(arguments: list[str]) -> None:
    """Make the wish, then become the program."""
    signum, parent, *program = arguments
    die_with_parent(int(signum), int(parent))
    os.execvp(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1:])
