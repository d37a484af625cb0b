"""Signed review tables: rows, files, signatures and their verification.

``exporting`` makes a table, ``download`` hands it out, ``verify`` checks one, ``signing`` keeps the key, ``signoff``
takes people's signatures, ``ledger`` checks the database itself. What other packages call stands here.
"""

from reviews.tables.download import download_name, zip_response, zip_stream
from reviews.tables.errors import TableError
from reviews.tables.exporting import (
    export_table,
    request_table,
    run_table,
    sweep,
    table_folder,
)
from reviews.tables.ledger import verify_chain
from reviews.tables.signing import fingerprint
from reviews.tables.signoff import blockers, sign_off
from reviews.tables.verify import Fault, Verification, verify_table

__all__ = [
    "Fault",
    "TableError",
    "Verification",
    "blockers",
    "download_name",
    "export_table",
    "fingerprint",
    "request_table",
    "run_table",
    "sign_off",
    "sweep",
    "table_folder",
    "verify_chain",
    "verify_table",
    "zip_response",
    "zip_stream",
]
