"""Labels as people see them: colour, sign and name together."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from reviews.labels import Label, label_sign

register = template.Library()


@register.simple_tag
def label_badge(label: str) -> SafeString:
    """A label with its sign; ``not_copy`` of a copy-or-not set has the sign ≠."""
    if label in Label.values:
        sign, name = label_sign(label), str(Label(label).label)
    elif label == "not_copy":
        sign, name = "≠", _("Not a copy")
    else:
        label, sign, name = "undecided", "?", label
    return format_html(
        '<span class="label label-{}"><i class="label-sign" aria-hidden="true">{}</i>{}</span>',
        label,
        sign,
        name,
    )
