"""The fixed texts of a bundle and the descriptions of its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from reviews.labels import Label
from reviews.tables import final, sshsig
from reviews.tables.writers import FileFacts

FILES = Path(__file__).resolve().parent / "files"

TITLES: dict[str, str] = {
    "documents.jsonl": "材料，不含正文，含正文的 sha256 / documents, by hash",
    "pairs.jsonl": "材料对与筛查依据 / pairs and what screening found",
    "judgments.jsonl": "逐人判断 / every judgment",
    "arbitrations.jsonl": "仲裁 / decisions of arbitrators",
    "outcomes.jsonl": "结论 / conclusions",
    "sign_offs.jsonl": "签字 / signatures of people",
    "records.jsonl": "只增记录的全部字段，摘要由此计算 / all fields that the digests cover",
    "final.csv": "审核表，供 Excel 打开（BOM，公式防护）/ final table for Excel",
    "final.data.csv": "审核表，原样数据 / final table, plain data",
    "final.xlsx": "审核表 / final table",
    "relations.csv": "检索入口 / entries for a search",
    "agreement.json": "一致性 / agreement",
    "flow.json": "数量流程 / counts from inputs to conclusions",
    "report.html": "报告，可打印 / printable report",
    "run.json": "筛查配置与输入 / configuration and inputs of the screening run",
    "guideline.md": "判断规则 / guideline",
    "VERIFY.md": "核验步骤 / how to verify",
    "verify.py": "独立核验程序 / stand-alone verifier",
    "allowed_signers": "公钥，供 ssh-keygen / public key for ssh-keygen",
    "public.pem": "公钥，供 openssl / public key for openssl",
}
MEDIA_TYPES = {
    ".jsonl": "application/jsonl",
    ".json": "application/json",
    ".csv": "text/csv",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".md": "text/markdown",
    ".html": "text/html",
    ".py": "text/x-python",
}
FIELD_TYPES = {"text": "string", "integer": "integer", "number": "number", "time": "datetime"}


def static_files() -> dict[str, bytes]:
    """The files that are the same in every bundle of this version."""
    return {name: (FILES / name).read_bytes() for name in ("VERIFY.md", "verify.py")}


def key_files(public_key: bytes) -> dict[str, bytes]:
    """The 32-byte public key in the forms that ssh-keygen and openssl read."""
    pem = Ed25519PublicKey.from_public_bytes(public_key).public_bytes(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )
    return {
        "allowed_signers": sshsig.allowed_signers_line(public_key).encode(),
        "public.pem": pem,
    }


def pretty(value: object) -> bytes:
    """JSON for people to read as well, in UTF-8."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"


def workbook_notes(zone: str) -> list[str]:
    """What stands below the columns on the second sheet."""
    return [
        f"时间为 {zone} 当地时间 / times are local times of {zone}",
        "控制字符以可见符号代替（如 ␋ ␌）/ control characters are replaced by their pictures",
        "超长单元格以【已截断】结尾，全文见 final.csv / long cells end with a note; the full text is in final.csv",
    ]


def datapackage(files: Mapping[str, FileFacts], title: str) -> dict[str, Any]:
    """The Frictionless description of the bundle's files."""
    return {
        "name": "review-table",
        "title": title,
        "resources": [_resource(name, files[name]) for name in sorted(files) if name in TITLES],
    }


def _resource(name: str, facts: FileFacts) -> dict[str, Any]:
    resource: dict[str, Any] = {
        "name": name.replace(".", "-").replace("_", "-").lower(),
        "path": name,
        "title": TITLES[name],
        "mediatype": MEDIA_TYPES.get(Path(name).suffix, "text/plain"),
        "bytes": facts.size,
        "hash": f"sha256:{facts.sha256}",
    }
    if facts.rows == 0 and name.endswith(".jsonl"):
        resource["type"] = "file"  # Frictionless takes rows for granted where there should be any
    if name == "final.data.csv":
        resource |= {"profile": "tabular-data-resource", "schema": _final_schema()}
    if name == "relations.csv":
        fields = [{"name": column, "type": "string"} for column in final.RELATIONS_HEADER]
        resource |= {"profile": "tabular-data-resource", "schema": {"fields": fields}}
    return resource


def _final_schema() -> dict[str, Any]:
    fields: list[dict[str, Any]] = []
    for column in final.COLUMNS:
        field: dict[str, Any] = {
            "name": column.name,
            "type": FIELD_TYPES[column.kind],
            "title": column.zh,
            "description": column.en,
        }
        if column.kind == "time":
            field["format"] = "any"
        if column.name == "label":
            field["constraints"] = {"enum": [*Label.values, ""]}
        fields.append(field)
    return {"fields": fields, "primaryKey": "pair_id", "missingValues": [""]}
