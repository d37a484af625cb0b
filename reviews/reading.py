"""What a person may see of a pair while reading it: sides, metadata, facts, evidence. Nobody's answers are in here."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from django.utils.formats import number_format
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext_lazy, ngettext, pgettext
from django.utils.translation import gettext as _

from reviews.chips import Fact, earlier, facts_listed, in_order, quote
from reviews.elsewhere import Known, known_forms, known_passages
from reviews.labels import Label
from reviews.models import ReviewItem
from reviews.pairtext import KIN, Rendered, render
from reviews.wording import others_listed
from screening.evidence.articles import has_articles
from screening.evidence.diff import ENGINE_VERSION, Comparison, compare
from screening.evidence.facts import FactChange, fact_changes
from screening.models import Document
from screening.names import CHANNEL_NAMES

FACTS_LISTED = 60
"""Fact changes listed at all: two texts that differ throughout differ in their marks, a longer list is not read."""
EXCERPTS_SHOWN = 8
WHOLE = 0.5
"""From this containment on whole texts are compared for facts, as in a run."""
LONG_TEXT = 1_500
"""Characters from which equal paragraphs start out folded, if most of the text is equal."""

CHECKS: tuple[tuple[str, Any, frozenset[str]], ...] = (
    ("date", gettext_lazy("Dates"), frozenset({"date", "duration"})),
    (
        "number",
        gettext_lazy("Numbers"),
        frozenset({"number", "money", "percent", "frequency", "document_number"}),
    ),
    ("unit", gettext_lazy("Units"), frozenset({"unit"})),
    ("condition", gettext_lazy("Conditions"), frozenset({"condition"})),
    ("negation", gettext_lazy("Negation"), frozenset({"negation", "modality"})),
    ("conclusion", gettext_lazy("Conclusions"), frozenset({"conclusion"})),
)
"""The checklist: its key, its name and the kinds of fact changes that belong to it."""

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
BRIEF = ("source_id", "doc_number", "version", "published_on", "captured_at")
"""What stands under the title at once; the rest of the metadata is one click away."""
NAMED = {"published_on", "captured_at"}
"""Fields that nobody could tell apart without their names."""
METADATA = (
    ("source_id", gettext_lazy("Source")),
    ("doc_number", gettext_lazy("Document number")),
    ("version", gettext_lazy("Version")),
    ("published_on", gettext_lazy("Published")),
    ("captured_at", gettext_lazy("Captured")),
    ("issuer", gettext_lazy("Issuer")),
    ("author", gettext_lazy("Author")),
    ("original_source", gettext_lazy("Taken from")),
    ("language", gettext_lazy("Language")),
    ("doc_type", gettext_lazy("Kind of text")),
)


@dataclass(frozen=True)
class Shown:
    """A document as one of the two sides. ``side`` is its canonical side, wherever it stands."""

    pk: int
    side: str
    title: str
    has_file: bool
    order: str = ""
    """Whether it is the earlier or the later of the two, in words, by its own date; empty where that is not known."""


@dataclass(frozen=True)
class Line:
    """One compared line of metadata, in the order in which the sides are shown."""

    name: str
    first: str
    last: str
    named: bool = False

    @property
    def differs(self) -> bool:
        return self.first != self.last


@dataclass(frozen=True)
class Passage:
    """A shared passage, as offsets of both raw texts and its beginning."""

    ls: int
    le: int
    rs: int
    re: int
    quote: str

    @property
    def chars(self) -> int:
        return self.le - self.ls


@dataclass(frozen=True)
class Elsewhere:
    """A passage that other documents have too. ``side`` is its canonical side, ``ls`` … ``re`` its offsets there."""

    ls: int | str
    le: int | str
    rs: int | str
    re: int | str
    words: str
    quote: str
    sources: tuple[Any, ...]
    entry: str = ""
    """The name of the library entry that it is of; empty for a passage that was only found."""
    more: tuple[tuple[int | str, int | str, int | str, int | str], ...] = ()
    """Further stretches of it on both sides, as offsets like its own."""


@dataclass(frozen=True)
class Check:
    """One entry of the checklist; ``count`` of 0 is "no change seen"."""

    key: str
    name: str
    count: int
    ticked: bool = False


@dataclass(frozen=True)
class Score:
    name: str
    value: str


@dataclass
class Reading:
    """Everything the pair template shows. ``sides`` is ``lr`` if the canonical left stands left, else ``rl``."""

    sides: str
    documents: tuple[Shown, Shown]
    brief: list[Line]
    metadata: list[Line]
    html: SafeString
    strip: SafeString
    changes: int
    counts: dict[str, int]
    facts: list[Fact]
    others: list[Fact]
    """What changed besides the facts; empty where two texts share so little that everything else did."""
    excerpts: list[Passage]
    elsewhere: list[Elsewhere]
    checks: list[Check]
    only: bool
    kin: bool
    by_article: bool
    partly: bool
    """Facts were compared in shared text only, because there is text that has no counterpart."""
    notes: list[str] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)

    @property
    def title_differs(self) -> bool:
        return self.documents[0].title != self.documents[1].title

    @property
    def left_shown_first(self) -> str:
        """The direction that says: the text on the left of the page is the earlier one."""
        return "left_first" if self.sides == "lr" else "right_first"

    @property
    def right_shown_first(self) -> str:
        return "right_first" if self.sides == "lr" else "left_first"


def shown_state(
    sides: str, *, swapped: int, scores: bool, hints: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What stood on the page around an answer, stored with it; ``side_order`` names the canonical side on the left."""
    return {
        "side_order": "left_right" if sides == "lr" else "right_left",
        "swapped": swapped,
        "scores": scores,
        "hints": ["changes", "facts", "excerpts", *hints],
        "diff": ENGINE_VERSION,
    }


