"""A bundle may come from anybody: it is refused, never followed, extracted or believed."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from reviews.models import ReviewTable
from reviews.tables import signing, verify_table, zip_stream
from reviews.tables.errors import TableError
from tests.tables.making import copied


def codes(path: Path) -> set[str]:
    return {fault.code for fault in verify_table(path).faults}


def zipped(table: Path, path: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for file in table.iterdir():
            archive.write(file, prefix + file.name)
    return path


def test_a_zip_is_as_good_as_its_folder(table: Path, tmp_path: Path) -> None:
    assert verify_table(zipped(table, tmp_path / "flat.zip")).ok
    assert verify_table(zipped(table, tmp_path / "nested.zip", "review-table/")).ok
    outer = tmp_path / "outer"
    outer.mkdir()
    table.rename(outer / "inner")
    assert verify_table(outer).ok


def test_the_download_verifies_and_is_the_same_every_time(table: Path, tmp_path: Path) -> None:
    row = ReviewTable.objects.get()
    first, again = b"".join(zip_stream(row)), b"".join(zip_stream(row))
    assert first == again
    (tmp_path / "table.zip").write_bytes(first)
    assert verify_table(tmp_path / "table.zip").ok
    with zipfile.ZipFile(tmp_path / "table.zip") as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == sorted(path.name for path in table.iterdir())


def add(name: str, mode: int = 0) -> Callable[[zipfile.ZipFile], None]:
    def change(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, b"/etc/passwd")

    return change


def bomb(archive: zipfile.ZipFile) -> None:
    with archive.open(zipfile.ZipInfo("zeros.jsonl"), "w") as file:
        for _piece in range(70):
            file.write(b"\0" * 2**20)


def many(archive: zipfile.ZipFile) -> None:
    for number in range(1_100):
        archive.writestr(f"f{number}", b"")


HOSTILE = {
    "climbs out": add("../evil"),
    "absolute": add("/etc/evil"),
    "sub-folder": add("sub/file"),
    "backslash": add("..\\evil"),
    "link": add("link", stat.S_IFLNK | 0o777),
    "device": add("device", stat.S_IFCHR | 0o666),
    "twice": add("flow.json"),
    "escape sequence": add("a\x1b[2Jb"),
    "direction override": add("a\u202egnp.exe"),
    "many": many,
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_zips_are_refused(
    table: Path, tmp_path: Path, change: Callable[[zipfile.ZipFile], None]
) -> None:
    path = zipped(table, tmp_path / "bad.zip")
    with zipfile.ZipFile(path, "a") as archive:
        change(archive)
    before = set(tmp_path.rglob("*"))
    assert codes(path) == {"refused"}
    assert set(tmp_path.rglob("*")) == before


def test_a_bomb_is_not_unpacked(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo("zeros.jsonl")
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w") as file:
            for _piece in range(80):
                file.write(b"\0" * 2**20)
    assert codes(path) == {"refused"}


def test_links_and_folders_in_a_folder_are_refused(table: Path, tmp_path: Path) -> None:
    linked = copied(table, tmp_path)
    data = linked / "flow.json"
    data.rename(tmp_path / "elsewhere.json")
    os.symlink(tmp_path / "elsewhere.json", data)
    assert codes(linked) == {"refused"}
    data.unlink()
    data.mkdir()
    assert codes(linked) == {"refused"}
    data.rmdir()
    os.mkfifo(data)  # opening it would wait for ever
    assert codes(linked) == {"refused"}


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"plain text", b"\0" * 5_000])
def test_what_is_no_bundle_is_said_to_be_none(table: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    assert codes(tmp_path / "x.zip") == {"refused"}
    assert codes(tmp_path / "missing") == {"refused"}


def test_an_empty_folder_misses_everything(table: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert codes(tmp_path / "empty") >= {"file_missing", "sums_incomplete"}


def test_a_cut_zip_is_refused_or_unreadable(table: Path, tmp_path: Path) -> None:
    path = zipped(table, tmp_path / "cut.zip")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert codes(path) == {"refused"}
    damaged = bytearray(data)
    damaged[len(data) // 3] ^= 0xFF
    path.write_bytes(damaged)
    assert codes(path)


MALFORMED = {
    "manifest.json": [b"", b"[]", b"{}", b'{"files":1}', b"\xff\xfe", b"[" * 100_000],
    "SHA256SUMS": [b"", b"zz", b"\0" * 100, b"0" * 64 + b"  ../x\n"],
    "records.jsonl": [
        b"1\n",
        b"{}\n",
        b"[" * 50_000,
        b'{"digest":1,"fields":{"record":[]}}\n',
        b"\xff\n",
    ],
    "judgments.jsonl": [b"null\n", b"[" * 50_000, b"\xff"],
    "flow.json": [b"", b"[]", b"{}", b'{"items":"x"}', b"[" * 50_000],
    "allowed_signers": [b"", b"a b c d", b"\xff", b'x namespaces="y" ssh-ed25519 AAAA\n'],
}


@pytest.mark.parametrize(
    ("name", "content"),
    [(name, content) for name, contents in MALFORMED.items() for content in contents],
    ids=lambda value: value if isinstance(value, str) else ascii(value[:20]),
)
def test_malformed_files_are_faults_and_never_crash(
    table: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    folder = copied(table, tmp_path)
    (folder / name).write_bytes(content)
    faults = verify_table(folder).faults
    assert faults
    assert all(str(fault) for fault in faults)


def test_without_any_key_a_fingerprint_must_be_given(data_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="fingerprint"):
        verify_table(tmp_path)
    assert signing.key_files() == []


def test_what_is_no_fingerprint_is_said_to_be_none(table: Path) -> None:
    for mark in ("x", "SHA256:", "SHA256:" + "A" * 42, "MD5:00"):
        with pytest.raises(TableError, match=mark):
            verify_table(table, fingerprint=mark)
    assert verify_table(table, fingerprint=f" {signing.fingerprint()}\n").ok
