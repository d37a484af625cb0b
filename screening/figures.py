"""Figures of a run as the page draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from screening.config import ConfigError, ScreeningConfig
from screening.names import CHANNEL_NAMES


@dataclass(frozen=True, slots=True)
class Curve:
    """The S-curve of a banding in an SVG of 320 × 200: ``points`` as a polyline, marks at the threshold.

    ``compared``: pairs of signatures that were compared one by one, so that no banding decided; 0 where it did.
    ``weak``: more than one in twenty of the pairs at the threshold is missed.
    """

    bands: int
    rows: int
    points: str
    threshold: float
    threshold_x: float
    caught_percent: int
    lost_percent: int
    compared: int
    weak: bool


SURE = 0.95
"""Expected recall at the threshold below which the page warns."""

LEFT, TOP, WIDTH, HEIGHT = 40, 12, 264, 150


def s_curve(config: Mapping[str, Any], funnel: Mapping[str, Any]) -> Curve | None:
    """The chance 1 − (1 − sʳ)ᵇ that two texts of similarity s meet in a bucket; None without a MinHash join."""
    try:
        known = ScreeningConfig.from_dict(config)
    except (ConfigError, TypeError, ValueError):  # a run of another version of the engine
        return None
    if "minhash" not in known.channels:
        return None
    bands, rows = known.banding

    def caught(s: float) -> float:
        return 1 - (1 - s**rows) ** bands

    points = " ".join(
        f"{LEFT + WIDTH * i / 50:.1f},{TOP + HEIGHT * (1 - caught(i / 50)):.1f}" for i in range(51)
    )
    at_threshold = caught(known.threshold)
    channels = funnel.get("channels") or {}
    compared = int((channels.get("minhash") or {}).get("compared") or 0)
    return Curve(
        bands=bands,
        rows=rows,
        points=points,
        threshold=known.threshold,
        threshold_x=LEFT + WIDTH * known.threshold,
        caught_percent=int(100 * at_threshold),
        lost_percent=100 - int(100 * at_threshold),
        compared=compared,
        weak=not compared and at_threshold < SURE,
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: ``number`` of ``of`` (None where it stands alone); ``share`` in words, empty without a whole."""

    name: Any
    number: int
    of: int | None = None

    @property
    def share(self) -> str:
        return f"{100 * self.number / self.of:.1f} %" if self.of else ""


FUNNEL = (
    ("refused", _("Files and rows refused on import"), None),
    ("documents", _("Texts that went in"), None),
    ("with_text", _("… with something to compare"), "documents"),
    ("distinct_texts", _("… different from each other once normalized"), "with_text"),
    ("proposed", _("Pairs proposed by all channels"), None),
    ("kept", _("Pairs kept after exact comparison"), "proposed"),
    ("representatives", _("… of them to be asked; the others are listed with the reason"), "kept"),
)
"""Key, name and key of the whole of each figure of the funnel."""


def funnel_of(funnel: Mapping[str, Any]) -> list[Row]:
    """The steps from texts to pairs that the run has recorded."""
    return [
        Row(name, funnel[key], funnel.get(whole) if whole else None)
        for key, name, whole in FUNNEL
        if isinstance(funnel.get(key), int)
    ]


def channels_of(funnel: Mapping[str, Any]) -> list[Row]:
    """How many of the pairs kept each channel has found."""
    found = funnel.get("by_channel") or {}
    return [Row(CHANNEL_NAMES.get(name, name), n, funnel.get("kept")) for name, n in found.items()]
