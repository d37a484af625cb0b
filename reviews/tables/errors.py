"""The one error of the table package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from reviews.errors import ReviewError


class TableError(ReviewError):
    """Why a table cannot be made, read or signed off.

    ``blockers`` are further messages (template, params), one per thing that has to be done first.
    """

    def __init__(
        self,
        template: str,
        params: Mapping[str, object] | None = None,
        *,
        code: str = "refused",
        blockers: Sequence[tuple[str, Mapping[str, object]]] = (),
    ) -> None:
        super().__init__(template, params, code=code)
        self.blockers = tuple(blockers)

    def reasons(self) -> list[str]:
        """The blockers in the reader's language."""
        return [_(template) % params for template, params in self.blockers]
