"""A few hurtful files of each kind; ``fuzz_intake.py`` makes thousands of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from screening.intake.apart import Reader
from tests.faults import fuzz_intake
from tests.faults.hostile import MAKERS


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(MAKERS))
def test_a_hurtful_file_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with Reader(fuzz_intake.LIMITS) as reader:
        for seed in range(4):
            path.write_bytes(MAKERS[kind](random.Random(f"{kind} {seed}")))
            outcome, fault = fuzz_intake.fault_of(f"a.{kind}", path, reader)
            assert fault is None, (seed, outcome, fault)
            assert outcome != "nothing", seed
