"""What a screening run does: one frozen value with presets, canonical JSON and a fingerprint."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from importlib.metadata import version
from math import isfinite
from typing import Any, Literal

from screening.documents import InputDocument
from screening.text.normalise import NormaliseOptions
from screening.text.table import Keep

DEFAULT_CHANNELS: tuple[str, ...] = ("exact", "doc_number", "minhash", "passages", "templates")
"""The channels of a run that names none."""

CHANNELS: tuple[str, ...] = (*DEFAULT_CHANNELS, "simhash", "lines")
"""The channels that make pairs with what is always installed, in the order in which a candidate names them."""

KNOWN_CHANNELS: tuple[str, ...] = (*CHANNELS, "semantic", "bloom")
"""Every channel: ``semantic`` needs the extra of that name or a file of word vectors, ``bloom`` counts and never pairs."""

SHINGLE_HASH = "mix64-high32/1"
"""Name and version of the recorded shingle hash; a change makes new fingerprints."""

Unit = Literal["char", "word"]


class ConfigError(ValueError):
    """A configuration that cannot run; ``template`` is the translation key, ``params`` fill it."""

    def __init__(self, template: str, **params: object) -> None:
        self.template = template
        self.params = params
        super().__init__(template % params)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Documents with their own threshold or normalisation.

    ``field`` is ``source_id``, ``language`` or ``doc_type``; a pair across strata uses the lower threshold. The first
    stratum that fits a document counts.
    """

    field: str
    value: str
    threshold: float | None = None
    keep: Keep | None = None


@dataclass(frozen=True, slots=True)
class ScreeningConfig:
    """One configuration of the engine; defaults are those of the documentation.

    ``skip_layout``: short lines that repeat three times or more within a text take no part in matching; raw keeps them.
    ``k`` is the window in ``unit``; ``dynamic_k`` replaces it by length, as ((below, k), ..., (0, k)) over normalised
    characters, 0 meaning no bound. ``bands`` and ``rows`` are datasketch's choice for threshold and weights unless
    both are given. ``exhaustive`` scores every pair. ``exact_below``: collections of at most so many texts are
    compared signature by signature, so that banding loses nothing. Templates: ``template_share`` of the shorter text,
    and ``template_least`` characters or two fifths of it, lie under grams of at most ``template_cap`` texts, and shared runs
    average ``template_run`` characters: common turns of phrase scattered over long texts are no form.
    ``simhash_distance``: bits, 3 to 6, for candidates and reports alike; 0 takes both from the length of the texts.
    ``simhash_weights``: what a word weighs. ``line_times``: a line that stands more often in a source is boilerplate;
    rarer ones of ``line_least`` characters in all make a pair.
    ``semantic_model``: a name or the path of a file of word vectors; ``semantic_threshold`` 0 is that of the model.
    ``bloom_error``: share of wrong yeses, with ``bloom_hashes``. ``across_only``: pairs of a subject and a reference only.
    ``gram_bytes``: of a window in the leak report of a run with references.
    """

    preset_name: str = "default"
    channels: tuple[str, ...] = DEFAULT_CHANNELS
    keep: Keep = "alphanumeric"
    casefold: bool = True
    skip_layout: bool = False
    fold_script: bool = True
    unit: Unit = "char"
    k: int = 3
    dynamic_k: tuple[tuple[int, int], ...] = ()
    stop_words: tuple[str, ...] = ()
    num_perm: int = 128
    seed: int = 1
    scheme: str = "affine32"
    threshold: float = 0.5
    weights: tuple[float, float] = (0.2, 0.8)
    bands: int = 0
    rows: int = 0
    exact_below: int = 2000
    bucket_cap: int = 200
    passage_length: int = 32
    passage_cap: int = 100
    template_gram: int = 12
    template_cap: int = 100
    template_share: float = 0.15
    template_least: int = 32
    template_run: int = 16
    family_size: int = 4
    simhash_distance: int = 0
    simhash_weights: Literal["frequency", "tfidf"] = "frequency"
    line_times: int = 6
    line_least: int = 24
    semantic_model: str = "use-m3"
    semantic_threshold: float = 0.0
    bloom_error: float = 0.001
    bloom_hashes: int = 10
    across_only: bool = False
    gram_bytes: int = 45
    exhaustive: bool = False
    strata: tuple[Stratum, ...] = field(default=())

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def preset(cls, name: str) -> ScreeningConfig:
        """A named configuration: ``default``, ``seed64`` (the article's), ``dynamic`` or ``words``."""
        if name not in PRESETS:
            raise ConfigError(
                "Unknown preset %(name)s; there are %(known)s.", name=name, known=", ".join(PRESETS)
            )
        return cls(preset_name=name, **PRESETS[name])

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ScreeningConfig:
        """The inverse of :meth:`to_dict`; a ``preset`` (or ``preset_name``) fills what is not given."""
        given = dict(values)
        name = given.pop("preset", None) or given.pop("preset_name", None) or "default"
        given.pop("preset_name", None)
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise ConfigError("Unknown setting: %(names)s.", names=", ".join(unknown))
        return replace(cls.preset(str(name)), **{key: _typed(key, v) for key, v in given.items()})

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, every setting present."""
        result: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return result

    @property
    def banding(self) -> tuple[int, int]:
        """(bands, rows) of the MinHash join."""
        if self.bands and self.rows:
            return self.bands, self.rows
        if (
            self.threshold >= 1.0
        ):  # datasketch refuses: one band of all rows finds exactly the equal sets
            return 1, self.num_perm
        return _datasketch_banding(self.threshold, self.num_perm, self.weights)

    @property
    def normalise_options(self) -> NormaliseOptions:
        """The normalisation of documents outside every stratum."""
        return NormaliseOptions(
            keep=self.keep, casefold=self.casefold, skip_layout=self.skip_layout
        )

    @property
    def signature_rules(self) -> dict[str, Any]:
        """Everything that decides a signature, in JSON values."""
        rules: dict[str, Any] = {
            "casefold": self.casefold,
            "datasketch": version("datasketch"),
            "dynamic_k": [list(step) for step in self.dynamic_k],
            "fold_script": version("OpenCC") if self.fold_script else None,
            "k": self.k,
            "keep": self.keep,
            "num_perm": self.num_perm,
            "scheme": self.scheme,
            "seed": self.seed,
            "shingle_hash": SHINGLE_HASH,
            "strata": [[s.field, s.value, s.keep] for s in self.strata if s.keep],
            "unicode": unicodedata.unidata_version,
            "unit": self.unit,
        }
        if self.skip_layout:
            rules["skip_layout"] = "short lines that repeat/1"
        if self.unit == "word":
            from screening.text.words import word_rules

            rules["words"] = word_rules(self.stop_words)
        return rules

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the canonical JSON of :attr:`signature_rules`; keys every cached signature."""
        text = json.dumps(
            self.signature_rules, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        return hashlib.sha256(text.encode()).hexdigest()


PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "seed64": {
        "channels": ("exact", "minhash"),
        "fold_script": False,
        "num_perm": 64,
        "bands": 16,
        "rows": 4,
    },
    "dynamic": {"dynamic_k": ((200, 3), (2000, 5), (0, 7))},
    "words": {"unit": "word", "k": 2},
}
"""The named configurations, as differences from the defaults."""


