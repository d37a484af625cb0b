"""Passages of a pair that other documents of the same run have too: which, in how many, and where.

Read from what the run found, so that nothing is compared while a page waits: every candidate carries the passages its
two texts share. The number of documents is therefore a lower bound, and said as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from reviews.models import ReviewItem
from screening import template_library
from screening.library import shared_stretches, without
from screening.models import Candidate, Document, DocumentPair, ScreeningRun

KINDRED = 0.5
"""From this similarity on a third document is another version of the text: all of it would be shaded, saying nothing."""
LEAST = 16
"""Shorter passages are not worth a mark."""
ROWS = 600
"""Candidates looked at around one text, the strongest first."""
HOPS = 3_000
"""Candidates looked at around the documents that share a passage with it."""
NAMED = 3
"""Documents named for one passage."""
SHOWN = 12
"""Passages shown for one pair, those of most documents first."""


@dataclass(frozen=True)
class Source:
    """A document that has a passage too."""

    pk: int
    title: str


@dataclass(frozen=True)
class Known:
    """A passage known from elsewhere: code points [start, end) of the raw text of the canonical ``side``.

    ``documents``: how many of the run's documents are known to have it, this one among them; ``sources`` names a few
    of the collection's own.
    """

    side: str
    start: int
    end: int
    documents: int
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class _Span:
    """[start, end) of a document, shared with ``other`` at [there, there + end - start)."""

    start: int
    end: int
    other: int
    there: int
    until: int


def known_passages(item: ReviewItem) -> tuple[tuple[Known, ...], int]:
    """The passages of both texts that third documents have too, in the order of the texts; and of how many documents.

    Needs ``item.candidate`` and both documents of ``item.pair``. At most eight queries of bounded size, once for a pair.
    """
    pair = item.pair
    return _known(item.candidate.run_id, pair.left.pk, pair.right.pk)


@lru_cache(maxsize=256)
def _known(run_id: int, left: int, right: int) -> tuple[tuple[Known, ...], int]:
    around = _spans(run_id, [left, right], ROWS)
    mine = {
        pk: [span for span in around.get(pk, ()) if span.other not in {left, right}]
        for pk in (left, right)
    }
    others = sorted({span.other for spans in mine.values() for span in spans})
    run = ScreeningRun.objects.only("inputs", "collection_id").get(pk=run_id)
    if not others:
        return (), run.inputs
    hops = _spans(run_id, others, HOPS)
    found: list[tuple[str, int, int, frozenset[int]]] = []
    for side, pk in (("left", left), ("right", right)):
        for start, end, documents in _pieces(mine[pk], hops):
            found.append((side, start, end, documents | {pk}))
    strongest = sorted(found, key=lambda one: (-len(one[3]), one[:3]))[:SHOWN]
    titles = _titles(run.collection_id, {left, right}, (one[3] for one in strongest))
    known = [
        Known(side, start, end, len(documents), tuple(_named(documents, titles)))
        for side, start, end, documents in sorted(strongest, key=lambda one: one[:3])
    ]
    return tuple(known), run.inputs


def _spans(run_id: int, documents: Sequence[int], most: int) -> dict[int, list[_Span]]:
    """For each of ``documents`` the passages that it shares with any other that is not a version of it."""
    wanted = set(documents)
    # Side by side through their own indexes: asked with "or", a database walks over every candidate of the run.
    pairs = [
        *DocumentPair.objects.filter(low__in=documents).values_list("pk", flat=True)[:most],
        *DocumentPair.objects.filter(high__in=documents).values_list("pk", flat=True)[:most],
    ]
    rows = (
        Candidate.objects.filter(run=run_id, pair__in=pairs, jaccard__lt=KINDRED)
        .order_by("rank")
        .values_list(
            "pair__low_id", "pair__low__collection__slug", "pair__low__doc_id",
            "pair__high_id", "pair__high__collection__slug", "pair__high__doc_id", "excerpts",
        )
    )  # fmt: skip
    spans: dict[int, list[_Span]] = {}
    for low, low_slug, low_id, high, high_slug, high_id, excerpts in rows[:most]:
        one, other = (
            (low, high) if (low_slug, low_id) < (high_slug, high_id) else (high, low)
        )  # the canonical left first, as the offsets have it
        for a, b, c, d in excerpts:
            if one in wanted:
                spans.setdefault(one, []).append(_Span(a, b, other, c, d))
            if other in wanted:
                spans.setdefault(other, []).append(_Span(c, d, one, a, b))
    return spans


def _pieces(
    spans: Sequence[_Span], hops: dict[int, list[_Span]]
) -> Iterable[tuple[int, int, frozenset[int]]]:
    """Disjoint stretches of one text with the documents that have them; neighbours of equal documents are one."""
    edges = sorted({edge for span in spans for edge in (span.start, span.end)})
    last: tuple[int, int, frozenset[int]] | None = None
    for start, end in pairwise(edges):
        covering = [span for span in spans if span.start <= start and end <= span.end]
        if not covering:
            continue
        documents = {span.other for span in covering}
        # A passage that very many have joins each of them to one document only: look one step further.
        for span in covering[:8]:
            middle = span.there + ((start + end) // 2 - span.start) * (span.until - span.there) // (
                span.end - span.start
            )
            documents |= {
                hop.other for hop in hops.get(span.other, ()) if hop.start <= middle < hop.end
            }
        piece = (start, end, frozenset(documents))
        if last and last[1] == start and (last[2] == piece[2] or end - start < LEAST):
            last = (last[0], end, last[2])
            continue
        if last and last[1] - last[0] >= LEAST:
            yield last
        last = piece
    if last and last[1] - last[0] >= LEAST:
        yield last


def _titles(collection_id: int, pair: set[int], found: Iterable[frozenset[int]]) -> dict[int, str]:
    """Names of third documents. Only of the round's own collection: everybody in the round may read it."""
    wanted = {pk for documents in found for pk in sorted(documents - pair)[:40]}
    rows = Document.objects.filter(pk__in=wanted, collection_id=collection_id)
    return {pk: title or doc_id for pk, title, doc_id in rows.values_list("pk", "title", "doc_id")}


