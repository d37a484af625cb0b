"""Folders, manifests, tables and archives become texts, refusals and notes; nothing vanishes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import pytest
import xlsxwriter

from screening.documents import Refusal
from screening.intake.limits import Limits
from screening.intake.model import Entry, Note, ReadDocument
from screening.intake.reading import IntakeError, read_path

TEXT = "本馆每周一闭馆整理图书，其余日期上午九时至下午五时开放，请读者相互转告。"


def read(path: Path, **options: object) -> list[Entry]:
    return list(read_path(path, **options))  # type: ignore[arg-type]


def texts(entries: list[Entry]) -> dict[str, str]:
    return {e.document.doc_id: e.document.raw for e in entries if isinstance(e, ReadDocument)}


def codes(entries: list[Entry]) -> dict[str, str]:
    return {e.place: e.problem.code for e in entries if isinstance(e, Refusal)}


def jsonl(path: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return path


# --- Folders and plain text ------------------------------------------------------------------------------------------


def test_a_folder_gives_every_file_in_code_point_order(tmp_path: Path) -> None:
    (tmp_path / "乙").mkdir()
    (tmp_path / "乙" / "b.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "a.md").write_bytes(TEXT.encode("gb18030"))
    (tmp_path / "z.bin").write_bytes(b"\0\1\2")
    entries = read(tmp_path)
    assert texts(entries) == {"a.md": TEXT, "乙/b.txt": TEXT}
    assert [e.place for e in entries] == ["a.md", "z.bin", "乙/b.txt"]
    assert codes(entries) == {"z.bin": "format_unsupported"}


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    data = TEXT.encode("utf-16")
    (tmp_path / "a.txt").write_bytes(data)
    (entry,) = read(tmp_path / "a.txt")
    assert isinstance(entry, ReadDocument)
    assert entry.document.sha256 == hashlib.sha256(data).hexdigest()
    assert entry.raw_sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert entry.document.doc_id == entry.document.original_path == "a.txt"


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IntakeError):
        read(tmp_path / "none")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        ("\ufeff \u3000\n\t\u200b".encode(), "empty"),
        (TEXT.encode() + "之后".encode("gb18030"), "encoding_broken"),
        (TEXT.encode().decode("latin-1").encode(), "garbled"),
        (TEXT.encode().decode("gb18030", "ignore").encode(), "garbled"),
        (b"%PDF-1.7 ...", "pdf_broken"),
        (b"PK\x03\x04....", "not_text"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, code: str) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    assert codes(read(tmp_path)) == {"a.txt": code}


@pytest.mark.parametrize("suffix", ["json", "py", "xls", "mht", "epub"])
def test_formats_that_are_not_read_say_so(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"a.{suffix}").write_bytes(TEXT.encode())
    assert codes(read(tmp_path)) == {f"a.{suffix}": "format_unsupported"}


def test_a_text_that_calls_itself_pdf_is_read_as_text_and_noise_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text(TEXT, encoding="utf-8")
    (tmp_path / "b.pdf").write_bytes(bytes(range(128, 256)) * 3)
    entries = read(tmp_path)
    assert texts(entries) == {"a.pdf": TEXT}
    assert codes(entries) == {"b.pdf": "not_what_it_says"}
    assert isinstance(entries[0], ReadDocument)
    assert [w.code for w in entries[0].warnings] == ["named_otherwise"]


def test_control_characters_are_taken_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "甲\0乙\x07丙\x1b[31m丁\x1b[0m\t戊\r\n己\u2028庚\x85辛", encoding="utf-8", newline=""
    )
    (entry,) = read(tmp_path)
    assert isinstance(entry, ReadDocument)
    assert entry.document.raw == "甲乙丙丁\t戊\r\n己\u2028庚\x85辛"
    assert [w.code for w in entry.warnings] == ["control_characters"]
    assert entry.warnings[0].params["count"] == 4


def test_punctuation_alone_is_kept_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("，。——！", encoding="utf-8")
    (entry,) = read(tmp_path)
    assert isinstance(entry, ReadDocument)
    assert [w.code for w in entry.warnings] == ["nothing_to_compare"]


def test_front_matter_is_metadata_and_no_text(tmp_path: Path) -> None:
    matter = "---\r\ntitle: 通知\r\ntags: [a, b]\r\n发文机关: 青禾市图书馆\r\n---\r\n"
    (tmp_path / "a.md").write_text(matter + TEXT, encoding="utf-8", newline="")
    (entry,) = read(tmp_path)
    assert isinstance(entry, ReadDocument)
    assert entry.document.raw == TEXT
    assert entry.document.title == "通知"
    assert entry.document.metadata["issuer"] == "青禾市图书馆"


@pytest.mark.parametrize(
    "text", ["---\n第一段没有键\n---\n第二段", "---\n第一段", "正文\n---\na: b\n---\n"]
)
def test_rules_between_paragraphs_are_no_front_matter(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    assert texts(read(tmp_path)) == {"a.md": text}


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(TEXT, encoding="utf-8")
    inside = tmp_path / "in"
    inside.mkdir()
    os.symlink(tmp_path / "secret.txt", inside / "a.txt")
    assert codes(read(inside)) == {"a.txt": "path_outside"}


def test_limits_are_named_in_the_refusal(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    entries = read(tmp_path, limits=Limits(text_bytes=20))
    assert codes(entries) == {"a.txt": "too_large"}
    assert "20" in str(entries[0].problem)  # type: ignore[union-attr]


# --- JSON lines ------------------------------------------------------------------------------------------------------


def test_documents_jsonl_speaks_for_its_folder(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "unlisted.txt").write_text("别的", encoding="utf-8")
    jsonl(
        tmp_path / "documents.jsonl",
        {"doc_id": "D1", "path": "docs/a.txt", "title": "甲", "version": None, "colour": "red"},
        {"doc_id": "D2", "raw": "第二份材料", "source_id": "网站", "doc_number": "青府〔2026〕1号"},
    )
    entries = read(tmp_path)
    assert texts(entries) == {"D1": TEXT, "D2": "第二份材料"}
    first, second, note = entries
    assert isinstance(first, ReadDocument)
    assert isinstance(second, ReadDocument)
    assert first.document.original_path == first.file == "docs/a.txt"
    assert first.document.title == "甲"
    assert second.document.sha256 == hashlib.sha256("第二份材料".encode()).hexdigest()
    assert second.document.metadata == {"doc_number": "青府〔2026〕1号"}
    assert second.document.original_path is None
    assert isinstance(note, Note)
    assert "colour" in str(note.problem)


@pytest.mark.parametrize("path", ["../x.txt", "/etc/passwd", "C:\\x.txt", "a/../../x.txt"])
def test_a_path_out_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    inner = tmp_path / "in"
    inner.mkdir()
    (tmp_path / "x.txt").write_text(TEXT, encoding="utf-8")
    jsonl(inner / "documents.jsonl", {"doc_id": "D1", "path": path})
    assert codes(read(inner)) == {"documents.jsonl:1": "path_outside"}


def test_bad_lines_are_named_and_the_others_read(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "m.jsonl",
        {"text": "没有编号"},
        {"doc_id": "A"},
        {"doc_id": None, "text": None},
        '{"doc_id": "B", "text": "坏',
        "[]",
        '"字符串"',
        {"doc_id": "C", "text": "好行"},
        {"doc_id": "D", "raw": "含\0空字符"},
        {"doc_id": 7, "raw": "整数编号"},
        {"doc_id": 7.5, "raw": "小数编号"},
        {"doc_id": "E", "raw": 12},
        {"doc_id": "F" * 501, "raw": "过长"},
        {"doc_id": "G\n", "raw": "两端的空白不算"},
        {"doc_id": "a\tb", "raw": "制表符"},
        {"doc_id": "H", "path": "none.txt"},
    )
    entries = read(path)
    assert texts(entries) == {"C": "好行", "7": "整数编号", "G": "两端的空白不算"}
    assert codes(entries) == {
        "m.jsonl:1": "doc_id_missing",
        "m.jsonl:2": "text_missing",
        "m.jsonl:3": "doc_id_missing",
        "m.jsonl:4": "json_broken",
        "m.jsonl:5": "json_not_object",
        "m.jsonl:6": "json_not_object",
        "m.jsonl:8": "nul",
        "m.jsonl:10": "doc_id_not_text",
        "m.jsonl:11": "text_not_text",
        "m.jsonl:12": "field_too_long",
        "m.jsonl:14": "doc_id_control",
        "m.jsonl:15": "path_missing",
    }


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "m.jsonl",
        {"doc_id": "1", "raw": "前\u2028后"},
        {"doc_id": "2", "raw": "前\x85后\u2029"},
    )
    assert texts(read(path)) == {"1": "前\u2028后", "2": "前\x85后\u2029"}


def test_a_lone_surrogate_becomes_a_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"doc_id": "1", "raw": "\\ud83d\xe7\x94\xb2", "title": "\\ude00"}\n')
    (entry,) = read(path)
    assert isinstance(entry, ReadDocument)
    assert entry.document.raw == "\ufffd甲"
    assert [w.code for w in entry.warnings] == ["lone_surrogates"]
    assert entry.document.title is not None
    entry.document.title.encode("utf-8")


def test_one_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    lines = [
        json.dumps({"doc_id": str(n), "raw": TEXT}, ensure_ascii=False).encode() for n in range(3)
    ]
    lines[1] = lines[1][:40] + b"\xff" + lines[1][40:]
    path = tmp_path / "m.jsonl"
    path.write_bytes(b"\n".join(lines))
    entries = read(path)
    assert sorted(texts(entries)) == ["0", "2"]
    assert codes(entries) == {"m.jsonl:2": "encoding_broken"}


@pytest.mark.parametrize("codec", ["gb18030", "utf-16", "utf-8-sig"])
def test_a_manifest_may_be_in_another_encoding(tmp_path: Path, codec: str) -> None:
    rows = "".join(
        json.dumps({"doc_id": n, "raw": TEXT + n}, ensure_ascii=False) + "\n" for n in "甲乙"
    )
    (tmp_path / "m.jsonl").write_bytes(rows.encode(codec))
    assert texts(read(tmp_path / "m.jsonl")) == {"甲": TEXT + "甲", "乙": TEXT + "乙"}


def test_a_doc_id_counts_once(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "m.jsonl",
        {"doc_id": "D", "raw": "甲文"},
        {"doc_id": "E", "raw": "别的"},
        {"doc_id": "D", "raw": "甲文"},
        {"doc_id": "D", "raw": "乙文"},
        {"doc_id": "d", "raw": "大小写不同就是另一份"},
    )
    entries = read(path)
    assert texts(entries)["D"] == "甲文"
    assert codes(entries) == {"m.jsonl:3": "repeated", "m.jsonl:4": "doc_id_conflict"}
    conflict = str(entries[3].problem)  # type: ignore[union-attr]
    assert "m.jsonl:1" in conflict
    assert "m.jsonl:4" in conflict


def test_a_row_limit_ends_the_reading_with_a_refusal(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "m.jsonl", *({"doc_id": str(n), "raw": "文"} for n in range(5)))
    entries = read(path, limits=Limits(rows=3))
    assert len(texts(entries)) == 3
    assert codes(entries) == {"m.jsonl:4": "too_many_rows"}


# --- Tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gb18030"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_tables_in_any_delimiter_and_encoding(tmp_path: Path, codec: str, mark: str) -> None:
    rows = [
        ["编号", "标题", "正文"],
        ["A1", "通知", f'"第一行{mark}带分隔符\n第二行，引号""在内"'],
        ["007", "", "零七"],
    ]
    data = "\r\n".join(mark.join(row) for row in rows) + "\r\n"
    (tmp_path / "t.csv").write_bytes(data.encode(codec))
    entries = read(tmp_path / "t.csv")
    assert texts(entries) == {"A1": f'第一行{mark}带分隔符\n第二行，引号"在内', "007": "零七"}
    places = [e.place for e in entries if isinstance(e, ReadDocument)]
    assert places == ["t.csv:2", "t.csv:4"]


def test_a_very_long_cell_is_kept_whole(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"id,text\n1,{'长' * 140_000}\n", encoding="utf-8")
    assert len(texts(read(tmp_path / "t.csv"))["1"]) == 140_000


def test_bad_rows_are_named_by_their_line(tmp_path: Path) -> None:
    table = 'doc_id;title;text\nD1;甲;正文\nD2;少一列\nD3;多;一;列\n;缺编号;正文\nD4;丁;"未闭合\n'
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    entries = read(tmp_path / "t.csv")
    assert texts(entries) == {"D1": "正文"}
    assert codes(entries) == {
        "t.csv:3": "text_missing",
        "t.csv:4": "row_too_wide",
        "t.csv:5": "doc_id_missing",
        "t.csv:6": "csv_broken",
    }


def test_a_table_without_the_needed_columns_names_its_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("姓名,电话\n甲,1\n", encoding="utf-8")
    entries = read(tmp_path / "t.csv")
    assert codes(entries) == {"t.csv": "columns_missing"}
    assert "姓名" in str(entries[0].problem)  # type: ignore[union-attr]


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    with xlsxwriter.Workbook(str(path), {"strings_to_formulas": False}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return path


def test_spreadsheets_keep_ids_as_they_are(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "t.xlsx",
        {
            "说明": [["随便写的"]],
            "材料": [
                ["文档编号", "正文"],
                ["007", "文本编号"],
                [7, "数字编号"],
                ["0070", '=HYPERLINK("x")'],
                [123456789012345678, "丢位"],
                [],
                ["A", 2.5],
            ],
        },
    )
    entries = read(path)
    assert texts(entries) == {
        "007": "文本编号",
        "7": "数字编号",
        "0070": '=HYPERLINK("x")',
        "A": "2.5",
    }
    assert codes(entries) == {"t.xlsx[材料]:5": "number_lost_digits"}
    notes = {e.problem.code: str(e.problem) for e in entries if isinstance(e, Note)}
    assert set(notes) == {"columns_read", "sheet_ignored"}
    assert "编号 → doc_id" in notes["columns_read"]


def test_a_damaged_spreadsheet_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {"a": [["编号", "正文"], ["1", TEXT]]})
    path.write_bytes(path.read_bytes()[:-200])
    assert list(codes(read(path)).values()) == ["archive_broken"]


# --- Archives --------------------------------------------------------------------------------------------------------


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("size", [40, 20_000_000])
def test_a_damaged_member_refuses_itself_and_no_other(
    tmp_path: Path, method: int, size: int
) -> None:
    path = tmp_path / "a.zip"
    noise = (TEXT * (size // 100 + 1)).encode()
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.txt", noise)
        archive.writestr("b.txt", TEXT)
        at = archive.infolist()[0].header_offset + 60
    data = bytearray(path.read_bytes())
    data[at : at + 6] = b"\xff\x00\xff\x00\xff\x00"
    path.write_bytes(data)
    limits = Limits(archive_ratio=100_000)
    entries = read(path, limits=limits)
    assert codes(entries) == {"a.zip/a.txt": "archive_broken"}
    assert texts(entries) == {"b.txt": TEXT}


class WindowsName(zipfile.ZipInfo):
    """As Windows packs them: names in its own encoding, with no flag that says so."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode("gb18030"), self.flag_bits & ~0x800


