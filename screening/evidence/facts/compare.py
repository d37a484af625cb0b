"""Two fact sheets → the facts that changed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz.distance import Indel

from ..align import Block, anchored_blocks
from .around import alike_around, beside, names_at, own_lines, words_at
from .extract import MASKS
from .model import Fact, FactChange, FactKind, FactSheet
from .stated import differing, stated_dates
from .wording import Word, opposed

SharedSpan = tuple[int, int, int, int]
"""left_start, left_end, right_start, right_end: raw code points, ends exclusive."""

_MARGIN = 100
_WINDOW = 8
_SMALL_GAP = 16
_FEW_WORDS = 2
_MOST_SWAPPED = 200
_CLEARLY = 0.1
_OF_ONE_THING = 0.4
"""Likeness of the words around two dates or two names, within their sentences, from which both are said of one thing."""
_SHORT_TEXT = 300
"""Up to this length the beginning and the end of a text hold a difference as common text does."""
_NUMERIC = frozenset({"date", "number", "frequency", "duration", "money", "unit", "percent"})
_DATES = frozenset({"date"})
_TIMES = frozenset({"date", "duration", "frequency"})
_NUMBERS = frozenset({"article_number", "document_number"})
_PRIORITY: tuple[FactKind, ...] = (
    "percent",
    "frequency",
    "money",
    "date",
    "duration",
    "unit",
    "number",
)
_FAMILY = {"modality": 0, "negation": 0, "condition": 1, "conclusion": 2, "body": 3}
_LEVEL = re.compile(r"[条款项目章节编部]")
_LEVELS = re.compile("(?:[省市县区乡镇村地部厅校院]级|国家级)(?:以上|以下)?(?:地方)?")
_BARE_MEASURES = frozenset("件份项套台次")
_BIG = frozenset("万亿")
_CLAUSE_EDGE = frozenset("\n,，。;；:：!！?？")
_ARTICLE_MASK = MASKS["article_number"]


def _words_kind(a: Fact, b: Fact) -> FactKind:
    """What an editor calls a replaced word of may, must and not.

    ``negation`` where what was so is no longer so: 得 → 不得, 有 → 无, and 可以 → 不得 likewise, for what was allowed is
    forbidden. ``modality`` where only the strength of the rule differs: 可以 → 应当, 不得 → 不宜, 有 → 有责任.
    """
    if a.negative != b.negative:
        return "negation"
    return "modality" if "modality" in (a.kind, b.kind) else "negation"


def _numeric_kind(a: Fact, b: Fact, left: str, right: str) -> FactKind:
    """Kind of a change between two quantities; ``unit`` where only unit or multiplier differ."""
    kinds = {a.kind, b.kind}
    if len(kinds) > 1:
        same = a.value.split(" ")[0] == b.value.split(" ")[0]
        if same and kinds == {"money", "number"}:
            return "unit"
        return next(kind for kind in _PRIORITY if kind in kinds)
    if a.kind in ("money", "number") and a.mantissa and a.mantissa == b.mantissa:
        amount_a, _, unit_a = a.value.partition(" ")
        amount_b, _, unit_b = b.value.partition(" ")
        if amount_a == amount_b and unit_a != unit_b:
            return "unit"
        if unit_a == unit_b and (_BIG & set(left) or _BIG & set(right)):
            return "unit"
        if unit_a != unit_b and unit_a and unit_b:
            return "unit"
    return a.kind


def _kind(a: Fact, b: Fact, left: str, right: str) -> FactKind:
    if a.kind in _NUMERIC and b.kind in _NUMERIC:
        return _numeric_kind(a, b, left, right)
    if a.kind in ("modality", "negation"):
        return _words_kind(a, b)
    reference = a.kind == "article_number" and not (a.heading or b.heading)
    if reference and _LEVEL.findall(a.value) != _LEVEL.findall(b.value):
        # another article is renumbering, another depth is another rule
        return "number"
    return a.kind


class _Comparison:
    """One comparison: its sheets, their common stretches, the changes found so far."""

    def __init__(self, left: FactSheet, right: FactSheet, blocks: list[Block]) -> None:
        self.left, self.right, self.blocks = left, right, blocks
        self.changes: list[tuple[int, FactChange]] = []
        self.only_left: list[tuple[int, Fact]] = []
        self.only_right: list[tuple[int, Fact]] = []
        self.worded: set[tuple[int, int]] = set()
        self.in_words: tuple[set[int], set[int]] = (set(), set())
        self.paired: list[tuple[int, int, tuple[int, FactChange]]] = []

    def pair(self, i: int, j: int, at: int) -> None:
        """Compare fact ``i`` of the left sheet with fact ``j`` of the right, in block ``at``."""
        a, b = self.left.facts[i], self.right.facts[j]
        if a.key == b.key and (a.kind == b.kind or (a.kind in _NUMERIC and b.kind in _NUMERIC)):
            if a.kind == "article_number":
                return
            left, right = self.left.surface(i), self.right.surface(j)
            if left != right:
                self._add("style", left, right, a, b)
            return
        if not self._supported(i, j, at):
            return
        if a.kind == b.kind == "condition" and not opposed(
            Word(a.kind, a.key), Word(b.kind, b.key)
        ):
            return
        if {a.kind, b.kind} & _DATES and a.kind != b.kind and not {a.kind, b.kind} <= _TIMES:
            # a day against an ordinal: each stands for itself
            self._apart(a, b)
            return
        if {a.kind, b.kind} & _DATES and not self._of_one_thing(
            self.left.spans[i], self.right.spans[j]
        ):
            self._apart(a, b)
            return
        kind = _kind(a, b, self.left.surface(i), self.right.surface(j))
        self._add(kind, a.value, b.value, a, b)
        self.paired.append((i, j, self.changes[-1]))

    def _apart(self, a: Fact, b: Fact) -> None:
        """Note two facts that stand each for itself: one is gone, the other is new."""
        self.only_left.append((a.start, a))
        self.only_right.append((a.start, b))

    def _of_one_thing(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Whether the sentences around two clean spans are alike enough to speak of one thing."""
        return alike_around(self.left, one, self.right, other) >= _OF_ONE_THING

    def _add(
        self,
        kind: FactKind,
        left: str | None,
        right: str | None,
        a: Fact | None,
        b: Fact | None,
        place: int = 0,
    ) -> None:
        """Note a change; ``place`` orders those that the left text does not state at all."""
        change = FactChange(
            kind,
            left,
            right,
            a.start if a else None,
            a.end if a else None,
            b.start if b else None,
            b.end if b else None,
        )
        self.changes.append((a.start if a else place, change))

    def _raw_place(self, place: int) -> int:
        """Raw offset in the left text of a skeleton index."""
        text = self.left.reading.text
        return self.left.reading.raw(min(self.left.clean_at(place), len(text))) if text else 0

    def _supported(self, i: int, j: int, at: int) -> bool:
        """Whether enough of what stands around two facts is common, so that they state one thing."""
        p, q = self.left.places[i], self.right.places[j]
        if self._held(p, p + 1, q, q + 1, at):
            return True
        # of the same subject one text says that it must, the other that it may, whatever
        modal = self.left.facts[i].kind == self.right.facts[j].kind == "modality"
        return modal and self._common_before(p, q, at) >= _WINDOW

    def _held(self, i0: int, i1: int, j0: int, j1: int, at: int) -> bool:
        """Whether the text before and behind two stretches is common for the most part; ``at``: block near."""
        room_before = min(i0, j0, _WINDOW)
        room_after = min(len(self.left.skeleton) - i1, len(self.right.skeleton) - j1, _WINDOW)
        before, after = self._common_before(i0, j0, at), self._common_after(i1, j1, at)
        if (room_before > 2 and not before) or (room_after > 2 and not after):
            return False
        return before + after >= 0.45 * (room_before + room_after)

    def _common_before(self, i0: int, j0: int, at: int) -> int:
        """Characters of the window before two places that lie in common stretches."""
        blocks = self.blocks
        i_floor, j_floor = i0 - _WINDOW, j0 - _WINDOW
        total = 0
        for k in range(min(at, len(blocks) - 1), max(0, at - 4) - 1, -1):
            i, j, size = blocks[k]
            if i >= i0 or j >= j0:
                continue
            if i + size <= i_floor or j + size <= j_floor:
                break
            mine = min(i + size, i0) - max(i, i_floor)
            theirs = min(j + size, j0) - max(j, j_floor)
            total += max(0, min(mine, theirs))
        return total

    def _common_after(self, i1: int, j1: int, at: int) -> int:
        """Characters of the window behind two places that lie in common stretches."""
        i_top, j_top = i1 + _WINDOW, j1 + _WINDOW
        total = 0
        for i, j, size in self.blocks[at : at + 5]:
            if i + size <= i1 or j + size <= j1:
                continue
            if i >= i_top or j >= j_top:
                break
            mine = min(i + size, i_top) - max(i, i1)
            theirs = min(j + size, j_top) - max(j, j1)
            total += max(0, min(mine, theirs))
        return total

    def gap(self, before: Block, after: Block, at: int) -> None:
        """What stands on one side only, or differently, between two common stretches."""
        i0, i1 = before.i + before.size, after.i
        j0, j1 = before.j + before.size, after.j
        if i1 - i0 > 4 * _SMALL_GAP or j1 - j0 > 4 * _SMALL_GAP:
            return
        at_edge = (i0 == 0 and j0 == 0) or (
            i1 == len(self.left.skeleton) and j1 == len(self.right.skeleton)
        )
        if at_edge and min(len(self.left.skeleton), len(self.right.skeleton)) > _SHORT_TEXT:
            return
        if before.size < 2 and after.size < 2 and not at_edge:
            return
        plain = before.size >= _WINDOW and after.size >= _WINDOW
        if not plain and not self._held(i0, i1, j0, j1, at):
            return
        self._names(i0, i1, j0, j1)
        self._words(i0, i1, j0, j1)
        if i1 - i0 > _SMALL_GAP or j1 - j0 > _SMALL_GAP:
            return
        for sheet, start, end, rest in (
            (self.left, i0, i1, self.only_left),
            (self.right, j0, j1, self.only_right),
        ):
            first, last = bisect_left(sheet.places, start), bisect_left(sheet.places, end)
            if first == last or own_lines(sheet, start, end):
                continue
            bare = end - start - (last - first) <= _FEW_WORDS
            for index in range(first, last):
                fact = sheet.facts[index]
                # 不 put into a sentence turns it, 不 in an added clause is part of that clause
                if (
                    fact.heading
                    or fact.weak
                    or self._connects(sheet, index)
                    or not (bare or fact.kind in _NUMERIC or fact.kind in _NUMBERS)
                ):
                    continue
                rest.append((self._raw_place(i0), fact))
        self._bare_measure(i0, i1, j0, j1)

    @staticmethod
    def _connects(sheet: FactSheet, index: int) -> bool:
        """Whether 之后 or 以后 begins a clause: it goes on with a story and limits nothing."""
        if sheet.facts[index].key not in ("以后", "以前"):
            return False
        start = sheet.spans[index][0]
        return start == 0 or sheet.reading.text[start - 1] in _CLAUSE_EDGE

    def _words(self, i0: int, i1: int, j0: int, j1: int) -> None:
        """Weak words that stand against each other: 和 and 或者, 全部 and 部分, 合格 and 不合格."""
        mine = words_at(self.left, i0, i1)
        theirs = words_at(self.right, j0, j1) if mine else ()
        for a, x in mine:
            for b, y in theirs:
                if _FAMILY[a.kind] != _FAMILY[b.kind] or (a.start, b.start) in self.worded:
                    continue
                if not opposed(Word(a.kind, a.key), Word(b.kind, b.key)):
                    continue
                if (i0 == i1 or j0 == j1) and not set(x) & set(y):
                    # a word beside the place of an insertion is concerned only if it grew there
                    continue
                self.worded.add((a.start, b.start))
                if a.key != b.key:
                    kind = _words_kind(a, b) if a.kind in ("modality", "negation") else a.kind
                    self._add(kind, a.value, b.value, a, b)
                self.in_words[0].update(range(a.start, a.end))
                self.in_words[1].update(range(b.start, b.end))
                break

    def _bare_measure(self, i0: int, i1: int, j0: int, j1: int) -> None:
        """许可证 against 许可证件: a measure word that stands alone changes what is counted."""
        for sheet, start, end, is_left in ((self.left, i0, i1, True), (self.right, j0, j1, False)):
            if end - start != 1 or (j1 - j0 if is_left else i1 - i0) != 0:
                continue
            word = sheet.skeleton[start]
            if word not in _BARE_MEASURES:
                continue
            at = sheet.clean_at(start)
            raw = sheet.reading.raw_span(at, at + 1)
            fact = Fact("unit", word, raw[0], raw[1], word)
            rest = self.only_left if is_left else self.only_right
            rest.append((self._raw_place(i0), fact))

    def _names(self, i0: int, i1: int, j0: int, j1: int) -> None:
        """Names of bodies that the gap runs through."""
        mine = names_at(self.left, i0, i1)
        theirs = names_at(self.right, j0, j1)
        if not mine and not theirs:
            return
        if not mine and i0 == i1:
            mine = beside(self.left, i0, theirs, self.right, j0, j1)
        elif not theirs and j0 == j1:
            theirs = beside(self.right, j0, mine, self.left, i0, i1)
        for (a, one), (b, other) in zip(mine, theirs, strict=False):
            if _LEVELS.sub("", a.key) == _LEVELS.sub("", b.key):
                continue  # the same kind of body at another level is a condition
            if (a.start, b.start) not in self.worded and self._of_one_thing(one, other):
                self.worded.add((a.start, b.start))
                self._add("body", a.value, b.value, a, b)
        if i1 - i0 > _SMALL_GAP or j1 - j0 > _SMALL_GAP:
            return
        if (i1 > i0 and own_lines(self.left, i0, i1)) or (
            j1 > j0 and own_lines(self.right, j0, j1)
        ):
            return
        # a name put into a list is a change, a name in an added clause is part of that clause
        for extra, size, rest in (
            (mine[len(theirs) :], i1 - i0, self.only_left),
            (theirs[len(mine) :], j1 - j0, self.only_right),
        ):
            rest.extend(
                (self._raw_place(i0), fact)
                for fact, _ in extra
                if size - len(fact.key) <= _FEW_WORDS
            )

    def without_swaps(self) -> None:
        """Drop changes between passages that merely stand in another order, each fact among its own words."""
        if not 2 <= len(self.paired) <= _MOST_SWAPPED:
            return
        lefts: dict[str, list[int]] = {}
        rights: dict[str, list[int]] = {}
        for i, j, _ in self.paired:
            lefts.setdefault(self.left.facts[i].key, []).append(i)
            rights.setdefault(self.right.facts[j].key, []).append(j)
        for i, j, entry in self.paired:
            others_right = rights.get(self.left.facts[i].key, ())
            others_left = lefts.get(self.right.facts[j].key, ())
            here = self._alike(i, j) + _CLEARLY
            if any(self._alike(i, other) > here for other in others_right) and any(
                self._alike(other, j) > here for other in others_left
            ):
                self.changes.remove(entry)

    def _alike(self, i: int, j: int) -> float:
        """How alike the words around two facts are, 0 to 1."""
        p, q = self.left.places[i], self.right.places[j]
        a, b = self.left.skeleton, self.right.skeleton
        before = Indel.normalized_similarity(a[max(0, p - 10) : p], b[max(0, q - 10) : q])
        after = Indel.normalized_similarity(a[p + 1 : p + 11], b[q + 1 : q + 11])
        return (before + after) / 2

    def one_sided(self) -> None:
        """Facts without a counterpart, but for those that merely moved."""
        left = {(f.kind, f.key) for _, f in self.only_left}
        right = {(f.kind, f.key) for _, f in self.only_right}
        for mine, theirs, is_left in (
            (self.only_left, right, True),
            (self.only_right, left, False),
        ):
            for place, fact in mine:
                # 不 inside 不合格 is part of a change that is on record already
                if (fact.kind, fact.key) in theirs or fact.start in self.in_words[not is_left]:
                    continue
                kind: FactKind = "number" if fact.kind == "article_number" else fact.kind
                if fact.negative:
                    kind = "negation"
                if is_left:
                    self._add(kind, fact.value, None, fact, None)
                else:
                    self._add(kind, None, fact.value, None, fact, place)

    def stated(self) -> None:
        """Dates of passing, publication and coming into force that differ between the two heads."""
        known = {(c.left_start, "l") for _, c in self.changes}
        known |= {(c.right_start, "r") for _, c in self.changes}
        for a, b in differing(stated_dates(self.left), stated_dates(self.right)):
            if (a and (a.start, "l") in known) or (b and (b.start, "r") in known):
                continue
            if a and b and not self._of_one_thing(self.left.span_of(a), self.right.span_of(b)):
                self._add("date", a.value, None, a, None)
                self._add("date", None, b.value, None, b, a.start)
                continue
            self._add("date", a.value if a else None, b.value if b else None, a, b)


