"""What judged pairs say together: groups of copies, contradictions, lineage, and what need not be asked (pure).

Documents are integers. Copies form groups by judged pairs; a pair of a group that nobody judged is *implied*, is shown
as such and never counted as judged. Template and citation join nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

COPY, REVISION, UNDECIDED = "copy", "revision", "undecided"

Pair = tuple[int, int]
"""Two documents, the smaller number first."""


def pair_of(one: int, other: int) -> Pair:
    """The two documents in the order of :data:`Pair`."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True)
class Judged:
    """The conclusion of one pair. ``earlier``: which of the two came first, for a revision of known direction."""

    pair: Pair
    label: str
    earlier: int | None = None

    @property
    def later(self) -> int | None:
        if self.earlier is None:
            return None
        one, other = self.pair
        return other if self.earlier == one else one


@dataclass(frozen=True)
class Contradiction:
    """``pair`` was judged ``label``, yet copies lead from one of its documents to the other through ``through``.

    With one document in between it is a triangle: A=B copy, B=C copy, A–C not.
    """

    pair: Pair
    label: str
    through: tuple[int, ...]

    @property
    def documents(self) -> tuple[int, ...]:
        return (self.pair[0], *self.through, self.pair[1])

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The judged pairs that cannot all be right."""
        around = self.documents
        steps = pairwise(around)
        return (*(pair_of(one, other) for one, other in steps), self.pair)


@dataclass(frozen=True)
class Group:
    """Documents that judged copies connect. ``labels``: what was judged inside the group, and only that."""

    members: tuple[int, ...]
    labels: Mapping[Pair, str]
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def pairs(self) -> int:
        """How many pairs the group has, judged or not."""
        return len(self.members) * (len(self.members) - 1) // 2

    @property
    def judged(self) -> int:
        return len(self.labels)

    @property
    def implied(self) -> tuple[Pair, ...]:
        """The pairs that nobody judged."""
        return tuple(p for p in combinations(self.members, 2) if p not in self.labels)

    def state_of(self, one: int, other: int) -> str:
        """``copy``, another judged label, or ``implied``."""
        return self.labels.get(pair_of(one, other), "implied")


class Sets:
    """Disjoint sets of documents."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def find(self, document: int) -> int:
        parent = self._parent
        while parent.setdefault(document, document) != document:
            parent[document] = parent[parent[document]]
            document = parent[document]
        return document

    def join(self, one: int, other: int) -> bool:
        """Join the sets of the two documents; False if they were one already."""
        first, second = self.find(one), self.find(other)
        self._parent[max(first, second)] = min(first, second)
        return first != second


def _copies(judged: Iterable[Judged]) -> Sets:
    sets = Sets()
    for one in judged:
        if one.label == COPY:
            sets.join(*one.pair)
    return sets


def copy_groups(judged: Sequence[Judged]) -> tuple[Group, ...]:
    """The groups that judged copies make, by their smallest member, each with its contradictions."""
    sets = _copies(judged)
    members: dict[int, set[int]] = {}
    links: dict[int, set[int]] = {}
    for one in judged:
        if one.label == COPY:
            members.setdefault(sets.find(one.pair[0]), set()).update(one.pair)
            for here, there in (one.pair, one.pair[::-1]):
                links.setdefault(here, set()).add(there)
    labels: dict[int, dict[Pair, str]] = {root: {} for root in members}
    for one in judged:
        root = sets.find(one.pair[0])
        if root in labels and root == sets.find(one.pair[1]):
            labels[root][one.pair] = one.label
    return tuple(
        Group(
            tuple(sorted(members[root])), labels[root], tuple(_contradictions(labels[root], links))
        )
        for root in sorted(members)
    )


def _contradictions(
    labels: Mapping[Pair, str], links: Mapping[int, set[int]]
) -> Iterator[Contradiction]:
    for pair, label in sorted(labels.items()):
        # Who cannot tell contradicts nobody.
        if label in (COPY, UNDECIDED):
            continue
        one, other = pair
        between = sorted(links.get(one, set()) & links.get(other, set()))
        for middle in between:
            yield Contradiction(pair, label, (middle,))
        if not between:
            yield Contradiction(pair, label, _way(one, other, links))


def _way(start: int, end: int, links: Mapping[int, set[int]]) -> tuple[int, ...]:
    """The documents between ``start`` and ``end`` on a shortest way over copies, the smallest numbers first."""
    came: dict[int, int] = {start: start}
    waiting = deque([start])
    while waiting and end not in came:
        here = waiting.popleft()
        for there in sorted(links.get(here, set()) - came.keys()):
            came[there] = here
            waiting.append(there)
    way = []
    here = came[end]
    while here != start:
        way.append(here)
        here = came[here]
    return tuple(reversed(way))


