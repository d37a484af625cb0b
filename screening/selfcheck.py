"""Every way of finding on one fixed sample of our own, side by side, and what has changed since the last accepted record."""

from __future__ import annotations

import hashlib
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from screening.config import KNOWN_CHANNELS, ScreeningConfig
from screening.documents import InputDocument
from screening.fragments import find_fragments
from screening.leaks import leak_report
from screening.pipeline import screen
from screening.seen import SeenFilter

SAMPLE = Path(__file__).with_name("selfcheck_sample.jsonl")

KINDS: tuple[str, ...] = ("copy", "pasted", "edited", "paraphrased", "unrelated")
"""What was done to an original; of ``unrelated`` pairs none should be found."""

PASTED = 120
"""Characters of an original that are pasted into another text."""

LONG = (("三十一年", "三十二年"), ("七里路", "八里路"), ("一百四十多名", "一百五十多名"))
"""Edits of the one long text."""

MEGABYTE = 1 << 20

Pair = tuple[str, str]
Ways = Mapping[str, Callable[[Sequence[InputDocument]], "Answer"]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one way gave: the pairs it found (by doc_id, in order) and whatever else it counts."""

    pairs: tuple[Pair, ...]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WayRecord:
    """One way on the sample: ``found[kind]`` of ``labelled[kind]``, all pairs, CPU seconds, megabytes at its peak.

    ``digest`` is of the pairs and counts, ``error`` says why a way could not run (empty otherwise). Seconds and
    megabytes depend on the machine and are never compared.
    """

    way: str
    found: Mapping[str, int]
    labelled: Mapping[str, int]
    pairs: int
    counts: Mapping[str, int]
    digest: str
    seconds: float
    megabytes: float
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "way": self.way,
            "found": dict(self.found),
            "labelled": dict(self.labelled),
            "pairs": self.pairs,
            "counts": dict(self.counts),
            "digest": self.digest,
            "seconds": round(self.seconds, 4),
            "megabytes": round(self.megabytes, 2),
            "error": self.error,
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> WayRecord:
        """The inverse of :meth:`to_dict`."""
        return cls(**row)


@dataclass(frozen=True, slots=True)
class Drift:
    """A way whose result is not the accepted one: what was, what is."""

    way: str
    what: str
    accepted: object
    now: object


def sample() -> tuple[list[InputDocument], dict[Pair, str]]:
    """The documents of the sample and the kind of every labelled pair, by doc_id in code-point order."""
    rows = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    originals = [row for row in rows if "text" in row]
    others = [row["other"] for row in rows if "other" in row]
    documents: list[InputDocument] = []
    kinds: dict[Pair, str] = {}
    for number, row in enumerate(originals):
        name, text = row["name"], row["text"]
        other = others[number]
        start = (len(text) - PASTED) // 2
        middle = other.index("。") + 1
        variants = {
            "copy": _wrapped(text),
            "pasted": other[:middle] + text[start : start + PASTED] + other[middle:],
            "edited": _edited(text, row["edits"]),
            "paraphrased": row["paraphrase"],
            "unrelated": originals[(number + 1) % len(originals)]["paraphrase"],
        }
        metadata = {"doc_number": row["number"]} if row["number"] else {}
        documents.append(_document(f"{name}/original", text, metadata))
        for kind, variant in variants.items():
            if kind == "unrelated":  # already there as the paraphrase of the next original
                other_name = originals[(number + 1) % len(originals)]["name"]
                kinds[_pair(f"{name}/original", f"{other_name}/paraphrased")] = kind
                continue
            own = metadata if kind == "edited" else {}
            documents.append(_document(f"{name}/{kind}", variant, own))
            kinds[_pair(f"{name}/original", f"{name}/{kind}")] = kind
    # One text of several lines and more than 500 characters, for the ways that shorter ones say nothing to.
    long = "\n".join(others)
    for kind, text in {
        "original": long,
        "copy": _wrapped(long),
        "edited": _edited(long, LONG),
    }.items():
        documents.append(_document(f"long/{kind}", text, {}))
        if kind != "original":
            kinds[_pair("long/original", f"long/{kind}")] = kind
    return documents, kinds


def _wrapped(text: str) -> str:
    return "\n".join(text[i : i + 38] for i in range(0, len(text), 38))


def _edited(text: str, edits: Sequence[Sequence[str]]) -> str:
    for old, new in edits:
        if text.count(old) != 1:
            raise ValueError(f"an edit of the sample does not fit: {old}")
        text = text.replace(old, new)
    return text


def _document(doc_id: str, raw: str, metadata: Mapping[str, str | None]) -> InputDocument:
    return InputDocument(doc_id, raw, hashlib.sha256(raw.encode()).hexdigest(), metadata=metadata)


def _pair(one: str, other: str) -> Pair:
    return (min(one, other), max(one, other))


def ways() -> dict[str, Callable[[Sequence[InputDocument]], Answer]]:
    """Every way of finding by name: the default run, each channel alone, fragments, windows of bytes, seen before."""
    found: dict[str, Callable[[Sequence[InputDocument]], Answer]] = {"default": _screened(None)}
    for name in KNOWN_CHANNELS:
        found[name] = _screened(name)
    found |= {"fragments": _fragments, "windows": _windows, "seen": _seen}
    return found


def _screened(channel: str | None) -> Callable[[Sequence[InputDocument]], Answer]:
    def way(documents: Sequence[InputDocument]) -> Answer:
        config = ScreeningConfig() if channel is None else ScreeningConfig(channels=(channel,))
        result = screen(documents, config, facts=False, threads=1)
        pairs = [
            _pair(documents[c.left].doc_id, documents[c.right].doc_id) for c in result.candidates
        ]
        counts = dict(result.funnel["channels"].get(channel, {})) if channel == "bloom" else {}
        return Answer(tuple(sorted(pairs)), counts)

    return way


def _fragments(documents: Sequence[InputDocument]) -> Answer:
    pairs = set()
    fragments = find_fragments(documents)
    for fragment in fragments:
        ids = sorted({documents[p.document].doc_id for p in fragment.places})
        pairs |= {(a, b) for n, a in enumerate(ids) for b in ids[n + 1 :]}
    return Answer(tuple(sorted(pairs)), {"fragments": len(fragments)})


def _windows(documents: Sequence[InputDocument]) -> Answer:
    """Originals as a test set against everything else, as a run with references compares them."""
    roles = [
        replace(d, role="reference" if d.doc_id.endswith("/original") else "subject")
        for d in documents
    ]
    reports = leak_report(roles)
    pairs = {
        _pair(documents[r.item].doc_id, documents[leak.document].doc_id)
        for r in reports
        for leak in r.leaks
    }
    return Answer(tuple(sorted(pairs)), {"whole": sum(r.verdict == "whole" for r in reports)})


def _seen(documents: Sequence[InputDocument]) -> Answer:
    """A stream has no pairs: how many texts it had met before, exactly and nearly."""
    answers = list(SeenFilter.empty(capacity=len(documents), like=True).ask(documents, add=True))
    return Answer(
        (), {"seen": sum(bool(a.seen) for a in answers), "like": sum(bool(a.like) for a in answers)}
    )


def run_selfcheck(chosen: Ways | None = None) -> Iterator[WayRecord]:
    """Each way on the sample, one after the other; a way that cannot run says why and stops no other."""
    documents, kinds = sample()
    labelled = {kind: sum(k == kind for k in kinds.values()) for kind in KINDS}
    for name, way in (chosen or ways()).items():
        try:
            way(
                documents
            )  # compiles what is not compiled yet, so that the figures are of the work itself
            seconds, megabytes, answer = _measured(way, documents)
        except (
            Exception
        ) as error:  # a missing extra, a broken library: a row of the table, not an end
            yield WayRecord(
                name, {}, labelled, 0, {}, "", 0.0, 0.0, f"{type(error).__name__}: {error}"
            )
            continue
        have = set(answer.pairs)
        found = {kind: sum(p in have for p, k in kinds.items() if k == kind) for kind in KINDS}
        yield WayRecord(
            name,
            found,
            labelled,
            len(answer.pairs),
            dict(answer.counts),
            _digest(answer),
            seconds,
            megabytes,
        )


def _measured(
    way: Callable[[Sequence[InputDocument]], Answer], documents: Sequence[InputDocument]
) -> tuple[float, float, Answer]:
    """CPU seconds of one run, peak megabytes (Python and numpy) of a second one, and the answer."""
    start = time.process_time()
    answer = way(documents)
    seconds = time.process_time() - start
    tracemalloc.start()
    try:
        way(documents)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return seconds, peak / MEGABYTE, answer


def _digest(answer: Answer) -> str:
    text = json.dumps([answer.pairs, dict(sorted(answer.counts.items()))], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def drifts(accepted: Sequence[WayRecord], now: Sequence[WayRecord]) -> list[Drift]:
    """Results that are not the accepted ones. A way that the accepted record does not know is no drift."""
    known = {record.way: record for record in now}
    found: list[Drift] = []
    for old in accepted:
        new = known.get(old.way)
        if new is None:
            found.append(Drift(old.way, "missing", "", ""))
        elif bool(new.error) != bool(old.error):
            found.append(Drift(old.way, "error", old.error, new.error))
        elif not new.error:
            found += _differences(old, new)
    return found


def _differences(old: WayRecord, new: WayRecord) -> Iterator[Drift]:
    said = False
    for kind in KINDS:
        if old.found.get(kind) != new.found.get(kind):
            said = True
            yield Drift(old.way, kind, old.found.get(kind), new.found.get(kind))
    if old.pairs != new.pairs:
        said = True
        yield Drift(old.way, "pairs", old.pairs, new.pairs)
    for name in sorted({*old.counts, *new.counts}):
        if old.counts.get(name) != new.counts.get(name):
            said = True
            yield Drift(old.way, name, old.counts.get(name), new.counts.get(name))
    if not said and old.digest != new.digest:
        yield Drift(old.way, "other_pairs", old.pairs, new.pairs)
