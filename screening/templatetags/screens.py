"""Names of channels, kinds of facts and notes, for the screening pages."""

from __future__ import annotations

import re

from django import template
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from screening.models import Candidate
from screening.names import CHANNEL_NAMES, FACT_NAMES, NOTE_WORDS

register = template.Library()


@register.filter
def channel_name(code: str) -> object:
    """What people call a channel."""
    return CHANNEL_NAMES.get(code, code)


@register.filter
def fact_name(kind: str) -> object:
    """What people call a kind of fact."""
    return FACT_NAMES.get(kind, kind)


@register.filter
def place(locator: str) -> str:
    """Where in its file a text stands, in the reader's language: ``line 3`` and ``row 3`` are the reader's words."""
    return re.sub(
        r"\b(line|row) (\d+)$",
        lambda found: gettext("line %(line)s") % {"line": found[2]},
        locator,
    )


@register.filter
def note(candidate: Candidate) -> object:
    """Why a candidate is listed and not asked."""
    return NOTE_WORDS.get(candidate.note, _(candidate.note) if candidate.note else "")
