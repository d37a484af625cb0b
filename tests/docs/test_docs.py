"""What the documentation names is there, and what is there is named: commands, settings, addresses, channels, labels, files."""

from __future__ import annotations

import importlib.util
import re
import shlex
from argparse import ArgumentParser
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import Resolver404, resolve

from dedupreview.api import api
from dedupreview.people.models import Role
from reviews.labels import Direction, Label, ReasonCode
from screening.config import KNOWN_CHANNELS, PRESETS
from screening.label_names import LABELS
from screening.names import FACT_NAMES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]}  # fmt: skip
ALL = "\n".join(PAGES.values())
OURS = {"dedupreview", "dedupreview.people", "screening", "reviews"}
COMMANDS = {name: app for name, app in get_commands().items() if app in OURS}
DJANGO_TOO = {"check", "makemigrations", "migrate"}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
MOST_BYTES = 150_000


def words_of(text: str) -> list[str]:
    """The pieces of a page in backquotes, outside fenced blocks."""
    return CODE.findall(FENCE.sub("", text))


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    folder = (ROOT / name).parent
    targets = re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", PAGES[name]))
    broken = [
        target
        for target in targets
        if not re.match(r"https?:|mailto:|#", target)
        and not (folder / target.split("#")[0]).exists()
    ]
    assert broken == []


def test_every_page_is_linked() -> None:
    linked = {
        ((ROOT / name).parent / target.split("#")[0]).resolve()
        for name, text in PAGES.items()
        for target in re.findall(r"\]\(([^)\s]+)\)", text)
        if not target.startswith("http")
    }
    assert {name for name in PAGES if name != "README.md" and (ROOT / name) not in linked} == set()


def test_pictures_are_small_and_used() -> None:
    pictures = {path.relative_to(DOCS).as_posix(): path.stat().st_size for path in (DOCS / "img").iterdir()}  # fmt: skip
    assert pictures
    assert {name: size for name, size in pictures.items() if size >= MOST_BYTES} == {}
    assert {name for name in pictures if f"({name})" not in ALL} == set()


def manage_lines() -> list[tuple[str, str, list[str]]]:
    """(page, command, arguments) of every call of manage.py in a fenced block or in backquotes."""
    found = []
    for name, text in PAGES.items():
        blocks = [line for _kind, body in FENCE.findall(text) for line in body.splitlines()]
        for line in [*blocks, *words_of(text)]:
            for command, rest in re.findall(r"manage\.py (\w+)([^|&#]*)", line):
                plain = re.sub(r"[\[\]]", " ", rest)
                found.append((name, command, shlex.split(plain.replace("'", ""))))
    return found


def test_commands_and_their_options_are_real() -> None:
    lines = manage_lines()
    assert len(lines) > 30
    for name, command, arguments in lines:
        assert command in COMMANDS or command in DJANGO_TOO, (name, command)
        if command == "test" or command in DJANGO_TOO:
            continue
        parser: ArgumentParser = load_command_class(COMMANDS[command], command).create_parser(
            "manage.py", command
        )
        known = {option for action in parser._actions for option in action.option_strings}
        assert {a for a in arguments if a.startswith("--")} <= known, (name, command, arguments)


def test_every_command_is_explained_outside_the_list() -> None:
    outside = "\n".join(text for name, text in PAGES.items() if name != "README.md")
    assert {name for name in COMMANDS if not re.search(rf"\b{name}\b", outside)} - {"up"} == set()


def test_settings_that_are_named_exist() -> None:
    table = set(re.findall(r"^\| `([A-Z_]+)` \|", PAGES["README.md"], re.MULTILINE))
    named = set(re.findall(r"\b(DEDUPREVIEW_[A-Z_]+|DATABASE_URL|REDIS_URL)\b", ALL))
    assert named - table - {"DEDUPREVIEW_CHROMIUM", "DEDUPREVIEW_SHARED"} == set()


def test_addresses_that_are_named_exist() -> None:
    paths = set(api.get_openapi_schema()["paths"])
    known = {re.sub(r"\{[^}]+\}", "{}", path) for path in paths}
    for name, text in PAGES.items():
        for word in re.findall(r"`(?:GET |POST )?(/[\w/{}.\-]+)`", text):
            if word in ("/api/v1/", "/api/"):
                continue
            if re.sub(r"\{[^}]+\}", "{}", word) in known:
                continue
            try:
                resolve(word)
            except Resolver404:
                pytest.fail(f"{name}: {word}")


def test_channels_are_described_and_described_ones_exist() -> None:
    text = PAGES["docs/screening.md"] + PAGES["docs/ways.md"]
    described = set(re.findall(r"^\*\*([a-z_]+)\.\*\*|^\*\*([a-z_]+)\*\* \(off\)", text, re.MULTILINE))
    names = {one or other for one, other in described}
    missing = {name for name in KNOWN_CHANNELS if not re.search(rf"\b{name}\b", text)}
    assert missing == set()
    assert names - set(KNOWN_CHANNELS) <= {"fragments", "seen", "windows"}
    assert set(PRESETS) - {p for p in PRESETS if re.search(rf"\b{p}\b", ALL)} == set()


def test_labels_reasons_and_roles_stand_in_the_guide() -> None:
    guide = PAGES["docs/guide.zh.md"]
    assert {code for code in Label.values if f"（{code}）" not in guide} == set()
    assert {n.zh for n in LABELS.values() if n.zh not in guide} == set()
    assert {n.key for n in LABELS.values() if f"| `{n.key}` |" not in guide} == set()
    assert {code for code in ReasonCode.values if not re.search(rf"\b{code}\b", guide)} == set()
    assert {role for role in Role.values if role not in PAGES["docs/guide-admin.zh.md"]} == set()
    assert len(Direction.values) == len(re.findall(r"`[→←=-]`", guide))


FILE = re.compile(
    r"^(?:\.ci|tests|screening|reviews|dedupreview|static|templates|docs|locale)/[\w./\-]*$"
)


def test_files_that_are_named_exist() -> None:
    missing = [
        (name, word)
        for name, text in PAGES.items()
        for word in words_of(text)
        if FILE.match(word) and not (ROOT / word).exists()
    ]
    assert missing == []


def test_modules_that_are_run_exist() -> None:
    for name, text in PAGES.items():
        for module in re.findall(r"python3? -m (tests[\w.]+)", text):
            assert importlib.util.find_spec(module) is not None, (name, module)


def test_kinds_of_facts_are_of_those_that_exist() -> None:
    assert {"date", "number", "negation"} <= set(FACT_NAMES)
    text = PAGES["docs/method.zh.md"]
    assert "jaccard" in text
    assert "等于抄袭" in text
    assert "等于各自独立" in text
    for sentence in ("does not mean independent", "does not mean plagiarised"):
        assert sentence in PAGES["docs/method.md"]
