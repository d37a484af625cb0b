"""Documents in, candidates out: the order of the stages. The command, the jobs and Spark all call :func:`screen`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from screening import beside, kernels
from screening.channels import (
    Hits,
    Pairs,
    doc_number,
    exact,
    join,
    no_pairs,
    passages,
    simhash,
    split,
    templates,
)
from screening.collecting import no_collection
from screening.columns import EXCERPTS
from screening.config import ConfigError, ScreeningConfig, stratum_value
from screening.documents import InputDocument, Refusal
from screening.funnel import Funnel, manifest
from screening.growing import Kept, keep, kept_of, pack_grown
from screening.library import Library
from screening.matching import Matcher
from screening.ranking import rank_pairs
from screening.readings import read_changes, readers
from screening.result import CHANNEL_BITS, PairTable, ScreeningResult, TextPairs
from screening.store import Store
from screening.suggest import suggest
from screening.text.corpus import Corpus, pack
from screening.text.normalise import NormaliseOptions

Progress = Callable[[str, int, int], None]
Meanwhile = Callable[[ScreeningResult], Iterable[object]]

STAGES: tuple[str, ...] = (
    "normalise",
    "certain",
    "sign",
    "approximate",
    "measure",
    "rank",
    "facts",
)
"""Names of the stages in order, as reported to ``progress``."""

EXHAUSTIVE_LIMIT = 3000
"""Texts of which all pairs are still scored; more would be millions of lines that nobody reads."""

MEASURE_STEP = 25_000
"""Pairs that a thread measures at a time."""


class Cancelled(Exception):
    """The caller asked the run to stop."""


class Run:
    """What the stages of one run share: configuration, threads, progress and cancelling."""

    def __init__(
        self,
        config: ScreeningConfig,
        progress: Progress | None,
        cancelled: Callable[[], bool] | None,
        threads: int,
    ) -> None:
        self.config = config
        self.threads = threads
        self._progress = progress
        self._cancelled = cancelled

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell the caller how far a stage is; raises :class:`Cancelled` when asked to stop."""
        self.go_on(stage)
        if self._progress is not None:
            self._progress(stage, done, total)

    def go_on(self, stage: str) -> None:
        """Raises :class:`Cancelled` when asked to stop."""
        if self._cancelled is not None and self._cancelled():
            raise Cancelled(stage)


@no_collection()
def screen(
    documents: Sequence[InputDocument],
    config: ScreeningConfig,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    cache: Store | None = None,
    refusals: Sequence[Refusal] = (),
    facts: bool = True,
    threads: int | None = None,
    meanwhile: Meanwhile | None = None,
    library: Library | None = None,
) -> ScreeningResult:
    """Find, verify, measure and rank the candidate pairs of ``documents``.

    The result does not depend on the order of the documents, on ``threads`` (default: the processors) or on what
    ``cache`` holds. ``refusals`` are passed on into the files of the run. ``facts=False`` leaves out fact changes.
    ``meanwhile`` is given the result before it has facts and suggestions, and its steps are taken while facts are read.
    ``library``: confirmed templates, which weigh nothing in the ranks.
    Raises :class:`Cancelled` when ``cancelled()`` turns true, :class:`ConfigError` where an exhaustive run is too large.
    """
    run = Run(config, progress, cancelled, threads or os.cpu_count() or 1)
    kept = kept_of(cache, config)
    run.report("normalise", 0, len(documents))
    corpus = _packed(documents, run, kept)
    matcher = Matcher(corpus, config, run.threads, kept)
    funnel = Funnel(corpus, refusals)
    same, numbered = _certain(corpus, run, funnel)
    others = beside.find(corpus, config, run.report, run.threads)
    others.forms = templates.mask(corpus, library)
    with readers(corpus, run.threads if facts else 0) as processes:
        texts = _approximate(corpus, matcher, numbered, others, run, funnel)
        if cache is not None and kept is not None:
            keep(cache, config, kept, corpus, matcher)
        table = _expand(corpus, texts, same, numbered, others, config, funnel)
        run.report("rank", 0, len(table))
        table = rank_pairs(corpus, texts, table, config, others.forms)
        result = ScreeningResult(
            config=config,
            documents=documents,
            corpus=corpus,
            matcher=matcher,
            texts=texts,
            table=table,
            facts=[],
            funnel=funnel.close(table),
            left_out=funnel.left_out,
            refusals=refusals,
            beside=others,
        )
        steps = chain(_recorded(result), meanwhile(result) if meanwhile is not None else ())
        if facts:
            result.facts = read_changes(corpus, texts, table, run.report, processes, steps)
    for _ in steps:  # what did not fit into the reading
        run.go_on("facts")
    table.hint = suggest(corpus, texts, table, result.facts)
    return result