def test_an_archive_is_read_by_its_names(tmp_path: Path) -> None:
    files = {"通知/甲.txt": TEXT.encode(), "b.md": TEXT.encode("gb18030"), "c.docx": b"PK\x03\x04"}
    entries = read(packed(tmp_path / "a.zip", files))
    assert texts(entries) == {"b.md": TEXT, "通知/甲.txt": TEXT}
    assert codes(entries) == {"a.zip/c.docx": "archive_broken"}
    last = entries[-1]
    assert isinstance(last, ReadDocument)
    assert (last.file, last.locator, last.place) == ("a.zip", "通知/甲.txt", "a.zip/通知/甲.txt")
    assert last.document.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()


def test_names_packed_by_windows_are_read(tmp_path: Path) -> None:
    names = ["放假安排通知.txt", "值班/人员名单.txt", "plain.txt"]
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in names:
            archive.writestr(WindowsName(name), TEXT + name)
    assert texts(read(tmp_path / "a.zip")) == {name: TEXT + name for name in names}


def test_an_archive_with_a_manifest_is_its_manifest(tmp_path: Path) -> None:
    row = json.dumps({"doc_id": "D1", "path": "docs/a.txt"}).encode()
    for top in ("", "corpus/"):
        path = packed(
            tmp_path / "a.zip",
            {
                f"{top}documents.jsonl": row,
                f"{top}docs/a.txt": TEXT.encode(),
                f"{top}other.txt": b"abc",
            },
        )
        assert texts(read(path)) == {"D1": TEXT}


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"../a.txt": b"abc"}, "path_outside"),
        ({"/a.txt": b"abc"}, "path_outside"),
        ({"in.zip": b"PK\x03\x04"}, "archive_nested"),
        ({"a.txt": b"\0" * 30_000_000}, "archive_ratio"),
    ],
)
def test_dangerous_members_are_refused(tmp_path: Path, files: dict[str, bytes], code: str) -> None:
    entries = read(packed(tmp_path / "a.zip", files))
    assert list(codes(entries).values()) == [code]
    assert texts(entries) == {}


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {f"{n}.txt": b"abc" for n in range(5)})
    assert codes(read(path, limits=Limits(archive_members=4))) == {"a.zip": "archive_members"}


