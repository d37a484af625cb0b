"""Two hundred test items planted in a corpus of our own making: whole, split by a page break, half; found with offsets?

    python -m tests.bench.contamination [--items 200] [--documents 2000]

Items are 12 to 120 characters long, so that some are shorter than a window of 45 bytes and some halves are: those cannot be
found and are named. As many items again are planted nowhere: none of them may be found.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import time
from collections import Counter
from dataclasses import dataclass

from screening.documents import InputDocument
from screening.leaks import GRAM, ItemReport, leak_report
from screening.text.normalise import normalise

CHARACTERS = "".join(chr(0x4E00 + 7 * n) for n in range(1200))
KINDS = ("whole", "split", "half")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a planted item, or its part, stands: raw places in its document, and in the item."""

    start: int
    end: int
    item_start: int
    item_end: int


@dataclass(slots=True)
class Planted:
    """Documents and items, and for each planted item its kind, document and places."""

    documents: list[InputDocument]
    kinds: dict[str, tuple[str, int, list[Place]]]


@dataclass(slots=True)
class Outcome:
    """Items by kind: planted, found as what they are, with a part below a window (``partly`` found all the same).

    ``misplaced``: found, but not where they were planted. ``false``: found, though planted nowhere.
    """

    planted: Counter[str]
    found: Counter[str]
    too_short: Counter[str]
    partly: Counter[str]
    missed: list[str]
    misplaced: int
    false: int


def text(rng: random.Random, length: int) -> str:
    """Characters in a random order, with a comma or full stop every dozen."""
    chars = [rng.choice(CHARACTERS) for _ in range(length)]
    for at in range(11, length - 1, 12):
        chars[at] = rng.choice("，。")
    return "".join(chars)


def plant(
    rng: random.Random, *, items: int, documents: int, shortest: int = 80, longest: int = 120
) -> Planted:
    """Plant ``items`` in turn whole, split and half into random documents; as many again are planted nowhere."""
    bodies = [text(rng, rng.randrange(400, 1600)) for _ in range(documents)]
    kinds: dict[str, tuple[str, int, list[Place]]] = {}
    references = []
    for n, where in enumerate(rng.sample(range(documents), items)):
        asked = text(rng, rng.randrange(shortest, longest + 1))
        kind, middle = KINDS[n % 3], len(asked) // 2
        page = f"\n— {rng.randrange(10, 99)} —\n"
        parts = {
            "whole": [(0, len(asked))],
            "split": [(0, middle), (middle, len(asked))],
            "half": [(0, middle)],
        }[kind]
        body = bodies[where]
        at = rng.randrange(len(body))
        planted, places = "", []
        for number, (lo, hi) in enumerate(parts):
            planted += page if number else ""
            places.append(Place(at + len(planted), at + len(planted) + hi - lo, lo, hi))
            planted += asked[lo:hi]
        bodies[where] = body[:at] + planted + body[at:]
        name = f"q{n:04d}"
        kinds[name] = (kind, where, places)
        references.append(_document(name, asked, "reference"))
        references.append(_document(f"r{n:04d}", text(rng, len(asked)), "reference"))
    return Planted(
        [_document(f"d{n:05d}", body, "subject") for n, body in enumerate(bodies)] + references,
        kinds,
    )


def _document(doc_id: str, raw: str, role: str) -> InputDocument:
    sha256 = hashlib.sha256(raw.encode()).hexdigest()
    return InputDocument(doc_id, raw, sha256, role="subject" if role == "subject" else "reference")


def report_of(planted: Planted) -> Outcome:
    """Run the report and compare it with what was planted."""
    outcome = Outcome(Counter(), Counter(), Counter(), Counter(), [], 0, 0)
    for report in leak_report(planted.documents):
        asked = planted.documents[report.item]
        if asked.doc_id not in planted.kinds:
            outcome.false += bool(report.leaks)
            continue
        kind, where, places = planted.kinds[asked.doc_id]
        outcome.planted[kind] += 1
        if _parts_below(asked.raw, places):
            outcome.too_short[kind] += 1
            outcome.partly[kind] += bool(report.leaks and report.leaks[0].document == where)
        elif _is_found(report, kind, where):
            outcome.found[kind] += 1
            outcome.misplaced += not _is_placed(report, where, places)
        else:
            outcome.missed.append(asked.doc_id)
    return outcome


def _parts_below(asked: str, places: list[Place]) -> bool:
    """Whether some part of the item has fewer bytes than a window."""
    return any(
        len(normalise(asked[p.item_start : p.item_end]).text.encode()) < GRAM for p in places
    )


def _is_found(report: ItemReport, kind: str, where: int) -> bool:
    verdict = "part" if kind == "half" else "whole"
    return report.verdict == verdict and report.leaks[0].document == where


def _is_placed(report: ItemReport, where: int, places: list[Place]) -> bool:
    """Whether the report names these places, but for a chance character more or a mark of punctuation at an end."""
    spans = [
        (s.start, s.end) for leak in report.leaks if leak.document == where for s in leak.spans
    ]
    return all(
        any(
            a <= p.start + 1 and b >= p.end - 1 and a >= p.start - 3 and b <= p.end + 3
            for a, b in spans
        )
        for p in places
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for shortest in (80, 12):
        rng = random.Random(given.seed)
        planted = plant(rng, items=given.items, documents=given.documents, shortest=shortest)
        start = time.process_time()
        outcome = report_of(planted)
        took = time.process_time() - start
        print(
            f"items of {shortest} to 120 characters, {given.documents} documents, {took:.1f} CPU s"
        )
        for kind in KINDS:
            print(
                f"  {kind}: {outcome.found[kind]} found of {outcome.planted[kind]} planted; "
                f"{outcome.too_short[kind]} have a part below {GRAM} bytes, {outcome.partly[kind]} of them found by the other part"
            )
        print(
            f"  at other places: {outcome.misplaced}; missed: {outcome.missed}; never planted, yet found: {outcome.false}"
        )


if __name__ == "__main__":
    main()
