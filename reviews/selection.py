"""Which pairs of a run a round asks, and in what order."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from django.db.models import Exists, OuterRef

from reviews import decided as conclusions
from reviews.labels import Label
from reviews.models import ReviewItem
from reviews.relations import pair_of, plan
from screening.models import Candidate, ScreeningRun

Stratum = Literal["suggestion", "channel", "source"]


@dataclass(frozen=True)
class Selection:
    """What a round takes from a run. The default: every informative pair that nobody has decided yet.

    ``limit``: at most so many, best rank first. ``again``: decided pairs too. ``channels``, ``suggestions``: only
    pairs found by one of these channels, with one of these suggestions. ``jaccard``: least and greatest, in [0, 1].
    ``sample``: at most so many of each stratum, drawn with ``seed``; ``stratum`` says what divides the pairs.
    ``fewest``: of the likely copies only those that do not follow from others, see :func:`reviews.relations.plan`.
    ``pairs``: exactly these, by primary key, whether or not they are representatives.
    """

    limit: int | None = None
    again: bool = False
    channels: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    jaccard: tuple[float, float] = (0.0, 1.0)
    sample: int | None = None
    stratum: Stratum = "suggestion"
    seed: int = 1
    fewest: bool = False
    pairs: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


@dataclass(frozen=True)
class Chosen:
    """A candidate that a round asks: its keys and the keys of its two documents."""

    candidate: int
    pair: int
    low: int
    high: int


@dataclass
class Choice:
    """The pairs to ask, by rank, and how many of the run's candidates are left out for which reason."""

    pairs: list[Chosen]
    left_out: dict[str, int] = field(default_factory=dict)


def choose(run: ScreeningRun, selection: Selection) -> Choice:
    """Take from ``run`` what ``selection`` asks for; the same for the same rows, whatever the database."""
    left_out = {"decided": 0, "filtered": 0, "not_sampled": 0, "over_limit": 0}
    every = Candidate.objects.filter(run=run)
    left_out["not_representative"] = every.filter(representative=False).count()
    asked = [row for row in _rows(run, selection) if _counts(row, selection, left_out)]
    if selection.fewest:
        asked = _fewest(run, asked, left_out)
    if selection.sample is not None:
        sampled = _sample(asked, selection)
        left_out["not_sampled"] = len(asked) - len(sampled)
        asked = sampled
    kept = asked[: selection.limit]
    left_out["over_limit"] = len(asked) - len(kept)
    return Choice([row.chosen for row in kept], left_out)


@dataclass(frozen=True)
class _Row:
    chosen: Chosen
    jaccard: float
    suggestion: str
    channels: list[str]
    sources: tuple[str, str]
    decided: bool


def _rows(run: ScreeningRun, selection: Selection) -> Iterator[_Row]:
    # A pair decided in any round stays decided until somebody asks for it again.
    closed = ReviewItem.objects.filter(
        pair=OuterRef("pair"), state=ReviewItem.State.CLOSED, round__pass_mark__isnull=True
    )
    candidates = Candidate.objects.filter(run=run)
    if selection.pairs:
        candidates = candidates.filter(pair__in=selection.pairs)
    else:
        candidates = candidates.filter(representative=True)
    rows = candidates.annotate(decided=Exists(closed)).order_by("rank")
    values = rows.values_list(
        "pk", "pair_id", "pair__low_id", "pair__high_id", "jaccard", "suggestion", "channels",
        "pair__low__source_id", "pair__high__source_id", "decided",
    )  # fmt: skip
    for pk, pair, low, high, jaccard, suggestion, channels, one, other, decided in values.iterator(
        chunk_size=5_000
    ):
        sources = (min(one or "", other or ""), max(one or "", other or ""))
        yield _Row(
            Chosen(pk, pair, low, high), jaccard, suggestion, channels, sources, bool(decided)
        )


def _counts(row: _Row, selection: Selection, left_out: dict[str, int]) -> bool:
    if row.decided and not selection.again:
        left_out["decided"] += 1
        return False
    least, greatest = selection.jaccard
    fits = (
        least <= row.jaccard <= greatest
        and (not selection.suggestions or row.suggestion in selection.suggestions)
        and (not selection.channels or not set(selection.channels).isdisjoint(row.channels))
    )
    if not fits:
        left_out["filtered"] += 1
    return fits


def _fewest(run: ScreeningRun, rows: list[_Row], left_out: dict[str, int]) -> list[_Row]:
    """``rows`` without the likely copies that follow from what is judged, or may follow from what is asked now.

    Only copies carry over to a third text, so pairs that look like anything else are all asked.
    """
    likely = {pair_of(r.chosen.low, r.chosen.high): r for r in rows if r.suggestion == Label.COPY}
    planned = plan(likely, conclusions.decided(run.collection))
    left_out["follows"], left_out["waits"] = len(planned.follows), len(planned.waits)
    asked = set(planned.ask)
    return [
        row
        for row in rows
        if row.suggestion != Label.COPY or pair_of(row.chosen.low, row.chosen.high) in asked
    ]


def _sample(rows: Sequence[_Row], selection: Selection) -> list[_Row]:
    """At most ``sample`` rows of each stratum, in their old order."""
    strata: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        strata.setdefault(_stratum(row, selection.stratum), []).append(place)
    drawn: list[int] = []
    for name in sorted(strata):
        places = strata[name]
        # One generator for each stratum: a new stratum does not change what the others give.
        generator = random.Random(f"{selection.seed}|{name}")
        drawn += generator.sample(places, min(selection.sample or 0, len(places)))
    return [rows[place] for place in sorted(drawn)]


def _stratum(row: _Row, kind: Stratum) -> str:
    if kind == "source":
        return "|".join(row.sources)
    if kind == "channel":
        return "+".join(sorted(row.channels))
    return row.suggestion


def in_family_order(
    chosen: Sequence[Chosen], seed: int, changes: Mapping[int, bytes] | None = None
) -> list[Chosen]:
    """``chosen`` with connected pairs together; families in an order that ``seed`` alone decides, else as given.

    ``changes``: by candidate, what a pair changes. Pairs that change the same follow one another, families they are
    of become one: who has just read a change knows it again at a glance.
    """
    changes = changes or {}
    parent: dict[int, int] = {}

    def root(document: int) -> int:
        while parent.setdefault(document, document) != document:
            parent[document] = parent[parent[document]]
            document = parent[document]
        return document

    first: dict[bytes, int] = {}
    for pair in chosen:
        parent[root(pair.high)] = root(pair.low)
        if pair.candidate in changes:
            parent[root(pair.low)] = root(first.setdefault(changes[pair.candidate], pair.low))
    order = list(_grouped(chosen, (root(pair.low) for pair in chosen)))
    random.Random(seed).shuffle(order)
    return [
        pair
        for family in order
        for alike in _grouped(family, (changes.get(p.candidate, p.candidate) for p in family))
        for pair in alike
    ]


def _grouped(chosen: Sequence[Chosen], roots: Iterable[object]) -> Iterable[list[Chosen]]:
    families: dict[object, list[Chosen]] = {}
    for pair, family in zip(chosen, roots, strict=True):
        families.setdefault(family, []).append(pair)
    return families.values()
