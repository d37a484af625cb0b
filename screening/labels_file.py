"""Reading labelled pairs from a file: JSON lines, CSV, a spreadsheet, or what Label Studio and doccano export. No Django."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from screening import labels_json
from screening.documents import Problem
from screening.intake import encodings, tables

LABEL_WORDS: dict[str, str] = {
    "copy": "copy",
    "副本": "copy",
    "重复": "copy",
    "1": "copy",
    "true": "copy",
    "revision": "revision",
    "有效修订": "revision",
    "修订": "revision",
    "citation": "citation",
    "公共引用": "citation",
    "引用": "citation",
    "template": "template",
    "模板": "template",
    "independent": "independent",
    "各自独立": "independent",
    "独立": "independent",
    "无关": "independent",
    "不相关": "independent",
    "unrelated": "independent",
    "undecided": "undecided",
    "不能判断": "undecided",
    "无法判断": "undecided",
    "0": "not_copy",
    "false": "not_copy",
    "not_copy": "not_copy",
    "非副本": "not_copy",
}
"""What a label may be called in a file, and the label that it means.

``0`` of a copy-or-not set means only ``not_copy``: it does not say what the pair is instead.
"""

COLUMNS: dict[str, frozenset[str]] = {
    "left": frozenset(
        {
            "left",
            "left_id",
            "left_doc",
            "doc_a",
            "doc_id_a",
            "a",
            "id1",
            "doc1",
            "左",
            "左侧",
            "左文档",
            "左编号",
            "左文档编号",
            "左侧编号",
            "材料甲",
            "甲",
            "文档a",
            "编号a",
        }
    ),
    "right": frozenset(
        {
            "right",
            "right_id",
            "right_doc",
            "doc_b",
            "doc_id_b",
            "b",
            "id2",
            "doc2",
            "右",
            "右侧",
            "右文档",
            "右编号",
            "右文档编号",
            "右侧编号",
            "材料乙",
            "乙",
            "文档b",
            "编号b",
        }
    ),
    "label": frozenset({"label", "标签", "标注", "类别", "判断", "结论", "关系"}),
    "subtype": frozenset({"subtype", "子类", "子类型", "细类"}),
    "why": frozenset({"why", "reason", "note", "依据", "理由", "原因", "说明", "备注"}),
    "annotator": frozenset(
        {"annotator", "annotator_id", "user", "completed_by", "标注人", "标注员", "标注者"}
    ),
    "family": frozenset({"family", "group", "族", "家族", "分组", "组"}),
}
"""The names of the columns; anything else in a file is ignored with one note."""

_ALLOWED = "copy 副本, revision 有效修订, citation 公共引用, template 模板, independent 各自独立/无关, undecided 不能判断, 1, 0"


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One labelled pair as the file gives it; ``line`` counts from 1, ``word`` is the label as written.

    Left and right are not ordered here.
    """

    line: int
    left: str
    right: str
    label: str
    extra: dict[str, str] = field(default_factory=dict)
    word: str = ""


def tidy(text: str) -> str:
    """``text`` without surrounding blanks, the ideographic space and stray byte order marks among them."""
    return text.strip().strip("\ufeff\u200b").strip()


def label_of(word: str) -> str | None:
    """The label that ``word`` means, whatever its case and surrounding spaces; None if it means none."""
    return LABEL_WORDS.get(tidy(word).casefold())


def read_label_rows(data: bytes, filename: str) -> tuple[list[LabelRow], list[Problem]]:
    """Read the labelled pairs in ``data``.

    ``filename`` serves messages; what the file is is judged by its content. Returns the rows that can be used and
    the problems of the others; a problem that concerns one line has ``line`` among its params. A file that cannot
    be used at all gives no rows and at least one problem without a line. Whether the documents exist, and whether
    two rows contradict each other, is for the caller to say.
    """
    if tables.is_spreadsheet(data):
        return _from_spreadsheet(data)
    decoded = encodings.decode(data)
    if isinstance(decoded, Problem):
        return [], [decoded]
    notes = list(decoded.warnings)
    if decoded.text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}:
        records = labels_json.objects(decoded.text)
        flat = ((r[0], _json_fields(r[1])) if not isinstance(r, Problem) else r for r in records)
        return _collect(flat, notes)
    table = tables.read_csv(data)
    if isinstance(table, Problem):
        return [], [table]
    mapping = _mapping(table.header.cells)
    if isinstance(mapping, Problem):
        return [], [mapping]
    return _collect(_table_records(table, mapping), [*notes, *_ignored(table, mapping)])


