"""The names of fields in manifests and tables, in Chinese and English, and the values that they may have."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping

from screening.documents import OPTIONAL_METADATA, Problem
from screening.intake.cleaning import one_line

FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "doc_id": (
        "doc_id",
        "docid",
        "id",
        "document_id",
        "编号",
        "文档编号",
        "材料编号",
        "文书编号",
        "文件编号",
    ),
    "raw": ("raw", "text", "content", "body", "正文", "内容", "原文", "全文", "文本"),
    "path": ("path", "file", "路径", "文件", "文件路径"),
    "source_id": ("source_id", "source", "来源", "来源编号", "来源标识", "采集来源"),
    "version": ("version", "版本", "版本号"),
    "title": ("title", "标题", "题名", "名称", "文件名称"),
    "original_path": ("original_path", "原始路径", "原路径"),
    "captured_at": ("captured_at", "captured", "采集时间", "采集日期", "抓取时间"),
    "doc_number": ("doc_number", "发文字号", "文号", "发文号"),
    "issuer": ("issuer", "发文机关", "发文单位", "发布机构", "发布机关", "制定机关"),
    "published_on": (
        "published_on",
        "date",
        "成文日期",
        "发布日期",
        "发文日期",
        "公布日期",
        "日期",
    ),
    "author": ("author", "作者"),
    "licence": ("licence", "license", "许可", "授权"),
    "original_source": ("original_source", "origin", "原始出处", "原文出处", "出处"),
    "attachments": ("attachments", "附件"),
    "language": ("language", "lang", "语言", "语种"),
    "doc_type": ("doc_type", "type", "类型", "文种", "体裁", "材料类型"),
    "sha256": ("sha256",),
}
"""Field → what it may be called; the first name wins where a row has several of them."""

LONGEST: dict[str, int] = {
    "doc_id": 500,
    "source_id": 300,
    "version": 200,
    "title": 1000,
    "original_path": 1000,
    "captured_at": 64,
}
"""Characters that a field may have; a longer one refuses its row."""

_BY_NAME = {name: field for field, names in FIELD_NAMES.items() for name in names}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def field_of(name: str) -> str | None:
    """The field that a header or key means; None if it is not one of ours."""
    name = name.strip().strip("\ufeff").strip()
    return _BY_NAME.get(name) or _BY_NAME.get(re.sub(r"[\s\-]+", "_", name).casefold())


def columns(header: Iterable[str]) -> tuple[dict[str, int], list[str]]:
    """The column of each field, and the names that mean none; of two names for one field the preferred one counts."""
    found: dict[str, tuple[int, int]] = {}
    unknown: list[str] = []
    for index, name in enumerate(header):
        field = field_of(name)
        if field is None:
            if name.strip():
                unknown.append(name.strip())
            continue
        key = name.strip().strip("\ufeff").strip().casefold()
        names = FIELD_NAMES[field]
        rank = names.index(key) if key in names else len(names)
        if field not in found or rank < found[field][0]:
            found[field] = (rank, index)
    return {field: index for field, (_, index) in found.items()}, unknown


def doc_id_of(value: object) -> str | Problem:
    """The doc_id that a value gives: text as it is (surrounding blanks aside), a whole number as its digits."""
    if value is None or value == "":
        return Problem("doc_id_missing", "The doc_id is missing")
    if isinstance(value, bool) or not isinstance(value, str | int):
        return Problem(
            "doc_id_not_text", "The doc_id must be text, not %(value)s", {"value": repr(value)[:80]}
        )
    text = str(value).strip()
    if not text:
        return Problem("doc_id_missing", "The doc_id is missing")
    if _CONTROL.search(text):
        return Problem(
            "doc_id_control",
            "The doc_id %(value)s holds control characters",
            {"value": ascii(text)[:80]},
        )
    return length_problem("doc_id", text) or text


def control_problem(name: str) -> Problem | None:
    """Why a file name cannot name a text: it holds line breaks or other control characters."""
    if not _CONTROL.search(name):
        return None
    shown = ascii(name)[:200]
    return Problem(
        "name_control", "The file name %(name)s holds control characters", {"name": shown}
    )


_UNSEEN = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]")  # fmt: skip


def unseen_problem(doc_id: str) -> Problem | None:
    """A warning about characters in a doc_id that nobody sees, or that turn the line around."""
    found = sorted(set(_UNSEEN.findall(doc_id)))
    if not found:
        return None
    names = ", ".join(f"U+{ord(character):04X}" for character in found[:5])
    return Problem(
        "doc_id_unseen",
        "The doc_id holds characters that cannot be seen: %(names)s",
        {"names": names},
    )


def likeness(doc_id: str) -> str:
    """``doc_id`` as it looks: without unseen characters, composed, in lower case. Ids of one look are easily confused."""
    if doc_id.isascii():
        return doc_id.lower()
    return unicodedata.normalize("NFC", _UNSEEN.sub("", doc_id)).casefold()


def length_problem(field: str, text: str) -> Problem | None:
    """Why a field is too long to be kept, if it is."""
    if len(text) <= LONGEST.get(field, 20_000):
        return None
    return Problem(
        "field_too_long",
        "The field %(field)s has %(length)s characters; the limit is %(limit)s",
        {"field": field, "length": len(text), "limit": LONGEST.get(field, 20_000)},
    )


def text_of(value: object) -> str | None:
    """A field of metadata as text; lists are joined, other structures stay JSON, nothing is None."""
    if value is None:
        return None
    if isinstance(value, str):
        text = value
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, int | float):
        text = str(value)
    elif isinstance(value, list) and all(isinstance(part, str) for part in value):
        text = "; ".join(value)
    else:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return one_line(text) or None


def metadata_of(fields: Mapping[str, object]) -> dict[str, str | None] | Problem:
    """Every field but doc_id, raw, path and sha256 as text; fields that are missing or empty are left out."""
    found: dict[str, str | None] = {}
    for field in (
        "source_id",
        "version",
        "title",
        "original_path",
        "captured_at",
        *OPTIONAL_METADATA,
    ):
        value = fields.get(field)
        if value is None or (text := text_of(value)) is None:
            continue
        if problem := length_problem(field, text):
            return problem
        found[field] = text
    return found
