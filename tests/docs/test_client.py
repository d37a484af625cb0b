"""The example of a client runs as it stands against a running site, and the page about the API says what there is."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dedupreview import apidocs
from dedupreview.api import api
from tests.reviews.world import person
from tests.servers import Site

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "client.py"
PASSWORD = "一个足够长的密码-83"
SENTENCE = "街道图书馆自下月起调整开放时间，每日九时至十八时开放，周一闭馆整理，借阅证照常使用。"


def manage(site: Site, *arguments: str, given: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=site.environment(), input=given,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_client_screens_a_folder_and_judges_a_pair(whole_site: Site, tmp_path: Path) -> None:
    import json
    import urllib.request

    whole_site.start()
    for name, role in (("gu", "admin"), ("an", "annotator"), ("bo", "annotator"), ("cheng", "arbitrator")):  # fmt: skip
        manage(whole_site, "add_user", name, "--role", role, "--password-stdin", given=PASSWORD)
    documents = str(ROOT / "docs/examples/documents.jsonl")
    manage(whole_site, "import_documents", documents, "--collection", "example")
    manage(whole_site, "screen", "example", "--out", str(tmp_path / "run"))
    people = ("--annotators", "an,bo", "--arbitrators", "cheng")
    manage(whole_site, "open_round", "1", "--name", "x", *people)

    def key(name: str) -> str:
        body = json.dumps({"username": name, "password": PASSWORD}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{whole_site.url}/api/v1/tokens", body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(json.load(answer)["token"])

    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "一.txt").write_text(SENTENCE, "utf-8")
    (folder / "二.txt").write_text(SENTENCE + "特此公告。", "utf-8")
    keys = {"ADMIN_KEY": key("gu"), "ANNOTATOR_KEY": key("an")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), whole_site.url, "example", str(folder), "1"],
        env={**os.environ, **keys}, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+ 一\.txt 二\.txt 0\.\d+ copy$", done.stdout, re.MULTILINE), done.stdout
    assert done.stdout.rstrip().endswith("judged: created")


def test_the_client_is_short_and_needs_nothing() -> None:
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    imported = {
        a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names
    }
    assert imported <= sys.stdlib_module_names
    last = max(n.end_lineno or 0 for n in tree.body if isinstance(n, ast.Import))
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()[last:]
    assert sum(1 for line in lines if line.strip()) <= 22


def test_every_call_of_the_description_has_an_example() -> None:
    schema = api.get_openapi_schema()
    found = apidocs.calls(schema, "https://reviews.example")
    assert len(found) == sum(map(len, schema["paths"].values())) > 15
    for call in found:
        assert call.words, call.path
        assert call.answers, call.path
        assert "{" not in call.example.split("https://")[1], call.example
        operation = schema["paths"][call.path][call.method.lower()]
        body = apidocs.body_of(schema, operation)
        needed = {f.name for f in call.fields if f.place == "body" and f.required}
        assert needed <= (body or {}).keys(), call.path


@pytest.mark.parametrize("model", ["AnswerIn", "JudgmentIn", "RunIn", "Credentials"])
def test_examples_of_bodies_fit(model: str) -> None:
    from dedupreview.api import Credentials
    from reviews.api.common import AnswerIn
    from reviews.api.judgments import JudgmentIn
    from screening.api import RunIn

    kinds: dict[str, Any] = {"AnswerIn": AnswerIn, "JudgmentIn": JudgmentIn, "RunIn": RunIn, "Credentials": Credentials}  # fmt: skip
    schema = api.get_openapi_schema()
    example = apidocs.sample(schema, {"$ref": f"#/components/schemas/{model}"} if model in schema["components"]["schemas"] else kinds[model].json_schema())  # fmt: skip
    kinds[model].model_validate(example)


@pytest.mark.django_db
def test_the_page_has_every_call_and_nothing_from_elsewhere(client: Client) -> None:
    client.force_login(person("lesen"))
    response = client.get("/api/v1/docs")
    page = response.content.decode()
    for path, operations in api.get_openapi_schema()["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in page
    assert not re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"', page)
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert len(response.content) < 200_000
