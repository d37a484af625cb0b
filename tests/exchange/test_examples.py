"""The worked examples of docs/exchange.md are what they say, in every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviews import labelsets
from screening import importing
from screening.models import Collection

pytestmark = pytest.mark.django_db

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
FIRST, MENDED, COPIED = (f"公告/开放时间-{name}.txt" for name in ("初版", "更正", "转载"))
EXPECTED = {
    frozenset((FIRST, COPIED)): ("copy", "转载，只多一行说明"),
    frozenset((FIRST, MENDED)): ("revision", "日期和时间改了"),
    frozenset((MENDED, COPIED)): ("revision", "转载的是改动前的一版"),
    frozenset(("=表单 (1).txt", "=表单 (2).txt")): ("template", "同一张表，填写的内容不同"),
}


@pytest.mark.parametrize(
    ("name", "with_reasons"),
    [
        ("label-studio-annotated.json", True),
        ("doccano-annotated.jsonl", False),
        ("labels.csv", True),
        ("labels.xlsx", True),
    ],
)
def test_an_example_says_the_same_in_every_format(name: str, with_reasons: bool) -> None:
    collection = Collection.objects.create(slug="example", name="example")
    importing.import_path(path=EXAMPLES / "documents.jsonl", collection=collection)
    report = labelsets.import_labels(
        collection=collection, name=name, filename=name, data=(EXAMPLES / name).read_bytes()
    )
    assert (report.refused, report.conflicts) == ([], [])
    assert report.label_set is not None
    found = {
        frozenset((row.pair.low.doc_id, row.pair.high.doc_id)): (row.label, row.reason)
        for row in report.label_set.rows.select_related("pair__low", "pair__high")
    }
    expected = EXPECTED if with_reasons else {k: (label, "") for k, (label, _) in EXPECTED.items()}
    assert found == expected
