"""Channel ``doc_number``: documents that bear the same 发文字号 in head position."""

from __future__ import annotations

from screening.channels import Hits, no_pairs
from screening.text.corpus import Corpus


def find(corpus: Corpus, cap: int) -> Hits:
    """Pairs of documents."""
    return Hits(no_pairs())
