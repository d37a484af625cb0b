"""The registry of keys, read as text: no two commands on one key, none without words, none that nobody answers."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from django.conf import settings

from reviews.views import answers

SCRIPTS = Path(settings.BASE_DIR) / "static" / "js"
ENTRY = re.compile(
    r'\{ keys: \[(?P<keys>[^\]]+)\], act: "(?P<act>[^"]+)", scope: "(?P<scope>[^"]+)",'
    r' group: "(?P<group>[^"]+)", text: "(?P<text>[^"]+)"'
)


def entries() -> list[dict[str, str]]:
    found = [
        match.groupdict() for match in ENTRY.finditer((SCRIPTS / "keys.js").read_text("utf-8"))
    ]
    assert len(found) > 25
    return found


def test_no_key_has_two_meanings_at_once() -> None:
    for one, other in itertools.combinations(entries(), 2):
        shared = set(re.findall(r'"([^"]+)"', one["keys"])) & set(
            re.findall(r'"([^"]+)"', other["keys"])
        )
        # Only one label is chosen at a time, so arrows may mean the order of a revision or the entry of a copy.
        if {one["scope"], other["scope"]} != {"revision", "copy"}:
            assert not shared, (one["act"], other["act"])


def test_every_command_has_words_and_somebody_who_answers() -> None:
    words = dict(answers.words())
    code = "".join(
        (SCRIPTS / name).read_text("utf-8") for name in ("judge.js", "pair.js", "arbitration.js")
    )
    for entry in entries():
        assert words.get(f"key-{entry['text']}"), entry["text"]
        act = entry["act"]
        named = f'"{act}"' in code or re.search(rf"\b{re.escape(act)}\b", code)
        assert named or act.startswith("label-"), act


def test_every_word_that_the_scripts_ask_for_is_on_the_page() -> None:
    words = dict(answers.words())
    for script in SCRIPTS.glob("*.js"):
        for word in re.findall(r'\bwords\("([^"]+)"\)', script.read_text("utf-8")):
            assert word in words, (script.name, word)
    for word in ("need-label", "need-reason", "draft-saved", "draft-local"):
        assert word in words
