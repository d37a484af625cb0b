"""Collecting first answers for agreement.json: as patterns with their counts, however many pairs there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import repeat

from reviews.agreement import measures
from reviews.labels import Label


class Answers:
    """The first blind answers of the pairs of a table."""

    def __init__(self) -> None:
        self._patterns: Counter[tuple[tuple[str, str], ...]] = Counter()

    def add(self, answers: Mapping[str, str]) -> None:
        """One pair: person code → label."""
        self._patterns[tuple(sorted(answers.items()))] += 1

    def __iter__(self) -> Iterator[Mapping[str, str]]:
        for pattern, count in sorted(self._patterns.items()):
            yield from repeat(dict(pattern), count)

    def as_json(self) -> dict[str, object]:
        """The content of agreement.json."""
        return measures(self, labels=Label.values).as_json()
