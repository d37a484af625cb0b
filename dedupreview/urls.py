"""All addresses of the site."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from dedupreview import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
]
