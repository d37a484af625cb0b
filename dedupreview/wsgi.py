"""Entry point of the web server."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from screening.evidence.diff.words import tokenizer

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dedupreview.settings")

application = get_wsgi_application()
# Load every page's code and the word list of the comparison now: the web processes share them, and the first visitor
# does not wait for them.
_pages = get_resolver().url_patterns
tokenizer()
