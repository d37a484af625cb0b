"""The measures of agreement: published examples, libraries as oracles, and every way to have no value."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from reviews import agreement
from reviews.agreement import measures

RELIABILITY = """\
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def columns(*rows):
    """A table from one string or list per person; ``.`` and None are missing."""
    return [[None if v in (".", None) else v for v in unit] for unit in zip(*rows, strict=True)]


def from_counts(rows):
    """A table from counts of labels per pair, as Fleiss prints it."""
    return [[str(k) for k, n in enumerate(row) for _ in range(n)] for row in rows]


def value(table, name):
    return measures(table, resamples=0)[name].value


def test_alpha_of_the_published_example_with_missing_answers():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), example C: nominal .743.

    The same data is the example of ``kripp.alpha`` in R's irr and of the tests of the library krippendorff.
    """
    table = columns(*[line.split() for line in RELIABILITY.splitlines()])
    assert value(table, "krippendorff_alpha") == pytest.approx(0.743, abs=5e-4)
    # The same data through an independent implementation of AC1 with missing answers.
    assert value(table, "gwet_ac1") == pytest.approx(0.77544, abs=5e-6)


THREE_CODERS = """\
. . . . . 3 4 1 2 1 1 3 3 . 3
1 . 2 1 3 3 4 3 . . . . . . .
. . 2 1 3 4 4 . 2 1 1 3 3 . 4
"""


def test_alpha_of_three_coders_and_fifteen_units():
    """Wikipedia, Krippendorff's alpha, "A computational example"; to six digits in the tests of krippendorff: .691358."""
    table = columns(*[line.split() for line in THREE_CODERS.splitlines()])
    assert value(table, "krippendorff_alpha") == pytest.approx(0.691358, abs=5e-7)


# Krippendorff (2011), examples A (binary, two observers: .095) and B (nominal, two observers: .692).
@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("0100000010", "1110010000", 0.0952), ("aabbdcccedda", "babbbccceddd", 0.692)],
)
def test_alpha_of_two_people(one, other, expected):
    assert value(columns(one, other), "krippendorff_alpha") == pytest.approx(expected, abs=5e-4)


def confusion(matrix):
    return [
        (str(a), str(b))
        for a, row in enumerate(matrix)
        for b, n in enumerate(row)
        for _ in range(n)
    ]


# Kappa is Cohen's of 1960. Two judges and 200 cases: Cohen, Weighted kappa (1968), table 1, which prints .492 for the
# unweighted one (cell for cell in R's DMAR, diagnosis_agreement; in psych, cohen.kappa). Two readers of 50 grant proposals:
# Wikipedia, Cohen's kappa. Two raters of 19 cases: the SAS output of .4842 in the tests of statsmodels.
@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.492),
        ([[20, 5], [10, 15]], 0.4),
        ([[0, 4, 1], [0, 8, 0], [0, 1, 5]], 0.4842),
    ],
)
def test_cohen_of_published_tables(matrix, expected):
    table = confusion(matrix)
    digits = len(str(expected)) - 2
    assert round(value(table, "cohen_kappa"), digits) == expected
    assert value(table, "cohen_kappa") == pytest.approx(cohens_kappa(matrix).kappa, abs=1e-12)


FLEISS_14 = """0 0 0 0 14/0 2 6 4 2/0 0 3 5 6/0 3 9 2 0/2 2 8 1 1/7 7 0 0 0/3 2 6 3 0/2 5 3 2 2/6 5 2 1 0/0 2 2 3 7"""
FLEISS_6 = (
    "0 0 0 6 0/0 3 0 0 3/0 1 4 0 1/0 0 0 0 6/0 3 0 3 0/2 0 4 0 0/0 0 4 0 2/2 0 3 1 0/2 0 0 4 0/0 0 0 0 6/"
    "1 0 0 5 0/1 1 0 4 0/0 3 3 0 0/1 0 0 5 0/0 2 0 3 1/0 0 5 0 1/3 0 0 1 2/5 1 0 0 0/0 2 0 4 0/1 0 2 0 3/"
    "0 0 0 0 6/0 1 0 5 0/0 2 0 1 3/2 0 0 4 0/1 0 0 4 1/0 5 0 1 0/4 0 0 0 2/0 2 0 4 0/1 0 5 0 0/0 0 0 0 6"
)


