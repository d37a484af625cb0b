"""The six files of a run, each replaced atomically, byte for byte the same for the same result."""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TextIO

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
    drafts: Drafts | None = None,
) -> None:
    """Write the files of a run into ``out_dir``, made where missing.

    ``documents`` are those the run was given. ``labels`` (left, right, label) fill ``thresholds.csv``; without them it
    has its header only. ``drafts`` are those that were laid down while this result was made. Raises OSError where a file cannot be written; a file is either the old or the whole new one.
    """
    if drafts is None:
        with Drafts(out_dir) as own:
            for _ in own.lay(result):
                pass
            write_run(out_dir, result, documents, labels=labels, thresholds=thresholds, drafts=own)
        return
    out = Path(out_dir)
    lines, reviews = CandidateLines(result), ReviewRows(result)
    count = len(result.table)
    with (
        _replacing(out / "candidates.jsonl") as candidates,
        _replacing(out / "review_table.csv") as review,
    ):
        review.write(_row(REVIEW_HEADER))
        heads = drafts.heads()
        for first in range(0, count, CHUNK):
            end = min(first + CHUNK, count)
            candidates.buffer.writelines(
                head[:-1] + tail.encode("utf-8", "replace")
                for head, tail in zip(islice(heads, end - first), lines.tails(first, end), strict=True)
            )
            review.writelines(reviews.of(first, end))
    drafts.keep()
    pairs = None if labels is None else scored(result, labels)
    _write(out / "thresholds.csv", lambda file: _thresholds(file, pairs, thresholds))
    _write(out / "run.json", lambda file: file.write(run_json(result, pairs, thresholds)))


class Drafts:
    """What the files of a run hold apart from its facts, laid down beside them while those are still being read.

    Use as a context manager; what was not kept at the end is gone. Raises OSError where the folder cannot be written.
    """

    def __init__(self, out_dir: Path | str) -> None:
        self._out = Path(out_dir)
        self._whole: list[_replacing] = []

    def __enter__(self) -> Self:
        self._out.mkdir(parents=True, exist_ok=True)
        self._heads = tempfile.TemporaryFile(dir=self._out, buffering=1 << 20)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heads.close()
        for file in self._whole:
            file.drop()

    def lay(self, result: ScreeningResult) -> Iterator[None]:
        """The steps: the candidates' lines without their ends, and the two files that tell of documents."""
        lines, count = CandidateLines(result), len(result.table)
        for first in range(0, count, CHUNK):
            heads = lines.heads(first, min(first + CHUNK, count))
            self._heads.writelines(f"{head}\n".encode("utf-8", "replace") for head in heads)
            yield
        for name, fill in (("originals.csv", _originals), ("normalized.jsonl", _normalized)):
            file = _replacing(self._out / name)
            self._whole.append(file)
            fill(file.open(), result)
            file.close()
            yield

    def heads(self) -> IO[bytes]:
        """The lines' heads, one a line, from the first on."""
        self._heads.seek(0)
        return self._heads

    def keep(self) -> None:
        """Give the files that are complete their places."""
        while self._whole:
            self._whole.pop().keep()


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

    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self) -> TextIO:
        """The file, beside its place under another name."""
        handle, self._temporary = tempfile.mkstemp(
            dir=self._path.parent, prefix=f".{self._path.name}."
        )
        self._file = os.fdopen(
            handle, "w", encoding="utf-8", errors="replace", newline="", buffering=1 << 20
        )
        return self._file

    def close(self) -> None:
        """No more will be written."""
        self._file.close()

    def drop(self) -> None:
        """Remove what was written."""
        self._file.close()
        os.unlink(self._temporary)

    def keep(self) -> None:
        """Put the file in its place, instead of what stood there."""
        self._file.close()
        os.chmod(self._temporary, 0o644)
        os.replace(self._temporary, self._path)

    def __enter__(self) -> TextIO:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.keep()
        else:
            self.drop()


def _write(path: Path, fill: Callable[[TextIO], object]) -> None:
    with _replacing(path) as file:
        fill(file)
