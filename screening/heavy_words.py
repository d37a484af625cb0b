"""The fingerprints of a candidate's texts and the words that decide most of them, computed when somebody looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from screening.channels.simhash import Fingerprint, describe
from screening.config import ConfigError, ScreeningConfig, stratum_value
from screening.documents import InputDocument
from screening.text.folding import fold
from screening.text.normalise import code_points, from_code_points, normalise

LONGEST = 200_000
"""Characters above which a text is not split into words for a page: it would take a second."""


def fingerprints(
    documents: Sequence[InputDocument], settings: dict[str, object]
) -> list[Fingerprint]:
    """One for each document, under the configuration of its run; none where SimHash was off or a text is too long."""
    try:
        config = ScreeningConfig.from_dict(settings)
    except (ConfigError, TypeError, ValueError):  # a run of another version of the engine
        return []
    if "simhash" not in config.channels or any(len(d.raw) > LONGEST for d in documents):
        return []
    return [describe(_matching_copy(d, config), config) for d in documents]


def _matching_copy(document: InputDocument, config: ScreeningConfig) -> str:
    """The text as the run compared it."""
    options = config.normalise_options
    for stratum in config.strata:
        if stratum.keep and stratum_value(document, stratum.field) == stratum.value:
            options = replace(options, keep=stratum.keep)
            break
    text = normalise(document.raw, options).text
    return from_code_points(fold(code_points(text))) if config.fold_script else text
