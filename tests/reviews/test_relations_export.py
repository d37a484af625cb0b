"""relations.csv of a table says what the groups and the lineage of the collection say."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from reviews import families, judging, rounds
from reviews.relations import Sets
from reviews.tables import export_table
from screening.models import Document
from tests.reviews.world import claimed, collection, documents, finished_run, new_id, person

pytestmark = pytest.mark.django_db

Answer = tuple[str, str]
"""Label and direction, about the canonical left and right."""


def judged(
    answers: Mapping[tuple[int, int], Answer], kept: Mapping[tuple[int, int], int] | None = None
) -> tuple[list[Document], Any]:
    """Nine texts, numbered from 1, and a round in which two people gave these answers alike."""
    owner = collection()
    texts = documents(owner, 9)
    run = finished_run(owner, [(texts[one - 1], texts[other - 1]) for one, other in answers])
    people = [person(f"a{n}-{owner.slug}") for n in (1, 2)]
    round = rounds.open_round(
        run=run,
        name="关系",
        annotators=people,
        arbitrators=[person(f"r-{owner.slug}", "arbitrator")],
    )
    number = {text.pk: n for n, text in enumerate(texts, 1)}
    for _ in answers:
        for who in people:
            slot = claimed(round, who)
            pair = slot.item.pair
            key = (number[pair.low_id], number[pair.high_id])
            label, direction = answers[key]
            chosen = (kept or {}).get(key)
            judging.submit(
                id=new_id(), slot=slot, person=who, label=label, direction=direction,
                kept=texts[chosen - 1] if chosen else None,
            )  # fmt: skip
    return texts, round


def lines(round: Any, folder: Path) -> list[tuple[str, str, str]]:
    export_table(round=round, out=folder)
    text = (folder / "relations.csv").read_text(encoding="utf-8-sig")
    return [tuple(row) for row in list(csv.reader(text.splitlines()))[1:]]  # type: ignore[misc]


def components(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Connected texts, each list sorted."""
    names = sorted({name for pair in pairs for name in pair})
    sets = Sets()
    for one, other in pairs:
        sets.join(names.index(one), names.index(other))
    found: dict[int, list[str]] = {}
    for n, name in enumerate(names):
        found.setdefault(sets.find(n), []).append(name)
    return sorted(found.values())


def test_groups_and_lineage_are_those_of_the_application(data_dir: Any, tmp_path: Path) -> None:
    answers: dict[tuple[int, int], Answer] = {
        (1, 2): ("copy", ""), (2, 3): ("copy", ""), (4, 5): ("copy", ""),
        (3, 6): ("revision", "left_first"), (6, 7): ("revision", "right_first"),
        (7, 8): ("revision", "same_origin"), (5, 8): ("citation", ""), (8, 9): ("template", ""),
        (1, 9): ("independent", ""),
    }  # fmt: skip
    texts, round = judged(answers, kept={(1, 2): 2, (4, 5): 4})
    names = {text.pk: text.doc_id for text in texts}
    found = families.overview(round.collection)
    table = lines(round, tmp_path / "out")
    copies = [(one, other) for one, relation, other in table if relation == "copy"]
    assert components(copies) == sorted(
        sorted(names[member] for member in group.members) for group in found.groups
    )
    assert components(copies) == [["doc-001", "doc-002", "doc-003"], ["doc-004", "doc-005"]]
    edges = {(names[earlier], names[later]) for earlier, later in found.lineage.edges}
    assert {(one, other) for one, relation, other in table if relation == "revised_by"} == edges
    assert {(other, one) for one, relation, other in table if relation == "revision_of"} == edges
    assert edges == {("doc-003", "doc-006"), ("doc-007", "doc-006")}
    undirected = {frozenset(names[one] for one in pair) for pair in found.lineage.undirected}
    assert {
        frozenset((one, o)) for one, relation, o in table if relation == "revision"
    } == undirected
    # Where an entry is kept, only the other text points at it; a citation and a template join nothing.
    assert [row for row in table if row[1] == "copy" and row[2] == "doc-002"] == [
        ("doc-001", "copy", "doc-002"), ("doc-003", "copy", "doc-002"),
    ]  # fmt: skip
    assert ("doc-002", "copy", "doc-001") not in table
    assert not [row for row in table if {row[0], row[2]} == {"doc-001", "doc-009"}]


def test_directions_in_a_circle_are_told_as_judged_and_refused_by_the_lineage(
    data_dir: Any, tmp_path: Path
) -> None:
    """The table holds judgments, not what follows from them: the circle is in it, for people to see."""
    texts, round = judged(
        {
            (1, 2): ("revision", "left_first"),
            (2, 3): ("revision", "left_first"),
            (1, 3): ("revision", "right_first"),
        }
    )
    names = {text.pk: text.doc_id for text in texts}
    lineage = families.overview(round.collection).lineage
    assert lineage.edges == ()
    table = lines(round, tmp_path / "out")
    told = {
        name for one, relation, other in table if relation == "revised_by" for name in (one, other)
    }
    assert told == {names[member] for circle in lineage.refused for member in circle}
