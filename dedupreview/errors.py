"""What services raise when they refuse: a translatable sentence and a code."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import OperationalError
from django.utils.translation import gettext


class DomainError(Exception):
    """Something that a person asked for cannot be done.

    ``template`` is an English msgid with ``%(name)s`` places, ``params`` fills them. ``code`` is short and stable, for
    programs. ``str()`` gives the sentence in the active language.
    """

    def __init__(
        self, template: str, params: Mapping[str, object] | None = None, *, code: str = "refused"
    ) -> None:
        super().__init__(template)
        self.template = template
        self.params = dict(params or {})
        self.code = code

    def __str__(self) -> str:
        text = gettext(self.template)
        return text % self.params if self.params else text


_PASSING = ("40001", "40P01", "55P03", "53", "57P", "08")
"""SQLSTATEs of PostgreSQL that say nothing about the statement: conflicts of transactions, no room, no connection."""


def passing(error: BaseException | None) -> bool:
    """Whether a database error is one of the moment: nothing was stored, and the same request may succeed soon.

    SQLite has one writer at a time and waits its set time for it. PostgreSQL may be restarting, full or out of reach.
    """
    if not isinstance(error, OperationalError):
        return False
    cause = error.__cause__
    if hasattr(cause, "sqlstate"):
        # A connection that could not be made, or was lost, has no state.
        state = getattr(cause, "sqlstate", None)
        return state is None or str(state).startswith(_PASSING)
    return "locked" in str(error) or "busy" in str(error)
