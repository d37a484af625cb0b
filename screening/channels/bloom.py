"""Channel ``bloom``: how much of a run was seen before within it, as a stream would see it; it never makes a pair."""

from __future__ import annotations

from collections.abc import Sequence

from screening.channels import Hits, no_pairs
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.seen import LEAST_PARAGRAPH, PARAGRAPHS, SeenFilter


def find(documents: Sequence[InputDocument], config: ScreeningConfig) -> Hits:
    """Counts for the funnel: texts and paragraphs that stand in a document before theirs (in key order).

    Every figure may be too high by the share ``config.bloom_error`` of what was looked at (``per_million`` in the counts), never
    too low.
    """
    seen = SeenFilter.empty(
        capacity=_paragraph_room(documents),
        error=config.bloom_error,
        hashes=config.bloom_hashes,
        config=config,
    )
    answers = list(seen.ask(documents, add=True))
    counts = {
        "seen_texts": sum(bool(a.seen) for a in answers),
        "texts": sum(a.seen is not None for a in answers),
        "seen_paragraphs": sum(a.seen_paragraphs for a in answers),
        "paragraphs": sum(a.paragraphs for a in answers),
        "error_per_million": round(1_000_000 * config.bloom_error),
    }
    return Hits(no_pairs(), counts)


def _paragraph_room(documents: Sequence[InputDocument]) -> int:
    """Texts that a filter must be made for to have room for every paragraph of these."""
    paragraphs = sum(len(d.raw) for d in documents) // LEAST_PARAGRAPH
    return max(1, len(documents), paragraphs // PARAGRAPHS + 1)
