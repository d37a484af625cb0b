"""Hand-overs for the tests of imports and runs: fictional notices with copies and revisions among them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NOTICE = (
    "青禾市图书馆关于调整开放时间的通知。自{month}月一日起，本馆每周{day}闭馆整理图书，其余日期上午九时至下午五时开放。"
    "读者凭借阅证入馆，请勿携带食品和饮料；遇有特殊情况需要提前闭馆的，将在大门口张贴告示。"
)
OTHER = (
    "第{number}号公告：河道清淤工程将于下旬开工，沿岸{number}户居民请提前移走停放的车辆，施工期间注意来往机械，"
    "夜间不施工。工程由市水务所组织，监督电话见现场公示牌，完工后恢复路面。"
)


def rows(count: int = 6) -> list[dict[str, Any]]:
    """``count`` rows of a documents.jsonl: two copies, a revision, and unlike texts."""
    base = NOTICE.format(month="三", day="一")
    texts = [base, base, NOTICE.format(month="四", day="二")]
    texts += [OTHER.format(number=n) * (1 + n % 3) for n in range(3, max(3, count))]
    return [
        {
            "doc_id": f"D{n:04}",
            "raw": text,
            "source_id": f"网站{n % 2}",
            "version": str(n),
            "title": f"材料{n}",
        }
        for n, text in enumerate(texts[:count])
    ]


def manifest(rows: Sequence[Any]) -> bytes:
    """The bytes of a documents.jsonl."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def folder(root: Path, rows: Sequence[Any]) -> Path:
    """A folder with a documents.jsonl of these rows."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "documents.jsonl").write_bytes(manifest(rows))
    return root


def upload(name: str, data: bytes) -> tuple[str, io.BytesIO]:
    """One file as a page hands it over."""
    return name, io.BytesIO(data)


def trouble() -> None:
    """What rolls a transaction back."""
    raise RuntimeError("somebody else's trouble")