def compared(left: str, right: str) -> Comparison:
    """The comparison that the page of a pair shows; the last few are kept."""
    return _compared(left, right)


# Small on purpose: a comparison of long texts is some megabytes, and every web worker keeps its own.
@lru_cache(maxsize=2)
def _compared(left: str, right: str) -> Comparison:
    return compare(left, right)


@lru_cache(maxsize=16)
def _rendered(left: str, right: str, sides: str, _language: str | None) -> Rendered:
    """The rows carry words (left, equal paragraphs), so each language has its own."""
    return render(_compared(left, right), swapped=sides == "rl")


@lru_cache(maxsize=32)
def _changed_facts(
    left: str, right: str, shared: tuple[tuple[int, int, int, int], ...] | None
) -> tuple[FactChange, ...]:
    return fact_changes(left, right, shared)


def _partial(item: ReviewItem) -> bool:
    """Whether the two texts share little; the same text in the other script shares all."""
    candidate = item.candidate
    return max(candidate.containment, candidate.jaccard_folded or 0.0) < WHOLE


def facts_of(item: ReviewItem) -> list[FactChange]:
    """The fact changes that the page of an item shows: all but mere ways of writing."""
    return [change for change in _all_facts(item) if change.kind != "style"]


def _all_facts(item: ReviewItem) -> tuple[FactChange, ...]:
    """The fact changes of an item with the ways of writing.

    Texts that share little are compared only where they touch, as in the run: elsewhere every number would differ.
    """
    candidate = item.candidate
    shared = None
    if _partial(item):
        shared = tuple((a, b, c, d) for a, b, c, d in candidate.excerpts)
    return _changed_facts(item.pair.left.raw, item.pair.right.raw, shared)


def hints_of(item: ReviewItem) -> tuple[str, ...]:
    """What else than differences and shared passages the page of an item hints at."""
    found = known_passages(item)[0], known_forms(item)
    return tuple(name for name, some in zip(("elsewhere", "library"), found, strict=True) if some)


def checks_of(item: ReviewItem) -> list[Check]:
    """The checklist of an item's pair, with the number of fact changes behind each entry."""
    kinds = [change.kind for change in facts_of(item)]
    return [
        Check(key, str(name), sum(kind in members for kind in kinds))
        for key, name, members in CHECKS
    ]


