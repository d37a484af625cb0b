"""What services raise when they refuse: a translatable sentence and a code."""

from __future__ import annotations

from collections.abc import Mapping

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
