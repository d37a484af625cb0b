"""Entry point of the web server."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dedupreview.settings")

application = get_wsgi_application()
# Load every page's code now: the web processes share it, and the first visitor does not wait for it.
_pages = get_resolver().url_patterns
