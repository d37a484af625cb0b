"""The pages in a real Chromium: nothing inaccessible, nothing sticking out, scripts alive under the strict policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from dedupreview.people.models import Person
from reviews.models import ReviewRound
from screening import importing
from screening.models import DocumentImport, ScreeningRun
from tests.web.site import DOWNLOADS, PARTS, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

@pytest.fixture
def live(transactional_db: None, data_dir: Path, tmp_path: Path, live_server: Any) -> Any:
    live_server.site = Site(tmp_path)
    return live_server


def sign_in(page: Page, live: Any, who: Person) -> None:
    cookie = live.site.client(who).cookies["dedupreview_session"].value
    page.context.add_cookies(
        [{"name": "dedupreview_session", "value": cookie, "url": live.url, "httpOnly": True}]
    )


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_every_page_is_accessible_and_fits(
    browser: Browser, live: Any, scheme: Any, width: int
) -> None:
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 800}, locale="zh-CN"
    )
    page = context.new_page()
    sign_in(page, live, live.site.admin)
    axe = Axe()
    wrong: list[object] = []
    for name, address in live.site.addresses().items():
        if name in PARTS | DOWNLOADS:
            continue
        page.goto(live.url + address)
        found = axe.run(page).response["violations"]
        wrong += [(name, rule["id"], rule["nodes"][0]["html"][:200]) for rule in found]
        excess = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if excess > 0:
            wrong.append((name, "sticks out", excess))
    context.close()
    assert wrong == []


def test_the_login_is_reached_and_passed_by_keyboard(page: Page, live: Any) -> None:
    page.goto(live.url + "/people/")
    page.keyboard.type("admin")
    page.keyboard.press("Tab")
    page.keyboard.type("correct horse battery staple")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.endswith("/people/") and "login" not in url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "跳到正文"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_folder_goes_up_with_its_paths(page: Page, live: Any, tmp_path: Path) -> None:
    sign_in(page, live, live.site.admin)
    folder = tmp_path / "通知"
    (folder / "二月").mkdir(parents=True)
    (folder / "一.txt").write_text("河堤公园闭园检修，开放时间另行通知。", encoding="utf-8")
    (folder / "二月" / "二.txt").write_text("图书馆夜读区自本周起试运行。", encoding="utf-8")
    page.goto(live.url + f"/collections/{live.site.collection.slug}/upload/")
    page.locator("#folder").set_input_files(str(folder))
    assert "已选 2 个文件" in (page.locator("#chosen").text_content() or "")
    page.get_by_role("button", name="上传", exact=True).click()
    page.wait_for_url("**/imports/*/")
    received = DocumentImport.objects.latest("pk")
    page.wait_for_selector(".state-queued")
    importing.run_import(received.pk)
    page.get_by_role("button", name="确认导入 2 份材料").click()  # the page noticed by itself
    page.wait_for_selector(".state-queued")
    importing.run_import(received.pk)
    page.wait_for_selector(".state-done")
    ids = set(live.site.collection.documents.values_list("doc_id", flat=True))
    assert any(doc_id.endswith("二月/二.txt") for doc_id in ids)


def test_nothing_chosen_is_said_at_once(page: Page, live: Any) -> None:
    sign_in(page, live, live.site.admin)
    page.goto(live.url + f"/collections/{live.site.collection.slug}/upload/")
    page.get_by_role("button", name="上传", exact=True).click()
    assert "请先选择" in (page.locator("#upload-error").text_content() or "")
    assert page.evaluate("document.activeElement.id") == "upload-error"


def test_the_work_appears_as_people_are_chosen(page: Page, live: Any) -> None:
    sign_in(page, live, live.site.admin)
    page.goto(live.url + f"/rounds/open/{live.site.run.pk}/")
    for box in ("annotator", "second"):
        page.get_by_role("group", name="由谁判断").get_by_label(box).check()
    page.get_by_role("group", name="由谁仲裁").get_by_label("arbitrator").check()
    page.get_by_role("button", name="确认并开启轮次").click()
    page.wait_for_url("**/rounds/*/")
    assert ReviewRound.objects.count() == 2


def test_a_run_is_watched_until_it_is_over(page: Page, live: Any) -> None:
    sign_in(page, live, live.site.admin)
    run = live.site.waiting_run
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(live.url + f"/runs/{run.pk}/")
    ScreeningRun.objects.filter(pk=run.pk).update(
        state="running", stage="sign", progress_done=5, progress_total=10
    )
    page.wait_for_selector("text=5 / 10")
    ScreeningRun.objects.filter(pk=run.pk).update(state="failed", error="内存不足")
    page.wait_for_selector("text=内存不足")
    polls = len([url for url in asked if url.endswith("/progress/")])
    page.wait_for_timeout(3000)
    assert len([url for url in asked if url.endswith("/progress/")]) == polls
    page.get_by_role("button", name="重试").is_visible()


def test_a_hostile_text_runs_nothing(page: Page, live: Any) -> None:
    sign_in(page, live, live.site.admin)
    dialogs: list[str] = []

    def opened(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", opened)
    for name in ("screening:document-detail", "screening:candidate-detail", "reviews:round-detail"):
        page.goto(live.url + live.site.addresses()[name])
        assert page.title() != "x"
        assert page.locator("img").count() == 0
    assert dialogs == []
