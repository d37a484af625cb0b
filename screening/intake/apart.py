"""Reading what strangers have made in a process of its own, which has little memory and can be ended.

Word files, PDFs, pages and spreadsheets go through large parsers. One of them may loop, crash or swell; the import
then names the file and goes on with the next. The process is started for the first such file of a hand-over, serves
one file after another over its pipes, and ends with the hand-over.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from screening.documents import Problem
from screening.intake.limits import DEFAULT_LIMITS, Limits
from screening.intake.plain import PlainText
from screening.intake.tables import Row, Table

LARGEST_ANSWER = 512 << 20
STARTING_SECONDS = 30
_ROOT = Path(__file__).resolve().parents[2]


class Reader:
    """Readers in a child process; a context manager. Not for several threads at once."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child; it starts again if it is needed."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass

    def read(self, kind: str, data: bytes, chosen: str | None = None) -> PlainText | Problem:
        """The text of a ``docx``, ``pdf`` or ``html``, or why there is none; ``chosen``: the encoding of an unclear page."""
        answer = self._ask(kind, data, chosen)
        if isinstance(answer, Problem):
            return answer
        return PlainText(
            answer["raw"], answer["metadata"], tuple(Problem(*w) for w in answer["warnings"])
        )

    def read_spreadsheet(self, data: bytes) -> list[tuple[str, Table]] | Problem:
        """As :func:`screening.intake.tables.read_spreadsheet`."""
        answer = self._ask("xlsx", data)
        if isinstance(answer, Problem):
            return answer
        return [
            (name, Table(_row(header), map(_row, rows), ""))
            for name, header, rows in answer["sheets"]
        ]

    def _ask(self, kind: str, data: bytes, chosen: str | None = None) -> dict[str, Any] | Problem:
        asked = {"kind": kind, "size": len(data), "chosen": chosen, "limits": asdict(self.limits)}
        head = json.dumps(asked)
        deadline = time.monotonic() + self.limits.seconds
        if self._child is None:
            self._child = self._start()
            deadline += STARTING_SECONDS
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(head.encode() + b"\n")
            self._child.stdin.write(data)
            self._child.stdin.flush()
            answer = self._answer(deadline)
        except OSError:
            answer = None
        if isinstance(answer, Problem):
            self.close()
            return answer
        if answer is None:
            self.close()
            return Problem(
                "reader_broke_off",
                "Reading it broke off: the file is damaged, or needs more than %(bytes)s bytes of memory",
                {"bytes": self.limits.reader_bytes},
            )
        try:
            value = json.loads(answer)
        except ValueError:
            self.close()
            return Problem("reader_answer", "Reading it gave nothing that makes sense")
        if value.get("ending"):
            self.close()
        return Problem(*value["problem"]) if "problem" in value else value

    def _start(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        return subprocess.Popen(
            [sys.executable, "-m", "screening.intake.apart", str(self.limits.reader_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )

    def _answer(self, deadline: float) -> bytes | Problem | None:
        """One line from the child; a problem if it takes too long, None if it has died."""
        assert self._child is not None
        assert self._child.stdout is not None
        pieces: list[bytes] = []
        size = 0
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return Problem(
                        "too_slow",
                        "Reading it took longer than %(seconds)s seconds and was ended",
                        {"seconds": self.limits.seconds},
                    )
                piece = os.read(self._child.stdout.fileno(), 1 << 20)
                if not piece:
                    return None
                pieces.append(piece)
                size += len(piece)
                if piece.endswith(b"\n"):
                    return b"".join(pieces)
                if size > LARGEST_ANSWER:
                    return Problem(
                        "too_large_inside",
                        "What the file holds is larger than %(limit)s bytes",
                        {"limit": LARGEST_ANSWER},
                    )


def _row(row: list[Any]) -> Row:
    line, cells, faults = row
    return Row(line, cells, {int(column): Problem(*fault) for column, fault in faults.items()})


# --- In the child ----------------------------------------------------------------------------------------------------


def _packed(problem: Problem) -> list[Any]:
    return [problem.code, problem.template, dict(problem.params)]


def _packed_row(row: Row) -> list[Any]:
    return [row.line, row.cells, {column: _packed(fault) for column, fault in row.faults.items()}]


def _sheets(data: bytes, limits: Limits) -> dict[str, Any]:
    from screening.intake.tables import read_spreadsheet

    sheets = read_spreadsheet(data, limits=limits)
    if isinstance(sheets, Problem):
        return {"problem": _packed(sheets)}
    return {
        "sheets": [
            (
                name,
                _packed_row(table.header),
                [_packed_row(row) for row in table.rows if isinstance(row, Row)],
            )
            for name, table in sheets
        ]
    }


def _text(kind: str, data: bytes, limits: Limits, chosen: str | None) -> dict[str, Any]:
    read = _reader(kind, chosen)(data, limits)
    if isinstance(read, Problem):
        return {"problem": _packed(read)}
    return {
        "raw": read.raw,
        "metadata": read.metadata,
        "warnings": [_packed(warning) for warning in read.warnings],
    }


def _reader(kind: str, chosen: str | None) -> Callable[[bytes, Limits], PlainText | Problem]:
    if kind == "docx":
        from screening.intake.docx import read_docx

        return read_docx
    if kind == "pdf":
        from screening.intake.pdf import read_pdf

        return read_pdf
    from screening.intake.html import read_html

    return lambda data, limits: read_html(data, limits, chosen)


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one request after another until the pipe is closed."""
    import signal

    while head := requests.readline():
        asked = json.loads(head)
        limits = Limits(**asked["limits"])
        data = requests.read(asked["size"])
        signal.alarm(limits.seconds + 10)  # also if the parent is gone and nobody ends us
        try:
            kind = asked["kind"]
            if kind == "xlsx":
                answer = _sheets(data, limits)
            else:
                answer = _text(kind, data, limits, asked["chosen"])
        except MemoryError:
            answer = {"problem": _packed(_too_much_memory(limits)), "ending": True}
        except Exception as error:
            # The parsers raise many kinds for damaged files; each is a refusal and none may stop an import.
            words = f"{type(error).__name__}: {error}"[:200]
            problem = Problem(
                "reader_failed",
                "The file is damaged or of an unusual make: %(error)s",
                {"error": words},
            )
            answer = {"problem": _packed(problem)}
        try:
            line = json.dumps(answer).encode("ascii")
        except MemoryError:
            line = json.dumps(
                {"problem": _packed(_too_much_memory(limits)), "ending": True}
            ).encode()
        answers.write(line + b"\n")
        answers.flush()
        del data, answer, line
        signal.alarm(0)


def _too_much_memory(limits: Limits) -> Problem:
    return Problem(
        "reader_memory",
        "Reading it needs more than %(bytes)s bytes of memory",
        {"bytes": limits.reader_bytes},
    )


def _confine(memory: int) -> None:
    """Bound what this process may take: memory, files to write (none), core dumps (none)."""
    import resource

    for what, bound in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            hard = resource.getrlimit(what)[1]
            resource.setrlimit(
                what, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard)
            )
        except (ValueError, OSError):
            pass  # a system without this limit; time is still bounded by the parent


def main() -> None:
    """Serve the parent over stdin and stdout; whatever libraries print goes nowhere."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    _confine(int(sys.argv[1]))
    _serve(requests, answers)


if __name__ == "__main__":
    main()
