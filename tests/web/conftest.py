"""The site that the tests of the pages look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedupreview import context
from tests.web.site import Site


@pytest.fixture(autouse=True)
def _no_queue_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """One worker, as far as pages can tell: no test here waits for a server that is not there."""
    monkeypatch.setattr(context, "workers_now", lambda: 1)


@pytest.fixture
def site(db: None, data_dir: Path, tmp_path: Path) -> Site:
    return Site(tmp_path)
