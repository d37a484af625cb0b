"""Pairs of texts as files that other tools take, and the settings these tools need. Pure: knows nothing of Django.

Label Studio: tasks are ``{"data": {...}, "annotations": [...]}`` (https://labelstud.io/guide/task_format); the result of a
choice is ``{"from_name", "to_name", "type": "choices", "value": {"choices": [...]}}`` (https://labelstud.io/tags/choices),
where an ``alias`` stands for the shown value (https://labelstud.io/tags/choice).
doccano (text classification): one object a line, ``text`` and a list ``label``; every other column becomes meta data and comes
back beside them (https://doccano.github.io/doccano/tutorial/; ``data_export/pipeline`` of its source).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import xlsxwriter

from reviews.tables.workbook import XLSX_CELL, utf16_length
from reviews.tables.writers import BOM, guard
from screening.label_names import LABELS

COLUMNS = ("left", "right", "label", "reason", "left_title", "right_title", "left_text", "right_text", "guarded")  # fmt: skip
"""Of the CSV file and the sheet; ``guarded`` says that a quote before what looks like a formula is not part of it."""

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
LABEL, REASON, LEFT, RIGHT = "label", "reason", "left_text", "right_text"
CUT = "…【已截断，全文 %d 字】"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts by doc_id. ``label`` and ``reason`` are empty where there is nothing to hand on."""

    left: str
    right: str
    left_title: str
    right_title: str
    left_text: str
    right_text: str
    label: str = ""
    reason: str = ""


def shown(text: str) -> str:
    """``text`` with what no database or sheet takes (NUL, controls, half characters) as its picture or U+FFFD."""
    return _UNWANTED.sub(lambda m: chr(0x2400 + ord(m[0])) if m[0] < " " else "\ufffd", text)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _data(pair: Pair) -> dict[str, str]:
    """The columns of a task. The ids are ours and exact; the texts are only to be read."""
    return {
        "left": pair.left,
        "right": pair.right,
        "left_title": shown(pair.left_title),
        "right_title": shown(pair.right_title),
        LEFT: shown(pair.left_text),
        RIGHT: shown(pair.right_text),
    }


def label_studio(pairs: Iterable[Pair]) -> Iterator[bytes]:
    """Tasks of Label Studio as one JSON array, a task a line; a label is an annotation."""
    before = "[\n"
    for pair in pairs:
        yield f"{before}{_json(_task(pair))}".encode()
        before = ",\n"
    yield b"[]\n" if before == "[\n" else b"\n]\n"


def _task(pair: Pair) -> dict[str, object]:
    task: dict[str, object] = {"data": _data(pair)}
    if pair.label:
        common = {"to_name": LEFT}
        result: list[dict[str, object]] = [
            {"from_name": LABEL, **common, "type": "choices", "value": {"choices": [pair.label]}}
        ]
        if pair.reason:
            words = {"text": [shown(pair.reason)]}
            result.append({"from_name": REASON, **common, "type": "textarea", "value": words})
        task["annotations"] = [{"result": result}]
    return task


def label_studio_settings() -> str:
    """The labelling interface to paste into a project: both texts beside each other, one choice, words if needed."""
    choices = "\n".join(
        f"    <Choice value={quoteattr(name.zh)} alias={quoteattr(code)} hotkey={quoteattr(name.key)}/>"
        for code, name in LABELS.items()
    )
    return f"""<View>
  <View style="display: flex; gap: 2em">
    <View style="flex: 1"><Header value="$left_title"/><Text name="{LEFT}" value="${LEFT}"/></View>
    <View style="flex: 1"><Header value="$right_title"/><Text name="{RIGHT}" value="${RIGHT}"/></View>
  </View>
  <Choices name="{LABEL}" toName="{LEFT}" choice="single" showInline="true" required="true">
{choices}
  </Choices>
  <TextArea name="{REASON}" toName="{LEFT}" rows="2" maxSubmissions="1" placeholder="理由"/>
</View>
"""


def doccano(pairs: Iterable[Pair]) -> Iterator[bytes]:
    """Lines for a doccano project of text classification; labels have their Chinese names there."""
    for pair in pairs:
        data = _data(pair)
        text = f"【左】{data['left_title']}\n{data.pop(LEFT)}\n\n【右】{data['right_title']}\n{data.pop(RIGHT)}"
        label = [LABELS[pair.label].zh] if pair.label else []
        yield (_json({"text": text, "label": label, **data}) + "\n").encode()


def doccano_labels() -> str:
    """The labels to import into a doccano project, with their keys and colours."""
    rows = [
        {
            "text": name.zh,
            "suffix_key": name.key,
            "background_color": name.colour,
            "text_color": "#ffffff",
        }
        for name in LABELS.values()
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def _cells(pair: Pair) -> list[str]:
    label = LABELS[pair.label].zh if pair.label else ""
    words = (pair.reason, pair.left_title, pair.right_title, pair.left_text, pair.right_text)
    return [pair.left, pair.right, label, *map(shown, words)]


def csv_file(pairs: Iterable[Pair]) -> Iterator[bytes]:
    """A CSV file for Excel: UTF-8 with a byte order mark; nothing in it is a formula, see :data:`COLUMNS`."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    yield BOM + buffer.getvalue().encode()
    for pair in pairs:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow([*map(guard, _cells(pair)), "1"])
        yield buffer.getvalue().encode()


def workbook(path: Path, pairs: Iterable[Pair]) -> None:
    """A workbook with one sheet to fill in: a list of the labels in every cell of the column, no formulas, no links."""
    plain = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    with xlsxwriter.Workbook(path, plain) as book:
        sheet = book.add_worksheet("材料对")
        wrapped = book.add_format({"text_wrap": True, "valign": "top"})
        sheet.set_column(0, 3, 18, wrapped)
        sheet.set_column(4, 7, 48, wrapped)
        sheet.freeze_panes(1, 3)
        sheet.write_row(0, 0, COLUMNS[:-1])
        row = 0
        for row, pair in enumerate(pairs, 1):
            for column, text in enumerate(_cells(pair)):
                sheet.write_string(row, column, _fitting(text), wrapped)
        if row:
            rule = {"validate": "list", "source": [name.zh for name in LABELS.values()]}
            sheet.data_validation(1, 2, row, 2, rule)


def _fitting(text: str) -> str:
    """What a cell holds of ``text``: 32,767 UTF-16 units, with a note where it was cut."""
    if len(text) <= XLSX_CELL // 2 or utf16_length(text) <= XLSX_CELL:
        return text
    note = CUT % len(text)
    head = text.encode("utf-16-le")[: 2 * (XLSX_CELL - len(note))]
    return head.decode("utf-16-le", "ignore") + note