Record = tuple[int, dict[str, str]] | Problem


def _from_spreadsheet(data: bytes) -> tuple[list[LabelRow], list[Problem]]:
    """The first sheet whose header names the three columns; the others are notes that people keep beside it."""
    sheets = tables.read_spreadsheet(data)
    if isinstance(sheets, Problem):
        return [], [sheets]
    first_problem: Problem | None = None
    for _, table in sheets:
        mapping = _mapping(table.header.cells)
        if not isinstance(mapping, Problem):
            return _collect(_table_records(table, mapping), _ignored(table, mapping))
        first_problem = first_problem or mapping
    return [], [first_problem] if first_problem else []


def _mapping(header: list[str]) -> dict[str, int] | Problem:
    names = [tidy(cell).casefold() for cell in header]
    mapping: dict[str, int] = {}
    for column, known in COLUMNS.items():
        for index, name in enumerate(names):
            if name in known:
                mapping.setdefault(column, index)
    missing = [column for column in ("left", "right", "label") if column not in mapping]
    if missing:
        return Problem(
            "label_columns_missing",
            "No column for %(missing)s; the header is: %(header)s",
            {"missing": ", ".join(missing), "header": ", ".join(names)[:200]},
        )
    return mapping


def _ignored(table: tables.Table, mapping: dict[str, int]) -> list[Problem]:
    used = set(mapping.values())
    names = [tidy(name) for i, name in enumerate(table.header.cells) if i not in used]
    names = [name for name in names if name]
    if not names:
        return []
    return [
        Problem("columns_ignored", "Ignored columns: %(names)s", {"names": ", ".join(names)[:300]})
    ]


def _table_records(table: tables.Table, mapping: dict[str, int]) -> Iterator[Record]:
    for row in table.rows:
        if isinstance(row, Problem):
            yield row
            continue
        fault = next((row.faults[i] for i in mapping.values() if i in row.faults), None)
        if fault is not None:
            yield Problem(
                "number_lost_digits",
                "Line %(line)s: the number %(number)s has more digits than a spreadsheet keeps; format the column as text and type it again",
                {"line": row.line, **fault.params},
            )
            continue
        cells = row.cells
        yield row.line, {c: cells[i] if i < len(cells) else "" for c, i in mapping.items()}


def _json_fields(value: dict[str, object]) -> dict[str, str]:
    fields: dict[str, str] = {}
    if labels_json.SEVERAL in value:
        fields["several_labels"] = str(value[labels_json.SEVERAL])
    for key, content in value.items():
        name = tidy(key).casefold()
        for column, known in COLUMNS.items():
            if name in known and content is not None:
                fields.setdefault(column, labels_json.scalar(content))
    return fields


def _collect(
    records: Iterable[Record], notes: list[Problem]
) -> tuple[list[LabelRow], list[Problem]]:
    rows: list[LabelRow] = []
    problems = list(notes)
    for record in records:
        if isinstance(record, Problem):
            problems.append(record)
            continue
        result = _row(*record)
        if isinstance(result, Problem):
            problems.append(result)
        else:
            rows.append(result)
    return rows, problems


def _row(line: int, fields: dict[str, str]) -> LabelRow | Problem:
    left, right = tidy(fields.get("left", "")), tidy(fields.get("right", ""))
    word = tidy(fields.get("label", ""))
    if not left or not right:
        return Problem(
            "label_row_without_document", "Line %(line)s: a document is missing", {"line": line}
        )
    if left == right:
        return Problem(
            "label_row_self",
            "Line %(line)s: %(doc_id)s is paired with itself",
            {"line": line, "doc_id": left},
        )
    label = label_of(word)
    if label is None and "several_labels" in fields:
        return Problem(
            "several_labels",
            "Line %(line)s has several labels: %(labels)s",
            {"line": line, "labels": fields["several_labels"][:200]},
        )
    if label is None:
        return Problem(
            "label_unknown",
            "Line %(line)s: the label “%(label)s” is not one of: %(allowed)s",
            {"line": line, "label": word, "allowed": _ALLOWED},
        )
    extra = {
        name: tidy(value)
        for name, value in fields.items()
        if name not in {"left", "right", "label"} and tidy(value)
    }
    return LabelRow(line, left, right, label, extra, word)
