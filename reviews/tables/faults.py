"""One thing that is wrong with a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext


@dataclass(frozen=True)
class Fault:
    """``code`` is stable; ``template`` with ``params`` is the message, in English until it is shown."""

    code: str
    template: str
    params: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return gettext(self.template) % self.params

    def __hash__(self) -> int:
        return hash((self.code, self.template, tuple(sorted(map(str, self.params.items())))))
