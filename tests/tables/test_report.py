"""The printable report tells the same as the files, and escapes what people wrote."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reviews.tables import fingerprint
from tests.tables import making


class Text(HTMLParser):
    """The visible words, and the tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.words += data.split()


@pytest.mark.django_db
def test_the_report_tells_what_the_files_tell(data_dir: Path) -> None:
    made = making.finished()
    made.round.name = "<script>alert(1)</script> 第一轮 {{ 7|add:7 }}"
    made.round.save()
    folder = making.exported(made.round)
    html = (folder / "report.html").read_text(encoding="utf-8")
    text = Text(html)
    assert "script" not in text.tags
    assert "{{" in text.words  # what people wrote is no template either
    assert not text.tags & {"link", "img", "iframe"}
    assert fingerprint() in text.words
    agreement = json.loads((folder / "agreement.json").read_bytes())
    for name in ("percent", "cohen_kappa", "krippendorff_alpha"):
        assert f"{agreement[name]['value']:.3f}" in text.words
    assert "暂行表" not in html
    assert "副本" in text.words


@pytest.mark.django_db
def test_a_provisional_report_says_so(data_dir: Path) -> None:
    made = making.random_state(3, pairs=3)
    making.answer(made.round, made.annotators[0], "copy")
    folder = making.exported(made.round)
    provisional = json.loads((folder / "flow.json").read_bytes())["provisional"]
    assert ("暂行表" in (folder / "report.html").read_text(encoding="utf-8")) is provisional
