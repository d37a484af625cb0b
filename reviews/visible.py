"""Text as it stands on a page: escaped, with characters that show nothing or reorder a line made visible."""

from __future__ import annotations

import re
import unicodedata

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffc\U000e0000-\U000e007f]"
)
"""Controls (but tab and newline), zero-width and bidirectional characters, line separators, tags, fillers."""

SHORT_NAMES = {
    "\r": "CR",
    "\xad": "SHY",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u2028": "LS",
    "\u2029": "PS",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
}


def _mark(found: re.Match[str]) -> str:
    character = found[0]
    point = f"U+{ord(character):04X}"
    name = unicodedata.name(character, "")
    # The character itself is left out: it would still reorder the line, or split what a reader searches for.
    short = SHORT_NAMES.get(character, point)
    return f'<i class="z" data-c="{short}" title="{point} {name}"></i>'


def visible_html(text: str) -> str:
    """``text`` as HTML: nothing in it is markup, and nothing in it is invisible."""
    html = str(escape(text))
    return HIDDEN.sub(_mark, html) if HIDDEN.search(html) else html


def visible(text: object) -> SafeString:
    """:func:`visible_html` for templates; ``None`` is empty."""
    return mark_safe("" if text is None else visible_html(str(text)))
