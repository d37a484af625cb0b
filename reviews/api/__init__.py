"""The API's routes about rounds, judgments, arbitration, label sets and tables.

Each calls the function that the pages call, so permissions and blindness are the same. Left and right are always the
canonical ones here; only pages change sides.
"""

from __future__ import annotations

from ninja import Router

from reviews.api import arbitration, exchange, judgments, labelsets, rounds, tables

router = Router()
for part in (rounds, judgments, arbitration, labelsets, tables, exchange):
    router.add_router("", part.router)
