"""Commands make their database when it is missing and say what is wrong in plain lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dedupreview.commands import DatabaseCommand, ProjectCommand, lines_of
from dedupreview.management.commands.test import pytest_command
from tests import servers

ROOT = Path(__file__).resolve().parents[2]


class Refused(Exception):
    """A domain error as every module has one."""

    def __init__(self, template: str, **params: object) -> None:
        super().__init__(template)
        self.template = template
        self.params = params


class Several(Exception):
    def __init__(self, problems: list[Exception]) -> None:
        self.problems = problems


class Failing(ProjectCommand):
    error: Exception = Refused("row %(row)s has no text", row=7)

    def handle(self, **_options: Any) -> None:
        raise self.error


class Counting(DatabaseCommand):
    def handle(self, **_options: Any) -> None:
        from dedupreview.people.models import Person

        self.stdout.write(str(Person.objects.count()))


def test_a_domain_error_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        Failing().run_from_argv(["manage.py", "failing"])
    assert end.value.code == 2
    assert capsys.readouterr().err == "row 7 has no text\n"


def test_several_problems_are_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    command = Failing()
    command.error = Several([Refused("no file %(name)s", name="a"), ValueError("odd")])
    with pytest.raises(SystemExit):
        command.run_from_argv(["manage.py", "failing"])
    assert capsys.readouterr().err == "no file a\nodd\n"


def test_called_from_code_it_raises() -> None:
    with pytest.raises(CommandError, match="row 7 has no text") as error:
        call_command(Failing())
    assert error.value.returncode == 2


def test_a_mistake_of_ours_is_not_dressed_up(capsys: pytest.CaptureFixture[str]) -> None:
    command = Failing()
    command.error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        command.run_from_argv(["manage.py", "failing"])
    assert lines_of(ZeroDivisionError()) is None


def test_a_plain_command_error_keeps_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    command = Failing()
    command.error = CommandError("no such round")
    with pytest.raises(SystemExit) as end:
        command.run_from_argv(["manage.py", "failing"])
    assert end.value.code == 2
    assert capsys.readouterr().err == "no such round\n"


def test_a_missing_data_directory_is_made_and_migrated(tmp_path: Path) -> None:
    code = (
        "import django; django.setup()\n"
        "from tests.runtime.test_commands import Counting\n"
        "Counting().run_from_argv(['manage.py', 'counting'])\n"
    )
    data_dir = tmp_path / "not" / "there"
    environment = {n: v for n, v in os.environ.items() if n not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {
        "DEDUPREVIEW_DATA_DIR": str(data_dir),
        "DJANGO_SETTINGS_MODULE": "dedupreview.settings",
        "PYTHONPATH": str(ROOT),
    }
    racing = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in racing]
    assert [process.returncode for process in racing] == [0, 0]
    assert [output.strip() for output in outputs] == ["0", "0"]
    assert (data_dir / "db.sqlite3").exists()


def test_on_postgres_too(
    postgres_cluster: servers.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_cluster.create("empty_for_commands")
    code = (
        "import django; django.setup()\n"
        "from dedupreview.commands import ensure_migrated\n"
        "print(ensure_migrated(), ensure_migrated())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "dedupreview.settings"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "True False", done.stderr


@pytest.mark.parametrize(
    ("arguments", "spread"),
    [([], True), (["-k", "seat"], True), (["-n", "4"], False), (["--pdb"], False)],
)
def test_tests_run_in_two_processes_unless_told_otherwise(
    arguments: list[str], spread: bool
) -> None:
    command = pytest_command(arguments)
    assert command[:3] == [sys.executable, "-m", "pytest"]
    assert ("loadgroup" in command) is spread
    assert command[len(command) - len(arguments) :] == arguments
