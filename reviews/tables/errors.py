"""The one error of the table package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _


class TableError(Exception):
    """Why a table cannot be made, read or signed off.

    ``template`` is a translatable message with ``%(name)s`` places for ``params``; ``blockers`` are further such
    messages, one per thing that has to be done first.
    """

    def __init__(
        self,
        template: str,
        params: Mapping[str, object] | None = None,
        blockers: Sequence[tuple[str, Mapping[str, object]]] = (),
    ) -> None:
        super().__init__(template)
        self.template = template
        self.params = dict(params or {})
        self.blockers = tuple(blockers)

    def __str__(self) -> str:
        return _(self.template) % self.params

    def reasons(self) -> list[str]:
        """The blockers in the reader's language."""
        return [_(template) % params for template, params in self.blockers]
