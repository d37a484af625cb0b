"""Names of channels, kinds of facts and notes, for the screening pages."""

from __future__ import annotations

from django import template
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
def note(candidate: Candidate) -> object:
    """Why a candidate is listed and not asked."""
    return NOTE_WORDS.get(candidate.note, _(candidate.note) if candidate.note else "")
