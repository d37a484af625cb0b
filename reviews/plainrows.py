"""Items, texts and records as plain rows: what a table of a million pairs is read into, field by field.

They have the fields of the models that :mod:`reviews.records` and :mod:`reviews.outcomes` look at, under the same names, so
that both are digested and concluded by the same functions. Building a model for each would take most of the time.
Pure: knows nothing of Django.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(slots=True)
class TextRow:
    """A document without its text; title, source and version as the screening run knew them."""

    pk: int
    collection: str
    doc_id: str
    raw_sha256: str
    source_id: str | None
    version: str | None
    title: str | None

    @property
    def key(self) -> tuple[str, str]:
        """What decides left and right, as that of :class:`screening.models.Document`."""
        return (self.collection, self.doc_id)


@dataclass(slots=True)
class PairRow:
    """``left`` and ``right``: the same two texts as ``low`` and ``high``, by code point."""

    low: TextRow
    high: TextRow
    left: TextRow = field(init=False)
    right: TextRow = field(init=False)

    def __post_init__(self) -> None:
        turned = self.high.key < self.low.key
        self.left, self.right = (self.high, self.low) if turned else (self.low, self.high)


@dataclass(slots=True)
class FoundRow:
    """What screening found about a pair."""

    rank: int
    channels: Any
    minhash_estimate: float | None
    jaccard: float
    jaccard_folded: float | None
    containment: float
    simhash_distance: int | None
    excerpts: Any
    fact_changes: Any
    suggestion: str


@dataclass(slots=True)
class ItemRow:
    """A pair in a round."""

    pk: int
    pair_id: int
    round_id: int
    position: int
    state: str
    closed_by: str
    conflict: str
    closed_at: datetime | None
    pair: PairRow
    candidate: FoundRow


@dataclass(slots=True)
class PersonRow:
    code: str


@dataclass(slots=True)
class SeatRow:
    number: int


@dataclass(slots=True)
class AnswerRow:
    """What judgments, opinions and decisions have in common, in the order of :data:`ANSWER_FIELDS`."""

    pk: UUID
    item_id: int
    label: str
    direction: str
    reason_code: str
    reason: str
    kept_id: int | None
    evidence: Any
    shown: Any
    guideline_version: int
    created_at: datetime
    digest: str
    digest_version: int
    item: ItemRow
    kept: TextRow | None


ANSWER_FIELDS = (
    *("pk", "item_id", "label", "direction", "reason_code", "reason", "kept_id", "evidence"),
    *("shown", "guideline_version", "created_at", "digest", "digest_version"),
)


@dataclass(slots=True)
class JudgmentRow(AnswerRow):
    annotator: PersonRow
    slot: SeatRow
    version: int
    supersedes_id: UUID | None
    counted: bool
    checklist: Any
    active_ms: int | None


@dataclass(slots=True)
class OpinionRow(AnswerRow):
    arbitrator: PersonRow


@dataclass(slots=True)
class ArbitrationRow(AnswerRow):
    arbitrator: PersonRow
    version: int
    supersedes_id: UUID | None
    opinion_id: UUID | None
    saw_originals: bool
    based_on: Any
    cause_code: str
