"""Two texts article by article, as in a comparison table of a statute's old and new wording (新旧条文对照表).

Articles begin at the head of a line: 第十条, 第10条, 第十条之一; chapter headings stand by themselves. Which article of one
text is which of the other is decided by the text they share in the comparison, never by their numbers, so that renumbering
shows as renumbering.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .diff.model import Comparison, Segment

Kind = Literal["same", "renumbered", "changed", "left_only", "right_only"]

_HEAD = re.compile(
    r"^[ \t\u3000]*(?P<number>第[ \u3000]?[零〇○一二三四五六七八九十百千\d０-９]{1,7}[ \u3000]?条(?:之[一二三四五六七八九十\d]{1,3})?)"
    r"(?=[\s\u3000【〔（(：:]|[^\s，。；、》」”的第和至及或])"
    r"|^[ \t\u3000]*第[零〇一二三四五六七八九十百千\d]{1,5}[编章节](?=[\s\u3000]|$)",
    re.MULTILINE,
)
_SHARE = 0.3
"""Part of the shorter article that must recur in the other for the two to be one article."""
LEAST = 3
"""Fewer articles on either side make no table."""


@dataclass(frozen=True, slots=True)
class Article:
    """An article, or what stands between articles (then without a number): code points [start, end) of the raw text.

    ``body`` is where its words begin behind the number.
    """

    number: str
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class ArticleRow:
    """One line of the table. A side that lacks the article is ``None`` and has no segments.

    ``same``: nothing but layout and punctuation differs; ``renumbered``: nothing but that and the number.
    """

    kind: Kind
    left: Article | None
    right: Article | None
    left_segments: tuple[Segment, ...] = ()
    right_segments: tuple[Segment, ...] = ()


def articles_of(raw: str) -> list[Article]:
    """The articles of a text in order; together they are all of it."""
    heads = list(_HEAD.finditer(raw))
    starts = [match.start() for match in heads]
    found: list[Article] = []
    if not heads or starts[0] > 0:
        found.append(Article("", 0, 0, starts[0] if heads else len(raw)))
    for match, end in zip(heads, [*starts, len(raw)][1:], strict=True):
        number = "".join((match["number"] or "").split())
        found.append(Article(number, match.start(), match.end() if number else match.start(), end))
    return [article for article in found if raw[article.start : article.end].strip()]


def has_articles(left: str, right: str) -> bool:
    """Whether both texts are set out in articles, so that a table says more than two columns."""
    return all(
        sum(match["number"] is not None for match in _HEAD.finditer(raw)) >= LEAST
        for raw in (left, right)
    )


def article_table(comparison: Comparison, left: str, right: str) -> list[ArticleRow]:
    """Every article of both texts in the order of the right one, those that went at the place where they stood."""
    mine, theirs = articles_of(left), articles_of(right)
    partner = _partners(mine, theirs, _shared(comparison, mine, theirs))
    left_segments = _Side(_side(comparison, "left"))
    right_segments = _Side(_side(comparison, "right"))
    rows: list[ArticleRow] = []
    taken = {p: q for q, p in partner.items()}
    done = 0
    for q, article in enumerate(theirs):
        p = partner.get(q)
        # What went stands before the first article that follows it in both texts.
        while p is not None and done < p:
            if done not in taken:
                rows.append(_gone(mine[done], left_segments))
            done += 1
        row = ArticleRow(
            "right_only" if p is None else "same",
            None if p is None else mine[p],
            article,
            () if p is None else left_segments.cut(mine[p]),
            right_segments.cut(article),
        )
        rows.append(row if p is None else replace(row, kind=_kind(row)))
        if p is not None and done == p:
            done += 1
    rows.extend(_gone(mine[p], left_segments) for p in range(done, len(mine)) if p not in taken)
    return rows


def _gone(article: Article, segments: _Side) -> ArticleRow:
    return ArticleRow("left_only", article, None, segments.cut(article))


def _side(comparison: Comparison, side: Literal["left", "right"]) -> Iterator[Segment]:
    for row in comparison.rows:
        yield from row.left if side == "left" else row.right


def _shared(
    comparison: Comparison, mine: Sequence[Article], theirs: Sequence[Article]
) -> dict[tuple[int, int], int]:
    """Characters that each article of the left shares with each of the right, in place or moved."""
    starts = [article.start for article in mine], [article.start for article in theirs]
    shared: dict[tuple[int, int], int] = {}

    def credit(a: int, b: int, size: int) -> None:
        while size > 0:
            p, q = bisect_right(starts[0], a) - 1, bisect_right(starts[1], b) - 1
            if p < 0 or q < 0:
                return
            step = min(size, mine[p].end - a, theirs[q].end - b)
            if step <= 0:
                return
            shared[p, q] = shared.get((p, q), 0) + step
            a, b, size = a + step, b + step, size - step

    for row in comparison.rows:
        pairs = zip(
            (s for s in row.left if s.op == "equal"),
            (s for s in row.right if s.op == "equal"),
            strict=True,
        )
        for one, other in pairs:
            credit(one.start, other.start, len(one.text))
    moved: dict[int, tuple[list[Segment], list[Segment]]] = {}
    for which, side in enumerate(("left", "right")):
        for segment in _side(comparison, side):  # type: ignore[arg-type]
            if segment.op == "move" and segment.move is not None:
                moved.setdefault(segment.move, ([], []))[which].append(segment)
    for here, there in moved.values():
        for one, other in zip(here, there, strict=False):
            credit(one.start, other.start, min(len(one.text), len(other.text)))
    return shared


def _partners(
    mine: Sequence[Article], theirs: Sequence[Article], shared: dict[tuple[int, int], int]
) -> dict[int, int]:
    """For each article of the right the one of the left it is, those that share most first."""
    partner: dict[int, int] = {}
    used: set[int] = set()
    for (p, q), size in sorted(shared.items(), key=lambda one: (-one[1], one[0])):
        if p in used or q in partner or bool(mine[p].number) != bool(theirs[q].number):
            continue
        lengths = (mine[p].end - mine[p].body, theirs[q].end - theirs[q].body)
        if size >= _SHARE * min(lengths):
            partner[q] = p
            used.add(p)
    return partner


class _Side:
    """The segments of one text, to be cut into its articles."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self.segments = list(segments)
        self.starts = [segment.start for segment in self.segments]

    def cut(self, article: Article) -> tuple[Segment, ...]:
        """The segments of an article, those at its ends cut to it."""
        found = []
        first = max(bisect_right(self.starts, article.start) - 1, 0)
        for segment in self.segments[first : bisect_left(self.starts, article.end)]:
            start, end = max(segment.start, article.start), min(segment.end, article.end)
            text = segment.text[start - segment.start : end - segment.start]
            found.append(replace(segment, text=text, start=start, end=end, hide=None))
        return tuple(found)


def _kind(row: ArticleRow) -> Kind:
    """What differs between the two sides of an article that both texts have."""
    assert row.left is not None
    assert row.right is not None
    for article, segments in ((row.left, row.left_segments), (row.right, row.right_segments)):
        for segment in segments:
            exact = segment.op in {"delete", "insert", "replace"}
            if exact and segment.end > article.body and segment.text.strip():
                return "changed"
    return "same" if row.left.number == row.right.number else "renumbered"