def _touches(change: FactChange, spans: Sequence[SharedSpan]) -> bool:
    for start, end, side in (
        (change.left_start, change.left_end, 0),
        (change.right_start, change.right_end, 2),
    ):
        if start is not None and end is not None:
            return any(start < s[side + 1] + _MARGIN and end > s[side] - _MARGIN for s in spans)
    return False


def _from_its_number(a: str, b: str, blocks: list[Block]) -> list[Block]:
    """``blocks`` such that an article put in begins with its own number, not behind that of the one before it."""
    result = list(blocks)
    for at in range(len(result) - 1):
        before, after = result[at], result[at + 1]
        i0, j0 = before.i + before.size, before.j + before.size
        if before.size and (i0 == after.i) != (j0 == after.j):
            text, start, end = (a, i0, after.i) if i0 < after.i else (b, j0, after.j)
            if end - start > 1 and text[start - 1] == text[end - 1] == _ARTICLE_MASK:
                result[at] = Block(before.i, before.j, before.size - 1)
                result[at + 1] = Block(after.i - 1, after.j - 1, after.size + 1)
    return [block for block in result if block.size]


def compare_facts(
    left: FactSheet, right: FactSheet, shared_spans: Sequence[SharedSpan] | None = None
) -> tuple[FactChange, ...]:
    """Facts stated differently by two texts, in the order of the left text.

    Facts are compared where the text around them agrees. ``shared_spans`` confines the answer to
    facts within 100 characters of a shared passage.
    """
    if left.skeleton == right.skeleton:
        blocks = [Block(0, 0, len(left.skeleton))]
    else:
        blocks = anchored_blocks(left.skeleton, right.skeleton)
    blocks = _from_its_number(left.skeleton, right.skeleton, blocks)
    comparison = _Comparison(left, right, blocks)
    for at, (i, j, size) in enumerate(blocks):
        first = bisect_left(left.places, i)
        shift = bisect_left(right.places, j) - first
        for index in range(first, bisect_left(left.places, i + size)):
            if left.facts[index] is not right.facts[index + shift]:
                comparison.pair(index, index + shift, at)
    edges = [Block(0, 0, 0), *blocks, Block(len(left.skeleton), len(right.skeleton), 0)]
    for at, (before, after) in enumerate(pairwise(edges)):
        if before.i + before.size < after.i or before.j + before.size < after.j:
            comparison.gap(before, after, at)
    comparison.without_swaps()
    comparison.one_sided()
    comparison.stated()
    comparison.changes.sort(key=lambda item: item[0])
    changes = tuple(change for _, change in comparison.changes)
    if shared_spans is not None:
        changes = tuple(change for change in changes if _touches(change, shared_spans))
    return changes
