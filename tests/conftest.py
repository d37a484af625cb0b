"""Fixtures of the whole suite: real servers, real browsers, the shared sets; and the rule of what may be skipped."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from tests import servers
from tests.untouched import changed_originals

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from redis import Redis

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}
ONE_PROCESS = {"postgres_cluster": "postgres", "browser": "browser", "whole_site": "site"}
"""Fixtures that are dear to set up: the tests that use one stay in one process."""


def absent(what: str) -> NoReturn:
    """Skip by name; in CI, where everything is installed, fail instead."""
    if IN_CI:
        pytest.fail(f"{what} is required in CI and was not found")
    pytest.skip(f"{what} was not found")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file, or of a dear fixture, in one process; mark what fixtures imply."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        dear = [group for fixture, group in ONE_PROCESS.items() if fixture in names]
        item.add_marker(pytest.mark.xdist_group(dear[0] if dear else str(item.path)))
        if "browser" in names:
            item.add_marker(pytest.mark.browser)
        if "postgres_cluster" in names:
            item.add_marker(pytest.mark.postgres)


# --- Shared sets ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared corpora and cases: ``DEDUPREVIEW_SHARED``, else ``shared`` beside the checkout."""
    folder = Path(os.environ.get("DEDUPREVIEW_SHARED") or ROOT.parent / "shared")
    if not folder.is_dir():
        pytest.skip("the shared sets were not found (DEDUPREVIEW_SHARED)")
    return folder


# --- Database ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def _tables_can_be_emptied() -> Iterator[None]:
    """Between transactional tests Django empties the tables, which the insert-only triggers rightly refuse."""
    from django.test import TransactionTestCase

    from dedupreview import insert_only

    original = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def teardown(self: TransactionTestCase) -> None:
        insert_only.remove()
        try:
            original(self)
        finally:
            insert_only.install()

    patch = pytest.MonkeyPatch()
    # TestCase rolls back and has a teardown of its own; only the one that flushes is replaced.
    patch.setattr(TransactionTestCase, "_fixture_teardown", teardown)
    yield
    patch.undo()


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Iterator[Path]:
    """A data directory for this test alone; whatever the test did, its originals are what they were stored as."""
    settings.DATA_DIR = tmp_path
    settings.STORAGES = {
        name: {**storage, "OPTIONS": {"location": tmp_path}} if "OPTIONS" in storage else storage
        for name, storage in settings.STORAGES.items()
    }
    yield tmp_path
    assert changed_originals(tmp_path) == []


@pytest.fixture(scope="session", autouse=True)
def _originals_stay() -> Iterator[None]:
    """The same for tests that share the data directory of the settings, once all of them have run."""
    from django.conf import settings

    yield
    assert changed_originals(Path(settings.DATA_DIR)) == []


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[servers.Cluster]:
    """A PostgreSQL server of our own, started for the session."""
    binaries = servers.postgres_binaries()
    if binaries is None:
        absent("PostgreSQL (initdb)")
    with servers.postgres(binaries) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def postgres_url(postgres_cluster: servers.Cluster) -> str:
    """The address of an empty database on a real PostgreSQL server."""
    return postgres_cluster.create("plain")


@pytest.fixture(scope="session")
def _postgres_template(postgres_cluster: servers.Cluster) -> str:
    """The name of a migrated database, to make others from."""
    url = postgres_cluster.create("migrated")
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "dedupreview.settings"},
        check=True,
        timeout=120,
    )
    return "migrated"


@pytest.fixture
def postgres(
    postgres_cluster: servers.Cluster, _postgres_template: str, django_db_blocker: Any
) -> Iterator[str]:
    """Makes a fresh migrated PostgreSQL database the default one, for all threads, and gives its address.

    Not together with ``db`` or ``transactional_db``. Nothing is rolled back: the database is dropped.
    """
    import dj_database_url
    from django.db import connections

    name = f"test_{time.monotonic_ns()}"
    url = postgres_cluster.create(name, template=_postgres_template)
    before = connections.settings["default"]
    old = connections["default"]
    fresh = connections.configure_settings({"default": dict(dj_database_url.parse(url))})
    connections.settings["default"] = fresh["default"]
    del connections["default"]
    try:
        with django_db_blocker.unblock():
            yield url
            connections["default"].close()
    finally:
        connections.settings["default"] = before
        connections["default"] = old
        postgres_cluster.drop(name)


# --- Queue ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def _queue_process() -> Iterator[Path]:
    from django.conf import settings

    with servers.queue(Path(settings.DATA_DIR)) as socket:
        yield socket


@pytest.fixture
def queue_server(_queue_process: Path) -> Iterator[Redis]:
    """A connection to a real, empty queue server; the settings' queue is on it."""
    from dedupreview import health

    with health.queue_connection() as redis:
        redis.flushall()
        yield redis
        redis.flushall()


@pytest.fixture
def work(queue_server: Redis) -> Callable[[], bool]:
    """A function that runs every queued job in this process and transaction; whether there was one."""
    from django_rq import get_queue
    from rq import SimpleWorker
    from rq.serializers import JSONSerializer

    def run() -> bool:
        queue = get_queue("default")
        worker = SimpleWorker([queue], connection=queue.connection, serializer=JSONSerializer)
        # RQ leaves its handlers behind; a process forked later would inherit them and not end when asked to.
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            return worker.work(burst=True, logging_level="ERROR")
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    return run


# --- Browser ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of an installed Chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := os.environ.get("DEDUPREVIEW_CHROMIUM") or shutil.which(name):
            return found
    absent("Chromium")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """A running Chromium."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    arguments += [
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--disable-quic",
    ]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a fresh context; the test fails if a script failed or the page broke its own security policy."""
    context = browser.new_context(locale="zh-CN", viewport={"width": 1366, "height": 900})
    context.set_default_timeout(15_000)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console",
        lambda message: (
            complaints.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    yield opened
    context.close()
    assert not complaints, complaints


# --- The whole site ---------------------------------------------------------------------------------------------------


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """A temporary folder with a short path, for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="ddr-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def whole_site(short_dir: Path) -> Iterator[servers.Site]:
    """`manage.py up --no-demo` on a data directory of its own; start it with ``start()``."""
    site = servers.Site(root=ROOT, data_dir=short_dir / "data")
    yield site
    site.end()
    assert changed_originals(site.data_dir) == []
