"""Channel ``doc_number``: documents that bear the same 发文字号, or the same issuer, date and title."""

from __future__ import annotations

from collections.abc import Hashable

from screening.channels import Hits
from screening.channels.grouping import pairs_of_groups
from screening.documents import InputDocument, Problem
from screening.text.corpus import Corpus
from screening.text.numbers import DocumentNumber, doubtful_number, own_number, parse_number
from screening.text.table import normalise_simply


def number_of(document: InputDocument) -> DocumentNumber | None:
    """The document's number: the stated one where it can be read, else the one in head position."""
    stated = document.metadata.get("doc_number")
    return (parse_number(stated) if stated else None) or own_number(document.raw)


def identity(document: InputDocument) -> Hashable | None:
    """What two records of the same document have in common; None where nothing can be said."""
    number = number_of(document)
    if number is not None:
        return ("number", *number.key)
    issuer, date = document.metadata.get("issuer"), document.metadata.get("published_on")
    if issuer and date and document.title:
        parts = [normalise_simply(part) for part in (issuer, date, document.title)]
        if all(parts):
            return ("record", *parts)
    return None


def find(corpus: Corpus, cap: int) -> Hits:
    """Pairs of *documents* of the same identity; above ``cap`` of them a star around the first, and reported."""
    groups: dict[Hashable, list[int]] = {}
    doubtful: list[str] = []
    for d, document in enumerate(corpus.documents):
        if corpus.class_of[d] < 0:
            continue
        key = identity(document)
        if key is not None:
            groups.setdefault(key, []).append(d)
        elif (number := doubtful_number(document.raw)) is not None:
            doubtful.append(
                f"{document.doc_id}: {number.raw} → {number.code}〔{number.year}〕{number.serial}号"
            )
    left_out = _doubtful(doubtful)
    pairs, large = pairs_of_groups(groups.values(), cap)
    several = sum(len(members) > 1 for members in groups.values())
    counts = {"numbered": sum(map(len, groups.values())), "groups": several}
    if large:
        left_out.append(
            Problem(
                "large_number_groups",
                "%(count)s document numbers stand on more than %(cap)s documents each; "
                "each document was joined to the first of its number only.",
                {"count": large, "cap": cap},
            )
        )
    return Hits(pairs, counts, left_out)


def _doubtful(found: list[str]) -> list[Problem]:
    if not found:
        return []
    return [
        Problem(
            "doubtful_numbers",
            "%(count)s document numbers are malformed and were not used; please check: %(numbers)s.",
            {"count": len(found), "numbers": "; ".join(found[:20])},
        )
    ]
