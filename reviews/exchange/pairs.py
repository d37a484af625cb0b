"""Which pairs of a round are handed to other tools, and with which labels: at most the conclusions of closed pairs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from reviews.exchange import formats
from reviews.models import ReviewItem, ReviewRound
from reviews.outcomes import outcomes_of

Kind = Literal["tasks", "settled"]
KINDS: tuple[Kind, ...] = ("tasks", "settled")
"""``tasks``: every pair, without any label. ``settled``: closed pairs only, each with its conclusion."""

CHUNK = 100
"""Pairs whose texts are in memory together."""

FILES: dict[str, str] = {
    "label-studio.json": "application/json",
    "label-studio.xml": "application/xml",
    "doccano.jsonl": "application/jsonl",
    "doccano-labels.json": "application/json",
    "pairs.csv": "text/csv",
    "pairs.xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""The files that a round can be handed out as, with their media types."""


def write_file(round: ReviewRound, name: str, kind: Kind) -> Iterator[bytes]:
    """The bytes of one of :data:`FILES`; ``KeyError`` for another name.

    Nobody learns from it what a signed table would withhold: judgments, scores and suggestions are never in it, and labels
    only of closed pairs and only for ``settled``.
    """
    if name not in FILES:
        raise KeyError(name)
    if name == "label-studio.xml":
        return iter([formats.label_studio_settings().encode()])
    if name == "doccano-labels.json":
        return iter([formats.doccano_labels().encode()])
    pairs = _pairs(round, kind)
    if name == "label-studio.json":
        return formats.label_studio(pairs)
    if name == "doccano.jsonl":
        return formats.doccano(pairs)
    if name == "pairs.csv":
        return formats.csv_file(pairs)
    return _workbook(pairs)


def _workbook(pairs: Iterable[formats.Pair]) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.xlsx"
        formats.workbook(path, pairs)
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                yield piece


def _pairs(round: ReviewRound, kind: Kind) -> Iterator[formats.Pair]:
    rows = round.items.order_by("position")
    if kind == "settled":
        rows = rows.filter(state=ReviewItem.State.CLOSED)
    # Texts are long: few at a time, and nothing of the candidate.
    keys = rows.values_list("pk", flat=True).iterator(chunk_size=2_000)
    while chunk := list(islice(keys, CHUNK)):
        items = list(
            ReviewItem.objects.filter(pk__in=chunk)
            .order_by("position")
            .select_related("pair__low__collection", "pair__high__collection")
        )
        labels = [outcome.label for outcome in outcomes_of(items)] if kind == "settled" else []
        for number, item in enumerate(items):
            left, right = item.pair.left, item.pair.right
            yield formats.Pair(
                left.doc_id,
                right.doc_id,
                left.title or left.doc_id,
                right.title or right.doc_id,
                left.raw,
                right.raw,
                labels[number] if labels else "",
            )
