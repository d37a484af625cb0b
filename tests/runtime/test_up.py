"""`manage.py up`, in a process of its own, with everything real."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dedupreview import processes
from tests.servers import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not processes.LINUX, reason="reads /proc, which Linux has"),
]


def until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_a_life_of_the_site(whole_site: Site) -> None:
    """Start, look, lose a worker, the web server and the queue server, stop. One start: it is the slow part."""
    site = whole_site
    site.start()
    assert site.health()["status"] == "ok"
    assert until(lambda: site.health().get("workers") == 2, 60)
    assert stat.S_IMODE((site.data_dir / "secret_key").stat().st_mode) == 0o600
    assert stat.S_IMODE(site.data_dir.stat().st_mode) == 0o700

    _refuses_a_second_one(site)
    _replaces(site, "screening.workers")
    _replaces(site, "gunicorn")
    _replaces(site, "valkey-server")

    assert site.process is not None
    began = time.monotonic()
    site.process.send_signal(signal.SIGTERM)
    site.process.wait(timeout=15)
    assert time.monotonic() - began < 10
    assert site.process.returncode == 0
    assert site.processes() == {}
    # The port is free again at once, and nothing was left to clean up.
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", int(site.url.rsplit(":", 1)[1])))


def _refuses_a_second_one(site: Site) -> None:
    second = subprocess.run(
        site.command("--no-demo"),
        env=site.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert second.returncode == 1
    assert "already running" in second.stderr
    assert site.url in second.stderr
    assert len(second.stderr.strip().splitlines()) == 1


def _replaces(site: Site, what: str) -> None:
    before = site.find(what)
    assert before, what
    os.kill(min(before), signal.SIGKILL)
    assert until(lambda: bool(set(site.find(what)) - set(before)), 60), f"{what} was not restarted"
    assert until(lambda: site.health().get("status") == "ok", 90), site.health()


def test_a_killed_parent_leaves_nothing_behind(whole_site: Site) -> None:
    site = whole_site
    site.start("--no-demo", "--workers", "1")
    assert site.process is not None
    assert len(site.processes()) >= 5
    site.process.kill()
    site.process.wait()
    assert until(lambda: site.processes() == {}, 10), site.processes()
    # What it left on disk does not hinder the next start.
    site.start("--no-demo", "--workers", "1")
    assert site.health()["status"] == "ok"


def test_ctrl_c_stops_it_even_while_it_starts(whole_site: Site) -> None:
    site = whole_site
    process = subprocess.Popen(site.command("--no-demo"), env=site.environment())
    assert until(lambda: bool(site.find("screening.workers")), 60)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=15)
    assert time.monotonic() - began < 10
    assert until(lambda: site.processes() == {}, 1), site.processes()


def test_a_port_in_use_is_said_and_nothing_is_left(whole_site: Site) -> None:
    site = whole_site
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*site.command("--no-demo"), "--port", port],
            env=site.environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert "--port" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert site.processes() == {}


def test_a_worker_takes_its_job_with_it(whole_site: Site, short_dir: Path) -> None:
    """A job whose worker is killed must not go on beside the one that takes over."""
    site = whole_site
    site.start("--no-demo", "--workers", "1")
    mark = short_dir / "pid"
    code = (
        "import django; django.setup()\n"
        "from django_rq import get_queue\n"
        f"get_queue('default').enqueue('subprocess.getoutput', 'echo $PPID > {mark}; sleep 60')\n"
    )
    subprocess.run(
        [site.command()[0], "-c", code],
        cwd=site.root,
        env={**site.environment(), "DJANGO_SETTINGS_MODULE": "dedupreview.settings"},
        check=True,
        timeout=60,
    )
    assert until(lambda: mark.exists() and mark.read_text().strip() != "", 20)
    horse = int(mark.read_text())
    worker = next(pid for pid in site.find("screening.workers") if pid != horse)
    assert horse in site.processes()
    os.kill(worker, signal.SIGKILL)
    assert until(lambda: horse not in site.processes(), 5)
