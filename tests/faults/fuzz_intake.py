"""Damaged and hurtful files of every kind, for a bounded time: each must give a text or a refusal, soon, and nothing else.

    python tests/faults/fuzz_intake.py [--seconds 60] [--seed 1] [--kinds docx,pdf,…] [--keep FOLDER]

Counts what became of the files. A finding is an exception, a text that cannot be stored, a file that took longer than
its time, a reader whose code raised, or memory beyond the bound; its file is kept.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import xlsxwriter  # noqa: E402

from screening.documents import Refusal  # noqa: E402
from screening.intake.apart import STARTING_SECONDS, Reader  # noqa: E402
from screening.intake.limits import Limits  # noqa: E402
from screening.intake.model import ReadDocument  # noqa: E402
from screening.intake.reading import _entries, _once_each  # noqa: E402
from screening.intake.trees import Files  # noqa: E402
from tests.faults.hostile import MAKERS  # noqa: E402
from tests.intake import files  # noqa: E402

TEXT = "本馆每周一闭馆整理图书，其余日期上午九时至下午五时开放，请读者相互转告。\n第二条　读者凭借阅证入馆。"
LIMITS = Limits(seconds=10, reader_bytes=512 << 20)
HERE_MB = 1200
"""What this process, which reads the formats that need no process of their own, may take."""
_SPICE = (
    b"\0", b"\xff" * 8, b"<", b">", b"&#xFFFFFFFF;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"%", b"\r", b'"', b"\\u0000",
    b"9" * 40, b"-1", b"PK\x03\x04", b"endobj", b"stream\n", b"<table>" * 50, b"<w:p>" * 50, b"(" * 2000, b"[" * 3000,
    "〇".encode(), "\u202e".encode(), b"\xed\xa0\x80", b"w:val=\"99999999999\"",
)  # fmt: skip


def spreadsheet() -> bytes:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheet = book.add_worksheet("材料")
    for number, row in enumerate([["编号", "正文"], ["001", TEXT], ["002", 3.5]]):
        sheet.write_row(number, 0, row)
    book.close()
    return file.getvalue()


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("甲/a.txt", TEXT)
        packed.writestr("b.docx", files.docx(files.p(TEXT)))
    return file.getvalue()


def seeds() -> dict[str, bytes]:
    """One good file of each kind."""
    numbering = files.part(
        "numbering",
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/>'
        '<w:lvlText w:val="第%1条"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
    )
    rows = [{"doc_id": f"D{n}", "raw": TEXT, "title": "通知"} for n in range(3)]
    page = (
        '<html><head><meta charset="gbk"><title>通知</title></head><body><table><tr><td>索引号：</td><td>7</td>'
        f'<td>发文字号：</td><td>青图〔2026〕7号</td></tr></table><div id="zoom"><p>{TEXT}</p></div></body></html>'
    )
    return {
        "txt": TEXT.encode("gb18030"),
        "md": f"---\ntitle: 通知\n---\n{TEXT}".encode(),
        "jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode(),
        "csv": f'编号,正文\n1,"{TEXT}"\n2,短\n'.encode(),
        "tsv": f'编号\t正文\n1\t"{TEXT}"\n2\t短\n'.encode("gb18030"),
        "html": page.encode("gb18030"),
        "docx": files.docx(
            files.p(TEXT),
            files.table(["期次", "金额"], ["首期", "八万元"]),
            files.numbered("条文。", 1),
            "<w:p><w:ins><w:r><w:t>增</w:t></w:r></w:ins><w:del><w:r><w:delText>删</w:delText></w:r></w:del></w:p>",
            parts={
                "word/numbering.xml": numbering,
                "word/header1.xml": files.part("hdr", files.p("页眉")),
            },
        ),
        "pdf": files.pdf(*[[*files.column(TEXT), (280, 30, 10, f"- {n} -")] for n in range(3)]),
        "xlsx": spreadsheet(),
        "zip": archive(),
    }


def damaged(data: bytes, rng: random.Random) -> bytes:
    """``data`` with one to eight random changes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(changed) + 1)
        act = rng.randrange(6)
        if act == 0 and at < len(changed):
            changed[at] = rng.randrange(256)
        elif act == 1:
            changed[at:at] = rng.choice(_SPICE)
        elif act == 2:
            del changed[at : at + rng.choice((1, 2, 17, 300))]
        elif act == 3:
            end = at + rng.choice((3, 40, 400))
            changed[at:at] = changed[at:end] * rng.choice((1, 2, 30))
        elif act == 4 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif act == 5 and rng.random() < 0.2:
            del changed[at:]
    return bytes(changed)


