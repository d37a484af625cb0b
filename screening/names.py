"""What people call channels, stages, kinds of facts and the files of a run."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

PRESET_WORDS = {
    "default": (
        _("Usual"),
        _(
            "Right for articles, notices and pages of any length. Finds copies, revisions, citations and templates."
        ),
    ),
    "dynamic": (
        _("Short and long texts mixed"),
        _("Longer windows for longer texts, so that common phrases of long texts weigh less."),
    ),
    "words": (
        _("By words"),
        _(
            "Compares words in place of characters, for texts in which the choice of words matters most."
        ),
    ),
    "seed64": (
        _("As in the article"),
        _(
            "64 permutations, 16 bands of 4 rows, triples of characters, nothing else. For checking published figures."
        ),
    ),
}
"""Name and plain words of each preset, in the order in which they are offered."""

CHANNEL_NAMES = {
    "exact": _("Equal texts"),
    "doc_number": _("Same document number"),
    "minhash": _("Similar as a whole"),
    "passages": _("Shared passages"),
    "templates": _("Same form"),
    "lines": _("Repeated lines"),
    "simhash": _("Near fingerprint"),
    "bloom": _("Seen before"),
    "semantic": _("Similar meaning"),
}

CHANNEL_ADVICE = {
    "simhash": _(
        "For long texts whose wording hardly changed: how many bits the fingerprints differ in, with the exact ratio of the texts. Not for texts below 500 characters."
    ),
    "lines": _(
        "For pages of websites: names the lines that a source repeats more than six times, and finds texts that share rarer lines."
    ),
    "semantic": _(
        "For short texts about events, where paraphrase is the question. Needs the extra of that name; the weakest evidence, listed last."
    ),
    "bloom": _(
        "Counts how many texts and paragraphs stand in an earlier text too, for the figures of the run. Makes no pair."
    ),
}
"""When to switch on a channel that is off by default; these are offered beside the preset."""

STAGE_NAMES = {
    "read": _("Reading the texts"),
    "normalise": _("Normalising"),
    "certain": _("Looking for equal texts"),
    "sign": _("Computing signatures"),
    "approximate": _("Looking for similar texts and shared passages"),
    "semantic": _("Reading what the texts mean"),
    "measure": _("Comparing the pairs exactly"),
    "rank": _("Ranking"),
    "facts": _("Reading changed facts"),
    "write": _("Writing the files"),
    "publish": _("Listing the candidates"),
}

FACT_NAMES = {
    "date": _("Date"),
    "number": _("Number"),
    "frequency": _("How often"),
    "duration": _("Time limit"),
    "money": _("Money"),
    "unit": _("Unit"),
    "percent": _("Percentage"),
    "document_number": _("Document number"),
    "article_number": _("Article number"),
    "negation": _("Negation"),
    "modality": _("May or must"),
    "condition": _("Condition"),
    "conclusion": _("Conclusion"),
    "reference": _("Reference"),
    "body": _("Body"),
    "style": _("Way of writing"),
}

NOTE_WORDS = {
    "equal_copies": _("further equal copies of a pair that is asked"),
    "large_family": _("one of a large family of which the informative pairs are asked"),
    "same_passage": _("shares the same passage as many others"),
}

FILE_WORDS = {
    "run.json": _("configuration, versions, inputs with their hashes, funnel"),
    "originals.csv": _("list of the originals"),
    "normalized.jsonl": _("normalized copies"),
    "candidates.jsonl": _("every candidate pair with its evidence"),
    "thresholds.csv": _("record of thresholds"),
    "review_table.csv": _("table for reviewing by hand"),
    "leaks.csv": _("for every item of the reference collection: where it stands in these texts"),
    "leaks.jsonl": _("the same with all texts of every item, for programs"),
}

VERDICT_WORDS = {
    "whole": _("there whole"),
    "part": _("there in part"),
    "like": _("alike, found by a channel only"),
    "none": _("not found"),
    "too_short": _("too short to be looked up"),
    "empty": _("nothing to compare"),
}
"""What became of an item of a reference collection."""

WAY_NAMES = {
    "default": _("A usual run, all its channels"),
    "fragments": _("Repeated fragments (suffix array)"),
    "windows": _("Windows of bytes (reference sets)"),
    "seen": _("Seen before, on a stream"),
}
"""Ways of finding that are no channel of a run."""

KIND_WORDS = {
    "copy": _("pasted whole"),
    "pasted": _("pasted into another text"),
    "edited": _("edited in places"),
    "paraphrased": _("paraphrased"),
    "unrelated": _("unrelated"),
}
"""What was done to the originals of the self-check."""

DRIFT_WORDS = {
    **KIND_WORDS,
    "pairs": _("number of pairs"),
    "missing": _("the whole way"),
    "error": _("the error"),
    "other_pairs": _("other pairs of the same number, which"),
}


def way_name(way: str) -> object:
    """What people call a channel or another way of finding."""
    return WAY_NAMES.get(way) or CHANNEL_NAMES.get(way, way)
