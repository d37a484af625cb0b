"""Groups, contradictions, lineage, the planner and the proposed entry: pure."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.proposals import Copy, propose
from reviews.relations import Judged, copy_groups, lineage, pair_of, plan

A, B, C, D, E = 1, 2, 3, 4, 5


def copy(one: int, other: int) -> Judged:
    return Judged(pair_of(one, other), "copy")


def revised(earlier: int, later: int) -> Judged:
    return Judged(pair_of(earlier, later), "revision", earlier)


def test_copies_group_by_judged_pairs_and_the_rest_is_only_implied():
    (group,) = copy_groups([copy(A, B), copy(B, C)])
    assert group.members == (A, B, C)
    assert (group.judged, group.pairs) == (2, 3)
    assert group.implied == ((A, C),)
    assert [group.state_of(A, B), group.state_of(C, A)] == ["copy", "implied"]
    assert group.contradictions == ()


@pytest.mark.parametrize("label", ["template", "citation", "independent", "revision", "undecided"])
def test_nothing_but_a_copy_joins(label):
    judged = [copy(A, B), Judged((B, C), label), Judged((C, D), label)]
    assert [group.members for group in copy_groups(judged)] == [(A, B)]


@pytest.mark.parametrize("label", ["template", "citation", "independent", "revision"])
def test_a_triangle_that_contradicts_itself_is_a_finding(label):
    (group,) = copy_groups([copy(A, B), copy(B, C), Judged((A, C), label)])
    (found,) = group.contradictions
    assert (found.pair, found.label, found.through) == ((A, C), label, (B,))
    assert set(found.pairs) == {(A, B), (B, C), (A, C)}
    assert group.state_of(A, C) == label


def test_who_cannot_tell_contradicts_nobody():
    (group,) = copy_groups([copy(A, B), copy(B, C), Judged((A, C), "undecided")])
    assert group.contradictions == ()


def test_a_contradiction_over_a_longer_way_names_the_way():
    judged = [copy(A, B), copy(B, C), copy(C, D), copy(A, E), Judged((A, D), "independent")]
    (found,) = copy_groups(judged)[0].contradictions
    assert found.documents == (A, B, C, D)
    assert len(found.pairs) == 4


def test_every_triangle_over_a_denied_pair_is_listed():
    judged = [copy(A, B), copy(B, D), copy(A, C), copy(C, D), Judged((A, D), "revision")]
    assert [c.through for c in copy_groups(judged)[0].contradictions] == [(B,), (C,)]


def test_lineage_allows_several_predecessors():
    found = lineage([revised(A, C), revised(B, C), revised(C, D), Judged((D, E), "revision")])
    assert found.edges == ((A, C), (B, C), (C, D))
    assert found.predecessors == {C: (A, B), D: (C,)}
    assert found.refused == ()
    assert found.undirected == ((D, E),)


def test_circles_are_refused_whole_and_the_rest_stays():
    found = lineage([revised(A, B), revised(B, C), revised(C, A), revised(C, D)])
    assert found.edges == ((C, D),)
    assert found.refused == ((A, B, C),)


def test_a_circle_through_copies_is_a_circle():
    found = lineage([revised(A, B), copy(B, C), revised(C, A)])
    assert found.edges == ()
    assert found.refused == ((A, B, C),)
    # A text cannot be a revision of its own copy.
    assert lineage([copy(A, B), revised(A, B)]).edges == ()


def test_a_long_line_of_revisions_does_not_recurse():
    found = lineage([revised(n, n + 1) for n in range(1, 5_000)])
    assert len(found.edges) == 4_999
    assert found.refused == ()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), max_size=25))
def test_what_stays_of_a_lineage_has_no_circle(steps):
    found = lineage([revised(a, b) for a, b in steps if a != b])
    after: dict[int, set[int]] = {}
    for earlier, later in found.edges:
        after.setdefault(earlier, set()).add(later)
    for start in after:
        seen, waiting = set(), list(after[start])
        while waiting:
            node = waiting.pop()
            assert node != start
            if node not in seen:
                seen.add(node)
                waiting += after.get(node, ())


def asked_until_done(documents: int, families: dict[int, int], seed: int) -> tuple[int, int]:
    """How many pairs the planner asks, and how many of the answers were no copy, until nothing is left."""
    pairs = list(combinations(range(1, documents + 1), 2))
    random.Random(seed).shuffle(pairs)
    judged: list[Judged] = []
    while ask := plan(pairs, judged).ask:
        judged += [
            Judged(p, "copy" if families[p[0]] == families[p[1]] else "revision") for p in ask
        ]
    found = {m for group in copy_groups(judged) for m in combinations(group.members, 2)}
    assert found == {p for p in pairs if families[p[0]] == families[p[1]]}
    assert plan(pairs, judged).waits == ()
    return len(judged), sum(one.label != "copy" for one in judged)


def test_twelve_copies_need_eleven_of_sixty_six_judgments():
    assert asked_until_done(12, dict.fromkeys(range(1, 13), 0), seed=1) == (11, 0)


def test_fifty_reprints_do_not_fill_a_queue():
    pairs = list(combinations(range(50), 2))
    planned = plan(pairs, [])
    assert len(pairs) == 1_225
    assert (len(planned.ask), len(planned.waits), len(planned.follows)) == (49, 1_176, 0)
    done = plan(pairs, [Judged(p, "copy") for p in planned.ask])
    assert (len(done.ask), len(done.waits), len(done.follows)) == (0, 0, 1_225)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(0, 10_000))
def test_the_planner_asks_at_most_eleven_and_one_for_each_no(kinds, seed):
    chance = random.Random(seed)
    families = {n: chance.randrange(kinds) for n in range(1, 13)}
    asked, denied = asked_until_done(12, families, seed)
    assert asked <= 11 + denied
    assert asked <= 66


def test_what_copies_deny_is_not_asked_again():
    planned = plan([(A, D), (B, D), (C, D)], [copy(A, B), Judged((A, C), "template")])
    assert planned.ask == ((A, D), (C, D))
    assert planned.waits == ((B, D),)
    assert plan([(B, C)], [copy(A, B), Judged((A, C), "template")]).follows == ((B, C),)


COPIES = [
    Copy("b", "关于开放时间的通知（全文）", 900, "b" * 64, "来源乙", "乙/b.txt", "2031-05-02T00:00:00Z",
         {"licence": "CC BY", "attachments": ["表一.pdf", "表二.pdf"], "published_on": "2031-04-30"}),
    Copy("a", "关于开放时间的通知", 1_200, "a" * 64, "来源甲", "甲/a.txt", "2031-05-01",
         {"licence": "CC0", "attachments": "表二.pdf", "published_on": "四月底"}),
    Copy("c", "", 1_200, "c" * 64, "来源甲", "丙/c.txt", "", {"published_on": "2031-04-29"}),
]  # fmt: skip


def test_a_proposal_takes_the_best_of_each_and_loses_no_source():
    proposal = propose(COPIES)
    assert proposal.members == ("a", "b", "c")
    assert (proposal.title, proposal.title_from) == ("关于开放时间的通知（全文）", "b")
    assert (proposal.text_from, proposal.text_chars) == ("a", 1_200)
    assert (proposal.date, proposal.date_from) == ("2031-04-29", "c")
    assert set(proposal.attachments) == {"表一.pdf", "表二.pdf"}
    assert proposal.sources == ("来源甲", "来源乙")
    assert set(proposal.licences) == {"CC0", "CC BY"}
    assert len(proposal.paths) == 3


def test_a_proposal_does_not_depend_on_the_order():
    assert propose(COPIES) == propose(COPIES[::-1])


def test_dates_that_cannot_be_compared_are_left_alone():
    undated = [Copy("a", "t", 1, "a" * 64, captured_at="昨天")]
    assert (propose(undated).date, propose(undated).date_from) == ("", "")
