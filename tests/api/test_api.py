"""The JSON API: the same functions, permissions and blindness as the pages."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from dedupreview.people import tokens
from dedupreview.people.models import Person
from reviews.models import Judgment, ReviewItem, ReviewTable
from tests.reviews.world import World, collection, documents, person, world

pytestmark = pytest.mark.django_db


class Caller:
    """A client of the API with one person's key."""

    def __init__(self, who: Person | None, key: str = "") -> None:
        self.client = Client()
        if who is not None:
            key = tokens.issue(person=who)
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/v1{path}", headers=self.headers)

    def post(self, path: str, **data: Any) -> Any:
        return self.client.post(
            f"/api/v1{path}",
            json.dumps(data),
            content_type="application/json",
            headers=self.headers,
        )


def claim(caller: Caller, w: World) -> dict[str, Any]:
    answer = caller.post(f"/rounds/{w.round.pk}/claim")
    assert answer.status_code == 200, answer.content
    seat: dict[str, Any] = answer.json()
    return seat


def judge(caller: Caller, seat: dict[str, Any], label: str, **extra: Any) -> Any:
    extra.setdefault("id", str(uuid.uuid4()))
    return caller.post(f"/items/{seat['item']}/judgments", slot=seat["slot"], label=label, **extra)


def test_a_name_and_password_are_exchanged_for_a_key_that_works() -> None:
    who = person("lin")
    who.set_password("长长的密码-1234")
    who.save()
    anonymous = Caller(None)
    assert (
        anonymous.post("/tokens", username="lin", password="错").json()["code"] == "bad_credentials"
    )
    answer = anonymous.post("/tokens", username="lin", password="长长的密码-1234")
    key = answer.json()["token"]
    assert Caller(None, key).get("/rounds").json() == {"rounds": []}
    tokens.revoke_all(person=who)
    assert Caller(None, key).get("/rounds").status_code == 401


def test_without_a_valid_key_every_route_answers_401_in_json() -> None:
    schema = Caller(None).get("/openapi.json").json()
    assert len(schema["paths"]) > 10
    for path, operations in schema["paths"].items():
        for verb in operations:
            if path.endswith("/tokens"):
                continue
            place = path.replace("{slug}", "x")
            for name in ("round_id", "item_id", "slot_id", "run_id", "table_id", "import_id"):
                place = place.replace(f"{{{name}}}", "1")
            answer = getattr(Client(), verb)(place, headers={"Authorization": "Bearer ddr_nothing"})
            assert answer.status_code == 401, (verb, path)
            assert set(answer.json()) == {"detail", "code"}


def test_two_people_judge_alike_and_the_item_is_open_to_them_only_once_closed() -> None:
    w = world()
    a, b = (Caller(one) for one in w.annotators[:2])
    first = claim(a, w)
    assert claim(a, w)["slot"] == first["slot"], "the live seat comes back"
    assert set(first) == {"item", "slot", "lease_expires_at", "left", "right", "evidence"}
    assert first["left"]["raw"]
    assert first["evidence"]["scores"] is None
    same = str(uuid.uuid4())
    assert judge(a, first, "copy", id=same, kept="left").status_code == 201
    assert judge(a, first, "copy", id=same, kept="left").status_code == 200
    assert Judgment.objects.count() == 1
    second = claim(b, w)
    open_view = b.get(f"/items/{second['item']}").json()
    assert open_view["judgments"] == []
    assert open_view["state"] == "open"
    assert judge(b, second, "copy", kept=second["left"]["doc_id"]).status_code == 201
    closed = b.get(f"/items/{second['item']}").json()
    assert closed["state"] == "closed"
    assert len(closed["judgments"]) == 2
    assert closed["outcome"]["label"] == "copy"
    assert closed["outcome"]["kept"] == second["left"]["doc_id"]
    assert a.post(f"/rounds/{w.round.pk}/claim").status_code == 204


def test_a_conflict_goes_through_opinion_originals_and_decision() -> None:
    w = world()
    a, b = (Caller(one) for one in w.annotators[:2])
    arbitrator = Caller(w.arbitrators[0])
    seat = claim(a, w)
    judge(a, seat, "copy")
    judge(b, claim(b, w), "revision", direction="left_first", reason="第三条数字不同")
    item = seat["item"]
    assert arbitrator.get(f"/rounds/{w.round.pk}/conflicts").json() == {"items": [{"item": item}]}
    assert a.get(f"/rounds/{w.round.pk}/conflicts").status_code == 404
    before = arbitrator.get(f"/items/{item}")
    assert "第三条数字不同" not in before.content.decode()
    reveal = arbitrator.post(f"/items/{item}/opinions", id=str(uuid.uuid4()), label="revision")
    assert reveal.status_code == 200, reveal.content
    assert reveal.json()["conflict"] == "label"
    based_on = [one["id"] for one in reveal.json()["originals"]]
    assert len(based_on) == 2
    decision = {
        "id": str(uuid.uuid4()),
        "label": "revision",
        "direction": "left_first",
        "reason": "数字确有变化",
        "based_on": based_on,
        "cause_code": "overlooked",
    }
    answer = arbitrator.post(f"/items/{item}/arbitrations", **decision)
    assert answer.status_code == 201
    assert answer.json()["saw_originals"] is True
    assert arbitrator.post(f"/items/{item}/arbitrations", **decision).status_code == 200
    late = arbitrator.post(
        f"/items/{item}/arbitrations", id=str(uuid.uuid4()), label="copy", reason="改判"
    )
    assert late.status_code == 409
    assert late.json()["code"] == "decided_meanwhile"
    assert ReviewItem.objects.get(pk=item).state == "closed"


