"""The strict policy is on every answer, whatever kind it is."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

EXPECTED = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}


def policy_of(response: Any) -> dict[str, str]:
    parts = response.headers["Content-Security-Policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


def plain_addresses(resolver: URLResolver, prefix: str = "/") -> list[str]:
    """Every address of the site that needs no value in its path."""
    found: list[str] = []
    for entry in resolver.url_patterns:
        address = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            found += plain_addresses(entry, address)
        elif isinstance(entry, URLPattern) and not set("<^($") & set(address):
            found.append(address)
    return found


def test_every_page_carries_the_policy(client: Client, db: None) -> None:
    addresses = plain_addresses(get_resolver())
    assert "/healthz" in addresses
    for address in addresses:
        assert policy_of(client.get(address)) == EXPECTED, address


@pytest.mark.parametrize("address", ["/no/such/page", "/static/no-such-file.css"])
def test_so_do_errors(client: Client, db: None, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert policy_of(response) == EXPECTED


def test_so_do_static_files(client: Client, db: None) -> None:
    sheets = [
        name
        for finder in finders.get_finders()
        for name, _storage in finder.list([])
        if name.endswith(".css")
    ]
    response = client.get(f"/static/{sorted(sheets)[0]}")
    assert response.status_code == 200
    assert policy_of(response) == EXPECTED


def test_other_headers(client: Client, db: None) -> None:
    headers = client.get("/healthz").headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_an_unknown_host_is_refused(client: Client, db: None) -> None:
    assert client.get("/healthz", headers={"host": "evil.example"}).status_code == 400


def test_session_cookies_are_out_of_reach_for_scripts_and_other_sites() -> None:
    assert settings.SESSION_COOKIE_HTTPONLY is True
    assert settings.SESSION_COOKIE_SAMESITE == "Lax"
