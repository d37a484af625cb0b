"""Filters of the reading pages."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from reviews import visible as visible_text

register = template.Library()


@register.filter
def visible(value: object) -> SafeString:
    """Escape the value and show its invisible characters; use it for every text that came from outside."""
    return visible_text.visible(value)
