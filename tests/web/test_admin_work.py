"""The whole job in the browser, without a browser: what forms take, refuse and do when they are sent twice."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dedupreview import context, health
from dedupreview.people.models import AuditEvent, Person, Role
from reviews import judging
from reviews.models import LabelSet, ReviewItem, ReviewRound, ReviewTable, SignOff
from screening import importing
from screening.models import Collection, DocumentImport, ScreeningRun
from tests.web.site import HOSTILE, PASSWORD, Site


@pytest.fixture
def admin(site: Site) -> Any:
    return site.client(site.admin)


def text(response: Any) -> str:
    return str(response.content.decode())


# --- Collections and uploads ------------------------------------------------------------------------------------------


def test_a_collection_is_made_and_leads_to_its_upload(site: Site, admin: Any) -> None:
    answer = admin.post("/create-collection/", {"name": "市志 2025"})
    assert answer["Location"] == reverse("screening:upload", args=["市志-2025"])
    made = Collection.objects.get(slug="市志-2025")
    assert made.created_by == site.admin
    again = admin.post("/create-collection/", {"name": "市志 2025"})
    assert again.status_code == 200
    assert "已有这个短名的资料库" in text(again)
    assert Collection.objects.filter(name="市志 2025").count() == 1


def test_a_name_without_letters_asks_for_a_short_name(admin: Any) -> None:
    assert "请填写" in text(admin.post("/create-collection/", {"name": "……"}))


def upload(client: Any, site: Site, files: list[tuple[str, bytes]], **extra: Any) -> Any:
    parts = [SimpleUploadedFile(path.split("/")[-1], data) for path, data in files]
    data = {"files": parts, "path": [path for path, _data in files]}
    return client.post(reverse("screening:upload", args=[site.collection.slug]), data, **extra)


def test_a_folder_keeps_its_paths_and_its_report_names_every_file(site: Site, admin: Any) -> None:
    answer = upload(
        admin,
        site,
        [("甲/一.txt", "河堤公园闭园检修，开放时间另行通知。".encode()), ("甲/空.txt", b"")],
    )
    received = DocumentImport.objects.latest("pk")
    assert answer["Location"] == reverse("screening:import-detail", args=[received.pk])
    waiting = admin.get(answer["Location"])
    assert "等待中" in text(waiting)
    assert "hx-get" in text(waiting)
    assert admin.get(f"/imports/{received.pk}/progress/").status_code == 200
    importing.run_import(received.pk)
    assert admin.get(f"/imports/{received.pk}/progress/").status_code == 286
    planned = text(admin.get(answer["Location"]))
    assert "空.txt" in planned
    assert not site.collection.documents.filter(doc_id__endswith="一.txt").exists()
    confirmed = admin.post(reverse("screening:confirm-import", args=[received.pk]))
    assert confirmed["Location"] == answer["Location"]
    assert "hx-get" in text(admin.get(answer["Location"]))
    importing.run_import(received.pk)
    report = text(admin.get(answer["Location"]))
    assert "一.txt" in report
    assert "空.txt" in report
    assert "没有" in report  # why it was refused, in words
    assert site.collection.documents.filter(doc_id__endswith="一.txt").exists()
    refused = text(admin.get(answer["Location"] + "?status=refused"))
    assert "空.txt" in refused
    assert "一.txt" not in refused


def test_two_plausible_readings_are_shown_and_one_is_chosen(site: Site, admin: Any) -> None:
    upload(admin, site, [("短.txt", "00元".encode("gb18030"))])
    received = DocumentImport.objects.latest("pk")
    address = reverse("screening:import-detail", args=[received.pk])
    act = reverse("screening:confirm-import", args=[received.pk])
    importing.run_import(received.pk)
    page = text(admin.get(address))
    assert 'value="gb18030">按 GB18030 读取' in page
    assert 'value="utf-8">按 UTF-8 读取' in page
    assert "00元" in page
    assert "readings" not in text(site.client(site.auditor).get(address))
    admin.post(act, {"place": "短.txt", "encoding": "gb18030"})
    received.refresh_from_db()
    assert (received.state, received.confirmed) == ("queued", False)
    importing.run_import(received.pk)
    assert "readings" not in text(admin.get(address))
    admin.post(act)
    importing.run_import(received.pk)
    document = site.collection.documents.get(doc_id="短.txt")
    assert document.raw == "00元"
    shown = text(admin.get(reverse("screening:document-detail", args=[document.pk])))
    assert "按 GB18030 读取" in shown
    event = AuditEvent.objects.get(action="import.encoding_chosen")
    assert event.actor == site.admin


def test_ids_with_unseen_characters_show_them(site: Site, admin: Any) -> None:
    rows = '{"doc_id": "甲\u200b乙\u202e", "raw": "河堤公园闭园检修。"}\n'.encode()
    upload(admin, site, [("m.jsonl", rows)])
    received = DocumentImport.objects.latest("pk")
    importing.run_import(received.pk)
    report = text(admin.get(reverse("screening:import-detail", args=[received.pk])))
    assert "甲\u200b乙" not in report
    assert "U+200B" in report
    importing.confirm_import(row=received, actor=site.admin)
    importing.run_import(received.pk)
    listed = text(admin.get(reverse("screening:document-list", args=[site.collection.slug]) + "?q=乙"))  # fmt: skip
    assert "甲\u200b乙" not in listed
    assert "\u202e" not in listed.split("<table", 1)[1]


def test_the_upload_answers_scripts_in_json(site: Site, admin: Any) -> None:
    files = [("一.txt", "河堤公园闭园。".encode())]
    answer = upload(admin, site, files, headers={"accept": "application/json"})
    assert answer.json()["url"].startswith("/imports/")
    nothing = upload(admin, site, [], headers={"accept": "application/json"})
    assert nothing.status_code == 400
    assert "没有" in nothing.json()["detail"]


def test_an_upload_without_files_says_what_to_do(site: Site, admin: Any) -> None:
    answer = upload(admin, site, [])
    assert answer.status_code == 400
    assert 'role="alert"' in text(answer)
    assert DocumentImport.objects.count() == 1


def test_a_plain_form_without_paths_uses_the_names(site: Site, admin: Any) -> None:
    address = reverse("screening:upload", args=[site.collection.slug])
    admin.post(address, {"files": [SimpleUploadedFile("二.txt", "正文若干字。".encode())]})
    received = DocumentImport.objects.latest("pk")
    importing.run_import(received.pk)
    admin.post(reverse("screening:confirm-import", args=[received.pk]))
    importing.run_import(received.pk)
    assert site.collection.documents.filter(doc_id="二.txt").exists()


def test_an_upload_can_be_discarded_and_then_not_confirmed(site: Site, admin: Any) -> None:
    upload(admin, site, [("三.txt", "正文若干字。".encode())])
    received = DocumentImport.objects.latest("pk")
    importing.run_import(received.pk)
    address = reverse("screening:confirm-import", args=[received.pk])
    assert "放弃" in text(admin.post(address, {"discard": ""}, follow=True))
    admin.post(address)
    received.refresh_from_db()
    assert received.state == "discarded"
    assert not site.collection.documents.filter(doc_id="三.txt").exists()


# --- Runs -------------------------------------------------------------------------------------------------------------


def test_a_run_starts_once_however_often_the_form_is_sent(site: Site, admin: Any) -> None:
    address = reverse("screening:start-run", args=[site.collection.slug])
    first = admin.post(address, {"preset": "default"})
    second = admin.post(address, {"preset": "default"})
    assert first.status_code == second.status_code == 302
    assert first["Location"] == second["Location"]
    other = admin.post(address, {"preset": "default", "threshold": "0.7"})
    assert other["Location"] != first["Location"]
    assert ScreeningRun.objects.latest("pk").config["threshold"] == 0.7


@pytest.mark.parametrize(
    "sent", [{"preset": "none"}, {"preset": "default", "threshold": "NaN"}, {"preset": "default", "k": "900"}]
)  # fmt: skip
def test_what_cannot_run_is_refused_with_the_field(
    site: Site, admin: Any, sent: dict[str, str]
) -> None:
    before = ScreeningRun.objects.count()
    answer = admin.post(reverse("screening:start-run", args=[site.collection.slug]), sent)
    assert "errorlist" in text(answer)
    assert ScreeningRun.objects.count() == before


def test_an_empty_collection_is_not_screened(site: Site, admin: Any) -> None:
    Collection.objects.create(slug="bare", name="空库")
    answer = admin.post(reverse("screening:start-run", args=["bare"]), {"preset": "default"})
    assert 'role="alert"' in text(answer)


def test_a_waiting_run_is_watched_cancelled_and_retried(site: Site, admin: Any) -> None:
    address = reverse("screening:start-run", args=[site.collection.slug])
    page = admin.post(address, {"preset": "default"})["Location"]
    run = ScreeningRun.objects.latest("pk")
    assert f'hx-get="/runs/{run.pk}/progress/"' in text(admin.get(page))
    assert admin.get(f"/runs/{run.pk}/progress/").status_code == 200
    admin.post(f"/runs/{run.pk}/cancel/")
    run.refresh_from_db()
    assert run.state == ScreeningRun.State.CANCELLED
    assert admin.get(f"/runs/{run.pk}/progress/").status_code == 286
    admin.post(f"/runs/{run.pk}/cancel/")  # once more changes nothing
    admin.post(f"/runs/{run.pk}/retry/")
    assert ScreeningRun.objects.latest("pk").state == ScreeningRun.State.QUEUED


def test_a_failed_run_says_why(site: Site, admin: Any) -> None:
    ScreeningRun.objects.filter(pk=site.waiting_run.pk).update(state="failed", error="内存不足")
    page = text(admin.get(f"/runs/{site.waiting_run.pk}/"))
    assert "内存不足" in page
    assert "重试" in page


def test_the_banner_tells_when_nothing_runs(
    site: Site, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "后台未运行" not in text(admin.get("/workers"))
    for count in (0, None):
        monkeypatch.setattr(context, "workers_now", lambda count=count: count)
        assert "后台未运行" in text(admin.get("/workers"))
        page = text(admin.get(f"/runs/{site.waiting_run.pk}/"))
        assert "后台未运行" in page
        assert 'hx-trigger="every 2s"' in page


def test_the_number_of_workers_is_asked_at_most_every_two_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    counts = iter([1, 2, 3])
    now = [100.0]
    monkeypatch.setattr(context, "_workers", (float("-inf"), None))
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(health, "workers_seen", lambda: next(counts))
    assert [context.workers_now(), context.workers_now()] == [1, 1]
    now[0] += 2.5
    assert context.workers_now() == 2


# --- Rounds -----------------------------------------------------------------------------------------------------------


def choices(site: Site, **changes: Any) -> dict[str, Any]:
    return {
        "name": "复核",
        "annotators": [site.annotator.pk, site.second.pk],
        "arbitrators": [site.arbitrator.pk],
        "judgments": "2",
        "step": "preview",
    } | changes


def test_the_work_is_shown_before_anything_opens(site: Site, admin: Any) -> None:
    address = reverse("reviews:open-round", args=[site.run.pk])
    shown = text(admin.post(address, choices(site)))
    assert "确认并开启轮次" in shown
    assert "2 对 × 每对 2 个判断 × 45 秒" in shown
    assert ReviewRound.objects.count() == 1
    part = text(admin.post(address, choices(site), headers={"hx-request": "true"}))
    assert "<html" not in part
    assert "2 对 × 每对 2 个判断" in part


def test_a_round_opens_once_however_often_it_is_confirmed(site: Site, admin: Any) -> None:
    address = reverse("reviews:open-round", args=[site.run.pk])
    first = admin.post(address, choices(site, step="confirm"))
    second = admin.post(address, choices(site, step="confirm"))
    assert first["Location"] == second["Location"]
    opened = ReviewRound.objects.get(name="复核")
    assert opened.items.count() == 2
    assert "复核" in text(site.client(site.annotator).get("/"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"annotators": []}, "请选择由谁判断"),
        ({"arbitrators": []}, "请选择由谁仲裁"),
        ({"judgments": "3"}, "至少需要 3 人"),
        ({"judgments": "99"}, "errorlist"),
        ({"limit": "0"}, "errorlist"),
        ({"name": ""}, "errorlist"),
    ],
)
def test_a_round_that_cannot_work_says_why(
    site: Site, admin: Any, changes: dict[str, Any], words: str
) -> None:
    address = reverse("reviews:open-round", args=[site.run.pk])
    answer = admin.post(address, choices(site, step="confirm") | changes)
    assert words in text(answer)
    assert ReviewRound.objects.count() == 1


def test_nobody_judges_and_arbitrates_in_one_round(site: Site, admin: Any) -> None:
    address = reverse("reviews:open-round", args=[site.run.pk])
    both = choices(site, annotators=[site.annotator.pk, site.arbitrator.pk], step="confirm")
    assert "不能在同一轮次中既判断又仲裁" in text(admin.post(address, both))


def test_an_unfinished_run_has_no_round_to_open(site: Site, admin: Any) -> None:
    address = reverse("reviews:open-round", args=[site.waiting_run.pk])
    assert admin.get(address).status_code == 404


def test_a_new_guideline_is_sanitised_and_versioned(site: Site, admin: Any) -> None:
    address = reverse("reviews:guideline", args=[site.round.pk])
    admin.post(address, {"text": f"看日期。{HOSTILE}"})
    site.round.refresh_from_db()
    assert site.round.guideline_version == 2
    admin.post(address, {"text": f"看日期。{HOSTILE}"})  # unchanged: no third version
    site.round.refresh_from_db()
    assert site.round.guideline_version == 2
    page = text(site.client(site.annotator).get(address))
    assert "看日期" in page
    assert "<script>document" not in page
    assert "<textarea" not in page


def test_people_come_and_go_in_an_open_round(site: Site, admin: Any) -> None:
    address = reverse("reviews:change-members", args=[site.round.pk])
    page = admin.post(address, {"person": site.stranger.pk, "part": "annotator"}, follow=True)
    assert "已加入本轮" in text(page)
    assert "待我判断" in text(site.client(site.stranger).get("/"))
    page = admin.post(address, {"person": site.stranger.pk, "leave": "1"}, follow=True)
    assert "已退出本轮" in text(page)
    assert "待我判断" not in text(site.client(site.stranger).get("/"))
    page = admin.post(address, {"person": site.arbitrator.pk, "part": "annotator"}, follow=True)
    assert "message-error" in text(page)
    for junk in ({"person": "x"}, {"person": "9" * 30}, {"person": site.second.pk, "part": "boss"}):
        assert admin.post(address, junk).status_code == 404


def test_a_round_is_frozen_opened_and_closed_only_when_settled(site: Site, admin: Any) -> None:
    address = reverse("reviews:change-state", args=[site.round.pk])

    def state_after(sent: str) -> str:
        admin.post(address, {"state": sent})
        site.round.refresh_from_db()
        return site.round.state

    assert state_after("frozen") == "frozen"
    assert "开始审核" not in text(site.client(site.annotator).get("/"))
    assert state_after("open") == "open"
    assert state_after("closed") == "open"
    assert state_after("nonsense") == "open"


def test_conclusions_appear_with_the_closing(site: Site, admin: Any) -> None:
    from tests.reviews.world import claimed

    address = reverse("reviews:item-list", args=[site.round.pk])
    for who in (site.annotator, site.second):
        assert "label-copy" not in text(admin.get(address))
        slot = claimed(site.round, who)
        judging.submit(id=uuid.uuid4(), slot=slot, person=who, label="copy")
    assert "label-copy" in text(admin.get(address))
    assert "建议合并检索入口" in text(admin.get(address + "?state=closed"))
    assert "label-copy" not in text(admin.get(address + "?state=open"))
    again = choices(site, step="preview", name="再来")
    where = reverse("reviews:open-round", args=[site.run.pk])
    assert "1 对 × 每对 2 个判断" in text(admin.post(where, again))
    assert "2 对 × 每对 2 个判断" in text(admin.post(where, again | {"again": "on"}))


# --- Blindness --------------------------------------------------------------------------------------------------------


def test_admins_learn_nothing_of_a_judgment_of_an_open_item(site: Site, admin: Any) -> None:
    from reviews import judging
    from tests.reviews.world import claimed

    slot = claimed(site.round, site.annotator)
    before = {name: text(admin.get(address)) for name, address in site.addresses().items()
              if name.startswith(("reviews:round", "reviews:item")) or name in {"home", "audit"}}  # fmt: skip
    judging.submit(
        id=uuid.uuid4(), slot=slot, person=site.annotator, label="template", reason_code="same_form",
        reason="只有我知道的理由",
    )  # fmt: skip
    judged = slot.item
    judged.refresh_from_db()
    assert judged.state == ReviewItem.State.WAITING
    for name in before:
        page = text(admin.get(site.addresses()[name]))
        for word in ("只有我知道的理由", "same_form", "模板", "template"):
            assert page.count(word) == before[name].count(word), (name, word)


def test_annotators_see_only_their_own_progress(site: Site) -> None:
    from reviews import judging
    from tests.reviews.world import claimed

    slot = claimed(site.round, site.annotator)
    judging.submit(id=uuid.uuid4(), slot=slot, person=site.annotator, label="copy")
    assert "共 2 对，你已判断 1 对" in text(site.client(site.annotator).get("/"))
    assert "共 2 对，你已判断 0 对" in text(site.client(site.second).get("/"))


# --- Label sets -------------------------------------------------------------------------------------------------------


def test_labels_are_looked_through_first_and_stored_once(site: Site, admin: Any) -> None:
    address = reverse("reviews:upload-labels", args=[site.collection.pk])
    one, other = site.documents[2:4]
    data = f'left,right,label\n"{one.doc_id}","{other.doc_id}",1\n无此文,x,1\n'.encode()
    shown = admin.post(address, {"name": "甲馆", "file": SimpleUploadedFile("标注.csv", data)})
    assert "尚未保存任何内容" in text(shown)
    assert "无此文" in text(shown)
    assert not LabelSet.objects.filter(name="甲馆").exists()
    hidden = {"name": "甲馆", "filename": "标注.csv", "sha256": shown.context["sha256"]}
    first = admin.post(address, hidden)
    second = admin.post(address, hidden)
    stored = LabelSet.objects.get(name="甲馆")
    assert first["Location"] == second["Location"] == f"/label-sets/{stored.pk}/"
    assert stored.rows.count() == 1
    assert "副本" in text(admin.get(first["Location"]))


@pytest.mark.parametrize("digest", ["", "0" * 64, "../../db.sqlite3", "x" * 64])
def test_a_label_file_that_is_no_longer_here_is_asked_for_again(
    site: Site, admin: Any, digest: str
) -> None:
    address = reverse("reviews:upload-labels", args=[site.collection.pk])
    answer = admin.post(address, {"name": "甲", "filename": "x.csv", "sha256": digest}, follow=True)
    assert "请重新选择" in text(answer)
    assert LabelSet.objects.count() == 1


def test_an_unreadable_label_file_says_what_is_missing(site: Site, admin: Any) -> None:
    address = reverse("reviews:upload-labels", args=[site.collection.pk])
    answer = admin.post(address, {"name": "乙", "file": SimpleUploadedFile("x.csv", b"a,b\n1,2\n")})
    assert "errorlist" in text(answer)
    assert "left" in text(answer)


# --- Tables and signatures --------------------------------------------------------------------------------------------


def test_a_table_is_asked_for_once_at_a_time(site: Site, admin: Any) -> None:
    address = reverse("reviews:export-table", args=[site.round.pk])
    first = admin.post(address)
    second = admin.post(address)
    assert first["Location"] == second["Location"]
    assert ReviewTable.objects.filter(round=site.round).count() == 2  # one was there
    page = first["Location"]
    assert "hx-get" in text(admin.get(page))
    assert admin.get(page, headers={"hx-request": "true"}).status_code == 200
    from reviews.tables import run_table

    run_table(ReviewTable.objects.latest("pk").pk)
    done = admin.get(page, headers={"hx-request": "true"})
    assert done.status_code == 286
    assert "下载" in text(done)


def test_signing_wants_the_password_and_a_finished_stage(site: Site, admin: Any) -> None:
    address = reverse("reviews:sign-off", args=[site.round.pk])
    sent = {"stage": "annotation", "meaning": "标注已完成", "password": PASSWORD}
    wrong = admin.post(address, sent | {"password": "no"})
    assert "errorlist" in text(wrong)
    early = admin.post(address, sent)
    assert "尚需完成" in text(early)
    assert not SignOff.objects.exists()


# --- People -----------------------------------------------------------------------------------------------------------


def test_a_person_is_added_and_can_sign_in(site: Site, admin: Any) -> None:
    sent = {
        "username": "王芳",
        "first_name": "王芳",
        "role": "annotator",
        "password": "h8-kettle-月",
    }
    assert admin.post("/people/add/", sent)["Location"] == "/people/"
    again = admin.post("/people/add/", sent)
    assert "已有人使用" in text(again)
    person = Person.objects.get(username="王芳")
    assert person.check_password("h8-kettle-月")
    event = AuditEvent.objects.get(action="person.added")
    assert event.subject_id == person.code
    assert "kettle" not in str(event.data)


def test_a_weak_password_is_refused(admin: Any) -> None:
    sent = {"username": "li", "role": "annotator", "password": "123"}
    assert "errorlist" in text(admin.post("/people/add/", sent))
    assert not Person.objects.filter(username="li").exists()


def test_a_role_changes_and_an_account_closes(site: Site, admin: Any) -> None:
    address = reverse("edit-person", args=[site.second.pk])
    admin.post(address, {"first_name": "乙", "role": "auditor"})
    site.second.refresh_from_db()
    assert (site.second.role, site.second.is_active) == (Role.AUDITOR, False)
    assert site.second.check_password(PASSWORD)
    assert AuditEvent.objects.filter(action="person.changed").count() == 1


def test_an_admin_cannot_lock_themselves_out(site: Site, admin: Any) -> None:
    address = reverse("edit-person", args=[site.admin.pk])
    for sent in ({"role": "annotator", "is_active": "on"}, {"role": "admin"}):
        assert "不能取消自己的管理员角色" in text(admin.post(address, sent))
    site.admin.refresh_from_db()
    assert site.admin.is_active
    assert site.admin.role == Role.ADMIN


def test_people_change_their_own_password(site: Site) -> None:
    client = site.client(site.annotator)
    sent = {
        "old_password": PASSWORD,
        "new_password1": "h8-kettle-月",
        "new_password2": "h8-kettle-月",
    }
    assert client.post("/password", sent)["Location"] == "/"
    assert client.get("/").status_code == 200  # still signed in
    site.annotator.refresh_from_db()
    assert site.annotator.check_password("h8-kettle-月")


def test_too_many_wrong_passwords_are_answered_in_words(
    site: Site, client: Any, settings: Any
) -> None:
    settings.AXES_ENABLED = True
    settings.AUTHENTICATION_BACKENDS = [
        "axes.backends.AxesStandaloneBackend",
        "django.contrib.auth.backends.ModelBackend",
    ]
    for _attempt in range(settings.AXES_FAILURE_LIMIT):
        answer = client.post("/login", {"username": "annotator", "password": "no"})
    assert answer.status_code == 429
    assert "十分钟后再用" in text(answer)
    right = client.post("/login", {"username": "annotator", "password": PASSWORD})
    assert right.status_code == 429


def test_signing_in_leads_home_and_out_to_the_login(site: Site, client: Any) -> None:
    wrong = client.post("/login", {"username": "admin", "password": "no"})
    assert "用户名与密码不符" in text(wrong)
    right = client.post("/login", {"username": "admin", "password": PASSWORD, "next": "/people/"})
    assert right["Location"] == "/people/"
    outside = client.post(
        "/login?next=https://evil.example/", {"username": "admin", "password": PASSWORD}
    )
    assert outside["Location"] == "/"
    assert client.post("/logout")["Location"] == "/login"


# --- First page -------------------------------------------------------------------------------------------------------


def test_the_first_page_leads_an_admin_from_nothing(db: None, data_dir: Path, client: Any) -> None:
    admin = Person.objects.create_user(username="root", role=Role.ADMIN)
    client.force_login(admin)
    page = text(client.get("/"))
    assert page.count('aria-current="step"') == 1
    assert "新建资料库" in page
    Collection.objects.create(slug="new", name="新库")
    assert reverse("screening:upload", args=["new"]) in text(client.get("/"))


def test_somebody_without_work_is_told_so(site: Site) -> None:
    assert "目前没有待办" in text(site.client(site.stranger).get("/"))


def test_a_form_that_came_too_late_is_explained(site: Site) -> None:
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(site.admin)
    answer = client.post("/create-collection/", {"name": "x"})
    assert answer.status_code == 403
    assert "表单已过期" in text(answer)