# 30 patients by six psychiatrists: Fleiss, Measuring nominal scale agreement among many raters (1971), table 1, .430 (raw in
# R's irr, diagnoses). 14 raters of 10 subjects: Wikipedia, Fleiss' kappa, .210. Both also in the tests of statsmodels.
@pytest.mark.parametrize(("text", "published"), [(FLEISS_14, 0.210), (FLEISS_6, 0.430)])
def test_fleiss_of_published_tables(text, published):
    counts = [[int(n) for n in row.split()] for row in text.split("/")]
    found = value(from_counts(counts), "fleiss_kappa")
    assert found == pytest.approx(published, abs=5e-4)
    assert found == pytest.approx(fleiss_kappa(counts), abs=1e-12)


def test_ac1_by_hand():
    assert value(confusion([[118, 5], [2, 0]]), "gwet_ac1") == pytest.approx(0.94078, abs=5e-6)
    assert value(confusion([[118, 5], [2, 0]]), "cohen_kappa") == pytest.approx(-0.02339, abs=5e-6)


# --- Without a value --------------------------------------------------------------------------------------------------


def test_a_single_category_has_a_percentage_and_no_coefficient():
    found = measures(columns(["copy"] * 6, ["copy"] * 6))
    assert found.percent.value == 1.0
    for name in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert found[name].value is None
        assert found[name].reason == agreement.ONE_CATEGORY
        assert (found[name].low, found[name].high, found[name].n) == (None, None, 6)


def test_nothing_answered_and_nothing_shared_have_different_reasons():
    empty = measures([])
    alone = measures([{"a": "copy"}, {"b": "template"}])
    for name in ("percent", "krippendorff_alpha", "gwet_ac1", "fleiss_kappa"):
        assert (empty[name].value, empty[name].reason) == (None, agreement.NO_ANSWERS)
        assert (alone[name].value, alone[name].reason) == (None, agreement.NO_OVERLAP)
    assert (alone.cohen_kappa.value, alone.cohen_kappa.reason) == (None, agreement.NO_OVERLAP)


def test_cohen_of_three_people_is_undefined_and_given_pairwise():
    table = [
        {"a": "copy", "b": "copy", "c": "template"},
        {"a": "template", "b": "template", "c": "copy"},
    ]
    assert measures(table).cohen_kappa.reason == agreement.NOT_TWO_PEOPLE
    by_two = agreement.pairwise(table)
    assert by_two["a", "b"].value == 1.0
    assert by_two["a", "c"].value == -1.0
    assert set(by_two) == {("a", "b"), ("a", "c"), ("b", "c")}


def test_fleiss_of_uneven_pairs_is_undefined():
    assert measures([["x", "y"], ["x", "x", "y"]]).fleiss_kappa.reason == agreement.UNEVEN


def test_an_unused_label_is_listed_without_a_value():
    found = measures(columns("xxy", "xyy"), labels=["x", "y", "z"])
    assert found.per_label["z"].value is None
    assert found.per_label["z"].reason == agreement.LABEL_UNUSED
    assert found.per_label["z"].n == 0
    assert found.counts == {"x": 3, "y": 3, "z": 0}


# --- Cases from public reports ----------------------------------------------------------------------------------------


def test_four_classes_by_hand():
    one = ["c", "c", "c", "c", "r", "r", "r", "q", "t", "t"]
    other = ["c", "c", "c", "r", "r", "r", "t", "q", "t", "t"]
    found = measures(columns(one, other))
    assert found.percent.value == pytest.approx(0.8)
    assert found.cohen_kappa.value == pytest.approx(float(Fraction(13, 18)), abs=1e-12)


