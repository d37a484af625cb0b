"""Received files on their way to a collection: kept below the data directory until they have been read."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings

from screening.documents import Problem, Refusal
from screening.intake.limits import Limits, size_problem
from screening.intake.trees import OUTSIDE, Files, relative_name

ABANDONED_AFTER = 24 * 3600
"""Seconds after which a folder that no import names is removed: its upload was broken off."""

CHUNK = 1 << 20
_CHOSEN = "encodings.json"


class Readable(Protocol):
    """A file object, or an upload of Django's."""

    def read(self, size: int = ..., /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Staging:
    """The folder of one import: numbered files, the names that they came under, and in the end its report.

    Names are kept in a list and not used as file names: they may be too long, or differ only in case.
    """

    folder: Path

    @classmethod
    def create(cls) -> Staging:
        """A new folder."""
        folder = _root() / uuid.uuid4().hex
        (folder / "files").mkdir(parents=True)
        return cls(folder)

    @classmethod
    def of(cls, name: str) -> Staging:
        """The folder that an import names."""
        return cls(Path(settings.DATA_DIR) / name)

    @property
    def name(self) -> str:
        """What an import remembers: the path below the data directory."""
        return f"imports/{self.folder.name}"

    @property
    def report(self) -> Path:
        """One line of JSON for every file and row."""
        return self.folder / "report.jsonl"

    def chosen(self) -> dict[str, str]:
        """Encodings that a person chose where two were plausible, by place; an empty place stands for every file."""
        try:
            found: dict[str, str] = json.loads((self.folder / _CHOSEN).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return found

    def choose(self, place: str, encoding: str) -> None:
        """Remember an encoding for one place, beside those that were chosen before."""
        text = json.dumps(self.chosen() | {place: encoding}, ensure_ascii=True)
        part = self.folder / f"{_CHOSEN}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(self.folder / _CHOSEN)

    def receive(self, files: Iterable[tuple[str, Readable]], limits: Limits) -> int:
        """Copy files here as a stream; the number that arrived. What has no safe name or is too large is noted."""
        names: list[dict[str, Any]] = []
        taken: set[str] = set()
        for number, (given, stream) in enumerate(files):
            name = relative_name(given)
            problem = OUTSIDE if name is None else None
            if name in taken:
                problem = Problem(
                    "file_twice", "Two files of this name were handed over; the first counts"
                )
            if problem is None:
                problem = _copy(stream, self.folder / "files" / f"{number}", limits)
            entry: dict[str, Any] = {"name": name or given, "number": number}
            if problem is not None:
                entry["problem"] = [problem.code, problem.template, dict(problem.params)]
            else:
                taken.add(entry["name"])
            names.append(entry)
        text = "".join(json.dumps(entry, ensure_ascii=True) + "\n" for entry in names)
        (self.folder / "names.jsonl").write_text(text, encoding="utf-8")
        return len(names)

    def tree(self) -> Files:
        """The files as a reader sees them: without the folder that all of them were chosen in."""
        entries = [
            json.loads(line)
            for line in (self.folder / "names.jsonl").read_text(encoding="utf-8").split("\n")
            if line
        ]
        top = common_folder([entry["name"] for entry in entries])
        paths: dict[str, Path] = {}
        refused: list[Refusal] = []
        for entry in entries:
            name = entry["name"].removeprefix(top)
            if problem := entry.get("problem"):
                refused.append(Refusal(name, Problem(*problem)))
            else:
                paths[name] = self.folder / "files" / str(entry["number"])
        return Files(paths, tuple(refused))

    def clear(self) -> None:
        """Remove the files that have been read; the report stays."""
        shutil.rmtree(self.folder / "files", ignore_errors=True)

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _root() -> Path:
    return Path(settings.DATA_DIR) / "imports"


def _copy(stream: Readable, target: Path, limits: Limits) -> Problem | None:
    size = 0
    with target.open("wb") as file:
        while chunk := stream.read(CHUNK):
            size += len(chunk)
            if size > limits.file_bytes:
                break
            file.write(chunk)
    problem = size_problem(size, limits.file_bytes)
    if problem is not None:
        os.unlink(target)
        return Problem(
            "too_large_to_receive",
            "The file has more than %(limit)s bytes, the limit for one file",
            {"limit": limits.file_bytes},
        )
    return None


def common_folder(names: list[str]) -> str:
    """The one top folder of all names with its slash, as a browser sends a chosen folder; else an empty string."""
    tops = {name.partition("/")[0] for name in names if "/" in name}
    if len(tops) == 1 and all("/" in name for name in names):
        return f"{tops.pop()}/"
    return ""


def abandoned(named: set[str]) -> Iterator[Staging]:
    """Folders that no import names (``named``: their names) and nothing has been written to for a day."""
    if not _root().is_dir():
        return
    for folder in _root().iterdir():
        staging = Staging(folder)
        if staging.name not in named and time.time() - folder.stat().st_mtime > ABANDONED_AFTER:
            yield staging
