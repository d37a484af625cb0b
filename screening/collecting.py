"""Work without pauses for the collection of cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Stop Python's search for cyclic garbage meanwhile; also a decorator.

    A run holds millions of small objects, none of them in cycles, and every search walks over all of them: some 15 % of
    the time of a large run.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
