"""What the queue calls. Each job gets an id, and running it twice changes nothing."""

from __future__ import annotations


def screen(run_id: int) -> None:
    """Carry out a screening run."""
    from screening import runs

    runs.execute(run_id)


def read_import(import_id: int) -> None:
    """Read the files of an import."""
    from screening import importing

    importing.run_import(import_id)


def check_originals(day: int) -> None:
    """Hash all originals again; ``day`` only names the job."""
    from screening import rechecking

    rechecking.check()