@dataclass(frozen=True)
class Lineage:
    """Which text came before which. ``refused``: directions that run in a circle, each circle with its documents."""

    edges: tuple[tuple[int, int], ...]
    refused: tuple[tuple[int, ...], ...] = ()
    undirected: tuple[Pair, ...] = ()
    predecessors: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


def lineage(judged: Sequence[Judged]) -> Lineage:
    """The order that directed revisions give; a text may have several predecessors.

    Directions that run in a circle are all refused, not one of them by chance: people have to say which is wrong. A
    circle may close through copies (A before B, B = C, C before A), so copies count as one text here.
    """
    sets = _copies(judged)
    directed = [one for one in judged if one.label == REVISION and one.earlier is not None]
    after: dict[int, set[int]] = {}
    ends: dict[tuple[int, int], tuple[int, int]] = {}
    for one in directed:
        assert one.earlier is not None
        assert one.later is not None
        here, there = sets.find(one.earlier), sets.find(one.later)
        after.setdefault(here, set()).add(there)
        after.setdefault(there, set())
        ends[one.earlier, one.later] = (here, there)
    component = _components(after)
    kept = [edge for edge, (here, there) in ends.items() if component[here] != component[there]]
    circles: dict[int, set[int]] = {}
    for edge, (here, there) in ends.items():
        if component[here] == component[there]:
            circles.setdefault(component[here], set()).update(edge)
    before: dict[int, list[int]] = {}
    for earlier, later in sorted(kept):
        before.setdefault(later, []).append(earlier)
    return Lineage(
        tuple(sorted(kept)),
        tuple(sorted(tuple(sorted(circle)) for circle in circles.values())),
        tuple(sorted(o.pair for o in judged if o.label == REVISION and o.earlier is None)),
        {later: tuple(earlier) for later, earlier in before.items()},
    )


def _components(after: Mapping[int, set[int]]) -> dict[int, int]:
    """Node → number of its strongly connected component (Tarjan 1972, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    component: dict[int, int] = {}
    stack: list[int] = []
    for start in sorted(after):
        if start in order:
            continue
        work: list[tuple[int, Iterator[int]]] = [_entered(start, after, order, low, stack)]
        while work:
            node, rest = work[-1]
            there = next(rest, None)
            if there is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    _close(node, stack, component)
            elif there not in order:
                work.append(_entered(there, after, order, low, stack))
            elif there not in component:
                low[node] = min(low[node], order[there])
    return component


def _entered(
    node: int,
    after: Mapping[int, set[int]],
    order: dict[int, int],
    low: dict[int, int],
    stack: list[int],
) -> tuple[int, Iterator[int]]:
    order[node] = low[node] = len(order)
    stack.append(node)
    return node, iter(sorted(after[node]))


def _close(node: int, stack: list[int], component: dict[int, int]) -> None:
    while True:
        member = stack.pop()
        component[member] = node
        if member == node:
            return


@dataclass(frozen=True)
class Plan:
    """Which of the pairs to ask now. ``waits``: may follow from those; ``follows``: follows from what is judged."""

    ask: tuple[Pair, ...]
    waits: tuple[Pair, ...] = ()
    follows: tuple[Pair, ...] = ()


def plan(pairs: Iterable[Pair], judged: Sequence[Judged]) -> Plan:
    """The fewest of ``pairs`` (best first) that connect what copies may connect.

    A pair inside a group of copies follows; so does a pair between two groups of which another pair was judged not to
    be a copy. Of the rest, a spanning forest is asked. Asked until nothing is left, ``n`` documents need at most
    ``n - 1`` judgments and one more for each answer that is not a copy: every copy joins two groups.
    """
    known = _copies(judged)
    apart = {
        pair_of(known.find(one.pair[0]), known.find(one.pair[1]))
        for one in judged
        if one.label not in (COPY, UNDECIDED)
    }
    hoped = _copies(judged)
    asked: set[Pair] = {one.pair for one in judged}
    ask: list[Pair] = []
    waits: list[Pair] = []
    follows: list[Pair] = []
    for pair in pairs:
        roots = pair_of(known.find(pair[0]), known.find(pair[1]))
        if pair in asked or roots[0] == roots[1] or roots in apart:
            follows.append(pair)
        elif hoped.join(*pair):
            ask.append(pair)
        else:
            waits.append(pair)
    return Plan(tuple(ask), tuple(waits), tuple(follows))