def test_a_decision_needs_no_opinion_but_says_so() -> None:
    w = world()
    a, b = (Caller(one) for one in w.annotators[:2])
    seat = claim(a, w)
    judge(a, seat, "copy")
    judge(b, claim(b, w), "template")
    answer = Caller(w.arbitrators[0]).post(
        f"/items/{seat['item']}/arbitrations",
        id=str(uuid.uuid4()),
        label="template",
        reason="同一格式",
    )
    assert answer.status_code == 201
    assert answer.json()["saw_originals"] is False


def test_strangers_and_nonsense_ids_get_404_and_change_nothing() -> None:
    w = world()
    stranger = Caller(person("stranger"))
    item, round_ = w.items[0].pk, w.round.pk
    slot = w.items[0].slots.first()
    for path in (
        f"/items/{item}",
        f"/rounds/{round_}/conflicts",
        "/items/x",
        "/items/99999999999999999999",
    ):
        assert stranger.get(path).status_code == 404, path
    for path, data in (
        (f"/rounds/{round_}/claim", {}),
        (
            f"/items/{item}/judgments",
            {"id": str(uuid.uuid4()), "slot": str(slot and slot.pk), "label": "copy"},
        ),
        (f"/rounds/{round_}/tables", {}),
        ("/runs", {"collection": w.run.collection.slug}),
    ):
        assert stranger.post(path, **data).status_code == 404, path
    assert not Judgment.objects.exists()
    assert not ReviewTable.objects.exists()


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"label": "Copy"}, 400),
        ({"id": "no-uuid"}, 422),
        ({"label": "copy", "direction": "left_first"}, 400),
        ({"label": "undecided"}, 400),
        ({"label": "copy", "kept": "nobody"}, 400),
        ({"slot": "999999"}, 404),
    ],
)
def test_what_does_not_fit_is_refused_in_words(changes: dict[str, Any], status: int) -> None:
    w = world()
    caller = Caller(w.annotators[0])
    seat = claim(caller, w)
    data = {"id": str(uuid.uuid4()), "slot": seat["slot"], "label": "copy", **changes}
    answer = caller.post(f"/items/{seat['item']}/judgments", **data)
    assert answer.status_code == status, answer.content
    assert answer.json()["detail"]
    assert answer.json()["code"]
    assert not Judgment.objects.exists()


def test_a_released_seat_is_free_for_others() -> None:
    w = world(seats=1)
    a, b = (Caller(one) for one in w.annotators[:2])
    seat = claim(a, w)
    assert b.post(f"/rounds/{w.round.pk}/claim").status_code == 204
    assert a.post(f"/slots/{seat['slot']}/release", how="gone").status_code == 400
    assert a.post(f"/slots/{seat['slot']}/release", how="recuse").status_code == 200
    assert claim(b, w)["slot"] == seat["slot"]


def test_candidates_come_in_pages_by_rank() -> None:
    w = world(pairs=5)
    admin = Caller(w.admin)
    path = f"/runs/{w.run.pk}/candidates"
    page = admin.get(f"{path}?limit=2").json()
    assert [row["rank"] for row in page["candidates"]] == [1, 2]
    assert page["next"] == 2
    rest = admin.get(f"{path}?limit=9&after=2").json()
    assert [row["rank"] for row in rest["candidates"]] == [3, 4, 5]
    assert rest["next"] is None
    assert admin.get(f"{path}?after=99999999999999999999").json()["candidates"] == []
    assert Caller(w.annotators[0]).get(path).status_code == 404


