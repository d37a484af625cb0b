"""Every word that people may meet has its Chinese, and the compiled catalogue is the written one."""

from __future__ import annotations

import ast
import gettext
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages import mofile, pofile
from babel.messages.catalog import Catalog
from django.utils.translation import templatize

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES"
PACKAGES = ("dedupreview", "screening", "reviews")

CALLS = {"_": 1, "gettext": 1, "gettext_lazy": 1, "gettext_noop": 1, "ngettext": 2}
"""Functions whose first arguments are msgids, and how many of them."""

OWN_ENGLISH = {
    # The interface of the command line is English, like that of the commands around it.
    "management",
}

PLACES = re.compile(r"%\((\w+)\)[sd]|%%")


Msgid = str | tuple[str, str]
"""A message, or singular and plural of one."""


def in_templates() -> Iterator[tuple[Msgid, str]]:
    """(msgid, where) of every template: what Django's own makemessages would find."""
    string = r"""((?:u?'(?:[^'\\]|\\.)*'|u?"(?:[^"\\]|\\.)*"))"""
    call = re.compile(rf"\b(n?)gettext(?:_noop)?\(\s*{string}(?:\s*,\s*{string})?")
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for match in call.finditer(templatize(path.read_text(encoding="utf-8"))):
            msgid = ast.literal_eval(match[2])
            where = str(path.relative_to(ROOT))
            yield (msgid, ast.literal_eval(match[3])) if match[1] else msgid, where


def constants(tree: ast.Module) -> dict[str, str]:
    """Module-level names of plain strings: messages are often named before they are raised."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def name_of(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def wanted(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that are msgids."""
    name = name_of(call)
    if name in CALLS:
        return call.args[: CALLS[name]]
    if name in {"Problem", "Fault"}:  # (code, template, params) or (line, code, template, params)
        return [argument for argument in call.args if _sentence(argument)][:1]
    if name.endswith("Error") and name not in dir(__builtins__):
        return [argument for argument in call.args[:1] if _sentence(argument)]
    return []


def _sentence(argument: ast.expr) -> bool:
    """A sentence for people, as opposed to a code."""
    if isinstance(argument, ast.Name):
        return argument.id.isupper()
    return (
        isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and " " in argument.value
    )


def in_python() -> Iterator[tuple[Msgid, str]]:
    """(msgid, where) of every Python file of the packages."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if OWN_ENGLISH & set(path.parts) or "migrations" in path.parts:
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            named = constants(tree)
            for node in ast.walk(tree):
                if not isinstance(node, ast.Call):
                    continue
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                found = [text for text in (_text(a, named) for a in wanted(node)) if text]
                if name_of(node) == "ngettext" and len(found) == 2:
                    yield (found[0], found[1]), where
                else:
                    yield from ((text, where) for text in found)


def _text(argument: ast.expr, named: dict[str, str]) -> str:
    """The string an argument is or names; empty if it is neither."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    return named.get(argument.id, "") if isinstance(argument, ast.Name) else ""


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    with (FOLDER / "django.po").open("rb") as file:
        return pofile.read_po(file, locale="zh_Hans_CN")


def _translated(catalogue: Catalog) -> dict[Msgid, str]:
    """msgid → translation; Chinese has one form, whatever the number."""
    found: dict[Msgid, str] = {}
    for message in catalogue:
        if message.id:
            msgid = message.id if isinstance(message.id, str) else tuple(message.id)
            string = message.string or ""
            found[msgid] = string if isinstance(string, str) else string[0]  # type: ignore[index]
    return found


def _words(msgid: Msgid) -> str:
    return msgid if isinstance(msgid, str) else msgid[0]


def test_the_scan_finds_what_it_must() -> None:
    found = {msgid for msgid, _where in [*in_templates(), *in_python()]}
    assert {"Collections", "Sign in", "Start screening", "%(done)s of %(total)s"} <= found
    assert "There is already a collection with this short name." in found
    assert len(found) > 300


def test_every_message_has_its_chinese(catalogue: Catalog) -> None:
    translated = _translated(catalogue)
    missing = {
        msgid: where
        for msgid, where in [*in_templates(), *in_python()]
        if not translated.get(msgid) and re.search(r"[A-Za-z]{2}", PLACES.sub("", _words(msgid)))
    }
    assert missing == {}


def test_translations_have_the_places_of_their_originals(catalogue: Catalog) -> None:
    wrong = {
        msgid: string
        for msgid, string in _translated(catalogue).items()
        if {name for name in PLACES.findall(string) if name}
        - {name for name in PLACES.findall(_words(msgid)) if name}
    }
    assert wrong == {}


def test_the_compiled_catalogue_is_the_written_one(catalogue: Catalog) -> None:
    compiled = io.BytesIO()
    mofile.write_mo(compiled, catalogue)
    compiled.seek(0)
    fresh = gettext.GNUTranslations(compiled)
    with (FOLDER / "django.mo").open("rb") as file:
        stored = gettext.GNUTranslations(file)

    def messages(translations: gettext.GNUTranslations) -> dict[object, str]:
        catalogue: dict[object, str] = translations._catalog  # type: ignore[attr-defined]
        return {key: value for key, value in catalogue.items() if key != ""}

    assert messages(stored) == messages(fresh)
