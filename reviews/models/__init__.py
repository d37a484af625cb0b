"""Rounds, seats and the insert-only records of what people decided."""

from __future__ import annotations

from reviews.models.entries import MergedEntry
from reviews.models.labelsets import LabelRow, LabelSet
from reviews.models.quality import GoldItem, Question
from reviews.models.records import (
    Answer,
    Arbitration,
    CauseCode,
    Judgment,
    Opinion,
    SignOff,
)
from reviews.models.rounds import (
    Draft,
    GuidelineVersion,
    ReviewItem,
    ReviewRound,
    ReviewSlot,
    RoundMember,
    SeatDecline,
    SeatLapse,
)
from reviews.models.tables import ReviewTable

__all__ = [
    "Answer",
    "Arbitration",
    "CauseCode",
    "Draft",
    "GoldItem",
    "GuidelineVersion",
    "Judgment",
    "LabelRow",
    "LabelSet",
    "MergedEntry",
    "Opinion",
    "Question",
    "ReviewItem",
    "ReviewRound",
    "ReviewSlot",
    "ReviewTable",
    "RoundMember",
    "SeatDecline",
    "SeatLapse",
    "SignOff",
]
