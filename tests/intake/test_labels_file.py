"""Label files as people make them."""

from __future__ import annotations

import io
import json

import pytest
import xlsxwriter

from screening.labels_file import label_of, read_label_rows


def pairs(data: bytes, name: str = "labels.csv") -> dict[tuple[str, str], str]:
    return {(row.left, row.right): row.label for row in read_label_rows(data, name)[0]}


@pytest.mark.parametrize(
    "header", ["left,right,label", "左,右,标签", "doc_a,doc_b,Label", "左文档编号,右文档编号,标注"]
)
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_headers_and_encodings(header: str, codec: str) -> None:
    data = f"{header}\r\n甲,乙,副本\r\n甲,丙,有效修订\r\n".encode(codec)
    assert pairs(data) == {("甲", "乙"): "copy", ("甲", "丙"): "revision"}


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("副本", "copy"),
        (" COPY ", "copy"),
        ("\u3000模板", "template"),
        ("修订", "revision"),
        ("公共引用", "citation"),
        ("引用\u3000", "citation"),
        ("无关", "independent"),
        ("unrelated", "independent"),
        ("1", "copy"),
        ("0", "not_copy"),
        ("不能判断", "undecided"),
        ("復本", None),
        ("复本", None),
        ("", None),
    ],
)
def test_words_for_labels(word: str, label: str | None) -> None:
    assert label_of(word) == label


def test_bad_rows_are_named_by_line_and_the_others_kept() -> None:
    data = "left,right,label\nA,B,副本 \nA,A,副本\nA,,副本\nA,C,复本\n\nB,C,\u3000模板\n".encode()
    rows, problems = read_label_rows(data, "x.csv")
    assert [(row.line, row.label) for row in rows] == [(2, "copy"), (7, "template")]
    assert [(p.code, p.params["line"]) for p in problems] == [
        ("label_row_self", 3),
        ("label_row_without_document", 4),
        ("label_unknown", 5),
    ]


def test_json_lines_take_numbers_and_name_what_is_broken() -> None:
    lines = [{"left": "A", "right": "B", "label": 1}, {"left": "A", "right": "C", "label": 0.0}]
    data = "\n".join(
        [*map(json.dumps, lines), "{", "[1]", '{"left": "A\u2028", "right": "D", "label": true}']
    )
    rows, problems = read_label_rows(data.encode(), "x.jsonl")
    assert [row.label for row in rows] == ["copy", "not_copy", "copy"]
    assert [(p.code, p.params["line"]) for p in problems] == [
        ("json_broken", 3),
        ("json_not_object", 4),
    ]


def test_the_sheet_with_the_columns_is_read() -> None:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer) as book:
        book.add_worksheet("说明").write_row(0, 0, ["副本=同一文本"])
        sheet = book.add_worksheet("标注")
        sheet.write_row(0, 0, ["左文档编号", "右文档编号", "标签", "依据"])
        sheet.write_row(1, 0, ["007", 7, " 无关 ", "不同主题"])
        sheet.write_row(3, 0, [123456789012345678, "7", "副本"])
    rows, problems = read_label_rows(buffer.getvalue(), "any name")
    assert [(row.line, row.left, row.right, row.label, row.extra) for row in rows] == [
        (2, "007", "7", "independent", {"why": "不同主题"})
    ]
    assert [p.code for p in problems] == ["number_lost_digits"]


@pytest.mark.parametrize(
    "data", [b"", b"a,b,c\n1,2,3\n", b"PK\x03\x04xl/broken", b"\xff\xff\xff\xff"]
)
def test_a_file_that_is_no_label_file_gives_one_problem(data: bytes) -> None:
    rows, problems = read_label_rows(data, "x")
    assert rows == []
    assert len(problems) == 1


def test_columns_that_mean_nothing_are_noted_once() -> None:
    rows, problems = read_label_rows(b"left,right,label,colour,size\nA,B,1,red,2\n", "x.csv")
    assert len(rows) == 1
    assert [p.code for p in problems] == ["columns_ignored"]
    assert "colour" in str(problems[0])


def test_label_studio_tasks_are_read_with_the_line_each_begins_on() -> None:
    def task(left: str, right: str, *choices: str, **extra: object) -> dict[str, object]:
        result = [{"type": "choices", "from_name": "关系", "value": {"choices": list(choices)}}]
        return {
            "id": 7,
            "data": {"left": left, "right": right, "text": "正文"},
            "annotations": [{"id": 1, "completed_by": 3, "result": result, **extra}],
        }

    tasks = [
        task("A", "B", "有效修订"),
        task("A", "C", "副本", "模板"),
        task("B", "C", "无关", was_cancelled=True),
        task("B", "D", "副本", completed_by={"id": 4, "email": "wu@example.org"}),
    ]
    data = json.dumps(tasks, ensure_ascii=False, indent=1)
    rows, problems = read_label_rows(data.encode(), "project-1.json")
    begins = [n for n, line in enumerate(data.split("\n"), 1) if line == " {"]
    assert [(r.line, r.left, r.right, r.label, r.extra["annotator"]) for r in rows] == [
        (begins[0], "A", "B", "revision", "3"),
        (begins[3], "B", "D", "copy", "wu@example.org"),
    ]
    assert [(p.code, p.params["line"]) for p in problems] == [
        ("several_labels", begins[1]),
        ("label_unknown", begins[2]),
    ]
    short = '[{"left": "A", "right": "B", "关系": {"choices": ["模板"]}}]'
    assert [row.label for row in read_label_rows(short.encode(), "min.json")[0]] == ["template"]


def test_an_array_that_breaks_off_keeps_what_came_before() -> None:
    data = b'[\n{"left": "A", "right": "B", "label": 1},\n{"left": "A"'
    rows, problems = read_label_rows(data, "x.json")
    assert [(row.line, row.label) for row in rows] == [(2, "copy")]
    assert [(p.code, p.params["line"]) for p in problems] == [("json_broken", 3)]


def test_doccano_lines_have_their_label_in_a_list() -> None:
    lines = [
        {"id": 1, "text": "甲｜乙", "label": ["副本"], "left": "A", "right": "B"},
        {"id": 2, "text": "", "label": ["模板"], "meta": {"left": "A", "right": "C"}},
        {"id": 3, "text": "", "label": [], "left": "B", "right": "C"},
        {"id": 4, "text": "", "label": ["副本", "副本"], "left": "B", "right": "D"},
    ]
    data = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    rows, problems = read_label_rows(data.encode(), "all.jsonl")
    assert [(row.line, row.left, row.right, row.label) for row in rows] == [
        (1, "A", "B", "copy"),
        (2, "A", "C", "template"),
    ]
    assert [(p.code, p.params["line"]) for p in problems] == [
        ("label_unknown", 3),
        ("several_labels", 4),
    ]
