"""`manage.py up`: everything, with one command."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connections

from dedupreview import hosts, paths, queue_server
from dedupreview.commands import ensure_migrated, fail
from dedupreview.supervisor import Child, Supervisor

HEALTHY_WITHIN = 180.0
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class Command(BaseCommand):
    """Database, queue server, background workers and web server, watched until Ctrl-C."""

    help = "Start everything and keep it running"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The options of design §9, and the address to listen on."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000, help="0: any free port")
        parser.add_argument(
            "--workers", type=whole, help="background workers (2; none with --role web)"
        )
        parser.add_argument(
            "--role",
            choices=hosts.ROLES,
            default="all",
            help="what this machine does: web pages, background work, or all; web and worker need "
            "DATABASE_URL and REDIS_URL",
        )
        parser.add_argument("--no-demo", action="store_true", help="do not add the demo collection")

    def handle(self, **options: Any) -> None:
        """Start in order, say where it is, watch, and stop in reverse order."""
        settle_workers(options)
        data_dir = paths.make_private(settings.DATA_DIR)
        with only_one(data_dir) as lock:
            admit(hosts.check_role, options["role"])
            worker = options["role"] == "worker"
            listener = None if worker else listen(options["host"], options["port"])
            os.environ["DEDUPREVIEW_DATA_DIR"] = str(data_dir)
            supervisor = Supervisor(
                directory=str(settings.BASE_DIR), environment=environment(options["host"])
            )
            for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(signum, supervisor.request_stop)
            try:
                self._start(supervisor, listener, options, lock)
                supervisor.run()
            finally:
                began = time.monotonic()
                supervisor.stop()
                hosts.leave()
                self.say(f"stopped in {time.monotonic() - began:.1f} s")

    def _start(
        self,
        supervisor: Supervisor,
        listener: socket.socket | None,
        options: dict[str, Any],
        lock: Path,
    ) -> None:
        began = time.monotonic()
        str(settings.SECRET_KEY)  # made now, before two processes could want it
        admit(hosts.check_alone, lambda seconds: pause(supervisor, seconds))
        if ensure_migrated():
            self.say("database is up to date")
        admit(hosts.check_same)
        hosts.enter(options["role"])
        self._start_queue(supervisor)
        supervisor.add(*background(options["workers"]))
        people = [] if options["no_demo"] else demo_people()
        if listener is None:
            self.say(f"{options['workers']} background workers are running. Ctrl-C stops them.")
            return
        supervisor.add(web(listener))
        url = f"http://{url_host(options['host'])}:{listener.getsockname()[1]}"
        lock.write_text(json.dumps({"pid": os.getpid(), "url": url}), encoding="utf-8")
        healthy = self._wait_until_healthy(supervisor, f"{url}/healthz", options["workers"])
        if supervisor.stopping:
            return
        if healthy:
            self.say(f"ready after {time.monotonic() - began:.1f} s")
        self._introduce(url, people, options["host"])

    def _start_queue(self, supervisor: Supervisor) -> None:
        if os.environ.get("REDIS_URL"):
            self.say("queue: the server of REDIS_URL")
            return
        try:
            server = queue_server.find_server()
            queue = queue_server.prepare_socket(settings.DATA_DIR)
            child = queue_child(server)
            supervisor.add(child)
            if not wait_for_queue(supervisor, child, queue):
                words = queue_server.last_words(server, settings.DATA_DIR)
                aside = queue_server.set_aside(server, settings.DATA_DIR)
                self.say(f"the queue server did not start; its files are now in {aside}:\n{words}")
                queue_server.command(server, settings.DATA_DIR)  # makes the empty folder
                supervisor.start(child)
                if not wait_for_queue(supervisor, child, queue):
                    fail(
                        queue_server.last_words(server, settings.DATA_DIR)
                        or "the queue server does not start"
                    )
        except queue_server.QueueServerError as error:
            fail(str(error))

    def _wait_until_healthy(self, supervisor: Supervisor, url: str, workers: int) -> bool:
        end = time.monotonic() + HEALTHY_WITHIN
        state: dict[str, Any] = {}
        while time.monotonic() < end and not supervisor.stopping:
            state = health(url)
            if state.get("status") == "ok" or (not workers and state.get("database") == "ok"):
                return True
            supervisor.watch()
            time.sleep(0.2)
        if not supervisor.stopping:
            self.say(f"not healthy yet: {', '.join(state.get('reasons', ['no answer']))}")
        return False

    def _introduce(self, url: str, people: list[tuple[str, str, str]], host: str) -> None:
        self.say(f"dedupreview is at {url}  (Ctrl-C stops it)")
        if host not in LOOPBACK and not os.environ.get("DEDUPREVIEW_HOSTS"):
            self.say("set DEDUPREVIEW_HOSTS to the names under which others reach it")
        for name, password, role in people:
            self.say(f"  demo login: {name:<12} password: {password:<16} {role}")

    def say(self, line: str) -> None:
        """One line, at once."""
        self.stdout.write(line)
        self.stdout.flush()


def settle_workers(options: dict[str, Any]) -> None:
    """How many workers: as many as were asked for, else two; none where only pages are served."""
    if options["role"] == "web" and options["workers"]:
        fail("--role web has no workers; leave --workers out, or use --role all")
    if options["role"] == "worker" and options["workers"] == 0:
        fail("--role worker with --workers 0 would do nothing")
    if options["workers"] is None:
        options["workers"] = 0 if options["role"] == "web" else 2


def admit(check: Callable[[Any], None] | Callable[[], None], *arguments: Any) -> None:
    """Ask whether this machine may serve here; say why not and end with 1."""
    try:
        check(*arguments)
    except hosts.Refused as error:
        fail(str(error))


def pause(supervisor: Supervisor, seconds: float) -> None:
    """Wait, unless somebody asks to stop."""
    queue_server.wait_until(lambda: supervisor.stopping, seconds, interval=0.1)


@contextmanager
def only_one(data_dir: Path) -> Iterator[Path]:
    """Hold the data directory for this process; say so and end with 1 if another `up` holds it."""
    path = data_dir / lock_name()
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            fail(
                f"dedupreview is already running on {data_dir}: {file.read().strip() or 'starting'}"
            )
        path.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
        yield path


def lock_name() -> str:
    """The lock's file; one a machine where a team's machines share the data directory and nothing else is in it."""
    shared = os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")
    return f"up-{socket.gethostname()}.lock" if shared else "up.lock"


def whole(text: str) -> int:
    """A count of 0 or more, from the command line."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def listen(host: str, port: int) -> socket.socket:
    """The web server's socket, held here: restarts of the web server then refuse nobody."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        what = "--host" if isinstance(error, socket.gaierror) else "--port"
        fail(f"cannot listen on {host}:{port}: {error}. Choose another with {what}.")
    listener.listen(512)
    listener.set_inheritable(True)
    return listener


def url_host(host: str) -> str:
    """The host part of the address to open in a browser on this machine."""
    if host in {"0.0.0.0", "::"}:
        return "localhost"
    return f"[{host}]" if ":" in host else host


def environment(host: str) -> dict[str, str]:
    """What the children see: ours, and the chosen address among the allowed names."""
    hosts = [*settings.ALLOWED_HOSTS]
    if not os.environ.get("DEDUPREVIEW_HOSTS"):
        hosts += [socket.gethostname()] if host in {"0.0.0.0", "::"} else [url_host(host)]
    # Uploads and caches in passing belong to nobody else on the machine; what a killed process left is swept out.
    # Machines that share the data directory have a folder each: one that starts must not sweep out another's uploads.
    temporary = settings.DATA_DIR / "tmp" / socket.gethostname()
    shutil.rmtree(temporary, ignore_errors=True)
    return {
        **os.environ,
        "TMPDIR": str(paths.make_private(temporary)),
        "DEDUPREVIEW_HOSTS": ",".join(dict.fromkeys(hosts)),
        "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
    }


def queue_child(server: queue_server.Server) -> Child:
    """The queue server; SIGTERM lets it write what it has."""
    program = queue_server.command(server, settings.DATA_DIR)
    return Child("queue server", program, grace=2.0, end_signal=signal.SIGTERM)


def background(workers: int) -> list[Child]:
    """The workers, and the process that looks after the runs."""
    program = [sys.executable, "-m", "screening.workers"]
    children = [
        Child(f"worker {number}", program, grace=2.5, insist_after=1.2)
        for number in range(1, workers + 1)
    ]
    return [*children, Child("sweeper", [sys.executable, "-m", "dedupreview.sweeper"], grace=1.5)]


def web(listener: socket.socket) -> Child:
    """The web server on the socket that is held here."""
    program = [
        *(sys.executable, "-m", "gunicorn", "--config", "python:dedupreview.gunicorn_conf"),
        *("--bind", f"fd://{listener.fileno()}", "dedupreview.wsgi:application"),
    ]
    return Child("web server", program, grace=3.0, pass_fds=[listener.fileno()])


def wait_for_queue(
    supervisor: Supervisor, child: Child, queue: Path, patience: float = 30.0
) -> bool:
    """Whether the queue server got ready; False as soon as it has ended."""
    queue_server.wait_until(
        lambda: supervisor.stopping or not child.alive or queue_server.answers(queue), patience
    )
    return supervisor.stopping or (child.alive and queue_server.answers(queue))


def demo_people() -> list[tuple[str, str, str]]:
    """Make the demo where it is wanted; on the first start, its people: (name, password, role)."""
    from dedupreview import demo

    known = bool(demo.logins())
    people = demo.ensure_demo() or []
    connections.close_all()
    return [] if known else [(person.name, person.password, person.role) for person in people]


def health(url: str) -> dict[str, Any]:
    """What /healthz says; empty while nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return dict(json.load(response))
    except urllib.error.HTTPError as error:
        try:
            return dict(json.load(error))
        except ValueError:
            return {"reasons": [f"/healthz answers {error.code}"]}
    except OSError:
        return {}