@pytest.mark.parametrize("data", [b"PK\x03\x04 broken", b"", b"no archive"])
def test_a_broken_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(data)
    assert len(codes(read(tmp_path))) == 1


def test_files_of_the_file_manager_are_only_noted(tmp_path: Path) -> None:
    path = packed(
        tmp_path / "a.zip", {"a.txt": TEXT.encode(), "__MACOSX/._a.txt": b"x", ".DS_Store": b"x"}
    )
    entries = read(path)
    assert texts(entries) == {"a.txt": TEXT}
    assert [e.problem.code for e in entries if isinstance(e, Note)] == ["system_file"] * 2


def test_two_archives_in_a_folder_do_not_collide(tmp_path: Path) -> None:
    packed(tmp_path / "1.zip", {"a.txt": b"first text"})
    packed(tmp_path / "2.zip", {"a.txt": b"second text"})
    assert texts(read(tmp_path)) == {"1.zip/a.txt": "first text", "2.zip/a.txt": "second text"}


def test_reading_needs_no_more_than_a_stream() -> None:
    """The reader of JSON lines takes what a browser sends as well: anything that can be read and rewound."""
    from screening.intake.apart import Reader
    from screening.intake.limits import DEFAULT_LIMITS
    from screening.intake.manifests import Manifest, read_jsonl
    from screening.intake.trees import Files

    manifest = Manifest("m.jsonl", Files({}), DEFAULT_LIMITS, Reader())
    entries = list(read_jsonl(manifest, io.BytesIO(b'{"doc_id": "1", "raw": "abc"}')))
    assert texts(entries) == {"1": "abc"}


