"""Questions to the admin of a round: seen by their author and the admins; answered to all through the guideline."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dedupreview.people import audit
from dedupreview.people.models import Person
from reviews.errors import ReviewError
from reviews.models import Question, ReviewItem, RoundMember
from reviews.rounds import publish_guideline

EMPTY = "Please write something."
TOO_LONG = "At most %(most)s characters, please."
ANSWERED = "This question is answered already."
NOT_A_MEMBER = "You take no part in this round."
LONGEST = 5_000
HEADING = "## 问答"


class QuestionError(ReviewError):
    """A question or its answer cannot be taken."""


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise QuestionError(EMPTY, code="text")
    if len(text) > LONGEST:
        raise QuestionError(TOO_LONG, {"most": LONGEST}, code="text")
    return text


def ask(*, item: ReviewItem, person: Person, text: str) -> Question:
    """Put a question about a pair to the admin; the same words sent twice are one question.

    :raises QuestionError: for an empty or long text, or somebody without a part in the round.
    """
    words = _checked(text)
    with transaction.atomic():
        member = (
            RoundMember.objects.select_for_update()
            .filter(round_id=item.round_id, person=person, active=True)
            .first()
        )
        if member is None:
            raise QuestionError(NOT_A_MEMBER, code="not_a_member")
        same = Question.objects.filter(item=item, person=person, text=words, answer="").first()
        return same or Question.objects.create(
            round_id=item.round_id, item=item, person=person, text=words
        )


def own_questions(item: ReviewItem, person: Person) -> QuerySet[Question]:
    """The person's own questions about a pair; nobody else's."""
    return Question.objects.filter(item=item, person=person).order_by("pk")


def answer(*, question: Question, text: str, actor: Person) -> Question:
    """Answer a question by the guideline's next version, which everybody of the round reads.

    Only the answer goes there: the question's words and its author could tell how somebody is about to judge.

    :raises QuestionError: for an empty or long text, or a question that is answered.
    """
    words = _checked(text)
    with transaction.atomic():
        locked = Question.objects.select_for_update().get(pk=question.pk)
        if locked.answer:
            raise QuestionError(ANSWERED, code="answered")
        round = locked.round
        current = round.guidelines.get(number=round.guideline_version).text.rstrip()
        entry = "- " + " ".join(words.split())
        known = HEADING in current.splitlines()
        version = publish_guideline(
            round=round,
            text=f"{current}\n{entry}" if known else f"{current}\n\n{HEADING}\n\n{entry}",
            actor=actor,
        )
        locked.answer, locked.guideline = words, version.number
        locked.answered_by, locked.answered_at = actor, timezone.now()
        locked.save(update_fields=["answer", "guideline", "answered_by", "answered_at"])
        audit.record(
            actor=actor,
            action="question.answered",
            subject_type="question",
            subject_id=locked.pk,
            data={"guideline": version.number},
        )
    return locked
