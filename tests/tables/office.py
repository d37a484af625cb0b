"""LibreOffice without a screen."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.tables.conftest import need


def converted(file: Path, to: str, out: Path, options: str = "", reading: str = "") -> Path:
    """``file`` opened by LibreOffice and saved as ``to``, with options of its export and its import filter."""
    out.mkdir(exist_ok=True)
    target = f"{to}:{options}" if options else to
    command = [
        need("soffice"),
        f"-env:UserInstallation={(out / 'profile').as_uri()}",
        *("--headless", "--norestore", "--convert-to", target, "--outdir", str(out)),
        *([f"--infilter={reading}"] if reading else []),
        str(file),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=180)
    return out / f"{file.stem}.{to}"
