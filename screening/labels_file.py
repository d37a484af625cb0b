"""Reading labelled pairs from a file: JSON lines, CSV, a spreadsheet, or what Label Studio and doccano export. No Django."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from screening import labels_json
from screening.documents import Problem
from screening.intake import encodings, tables
from screening.label_names import LABELS

LABEL_WORDS: dict[str, str] = {
    **{word: code for code, name in LABELS.items() for word in (code, name.zh, name.sign)},
    "重复": "copy",
    "1": "copy",
    "1.0": "copy",
    "true": "copy",
    "修订": "revision",
    "引用": "citation",
    "独立": "independent",
    "无关": "independent",
    "不相关": "independent",
    "unrelated": "independent",
    "无法判断": "undecided",
    "0": "not_copy",
    "0.0": "not_copy",
    "false": "not_copy",
    "not_copy": "not_copy",
    "非副本": "not_copy",
}
"""What a label may be called in a file, and the label that it means.

``0`` of a copy-or-not set means only ``not_copy``: it does not say what the pair is instead.
"""

_LEFT = (
    "left", "left id", "left doc", "left doc id", "left document", "doc a", "doc id a", "document a", "id a", "a", "id1", "doc1",
    "doc id 1", "document 1", "左", "左侧", "左文档", "左材料", "左编号", "左文档编号", "左材料编号", "左侧编号", "甲", "材料甲", "材料a",
    "材料1", "文档a", "文档1", "编号a", "编号1", "文档编号a", "文档编号1", "材料编号a", "材料编号1",
)  # fmt: skip
_RIGHT = (
    "right", "right id", "right doc", "right doc id", "right document", "doc b", "doc id b", "document b", "id b", "b", "id2",
    "doc2", "doc id 2", "document 2", "右", "右侧", "右文档", "右材料", "右编号", "右文档编号", "右材料编号", "右侧编号", "乙", "材料乙",
    "材料b", "材料2", "文档b", "文档2", "编号b", "编号2", "文档编号b", "文档编号2", "材料编号b", "材料编号2",
)  # fmt: skip
_LABEL = (
    "label", "labels", "choice", "标签", "標籤", "标注", "標注", "标注结果", "人工标注", "类别", "類別", "判断", "判定", "结论", "結論",
    "关系", "關係",
)  # fmt: skip


def _plain(name: str) -> str:
    """A column's name without case, width, blanks and signs."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in folded if c.isalnum())


def _names(*names: str) -> frozenset[str]:
    return frozenset(map(_plain, names))


COLUMNS: dict[str, frozenset[str]] = {
    "left": _names(*_LEFT),
    "right": _names(*_RIGHT),
    "label": _names(*_LABEL),
    "subtype": _names("subtype", "子类", "子类型", "细类"),
    "why": _names("why", "reason", "note", "依据", "理由", "原因", "说明", "备注"),
    "annotator": _names(
        "annotator", "annotator_id", "user", "completed_by", "标注人", "标注员", "标注者"
    ),
    "family": _names("family", "group", "族", "家族", "分组", "组"),
    "guarded": _names("guarded"),
}
"""The names of the columns, as :func:`_plain` writes them; anything else in a file is ignored with one note."""

TITLE_ROWS = 10
"""A header is looked for among so many first rows: people put a title above it."""

