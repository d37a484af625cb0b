"""The settings behind a proxy that speaks HTTPS, as docs/operating.md names them, pass Django's own checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def checked(tmp_path: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    # The browser tests set a variable of Django's that no site has.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DEDUPREVIEW_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={**kept, "DEDUPREVIEW_DATA_DIR": str(tmp_path), **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_site_behind_https_has_nothing_to_mend(tmp_path: Path) -> None:
    done = checked(tmp_path, DEDUPREVIEW_HTTPS="1", DEDUPREVIEW_HOSTS="review.example.org")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_check_names_what_is_wrong(tmp_path: Path) -> None:
    done = checked(tmp_path, DEDUPREVIEW_DEBUG="1", DEDUPREVIEW_HOSTS="review.example.org")
    assert done.returncode != 0
    assert "DEBUG" in done.stdout + done.stderr
