"""Documents for the tests of the engine."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from typing import Any

from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.pipeline import screen
from screening.result import FoundCandidate, ScreeningResult


def document(doc_id: str, raw: str, **values: Any) -> InputDocument:
    return InputDocument(
        doc_id=doc_id,
        raw=raw,
        sha256=hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest(),
        **values,
    )


def documents(texts: Iterable[str]) -> list[InputDocument]:
    """Documents d000, d001 … with these texts."""
    return [document(f"d{number:03d}", text) for number, text in enumerate(texts)]


def run(texts: Sequence[str], **settings: Any) -> ScreeningResult:
    facts = settings.pop("facts", False)
    return screen(documents(texts), ScreeningConfig.from_dict(settings), facts=facts, threads=1)


def pairs(result: ScreeningResult) -> dict[tuple[int, int], FoundCandidate]:
    return {(c.left, c.right): c for c in result.candidates}


def prose(seed: int, length: int) -> str:
    """Text without sense: common characters in an order that no other seed has."""
    chars = "春夏秋冬山水风云花草树木江河湖海日月星辰天地人和东西南北前后左右大小多少高低长短新旧早晚城乡村镇道路桥梁船车马牛羊鱼鸟虫"
    rng = random.Random(seed)
    return "".join(rng.choice(chars) for _ in range(length))


def brute_jaccard(left: str, right: str, k: int) -> float:
    a = {left[i : i + k] for i in range(len(left) - k + 1)}
    b = {right[i : i + k] for i in range(len(right) - k + 1)}
    return len(a & b) / len(a | b) if a | b else 0.0
