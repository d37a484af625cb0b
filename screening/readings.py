"""Changed facts of every candidate: each document is read once, in as many processes as there are processors."""

from __future__ import annotations

import marshal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screening import kernels
from screening.columns import passages_of
from screening.result import PairTable, TextPairs
from screening.text.corpus import Corpus
from screening.text.shingles import slices

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange
    from screening.evidence.reader_process import Answer, Job

WHOLE = 0.5
"""From this containment on whole texts are compared; below it only what surrounds shared passages."""

ALL_READ = 50_000
"""Runs of more candidates than this read only the facts of pairs that are asked or have a Jaccard of :data:`ALIKE`."""

ALIKE = 0.5

WORTH_A_PROCESS = 1_000_000
"""Characters to read from which a second process pays for its start."""

PROGRAM = "screening.evidence.reader_process"

Report = Callable[[str, int, int], None]
Reader = subprocess.Popen[bytes]


@contextmanager
def readers(corpus: Corpus, processes: int) -> Iterator[list[Reader]]:
    """Processes that will read facts, none for few texts; they load while the caller still does something else."""
    size = sum(len(document.raw) for document in corpus.documents)
    wanted = processes if processes > 1 and size > WORTH_A_PROCESS else 0
    started = [_start() for _ in range(wanted)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
        for process in started:
            with process:  # closes its pipes and waits for its end
                pass


def read_changes(
    corpus: Corpus,
    texts: TextPairs,
    table: PairTable,
    report: Report,
    processes: Sequence[Reader] = (),
    meanwhile: Iterable[object] = (),
) -> list[tuple[FactChange, ...]]:
    """Fact changes of every row of ``table``, read by ``processes`` if there are any; ``report`` may raise to stop.

    ``meanwhile`` are steps of other work, of a tenth of a second or so each: as many are taken as fit into the waiting.
    """
    from screening.evidence.facts import FactChange

    rows, jobs = _jobs(corpus, texts, table)
    report("facts", 0, len(jobs))
    result: list[tuple[FactChange, ...]] = [()] * len(table)
    if processes:
        answers = _in_processes(corpus, jobs, report, processes, iter(meanwhile))
    else:
        answers = _here(corpus, jobs, report)
    for places, answer in zip(rows, answers, strict=True):
        if answer:
            changes = tuple([FactChange(*change) for change in answer])  # type: ignore[arg-type]
            for row in places:
                result[row] = changes
    return result


def _jobs(corpus: Corpus, texts: TextPairs, table: PairTable) -> tuple[list[list[int]], list[Job]]:
    """What to compare, and the rows that each answer is for: equal raw texts are compared once.

    Families come together, so that a reading is soon done with.
    """
    family = np.empty(len(corpus.documents), dtype=np.int64)
    kernels.component_roots(table.left, table.right, family)
    order = np.lexsort((table.right, table.left, family[table.left]))
    order = order[_worth_reading(texts, table)[order]]
    pair = table.text_pair[order]
    near = _far(texts, table)[order]
    left, right = table.left[order], table.right[order]
    spans = iter(passages_of(corpus, texts, left[near], right[near], pair[near]))
    documents = corpus.documents
    classes = corpus.class_of.tolist()
    same: dict[tuple[str, int], int] = {}
    first = [same.setdefault((x.raw, classes[d]), d) for d, x in enumerate(documents)]
    found: dict[tuple[int, int], int] = {}
    rows: list[list[int]] = []
    jobs: list[Job] = []
    for row, d, e, confined in zip(
        order.tolist(), left.tolist(), right.tolist(), near.tolist(), strict=True
    ):
        shared = next(spans) if confined else None
        if documents[d].raw == documents[e].raw:
            continue
        key = (first[d], first[e])
        number = found.setdefault(key, len(jobs))
        if number == len(jobs):
            rows.append([])
            jobs.append((*key, shared))
        rows[number].append(row)
    return rows, jobs


def _worth_reading(texts: TextPairs, table: PairTable) -> NDArray[np.bool_]:
    """Rows whose facts are read: found by a channel, and in large runs asked or alike."""
    worth = table.flags > 0
    if len(table) > ALL_READ:
        alike = np.ones(len(table), dtype=bool)
        inside = table.text_pair >= 0
        scores = np.maximum(texts.scores.jaccard, texts.scores.jaccard_folded)
        alike[inside] = scores[table.text_pair[inside]] >= ALIKE
        worth &= alike | table.representative
    return worth


def _far(texts: TextPairs, table: PairTable) -> NDArray[np.bool_]:
    """Rows whose texts share less than :data:`WHOLE` of the smaller one."""
    far = np.zeros(len(table), dtype=bool)
    inside = table.text_pair >= 0
    if inside.any():
        far[inside] = texts.scores.containment[table.text_pair[inside]] < WHOLE
    return far


def _here(corpus: Corpus, jobs: Sequence[Job], report: Report) -> list[Answer]:
    from screening.evidence.reader_process import BATCH, answers

    texts = {d: corpus.documents[d].raw for job in jobs for d in job[:2]}
    result: list[Answer] = []
    for answer in answers(texts, jobs):
        result.append(answer)
        if len(result) % BATCH == 0:
            report("facts", len(result), len(jobs))
    return result


def _in_processes(
    corpus: Corpus,
    jobs: Sequence[Job],
    report: Report,
    processes: Sequence[Reader],
    meanwhile: Iterator[object],
) -> list[Answer]:
    """The jobs in slices, one process each; what a process that died leaves behind is done here."""
    done = [0] * len(processes)
    parts = slices(len(jobs), len(processes))
    with ThreadPoolExecutor(len(processes)) as pool:
        futures = [
            pool.submit(_ask, process, corpus, jobs[lo:hi], done, number)
            for number, (process, (lo, hi)) in enumerate(zip(processes, parts, strict=False))
        ]
        try:
            while not all(future.done() for future in futures):
                if next(meanwhile, meanwhile) is meanwhile:
                    wait(futures, timeout=0.2)
                report("facts", sum(done), len(jobs))
        except BaseException:
            for process in processes:
                process.kill()
            raise
    result: list[Answer] = []
    for future, (lo, hi) in zip(futures, parts, strict=True):
        part = future.result()
        result += part
        if len(part) < hi - lo:
            result += _here(corpus, jobs[lo + len(part) : hi], report)
    return result


def _start() -> Reader:
    return subprocess.Popen(
        [sys.executable, "-m", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[1],
    )


def _ask(
    child: Reader,
    corpus: Corpus,
    jobs: Sequence[Job],
    done: list[int],
    number: int,
) -> list[Answer]:
    """Send the jobs and gather the answers, as many as come."""
    assert child.stdin is not None
    assert child.stdout is not None
    texts = {d: corpus.documents[d].raw for job in jobs for d in job[:2]}
    result: list[Answer] = []
    try:
        with child.stdin as stdin:
            stdin.write(marshal.dumps((texts, list(jobs))))
        while len(result) < len(jobs):
            result += marshal.load(child.stdout)
            done[number] = len(result)
    except (OSError, EOFError, ValueError, TypeError):
        pass  # the process died; what it did not answer is read here
    child.stdout.close()
    return result
