"""What a line of the log may hold: where something went wrong, never what a text or a person said."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest
from django.test import Client

from dedupreview.logs import JsonFormatter

SECRET = "第四条 夜间开放补助标准为每馆每月1500元"


def line_of(error: BaseException, message: str = "failed", *values: object) -> dict[str, Any]:
    try:
        raise error
    except type(error):
        record = logging.LogRecord(
            "reviews", logging.ERROR, __file__, 1, message, values, sys.exc_info()
        )
    return dict(json.loads(JsonFormatter().format(record)))


def test_an_error_is_told_by_kind_and_place_not_by_what_it_quotes() -> None:
    line = line_of(ValueError(SECRET))
    assert SECRET not in json.dumps(line, ensure_ascii=False)
    assert line["error"][0] == "builtins.ValueError"
    assert any("test_logs.py" in frame and "line_of" in frame for frame in line["error"])
    assert (line["level"], line["logger"], line["message"]) == ("ERROR", "reviews", "failed")


def test_causes_are_told_first_and_quote_nothing_either() -> None:
    cause = KeyError(SECRET)
    error = RuntimeError(SECRET)
    error.__cause__ = cause
    line = line_of(error)
    kinds = [frame for frame in line["error"] if not frame.startswith(" ")]
    assert kinds == ["builtins.KeyError", "builtins.RuntimeError"]
    assert SECRET not in json.dumps(line, ensure_ascii=False)


def test_a_chain_that_bites_its_tail_ends() -> None:
    one, other = ValueError("a"), ValueError("b")
    one.__cause__, other.__cause__ = other, one
    assert len([f for f in line_of(one)["error"] if not f.startswith(" ")]) == 2


def test_a_line_break_in_a_message_makes_no_second_line() -> None:
    record = logging.LogRecord("x", logging.INFO, __file__, 1, "a\nb %s", ("c\nd",), None)
    assert "\n" not in JsonFormatter().format(record)


def test_passwords_and_query_strings_are_not_logged(
    db: None, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="django"):
        client.post("/login?next=/secret-query", {"username": "nobody", "password": "pass-phrase-x"})
        client.get("/nowhere?q=secret-query")
    said = "\n".join(JsonFormatter().format(record) for record in caplog.records)
    assert "/nowhere" in said
    assert "pass-phrase-x" not in said
    assert "secret-query" not in said
