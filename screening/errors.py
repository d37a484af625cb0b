"""The base of this package's domain errors."""

from __future__ import annotations

from dedupreview.errors import DomainError


class ScreeningError(DomainError):
    """A refusal by a function of this package."""