def reading_of(
    item: ReviewItem,
    *,
    sides: str,
    scores: bool = False,
    only: bool | None = None,
    only_shared: bool | None = None,
    ticked: frozenset[str] = frozenset(),
) -> Reading:
    """Lay out the pair of ``item`` with the canonical left on the side that ``sides`` says.

    ``only``: whether all but the changes starts out folded, ``only_shared`` the same for all but shared text in a pair
    that shares little; ``None`` decides by length. ``ticked`` are the entries of the checklist that are ticked already. Needs ``item.pair`` with both
    documents, their collections and source files, and ``item.candidate``.
    """
    left, right = item.pair.left, item.pair.right
    rendered = _rendered(left.raw, right.raw, sides, get_language())
    changes = facts_of(item)
    facts = facts_listed(changes, left.raw, right.raw, sides)
    kin = rendered.equal_share < KIN
    wish = only_shared if kin else only
    long = max(left.chars, right.chars) > LONG_TEXT and not KIN <= rendered.equal_share <= 0.7
    return Reading(
        sides=sides,
        documents=in_order(*_both(left, right), sides),
        brief=_metadata(left, right, sides, brief=True),
        metadata=_metadata(left, right, sides, brief=False),
        html=rendered.html,
        strip=rendered.strip,
        changes=rendered.changes,
        counts=rendered.counts,
        facts=facts[:FACTS_LISTED],
        others=[] if kin else others_listed(_compared(left.raw, right.raw), _all_facts(item)),
        excerpts=_passages(item, left.raw, right.raw, rendered),
        elsewhere=[*_forms(item, changes), *_elsewhere(item, left.raw, right.raw)],
        checks=[replace(check, ticked=check.key in ticked) for check in checks_of(item)],
        # Where nothing differs there is nothing to fold the rest away for.
        only=bool(rendered.changes) and (long if wish is None else wish),
        kin=kin,
        by_article=has_articles(left.raw, right.raw),
        # What only one side has was compared with nothing: a tick would claim that it had been.
        partly=_partial(item) or bool(rendered.counts["first_only"] + rendered.counts["last_only"]),
        notes=[*_partly(item), *_facts_left_out(facts), *_notes(left, right)],
        scores=_scores(item) if scores else [],
    )


def _both(left: Document, right: Document) -> tuple[Shown, Shown]:
    first = earlier(left, right)
    one, other = (
        Shown(
            document.pk,
            side,
            document.title or document.doc_id,
            bool(document.source_file.size),
            "" if not first else _("earlier") if side == first else _("later"),
        )
        for document, side in ((left, "left"), (right, "right"))
    )
    return one, other


def _metadata(left: Document, right: Document, sides: str, *, brief: bool) -> list[Line]:
    lines = []
    for key, name in METADATA:
        values = [_value(document, key) for document in (left, right)]
        if (key in BRIEF) == brief and any(values):
            lines.append(_line(str(name), values, sides, named=key in NAMED))
    if brief:
        chars = [
            _("%(number)s characters")
            % {"number": number_format(document.chars, force_grouping=True)}
            for document in (left, right)
        ]
        lines.append(_line(_("Length"), chars, sides))
    return lines


def _line(name: str, values: list[str], sides: str, *, named: bool = False) -> Line:
    first, last = in_order(values[0], values[1], sides)
    return Line(name, first, last, named)


def _value(document: Document, key: str) -> str:
    value = str(getattr(document, key, None) or document.metadata.get(key) or "")
    # A point in time is read as a day and a minute; nobody compares its offset.
    return f"{value[:10]} {value[11:16]}" if MOMENT.match(value) else value


def _passages(item: ReviewItem, left: str, right: str, rendered: Rendered) -> list[Passage]:
    """Shared passages worth a jump: none where the texts are equal in the main, the changes tell more there."""
    if rendered.equal_share > 0.9:
        return []
    found = []
    for a, b, c, d in item.candidate.excerpts[:EXCERPTS_SHOWN]:
        if 0 <= a < b <= len(left) and 0 <= c < d <= len(right):
            found.append(Passage(a, b, c, d, quote(left, a, b)))
    return found


