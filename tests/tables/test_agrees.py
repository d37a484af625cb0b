"""relations.csv says what the pages about groups and lineage say; metadata are those that the run knew."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from django.conf import settings

from reviews import families
from reviews.models import ReviewRound
from reviews.relations import Sets
from screening.correcting import correct
from screening.models import Document
from tests.reviews import world as worlds
from tests.tables import making
from tests.tables.reading import final, lines


def relations(folder: Path) -> list[tuple[str, str, str]]:
    with (folder / "relations.csv").open(encoding="utf-8", newline="") as file:
        return [(row["doc_id"], row["relation"], row["entry"]) for row in csv.DictReader(file)]


def chained(answers: list[tuple[int, int, str, dict[str, str]]]) -> ReviewRound:
    """A round over pairs of six documents, all judged as given."""
    owner = worlds.collection()
    texts = worlds.documents(owner, 6)
    pairs = [(texts[one], texts[other]) for one, other, _label, _extra in answers]
    run = worlds.finished_run(owner, pairs)
    people = [worlds.person(f"{owner.slug}-{name}") for name in "ab"]
    judge = worlds.person(f"{owner.slug}-c", "arbitrator")
    from reviews.rounds import open_round

    opened = open_round(
        run=run, name="链", annotators=people, arbitrators=[judge], judgments=2, actor=None
    )
    said = {
        frozenset((one.pk, other.pk)): (label, extra)
        for (one, other), (_o, _p, label, extra) in zip(pairs, answers, strict=True)
    }
    for who in people:
        for _pair in answers:
            slot = worlds.claimed(opened, who)
            pair = slot.item.pair
            label, extra = said[frozenset((pair.low_id, pair.high_id))]
            from reviews import judging

            judging.submit(id=worlds.new_id(), slot=slot, person=who, label=label, **extra)
    return opened


@pytest.mark.django_db
def test_copies_and_revisions_are_those_of_the_groups_and_the_lineage(data_dir: Path) -> None:
    opened = chained(
        [
            (0, 1, "copy", {"kept": "left"}),
            (1, 2, "copy", {}),
            (2, 3, "revision", {"direction": "left_first"}),
            (3, 4, "revision", {"direction": "right_first"}),
            (4, 5, "revision", {"direction": "same_origin"}),
            (0, 5, "template", {}),
        ]
    )
    found = relations(making.exported(opened))
    ids = dict(Document.objects.filter(collection=opened.collection).values_list("doc_id", "pk"))
    said = families.overview(opened.collection)
    sets = Sets()
    for doc_id, relation, entry in found:
        if relation == "copy":
            sets.join(ids[doc_id], ids[entry])
    copies = {ids[one] for one, relation, _entry in found if relation == "copy"}
    copies |= {ids[entry] for _one, relation, entry in found if relation == "copy"}
    groups = {tuple(sorted(m for m in copies if sets.find(m) == sets.find(n))) for n in copies}
    assert groups == {group.members for group in said.groups} != set()
    revised = {(ids[one], ids[entry]) for one, relation, entry in found if relation == "revised_by"}
    assert revised == set(said.lineage.edges)
    assert len(revised) == 2
    assert {(e, d) for d, e in revised} == {
        (ids[one], ids[entry]) for one, relation, entry in found if relation == "revision_of"
    }
    both_ways = {frozenset((ids[d], ids[e])) for d, relation, e in found if relation == "revision"}
    assert both_ways == {frozenset(pair) for pair in said.lineage.undirected}


@pytest.mark.parametrize("listed", [True, False], ids=["by the list of inputs", "by time"])
@pytest.mark.django_db
def test_metadata_are_those_that_the_run_knew(data_dir: Path, listed: bool) -> None:
    made = making.finished(2)
    pair = made.item(1).pair
    before, after = pair.left, pair.right
    known = correct(document=before, values={"title": "更正后的题名", "version": "二"}, actor=None)
    run = made.run
    run.folder = "a-run"
    run.save()
    if listed:
        folder = settings.DATA_DIR / "runs" / "a-run"
        folder.mkdir(parents=True)
        rows = [{"pk": before.pk, "metadata": known.pk}, {"pk": after.pk}]
        (folder / "inputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        type(run).objects.filter(pk=run.pk).update(created_at=known.created_at)
    correct(document=before, values={"title": "以后的题名"}, actor=None)
    correct(document=after, values={"title": "也在以后"}, actor=None)
    folder = making.exported(made.round)
    texts = {row["doc_id"]: row for row in lines(folder, "documents.jsonl")}
    assert texts[before.doc_id]["title"] == "更正后的题名"
    assert texts[before.doc_id]["version"] == "二"
    assert texts[before.doc_id]["metadata_version"] == 1
    assert texts[after.doc_id]["title"] is None
    assert texts[after.doc_id]["metadata_version"] == 0
    row = next(row for row in final(folder) if row["left"] == before.doc_id)
    assert (row["left_title"], row["left_version"], row["right_title"]) == ("更正后的题名", "二", "")
