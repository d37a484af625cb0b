"""From the upload of a large collection to a queue that can be judged, through the running site as a program uses it.

    python tests/bench/upload_to_queue.py FOLDER [--pairs 1000]

FOLDER holds documents.jsonl. `up` is started on a fresh data folder (its own queue server, one worker for each processor,
SQLite); the clock runs from the first byte of the upload to the first claimed seat. Prints the seconds of each step.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.large_run import tree_memory  # noqa: E402
from tests.servers import Site  # noqa: E402

PASSWORD = "一个足够长的密码-77"
PEOPLE = {"zhu": "admin", "jia": "annotator", "yi": "annotator", "bing": "arbitrator"}
HOLD = 90.0
BOUNDARY = "----upload-to-queue"


def manage(site: Site, *arguments: str, given: str = "") -> str:
    """What a command of manage.py prints."""
    done = subprocess.run(
        [sys.executable, str(site.root / "manage.py"), *arguments],
        env=site.environment(),
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


class Client:
    """The API of a site, as one person."""

    def __init__(self, site: Site, name: str) -> None:
        self.url = f"{site.url}/api/v1"
        self.token = ""
        given = {"username": name, "password": PASSWORD}
        self.token = self.call("/tokens", json.dumps(given).encode())["token"]

    def call(self, path: str, data: bytes | None = None, kind: str = "application/json") -> Any:
        """The JSON answer to a GET, or to a POST of ``data``."""
        headers = {"Content-Type": kind, "Authorization": f"Bearer {self.token}"}
        headers = headers if self.token else {"Content-Type": kind}
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=300) as response:
            return json.load(response)

    def upload(self, path: Path, slug: str) -> Any:
        """Hand over one file."""
        head = (
            f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{path.name}\"\r\n"
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        body = head.encode() + path.read_bytes() + f"\r\n--{BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return self.call(f"/collections/{slug}/documents", body, kind)

    def wait(self, path: str) -> Any:
        """Ask until the work at ``path`` has ended."""
        while True:
            row = self.call(path)
            if row["state"] not in ("queued", "running", "waiting"):
                return row
            time.sleep(0.5)


def measure(site: Site, source: Path, pairs: int) -> None:
    """Run the steps and print how long each took."""
    for name, role in PEOPLE.items():
        manage(site, "add_user", name, "--role", role, "--password-stdin", given=PASSWORD + "\n")
    slug = "large"
    small = site.data_dir.parent / "first.txt"
    small.write_text("一篇先行导入的短文，用来建立资料库。", "utf-8")
    manage(site, "import_documents", str(small), "--collection", slug)
    client = Client(site, "zhu")
    marks: list[tuple[str, float]] = [("", time.monotonic())]
    uploaded = client.upload(source, slug)
    marks.append(("upload", time.monotonic()))
    report = client.wait(f"/imports/{uploaded['id']}")
    marks.append(("import", time.monotonic()))
    run = client.call("/runs", json.dumps({"collection": slug}).encode())
    memory = tree_memory(site.process.pid if site.process else 0)
    done = client.wait(f"/runs/{run['id']}")
    marks.append(("screening", time.monotonic()))
    options = ["--annotators", "jia,yi", "--arbitrators", "bing", "--limit", str(pairs)]
    said = manage(site, "open_round", str(run["id"]), "--name", "first", *options)
    marks.append(("round", time.monotonic()))
    number = said.strip().splitlines()[-1].removeprefix("round: ")
    claimed = Client(site, "jia").call(f"/rounds/{number}/claim", b"{}")
    marks.append(("first pair", time.monotonic()))
    print(f"import: {report['state']}; run: {done['state']}; first pair: item {claimed['item']}")
    for (_, before), (name, after) in pairwise(marks):
        print(f"  {name}: {after - before:.1f} s")
    total = marks[-1][1] - marks[0][1]
    verdict = "kept" if total <= HOLD else "NOT KEPT"
    print(f"HOLD upload to a queue, seconds on the wall: {total:.1f} (at most {HOLD:.0f}): {verdict}")
    print(f"  {memory:.0f} MB over all processes of the site when the run began")


def main() -> None:
    """Start the site, measure, stop it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=1000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        site = Site(ROOT, data)
        site.start()
        try:
            measure(site, args.folder / "documents.jsonl", args.pairs)
        finally:
            site.end()


if __name__ == "__main__":
    main()