def test_the_prevalence_paradox_shows_both_numbers_and_the_counts():
    one = ["copy"] * 9 + ["template"]
    other = ["template"] + ["copy"] * 9
    found = measures(columns(one, other))
    assert found.percent.value == pytest.approx(0.8)
    assert found.cohen_kappa.value == pytest.approx(-1 / 9, abs=1e-12)
    assert found.counts == {"copy": 18, "template": 2}


def test_not_answered_is_no_label():
    table = [["copy", "copy", None], ["copy", "copy", "copy"], ["template", None, "template"]]
    assert value(table, "krippendorff_alpha") == 1.0


def test_a_trailing_blank_is_no_other_opinion_and_look_alikes_stay_apart():
    one = ["copy", "copy", "template", "revision", "citation", "copy"]
    assert value(columns(one, ["copy ", *one[1:]]), "cohen_kappa") == 1.0
    found = measures(columns(["Aa", "BB", "Aa", "BB"], ["BB", "BB", "Aa", "Aa"]))
    assert found.cohen_kappa.value == 0.0
    assert found.percent.value == 0.5


# --- Oracles ----------------------------------------------------------------------------------------------------------

tables = st.integers(2, 4).flatmap(
    lambda people: st.lists(
        st.lists(st.sampled_from(["a", "b", "c", None]), min_size=people, max_size=people),
        min_size=1,
        max_size=12,
    )
)


@given(tables)
@settings(max_examples=150, deadline=None)
def test_alpha_equals_the_library_wherever_it_has_a_value(table):
    code = {"a": 0.0, "b": 1.0, "c": 2.0, None: math.nan}
    data = np.array([[code[v] for v in unit] for unit in table]).T
    found = measures(table, resamples=0).krippendorff_alpha
    try:
        expected = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    except ValueError:
        expected = math.nan
    if math.isnan(expected):
        assert found.value is None
        assert found.reason
    elif found.value is None:
        # The library gives a value to answers that all agree; there is nothing to compare chance with.
        paired = [v for unit in table if sum(x is not None for x in unit) > 1 for v in unit if v]
        assert len(set(paired)) < 2
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)


@given(
    st.integers(2, 5).flatmap(
        lambda people: st.lists(
            st.lists(st.sampled_from("abcd"), min_size=people, max_size=people),
            min_size=2,
            max_size=15,
        )
    )
)
@settings(max_examples=100, deadline=None)
def test_fleiss_and_cohen_equal_the_library(table):
    counts, _labels = aggregate_raters(np.array([[ord(v) for v in unit] for unit in table]))
    found = measures(table, resamples=0)
    if (counts.sum(axis=0) > 0).sum() < 2:
        assert found.fleiss_kappa.value is None
    else:
        assert found.fleiss_kappa.value == pytest.approx(fleiss_kappa(counts), abs=1e-9)
    if len(table[0]) == 2 and found.cohen_kappa.value is not None:
        matrix = [[sum(u == [a, b] for u in table) for b in "abcd"] for a in "abcd"]
        assert found.cohen_kappa.value == pytest.approx(cohens_kappa(matrix).kappa, abs=1e-9)


# --- Intervals --------------------------------------------------------------------------------------------------------


def test_the_interval_is_repeatable_and_does_not_depend_on_the_order_of_pairs():
    generator = random.Random(5)
    table = [[generator.choice("aab"), generator.choice("aab")] for _ in range(80)]
    first = measures(table)
    shuffled = generator.sample(table, len(table))
    assert measures(shuffled) == first
    for name in agreement.NAMES:
        measure = first[name]
        assert None not in (measure.low, measure.value, measure.high)
        assert sorted([measure.low, measure.value, measure.high]) == [  # type: ignore[type-var]
            measure.low,
            measure.value,
            measure.high,
        ]
        assert measure.low != measure.high
    assert measures(table, seed=1).percent.low != first.percent.low or (
        measures(table, seed=1).gwet_ac1.low != first.gwet_ac1.low
    )


