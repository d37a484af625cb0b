"""Every command in the documentation runs, and prints what stands below it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = "python3 "


def steps(page: Path) -> list[tuple[str, list[str]]]:
    """The commands of a page in order, each with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip():
                found[-1][1].append(line.strip())
    return found


WITH_STEPS = [page for page in PAGES if steps(page)]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_STEPS, ids=lambda page: page.name)
def test_the_commands_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("DEDUPREVIEW_", "DJANGO_"))},
        "DEDUPREVIEW_DATA_DIR": str(tmp_path / "data"),
        "LANG": "C.UTF-8",
    }
    environment.pop("DATABASE_URL", None)
    for command, expected in steps(page):
        line = command.replace("{out}", shlex.quote(str(tmp_path / "out")))
        line = line.replace(PYTHON, f"{shlex.quote(sys.executable)} ")
        result = subprocess.run(
            ["sh", "-c", line],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert result.returncode == 0, (command, result.stderr[-1000:])
        printed = [text.strip() for text in result.stdout.splitlines()]
        for text in expected:
            assert text in printed, (command, text, printed[-10:])


def test_there_are_pages_with_commands() -> None:
    assert {"exchange.md"} <= {page.name for page in WITH_STEPS}
