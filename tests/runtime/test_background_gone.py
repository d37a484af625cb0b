"""What people see when the background dies: the banner within ten seconds, and a run that finishes all the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from redis import Redis

from dedupreview import processes
from dedupreview.people.models import Person, Role
from tests.servers import Site

ROOT = Path(__file__).resolve().parents[2]
BANNER = "后台未运行"
WORKER = """
import time, django
django.setup()
from screening import workers
with workers.heartbeat():
    print("up", flush=True)
    time.sleep(300)
"""


def until(condition: Callable[[], Any], seconds: float, pause: float = 0.2) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


@pytest.mark.django_db
def test_the_banner_follows_a_killed_worker_within_ten_seconds(queue_server: Redis) -> None:
    admin = Client()
    admin.force_login(Person.objects.create(username="chief", role=Role.ADMIN))

    def banner() -> bool:
        return BANNER in admin.get("/workers").content.decode()

    environment = {
        **os.environ,
        "DEDUPREVIEW_DATA_DIR": str(settings.DATA_DIR),
        "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
    }
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "up\n"
        assert until(lambda: not banner(), 10), "a living worker is seen"
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()  # type: ignore[union-attr]
    assert until(banner, 10)


def documents(count: int) -> str:
    """Families of three: the same text of chance characters, with another figure at its end."""
    lines = []
    for n in range(count):
        chance = random.Random(n // 3)
        text = "".join(chr(chance.randrange(0x4E00, 0x9F00)) for _ in range(600))
        lines.append(json.dumps({"doc_id": f"T{n:04}", "raw": f"{text}，共{n % 3}册。"}))
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.skipif(not processes.LINUX, reason="reads /proc, which Linux has")
def test_a_run_finishes_though_the_queue_server_is_killed_under_it(
    whole_site: Site, short_dir: Path
) -> None:
    site = whole_site
    manage = [sys.executable, str(ROOT / "manage.py")]

    def command(*arguments: str, text: str = "") -> None:
        subprocess.run(
            [*manage, *arguments], env=site.environment(), input=text, text=True, check=True,
            timeout=120, capture_output=True,
        )  # fmt: skip

    (short_dir / "documents.jsonl").write_text(documents(1_500), encoding="utf-8")
    command("import_documents", str(short_dir / "documents.jsonl"), "--collection", "town")
    command("add_user", "chief", "--role", "admin", "--password-stdin", text="很长的-密码-9\n")
    site.start("--no-demo", "--workers", "1")
    key = ""

    def call(method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{site.url}/api/v1{path}",
            json.dumps(body).encode() if body is not None else None,
            {"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    key = call("POST", "/tokens", {"username": "chief", "password": "很长的-密码-9"})["token"]
    run = call("POST", "/runs", {"collection": "town"})["id"]
    for _ in range(2):
        for server in site.find("valkey-server"):
            os.kill(server, signal.SIGKILL)
        assert until(lambda: bool(site.find("valkey-server")), 60)
    state = {"queued", "running", "waiting"}
    assert until(lambda: call("GET", f"/runs/{run}")["state"] not in state, 120, 0.5), site.log()
    done = call("GET", f"/runs/{run}")
    assert done["state"] == "done", done
    assert done["candidates"] == 1_500
    page = call("GET", f"/runs/{run}/candidates?limit=1000")["candidates"]
    assert len(page) == 1_000, "published once, not twice"
    assert len({(row["left"], row["right"]) for row in page}) == len(page)
