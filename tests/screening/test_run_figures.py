"""What the page of a run says about how surely similar texts meet."""

from __future__ import annotations

from screening.figures import s_curve
from tests.screening.making import prose, run


def test_a_small_run_says_that_every_pair_was_compared() -> None:
    texts = [prose(seed, 80) for seed in range(5)]
    result = run(texts)
    curve = s_curve(result.config.to_dict(), result.funnel)
    assert curve is not None
    assert (curve.compared, curve.weak) == (10, False)


def test_a_banded_run_says_what_it_loses_at_the_threshold() -> None:
    texts = [prose(seed, 80) for seed in range(5)]
    result = run(texts, exact_below=0)
    curve = s_curve(result.config.to_dict(), result.funnel)
    assert curve is not None
    assert (curve.compared, curve.weak) == (0, True)
    assert curve.caught_percent + curve.lost_percent == 100
    assert curve.caught_percent == 85
    sure = run(texts, exact_below=0, threshold=0.5, bands=64, rows=2)
    curve = s_curve(sure.config.to_dict(), sure.funnel)
    assert curve is not None
    assert not curve.weak
