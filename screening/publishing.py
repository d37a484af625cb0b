"""What a run found, as rows that pages and rounds can ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    if written.exists() and not _agrees(written, result, documents, wanted):
        written.delete()
    source = islice(iter(result.candidates), wanted)
    done = 0
    while batch := list(islice(source, CHUNK)):
        tick(done, wanted)
        keys = [_key(documents[found.left], documents[found.right]) for found in batch]
        with transaction.atomic():
            pairs = _pairs(keys)
            rows = [
                _values(run_id, pairs[key], found) for key, found in zip(keys, batch, strict=True)
            ]
            insert(Candidate, _FIELDS, rows, ignore_conflicts=True)
        done += len(batch)
    tick(done, wanted)
    return done


def _key(left: int, right: int) -> tuple[int, int]:
    return (left, right) if left < right else (right, left)


def _agrees(written: Any, result: ScreeningResult, documents: Sequence[int], wanted: int) -> bool:
    """Whether every row that is there is the one that this attempt would write under its rank."""
    ranks = written.order_by("rank").values_list("rank", "pair__low_id", "pair__high_id")
    table, order = result.table, result.corpus.order
    for rank, low, high in ranks.iterator():
        if rank > wanted:
            return False
        left, right = int(table.left[rank - 1]), int(table.right[rank - 1])
        if _key(documents[int(order[left])], documents[int(order[right])]) != (low, high):
            return False
    return True


def _pairs(keys: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The row of each pair, made where it is missing."""
    found = dict(_known_pairs(keys))
    missing = [
        DocumentPair(low_id=low, high_id=high) for low, high in keys if (low, high) not in found
    ]
    if missing:
        DocumentPair.objects.bulk_create(missing, batch_size=CHUNK, ignore_conflicts=True)
        found |= dict(_known_pairs([(pair.low_id, pair.high_id) for pair in missing]))
    return found


def _known_pairs(keys: list[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], int]]:
    wanted = set(keys)
    for lows in chunks(sorted({low for low, _ in keys}), 900):
        rows = DocumentPair.objects.filter(low_id__in=lows).values_list("low_id", "high_id", "pk")
        for low, high, pk in rows.iterator(chunk_size=5000):
            if (low, high) in wanted:
                yield (low, high), pk


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
