"""The pictures of the guides, taken from the demo: ``python -m tests.docs.screenshots`` writes docs/img/*.png.

Needs Chromium. The pictures are few and below 150 kB each, so that a clone stays small; run it again when a page that the guides
show has changed, and look at what changed before committing.
"""

from __future__ import annotations

import base64
import json
import shutil
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.servers import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "img"
COLOURS = 64
MOST_BYTES = 150_000
PATIENCE = 120_000


PIXELS = """async (png) => {
  const picture = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  canvas.drawImage(picture, 0, 0);
  const data = canvas.getImageData(0, 0, picture.width, picture.height).data;
  let text = "";
  for (let at = 0; at < data.length; at += 4) text += String.fromCharCode(data[at], data[at + 1], data[at + 2]);
  return [picture.width, picture.height, btoa(text)];
}"""
"""The colours of a picture, read by the browser."""


def with_few_colours(png: bytes, browser: Page) -> bytes:
    """The picture as an indexed PNG of its most frequent colours; the others become their nearest."""
    width, height, text = browser.evaluate(PIXELS, base64.b64encode(png).decode())
    rgb = np.frombuffer(base64.b64decode(text), dtype=np.uint8).reshape(-1, 3)
    key = rgb.astype(np.int64) @ (65536, 256, 1)
    values, index, counts = np.unique(key, return_inverse=True, return_counts=True)
    palette = values[np.argsort(-counts)[:COLOURS]]
    split = np.stack([values >> 16, values >> 8 & 255, values & 255], axis=1)
    chosen = np.stack([palette >> 16, palette >> 8 & 255, palette & 255], axis=1)
    nearest = ((split[:, None, :] - chosen[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
    rows = nearest[index].astype(np.uint8).reshape(height, width)
    lines = np.insert(rows, 0, 0, axis=1).tobytes()  # before each line: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"PLTE", chosen.astype(np.uint8).tobytes()), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]  # fmt: skip
    made = [
        struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


class Camera:
    """One browser on the demo in which people take turns; pictures go to :data:`FOLDER`."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site = page, site
        self.dark_room = page.context.new_page()
        rows = json.loads((site.data_dir / "demo_logins.json").read_text(encoding="utf-8"))
        self.passwords = {row["name"]: row["password"] for row in rows}

    def sign_in(self, name: str) -> None:
        self.page.context.clear_cookies()
        self.go("/login")
        self.page.fill("#id_username", name)
        self.page.fill("#id_password", self.passwords[name])
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(lambda url: "/login" not in url)

    def go(self, path: str) -> None:
        self.page.goto(self.site.url + path)

    def take(self, name: str) -> None:
        path = FOLDER / f"{name}.png"
        self.page.wait_for_timeout(300)
        path.write_bytes(with_few_colours(self.page.screenshot(), self.dark_room))
        size = path.stat().st_size
        assert size < MOST_BYTES, (name, size)
        print(f"{path.relative_to(ROOT)} {size // 1000} kB")

    def claim(self) -> None:
        self.go("/")
        self.page.locator("form[action$='/next/'] button").first.click()
        self.page.wait_for_url("**/items/*/")
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def answer(self, *keys: str) -> None:
        for key in (*keys, "c"):
            self.page.keyboard.press(key)
        with self.page.expect_navigation():
            self.page.keyboard.press("Control+Enter")


def wait_for_the_round(camera: Camera) -> None:
    camera.sign_in("jia")
    for _ in range(120):
        camera.go("/")
        if camera.page.locator("form[action$='/next/']").count():
            return
        camera.page.wait_for_timeout(1000)
    raise RuntimeError("the demo round did not open")


def take_all(camera: Camera) -> None:
    wait_for_the_round(camera)
    camera.take("home-annotator")
    camera.claim()
    camera.page.keyboard.press("2")
    camera.take("pair")
    camera.page.keyboard.press("1")
    camera.answer()
    camera.ready()
    camera.answer("2")
    camera.sign_in("yi")
    camera.claim()
    camera.answer("2")
    camera.ready()
    camera.answer("2")
    camera.sign_in("bing")
    camera.go("/")
    camera.page.locator("a[href$='/conflicts/']").first.click()
    camera.page.locator("main a.button-primary").first.click()
    camera.page.wait_for_url("**/arbitration/")
    camera.ready()
    camera.answer("1")
    camera.ready()
    camera.take("arbitration")
    camera.sign_in("admin")
    camera.go("/")
    camera.take("home-admin")
    camera.go("/runs/1/")
    camera.page.wait_for_selector("#live .state-done", timeout=PATIENCE)
    camera.take("run")
    camera.go("/rounds/1/")
    camera.take("round")
    camera.sign_in("shen")
    camera.go("/tables/verify/")
    camera.take("verify")


def main() -> int:
    from playwright.sync_api import sync_playwright

    chromium = next((p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None)  # fmt: skip
    if chromium is None:
        print("Chromium was not found", file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ddr-") as folder, sync_playwright() as playwright:
        site = Site(root=ROOT, data_dir=Path(folder) / "data")
        try:
            site.start("--workers", "1")
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            context = browser.new_context(
                locale="zh-CN", viewport={"width": 1100, "height": 760}, reduced_motion="reduce"
            )
            context.set_default_timeout(30_000)
            take_all(Camera(context.new_page(), site))
            browser.close()
        finally:
            site.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
