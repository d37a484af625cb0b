"""One item of a round with its records, and the lines of the files that come from it.

Nothing here knows about files or the database. Of an item that is not closed only its identity leaves this module, and
whether it waits for arbitration; never who judged it, how often, when or how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dedupreview.digests import timestamp
from reviews.models import ReviewItem, SignOff
from reviews.plainrows import ArbitrationRow, ItemRow, JudgmentRow, OpinionRow
from reviews.records import Record
from reviews.tables.chain import Chain

Row = dict[str, Any]
AnyRow = JudgmentRow | OpinionRow | ArbitrationRow


@dataclass(slots=True)
class ItemRecords:
    """One item of the round with every record about it, oldest first."""

    item: ItemRow
    single_seat: bool
    judgments: list[JudgmentRow]
    opinions: list[OpinionRow]
    arbitrations: list[ArbitrationRow]

    @property
    def closed(self) -> bool:
        return self.item.state == ReviewItem.State.CLOSED

    @property
    def in_conflict(self) -> bool:
        """Whether the item waits for arbitration. Where one judgment is asked, saying so would tell what it is."""
        return self.item.state == ReviewItem.State.CONFLICT and not self.single_seat

    @property
    def pair_id(self) -> str:
        return str(self.item.pair_id)

    def standing(self) -> list[JudgmentRow]:
        """The judgments that count, each person's latest version."""
        replaced = {judgment.supersedes_id for judgment in self.judgments}
        return [j for j in self.judgments if j.counted and j.pk not in replaced]

    def decision(self) -> ArbitrationRow | None:
        """The arbitration that stands."""
        return self.arbitrations[-1] if self.arbitrations else None

    def records(self) -> list[AnyRow]:
        """Every record, in the order of the chain."""
        return [*self.judgments, *self.opinions, *self.arbitrations]

    def first_answers(self) -> dict[str, str]:
        """Person code → label of the first blind judgments that count: what agreement is measured on."""
        return {
            judgment.annotator.code: judgment.label
            for judgment in self.judgments
            if judgment.counted and judgment.version == 1
        }


class StateDigests:
    """What a person signs off: one chain over all judgments, and one over all records, of a round as it stands."""

    def __init__(self) -> None:
        self.judgments = Chain()
        self.records = Chain()

    def add(self, entry: ItemRecords) -> None:
        for judgment in entry.judgments:
            self.judgments.add(judgment.digest)
        for record in entry.records():
            self.records.add(record.digest)

    def of(self, stage: str) -> str:
        """The digest that a signature under ``stage`` covers: annotation signs the judgments alone."""
        chain = self.judgments if stage == SignOff.Stage.ANNOTATION else self.records
        return chain.value


def pair_row(entry: ItemRecords) -> Row:
    """The line of pairs.jsonl: the two documents and what screening found; offsets count code points of the raw texts."""
    pair, candidate = entry.item.pair, entry.item.candidate
    left, right = pair.left, pair.right
    return {
        "pair_id": entry.pair_id,
        "item": str(entry.item.pk),
        "position": entry.item.position,
        "left": left.doc_id,
        "right": right.doc_id,
        "left_source": left.source_id,
        "right_source": right.source_id,
        "left_version": left.version,
        "right_version": right.version,
        "left_sha256": left.raw_sha256,
        "right_sha256": right.raw_sha256,
        "rank": candidate.rank,
        "channels": candidate.channels,
        "minhash_estimate": candidate.minhash_estimate,
        "jaccard": candidate.jaccard,
        "jaccard_folded": candidate.jaccard_folded,
        "containment": candidate.containment,
        "simhash_distance": candidate.simhash_distance,
        "excerpts": candidate.excerpts,
        "fact_changes": candidate.fact_changes,
        "suggestion": candidate.suggestion,
    }


_JUDGMENT_KEYS = (
    *("pair_id", "item", "annotator", "version", "counted", "label", "direction", "reason_code"),
    *("reason", "kept", "shown", "guideline_version", "created_at"),
)
_OPINION_KEYS = ("label", "direction", "reason_code", "reason", "kept", "created_at")
_BEFORE_OPINION = (
    *("pair_id", "item", "arbitrator", "version", "label", "direction", "reason_code"),
    *("reason", "kept"),
)
_AFTER_OPINION = (
    *("saw_originals", "based_on", "cause_code", "shown", "guideline_version", "created_at"),
)


def judgment_row(fields: Row, digest: str) -> Row:
    """The line of judgments.jsonl, keys as design §6; ``fields``: those that the digest covers."""
    return {**{key: fields[key] for key in _JUDGMENT_KEYS}, "digest": digest}


def arbitration_row(fields: Row, digest: str, opinion: tuple[Row, str] | None) -> Row:
    """The line of arbitrations.jsonl: the decision, and the opinion that its author gave before seeing the originals."""
    return {
        **{key: fields[key] for key in _BEFORE_OPINION},
        "opinion": (
            {**{key: opinion[0][key] for key in _OPINION_KEYS}, "digest": opinion[1]}
            if opinion
            else None
        ),
        **{key: fields[key] for key in _AFTER_OPINION},
        "digest": digest,
    }


def record_line(text: bytes, record: Record) -> bytes:
    """The line of records.jsonl; ``fields`` stands in it as it is digested, byte by byte."""
    head = f'{{"digest":"{record.digest}","digest_version":{record.digest_version},"fields":'
    return head.encode("ascii") + text + b"}\n"


def sign_off_row(sign_off: SignOff, *, current: bool) -> Row:
    """The line of sign_offs.jsonl; ``current`` says whether the records still are those that were signed."""
    return {
        "stage": sign_off.stage,
        "person": sign_off.person.code,
        "meaning": sign_off.meaning,
        "signed_digest": sign_off.signed_digest,
        "current": current,
        "created_at": timestamp(sign_off.created_at),
        "digest": sign_off.digest,
    }
