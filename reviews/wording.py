"""Changes that no fact names: other wording and paragraphs of one side only, so that an empty list of facts never reads as "nothing changed"."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from reviews.chips import Fact
from screening.evidence.diff.model import Change, Comparison
from screening.evidence.facts import FactChange

ENOUGH = 2
"""Word characters outside every fact from which a change that touches one is other wording as well."""

Span = tuple[int, int]
Place = tuple[int | None, int | None, int | None, int | None]


def others_listed(comparison: Comparison, facts: Sequence[FactChange]) -> list[Fact]:
    """What changed besides ``facts``: other wording, whole paragraphs, ways of writing; each with all its places.

    ``facts`` includes mere ways of writing, which are named by themselves. Punctuation, width and script are no wording;
    they have counters of their own.
    """
    stated = (
        _joined((c.left_start, c.left_end) for c in facts),
        _joined((c.right_start, c.right_end) for c in facts),
    )
    left, right = comparison.side("left"), comparison.side("right")
    words: list[Place] = []
    paragraphs: list[Place] = []
    for change in comparison.changes:
        if change.kind == "move":
            continue
        if comparison.rows[change.row].kind in ("left_only", "right_only"):
            paragraphs.append(_place(change))
        elif _says_more(change, left, right, stated):
            words.append(_place(change))
    written = [
        (c.left_start, c.left_end, c.right_start, c.right_end) for c in facts if c.kind == "style"
    ]
    named = (
        ("wording", _("Other wording"), words),
        ("paragraph", _("Paragraphs on one side only"), paragraphs),
        ("style", _("Way of writing only"), written),
    )
    return [Fact(kind, name, "", "", tuple(at), True) for kind, name, at in named if at]


def _place(change: Change) -> Place:
    """The places of a change; a side that only says where something is put in has none to light up."""
    one: tuple[int | None, int | None] = (change.left_start, change.left_end)
    other: tuple[int | None, int | None] = (change.right_start, change.right_end)
    return (
        *(one if change.left_start < change.left_end else (None, None)),
        *(other if change.right_start < change.right_end else (None, None)),
    )


def _joined(spans: Iterable[tuple[int | None, int | None]]) -> list[Span]:
    """``spans`` in order and without overlap."""
    found: list[Span] = []
    for start, end in sorted((a, b) for a, b in spans if a is not None and b is not None):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _says_more(
    change: Change, left: str, right: str, stated: tuple[list[Span], list[Span]]
) -> bool:
    sides = (
        _rest(left, change.left_start, change.left_end, stated[0]),
        _rest(right, change.right_start, change.right_end, stated[1]),
    )
    touched = any(touches for _count, touches in sides)
    most = max(count for count, _touches in sides)
    return most >= (ENOUGH if touched else 1)


def _rest(raw: str, start: int, end: int, stated: Sequence[Span]) -> tuple[int, bool]:
    """Word characters of ``raw[start:end]`` outside ``stated``, and whether any of those spans is touched."""
    if start == end:
        return 0, False
    at, touched, count = start, False, 0
    for a, b in stated[max(bisect_left(stated, (start, 0)) - 1, 0) :]:
        if a >= end:
            break
        if b <= start:
            continue
        touched = True
        count += sum(map(_tells, raw[at : max(a, at)]))
        at = max(at, min(b, end))
    return count + sum(map(_tells, raw[at:end])), touched


def _tells(character: str) -> bool:
    return character.isalnum() or character in "%‰+=<>/*#"
