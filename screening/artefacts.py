"""The six files of a run, each replaced atomically, byte for byte the same for the same result."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from screening.collecting import no_collection
from screening.columns import scores_of
from screening.documents import InputDocument
from screening.evaluation import LabelledPair, ThresholdRow, threshold_rows
from screening.lines import CandidateLines, normalized_line
from screening.result import CHANNEL_NAMES, NOTES, ScreeningResult
from screening.suggest import SUGGESTIONS

FILES: tuple[str, ...] = (
    "originals.csv",
    "normalized.jsonl",
    "candidates.jsonl",
    "thresholds.csv",
    "review_table.csv",
    "run.json",
)
"""Names of the files; ``run.json`` is written last, so that a folder with it is complete."""

ORIGINALS_HEADER = (
    "doc_id",
    "source_id",
    "version",
    "path",
    "sha256",
    "captured_at",
    "status",
    "reason",
)
THRESHOLDS_HEADER = (
    "threshold",
    "labelled",
    "found",
    "candidate_recall",
    "tp",
    "fp",
    "fn",
    "precision",
    "recall",
)
REVIEW_HEADER = (
    "left",
    "right",
    "left_title",
    "right_title",
    "left_version",
    "right_version",
    "rank",
    "channels",
    "jaccard",
    "containment",
    "changed_facts",
    "suggestion",
    "asked",
    "note",
    "label",
    "direction",
    "reason",
    "review_status",
)

CHUNK = 4096
"""Candidates written at a time."""


@no_collection()
def write_run(
    out_dir: Path | str,
    result: ScreeningResult,
    documents: Sequence[InputDocument],
    *,
    labels: Iterable[LabelledPair] | None = None,
    thresholds: Sequence[float] = (0.5, 0.7, 0.9),
) -> None:
    """Write the files of a run into ``out_dir``, made where missing.

    ``documents`` are those the run was given. ``labels`` (left, right, label) fill ``thresholds.csv``; without them it
    has its header only. Raises OSError where a file cannot be written; a file is either the old or the whole new one.
    """
    out = Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    lines, reviews = CandidateLines(result), ReviewRows(result)
    count = len(result.table)
    with (
        _replacing(out / "candidates.jsonl") as candidates,
        _replacing(out / "review_table.csv") as review,
    ):
        table = _writer(review)
        table.writerow(REVIEW_HEADER)
        for first in range(0, count, CHUNK):
            end = min(first + CHUNK, count)
            candidates.writelines(lines.of(first, end))
            table.writerows(reviews.of(first, end))
    _write(out / "originals.csv", lambda file: _originals(file, result))
    _write(out / "normalized.jsonl", lambda file: _normalized(file, result))
    rows = threshold_rows(result, labels, thresholds) if labels is not None else []
    _write(out / "thresholds.csv", lambda file: _thresholds(file, rows))
    _write(out / "run.json", lambda file: file.write(run_json(result)))


def run_json(result: ScreeningResult) -> str:
    """The record of the run: configuration, versions, inputs with hashes, funnel, what was left out."""
    left_out = [
        {
            "code": item.problem.code,
            "reason": str(item.problem),
            "documents": [list(key) for key in item.documents],
        }
        for item in result.left_out
    ]
    refused = [
        {"place": r.place, "doc_id": r.doc_id, "code": r.problem.code, "reason": str(r.problem)}
        for r in result.refusals
    ]
    record = {**result.manifest, "funnel": result.funnel, "left_out": left_out, "refused": refused}
    return json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n"


def _writer(file: TextIO) -> Any:
    return csv.writer(file, lineterminator="\r\n")


class ReviewRows:
    """The rows of ``review_table.csv``, in rank order."""

    def __init__(self, result: ScreeningResult) -> None:
        self._result = result
        documents = result.corpus.documents
        self._ids = [_cell(d.doc_id) for d in documents]
        self._titles = [_cell(d.title) for d in documents]
        self._versions = [_cell(d.version) for d in documents]

    def of(self, first: int, end: int) -> Iterator[tuple[object, ...]]:
        """The rows ``first`` to ``end`` of the table of candidates."""
        result, table = self._result, self._result.table
        left, right = table.left[first:end].tolist(), table.right[first:end].tolist()
        _, jaccard, _, containment = scores_of(result, table.text_pair[first:end])
        facts = result.facts[first:end] if result.facts else [()] * (end - first)
        empty = [""] * (end - first)
        return zip(
            [self._ids[d] for d in left],
            [self._ids[d] for d in right],
            [self._titles[d] for d in left],
            [self._titles[d] for d in right],
            [self._versions[d] for d in left],
            [self._versions[d] for d in right],
            range(first + 1, end + 1),
            [_SPACED[flags] for flags in table.flags[first:end].tolist()],
            [repr(value) for value in jaccard],
            [repr(value) for value in containment],
            [" ".join(sorted({x.kind for x in changes})) if changes else "" for changes in facts],
            [SUGGESTIONS[hint] for hint in table.hint[first:end].tolist()],
            ["yes" if asked else "no" for asked in table.representative[first:end].tolist()],
            [NOTES[note] for note in table.note[first:end].tolist()],
            empty,
            empty,
            empty,
            ["pending"] * (end - first),
            strict=True,
        )


_SPACED = [" ".join(names) for names in CHANNEL_NAMES]


def _cell(value: str | None) -> str:
    """Text that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    return "'" + value if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _originals(file: TextIO, result: ScreeningResult) -> None:
    """Every document and every refused file or row, with what became of it."""
    table = _writer(file)
    table.writerow(ORIGINALS_HEADER)
    for d, document in enumerate(result.corpus.documents):
        empty = result.corpus.class_of[d] < 0
        table.writerow(
            [
                _cell(document.doc_id),
                _cell(document.source_id),
                _cell(document.version),
                _cell(document.original_path),
                document.sha256,
                _cell(document.captured_at),
                "no_content" if empty else "accepted",
                "no letter or digit to compare" if empty else "",
            ]
        )
    for refusal in sorted(result.refusals, key=lambda r: (r.place, r.doc_id or "", r.problem.code)):
        table.writerow(
            [
                _cell(refusal.doc_id),
                "",
                "",
                _cell(refusal.place),
                refusal.sha256 or "",
                "",
                "refused",
                _cell(str(refusal.problem)),
            ]
        )


