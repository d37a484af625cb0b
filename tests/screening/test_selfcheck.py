"""The self-check: a fixed sample, every way on it, and what counts as drift."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command

from screening import checking
from screening.management.commands import selfcheck as command
from screening.selfcheck import Answer, WayRecord, drifts, run_selfcheck, sample, ways


@pytest.fixture(scope="module")
def records() -> dict[str, WayRecord]:
    chosen = {name: way for name, way in ways().items() if name != "semantic"}
    return {record.way: record for record in run_selfcheck(chosen)}


def test_the_sample_has_every_kind_for_every_original():
    documents, kinds = sample()
    originals = [d for d in documents if d.doc_id.endswith("/original")]
    assert len(originals) == 7
    assert len(next(d.raw for d in originals if d.doc_id == "long/original")) > 500
    assert sorted(kinds.values()) == sorted(
        ["copy", "edited"] * 7 + ["pasted", "paraphrased", "unrelated"] * 6
    )
    assert len({d.doc_id for d in documents}) == len(documents)
    assert {d for pair in kinds for d in pair} <= {d.doc_id for d in documents}


def test_each_way_finds_what_it_is_for_and_nothing_unrelated(records):
    assert not [r.way for r in records.values() if r.error]
    whole = {"copy": 7, "pasted": 6, "edited": 7, "paraphrased": 0, "unrelated": 0}
    assert records["default"].found == whole
    assert records["windows"].found == whole
    assert records["exact"].found == dict.fromkeys(whole, 0) | {"copy": 7}
    assert records["doc_number"].found["edited"] == 2
    assert records["passages"].found["pasted"] == 6
    assert records["minhash"].found["edited"] == 7
    assert records["fragments"].found["pasted"] == 6
    assert records["seen"].counts["seen"] == 7
    assert records["simhash"].found["edited"] == records["lines"].found["edited"] == 1
    assert records["bloom"].counts["seen_texts"] == 7
    assert records["seen"].pairs == 0


def test_the_same_results_twice_are_no_drift_and_time_is_never_compared(records):
    before = list(records.values())
    slower = [replace(r, seconds=r.seconds + 100, megabytes=9000.0) for r in before]
    assert drifts(before, slower) == []


def test_every_change_of_a_result_is_drift(records):
    before = list(records.values())
    one = records["passages"]

    def changed(record: WayRecord) -> list[tuple[str, str]]:
        now = [record if r.way == record.way else r for r in before]
        return [(d.way, d.what) for d in drifts(before, now)]

    fewer = replace(one, found={**one.found, "pasted": 5}, pairs=one.pairs - 1, digest="x")
    assert changed(fewer) == [("passages", "pasted"), ("passages", "pairs")]
    assert changed(replace(one, digest="x")) == [("passages", "other_pairs")]
    assert changed(replace(one, error="gone")) == [("passages", "error")]
    assert changed(
        replace(
            records["seen"], counts={"seen": 5, "like": records["seen"].counts["like"]}, digest="x"
        )
    ) == [("seen", "seen")]
    missing = [r for r in before if r.way != "exact"]
    assert [(d.way, d.what) for d in drifts(before, missing)] == [("exact", "missing")]
    assert drifts(missing, before) == []


def test_a_way_that_cannot_run_is_a_row_and_stops_no_other():
    def broken(documents: object) -> Answer:
        raise ImportError("no model")

    rows = list(run_selfcheck({"broken": broken, "whole": lambda documents: Answer((), {})}))
    assert [(r.way, r.error) for r in rows] == [("broken", "ImportError: no model"), ("whole", "")]


def test_the_command_accepts_and_then_flags_drift(monkeypatch, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    found = [("a/original", "a/copy")]

    def way(documents: object) -> Answer:
        return Answer(tuple(found), {})

    monkeypatch.setattr(command, "run_selfcheck", lambda: run_selfcheck({"exact": way}))

    def check(**options: object) -> tuple[str, str]:
        out, err = StringIO(), StringIO()
        call_command("selfcheck", stdout=out, stderr=err, **options)
        return out.getvalue(), err.getvalue()

    assert "--accept" in check()[0]
    check(accept=True)
    assert check()[1] == ""
    assert checking.last_check().drifts == []
    found.append(("b/copy", "b/original"))
    with pytest.raises(SystemExit) as end:
        check()
    assert end.value.code == 1
    last = checking.last_check()
    assert last.has_accepted
    assert [(d.way, d.what) for d in last.drifts] == [("exact", "pairs")]
    check(accept=True)
    assert check()[1] == ""