def _recorded(result: ScreeningResult) -> Iterator[None]:
    """Give the result its record, in one step."""
    result.manifest = manifest(result.corpus, result.config)
    result.beside.record(result.manifest, result.corpus, result.config)
    yield


def _packed(documents: Sequence[InputDocument], run: Run, kept: Kept | None) -> Corpus:
    """The normalised texts; those that an earlier run kept are taken over."""

    def tick(done: int, total: int) -> None:
        run.report("normalise", done, total)

    if kept is not None and kept.parts:
        return pack_grown(documents, run.config, kept, threads=run.threads, tick=tick)
    plain = run.config.normalise_options
    return pack(
        documents,
        lambda d: _options(run.config, d, plain),
        folding=run.config.fold_script,
        threads=run.threads,
        tick=tick,
    )


def _options(
    config: ScreeningConfig, document: InputDocument, plain: NormaliseOptions
) -> NormaliseOptions:
    """The normalisation of a document: that of the first stratum it belongs to, else ``plain``."""
    for stratum in config.strata:
        if stratum.keep and stratum_value(document, stratum.field) == stratum.value:
            return replace(plain, keep=stratum.keep)
    return plain


def _certain(corpus: Corpus, run: Run, funnel: Funnel) -> tuple[Pairs, Pairs]:
    """Pairs of documents that need no estimate: equal texts, equal document numbers."""
    run.report("certain", 0, len(corpus.documents))
    same, numbered = Hits(no_pairs()), Hits(no_pairs())
    if "exact" in run.config.channels:
        same = exact.find(corpus, run.config.bucket_cap)
        funnel.add("exact", same, len(same.pairs))
    if "doc_number" in run.config.channels:
        numbered = doc_number.find(corpus, run.config.bucket_cap)
        funnel.add("doc_number", numbered, len(numbered.pairs))
    return same.pairs, numbered.pairs


def _approximate(
    corpus: Corpus,
    matcher: Matcher,
    numbered: Pairs,
    others: beside.Beside,
    run: Run,
    funnel: Funnel,
) -> TextPairs:
    """Pairs of distinct texts by signatures, passages and templates; measured, scored, kept where a rule holds."""
    config = run.config
    required = _text_pairs(corpus, numbered)
    if config.exhaustive:
        required = _all_pairs(corpus.size)
    hits, spread = _hits(corpus, matcher, run)
    found = np.unique(
        np.concatenate(
            [_text_pairs(corpus, numbered), others.pairs(), *(h.pairs for h in hits.values())]
        )
    )
    found = _askable(corpus, found, config.across_only)
    unmeasured = np.concatenate((required, hits["minhash"].pairs, others.holding()))
    texts = _measure(corpus, found, spread, run, keep=np.unique(unmeasured))
    if config.exhaustive:
        texts = _with_rest(texts, required)
    texts.scores = matcher.score(texts.low, texts.high)
    if "minhash" in config.channels:
        texts.flags[matcher.reaches(texts.low, texts.high, texts.scores)] |= CHANNEL_BITS["minhash"]
    others.flag(texts.low, texts.high, texts.flags, CHANNEL_BITS)
    for name in (*hits, *others.hits):
        if name in config.channels:
            found_here = hits.get(name) or others.hits[name]
            funnel.add(name, found_here, int((texts.flags & CHANNEL_BITS.get(name, 0) > 0).sum()))
    texts = texts.select((texts.flags > 0) | np.isin(join(texts.low, texts.high), required))
    if others.near is not None:
        others.near.compare(corpus, texts.low, texts.high, run.threads)
    return texts