def test_the_interval_of_a_share_is_near_the_textbook_one():
    table = [["a", "a"]] * 70 + [["a", "b"]] * 30
    percent = measures(table, resamples=4000).percent
    spread = 1.96 * math.sqrt(0.7 * 0.3 / 100)
    assert percent.low == pytest.approx(0.7 - spread, abs=0.02)
    assert percent.high == pytest.approx(0.7 + spread, abs=0.02)


def test_perfect_agreement_on_two_labels_is_one_without_rounding():
    found = measures(columns("abab", "abab"))
    for name in agreement.NAMES:
        assert found[name].value == 1.0
    assert found.per_label["a"].value == 1.0


def test_many_pairs_are_measured_by_their_patterns():
    few = [("a", "a"), ("a", "b"), ("b", "b"), ("c", "c")]
    found = measures(few, times=[50_000] * 4)
    assert found.percent.n == 200_000
    assert found.percent.value == 0.75
    assert found == measures(few * 3, times=[20_000] * 8 + [10_000] * 4)
    assert found.krippendorff_alpha.low is not None


@given(tables, st.randoms(use_true_random=False), st.permutations("abc"))
@settings(max_examples=60, deadline=None)
def test_order_and_names_change_nothing(table, random_order, names):
    """Of pairs, of people and of labels."""
    renamed = dict(zip("abc", names, strict=True))
    other = [[renamed.get(v) for v in unit] for unit in table]
    people = list(range(len(table[0])))
    random_order.shuffle(people)
    other = [[unit[p] for p in people] for unit in other]
    random_order.shuffle(other)
    before, after = measures(table, resamples=0), measures(other, resamples=0)
    for name in agreement.NAMES:
        one, two = before[name], after[name]
        assert (one.n, one.reason) == (two.n, two.reason)
        assert (one.value is None) == (two.value is None)
        if one.value is not None:
            assert two.value == pytest.approx(one.value, abs=1e-12)


# --- The cases of area agreement --------------------------------------------------------------------------------------

EXPECTED: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "G-01": [("", {"percent": 1.0, "cohen_kappa": None, "krippendorff_alpha": None})],
    "G-02": [("", {"percent": Fraction(8, 10), "cohen_kappa": Fraction(13, 18)})],
    "G-03": [("", {"percent": Fraction(8, 10), "cohen_kappa": Fraction(-1, 9)})],
    "G-05": [("", {"krippendorff_alpha": 1.0})],
    "G-07": [("part1", {"cohen_kappa": 1.0}), ("part2", {"cohen_kappa": 0.0, "percent": 0.5})],
}


def test_every_case_of_the_area_has_its_right_answer(shared):
    lines = (shared / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    cases = {c["id"]: c for c in map(json.loads, lines) if c["area"] == "agreement"}
    assert set(EXPECTED) <= set(cases)
    for name, parts in EXPECTED.items():
        for part, wanted in parts:
            given_answers = cases[name]["input"]
            table = columns(*(given_answers[part] if part else given_answers).values())
            found = measures(table, resamples=50)
            for measure, expected in wanted.items():
                if expected is None:
                    assert found[measure].value is None
                    assert found[measure].reason == agreement.ONE_CATEGORY
                else:
                    assert found[measure].value == pytest.approx(float(expected), abs=1e-12), name
    trap = cases["G-02"]
    pairs = list(zip(trap["input"]["A"], trap["input"]["B"], strict=True))
    positions = [n for n, (a, b) in enumerate(pairs, 1) if a != b]
    assert positions == trap["expected"]["wrong_pairs_positions"]
