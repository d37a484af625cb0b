"""Labelled pairs in JSON: one object a line or an array of them, flat or as labelling tools export them. No Django.

Label Studio: tasks with ``data`` and ``annotations`` (https://labelstud.io/guide/export: JSON), or flat objects (JSON-MIN).
doccano: one object a line, ``label`` a list of names, the columns of the upload beside it or under ``meta``
(https://doccano.github.io/doccano/).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from screening.documents import Problem

Object = tuple[int, dict[str, object]] | Problem
"""A line number, counted from 1, and the object that begins there with the names of the columns; or what is wrong."""

SEVERAL = "several labels"
"""Set beside an empty label where a task has more than one label; its value lists them."""

_DECODER = json.JSONDecoder()
_OF_OBJECTS = ("doc_id", "email", "username", "id")
"""What stands for an object that was given in place of a name, the first that is there."""


def objects(text: str) -> Iterator[Object]:
    """The labelled pairs in ``text``; tasks and their labels are flattened."""
    for record in _records(text):
        if isinstance(record, Problem):
            yield record
        else:
            line, value = record
            for flat in _flat(value):
                yield line, flat


def _records(text: str) -> Iterator[Object]:
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if text.startswith("[", start):
        return _elements(text, start)
    inside = _wrapped(text, start)
    return _lines(text) if inside is None else inside


def _wrapped(text: str, start: int) -> Iterator[Object] | None:
    """The pairs in a single object: those of its list of objects, or itself written over several lines."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if text[end:].strip() or not isinstance(value, dict):
        return None
    if not value.keys() & {"data", "text", "label", "left"}:  # else it is a pair itself
        for key, content in value.items():
            if isinstance(content, list) and content and all(isinstance(c, dict) for c in content):
                # Elements have no places of their own in a parsed object: look for the list where its name stands.
                at = text.find("[", text.find(json.dumps(key, ensure_ascii=False), start))
                return _elements(text, at) if at >= 0 else None
    return iter([_object(1 + text.count("\n", 0, start), value)])


def scalar(content: object) -> str:
    """A value as the text that a person would have typed."""
    if isinstance(content, bool):
        return "1" if content else "0"
    if isinstance(content, float) and content.is_integer():
        return str(int(content))
    if isinstance(content, Mapping):  # a document or a person
        return scalar(next((content[k] for k in _OF_OBJECTS if content.get(k)), ""))
    return str(content)


def _lines(text: str) -> Iterator[Object]:
    # Only \n ends a line: U+2028 and its kind may stand inside a string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield _broken(number, error)
            continue
        yield _object(number, value)


def _elements(text: str, start: int) -> Iterator[Object]:
    """The elements of an array, each with the line on which it begins; what follows a broken one cannot be read.

    Tools write arrays in one line: no two elements get the same number, so that there it counts elements.
    """
    at = start + 1
    line, counted, last = 1, 0, 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        line, counted = line + text.count("\n", counted, at), at
        last = max(line, last + 1)
        if at >= len(text) or text[at] == "]":
            if at >= len(text):
                yield _broken(last, "the array does not end")
            return
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield _broken(last, error)
            return
        yield _object(last, value)


def _broken(line: int, error: object) -> Problem:
    params = {"line": line, "error": str(error)}
    return Problem("json_broken", "Line %(line)s is not JSON: %(error)s", params)


def _object(line: int, value: object) -> Object:
    if isinstance(value, dict):
        return line, value
    return Problem("json_not_object", "Line %(line)s is not a JSON object", {"line": line})


def _flat(value: dict[str, object]) -> Iterator[dict[str, object]]:
    """One object for each annotation of a task; anything else as it is, with its label out of its list."""
    annotations = value.get("annotations")
    data = value.get("data")
    if not isinstance(data, dict) or not isinstance(annotations, list):
        meta = value.get("meta")
        columns = {**(meta if isinstance(meta, dict) else {}), **value}
        yield _one_label(columns)
        return
    standing = [a for a in annotations if isinstance(a, dict) and not a.get("was_cancelled")]
    for annotation in standing or [{}]:
        result = annotation.get("result")
        said = {"label": _of_kind(result, "choices"), "annotator": annotation.get("completed_by")}
        if words := _of_kind(result, "text"):
            said["reason"] = "\n".join(map(scalar, words))
        yield _one_label({**data, **said})


def _of_kind(result: object, kind: str) -> list[object]:
    """What was chosen (``choices``) or written (``text``) in an annotation of Label Studio."""
    found: list[object] = []
    for part in result if isinstance(result, list) else ():
        value: Any = part.get("value") if isinstance(part, dict) else None
        said = value.get(kind) if isinstance(value, dict) else None
        found += said if isinstance(said, list) else []
    return found


def _one_label(columns: dict[str, object]) -> dict[str, object]:
    """With a label that is a list, or Label Studio's ``{"choices": [...]}`` under any name, as the one name in it."""
    found = dict(columns)
    for key, value in columns.items():
        names: object = value if key in ("label", "labels") else None
        if isinstance(value, dict) and "choices" in value:
            names = value["choices"]
        if isinstance(names, list):
            words = [scalar(name) for name in names]
            found["label" if key == "labels" else key] = words[0] if len(words) == 1 else ""
            if len(words) > 1:
                found[SEVERAL] = ", ".join(words)
    return found
