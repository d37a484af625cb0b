"""What was exported can be read again as labelled pairs, and gives the same rows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from reviews.labelsets import import_labels
from reviews.models import LabelRow, ReviewRound, ReviewTable
from reviews.tables import table_folder
from screening.labels_file import read_label_rows
from tests.tables.reading import lines

NAMES = ["final.csv", "final.data.csv", "final.xlsx", "outcomes.jsonl"]


@pytest.mark.parametrize("name", NAMES)
def test_an_exported_table_is_a_label_set(table: Path, name: str) -> None:
    rows, problems = read_label_rows((table / name).read_bytes(), name)
    with (table / "final.data.csv").open(encoding="utf-8", newline="") as file:
        expected = [(row["left"], row["right"], row["label"]) for row in csv.DictReader(file)]
    assert [(row.left, row.right, row.label) for row in rows] == expected
    assert len(expected) == 6
    refused = [problem for problem in problems if "line" in problem.params]
    assert refused == []


@pytest.mark.parametrize("name", NAMES)
def test_imported_again_every_conclusion_is_there(table: Path, name: str) -> None:
    round = ReviewRound.objects.get()
    report = import_labels(
        collection=round.collection,
        name=f"again {name}",
        filename=name,
        data=(table / name).read_bytes(),
    )
    concluded = {
        (row["left"], row["right"]): row["label"]
        for row in lines(table, "outcomes.jsonl")
        if row["label"]
    }
    stored = {
        (row.pair.left.doc_id, row.pair.right.doc_id): row.label
        for row in LabelRow.objects.filter(label_set=report.label_set)
    }
    assert stored == concluded
    assert len(stored) == 6
    assert report.refused == [] or list(report.refused) == []
    # A second source, never anybody's judgment: the table of the round stays what it was.
    assert table == table_folder(ReviewTable.objects.get())
