"""The six files of a run, each replaced atomically, byte for byte the same for the same result."""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from screening.collecting import no_collection
from screening.columns import scores_of
from screening.documents import InputDocument
from screening.evaluation import LabelledPair
from screening.lines import CandidateLines, normalized_line
from screening.measuring import Scored
from screening.result import CHANNEL_NAMES, NOTES, ScreeningResult
from screening.suggest import SUGGESTIONS
from screening.thresholds import HEADER, breakdown, rows, scored

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
        review.write(_row(REVIEW_HEADER))
        for first in range(0, count, CHUNK):
            end = min(first + CHUNK, count)
            candidates.writelines(lines.of(first, end))
            review.writelines(reviews.of(first, end))
    _write(out / "originals.csv", lambda file: _originals(file, result))
    _write(out / "normalized.jsonl", lambda file: _normalized(file, result))
    pairs = None if labels is None else scored(result, labels)
    _write(out / "thresholds.csv", lambda file: _thresholds(file, pairs, thresholds))
    _write(out / "run.json", lambda file: file.write(run_json(result, pairs, thresholds)))


def run_json(
    result: ScreeningResult,
    pairs: Sequence[Scored] | None = None,
    thresholds: Sequence[float] = (),
) -> str:
    """The record of the run: configuration, versions, inputs with hashes, funnel, what was left out.

    With labelled ``pairs`` also ``evaluation``: the table of thresholds by label, source and language, and each error.
    """
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
    if pairs is not None:
        record["evaluation"] = breakdown(pairs, thresholds)
    return json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n"


class ReviewRows:
    """The rows of ``review_table.csv``, in rank order."""

    def __init__(self, result: ScreeningResult) -> None:
        self._result = result
        documents = result.corpus.documents
        self._ids = [_cell(d.doc_id) for d in documents]
        self._titles = [_cell(d.title) for d in documents]
        self._versions = [_cell(d.version) for d in documents]

    def of(self, first: int, end: int) -> Iterator[str]:
        """The rows ``first`` to ``end`` of the table of candidates, each with its line end."""
        result, table = self._result, self._result.table
        ids, titles, versions = self._ids, self._titles, self._versions
        _, jaccard, _, containment = scores_of(result, table.text_pair[first:end])
        columns = zip(
            table.left[first:end].tolist(),
            table.right[first:end].tolist(),
            range(first + 1, end + 1),
            table.flags[first:end].tolist(),
            jaccard,
            containment,
            result.facts[first:end] if result.facts else [()] * (end - first),
            table.hint[first:end].tolist(),
            table.representative[first:end].tolist(),
            table.note[first:end].tolist(),
            strict=True,
        )
        for a, b, rank, flags, score, within, changes, hint, asked, note in columns:
            kinds = " ".join(sorted({x.kind for x in changes})) if changes else ""
            yield (
                f"{ids[a]},{ids[b]},{titles[a]},{titles[b]},{versions[a]},{versions[b]},"
                f"{rank},{_SPACED[flags]},{score!r},{within!r},{kinds},{SUGGESTIONS[hint]},"
                f"{'yes' if asked else 'no'},{NOTES[note]},,,,pending\r\n"
            )


_SPACED = [" ".join(names) for names in CHANNEL_NAMES]

_NOT_PLAIN = re.compile(r'[,"\r\n]')


def _cell(value: str | None) -> str:
    """A cell of a CSV file, quoted where it has to be, that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        value = "'" + value
    return '"' + value.replace('"', '""') + '"' if _NOT_PLAIN.search(value) else value


def _row(cells: Iterable[object]) -> str:
    return ",".join([_cell(str(cell)) for cell in cells]) + "\r\n"


def _originals(file: TextIO, result: ScreeningResult) -> None:
    """Every document and every refused file or row, with what became of it."""
    file.write(_row(ORIGINALS_HEADER))
    cell = _cell
    ends = (",accepted,\r\n", ",no_content,no letter or digit to compare\r\n")
    file.writelines(
        f"{cell(d.doc_id)},{cell(d.source_id)},{cell(d.version)},{cell(d.original_path)},"
        f"{d.sha256},{cell(d.captured_at)}{ends[empty]}"
        for d, empty in zip(
            result.corpus.documents, (result.corpus.class_of < 0).tolist(), strict=True
        )
    )
    for refusal in sorted(result.refusals, key=lambda r: (r.place, r.doc_id or "", r.problem.code)):
        file.write(
            f"{cell(refusal.doc_id)},,,{cell(refusal.place)},{refusal.sha256 or ''},,"
            f"refused,{cell(str(refusal.problem))}\r\n"
        )


def _normalized(file: TextIO, result: ScreeningResult) -> None:
    texts = [*result.corpus.texts(), ""]  # -1 is the number of no text
    numbers = result.corpus.class_of.tolist()
    file.writelines(
        normalized_line(d.doc_id, texts[c]) + "\n"
        for d, c in zip(result.corpus.documents, numbers, strict=True)
    )


def _thresholds(
    file: TextIO, pairs: Sequence[Scored] | None, thresholds: Sequence[float]
) -> None:
    table = csv.writer(file, lineterminator="\r\n")
    table.writerow(HEADER)
    for row in rows(pairs, thresholds) if pairs is not None else ():
        table.writerow([_number(v) if v is None or isinstance(v, float) else v for v in row])


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
