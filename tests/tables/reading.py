"""Reading the files of an exported table in tests."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    with (folder / name).open(encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def final(folder: Path, name: str = "final.data.csv") -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def flow(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "flow.json").read_bytes()))
