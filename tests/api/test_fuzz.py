"""Any request at all, made from the API's own description: no 500, no answer outside the schema, nobody else's judgment.

Inputs come from the schema and from values that break things; ids are those that exist, and others.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase as DjangoCase

from dedupreview.api import api
from dedupreview.people import tokens
from dedupreview.people.models import Person, Role
from reviews import judging
from tests.reviews.world import World, claimed, person, world

SECRET = "绝不可泄露的理由-7Q"
SCHEMA: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
METHODS = ("get", "post", "put", "patch", "delete")
CALLS = [
    (method, path, operation)
    for path, operations in SCHEMA["paths"].items()
    for method, operation in operations.items()
    if method in METHODS
]

ODD = st.sampled_from(
    ["", "0", "-1", "1", "2", "99999999999999999999", "NaN", "\x00", "../", "%00", "<b>", "é\u202e", "null", "１"]
)  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
LABELS = ("copy", "revision", "citation", "template", "independent", "undecided")


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = SCHEMA
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def fitting(schema: dict[str, Any], name: str = "") -> st.SearchStrategy[Any]:
    """Values of a schema, with words that mean something where the name says so."""
    schema = resolved(schema)
    if name == "label":
        return st.sampled_from(LABELS) | ODD
    if name == "how":
        return st.sampled_from(["later", "recuse"]) | ODD
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | ODD
    if "anyOf" in schema:
        return st.one_of([fitting(one, name) for one in schema["anyOf"]])
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        needed = set(schema.get("required", []))
        return st.fixed_dictionaries(
            {n: fitting(f, n) for n, f in fields.items() if n in needed},
            optional={n: fitting(f, n) for n, f in fields.items() if n not in needed},
        )
    if kind == "array":
        return st.lists(fitting(schema.get("items", {})), max_size=3)
    simple: dict[str | None, st.SearchStrategy[Any]] = {
        "integer": st.integers(-(2**70), 2**70),
        "number": st.floats(),
        "boolean": st.booleans(),
        "null": st.none(),
        "string": st.uuids().map(str)
        if schema.get("format") == "uuid"
        else st.integers(1, 6).map(str) | ODD | st.text(max_size=30),
    }
    return simple.get(kind, ANYTHING)


def faults(value: Any, schema: dict[str, Any], place: str = "") -> Iterator[str]:
    """Where a value does not fit its schema."""
    schema = resolved(schema)
    if "anyOf" in schema:
        if all(list(faults(value, one, place)) for one in schema["anyOf"]):
            yield f"{place}: none of anyOf"
        return
    kinds: dict[str, Any] = {
        "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
        "integer": int, "number": (int, float),
    }  # fmt: skip
    kind = schema.get("type")
    if kind in kinds and (
        not isinstance(value, kinds[kind])
        or (kind in ("integer", "number") and isinstance(value, bool))
    ):
        yield f"{place}: {type(value).__name__} is no {kind}"
    elif kind == "object":
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}.{name} is missing"
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                yield from faults(value[name], inner, f"{place}.{name}")
    elif kind == "array":
        for n, one in enumerate(value):
            yield from faults(one, schema.get("items", {}), f"{place}[{n}]")


def wrong_with(response: Any, operation: dict[str, Any]) -> list[str]:
    """Everything wrong with an answer to an operation."""
    status = response.status_code
    if status >= 500:
        return [f"{status}"]
    described = operation["responses"]
    if str(status) not in described:
        return [f"{status} is not described"]
    content = described[str(status)].get("content", {})
    if not content:
        return [] if not response.content else [f"{status} with a body"]
    kind = response.headers["Content-Type"].split(";")[0]
    if kind not in content:
        return [f"{kind} is not described for {status}"]
    if kind != "application/json":
        return []
    return list(faults(response.json(), content[kind]["schema"]))


def bodies(operation: dict[str, Any]) -> st.SearchStrategy[Any]:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return st.none()
    return fitting(content["application/json"]["schema"]) | ANYTHING


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, str, dict[str, Any], Any, int]:
    method, path, operation = draw(st.sampled_from(CALLS))
    for place in re.findall(r"{[^}]+}", path):
        key = draw(st.integers(1, 4).map(str) | ODD.filter(lambda t: t and "/" not in t))
        path = path.replace(place, key.replace("%", "%25").replace("\x00", "%00"))
    return method, path, operation, draw(bodies(operation)), draw(st.integers(0, 5))


class Fuzz(DjangoCase):
    """One world for all requests of a test; each request is rolled back."""

    w: World
    keys: list[str]
    met: ClassVar[set[int]] = set()

    @classmethod
    def tearDownClass(cls) -> None:
        super().tearDownClass()
        # A fuzz that never gets past the door would prove nothing.
        assert cls.met >= {200, 401, 404, 422}, cls.met

    def setUp(self) -> None:
        self.w = world(2, annotators=3)
        author = self.w.annotators[0]
        judging.submit(
            id=uuid.uuid4(), slot=claimed(self.w.round, author), person=author,
            label="template", reason=SECRET,
        )  # fmt: skip
        claimed(self.w.round, self.w.annotators[1])
        others: list[Person | None] = [
            *self.w.annotators[1:], self.w.arbitrators[0], self.w.admin,
            person("fuzz-auditor", Role.AUDITOR),
        ]  # fmt: skip
        self.keys = [tokens.issue(person=who) for who in others if who] + ["wrong"]

    @settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
    @given(requests())
    def test_no_request_breaks_the_api_or_tells_what_others_said(
        self, request: tuple[str, str, dict[str, Any], Any, int]
    ) -> None:
        method, path, operation, body, who = request
        self.client.raise_request_exception = False
        response = self.client.generic(
            method.upper(),
            path,
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.keys[who]}"},
        )
        self.met.add(response.status_code)
        assert wrong_with(response, operation) == [], (method, path, body, response.content[:500])
        whole = b"".join(getattr(response, "streaming_content", ())) if response.streaming else response.content
        assert SECRET not in whole.decode(errors="replace")
        assert json.dumps(SECRET)[1:-1] not in whole.decode(errors="replace")


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        ({"a": 1}, {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}, True),
        ({}, {"type": "object", "required": ["a"]}, False),
        ({"a": True}, {"type": "object", "properties": {"a": {"type": "integer"}}}, False),
        ([1, "x"], {"type": "array", "items": {"type": "integer"}}, False),
        (None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        (3, {"anyOf": [{"type": "string"}, {"type": "null"}]}, False),
    ],
)  # fmt: skip
def test_the_check_of_answers_sees_what_does_not_fit(value: Any, schema: Any, fits: bool) -> None:
    assert (not list(faults(value, schema))) == fits


def test_every_operation_is_fuzzed() -> None:
    assert len(CALLS) >= 18