def _hits(corpus: Corpus, matcher: Matcher, run: Run) -> tuple[dict[str, Hits], NDArray[np.uint8]]:
    """What the channels over texts propose, and in how many texts each gram stands.

    Templates are mostly one long sort, which a thread does while the others are looked for.
    """
    config = run.config
    hits = {name: Hits(no_pairs()) for name in ("minhash", "passages", "templates")}
    spread = np.empty(0, dtype=np.uint8)
    with ThreadPoolExecutor(1) as pool:
        forms = pool.submit(_forms, corpus, run) if "templates" in config.channels else None
        if "minhash" in config.channels:
            run.report("sign", 0, corpus.size)
            matcher.sign()
            run.report("approximate", 0, 3)
            hits["minhash"] = matcher.find()
        if "passages" in config.channels:
            run.report("approximate", 1, 3)
            hits["passages"] = passages.find(
                corpus, length=config.passage_length, cap=config.passage_cap, threads=run.threads
            )
        if forms is not None:
            run.report("approximate", 2, 3)
            hits["templates"], spread = forms.result()
    return hits, spread


def _forms(corpus: Corpus, run: Run) -> tuple[Hits, NDArray[np.uint8]]:
    config = run.config
    return templates.find(
        corpus,
        gram=config.template_gram,
        cap=config.template_cap,
        share=config.template_share,
        least=config.template_least,
        threads=run.threads,
    )


def _text_pairs(corpus: Corpus, pairs: Pairs) -> Pairs:
    """Pairs of documents as pairs of distinct texts."""
    left, right = split(pairs)
    low, high = corpus.class_of[left].astype(np.int64), corpus.class_of[right].astype(np.int64)
    both = (low != high) & (low >= 0) & (high >= 0)
    return np.unique(join(low[both], high[both]))


def _askable(corpus: Corpus, pairs: Pairs, across_only: bool) -> Pairs:
    """Without the pairs of texts that only reference documents have; with ``across_only`` one of either side."""
    if corpus.has_subject.all() and not across_only:
        return pairs
    low, high = split(pairs)
    subject = corpus.has_subject
    if not across_only:
        return pairs[subject[low] | subject[high]]
    reference = np.zeros(corpus.size, dtype=bool)
    reference[corpus.class_of[~corpus.is_subject & (corpus.class_of >= 0)]] = True
    return pairs[(subject[low] & reference[high]) | (reference[low] & subject[high])]


def _all_pairs(count: int) -> Pairs:
    if count > EXHAUSTIVE_LIMIT:
        raise ConfigError(
            "An exhaustive run takes at most %(limit)s different texts; there are %(count)s.",
            limit=EXHAUSTIVE_LIMIT,
            count=count,
        )
    low, high = np.triu_indices(count, 1)
    return join(low.astype(np.int64), high.astype(np.int64))


def _measure(
    corpus: Corpus, pairs: Pairs, spread: NDArray[np.uint8], run: Run, keep: Pairs
) -> TextPairs:
    """Shared runs of every pair; pairs that no rule holds for are dropped at once unless they are in ``keep``."""
    steps = [pairs[start : start + MEASURE_STEP] for start in range(0, len(pairs), MEASURE_STEP)]

    def measure(some: Pairs) -> TextPairs:
        part = _measure_some(corpus, some, spread, run.config)
        return part.select((part.flags > 0) | _among(some, keep))

    parts = [TextPairs.none()]
    with ThreadPoolExecutor(run.threads) as pool:
        futures = [pool.submit(measure, some) for some in steps]
        try:
            for number, future in enumerate(futures):
                run.report("measure", min(number * MEASURE_STEP, len(pairs)), len(pairs))
                parts.append(future.result())
        finally:
            for future in futures:
                future.cancel()
    return TextPairs.concatenate(parts)


def _among(pairs: Pairs, rising: Pairs) -> NDArray[np.bool_]:
    """Which of ``pairs`` stand in ``rising``, which is sorted: for one much longer than ``pairs``."""
    if not len(rising):
        return np.zeros(len(pairs), dtype=bool)
    at = np.minimum(np.searchsorted(rising, pairs), len(rising) - 1)
    found: NDArray[np.bool_] = rising[at] == pairs
    return found


