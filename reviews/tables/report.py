"""The printable report of a table: counts, agreement, signatures and the key, on one sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.template import Context, Engine

from reviews.labels import LABEL_NAMES_ZH, LABEL_SIGNS
from reviews.tables.texts import FILES

MEASURES = {
    "percent": "一致率 · percent agreement",
    "cohen_kappa": "Cohen κ",
    "fleiss_kappa": "Fleiss κ",
    "krippendorff_alpha": "Krippendorff α",
    "gwet_ac1": "Gwet AC1",
}
STAGES = {"annotation": "标注", "arbitration": "仲裁", "final": "终审"}


@dataclass(frozen=True)
class ReportFacts:
    """What the report tells of a table besides its counts and figures."""

    round_name: str
    number: int
    made_at: datetime
    """In the zone that the reader lives in."""
    fingerprint: str
    chain_digest: str
    previous: Mapping[str, object] | None
    sign_offs: Sequence[Mapping[str, Any]]


def render(facts: ReportFacts, flow: Mapping[str, Any], agreement: Mapping[str, Any]) -> bytes:
    """The report as HTML in UTF-8 that needs nothing beside it; everything people wrote is escaped."""
    labels = [
        {"sign": LABEL_SIGNS[code], "zh": LABEL_NAMES_ZH[code], "code": code, "count": count}
        | {"share": _share(count, flow["closed"])}
        for code, count in flow["labels"].items()
    ]
    figures = [_figure(name, agreement[key]) for key, name in MEASURES.items()]
    figures += [
        _figure(f"{LABEL_NAMES_ZH[code]} · {code}", measure)
        for code, measure in agreement["per_label"].items()
        if code in LABEL_NAMES_ZH
    ]
    signed = [{**row, "stage_zh": STAGES.get(row["stage"], "")} for row in facts.sign_offs]
    context = Context(
        {
            "facts": facts,
            "flow": flow,
            "labels": labels,
            "figures": figures,
            "signed": signed,
            "made_at": facts.made_at.isoformat(sep=" ", timespec="seconds"),
        },
        use_l10n=False,
        use_tz=False,
    )
    engine = Engine(dirs=[str(FILES)])
    return engine.get_template("report.html").render(context).encode()


def _figure(name: str, measure: Mapping[str, Any]) -> dict[str, object]:
    """A measure as text: three decimals, or nothing and the reason."""
    return {
        "name": name,
        "value": _decimals(measure["value"]),
        "low": _decimals(measure["low"]),
        "high": _decimals(measure["high"]),
        "n": measure["n"],
        "reason": measure["reason"],
    }


def _decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _share(count: int, total: int) -> str:
    """Percent with one decimal; of nothing there is no share."""
    return f"{100 * count / total:.1f}" if total else ""