def _normalized(file: TextIO, result: ScreeningResult) -> None:
    corpus = result.corpus
    for d, document in enumerate(corpus.documents):
        c = int(corpus.class_of[d])
        file.write(normalized_line(document.doc_id, corpus.text(c) if c >= 0 else "") + "\n")


def _thresholds(file: TextIO, rows: Sequence[ThresholdRow]) -> None:
    table = _writer(file)
    table.writerow(THRESHOLDS_HEADER)
    for row in rows:
        table.writerow(
            [
                repr(row.threshold),
                row.labelled,
                row.found,
                _number(row.candidate_recall),
                row.tp,
                row.fp,
                row.fn,
                _number(row.precision),
                _number(row.recall),
            ]
        )


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


class _replacing:
    """A text file that takes its place only when it is complete; lone surrogates are written as ``?``."""

    def __init__(self, path: Path, encoding: str = "utf-8") -> None:
        self._path = path
        self._encoding = encoding

    def __enter__(self) -> TextIO:
        handle, self._temporary = tempfile.mkstemp(
            dir=self._path.parent, prefix=f".{self._path.name}."
        )
        self._file = os.fdopen(
            handle, "w", encoding=self._encoding, errors="replace", newline="", buffering=1 << 20
        )
        return self._file

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is not None:
            os.unlink(self._temporary)
            return
        os.chmod(self._temporary, 0o644)
        os.replace(self._temporary, self._path)


def _write(path: Path, fill: Callable[[TextIO], object], encoding: str = "utf-8") -> None:
    with _replacing(path, encoding) as file:
        fill(file)