def _named(documents: frozenset[int], titles: dict[int, str]) -> list[Source]:
    return [Source(pk, titles[pk]) for pk in sorted(documents) if pk in titles][:NAMED]


@dataclass(frozen=True)
class Form:
    """A confirmed entry of the template library that both texts have: its name, how many texts, and what of it is greyed.

    ``left`` and ``right`` are code points [start, end) of the raw texts: fixed wording that both have. Neither what
    fills a slot nor a changed fact is in it.
    """

    name: str
    documents: int
    looked_at: int
    left: tuple[tuple[int, int], ...]
    right: tuple[tuple[int, int], ...]


def known_forms(
    item: ReviewItem,
    facts: tuple[Iterable[tuple[int, int]], Iterable[tuple[int, int]]] = ((), ()),
) -> list[Form]:
    """The confirmed entries of the collection's library that stand in both texts, those of most texts first.

    ``facts``: where the changed facts of either side stand, raw [start, end); nothing of them is greyed. One query where
    nothing is confirmed. Needs ``item.candidate`` with its run, and both documents of ``item.pair``.
    """
    rows, library = template_library.confirmed(item.candidate.run.collection_id)
    if library is None:
        return []
    sides = [library.passages(document.raw) for document in (item.pair.left, item.pair.right)]
    found = []
    for number in sorted({p.entry for p in sides[0]} & {p.entry for p in sides[1]}):
        own = [[p for p in side if p.entry == number] for side in sides]
        left, right = (
            tuple(without(spans, changed))
            for spans, changed in zip(shared_stretches(*own), facts, strict=True)
        )
        if left and right:
            row = rows[number]
            found.append(Form(str(row), row.documents, row.looked_at, left, right))
    return sorted(found, key=lambda form: (-form.documents, form.name))