def damaged_inside(data: bytes, rng: random.Random) -> bytes:
    """A zip container that is whole, with one of its parts damaged."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:  # fmt: skip
        names = old.namelist()
        victim = rng.choice(names)
        for name in names:
            part = old.read(name)
            new.writestr(name, damaged(part, rng) if name == victim else part)
    return out.getvalue()


def fault_of(name: str, path: Path, reader: Reader) -> tuple[str, str | None]:
    """What became of one file, and what is wrong with that if anything is."""
    started = time.monotonic()
    outcome = "nothing"
    for entry in _once_each(_entries(Files({name: path}), "", reader, {})):
        if isinstance(entry, ReadDocument):
            outcome = "read"
            entry.document.raw.encode("utf-8")
            if "\0" in entry.document.raw or not entry.document.raw.strip():
                return outcome, "a text that cannot be stored"
            json.dumps([str(warning) for warning in entry.warnings])
        elif isinstance(entry, Refusal):
            outcome = entry.problem.code
            if entry.problem.code == "reader_failed":
                return outcome, str(entry.problem)
    # A reader that has to be started anew gets time for that.
    if time.monotonic() - started > LIMITS.seconds + STARTING_SECONDS + 3:
        return outcome, "it took too long"
    return outcome, None


def fuzz(kind: str, seconds: float, rng: random.Random, keep: Path) -> tuple[int, int]:
    """Fuzz one kind; (files, findings)."""
    good = seeds()[kind]
    makers: list[Callable[[bytes, random.Random], bytes]] = [damaged]
    if kind in {"docx", "xlsx", "zip"}:
        makers += [damaged_inside] * 3
    makers += [lambda _data, chance: MAKERS[kind](chance)] * len(makers)
    outcomes: Counter[str] = Counter()
    findings = count = 0
    slowest = 0.0
    ends = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder, Reader(LIMITS) as reader:
        path = Path(folder, "file")
        while time.monotonic() < ends:
            data = rng.choice(makers)(good, rng)
            path.write_bytes(data)
            count += 1
            started = time.monotonic()
            try:
                outcome, fault = fault_of(f"a.{kind}", path, reader)
            except Exception as error:
                outcome, fault = "raised", f"{type(error).__name__}: {error}"
            slowest = max(slowest, time.monotonic() - started)
            if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000 > HERE_MB:
                fault = fault or "it took too much memory here"
            outcomes[outcome] += 1
            if fault:
                findings += 1
                kept = keep / f"{kind}-{findings}.{kind}"
                if findings <= 20:
                    kept.write_bytes(data)
                    print(f"  FINDING {kept}: {fault[:300]}")
    ours, theirs = (
        resource.getrusage(who).ru_maxrss // 1000
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"{kind:6} {count:7} files, {findings} findings, slowest {slowest:.1f} s, peak {ours} MB here, {theirs} MB in readers")  # fmt: skip
    print("       " + ", ".join(f"{name} {number}" for name, number in outcomes.most_common(12)))
    return count, findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(seeds()))
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir(), "fuzz-findings"))
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    findings = 0
    for kind in options.kinds.split(","):
        rng = random.Random(f"{options.seed} {kind}")
        findings += fuzz(kind, options.seconds, rng, options.keep)[1]
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