BANDINGS = {(0.5, 128, (0.2, 0.8)): (30, 4)}
"""What datasketch chooses for the defaults, so that most runs need not load SciPy for it; a test compares the two."""


@lru_cache(maxsize=64)
def _datasketch_banding(
    threshold: float, num_perm: int, weights: tuple[float, float]
) -> tuple[int, int]:
    if known := BANDINGS.get((threshold, num_perm, weights)):
        return known
    from datasketch import MinHashLSH

    try:
        lsh = MinHashLSH(threshold=threshold, num_perm=num_perm, weights=weights)
    except (
        ValueError
    ):  # too few bands for a threshold near 1: the strictest banding still finds equal sets
        return 2, max(1, num_perm // 2)
    return int(lsh.b), int(lsh.r)


def stratum_value(document: InputDocument, field: str) -> str | None:
    """The value by which a document belongs to a stratum of ``field``."""
    return document.source_id if field == "source_id" else document.metadata.get(field)


def _typed(key: str, value: Any) -> Any:
    """A value of JSON as the dataclass has it: lists as tuples, and of the kind that the default is of."""
    if key == "stop_words" and value == "default":
        from screening.text.words import STOP_WORDS

        return STOP_WORDS
    default = next(f.default for f in fields(ScreeningConfig) if f.name == key)
    value = tuple(value) if isinstance(value, list) else value
    if key == "strata":
        _must(isinstance(value, tuple), key, value)
        return tuple(s if isinstance(s, Stratum) else _stratum(s) for s in value)
    if key == "dynamic_k":
        _must(isinstance(value, tuple) and all(_is_step(step) for step in value), key, value)
        return tuple((int(below), int(k)) for below, k in value)
    if key == "weights":
        numbers = isinstance(value, tuple) and all(_kind(w) in ("whole", "number") for w in value)
        _must(numbers and len(value) == 2, key, value)
    elif isinstance(default, tuple):
        _must(isinstance(value, tuple) and all(isinstance(v, str) for v in value), key, value)
    else:
        fits = _kind(value) == _kind(default) or (_kind(default) == "number" and _whole(value))
        _must(fits, key, value)
    return value


def _must(fits: bool, key: str, value: object) -> None:
    if not fits:
        raise ConfigError(
            "%(key)s cannot be %(value)s.", key=key, value=json.dumps(value, default=str)[:80]
        )


def _kind(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return type(value).__name__
    if isinstance(value, float) and not isfinite(value):
        return "no number"
    return "whole" if isinstance(value, int) and abs(value) < 2**32 else "number"


def _whole(value: object) -> bool:
    return _kind(value) == "whole"


def _is_step(step: object) -> bool:
    return isinstance(step, list | tuple) and len(step) == 2 and all(_whole(n) for n in step)


def _stratum(value: Mapping[str, Any]) -> Stratum:
    try:
        return Stratum(**value)
    except TypeError as error:
        raise ConfigError(
            "A stratum has field, value, threshold and keep: %(value)s.", value=str(value)[:80]
        ) from error


def _check(c: ScreeningConfig) -> None:
    """Refuse, in words, what could not run."""
    if not c.channels:
        raise ConfigError(
            "Name at least one channel; there are %(known)s.", known=", ".join(KNOWN_CHANNELS)
        )
    for name in c.channels:
        if name not in KNOWN_CHANNELS:
            raise ConfigError(
                "Unknown channel %(name)s; there are %(known)s.",
                name=name,
                known=", ".join(KNOWN_CHANNELS),
            )
    thresholds = [c.threshold, *(s.threshold for s in c.strata if s.threshold is not None)]
    if not all(isinstance(t, int | float) and 0 < t <= 1 for t in thresholds):
        raise ConfigError("A threshold lies above 0 and at most at 1.")
    if c.scheme != "affine32":
        raise ConfigError(
            "Unknown permutation scheme %(scheme)s; this engine has affine32.", scheme=c.scheme
        )
    if not 1 <= c.k <= 64 or any(not 1 <= k <= 64 for _, k in c.dynamic_k):
        raise ConfigError("k lies between 1 and 64.")
    if c.unit not in ("char", "word") or c.keep not in ("alphanumeric", "whitespace_only", "signs"):
        raise ConfigError("Unknown unit or normalisation.")
    if c.dynamic_k and (c.unit == "word" or c.dynamic_k[-1][0] != 0):
        raise ConfigError("Lengths for k end with a step without bound (0) and are for characters.")
    if not 2 <= c.num_perm <= 1024:
        raise ConfigError("The number of permutations lies between 2 and 1024.")
    if bool(c.bands) != bool(c.rows):
        raise ConfigError("Give bands and rows together, or neither.")
    if c.bands and (c.bands < 0 or c.rows < 0 or c.bands * c.rows > c.num_perm):
        raise ConfigError(
            "%(bands)s bands of %(rows)s rows need %(need)s permutations; there are %(have)s.",
            bands=c.bands,
            rows=c.rows,
            need=c.bands * c.rows,
            have=c.num_perm,
        )
    if c.rows and c.num_perm % c.rows:
        raise ConfigError(
            "%(have)s permutations cannot be divided into bands of %(rows)s rows.",
            have=c.num_perm,
            rows=c.rows,
        )
    if c.passage_length < 16 or c.passage_cap < 100 or c.template_cap < 2 or c.bucket_cap < 2:
        raise ConfigError(
            "Passages have 16 characters or more; the cap on their documents is 100 or more."
        )
    if c.simhash_distance not in (0, 3, 4, 5, 6) or c.simhash_weights not in ("frequency", "tfidf"):
        raise ConfigError(
            "A SimHash distance is 3 to 6, or 0 for that of the length; weights are frequency or tfidf."
        )
    if c.line_times < 1 or c.line_least < 1:
        raise ConfigError("Lines are counted from one time and one character on.")
    if not 0 <= c.semantic_threshold <= 1:
        raise ConfigError("A cosine threshold lies between 0 and 1; 0 is that of the model.")
    if not 8 <= c.gram_bytes <= 4096:
        raise ConfigError("A window has 8 to 4096 bytes.")
    if not 0 < c.bloom_error < 1 or not 1 <= c.bloom_hashes <= 64:
        raise ConfigError("A Bloom filter has an error between 0 and 1 and 1 to 64 hashes.")
    for s in c.strata:
        if s.field not in ("source_id", "language", "doc_type"):
            raise ConfigError(
                "A stratum is by source_id, language or doc_type, not %(field)s.", field=s.field
            )