def test_a_list_named_alone_finds_the_files_beside_it_and_none_outside(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "texts").mkdir(parents=True)
    (home / "texts" / "one.txt").write_text("河滩绿道自即日起开放。", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("外面的文件", encoding="utf-8")
    (home / "link.txt").symlink_to(tmp_path / "secret.txt")
    listed = home / "list.jsonl"
    rows = [
        {"doc_id": "A", "path": "texts/one.txt"},
        {"doc_id": "B", "path": "link.txt"},
        {"doc_id": "C", "path": "../secret.txt"},
        {"doc_id": "D", "path": "texts/none.txt"},
    ]
    listed.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    entries = list(read_path(listed))
    read = [entry for entry in entries if isinstance(entry, ReadDocument)]
    assert [entry.document.raw for entry in read] == ["河滩绿道自即日起开放。"]
    refused = {entry.doc_id for entry in entries if isinstance(entry, Refusal)}
    assert refused == {"B", "C", "D"}


# --- Names that look alike, digests that do not fit -----------------------------------------------------------------


def warned(entries: list[Entry]) -> dict[str, list[str]]:
    return {
        e.document.doc_id: [w.code for w in e.warnings]
        for e in entries
        if isinstance(e, ReadDocument)
    }


def test_ids_that_look_alike_are_two_documents_with_a_warning(tmp_path: Path) -> None:
    ids = ["a1", "A1", "é", "e\u0301", "甲", "甲\u200b", "b\u202ec", "乙"]
    path = jsonl(
        tmp_path / "m.jsonl", *({"doc_id": i, "raw": TEXT + str(n)} for n, i in enumerate(ids))
    )
    assert warned(read(path)) == {
        "a1": [],
        "A1": ["doc_id_alike"],
        "é": [],
        "e\u0301": ["doc_id_alike"],
        "甲": [],
        "甲\u200b": ["doc_id_unseen", "doc_id_alike"],
        "b\u202ec": ["doc_id_unseen"],
        "乙": [],
    }
    other_way = jsonl(
        tmp_path / "n.jsonl", {"doc_id": "A1", "raw": TEXT}, {"doc_id": "a1", "raw": TEXT}
    )
    assert warned(read(other_way)) == {"A1": [], "a1": ["doc_id_alike"]}


@pytest.mark.parametrize(
    ("doc_id", "code"),
    [
        ("x" * 10_000, "field_too_long"),
        ("a\nb", "doc_id_control"),
        ("a\x00b", "doc_id_control"),
        ("\u2028", "doc_id_missing"),
        ("a\u2028b", "doc_id_control"),
        ("\ud800", "doc_id_control"),
        (["a"], "doc_id_not_text"),
        (1.5, "doc_id_not_text"),
        (True, "doc_id_not_text"),
        ("  ", "doc_id_missing"),
        (None, "doc_id_missing"),
    ],
)
def test_ids_that_are_none_are_refused(tmp_path: Path, doc_id: object, code: str) -> None:
    (tmp_path / "m.jsonl").write_text(json.dumps({"doc_id": doc_id, "raw": TEXT}), encoding="ascii")
    assert codes(read(tmp_path / "m.jsonl")) == {"m.jsonl:1": code}


def test_a_row_has_a_text_or_a_path_and_the_digest_that_it_states(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    right = hashlib.sha256(TEXT.encode()).hexdigest()
    path = jsonl(
        tmp_path / "m.jsonl",
        {"doc_id": "1", "raw": TEXT, "sha256": right},
        {"doc_id": "2", "raw": TEXT, "sha256": right.upper()},
        {"doc_id": "3", "raw": TEXT + "。", "sha256": right},
        {"doc_id": "4", "raw": TEXT, "path": "a.txt"},
        {"doc_id": "5", "raw": "", "path": "a.txt", "sha256": right},
        {"doc_id": "6", "raw": TEXT, "path": None, "sha256": ""},
        {
            "doc_id": "7",
            "raw": "\x07" + TEXT,
            "sha256": hashlib.sha256(b"\x07" + TEXT.encode()).hexdigest(),
        },
    )
    entries = read(path)
    assert set(texts(entries)) == {"1", "2", "5", "6", "7"}
    assert codes(entries) == {"m.jsonl:3": "raw_sha256_differs", "m.jsonl:4": "text_and_path"}
    said = {e.place: str(e.problem) for e in entries if isinstance(e, Refusal)}
    assert "sha256" in said["m.jsonl:3"]
    assert "raw" in said["m.jsonl:4"]
    assert "path" in said["m.jsonl:4"]


def test_a_file_name_with_control_characters_is_no_id(tmp_path: Path) -> None:
    (tmp_path / "a\nb.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / ("长" * 80 + ".txt")).write_text(TEXT, encoding="utf-8")
    (tmp_path / "c\u202etxt.exe.txt").write_text(TEXT, encoding="utf-8")
    entries = read(tmp_path)
    assert list(codes(entries).values()) == ["name_control"]
    assert [codes_ for codes_ in warned(entries).values() if codes_] == [["doc_id_unseen"]]


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    row = json.dumps({"doc_id": "b", "raw": TEXT}, ensure_ascii=False)
    long = json.dumps({"doc_id": "a", "raw": "长" * 40_000}, ensure_ascii=False)
    (tmp_path / "m.jsonl").write_text(f"{long}\n{row}\n", encoding="utf-8")
    entries = read(tmp_path / "m.jsonl", limits=Limits(text_bytes=50_000))
    assert codes(entries) == {"m.jsonl:1": "line_too_long"}
    assert set(texts(entries)) == {"b"}


def test_a_table_without_rows_is_refused_and_endless_columns_are_named_in_part(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").write_text("编号,正文\n", encoding="utf-8")
    names = ",".join(f"列{n}" for n in range(100_000))
    (tmp_path / "b.csv").write_text(f"编号,正文,{names}\n1,{TEXT}\n", encoding="utf-8")
    entries = read(tmp_path)
    assert codes(entries) == {"a.csv": "table_without_rows"}
    assert set(texts(entries)) == {"1"}
    (note,) = [e for e in entries if isinstance(e, Note) and e.problem.code == "fields_ignored"]
    assert len(str(note.problem)) < 600


def test_an_encoding_is_chosen_by_place_also_within_an_archive_and_a_list(tmp_path: Path) -> None:
    unclear = "00元".encode("gb18030")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_bytes(unclear)
    with zipfile.ZipFile(tmp_path / "in" / "b.zip", "w") as archive:
        archive.writestr("c.txt", unclear)
        archive.writestr("d.txt", TEXT)
    assert set(codes(read(tmp_path / "in")).values()) == {"encoding_unclear"}
    one = read(tmp_path / "in", chosen={"b.zip/c.txt": "gb18030"})
    assert codes(one) == {"a.txt": "encoding_unclear"}
    assert texts(one) == {"b.zip/c.txt": "00元", "b.zip/d.txt": TEXT}
    everything = read(tmp_path / "in", chosen={"": "gb18030"})
    assert codes(everything) == {}
    assert warned(everything)["a.txt"] == ["encoding_chosen"]
    assert warned(everything)["b.zip/d.txt"] == []
    listed = jsonl(tmp_path / "m.jsonl", {"doc_id": "x", "path": "in/a.txt"})
    assert codes(read(listed)) == {"m.jsonl:1": "encoding_unclear"}
    assert texts(read(listed, chosen={"m.jsonl:1": "gb18030"})) == {"x": "00元"}
