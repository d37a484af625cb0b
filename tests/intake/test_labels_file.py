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


@pytest.mark.parametrize(
    "header",
    ["Left ID,Right ID,Label", "left_doc_id,right_doc_id,choice", "材料1,材料2,标注结果", "左,右,標籤", "ｌｅｆｔ：,right :,label"],
)  # fmt: skip
def test_headers_are_known_whatever_their_case_width_and_signs(header: str) -> None:
    assert pairs(f"{header}\nA,B,模板\n".encode()) == {("A", "B"): "template"}


@pytest.mark.parametrize("above", ["sep=,\n", "标注汇总表,,\n第一批,,\n"])
def test_a_header_under_a_title_is_found_and_lines_count_from_the_top(above: str) -> None:
    rows, problems = read_label_rows(f"{above}left,right,label\nA,B,副本\nA,C,x\n".encode(), "x")
    first = above.count("\n") + 2
    assert [row.line for row in rows] == [first]
    assert [(p.code, p.params["line"]) for p in problems] == [("label_unknown", first + 1)]


@pytest.mark.parametrize(
    ("word", "label"),
    [("１", "copy"), ("0.0", "not_copy"), ("副本（copy）", "copy"), ("模", "template"), ("copy\u200e", "copy"),
     ("copy/template", None), ("副本吗", None), ("copy x", None)],
)  # fmt: skip
def test_labels_as_programs_and_people_write_them(word: str, label: str | None) -> None:
    assert label_of(word) == label


def test_two_labels_in_one_cell_are_not_one() -> None:
    _rows, problems = read_label_rows(b'left,right,label\nA,B,"copy,template"\n', "x")
    assert [(p.code, p.params["line"]) for p in problems] == [("several_labels", 2)]


def test_a_column_that_is_there_twice_may_say_one_thing_only() -> None:
    data = b"left,right,label,label\nA,B,copy,copy\nA,C,copy,template\nA,D,copy,\n"
    rows, problems = read_label_rows(data, "x")
    assert [row.right for row in rows] == ["B", "D"]
    assert [(p.code, p.params["line"]) for p in problems if "line" in p.params] == [
        ("column_twice", 3)
    ]


def test_what_no_database_can_store_is_marked_and_not_passed_on() -> None:
    data = b'{"left":"A\\u0000","right":"\\ud800","label":"copy","why":"x\\u0000y"}\n'
    (row,), _problems = read_label_rows(data, "x")
    assert (row.left, row.right, row.extra["why"]) == ("A\ufffd", "\ufffd", "x\ufffdy")


def test_one_json_object_may_hold_the_list_or_be_the_pair() -> None:
    one = {"left": "A", "right": "B", "label": "copy"}
    nested = {"left": {"doc_id": "A"}, "right": {"doc_id": "B"}, "label": "copy"}
    for value in ({"version": 1, "pairs": [one]}, one, {"pair": ["A", "B"], "label": 1}, nested):
        for indent in (None, 1):
            assert pairs(json.dumps(value, indent=indent).encode()) == {("A", "B"): "copy"}
    relations = {**one, "text": "", "relations": [{"id": 1}]}
    assert pairs(json.dumps(relations).encode()) == {("A", "B"): "copy"}
    indented = json.dumps({"pairs": [one, {**one, "label": "?!"}]}, indent=1)
    _rows, problems = read_label_rows(indented.encode(), "x")
    assert problems[0].params["line"] == 1 + indented[: indented.rindex("{")].count("\n")


def test_a_hundred_thousand_rows_are_all_read() -> None:
    lines = "".join(f"d{n},e{n},{('副本', 'x')[n % 1000 == 0]}\n" for n in range(100_000))
    rows, problems = read_label_rows(("left,right,label\n" + lines).encode(), "x")
    assert len(rows) == 99_900
    assert len(problems) == 100
