"""The suggestion on labelled pairs, cross-validated by family, beside simpler rules; ``--write`` stores the numbers.

python -m tests.bench.bench_suggestion [--public FOLDER] [--write] [--own]
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from screening import suggest
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.evaluation import families
from screening.pipeline import screen
from screening.result import ScreeningResult
from tests.bench.own_pairs import Own, own_pairs

ROOT = Path(__file__).resolve().parents[2]
LABELS = ("copy", "revision", "citation", "template", "independent")
FIELDS = ("same_title", "other_version")
FOLDS, REPEATS, PENALTY = 10, 5, 1.0
OWN_SEEDS, LEARNED_SEEDS = (606, 607, 608), (1, 2)


def load(folder: Path) -> tuple[list[InputDocument], list[dict[str, Any]]]:
    """Documents and labelled pairs; ``unrelated`` means independent."""
    documents = []
    for line in (folder / "documents.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        raw = (folder / row["path"]).read_bytes().decode("utf-8")
        documents.append(
            InputDocument(
                row["doc_id"],
                raw,
                row["sha256"],
                source_id=row["source_id"],
                version=row["version"],
                title=row["title"],
                metadata={"doc_number": row["doc_number"]},
            )
        )
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text("utf-8").splitlines()]
    for pair in pairs:
        pair["label"] = {"unrelated": "independent"}.get(pair["label"], pair["label"])
    return documents, pairs


class Sample:
    """The labelled pairs: ``rows`` of features where the run lists the pair, -1 in ``place`` where it does not."""

    def __init__(self, folder: Path) -> None:
        documents, self.pairs = load(folder)
        result = screen(documents, ScreeningConfig())
        table = result.table
        start = time.process_time()
        values = suggest.features(result.corpus, result.texts, table, result.facts)
        suggest.classify(values)
        self.cost = (time.process_time() - start) / len(table)
        names = [d.doc_id for d in result.corpus.documents]
        rows = {
            frozenset((names[a], names[b])): n
            for n, (a, b) in enumerate(zip(table.left, table.right, strict=True))
        }
        places = [rows.get(frozenset((p["left"], p["right"])), -1) for p in self.pairs]
        self.place = np.array(places)
        self.values = np.where(self.place[:, None] >= 0, values[self.place], 0.0)
        self.labels = np.array([p["label"] for p in self.pairs], dtype=object)
        grouped = families((p["left"], p["right"], p["label"]) for p in self.pairs)
        names = [grouped.get(p["left"], p["left"]) for p in self.pairs]
        code = {name: n for n, name in enumerate(dict.fromkeys(names))}
        self.family = np.array([code[name] for name in names])
        self.runs = np.where(
            self.place >= 0, np.expm1(self.values[:, suggest.FEATURES.index("longest")]), 0
        )


def fit(values: np.ndarray, labels: np.ndarray) -> dict[str, list[Any]]:
    """Centres, spreads, intercepts and weights of the four labels that a listed pair may get, from these and composed pairs."""
    more, named = composed()
    values, labels = np.vstack((values, more)), np.concatenate((labels, named))
    four = labels != "independent"  # hardly any independent pair is listed: nothing to learn from
    values, labels = values[four], labels[four]
    # Once more without the fields of the documents, so that texts without any are read as well.
    bare = values.copy()
    bare[:, [suggest.FEATURES.index(name) for name in FIELDS]] = np.nan
    values, labels = np.vstack((values, bare)), np.concatenate((labels, labels))
    known = ~np.isnan(values).all(axis=0)
    centres, spreads = np.zeros(values.shape[1]), np.ones(values.shape[1])
    centres[known] = np.nanmean(values[:, known], axis=0)
    spreads[known] = np.nanstd(values[:, known], axis=0)
    spreads[spreads == 0] = 1
    model = LogisticRegression(C=PENALTY / 2, max_iter=5000)
    model.fit(np.nan_to_num((values - centres) / spreads), labels.astype(str))
    order = [list(model.classes_).index(label) for label in suggest.SUGGESTIONS[1:]]
    return {
        "CENTRES": [round(float(v), 5) for v in centres],
        "SPREADS": [round(float(v), 5) for v in spreads],
        "INTERCEPTS": [round(float(v), 4) for v in model.intercept_[order]],
        "WEIGHTS": [[round(float(w), 4) for w in model.coef_[n]] for n in order],
    }


def predict(numbers: dict[str, list[Any]], values: np.ndarray) -> np.ndarray:
    """The labels that a model with these numbers suggests."""
    scaled = np.nan_to_num((values - numbers["CENTRES"]) / np.array(numbers["SPREADS"]))
    scores = scaled @ np.array(numbers["WEIGHTS"]).T + numbers["INTERCEPTS"]
    labels = np.array(suggest.SUGGESTIONS[1:], dtype=object)
    return np.asarray(labels[scores.argmax(axis=1)])


def folds(sample: Sample, seed: int) -> np.ndarray:
    """A fold for each pair; a family is never in two."""
    generator = np.random.default_rng(seed)
    return np.asarray(generator.permutation(sample.family.max() + 1)[sample.family] % FOLDS)


def crossed(sample: Sample, seed: int, without: Sequence[str] = ()) -> np.ndarray:
    """Suggestions for every pair by models that have seen no pair of its family."""
    values = sample.values.copy()
    values[:, [suggest.FEATURES.index(name) for name in without]] = np.nan
    fold, listed = folds(sample, seed), sample.place >= 0
    found = np.full(len(fold), "independent", dtype=object)
    for number in range(FOLDS):
        train, test = listed & (fold != number), listed & (fold == number)
        if test.any():
            found[test] = predict(fit(values[train], sample.labels[train]), values[test])
    return found


def macro(labels: np.ndarray, found: np.ndarray) -> float:
    return float(f1_score(list(labels), list(found), labels=LABELS, average="macro"))


def thresholds(sample: Sample) -> tuple[float, float]:
    """Accuracy of the best single Jaccard threshold on copy and revision; macro-F1 of the best 24-character rule.

    The rule knows one boundary, so its better side gets the label that most of its pairs have.
    """
    two = np.isin(sample.labels, ("copy", "revision")) & (sample.place >= 0)
    scores, copies = sample.values[two, 0], sample.labels[two] == "copy"
    best = max(float(((scores >= t) == copies).mean()) for t in np.unique(scores))
    shares = sample.runs >= 24
    found = np.full(len(shares), "independent", dtype=object)
    found[shares] = Counter(sample.labels[shares]).most_common(1)[0][0]
    return best, macro(sample.labels, found)


def report(sample: Sample) -> None:
    labels = sample.labels
    for name, without in (
        ("all features", ()),
        ("without title and version", FIELDS),
        ("without facts", ("fact_changed", "facts", "renumbered")),
    ):
        runs = [crossed(sample, seed, without) for seed in range(REPEATS)]
        scores = [macro(labels, found) for found in runs]
        two = np.isin(labels, ("copy", "revision"))
        right = np.mean([(found == labels)[two].mean() for found in runs])
        each = f1_score(list(labels), list(runs[0]), labels=LABELS, average=None)
        print(
            f"{name}: macro-F1 {np.mean(scores):.3f} ({min(scores):.3f}-{max(scores):.3f}); "
            f"copy/revision right {right:.3f}; "
            + " ".join(f"{n} {v:.3f}" for n, v in zip(LABELS, each, strict=True))
        )
        if not without:
            errors(sample, runs[0])
    accuracy, rule = thresholds(sample)
    print(f"best single threshold, copy/revision: accuracy {accuracy:.3f}")
    print(f"24-character rule: macro-F1 {rule:.3f}")
    print(f"{len(set(sample.family))} families; {1e6 * sample.cost:.1f} us a candidate")


def errors(sample: Sample, found: np.ndarray) -> None:
    counts = Counter(zip(sample.labels, found, strict=True))
    for label in LABELS:
        print("  ", label.ljust(12), *(f"{counts[label, other]:5d}" for other in LABELS))
    for pair, said in zip(sample.pairs, found, strict=True):
        if pair["label"] != said:
            print("  ", pair["pair_id"], pair["label"], "->", said, pair["subtype"], pair["basis"])


def on_own_pairs(seed: int) -> tuple[float, list[tuple[str, str, str]]]:
    """Macro-F1 of the printed model on composed pairs, and (label, said, kind) of each wrong one."""
    own, result, rows = _composed(seed)
    hints = result.table.hint
    found = ["independent" if n < 0 else suggest.SUGGESTIONS[int(hints[n])] for n in rows]
    labels = np.array([pair[2] for pair in own.pairs], dtype=object)
    wrong = [
        (pair[2], what, pair[3])
        for pair, what in zip(own.pairs, found, strict=True)
        if what != pair[2]
    ]
    return macro(labels, np.array(found, dtype=object)), wrong


def _composed(seed: int) -> tuple[Own, ScreeningResult, list[int]]:
    """Composed pairs, their run, and the row of each pair in its table; -1 where it is not listed."""
    own = own_pairs(seed)
    result = screen(own.documents, ScreeningConfig())
    names = [d.doc_id for d in result.corpus.documents]
    table = result.table
    rows = {
        frozenset((names[a], names[b])): n
        for n, (a, b) in enumerate(zip(table.left, table.right, strict=True))
    }
    return own, result, [rows.get(frozenset(pair[:2]), -1) for pair in own.pairs]


@lru_cache(maxsize=1)
def composed() -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of the listed composed pairs that the model learns from beside the public ones.

    Public texts hardly show a damaged scan or a page's frame; these do. Their seeds are not those that it is measured on.
    """
    values, labels = [], []
    for seed in LEARNED_SEEDS:
        own, result, rows = _composed(seed)
        every = suggest.features(result.corpus, result.texts, result.table, result.facts)
        for pair, n in zip(own.pairs, rows, strict=True):
            if n >= 0:
                values.append(every[n])
                labels.append(pair[2])
    return np.array(values), np.array(labels, dtype=object)


