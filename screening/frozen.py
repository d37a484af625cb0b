"""What a run works on, fixed when it is started: its list of inputs and what the imports had refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from screening.documents import OPTIONAL_METADATA, InputDocument, Problem, Refusal, Role
from screening.leaks import as_references
from screening.models import Collection, Document, DocumentMetadata
from screening.writing import write_lines

INPUTS = "inputs.jsonl"
REFUSALS = "refusals.jsonl"


class InputsChanged(Exception):
    """A text that the run was started on is not there any more, or is another one; ``doc_id`` names it."""

    def __init__(self, doc_id: str) -> None:
        super().__init__(doc_id)
        self.doc_id = doc_id


def freeze(
    folder: Path,
    collection: Collection,
    refusals: Iterable[Refusal],
    reference: Collection | None = None,
) -> int:
    """Write down every document of the collection, and of the one it is compared with, as they are now.

    Returns how many the collection itself has.
    """
    lines = list(_input_lines(collection, "subject"))
    count = len(lines)
    if reference is not None:
        lines += _input_lines(reference, "reference")
    write_lines(folder / INPUTS, lines)
    write_lines(folder / REFUSALS, (json.dumps(_refusal(refusal)) for refusal in refusals))
    return count


def _input_lines(collection: Collection, role: Role) -> Iterator[str]:
    rows = Document.objects.filter(collection=collection).values_list("pk", "doc_id", "raw_sha256")
    inputs = sorted(rows.iterator(chunk_size=5000), key=lambda row: row[1])
    corrected = dict(
        DocumentMetadata.objects.filter(document__collection=collection)
        .order_by("number")
        .values_list("document", "pk")
    )
    for row in inputs:
        yield _input_line(corrected, role, *row)


def _input_line(corrected: dict[int, int], role: Role, pk: int, doc_id: str, sha256: str) -> str:
    row: dict[str, object] = {"pk": pk, "doc_id": doc_id, "raw_sha256": sha256, "role": role}
    if pk in corrected:
        row["metadata"] = corrected[pk]  # a later correction does not change this run
    return json.dumps(row, ensure_ascii=False)


def _refusal(refusal: Refusal) -> dict[str, object]:
    problem = refusal.problem
    return {
        "place": refusal.place,
        "doc_id": refusal.doc_id,
        "sha256": refusal.sha256,
        "problem": [problem.code, problem.template, dict(problem.params)],
    }


def refusals(folder: Path) -> list[Refusal]:
    """What was refused before the run was started."""
    with (folder / REFUSALS).open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [
        Refusal(row["place"], Problem(*row["problem"]), row["doc_id"], row["sha256"])
        for row in rows
    ]


def documents(
    folder: Path, collection: Collection, reference: Collection | None = None
) -> tuple[list[InputDocument], list[int]]:
    """The texts of a run in the order of its list, and their keys. Raises InputsChanged.

    Those of a run of one collection carry none, and its files do not differ from those of `screen PATH`. With a
    ``reference`` they carry both, so that left and right are those of the pairs in the database.
    """
    with (folder / INPUTS).open(encoding="utf-8") as file:
        inputs = [json.loads(line) for line in file]
    wanted = {row["pk"]: number for number, row in enumerate(inputs)}
    corrections = DocumentMetadata.objects.in_bulk(
        [row["metadata"] for row in inputs if "metadata" in row]
    )
    found: list[InputDocument | None] = [None] * len(inputs)
    columns = ("pk", "doc_id", "raw", "raw_sha256", "sha256", "source_id", "version", "title")
    both = [c for c in (collection, reference) if c is not None]
    rows = Document.objects.filter(collection__in=both).values_list(
        *columns, "original_path", "captured_at", "metadata"
    )
    for pk, doc_id, raw, raw_sha256, *rest in rows.iterator(chunk_size=5000):
        number = wanted.get(pk)
        if number is None:
            continue
        if inputs[number]["raw_sha256"] != raw_sha256:
            raise InputsChanged(doc_id)
        document = _document(doc_id, raw, raw_sha256, inputs[number]["role"], *rest)
        correction = corrections.get(inputs[number].get("metadata"))
        found[number] = _corrected(document, correction.values) if correction else document
    texts = [document for document in found if document is not None]
    if len(texts) != len(inputs):
        raise InputsChanged(
            next(row["doc_id"] for row, text in zip(inputs, found, strict=True) if text is None)
        )
    if reference is not None:
        own = [replace(d, collection=collection.slug) for d in texts if d.role == "subject"]
        others = [d for d in texts if d.role == "reference"]
        texts = own + as_references(others, reference.slug)
    return texts, [row["pk"] for row in inputs]


def keys_by_id(folder: Path) -> dict[tuple[str, str], int]:
    """The key of every input by (role, doc_id), without reading a text."""
    with (folder / INPUTS).open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {(row.get("role", "subject"), row["doc_id"]): row["pk"] for row in rows}


def _document(
    doc_id: str,
    raw: str,
    raw_sha256: str,
    role: Role,
    sha256: str,
    source_id: str | None,
    version: str | None,
    title: str | None,
    original_path: str | None,
    captured_at: str | None,
    metadata: dict[str, str | None],
) -> InputDocument:
    return InputDocument(
        doc_id=doc_id,
        raw=raw,
        sha256=sha256,
        source_id=source_id,
        version=version,
        title=title,
        original_path=original_path,
        captured_at=captured_at,
        metadata=metadata,
        role=role,
        raw_sha256=raw_sha256,
    )


def _corrected(document: InputDocument, values: dict[str, str]) -> InputDocument:
    return replace(
        document,
        source_id=values.get("source_id"),
        version=values.get("version"),
        title=values.get("title"),
        captured_at=values.get("captured_at"),
        metadata={name: values[name] for name in OPTIONAL_METADATA if values.get(name)},
    )
