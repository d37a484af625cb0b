"""The final table: one row a pair, for people and for the archive's own search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

from dedupreview.digests import timestamp
from reviews.labels import (
    ADVICE_IN_CONFLICT,
    ADVICE_PENDING,
    LABEL_NAMES_ZH,
    Direction,
    Label,
    ReasonCode,
)
from reviews.outcomes import outcome_from
from reviews.plainrows import ArbitrationRow, JudgmentRow
from reviews.tables.rows import ItemRecords, Row
from reviews.tables.writers import Column, Value

DIRECTION_NAMES_ZH: dict[str, str] = {
    Direction.LEFT_FIRST: "左侧在前",
    Direction.RIGHT_FIRST: "右侧在前",
    Direction.SAME_ORIGIN: "同源",
    Direction.UNKNOWN: "方向未知",
}
STATUS_NAMES_ZH = {
    "pending": "未完成",
    "conflict": "待仲裁",
    "agreed": "意见一致",
    "arbitrated": "已仲裁",
}
ARBITRATION_NAMES_ZH = {"": "", "none": "无需仲裁", "pending": "待仲裁", "decided": "已仲裁"}

COLUMNS = (
    Column("pair_id", "text", "材料对编号", "identity of the pair", 10),
    Column("item", "text", "审核项编号", "number of the review item", 10),
    Column("left", "text", "左侧材料", "left document", 24),
    Column("right", "text", "右侧材料", "right document", 24),
    Column("left_title", "text", "左侧标题", "title of the left document", 30),
    Column("right_title", "text", "右侧标题", "title of the right document", 30),
    Column("label", "text", "结论代码", "conclusion", 12),
    Column("label_zh", "text", "结论", "conclusion in Chinese", 12),
    Column("direction", "text", "修订方向代码", "direction of a revision", 12),
    Column("direction_zh", "text", "修订方向", "direction in Chinese", 12),
    Column("reason_code", "text", "理由代码", "reason codes of those who concluded", 18),
    Column("reason", "text", "理由", "reasons in words, one a line", 40),
    Column(
        "reason_length", "integer", "理由全文字数", "full length of the reasons, in characters", 10
    ),
    Column("kept", "text", "保留的条目", "entry kept", 24),
    Column("related_sources", "text", "相关来源", "where the two texts were collected", 24),
    Column("left_version", "text", "左侧版本", "version of the left document", 14),
    Column("right_version", "text", "右侧版本", "version of the right document", 14),
    Column("reviewers", "text", "审核人", "codes of the people whose judgments count", 20),
    Column("judgments", "integer", "计入的判断数", "judgments that count", 8),
    Column("arbitrator", "text", "仲裁人", "code of the arbitrator", 12),
    Column("arbitration", "text", "仲裁状态代码", "none, pending or decided", 12),
    Column("arbitration_zh", "text", "仲裁状态", "state of arbitration in Chinese", 12),
    Column("retention_advice", "text", "保留建议", "advice, never an action", 22),
    Column("review_status", "text", "审核状态代码", "pending, conflict, agreed or arbitrated", 12),
    Column("review_status_zh", "text", "审核状态", "state of review in Chinese", 12),
    Column("first_judged_at", "time", "首次判断时间", "time of the first judgment", 20),
    Column("last_judged_at", "time", "末次判断时间", "time of the last judgment", 20),
    Column("closed_at", "time", "结论时间", "time of the conclusion", 20),
    Column("rank", "integer", "候选排名", "rank among the candidates", 8),
    Column("jaccard", "number", "Jaccard 相似度", "Jaccard similarity of the matching copies", 10),
    Column("containment", "number", "包含度", "share of the shorter text found in the other", 10),
)
HEADER = tuple(column.name for column in COLUMNS)


class Conclusion(NamedTuple):
    """What a closed item came to, and who stands behind it."""

    label: str
    direction: str
    kept: str | None
    by: str
    advice: str
    review_status: str
    reason_code: str = ""
    reason: str = ""


PENDING = Conclusion("", "", None, "", ADVICE_PENDING, "pending")
ARBITRATION_PENDING = Conclusion("", "", None, "", ADVICE_IN_CONFLICT, "conflict")


def conclude(entry: ItemRecords) -> Conclusion:
    """The conclusion of a closed item: its arbitration, else its unanimous judgments; of any other item nothing."""
    if not entry.closed:
        return ARBITRATION_PENDING if entry.in_conflict else PENDING
    standing, decision = entry.standing(), entry.decision()
    outcome = outcome_from(entry.item, standing, decision)
    pair = entry.item.pair
    kept = {document.pk: document.doc_id for document in (pair.low, pair.high)}
    answers: Sequence[JudgmentRow | ArbitrationRow] = [decision] if decision else standing
    return Conclusion(
        outcome.label,
        outcome.direction,
        kept[outcome.kept] if outcome.kept else None,
        outcome.by,
        outcome.advice,
        outcome.review_status,
        " ".join(dict.fromkeys(answer.reason_code for answer in answers if answer.reason_code)),
        "\n".join(dict.fromkeys(answer.reason for answer in answers if answer.reason)),
    )


def outcome_row(entry: ItemRecords, conclusion: Conclusion) -> Row:
    """The line of outcomes.jsonl; label and direction are null while the item is not closed."""
    item = entry.item
    return {
        "pair_id": entry.pair_id,
        "item": str(item.pk),
        "left": item.pair.left.doc_id,
        "right": item.pair.right.doc_id,
        "label": conclusion.label or None,
        "label_zh": LABEL_NAMES_ZH.get(conclusion.label),
        "direction": conclusion.direction or None,
        "kept": conclusion.kept,
        "by": conclusion.by or None,
        "conflict": (item.conflict or None) if entry.closed else None,
        "advice": conclusion.advice,
        "review_status": conclusion.review_status,
        "closed_at": timestamp(item.closed_at) if entry.closed and item.closed_at else None,
    }


def final_row(entry: ItemRecords, conclusion: Conclusion, zone: tzinfo) -> list[Value]:
    """The cells of :data:`COLUMNS`; times in ``zone``, which people read, with their offset."""
    item = entry.item
    left, right, candidate = item.pair.left, item.pair.right, item.candidate
    standing = entry.standing() if entry.closed else []
    decision = entry.decision() if entry.closed else None
    times = [judgment.created_at for judgment in standing]
    arbitration = _arbitration(entry)
    sources = dict.fromkeys(source for source in (left.source_id, right.source_id) if source)
    return [
        entry.pair_id,
        str(item.pk),
        left.doc_id,
        right.doc_id,
        left.title,
        right.title,
        conclusion.label,
        LABEL_NAMES_ZH.get(conclusion.label, ""),
        conclusion.direction,
        DIRECTION_NAMES_ZH.get(conclusion.direction, ""),
        conclusion.reason_code,
        conclusion.reason,
        len(conclusion.reason),
        conclusion.kept,
        "; ".join(sources),
        left.version,
        right.version,
        " ".join(judgment.annotator.code for judgment in standing),
        len(standing) if entry.closed else None,
        decision.arbitrator.code if decision else None,
        arbitration,
        ARBITRATION_NAMES_ZH[arbitration],
        conclusion.advice,
        conclusion.review_status,
        STATUS_NAMES_ZH[conclusion.review_status],
        _local(min(times), zone) if times else None,
        _local(max(times), zone) if times else None,
        _local(item.closed_at, zone) if entry.closed and item.closed_at else None,
        candidate.rank,
        candidate.jaccard,
        candidate.containment,
    ]


def _arbitration(entry: ItemRecords) -> str:
    if not entry.closed:
        return "pending" if entry.in_conflict else ""
    return "decided" if entry.arbitrations else "none"


RELATIONS_HEADER = ("doc_id", "relation", "entry")


def relation_rows(entry: ItemRecords, conclusion: Conclusion) -> list[tuple[str, str, str]]:
    """The lines of relations.csv that this pair gives: which entry a search should offer beside, or instead of, a text.

    ``copy``: the copy and the entry kept; both ways where nobody said which is kept. ``revised_by`` and ``revision_of``:
    the later and the earlier text; ``revision`` both ways where the direction is unknown or the origin common.
    ``citation`` and ``template`` both ways, as ``interpretation`` where everybody said that one explains the other.
    Other independent pairs give nothing.
    """
    left, right = entry.item.pair.left.doc_id, entry.item.pair.right.doc_id
    both_ways = [(left, conclusion.label, right), (right, conclusion.label, left)]
    if conclusion.label == Label.COPY and conclusion.kept in (left, right):
        other = right if conclusion.kept == left else left
        return [(other, str(Label.COPY), str(conclusion.kept))]
    if conclusion.label == Label.REVISION:
        if conclusion.direction == Direction.LEFT_FIRST:
            return [(left, "revised_by", right), (right, "revision_of", left)]
        if conclusion.direction == Direction.RIGHT_FIRST:
            return [(right, "revised_by", left), (left, "revision_of", right)]
        return both_ways
    if conclusion.label in (Label.COPY, Label.CITATION, Label.TEMPLATE):
        return both_ways
    if conclusion.reason_code == ReasonCode.INTERPRETATION:
        return [(left, "interpretation", right), (right, "interpretation", left)]
    return []


def _local(moment: datetime, zone: tzinfo) -> datetime:
    return moment.astimezone(zone)
