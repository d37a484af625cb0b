"""The whole job once, on real input: upload, background screening, blind judging, arbitration, a table that verifies.

Everything is real: `up` with its queue server and workers, Chromium, ssh-keygen and sha256sum.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import ready
from tests.servers import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PASSWORD = "一个足够长的密码-77"
PEOPLE = {"zhu": "admin", "jia": "annotator", "yi": "annotator", "bing": "arbitrator"}
PATIENCE = 180_000
"""Milliseconds that a background job may take on a busy machine."""


def manage(site: Site, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(site.root / "manage.py"), *arguments],
        env=site.environment(),
        input=given,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture
def site(whole_site: Site) -> Site:
    whole_site.start()
    for name, role in PEOPLE.items():
        done = manage(
            whole_site, "add_user", name, "--role", role, "--password-stdin", given=f"{PASSWORD}\n"
        )
        assert done.returncode == 0, done.stderr
    return whole_site


@pytest.fixture
def public(shared: Path, tmp_path: Path) -> Path:
    """What a person would upload: the list of documents and the files that it names."""
    source = shared / "corpora" / "public"
    if not source.is_dir():
        pytest.skip("the public corpus was not found (DEDUPREVIEW_SHARED)")
    folder = tmp_path / "public"
    folder.mkdir()
    shutil.copy(source / "documents.jsonl", folder)
    shutil.copytree(source / "docs", folder / "docs")
    return folder


class Desk:
    """One browser in which people take turns."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page = page
        self.site = site

    def sign_in(self, name: str) -> None:
        self.page.context.clear_cookies()
        self.page.goto(f"{self.site.url}/login")
        self.page.fill("#id_username", name)
        self.page.fill("#id_password", PASSWORD)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(lambda url: "/login" not in url)

    def upload(self, folder: Path) -> None:
        self.page.goto(f"{self.site.url}/create-collection/")
        self.page.fill("[name=name]", "公开样本")
        self.page.fill("[name=slug]", "public")
        self.page.click("main form button.button-primary")
        self.page.goto(f"{self.site.url}/collections/public/upload/")
        self.page.set_input_files("#folder", str(folder))
        self.page.click("main form button.button-primary")
        self.page.wait_for_url("**/imports/*/", timeout=PATIENCE)
        self.page.click("#confirm-import button[name=confirm]", timeout=PATIENCE)
        self.page.wait_for_selector("#live .state-done", timeout=PATIENCE)

    def screen(self) -> str:
        self.page.goto(f"{self.site.url}/collections/public/screen/")
        self.page.click("main form button.button-primary")
        self.page.wait_for_url("**/runs/*/")
        self.page.wait_for_selector("#live .state-done", timeout=PATIENCE)
        found = re.search(r"/runs/(\d+)/", self.page.url)
        assert found
        return found[1]

    def open_round(self, run: str, pairs: int) -> str:
        self.page.goto(f"{self.site.url}/rounds/open/{run}/")
        self.page.fill("[name=name]", "第一轮")
        for field, names in (("annotators", ("jia", "yi")), ("arbitrators", ("bing",))):
            for name in names:
                self.page.locator(f"label:has([name={field}])", has_text=name).locator(
                    "input"
                ).check()
        self.page.locator("summary").click()
        self.page.fill("[name=limit]", str(pairs))
        self.page.keyboard.press("Tab")
        self.page.click("button[name=step][value=confirm]")
        self.page.wait_for_url("**/rounds/*/")
        found = re.search(r"/rounds/(\d+)/", self.page.url)
        assert found
        return found[1]

    def judge(self, round_id: str, answers: list[list[str]]) -> None:
        self.page.goto(f"{self.site.url}/rounds/{round_id}/next/")
        if "/items/" not in self.page.url:
            self.page.locator("main form button").first.click()
        self.page.wait_for_url("**/items/*/")
        for keys in answers:
            ready(self.page)
            for key in keys:
                self.page.keyboard.press(key)
            with self.page.expect_navigation():
                self.page.keyboard.press("Control+Enter")

    def arbitrate(self, round_id: str) -> None:
        self.page.goto(f"{self.site.url}/rounds/{round_id}/conflicts/")
        self.page.locator("main a.button-primary").first.click()
        self.page.wait_for_url("**/arbitration/")
        ready(self.page)
        assert not self.page.locator(".cards .card").count(), "originals before the own opinion"
        self.page.keyboard.press("4")
        with self.page.expect_navigation():
            self.page.keyboard.press("Control+Enter")
        ready(self.page)
        self.page.keyboard.press("4")
        self.page.locator("textarea[name=reason]").fill("格式相同，内容各异")
        with self.page.expect_navigation():
            self.page.keyboard.press("Control+Enter")

    def export(self, round_id: str, target: Path) -> Path:
        self.page.goto(f"{self.site.url}/rounds/{round_id}/")
        self.page.locator(f"form[action='/rounds/{round_id}/tables/'] button").click()
        self.page.wait_for_url("**/tables/*/")
        link = self.page.locator("a[href$='/download/']").first
        link.wait_for(timeout=PATIENCE)
        with self.page.expect_download() as download:
            link.click()
        download.value.save_as(target / "table.zip")
        with zipfile.ZipFile(target / "table.zip") as archive:
            archive.extractall(target / "unpacked")
        (manifest,) = (target / "unpacked").rglob("manifest.json")
        return manifest.parent


