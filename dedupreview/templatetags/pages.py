"""Small words of every page: figures with what they are out of, problems in the reader's language, short digests."""

from __future__ import annotations

import re
from collections.abc import Mapping

from django import template
from django.conf.locale import LANG_INFO
from django.http import QueryDict
from django.utils.translation import gettext

register = template.Library()


@register.filter
def html_lang(code: str) -> str:
    """``zh-hans`` as HTML writes it: ``zh-Hans``."""
    return {"zh-hans": "zh-Hans"}.get(code, code)


@register.filter
def text_lang(code: object) -> str:
    """The language a text says it is in, if there is such a language; else Chinese."""
    said = str(code or "")
    known = re.fullmatch(r"([A-Za-z]{2,3})(-[A-Za-z0-9]{2,8}){0,3}", said)
    return said if known and known[1].lower() in {*LANG_INFO, "zh"} else "zh"


@register.filter
def problem(value: object) -> str:
    """A problem as one sentence: a mapping or object with ``template`` and ``params``.

    A template whose places the parameters do not fill is shown as it stands: a report must not break the page.
    """
    if isinstance(value, Mapping):
        words, params = value.get("template", ""), value.get("params") or {}
    else:
        words, params = getattr(value, "template", str(value)), getattr(value, "params", {})
    if not words:
        return ""
    translated = gettext(str(words))
    try:
        return translated % dict(params)
    except (KeyError, TypeError, ValueError):
        return translated


@register.filter
def percent(done: object, total: object) -> int:
    """Whole percent of ``done`` in ``total``, 0 to 100; 0 where there is no total."""
    try:
        part, whole = float(done), float(total)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0
    if not whole > 0:
        return 0
    return max(0, min(100, int(100 * part / whole)))


@register.filter
def score(value: float | None) -> str:
    """A ratio with three decimals, cut and not rounded, so that only equality reads 1.000; an em dash for none."""
    if value is None:
        return "—"
    return f"{int(value * 1000 + 1e-9) / 1000:.3f}"


@register.filter
def listed(value: object) -> object:
    """A list as its members with commas between them; anything else as it is."""
    return ", ".join(str(member) for member in value) if isinstance(value, list) else value


@register.simple_tag(takes_context=True)
def query(context: template.Context, **changes: object) -> str:
    """The address's query with some values changed; an empty value takes the key out."""
    request = context.get("request")
    values = request.GET.copy() if request else QueryDict(mutable=True)
    for key, value in changes.items():
        if value in (None, ""):
            values.pop(key, None)
        else:
            values[key] = str(value)
    return "?" + values.urlencode()
