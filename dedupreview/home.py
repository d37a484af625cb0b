"""What is next for a person: read from the rows, for the first page."""

from __future__ import annotations

from builtins import round as nearest
from dataclasses import dataclass
from statistics import median

from django.db.models import Count, Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext as _

from dedupreview.people.models import Person
from reviews.models import (
    Judgment,
    ReviewItem,
    ReviewRound,
    ReviewTable,
    RoundMember,
)
from reviews.rounds import judged_in, pairs_in
from reviews.tallies import LONGEST_MS
from screening.models import Collection, DocumentImport, ScreeningRun

RECENT = 50
ENOUGH = 5
"""A person's time for a pair is the median of the last RECENT judgments, told from ENOUGH on."""


@dataclass(frozen=True, slots=True)
class Queue:
    """One round as its annotator sees it: their own judgments out of the pairs of the round."""

    round: ReviewRound
    judged: int
    pairs: int
    seconds: float | None
    """Their own median of late, per pair; None before there is enough to go by."""

    @property
    def minutes_left(self) -> int | None:
        """About how long the rest takes at that pace, in steps of five minutes; others may take some of it over."""
        if self.seconds is None or self.judged >= self.pairs:
            return None
        return max(5 * nearest(self.seconds * (self.pairs - self.judged) / 300), 5)

    @property
    def hours_left(self) -> float | None:
        """The same from an hour and a half on, in half hours."""
        minutes = self.minutes_left
        return nearest(minutes / 30) / 2 if minutes is not None and minutes >= 90 else None


@dataclass(frozen=True, slots=True)
class Step:
    """One step from texts to a table; ``state`` is done, now or later."""

    title: str
    words: str
    state: str
    url: str = ""
    action: str = ""


def home_of(person: Person) -> dict[str, object]:
    """The template context of the first page."""
    context: dict[str, object] = {
        "queues": queues_of(person),
        "conflicts": conflicts_of(person),
    }
    if person.is_admin:
        collection = _latest_collection()
        context |= {"collection": collection, "steps": steps_of(collection)}
    if person.is_auditor:
        context["tables"] = (
            ReviewTable.objects.filter(state=ReviewTable.State.DONE)
            .select_related("round")
            .order_by("-pk")[:5]
        )
    return context


def queues_of(person: Person) -> list[Queue]:
    """The open rounds in which the person judges."""
    rounds = ReviewRound.objects.filter(
        state=ReviewRound.State.OPEN,
        members__person=person,
        members__part=RoundMember.Part.ANNOTATOR,
        members__active=True,
    ).order_by("-pk")
    return [
        Queue(one, judged_in(one, person), pairs_in(one), _pace(one, person)) for one in rounds
    ]


def _pace(round: ReviewRound, person: Person) -> float | None:
    """Median seconds of the last judgments that were measured and not interrupted."""
    times = (
        Judgment.objects.filter(
            annotator=person, item__round=round, active_ms__gt=0, active_ms__lt=LONGEST_MS
        )
        .order_by("-pk")
        .values_list("active_ms", flat=True)[:RECENT]
    )
    taken = [time for time in times if time is not None]
    return median(taken) / 1000 if len(taken) >= ENOUGH else None


def conflicts_of(person: Person) -> list[tuple[ReviewRound, int]]:
    """Open rounds in which the person arbitrates, each with the conflicts that they have not judged themselves."""
    rounds = ReviewRound.objects.filter(
        state=ReviewRound.State.OPEN,
        members__person=person,
        members__part=RoundMember.Part.ARBITRATOR,
        members__active=True,
    ).order_by("-pk")
    own = Judgment.objects.filter(item=OuterRef("pk"), annotator=person)
    # From the conflicts, not from the rounds: there are few of those among a million pairs.
    conflicts = ReviewItem.objects.filter(
        ~Exists(own), round__in=rounds.order_by(), state=ReviewItem.State.CONFLICT
    )
    waiting = dict(conflicts.order_by().values_list("round").annotate(number=Count("pk")))
    return [(round, waiting.get(round.pk, 0)) for round in rounds]


def _latest_collection() -> Collection | None:
    """The collection in which something happened last."""
    newest = Collection.objects.order_by("-created_at", "-pk").first()
    last_run = ScreeningRun.objects.select_related("collection").order_by("-pk").first()
    last_import = DocumentImport.objects.select_related("collection").order_by("-pk").first()
    moments = [
        (row.created_at, row.collection) for row in (last_run, last_import) if row is not None
    ]
    if newest is not None:
        moments.append((newest.created_at, newest))
    return max(moments, key=lambda moment: moment[0])[1] if moments else None


def steps_of(collection: Collection | None) -> list[Step]:
    """The five steps from a collection to a signed table, the first undone one marked ``now``."""
    found = _found(collection)
    steps: list[Step] = []
    reached = True
    for done, title, words, url, action in found:
        state = "done" if done else "now" if reached else "later"
        reached = reached and done
        steps.append(Step(title, words, state, url if state != "later" else "", action))
    return steps


def _found(collection: Collection | None) -> list[tuple[bool, str, str, str, str]]:
    """(done, title, words, url, action) of each step."""
    slug = [collection.slug] if collection else []
    documents = collection.documents.count() if collection else 0
    run = _last_finished_run(collection)
    round = collection.rounds.order_by("-pk").first() if collection else None
    table = round.tables.filter(state="done").order_by("-pk").first() if round else None
    return [
        (
            collection is not None,
            _("Collection"),
            str(collection) if collection else _("A named set of texts to compare."),
            reverse("screening:collection-detail", args=slug)
            if slug
            else reverse("screening:create-collection"),
            _("Look at it") if collection else _("Create a collection"),
        ),
        (
            documents > 0,
            _("Import"),
            _("%(number)s documents are in.") % {"number": documents}
            if documents
            else _("Upload a folder or files; the originals are kept as they are."),
            reverse("screening:upload", args=slug) if slug else "",
            _("Add more") if documents else _("Upload texts"),
        ),
        (
            run is not None,
            _("Screening"),
            _("%(number)s candidate pairs found.") % {"number": run.candidate_count or 0}
            if run
            else _("Find the pairs that are worth a person's time."),
            reverse("screening:run-detail", args=[run.pk])
            if run
            else (reverse("screening:start-run", args=slug) if slug else ""),
            _("Look at the run") if run else _("Start screening"),
        ),
        (
            round is not None,
            _("Review round"),
            _("“%(name)s” is under way.") % {"name": round.name}
            if round
            else _("Choose who judges; every pair is judged independently."),
            reverse("reviews:round-detail", args=[round.pk])
            if round
            else (reverse("reviews:open-round", args=[run.pk]) if run else ""),
            _("Look at the round") if round else _("Open a round"),
        ),
        (
            table is not None,
            _("Review table"),
            _("Table %(number)s is signed and ready.") % {"number": table.number}
            if table
            else _("Export the result, signed, for anyone to verify."),
            reverse("reviews:table-detail", args=[table.pk])
            if table
            else (reverse("reviews:round-detail", args=[round.pk]) if round else ""),
            _("Look at the table") if table else _("To the export"),
        ),
    ]


def _last_finished_run(collection: Collection | None) -> ScreeningRun | None:
    if collection is None:
        return None
    return collection.runs.filter(state=ScreeningRun.State.DONE).order_by("-pk").first()
