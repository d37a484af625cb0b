"""What a reader hands on: a text, a refusal, or a note about the hand-over as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from screening.documents import InputDocument, Problem, Refusal

REPEATED = "repeated"
"""Code of a refusal that is none really: the same doc_id with the same text was handed over twice."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A text that was read.

    ``file`` is the received file that it came from, relative to the hand-over, and ``locator`` the line, row or member
    in it (empty for a file that is one text). ``place`` names both for a person.
    """

    document: InputDocument
    raw_sha256: str
    place: str
    file: str
    locator: str = ""
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing about a file that refuses nothing."""

    place: str
    problem: Problem


Entry = ReadDocument | Refusal | Note
