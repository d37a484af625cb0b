"""The suggestion: what it says of plain cases, that it is the same whatever the order, and its score on public pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screening import suggest
from screening.config import ScreeningConfig
from screening.pipeline import screen
from screening.suggest_numbers import CENTRES, INTERCEPTS, SPREADS, WEIGHTS
from tests.screening.making import document, pairs, prose, run


def clauses(seed: int, count: int = 12) -> list[str]:
    return [f"第{n}条　{prose(seed * 100 + n, 90)}。" for n in range(1, count + 1)]


def test_plain_cases() -> None:
    text = clauses(1)
    captured = "本页打印　" + "\n".join(text)
    edited = [*text[:3], "第四条　申请期限为六个月。", *text[4:9], *clauses(2)[:3], text[11]]
    quote = prose(77, 80)
    cases = {
        "copy": ["\n".join(text), captured],
        "revision": [
            "\n".join([*text[:3], "第四条　申请期限为三个月。", *text[4:]]),
            "\n".join(edited),
        ],
        "citation": [prose(5, 900) + quote + prose(6, 900), prose(7, 1200) + quote + prose(8, 300)],
    }
    for label, texts in cases.items():
        assert pairs(run(texts, facts=True))[0, 1].suggestion == label, label


def test_equal_characters_with_other_facts_are_a_revision() -> None:
    texts = ["气温为-5度，" + prose(3, 60), "气温为5度，" + prose(3, 60)]
    found = pairs(run(texts, facts=True))[0, 1]
    assert found.jaccard == 1.0
    assert found.suggestion == ("revision" if found.fact_changes else "copy")
    assert pairs(run(texts))[0, 1].suggestion == "copy"  # facts not read


def test_another_version_under_one_title_speaks_for_a_revision() -> None:
    """The same evidence in the text, with and without the fields of the documents."""
    values = np.array([CENTRES, CENTRES])
    values[:, -2:] = [[0, 0], [1, 1]]
    scores = suggest.scores_of(values)
    gain = scores[1] - scores[0]
    assert gain[suggest.SUGGESTIONS.index("revision") - 1] == max(gain)


def test_the_order_of_the_documents_changes_nothing() -> None:
    texts = [*clauses(1), "\n".join(clauses(1)), "\n".join(clauses(1)[2:]), "\n".join(clauses(9))]
    given = [
        document(f"d{n}", t, title=f"规定{n % 2}", version=str(n)) for n, t in enumerate(texts)
    ]
    said = []
    for order in (given, given[::-1]):
        result = screen(order, ScreeningConfig(), threads=1)
        said.append(
            {(order[c.left].doc_id, order[c.right].doc_id): c.suggestion for c in result.candidates}
        )
    assert said[0] == said[1]
    assert len(said[0]) > 2


def test_the_numbers_fit_the_features() -> None:
    width = len(suggest.FEATURES)
    assert len(CENTRES) == len(SPREADS) == width
    assert all(len(row) == width for row in WEIGHTS)
    assert len(INTERCEPTS) == len(WEIGHTS) == len(suggest.SUGGESTIONS) - 1
    assert min(SPREADS) > 0


def test_reasons_name_the_evidence() -> None:
    left = document("a", prose(1, 200), title="河道管理办法（2018年）", version="2018")
    right = document("b", prose(1, 220), title="河道管理办法（2020年）", version="2020")
    seen = suggest.Evidence.of(
        left, right, jaccard=0.9, containment=0.97, passages=[150, 30],
        kinds=["date", "article_number", "style"],
    )  # fmt: skip
    words = [str(reason) for reason in suggest.reasons("revision", seen)]
    assert "97 %" in words[0]
    assert "150 characters, 75 %" in words[1]
    assert words[2].startswith("Facts that are stated differently: 1 ")
    assert words[3:] == [
        "Both bear the same title.",
        "They name different versions: 2018 and 2020.",
    ]
    assert suggest.reasons("undecided", seen) == []
    codes = {label: suggest.reasons(label, seen)[0].code for label in ("citation", "template")}
    assert codes == {"citation": "one_passage", "template": "scattered"}


def test_on_composed_pairs_that_it_was_not_made_with() -> None:
    from tests.bench import bench_suggestion as bench

    assert not set(bench.OWN_SEEDS) & set(bench.LEARNED_SEEDS)
    score, wrong = bench.on_own_pairs(bench.OWN_SEEDS[0])
    assert score >= 0.9, wrong


@pytest.mark.slow
def test_on_public_pairs_by_family(shared: Path) -> None:
    from tests.bench import bench_suggestion as bench

    sample = bench.Sample(shared / "corpora" / "public")
    found = bench.crossed(sample, seed=0)
    threshold, rule = bench.thresholds(sample)
    assert bench.macro(sample.labels, found) >= 0.93
    two = np.isin(sample.labels, ("copy", "revision"))
    assert (found == sample.labels)[two].mean() >= 0.94 > threshold
    assert rule < 0.5
    folds = bench.folds(sample, 0)
    for family in set(sample.family.tolist()):
        assert len(set(folds[sample.family == family].tolist())) == 1
    for labels, fold in ((sample.pairs, folds),):
        where: dict[str, set[int]] = {}
        for pair, number in zip(labels, fold.tolist(), strict=True):
            if pair["label"] in ("copy", "revision"):
                for side in ("left", "right"):
                    where.setdefault(pair[side], set()).add(number)
        assert all(len(numbers) == 1 for numbers in where.values())
