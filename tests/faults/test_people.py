"""A few people over HTTP, with dropped connections and killed workers; the program beside this file does it with fifty."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_nothing_is_lost_or_counted_twice() -> None:
    command = [
        sys.executable,
        "-m",
        "tests.faults.simulate_people",
        "--people",
        "8",
        "--pairs",
        "30",
    ]
    command += ["--seconds", "150", "--kill-every", "2"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["wrong"] == [], result
    assert done.returncode == 0
    assert result["judgments"] >= 60
    assert result["looks"] > 5
    # The contest would prove nothing if nothing had gone wrong in it.
    assert result["happened"].get("dropped", 0) + result["happened"].get("no answer", 0) > 0