def test_documents_are_handed_over_as_json(
    data_dir: Any, django_capture_on_commit_callbacks: Any
) -> None:
    owner = collection("gazette")
    admin = Caller(person("chief", "admin"))
    with django_capture_on_commit_callbacks(execute=False):
        answer = admin.post(
            "/collections/gazette/documents",
            documents=[{"doc_id": "N1", "raw": "自即日起开放夜读区。"}],
        )
    assert answer.status_code == 202, answer.content
    from screening.importing import run_import

    run_import(int(answer.json()["id"]))
    report = admin.get(f"/imports/{answer.json()['id']}").json()
    assert report["state"] == "done"
    assert report["report"]["added"] == 1
    assert owner.documents.get().raw == "自即日起开放夜读区。"
    assert admin.post("/collections/gazette/documents", nothing=1).status_code == 400


def test_documents_can_be_tried_before_they_are_added(
    data_dir: Any, django_capture_on_commit_callbacks: Any
) -> None:
    from screening import importing

    owner = collection("gazette")
    admin = Caller(person("root", "admin"))
    rows = [{"doc_id": "N1", "raw": "自即日起开放夜读区。"}, {"doc_id": "N2"}]
    tried = admin.post("/collections/gazette/documents?dry_run=true", documents=rows).json()
    number = tried["id"]
    assert admin.post(f"/imports/{number}/confirm").status_code == 409  # not read yet
    importing.run_import(int(number))
    report = admin.get(f"/imports/{number}").json()
    assert report["state"] == "checked"
    assert (report["report"]["added"], report["report"]["refused"]) == (1, 1)
    assert not owner.documents.exists()
    assert Caller(person("jia")).post(f"/imports/{number}/confirm").status_code == 404
    assert admin.post(f"/imports/{number}/confirm").status_code == 202
    importing.run_import(int(number))
    assert owner.documents.get().doc_id == "N1"
    assert admin.post(f"/imports/{number}/confirm").status_code == 409


def test_an_encoding_is_named_for_what_reads_plausibly_in_two(data_dir: Any) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    from screening import importing

    owner = collection("gazette")
    admin = Caller(person("root", "admin"))

    def upload(query: str) -> Any:
        file = SimpleUploadedFile("a.txt", "00元".encode("gb18030"))
        address = f"/api/v1/collections/gazette/documents{query}"
        return admin.client.post(address, {"files": [file]}, headers=admin.headers)

    plain = upload("").json()
    importing.run_import(int(plain["id"]))
    report = admin.get(f"/imports/{plain['id']}").json()["report"]
    assert [row["code"] for row in report["rows"]] == ["encoding_unclear"]
    assert [one[0] for one in report["rows"][0]["params"]["readings"]] == ["utf-8", "gb18030"]
    assert upload("?encoding=klingon").status_code == 400
    importing.run_import(int(upload("?encoding=gb18030").json()["id"]))
    assert owner.documents.get().raw == "00元"


def test_label_sets_are_tried_before_they_are_kept(data_dir: Any) -> None:
    owner = collection("gazette")
    documents(owner, 2)
    admin = Caller(person("chief", "admin"))
    from django.core.files.uploadedfile import SimpleUploadedFile

    def upload(dry_run: bool) -> Any:
        file = SimpleUploadedFile("labels.csv", "left,right,label\ndoc-001,doc-002,副本\n".encode())
        return admin.client.post(
            "/api/v1/label-sets",
            {
                "collection": "gazette",
                "name": "样本",
                "dry_run": str(dry_run).lower(),
                "file": file,
            },
            headers=admin.headers,
        )

    tried = upload(True)
    assert tried.status_code == 200, tried.content
    assert not owner.label_sets.exists()
    assert upload(False).status_code == 201
    assert owner.label_sets.get().rows.count() == 1