def _measure_some(
    corpus: Corpus, pairs: Pairs, spread: NDArray[np.uint8], config: ScreeningConfig
) -> TextPairs:
    texts = TextPairs.blank(pairs)
    kernels.measure_pairs(
        corpus.folded,
        corpus.bounds,
        texts.low,
        texts.high,
        spread,
        config.template_cap,
        config.template_gram,
        EXCERPTS,
        0,
        len(pairs),
        texts.measures,
        texts.runs,
    )
    if "passages" in config.channels:
        texts.flags[texts.measures[:, 0] >= config.passage_length] |= CHANNEL_BITS["passages"]
    if "templates" in config.channels:
        lengths = corpus.lengths
        shorter = np.minimum(lengths[texts.low], lengths[texts.high])
        needed = np.maximum(
            config.template_share * shorter, np.minimum(config.template_least, 0.4 * shorter)
        )
        whole = texts.measures[:, 1] >= config.template_run * texts.measures[:, 3]
        texts.flags[(texts.measures[:, 4] >= needed) & whole] |= CHANNEL_BITS["templates"]
    return texts


def _with_rest(texts: TextPairs, pairs: Pairs) -> TextPairs:
    """The measured pairs and, unmeasured, the rest of ``pairs``, in order."""
    rest = np.setdiff1d(pairs, join(texts.low, texts.high))
    both = TextPairs.concatenate([texts, TextPairs.blank(rest)])
    return both.select(np.argsort(join(both.low, both.high), kind="stable"))


def _expand(
    corpus: Corpus,
    texts: TextPairs,
    same: Pairs,
    numbered: Pairs,
    others: beside.Beside,
    config: ScreeningConfig,
    funnel: Funnel,
) -> PairTable:
    """Pairs of documents: all members of a pair of texts, then what only the certain channels know."""
    cap = config.bucket_cap * config.bucket_cap
    none = np.empty(0, dtype=np.int64)
    arguments = (texts.low, texts.high, corpus.members, corpus.member_bounds, cap)
    count, above = kernels.expand_pairs(*arguments, False, none, none, none)
    left, right, source = (np.empty(count, dtype=np.int64) for _ in range(3))
    kernels.expand_pairs(*arguments, True, left, right, source)
    funnel.large_products(above, cap)
    flags = texts.flags[source].astype(np.uint16)
    pairs = join(left, right)
    flags[np.isin(pairs, numbered)] |= CHANNEL_BITS["doc_number"]
    if (
        not config.exhaustive
    ):  # a pair of texts kept only for a document number concerns only documents that bear it
        bearing = flags > 0
        left, right, source, flags = left[bearing], right[bearing], source[bearing], flags[bearing]
    equal_left, equal_right = split(same)
    equal_flags = np.full(len(same), CHANNEL_BITS["exact"], dtype=np.uint16)
    equal_flags[np.isin(same, numbered)] |= CHANNEL_BITS["doc_number"]
    if "minhash" in config.channels and len(same):
        shingled = corpus.lengths[corpus.class_of[equal_left]] >= config.k
        equal_flags[shingled] |= CHANNEL_BITS["minhash"]
    if others.near is not None and len(same):
        proposing = corpus.lengths[corpus.class_of[equal_left]] >= simhash.PRIMARY
        printed = others.near.present[corpus.class_of[equal_left]] & proposing
        equal_flags[printed] |= CHANNEL_BITS["simhash"]
    left = np.concatenate((equal_left, left))
    right = np.concatenate((equal_right, right))
    source = np.concatenate((np.full(len(same), -1, dtype=np.int64), source))
    flags = np.concatenate((equal_flags, flags))
    subject = corpus.is_subject
    asked = subject[left] | subject[right]
    if config.across_only:
        asked = subject[left] != subject[right]
    left, right, source, flags = left[asked], right[asked], source[asked], flags[asked]
    return PairTable(
        left,
        right,
        source,
        flags,
        np.ones(len(left), dtype=bool),
        np.zeros(len(left), dtype=np.uint8),
        np.zeros(len(left), dtype=np.uint8),
    )
