"""What the README says about commands and settings is so, and it says all of it."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OURS = {"dedupreview", "dedupreview.people", "screening", "reviews"}
COMMAND_LINES = re.findall(r"^python3 manage\.py (\w+)(.*)$", README, re.MULTILINE)
INTERNAL = {"DEDUPREVIEW_SUPERVISOR"}


def test_every_command_is_there() -> None:
    named = {name for name, _options in COMMAND_LINES}
    assert named == {name for name, app in get_commands().items() if app in OURS}


@pytest.mark.parametrize(("name", "options"), [c for c in COMMAND_LINES if c[0] != "test"])
def test_its_options_are_real(name: str, options: str) -> None:
    command = load_command_class(get_commands()[name], name)
    parser: ArgumentParser = command.create_parser("manage.py", name)
    known = {option for action in parser._actions for option in action.option_strings}
    assert set(re.findall(r"--[a-z-]+", options)) <= known


def test_every_setting_of_the_environment_is_there() -> None:
    used: set[str] = set()
    for folder in ("dedupreview", "screening", "reviews"):
        for file in (ROOT / folder).rglob("*.py"):
            used |= set(re.findall(r"\bDEDUPREVIEW_[A-Z_]+\b", file.read_text(encoding="utf-8")))
    assert used - INTERNAL == set(re.findall(r"`(DEDUPREVIEW_[A-Z_]+)`", README))


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "python3 manage.py test" in README
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert "check python3 manage.py test" in lines
