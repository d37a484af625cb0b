"""What was exported can be read again as labelled pairs, and gives the same rows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from screening.labels_file import read_label_rows


@pytest.mark.parametrize("name", ["final.csv", "final.data.csv", "final.xlsx", "outcomes.jsonl"])
def test_an_exported_table_is_a_label_set(table: Path, name: str) -> None:
    rows, problems = read_label_rows((table / name).read_bytes(), name)
    with (table / "final.data.csv").open(encoding="utf-8", newline="") as file:
        expected = [(row["left"], row["right"], row["label"]) for row in csv.DictReader(file)]
    assert [(row.left, row.right, row.label) for row in rows] == expected
    assert len(expected) == 6
    refused = [problem for problem in problems if "line" in problem.params]
    assert refused == []
