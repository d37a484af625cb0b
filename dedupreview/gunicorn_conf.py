"""How the web server runs under ``manage.py up``; its address comes on the command line."""

from __future__ import annotations

import os
import signal
from typing import Any

from dedupreview import processes

worker_class = "gthread"
workers = min(4, os.cpu_count() or 1)
threads = 8
preload_app = True  # the processes share what they have loaded
timeout = 120
graceful_timeout = 2
control_socket_disable = True
loglevel = "warning"
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None


def on_starting(_server: Any) -> None:
    """In the master process, before anything is loaded."""
    processes.watch_parent()


def post_fork(server: Any, _worker: Any) -> None:
    """In each web process: the kernel's wish is lost by the fork."""
    processes.die_with_parent(signal.SIGKILL, server.pid)
