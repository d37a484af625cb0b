"""The commands: what they print, what they leave behind, and how they end."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from screening import importing, originals
from screening.models import Document, ScreeningRun
from tests.conftest import ROOT
from tests.runs import making

pytestmark = pytest.mark.usefixtures("data_dir")
A = "甲市图书馆每周一闭馆"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return making.folder(tmp_path / "in", making.rows(6))


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command as a person starts it."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if k not in ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "REDIS_URL")
    }
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *map(str, arguments)],
        env={**kept, **environment},
        timeout=120,
        capture_output=True,
        text=True,
    )


def thresholds(out: Path) -> list[dict[str, str]]:
    with (out / "thresholds.csv").open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


# --- screen PATH -----------------------------------------------------------------------------------------------------


def test_a_path_needs_no_database_and_no_data_directory(source: Path, tmp_path: Path) -> None:
    done = run(
        "screen",
        source,
        "--out",
        tmp_path / "out",
        DEDUPREVIEW_DATA_DIR=str(tmp_path / "none"),
        DATABASE_URL="postgresql://nobody@127.0.0.1:1/none",
        REDIS_URL="redis://127.0.0.1:1/0",
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "candidates.jsonl",
        "normalized.jsonl",
        "originals.csv",
        "review_table.csv",
        "run.json",
        "thresholds.csv",
    ]
    assert not (tmp_path / "none").exists()


def test_bad_files_do_not_stop_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_text(A * 4, encoding="utf-8")
    (source / "b.txt").write_bytes((A * 4).encode("gb18030"))
    (source / "c.txt").write_bytes(b"")
    call_command("screen", str(source), "--out", str(tmp_path / "out"))
    assert "c.txt" in capsys.readouterr().err
    with (tmp_path / "out" / "originals.csv").open(encoding="utf-8-sig") as file:
        rows = {row["path"]: row["status"] for row in csv.DictReader(file)}
    assert rows == {"a.txt": "accepted", "b.txt": "accepted", "c.txt": "refused"}
    lines = (tmp_path / "out" / "candidates.jsonl").read_text("utf-8").splitlines()
    assert [(json.loads(line)["left"], json.loads(line)["right"]) for line in lines] == [
        ("a.txt", "b.txt")
    ]


def test_labels_fill_the_threshold_table(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_bytes(
        "左,右,标签\nD0001,D0000,副本\nD0000,D0002,0\nD0003,D0004,复本\nD0000,ZZZ,1\nD0001,D0002,1\nD0002,D0001,0\n".encode(
            "gb18030"
        )
    )
    out = tmp_path / "out"
    call_command(
        "screen",
        str(source),
        "--out",
        str(out),
        "--labels",
        str(labels),
        "--thresholds",
        "0.5,0.99",
    )
    rows = thresholds(out)
    assert [(row["threshold"], row["labelled"], row["tp"], row["fp"]) for row in rows] == [
        ("0.5", "2", "1", "1"),
        ("0.99", "2", "1", "0"),
    ]
    said = capsys.readouterr().err
    for part in ("复本", "ZZZ", "D0002"):
        assert part in said


def test_settings_of_a_file_go_over_the_preset(source: Path, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"threshold": 0.8, "k": 4}', encoding="utf-8")
    out = tmp_path / "out"
    call_command(
        "screen",
        str(source),
        "--out",
        str(out),
        "--preset",
        "seed64",
        "--config",
        str(tmp_path / "c.json"),
    )
    config = json.loads((out / "run.json").read_text("utf-8"))["config"]
    assert (config["num_perm"], config["threshold"], config["k"]) == (64, 0.8, 4)


def test_exhaustive_scores_every_pair(source: Path, tmp_path: Path) -> None:
    call_command("screen", str(source), "--out", str(tmp_path / "out"), "--exhaustive")
    assert (
        len((tmp_path / "out" / "candidates.jsonl").read_text("utf-8").splitlines()) == 6 * 5 // 2
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["{none}/x", "--out", "{out}"],
        ["{source}", "--out", "{out}", "--preset", "none"],
        ["{source}", "--out", "{out}", "--config", "{none}"],
        ["{source}", "--out", "{out}", "--config", "{broken}"],
        ["{source}", "--out", "{out}", "--config", "{unknown}"],
        ["{source}", "--out", "{out}", "--labels", "{none}"],
        ["{source}", "--out", "{out}", "--labels", "{broken}"],
        ["{source}", "--out", "{out}", "--thresholds", "0.5,x"],
        ["{source}", "--out", "{out}", "--thresholds", "1.5"],
        ["{empty}", "--out", "{out}"],
        ["{source}", "--out", "{broken}"],
    ],
)
def test_bad_input_ends_with_code_2_and_a_line(
    source: Path, tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").write_text("{", encoding="utf-8")
    (tmp_path / "unknown").write_text('{"colour": 1}', encoding="utf-8")
    places = {
        name: str(tmp_path / name) for name in ("none", "empty", "broken", "unknown", "out")
    } | {"source": str(source)}
    with pytest.raises(CommandError) as error:
        call_command("screen", *[part.format(**places) for part in arguments])
    assert error.value.returncode == 2
    assert len(str(error.value).splitlines()) == 1


# --- Collections -----------------------------------------------------------------------------------------------------


def test_an_empty_data_directory_is_enough(source: Path, tmp_path: Path) -> None:
    data = {"DEDUPREVIEW_DATA_DIR": str(tmp_path / "data")}
    done = run("import_documents", source, "--collection", "青禾", **data)
    assert done.returncode == 0, done.stderr
    assert "6" in done.stdout.splitlines()[-1]
    done = run("screen", "青禾", "--out", tmp_path / "out", **data)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "run: 1"
    run("screen", source, "--out", tmp_path / "path", **data)
    for path in (tmp_path / "out").iterdir():
        assert path.read_bytes() == (tmp_path / "path" / path.name).read_bytes()
    assert run("verify_originals", **data).returncode == 0
    assert run("screen", "unbekannt", "--out", tmp_path / "out", **data).returncode == 2
    assert run("import_documents", tmp_path / "nix", "--collection", "x", **data).returncode == 2


def test_an_existing_path_wins_over_a_collection(
    db: None, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing.import_path(path=source, collection=importing.get_or_create_collection(slug="in"))
    monkeypatch.chdir(tmp_path)
    call_command("screen", "in", "--out", "out")
    assert not ScreeningRun.objects.exists()


def test_every_file_and_row_is_named(
    db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = making.folder(tmp_path / "in", [*making.rows(2), {"doc_id": "x"}, *making.rows(1)])
    call_command("import_documents", str(source), "--collection", "c")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    for number, line in enumerate(lines[:4], start=1):
        assert f"documents.jsonl:{number}" in line


def test_nothing_to_read_is_bad_input(
    db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    with pytest.raises(SystemExit) as ended:
        call_command("import_documents", str(tmp_path / "a.txt"), "--collection", "c")
    assert ended.value.code == 2


def test_changed_originals_and_texts_are_found(
    db: None, data_dir: Path, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import_documents", str(source), "--collection", "c", "--quiet")
    call_command("verify_originals", "c")
    document = Document.objects.get(doc_id="D0003")
    path = originals.path_of(document.source_file.sha256)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b" ")
    Document.objects.filter(doc_id="D0002").update(raw="x")
    with pytest.raises(SystemExit) as ended:
        call_command("verify_originals")
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "D0002" in said
    assert "documents.jsonl" in said
    path.unlink()
    assert {p.code for p in originals.verify().problems} == {"original_missing", "text_changed"}


def test_verifying_an_unknown_collection_is_bad_input(db: None) -> None:
    with pytest.raises(CommandError) as error:
        call_command("verify_originals", "none")
    assert error.value.returncode == 2


def test_a_terminal_gets_a_bar_and_a_file_does_not() -> None:
    import io

    from screening.terminal import ProgressBar

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown, silent = Terminal(), io.StringIO()
    for stream in (shown, silent):
        bar: Any = ProgressBar(stream)
        bar("sign", 5, 10)
        bar.clear()
    assert "5/10" in shown.getvalue()
    assert silent.getvalue() == ""
