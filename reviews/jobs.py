"""RQ entry points of the review side: ids in, nothing out; the rows hold the truth."""

from __future__ import annotations

from reviews.tables.exporting import run_table


def make_table(table_id: int) -> None:
    """Make the files of a requested table."""
    run_table(table_id)