_ALSO = {"independent": "/无关"}
_ALLOWED = ", ".join([*(f"{c} {n.zh}{_ALSO.get(c, '')}" for c, n in LABELS.items()), "1", "0"])


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One labelled pair as the file gives it; ``line`` counts from 1, ``word`` is the label as written.

    Left and right are not ordered here. ``written`` are both ids with the signs that nobody sees and that :func:`tidy`
    takes away: two ids may differ in nothing else.
    """

    line: int
    left: str
    right: str
    label: str
    extra: dict[str, str] = field(default_factory=dict)
    word: str = ""
    written: tuple[str, str] = ("", "")


def tidy(text: str) -> str:
    """``text`` without surrounding blanks and invisible signs, and with what no database takes as U+FFFD."""
    kept = _storable(text)
    while kept != (kept := kept.strip().strip(_INVISIBLE)):
        pass
    return kept


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"


def label_of(word: str) -> str | None:
    """The label that ``word`` means, whatever its case, width and surrounding signs; None if it means none.

    Names of one label side by side, as in “copy 副本” or “副本（copy）”, mean it; names of two mean none.
    """
    folded = unicodedata.normalize("NFKC", tidy(word)).casefold()
    if folded in LABEL_WORDS:
        return LABEL_WORDS[folded]
    meant = labels_in(folded)
    return meant.pop() if len(meant) == 1 else None


def labels_in(word: str) -> set[str]:
    """The labels whose names ``word`` consists of; none if anything else is in it."""
    parts = [
        part for part in _BETWEEN.split(unicodedata.normalize("NFKC", word).casefold()) if part
    ]
    if not all(part in LABEL_WORDS for part in parts):
        return set()
    return {LABEL_WORDS[part] for part in parts}


_BETWEEN = re.compile(r"[\s()/|,;、#+]+")


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
    found = _under_title(table)
    if isinstance(found, Problem):
        return [], [found]
    return _collect(_table_records(*found), [*notes, *_ignored(*found)])


Record = tuple[int, dict[str, str]] | Problem


def _from_spreadsheet(data: bytes) -> tuple[list[LabelRow], list[Problem]]:
    """The first sheet whose header names the three columns; the others are notes that people keep beside it."""
    sheets = tables.read_spreadsheet(data)
    if isinstance(sheets, Problem):
        return [], [sheets]
    first_problem: Problem | None = None
    for _, table in sheets:
        found = _under_title(table)
        if not isinstance(found, Problem):
            return _collect(_table_records(*found), _ignored(*found))
        first_problem = first_problem or found
    return [], [first_problem] if first_problem else []


def _under_title(table: tables.Table) -> tuple[tables.Table, dict[str, int]] | Problem:
    """The table from its header on, and its columns; what is wrong with the first row if no header is found."""
    mapping = _mapping(table.header.cells)
    if not isinstance(mapping, Problem):
        return table, mapping
    for row in islice(table.rows, TITLE_ROWS):
        if not isinstance(row, Problem):
            below = _mapping(row.cells)
            if not isinstance(below, Problem):
                return tables.Table(row, table.rows, table.encoding, table.warnings), below
    return mapping


def _mapping(header: list[str]) -> dict[str, int] | Problem:
    names = [tidy(cell) for cell in header]
    mapping: dict[str, int] = {}
    for column, known in COLUMNS.items():
        for index, name in enumerate(names):
            if _plain(name) in known:
                mapping.setdefault(column, index)
    missing = [column for column in ("left", "right", "label") if column not in mapping]
    if missing:
        return Problem(
            "label_columns_missing",
            "No column for %(missing)s; the header is: %(header)s",
            {"missing": ", ".join(missing), "header": ", ".join(n for n in names if n)[:200]},
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
    twins = _twins(table.header.cells, mapping)
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
        twice = _said_twice(row, twins)
        yield twice or (row.line, _unguarded({c: _cell(row, i) for c, i in mapping.items()}))


def _unguarded(fields: dict[str, str]) -> dict[str, str]:
    """Without the quotes that our own CSV file has before what looks like a formula, where the row says that it is one."""
    if not fields.pop("guarded", "").strip():
        return fields
    return {column: text.removeprefix("'") for column, text in fields.items()}


def _cell(row: tables.Row, index: int) -> str:
    return row.cells[index] if index < len(row.cells) else ""


def _twins(header: list[str], mapping: dict[str, int]) -> dict[str, list[int]]:
    """The places of each column that stands in the header more than once under the same name."""
    names = [_plain(name) for name in header]
    places = {
        c: [i for i, name in enumerate(names) if name == names[at]] for c, at in mapping.items()
    }
    return {column: found for column, found in places.items() if len(found) > 1}


def _said_twice(row: tables.Row, twins: dict[str, list[int]]) -> Problem | None:
    """A row in which a column that is there twice says two things."""
    for places in twins.values():
        values = [value for value in (tidy(_cell(row, i)) for i in places) if value]
        if len(set(values)) > 1:
            return Problem(
                "column_twice",
                "Line %(line)s: a column is there twice and says two things: %(values)s",
                {"line": row.line, "values": " | ".join(values)[:200]},
            )
    return None


def _json_fields(value: dict[str, object]) -> dict[str, str]:
    fields: dict[str, str] = {}
    if labels_json.SEVERAL in value:
        fields["several_labels"] = str(value[labels_json.SEVERAL])
    for key, content in value.items():
        name = _plain(key)
        if name in ("pair", "ids") and isinstance(content, list) and len(content) == 2:
            fields["left"], fields["right"] = map(labels_json.scalar, content)
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
            "label_row_without_document",
            "Line %(line)s: a document is missing (%(field)s)",
            {"line": line, "field": "right" if left else "left"},
        )
    written = (_storable(fields["left"]).strip(), _storable(fields["right"]).strip())
    if written[0] == written[1]:
        return Problem(
            "label_row_self",
            "Line %(line)s: %(doc_id)s is paired with itself",
            {"line": line, "doc_id": left[:200]},
        )
    label = label_of(word)
    several = fields.get("several_labels", word if len(labels_in(word)) > 1 else "")
    if label is None and several:
        return Problem(
            "several_labels",
            "Line %(line)s has several labels: %(labels)s",
            {"line": line, "labels": tidy(several)[:200]},
        )
    if label is None:
        return Problem(
            "label_unknown",
            "Line %(line)s: the label “%(label)s” is not one of: %(allowed)s",
            {"line": line, "label": word[:100], "allowed": _ALLOWED},
        )
    extra = {
        name: tidy(value)
        for name, value in fields.items()
        if name not in {"left", "right", "label", "guarded"} and tidy(value)
    }
    return LabelRow(line, left, right, label, extra, word, written)
