"""The comparison that a page waits for: milliseconds and peak memory by length and by how much two texts share.

python -m tests.bench.bench_compare [--repeat 3]

Every text is written by the generator below from fixed seeds. A case is timed in CPU time (the least of the repeats),
and run once more under tracemalloc for its peak. The last lines say how many fact comparisons a second one core does.
"""

from __future__ import annotations

import argparse
import os
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from screening.evidence.diff.words import _tokens

LENGTHS = (1_000, 10_000, 50_000)
HELD = {"near-identical": 0.3, "half moved": 1.5, "unrelated": 1.5}
"""Seconds that design §10 allows for a page of twice 50,000 characters."""
STEMS = (
    "档案 窗口 库房 仓储 借阅 登记 巡查 值守 交接 盘点 修缮 供水 绿化 培训 评审 采购 公示 回访 调度 检测 年检 清运 备案 抽查 "
    "复核 归档 受理 告知 听证 验收"
).split()
ACTS = "应当由专人负责 可以委托第三方办理 不得无故拖延 须书面记录 按月汇总上报 由值班员核对 在大厅公开 报主管科室备案".split()


def article(rng: random.Random, number: int) -> str:
    """One article of some eighty characters with a date, an amount or a limit in it."""
    stem, other = rng.sample(STEMS, 2)
    parts = [
        f"第{number}条 {stem}工作{rng.choice(ACTS)}，期限为{rng.randint(3, 60)}日，",
        f"{other}经费每户{rng.randint(100, 9000)}元，",
        f"自{rng.randint(2010, 2026)}年{rng.randint(1, 12)}月{rng.randint(1, 28)}日起，",
        f"{rng.choice(STEMS)}与{rng.choice(STEMS)}一并{rng.choice(ACTS)}。\n",
    ]
    return "".join(parts)


def text(seed: int, chars: int) -> list[str]:
    """Articles of together about ``chars`` characters."""
    rng = random.Random(seed)
    found: list[str] = []
    size = 0
    while size < chars:
        found.append(article(rng, len(found) + 1))
        size += len(found[-1])
    return found


def edited(articles: list[str], seed: int) -> list[str]:
    """Every twentieth article with another number in it."""
    rng = random.Random(seed)
    return [
        one.replace("期限为", f"期限为{rng.randint(1, 9)}", 1) if at % 20 == 7 else one
        for at, one in enumerate(articles)
    ]


def moved(articles: list[str]) -> list[str]:
    """The second half before the first, in blocks of ten."""
    half = len(articles) // 2
    blocks = [articles[at : at + 10] for at in range(0, half, 10)]
    return [*articles[half:], *(one for block in reversed(blocks) for one in block)]


def cases() -> Iterator[tuple[int, str, str, str]]:
    """(characters, kind, left, right)."""
    for chars in LENGTHS:
        base = text(1, chars)
        for kind, other in (
            ("near-identical", edited(base, 2)),
            ("half moved", moved(base)),
            ("unrelated", text(3, chars)),
        ):
            yield chars, kind, "".join(base), "".join(other)


def measured(run: Callable[[], Any], repeat: int) -> tuple[float, float, Any]:
    """CPU seconds (the least), peak megabytes of one more run, and the answer."""
    best = float("inf")
    for _ in range(repeat):
        # Each run as cold as a page's first: the words of these very texts are not known yet.
        _tokens.cache_clear()
        start = time.process_time()
        answer = run()
        best = min(best, time.process_time() - start)
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return best, peak, answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dedupreview.settings")
    import django

    django.setup()
    from reviews.pairtext import article_html, render
    from screening.evidence.articles import article_table
    from screening.evidence.diff import compare, warm
    from screening.evidence.facts import compare_facts, read_facts

    warm()
    print(f"load {os.getloadavg()[0]:.1f}, CPU ms (peak MB), least of {repeat}")
    head = ("characters", "kind", "compare", "render", "facts", "articles", "page", "held")
    print("{:>10} {:<15} {:>15} {:>15} {:>15} {:>15} {:>8} {:>6}".format(*head))
    for chars, kind, left, right in cases():
        diff, diff_mb, comparison = measured(lambda a=left, b=right: compare(a, b), repeat)  # type: ignore[misc]
        page, page_mb, _ = measured(lambda c=comparison: render(c, swapped=False), repeat)  # type: ignore[misc]
        facts, facts_mb, _ = measured(
            lambda a=left, b=right: compare_facts(read_facts(a), read_facts(b)),  # type: ignore[misc]
            repeat,
        )

        def table(c: Any = comparison, a: str = left, b: str = right) -> list[Any]:
            rows = article_table(c, a, b)
            return [
                [article_html(row.left_segments), article_html(row.right_segments)] for row in rows
            ]

        rows, rows_mb, _ = measured(table, repeat)
        whole = diff + page + facts
        held = f"{HELD[kind] * 1000:.0f}" if chars == LENGTHS[-1] else ""
        cells = [
            f"{seconds * 1000:.1f} ({mb:.1f})"
            for seconds, mb in (
                (diff, diff_mb),
                (page, page_mb),
                (facts, facts_mb),
                (rows, rows_mb),
            )
        ]
        print(f"{chars:>10} {kind:<15} {cells[0]:>15} {cells[1]:>15} {cells[2]:>15} {cells[3]:>15} "
              f"{whole * 1000:>8.1f} {held:>6}")  # fmt: skip
        if held and whole > HELD[kind]:
            print(f"{'':>10} above what is held")
    _per_second(read_facts, compare_facts)


def _per_second(read_facts: Any, compare_facts: Any) -> None:
    """Fact comparisons a second of texts as a run has them: about 2,000 characters, near-identical and unrelated."""
    sheets = [read_facts("".join(edited(text(4, 2_000), seed))) for seed in range(80)]
    others = [read_facts("".join(text(seed, 2_000))) for seed in range(80)]
    for kind, pairs in (("near-identical", sheets), ("unrelated", others)):
        start = time.process_time()
        for one, other in pairwise(pairs):
            compare_facts(one, other)
        spent = time.process_time() - start
        print(f"fact comparisons, 2,000 characters, {kind}: {79 / spent:,.0f} a second on one core")
    start = time.process_time()
    for seed in range(40):
        read_facts("".join(text(seed, 2_000)))
    print(
        f"fact sheets read: {40 / (time.process_time() - start):,.0f} a second, 2,000 characters each"
    )


if __name__ == "__main__":
    main()
