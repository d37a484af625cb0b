"""What a run found, as rows that pages and rounds can ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from django.db import transaction

from screening.inserting import as_json, insert
from screening.models import Candidate, DocumentPair
from screening.saving import chunks

if TYPE_CHECKING:
    from screening.evidence.facts import FactChange
    from screening.result import FoundCandidate, ScreeningResult

CHUNK = 2000
ROWS = 1_000_000
"""Candidates that become rows, the strongest first. ``candidates.jsonl`` always holds every one of them."""


def publish(
    run_id: int,
    result: ScreeningResult,
    documents: Sequence[int],
    *,
    tick: Callable[[int, int], None],
) -> int:
    """Write the candidates of a run as rows and return their number; ``documents`` are keys in the order of the run.

    Harmless to repeat, also by two workers at once: equal inputs give equal rows, and a row that is there stays.
    Rows of an earlier attempt that this one does not find (another version of the program made them) are removed.
    """
    wanted = min(len(result.candidates), ROWS)
    written = Candidate.objects.filter(run=run_id)
    keys = _keys(result, documents, wanted)
    if written.exists() and not _agrees(written, keys):
        written.delete()
    tick(0, wanted)
    pairs = _pairs(keys)
    source = islice(iter(result.candidates), wanted)
    done = 0
    while batch := list(islice(source, CHUNK)):
        tick(done, wanted)
        rows = [
            _values(run_id, pairs[_key(documents[found.left], documents[found.right])], found)
            for found in batch
        ]
        with transaction.atomic():
            insert(Candidate, _FIELDS, rows, ignore_conflicts=True)
        done += len(batch)
    tick(done, wanted)
    return done


def _key(left: int, right: int) -> tuple[int, int]:
    return (left, right) if left < right else (right, left)


def _keys(result: ScreeningResult, documents: Sequence[int], wanted: int) -> list[tuple[int, int]]:
    """The keys of the first ``wanted`` pairs in rank order, without building the candidates."""
    order = result.corpus.order
    left = order[result.table.left[:wanted]].tolist()
    right = order[result.table.right[:wanted]].tolist()
    return [_key(documents[a], documents[b]) for a, b in zip(left, right, strict=True)]


def _agrees(written: Any, keys: list[tuple[int, int]]) -> bool:
    """Whether every row that is there is the one that this attempt would write under its rank."""
    ranks = written.order_by("rank").values_list("rank", "pair__low_id", "pair__high_id")
    return all(
        rank <= len(keys) and keys[rank - 1] == (low, high) for rank, low, high in ranks.iterator()
    )


def _pairs(keys: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The row of each pair, made where it is missing.

    In the order of the keys and not of the ranks: so every row of the table is looked at once.
    """
    found: dict[tuple[int, int], int] = {}
    for some in chunks(sorted(keys), 5 * CHUNK):
        with transaction.atomic():
            insert(DocumentPair, ("low", "high"), some, ignore_conflicts=True)
        wanted = set(some)
        rows = DocumentPair.objects.filter(low_id__gte=some[0][0], low_id__lte=some[-1][0])
        for low, high, pk in rows.values_list("low_id", "high_id", "pk").iterator(chunk_size=5000):
            if (low, high) in wanted:
                found[low, high] = pk
    return found


_FIELDS = (
    "run",
    "pair",
    "rank",
    "channels",
    "minhash_estimate",
    "jaccard",
    "jaccard_folded",
    "containment",
    "simhash_distance",
    "fingerprints",
    "shared_shingles",
    "excerpts",
    "fact_changes",
    "suggestion",
    "representative",
    "note",
)


def _values(run_id: int, pair_id: int, found: FoundCandidate) -> tuple[Any, ...]:
    """The row of a candidate, in the order of :data:`_FIELDS`."""
    excerpts = [(e.left_start, e.left_end, e.right_start, e.right_end) for e in found.excerpts]
    return (
        run_id,
        pair_id,
        found.rank,
        as_json(found.channels),
        found.minhash_estimate,
        found.jaccard,
        found.jaccard_folded,
        found.containment,
        found.simhash_distance,
        as_json(asdict(found.fingerprints)) if found.fingerprints else None,
        as_json(found.shared_shingles),
        as_json(excerpts),
        as_json([_fact(change) for change in found.fact_changes]),
        found.suggestion,
        found.representative,
        found.note,
    )


def _fact(change: FactChange) -> dict[str, object]:
    return {
        "kind": change.kind,
        "left": change.left,
        "right": change.right,
        "left_start": change.left_start,
        "left_end": change.left_end,
        "right_start": change.right_start,
        "right_end": change.right_end,
    }
