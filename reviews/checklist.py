"""What has to be true before the result of a run or a round is published: each point computed, or signed by a person.

A signature is an audit event of its own; what is computed cannot be signed away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from dedupreview.people import audit
from dedupreview.people.models import AuditEvent, Person
from reviews import evaluating
from reviews.errors import ReviewError
from reviews.models import LabelSet, ReviewItem, ReviewRound, SignOff
from screening import frozen, runs
from screening.config import ScreeningConfig
from screening.models import Document, ScreeningRun

SIGNED = "checklist.sign"
UNKNOWN_POINT = "There is no such point to sign."
NOTE_MISSING = "Please say in a few words what was looked at."

State = Literal["met", "open"]


class ChecklistError(ReviewError):
    """A point cannot be signed."""


@dataclass(frozen=True)
class Point:
    """One point. ``words`` says what has to be true, ``detail`` (template, params) what was found, ``signature`` who signed."""

    code: str
    words: Any
    state: State
    template: str = ""
    params: dict[str, object] = field(default_factory=dict)
    signature: AuditEvent | None = None

    @property
    def signable(self) -> bool:
        return self.code in TO_SIGN


TO_SIGN: dict[str, Any] = {
    "evidence_readable": _(
        "A sample of pairs was opened: the evidence can be read in the original texts."
    ),
    "versions_checked": _(
        "Versions were checked by people: a later version does not replace an earlier one by itself."
    ),
    "public_citation": _("Public citations: the quoted source is registered."),
    "reprint_licence": _(
        "Reprints: the licence or permission is registered, apart from authorship."
    ),
    "author_and_origin": _(
        "Author and place of first publication are registered apart from where the text was collected."
    ),
    "retention_words": _("Retention is given in words only; nothing was deleted, moved or merged."),
    "limits_stated": _("The limits are stated: languages, kinds of text, what no channel finds."),
    "team_bears_load": _("The team can bear the number of pairs without hurrying."),
}
"""Points that only a person can answer for."""


def of_run(run: ScreeningRun) -> list[Point]:
    """The points of a run: computed ones first."""
    computed = [_originals(run), _traceable(run), _configuration(run), _labels(run)]
    codes = (
        "evidence_readable",
        "public_citation",
        "reprint_licence",
        "author_and_origin",
        "limits_stated",
    )
    return [*computed, *_signed("run", run.pk, codes)]


def of_round(round: ReviewRound) -> list[Point]:
    """The points of a round: computed ones first."""
    computed = [_closed(round), _arbitrated(round), _stages(round), _acceptance(round.run)]
    codes = ("versions_checked", "retention_words", "team_bears_load", "limits_stated")
    return [*computed, *_signed("round", round.pk, codes)]


def sign(*, kind: str, key: int, code: str, note: str, actor: Person) -> AuditEvent:
    """Answer for a point of the ``run`` or ``round`` with this key.

    :raises ChecklistError: if the point is computed or unknown, or the note is empty.
    """
    if code not in TO_SIGN or kind not in ("run", "round"):
        raise ChecklistError(UNKNOWN_POINT, code="unknown")
    if not note.strip():
        raise ChecklistError(NOTE_MISSING, code="note")
    return audit.record(
        actor=actor,
        action=SIGNED,
        subject_type=kind,
        subject_id=key,
        data={"point": code, "note": note.strip()[:500]},
    )


def _signed(kind: str, key: int, codes: tuple[str, ...]) -> list[Point]:
    events = AuditEvent.objects.filter(
        action=SIGNED, subject_type=kind, subject_id=str(key)
    ).select_related("actor")
    latest = {str(event.data.get("point")): event for event in events.order_by("pk")}
    return [
        Point(code, TO_SIGN[code], "met" if code in latest else "open", signature=latest.get(code))
        for code in codes
    ]


def _point(code: str, words: Any, met: bool, template: str, **params: object) -> Point:
    return Point(code, words, "met" if met else "open", template, params)


def _originals(run: ScreeningRun) -> Point:
    """The inputs of the run as frozen are the documents of today; bytes on disk are for ``verify_originals``."""
    try:
        documents, _keys = frozen.documents(runs.run_folder(run), run.collection)
    except (OSError, frozen.InputsChanged) as error:
        return _point(
            "originals", _("The texts are unchanged since the run."), False,
            "The list of inputs cannot be confirmed: %(why)s", why=runs.in_words(error),
        )  # fmt: skip
    return _point(
        "originals", _("The texts are unchanged since the run."), True,
        "%(n)s texts are those of the list of inputs.", n=len(documents),
    )  # fmt: skip


def _traceable(run: ScreeningRun) -> Point:
    rows = Document.objects.filter(collection=run.collection)
    total, sourced = rows.count(), rows.exclude(source_id=None).exclude(source_id="").count()
    return _point(
        "traceable", _("Every text names where it was collected."), sourced == total,
        "%(n)s of %(total)s texts have a source.", n=sourced, total=total,
    )  # fmt: skip


def _configuration(run: ScreeningRun) -> Point:
    complete = set(ScreeningConfig().to_dict()) <= set(run.config) and bool(run.fingerprint)
    there = [name for name in runs.RUN_FILES if (runs.run_folder(run) / name).is_file()]
    return _point(
        "configuration", _("The configuration is complete and the files of the run are there."),
        complete and len(there) == len(runs.RUN_FILES),
        "%(n)s of %(total)s files; fingerprint %(fingerprint)s.",
        n=len(there), total=len(runs.RUN_FILES), fingerprint=run.fingerprint[:16],
    )  # fmt: skip


def _labels(run: ScreeningRun) -> Point:
    sets = LabelSet.objects.filter(collection=run.collection).count()
    return _point(
        "labels", _("There are labelled pairs against which the run can be measured."), sets > 0,
        "%(n)s label sets.", n=sets,
    )  # fmt: skip


def _closed(round: ReviewRound) -> Point:
    total = round.items.count()
    closed = round.items.filter(state=ReviewItem.State.CLOSED).count()
    return _point(
        "closed", _("Every pair is judged and closed."), closed == total > 0,
        "%(n)s of %(total)s pairs are closed.", n=closed, total=total,
    )  # fmt: skip


def _arbitrated(round: ReviewRound) -> Point:
    left = round.items.filter(state=ReviewItem.State.CONFLICT).count()
    return _point(
        "arbitrated", _("No pair is in conflict."), left == 0, "%(n)s pairs wait for arbitration.", n=left
    )  # fmt: skip


def _stages(round: ReviewRound) -> Point:
    given = set(round.sign_offs.values_list("stage", flat=True))
    return _point(
        "stages", _("Every stage is signed by a person."), given >= set(SignOff.Stage.values),
        "%(n)s of %(total)s stages are signed.", n=len(given), total=len(SignOff.Stage.values),
    )  # fmt: skip


def _acceptance(run: ScreeningRun) -> Point:
    words = _("The run passed an acceptance on labels that were not used for tuning.")
    event = evaluating.acceptance_of(run)
    if event is None:
        return _point(
            "acceptance", words, False, "The acceptance half was not opened for this run."
        )
    criterion, result = event.data.get("criterion"), event.data.get("result")
    if not criterion or not result:  # opened before criteria were asked for
        return _point(
            "acceptance", words, False, "The acceptance half was opened without a criterion."
        )
    return _point(
        "acceptance", words, bool(event.data.get("passed")),
        "%(label)s at %(threshold)s: recall %(recall)s (at least %(least_recall)s), precision %(precision)s (at least"
        " %(least_precision)s); looked at %(before)s times before.",
        label=criterion["label"], threshold=f"{criterion['threshold']:g}",
        recall=_share(result["recall"]), least_recall=f"{criterion['recall']:g}",
        precision=_share(result["precision"]), least_precision=f"{criterion['precision']:g}",
        before=event.data.get("looks_before", 0),
    )  # fmt: skip


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
