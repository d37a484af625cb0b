"""The API's description as something to read: every call with its fields and an example, made from openapi.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

SAMPLES: dict[str, Any] = {
    "username": "an",
    "password": "correct horse battery",
    "token": "ddr_…",
    "id": "6f1c2f0e-9d5b-4e0a-8a43-0c6f5f1f7e11",
    "collection": "notices",
    "name": "Label Studio",
    "slug": "notices",
    "label": "revision",
    "direction": "left_first",
    "reason_code": "facts_changed",
    "reason": "the date changed",
    "kept": "a.txt",
    "left": "a.txt",
    "right": "b.txt",
    "preset": "default",
    "how": "later",
    "cause_code": "overlooked",
    "documents": [{"doc_id": "a.txt", "title": "Notice", "raw": "The library opens at nine."}],
    "config": {"preset": "default"},
    "file": "label-studio.json",
    "kind": "tasks",
    "based_on": [],
}
"""What a field is called in an example; anything else is made from its type."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a call: where it goes (path, query, body, form), whether it must be there, what it may be."""

    name: str
    place: str
    required: bool
    kind: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status that a call may answer with, in words; ``example`` is JSON where it has a body."""

    status: str
    words: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One operation: ``example`` is a command line that makes it."""

    method: str
    path: str
    name: str
    words: str
    fields: tuple[Field, ...]
    answers: tuple[Answer, ...]
    example: str


def calls(schema: Schema, address: str) -> list[Call]:
    """Every operation of an OpenAPI description, in its order; ``address`` is that of the site, without a slash."""
    found = []
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            fields = tuple(_fields(schema, operation))
            found.append(
                Call(
                    method.upper(),
                    path,
                    operation["operationId"],
                    operation.get("description") or operation.get("summary", ""),
                    fields,
                    tuple(_answers(schema, operation)),
                    _command(schema, operation, method.upper(), address + path),
                )
            )
    return found


def _resolved(schema: Schema, part: Schema) -> Schema:
    """A part of the description with its reference followed, and of alternatives the first that is no null."""
    while True:
        if "$ref" in part:
            part = schema["components"]["schemas"][part["$ref"].rsplit("/", 1)[1]]
        elif "anyOf" in part:
            chosen = next((p for p in part["anyOf"] if p.get("type") != "null"), part["anyOf"][0])
            part = {**{k: v for k, v in part.items() if k != "anyOf"}, **chosen}
        else:
            return part


def _fields(schema: Schema, operation: Schema) -> Iterator[Field]:
    for parameter in operation.get("parameters", []):
        part = _resolved(schema, parameter["schema"])
        words = parameter.get("description", "")
        required = bool(parameter.get("required"))
        yield Field(parameter["name"], parameter["in"], required, _kind(part), words)
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        body = _resolved(schema, content.get("schema", {}))
        place = "body" if "json" in media else "form"
        for name, part in body.get("properties", {}).items():
            shape = _resolved(schema, part)
            needed = name in body.get("required", ())
            yield Field(name, place, needed, _kind(shape), shape.get("description", ""))


def _kind(part: Schema) -> str:
    if "enum" in part:
        return " | ".join(str(value) for value in part["enum"] if value not in ("", None))
    if part.get("format") in ("uuid", "binary"):
        return str(part["format"])
    if part.get("type") == "array":
        return "list"
    return str(part.get("type", "any"))


def _answers(schema: Schema, operation: Schema) -> Iterator[Answer]:
    for status, answer in sorted(operation["responses"].items(), key=lambda entry: str(entry[0])):
        content = answer.get("content", {}).get("application/json")
        example = ""
        if content and int(status) < 400:
            example = json.dumps(sample(schema, content["schema"]), ensure_ascii=False)
        yield Answer(str(status), answer.get("description", ""), example)


def sample(schema: Schema, part: Schema, name: str = "", depth: int = 0) -> Any:
    """A value that fits ``part`` of the description."""
    part = _resolved(schema, part)
    if "enum" in part:
        return SAMPLES[name] if SAMPLES.get(name) in part["enum"] else part["enum"][0]
    kind = part.get("type")
    if kind == "object":
        properties = part.get("properties", {}) if depth < 6 else {}
        return {key: sample(schema, value, key, depth + 1) for key, value in properties.items()}
    if kind == "array":
        if isinstance(SAMPLES.get(name), list):
            return SAMPLES[name]
        return [sample(schema, part.get("items", {}), "", depth + 1)]
    if kind == "string":
        return SAMPLES.get(name) if isinstance(SAMPLES.get(name), str) else "…"
    return {"integer": 1, "number": 0.5, "boolean": False}.get(str(kind))


def body_of(schema: Schema, operation: Schema) -> dict[str, Any] | None:
    """An example of the JSON body of a call; None where it takes none."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return sample(schema, content["schema"]) if content else None


def _command(schema: Schema, operation: Schema, method: str, address: str) -> str:
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            name = parameter["name"]
            address = address.replace(f"{{{name}}}", str(SAMPLES.get(name, 1)))
    parts = ["curl"] if method == "GET" else [f"curl -X {method}"]
    if "security" in operation:
        parts.append('-H "Authorization: Bearer $KEY"')
    body = body_of(schema, operation)
    if body is not None:
        text = json.dumps(body, ensure_ascii=False)
        parts.append(f"-H 'Content-Type: application/json' -d '{text}'")
    elif "requestBody" in operation:
        for field in _fields(schema, operation):
            value = "@labels.csv" if field.kind == "binary" else SAMPLES.get(field.name, "…")
            if field.place == "form" and field.required:
                parts.append(f"-F '{field.name}={value}'")
    elif set(operation["responses"].get(200, {}).get("content", {})) - {"application/json"}:
        parts.append("-OJ")  # a file, under the name that it comes with
    return " \\\n  ".join([*parts, address])