def write(numbers: dict[str, Iterable[Any]]) -> None:
    """The module with the numbers of the model, in the order of FEATURES and of the labels."""
    lines = [
        '"""Numbers of the suggestion model, made by ``tests/bench/bench_suggestion.py --write``; see there."""',
        "",
        "from __future__ import annotations",
    ]
    for name, values in numbers.items():
        kind = "tuple[tuple[float, ...], ...]" if name == "WEIGHTS" else "tuple[float, ...]"
        rows = [f"    {tuple(v) if isinstance(v, list) else v!r},\n" for v in values]
        lines.append(f"\n{name}: {kind} = (\n" + "".join(rows) + ")")
    (ROOT / "screening" / "suggest_numbers.py").write_text("\n".join(lines) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    shared = ROOT.parent / "shared" / "corpora" / "public"
    parser.add_argument("--public", type=Path, default=shared)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--own", action="store_true", help="only on the pairs of own_pairs.py")
    given = parser.parse_args()
    if given.own:
        for seed in OWN_SEEDS:
            score, wrong = on_own_pairs(seed)
            print(f"own pairs, seed {seed}: macro-F1 {score:.3f}; wrong: {Counter(wrong)}")
        return
    sample = Sample(given.public)
    report(sample)
    if given.write:
        listed = sample.place >= 0
        write(fit(sample.values[listed], sample.labels[listed]))


if __name__ == "__main__":
    main()
