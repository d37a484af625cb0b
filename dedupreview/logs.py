"""One log record as one line of JSON, for those who collect logs by machine."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime


class JsonFormatter(logging.Formatter):
    """Time (UTC), level, logger and message; where there is one, the error's kind and where it arose under ``error``.

    Collected logs go further than the database does. What an error says may quote a row (PostgreSQL names the values that
    collide) and with it a text or a label, so of an error only its kind and the lines of the program are told.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _told(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def _told(error: BaseException) -> list[str]:
    """The chain of errors, the first cause first: its class, and file, line and function of every frame."""
    told: list[str] = []
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    for one in reversed(chain):
        kind = type(one)
        told.append(f"{kind.__module__}.{kind.__qualname__}")
        frames = traceback.extract_tb(one.__traceback__)
        told += [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return told
