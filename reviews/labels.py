"""The words of a judgment: labels, directions, reason codes and retention advice (pure values, with Chinese names)."""

from __future__ import annotations

from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from screening.label_names import LABELS


class Label(models.TextChoices):
    COPY = "copy", _("Copy")
    REVISION = "revision", _("Valid revision")
    CITATION = "citation", _("Public citation")
    TEMPLATE = "template", _("Template")
    INDEPENDENT = "independent", _("Independent")
    UNDECIDED = "undecided", _("Cannot tell")


def label_choices() -> list[tuple[str, str]]:
    """The labels as choices of a field: by name, so that a migration need not repeat them."""
    return [(str(value), str(name)) for value, name in Label.choices]


class Direction(models.TextChoices):
    """Which side of a revision came first."""

    LEFT_FIRST = "left_first", _("Left is earlier")
    RIGHT_FIRST = "right_first", _("Right is earlier")
    SAME_ORIGIN = "same_origin", _("Common origin")
    UNKNOWN = "unknown", _("Direction unknown")


LABEL_SIGNS: dict[str, str] = {code: name.sign for code, name in LABELS.items()}
"""The one character that stands beside a label's colour, so that colour never carries meaning alone."""


def label_sign(code: str) -> str:
    """The sign of a label on a page: the Chinese character, elsewhere the first letter of the label's name there."""
    sign = LABEL_SIGNS.get(code, "")
    if sign.isascii() or (get_language() or "zh").startswith("zh"):
        return sign
    return str(Label(code).label)[:1]


LABEL_NAMES_ZH: dict[str, str] = {code: name.zh for code, name in LABELS.items()}
"""The names written into exported tables, whatever language the exporting person reads."""

LABEL_KEYS: dict[str, str] = {code: name.key for code, name in LABELS.items()}
"""The key that gives a label, in the order in which labels are offered (``static/js/keys.js`` names the same)."""


class ReasonCode(models.TextChoices):
    """Why; the first one of a label's list in :data:`REASON_CODES` is its preset."""

    SAME_TEXT = "same_text", _("Same text, captured again")
    LAYOUT_ONLY = "layout_only", _("Only layout, punctuation or script differ")
    CAPTURE_DEFECT = "capture_defect", _("One side is incomplete or damaged by capture")
    FACTS_CHANGED = "facts_changed", _("Dates, numbers or conditions changed")
    WORDING_CHANGED = "wording_changed", _("Clauses or wording changed")
    REISSUED = "reissued", _("Issued again as a later version")
    QUOTES_STATEMENT = "quotes_statement", _("Both quote the same public statement")
    QUOTES_OTHER = "quotes_other", _("One quotes the other")
    SAME_FORM = "same_form", _("Same form, other content")
    SAME_TOPIC = "same_topic", _("Same topic, different text")
    INTERPRETATION = "interpretation", _("One explains the other")
    TOO_LITTLE = "too_little", _("Too little evidence")
    UNREADABLE = "unreadable", _("Text cannot be read")
    OTHER = "other", _("Other (say why)")


REASON_CODES: dict[str, tuple[str, ...]] = {
    Label.COPY: (
        ReasonCode.SAME_TEXT,
        ReasonCode.LAYOUT_ONLY,
        ReasonCode.CAPTURE_DEFECT,
        ReasonCode.OTHER,
    ),
    Label.REVISION: (
        ReasonCode.FACTS_CHANGED,
        ReasonCode.WORDING_CHANGED,
        ReasonCode.REISSUED,
        ReasonCode.OTHER,
    ),
    Label.CITATION: (ReasonCode.QUOTES_STATEMENT, ReasonCode.QUOTES_OTHER, ReasonCode.OTHER),
    Label.TEMPLATE: (ReasonCode.SAME_FORM, ReasonCode.OTHER),
    Label.INDEPENDENT: (ReasonCode.SAME_TOPIC, ReasonCode.INTERPRETATION, ReasonCode.OTHER),
    Label.UNDECIDED: (ReasonCode.TOO_LITTLE, ReasonCode.UNREADABLE, ReasonCode.OTHER),
}
"""The codes that go with each label; the first is preset."""

REASON_NEEDED: frozenset[str] = frozenset({Label.UNDECIDED})
"""Labels whose judgment needs words; so does the code ``other`` under any label."""

ADVICE: dict[str, str] = {
    Label.COPY: "建议合并检索入口",
    Label.REVISION: "有效修订",
    Label.CITATION: "公共引用",
    Label.TEMPLATE: "保留双方",
    Label.INDEPENDENT: "保留双方",
}
"""Retention advice of design §1: advice, never an action."""
ADVICE_IN_CONFLICT = "待仲裁"
ADVICE_PENDING = "保留双方"