@pytest.fixture
def desk(browser: Browser, site: Site) -> Iterator[Desk]:
    context = browser.new_context(locale="zh-CN", viewport={"width": 1366, "height": 900})
    context.set_default_timeout(30_000)
    yield Desk(context.new_page(), site)
    context.close()


def stranger_verifies(table: Path) -> bool:
    """What VERIFY.md tells a stranger to do, with nothing of ours."""
    signed = subprocess.run(
        "ssh-keygen -Y verify -f allowed_signers -I dedupreview -n review-table -s SHA256SUMS.sig".split(),
        cwd=table,
        stdin=(table / "SHA256SUMS").open("rb"),
        capture_output=True,
        check=False,
    )
    sums = subprocess.run(
        ["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=table, capture_output=True, check=False
    )
    return signed.returncode == 0 and sums.returncode == 0


FLAGGED = ["c"]
"""One key that ticks every flagged fact; it does nothing where none is flagged."""


def test_from_upload_to_a_table_that_verifies(
    desk: Desk, site: Site, public: Path, tmp_path: Path
) -> None:
    desk.sign_in("zhu")
    desk.upload(public)
    run = desk.screen()
    command = manage(site, "screen", str(public), "--out", str(tmp_path / "out"))
    assert command.returncode == 0, command.stderr
    (folder,) = {path.parent for path in site.data_dir.glob("runs/**/candidates.jsonl")}
    for name in (
        "candidates.jsonl",
        "normalized.jsonl",
        "originals.csv",
        "review_table.csv",
        "run.json",
    ):
        assert (folder / name).read_bytes() == (tmp_path / "out" / name).read_bytes(), name
    round_id = desk.open_round(run, 3)

    # Agreement, agreement, conflict.
    desk.sign_in("jia")
    desk.judge(round_id, [["1", *FLAGGED], ["1", *FLAGGED], ["4", *FLAGGED]])
    desk.sign_in("yi")
    desk.judge(round_id, [["1", *FLAGGED], ["1", *FLAGGED], ["1", *FLAGGED]])
    desk.sign_in("bing")
    desk.arbitrate(round_id)

    desk.sign_in("zhu")
    table = desk.export(round_id, tmp_path)
    assert len((table / "judgments.jsonl").read_text(encoding="utf-8").splitlines()) == 6
    assert len((table / "arbitrations.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert stranger_verifies(table)
    assert manage(site, "verify_table", str(table)).returncode == 0

    final = table / "final.csv"
    data = bytearray(final.read_bytes())
    data[len(data) // 2] ^= 1
    final.chmod(0o644)
    final.write_bytes(bytes(data))
    assert not stranger_verifies(table)
    told = manage(site, "verify_table", str(table))
    assert told.returncode == 2
    assert "final.csv" in told.stdout + told.stderr
