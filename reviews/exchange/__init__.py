"""The pairs of a round for other labelling tools; what they bring back is read by ``screening.labels_file``."""

from __future__ import annotations

from reviews.exchange.download import attachment, settled_in
from reviews.exchange.pairs import FILES, KINDS, Kind, write_file

__all__ = ["FILES", "KINDS", "Kind", "attachment", "settled_in", "write_file"]