def test_a_database_that_is_busy_asks_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    w = world(1)
    caller = Caller(w.annotators[0])

    def locked(**_: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("reviews.queue.claim", locked)
    answer = caller.post(f"/rounds/{w.round.pk}/claim")
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert answer["Retry-After"] == "1"


@pytest.mark.parametrize(
    ("verb", "path", "status", "code"),
    [
        ("delete", "/rounds", 405, "method_not_allowed"),
        ("put", "/tokens", 405, "method_not_allowed"),
        ("get", "/no-such-address", 404, "not_found"),
        ("get", "/rounds/1/nothing", 404, "not_found"),
    ],
)
def test_what_the_api_has_not_got_is_refused_in_json_too(
    verb: str, path: str, status: int, code: str
) -> None:
    answer = getattr(Client(), verb)(f"/api/v1{path}")
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json()["code"] == code
    assert answer.json()["detail"]
    assert ("Allow" in answer.headers) == (status == 405)


def test_a_fault_of_ours_is_json_and_says_nothing_about_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    w = world(1)
    caller = Caller(w.annotators[0])
    caller.client.raise_request_exception = False

    def broken(**_: Any) -> None:
        raise RuntimeError("an inner secret")

    monkeypatch.setattr("reviews.queue.claim", broken)
    answer = caller.post(f"/rounds/{w.round.pk}/claim")
    assert (answer.status_code, answer.json()["code"]) == (500, "error")
    assert "secret" not in answer.content.decode()


def test_too_many_wrong_passwords_are_refused_in_json(settings: Any) -> None:
    settings.AXES_ENABLED = True
    who = person("lin")
    who.set_password("长长的密码-1234")
    who.save()
    answers = [Caller(None).post("/tokens", username="lin", password="错") for _ in range(10)]
    assert answers[0].status_code == 401
    assert answers[-1].status_code == 429
    assert answers[-1].json()["code"] == "locked_out"


def test_a_field_that_does_not_fit_is_named_in_chinese() -> None:
    w = world(1)
    caller = Caller(w.annotators[0])
    seat = claim(caller, w)
    path = f"/items/{seat['item']}/judgments"
    answer = caller.post(path, id="x", slot=5)
    assert answer.status_code == 422
    assert answer.json()["detail"] == "id: 必须是 UUID; label: 缺失; slot: 必须是文本"
    broken = caller.client.post(
        f"/api/v1{path}", b"{", content_type="application/json", headers=caller.headers
    )
    assert (broken.status_code, broken.json()["code"]) == (400, "bad_request")
    assert "JSON" in broken.json()["detail"]
    assert "parse" not in broken.json()["detail"]


def test_optional_fields_may_be_null() -> None:
    w = world(1)
    caller = Caller(w.annotators[0])
    seat = claim(caller, w)
    answer = judge(
        caller, seat, "copy", direction=None, reason_code=None, reason=None, kept=None, version=None
    )
    assert answer.status_code == 201, answer.content
    assert answer.json()["judgment"]["reason_code"] == "same_text"


def test_a_correction_says_that_it_is_one_and_a_stale_view_corrects_nothing() -> None:
    w = world(1)
    caller = Caller(w.annotators[0])
    seat = claim(caller, w)
    assert judge(caller, seat, "copy", version=0).json()["status"] == "created"
    stale = judge(caller, seat, "template", version=0)
    assert (stale.status_code, stale.json()["code"]) == (409, "judged_meanwhile")
    assert Judgment.objects.count() == 1
    corrected = judge(caller, seat, "template", version=1)
    assert (corrected.status_code, corrected.json()["status"]) == (201, "corrected")
    assert judge(caller, seat, "copy").json()["status"] == "corrected"
    assert [j.version for j in Judgment.objects.filter(counted=True).order_by("version")] == [
        1,
        2,
        3,
    ]


def test_every_operation_describes_what_any_call_may_meet() -> None:
    schema = Caller(None).get("/openapi.json").json()
    for path, operations in schema["paths"].items():
        for verb, operation in operations.items():
            described = set(operation["responses"])
            assert "503" in described, (verb, path)
            assert ("401" in described) or path.endswith("/tokens")
            if "requestBody" in operation:
                assert {"400", "413", "422"} <= described, (verb, path)
            assert any(status < "300" for status in described), (verb, path)
            for status, response in operation["responses"].items():
                assert status == "204" or response["content"], (verb, path, status)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"preset": "nothing"}, "nothing"),
        ({"config": {"k": 0}}, "k"),
        ({"config": {"no_such_setting": 1}}, "no_such_setting"),
        ({"config": {"channels": []}}, "minhash"),
        ({"config": {"k": "three"}}, "k"),
        ({"config": {"k": True}}, "k"),
        ({"config": {"num_perm": 2**70}}, "num_perm"),
        ({"config": {"threshold": float("nan")}}, "threshold"),
        ({"config": {"threshold": 10**400}}, ""),
        ({"config": {"fold_script": "yes"}}, "fold_script"),
        ({"config": {"channels": "minhash"}}, "channels"),
        ({"config": {"channels": [["minhash"]]}}, "channels"),
        ({"config": {"weights": [0.2]}}, "weights"),
        ({"config": {"strata": 5}}, "strata"),
        ({"config": {"strata": [5]}}, "5"),
        ({"config": {"dynamic_k": [[1]]}}, "dynamic_k"),
        ({"config": {"scheme": None}}, "scheme"),
    ],
)
def test_a_configuration_that_cannot_run_is_refused_in_chinese(
    config: dict[str, Any], words: str
) -> None:
    collection("gazette")
    answer = Caller(person("chief", "admin")).post("/runs", collection="gazette", **config)
    assert (answer.status_code, answer.json()["code"]) == (400, "not_started")
    detail = answer.json()["detail"]
    assert words in detail
    assert any("\u4e00" <= character <= "\u9fff" for character in detail), detail


def test_a_body_of_another_shape_is_refused_in_chinese() -> None:
    collection("gazette")
    answer = Caller(person("chief", "admin")).post("/collections/gazette/documents", nothing=1)
    assert answer.status_code == 400
    assert "请求正文应为" in answer.json()["detail"]