def _elsewhere(item: ReviewItem, left: str, right: str) -> list[Elsewhere]:
    """Passages known from third documents, each once: what both texts have is said on the left one."""
    known, inputs = known_passages(item)
    found: dict[str, Elsewhere] = {}
    for one in known:
        raw = left if one.side == "left" else right
        if not one.start < one.end <= len(raw):
            continue
        text = " ".join(raw[one.start : one.end].split())
        seen = found.get(text)
        if seen is None:
            said = quote(raw, one.start, one.end)
            seen = Elsewhere("", "", "", "", _words_of(one, inputs), said, one.sources)
        if one.side == "left" and seen.ls == "":
            seen = replace(seen, ls=one.start, le=one.end)
        elif one.side == "right" and seen.rs == "":
            seen = replace(seen, rs=one.start, re=one.end)
        found[text] = seen
    return list(found.values())


def _forms(item: ReviewItem, changes: list[FactChange]) -> list[Elsewhere]:
    """The entries of the template library that both texts have: greyed like other known passages, facts never."""
    facts = (
        [(c.left_start, c.left_end) for c in changes if c.left_start is not None and c.left_end],
        [
            (c.right_start, c.right_end)
            for c in changes
            if c.right_start is not None and c.right_end
        ],
    )
    found = []
    for form in known_forms(item, facts):
        rows: list[tuple[int | str, int | str, int | str, int | str]] = []
        for one, other in zip_longest(form.left, form.right, fillvalue=("", "")):
            rows.append((one[0], one[1], other[0], other[1]))
        words = _("template in %(found)s of %(all)s texts") % {
            "found": number_format(form.documents, force_grouping=True),
            "all": number_format(form.looked_at, force_grouping=True),
        }
        said = quote(item.pair.left.raw, *form.left[0])
        found.append(Elsewhere(*rows[0], words, said, (), form.name, tuple(rows[1:])))
    return found


def _words_of(known: Known, inputs: int) -> str:
    return _("in %(found)s of %(all)s texts") % {
        "found": number_format(known.documents, force_grouping=True),
        "all": number_format(max(inputs, known.documents), force_grouping=True),
    }


def _partly(item: ReviewItem) -> list[str]:
    """Where texts share little, "no change seen" would claim more than was looked at."""
    if not _partial(item):
        return []
    return [_("These texts share little: facts were compared only where they share a passage.")]


def _facts_left_out(facts: list[Fact]) -> list[str]:
    rest = facts[FACTS_LISTED:]
    if not rest:
        return []
    kinds = Counter(fact.name for fact in rest)
    named = "，".join(f"{name} {count}" for name, count in kinds.most_common())
    return [
        _(
            "The first %(listed)s fact changes are listed; %(rest)s more are marked in the texts only (%(kinds)s)."
        )
        % {"listed": FACTS_LISTED, "rest": len(rest), "kinds": named}
    ]


def _notes(left: Document, right: Document) -> list[str]:
    """What the page leaves out, said plainly: all of the text is on it, files may hold more."""
    notes = []
    attachments = [len(document.metadata.get("attachments") or []) for document in (left, right)]
    if sum(attachments):
        notes.append(
            ngettext(
                "Not shown: %(number)s attachment named in the metadata.",
                "Not shown: %(number)s attachments named in the metadata.",
                sum(attachments),
            )
            % {"number": sum(attachments)}
        )
    warned = [document for document in (left, right) if document.warnings]
    if warned:
        notes.append(_("Reading one of the files left a warning; compare the file as received."))
    return notes


def _scores(item: ReviewItem) -> list[Score]:
    candidate = item.candidate
    scores = [
        Score(pgettext("similarity", "Jaccard"), f"{candidate.jaccard:.3f}"),
        Score(_("Containment"), f"{candidate.containment:.3f}"),
    ]
    if candidate.channels:
        scores.append(
            Score(
                _("Channels"),
                " · ".join(str(CHANNEL_NAMES.get(name, name)) for name in candidate.channels),
            )
        )
    if candidate.suggestion:
        known = candidate.suggestion in Label.values
        name = str(Label(candidate.suggestion).label) if known else candidate.suggestion
        scores.append(Score(_("Suggestion"), name))
    return scores
