"""Pairs that show the same change: the same paragraphs replaced alike, whatever else the two texts say."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from screening.models import Candidate, Document

from .selection import Chosen

ASKED = 20_000
"""Pairs of a round, the first ones, among which equal changes are looked for when it is opened."""
PARTS = 40
"""With more paragraphs replaced, two pairs that look alike are versions of each other and stand together anyway."""
LIKE = 0.5
"""Below this similarity most paragraphs differ: there is no change to speak of."""
_BREAK = re.compile(r"[\r\n]+")
_BLANK = re.compile(r"[\s\u200b-\u200f\ufeff]+")

Parts = Counter[bytes]


def parts_of(raw: str) -> Parts:
    """The paragraphs of a text as digests, with how often each occurs; spaces do not count."""
    found: Parts = Counter()
    for line in _BREAK.split(raw):
        text = _BLANK.sub("", line)
        if text:
            found[
                hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            ] += 1
    return found


def signature(left: Parts, right: Parts) -> bytes | None:
    """What is replaced by what, whichever side it stands on; None where nothing is, or nearly everything."""
    gone, come = left - right, right - left
    size = gone.total() + come.total()
    if not size or size > PARTS or size >= min(left.total(), right.total()):
        return None
    sides = sorted(b"".join(sorted(part.elements())) for part in (gone, come))
    return hashlib.blake2b(b"|".join(sides), digest_size=16).digest()


def same_change(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two pairs of raw texts show the same change."""
    first = signature(*map(parts_of, one))
    return first is not None and first == signature(*map(parts_of, other))


def signatures(chosen: Sequence[Chosen]) -> dict[int, bytes]:
    """For each candidate of ``chosen`` that shows a change another one shows too, what they have in common.

    Only similar texts are read, of the first ``ASKED`` pairs; memory holds eight bytes a paragraph.
    """
    asked = chosen[:ASKED]
    keys = [pair.candidate for pair in asked]
    alike: set[int] = set()
    for start in range(0, len(keys), 500):
        rows = Candidate.objects.filter(pk__in=keys[start : start + 500], jaccard__gte=LIKE)
        alike.update(rows.filter(jaccard__lt=1).values_list("pk", flat=True))
    asked = [pair for pair in asked if pair.candidate in alike]
    wanted = sorted({pk for pair in asked for pk in (pair.low, pair.high)})
    parts: dict[int, Parts] = {}
    for start in range(0, len(wanted), 500):
        texts = Document.objects.filter(pk__in=wanted[start : start + 500])
        parts.update((pk, parts_of(raw)) for pk, raw in texts.values_list("pk", "raw").iterator())
    found = {pair.candidate: signature(parts[pair.low], parts[pair.high]) for pair in asked}
    seen = Counter(one for one in found.values() if one)
    return {pk: one for pk, one in found.items() if one and seen[one] > 1}
