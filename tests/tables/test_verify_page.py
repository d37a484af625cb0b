"""The page that verifies a table from anybody: findings in words, never an error of ours."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from dedupreview.people.models import Role
from reviews.models import ReviewTable
from reviews.tables import signing, zip_stream
from tests.reviews import world as worlds

ADDRESS = "/tables/verify/"


@pytest.fixture
def auditor(table: Path, client: Client) -> Client:
    client.force_login(worlds.person("auditor", Role.AUDITOR))
    return client


def handed_in(client: Client, data: bytes, name: str = "审核表.zip", **fields: str) -> Any:
    file = SimpleUploadedFile(name, data, "application/zip")
    return client.post(ADDRESS, {"file": file, **fields})


def codes(response: Any) -> set[str]:
    assert response.status_code == 200
    return {fault.code for fault in response.context["found"].faults}


def genuine() -> bytes:
    return b"".join(zip_stream(ReviewTable.objects.get()))


def changed(name: str, change: Callable[[bytes], bytes]) -> bytes:
    """The genuine zip with one of its files changed."""
    target = BytesIO()
    with zipfile.ZipFile(BytesIO(genuine())) as source, zipfile.ZipFile(target, "w") as copy:
        for info in source.infolist():
            data = source.read(info)
            copy.writestr(info.filename, change(data) if info.filename == name else data)
    return target.getvalue()


def test_the_address_is_its_own(auditor: Client) -> None:
    assert reverse("reviews:verify-table") == ADDRESS
    page = auditor.get(ADDRESS)
    assert page.status_code == 200
    assert "核验审核表" in page.content.decode()


def test_a_genuine_table_is_called_so(auditor: Client) -> None:
    response = handed_in(auditor, genuine())
    html = response.content.decode()
    assert codes(response) == set()
    assert "审核表真实、完整。" in html
    assert signing.fingerprint() in html
    assert "审核表.zip" in html


@pytest.mark.parametrize(
    ("name", "change", "code", "words"),
    [
        ("final.csv", lambda data: data.replace(b"\r\n", b"\n"), "newlines_converted", "换行"),
        ("final.xlsx", lambda data: data[:-1] + b"x", "content_changed", "final.xlsx"),
        ("manifest.json", lambda data: b"[" * 200_000, "manifest_malformed", "manifest.json"),
        ("manifest.json", lambda data: b" " * (5 << 20), "unreadable", "manifest.json"),
        ("SHA256SUMS.sig", lambda data: data[:40], "signature_malformed", "SHA256SUMS.sig"),
        ("records.jsonl", lambda data: b'{"a":' * 100_000, "record_malformed", "records.jsonl"),
        ("records.jsonl", lambda data: b"[" + b"[]," * 300_000, "record_malformed", "records"),
        ("final.csv", lambda data: data + b'"' + b"\n" * 300_000, "row_added", "final.csv"),
    ],
)
def test_what_was_done_to_a_table_is_said_in_words(
    auditor: Client, name: str, change: Callable[[bytes], bytes], code: str, words: str
) -> None:
    response = handed_in(auditor, changed(name, change))
    assert code in codes(response)
    html = response.content.decode()
    assert "不要依据这份审核表" in html
    assert words in html


def test_it_is_compared_with_the_fingerprint_given(auditor: Client) -> None:
    mark = signing.fingerprint()
    assert codes(handed_in(auditor, genuine(), fingerprint=f" {mark} ")) == set()
    other = "SHA256:" + "A" * 43
    assert codes(handed_in(auditor, genuine(), fingerprint=other)) == {
        "wrong_key",
        "key_not_pinned",
    }
    refused = handed_in(auditor, genuine(), fingerprint="<b>x</b>")
    assert refused.status_code == 200
    assert "found" not in refused.context
    assert "&lt;b&gt;x&lt;/b&gt;" in refused.content.decode()


def with_member(name: str, **attributes: Any) -> bytes:
    target = BytesIO(genuine())
    with zipfile.ZipFile(target, "a") as archive:
        info = zipfile.ZipInfo(name)
        for key, value in attributes.items():
            setattr(info, key, value)
        archive.writestr(info, b"/etc/passwd")
    return target.getvalue()


def bomb() -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo("zeros.jsonl")
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w") as file:
            for _piece in range(80):
                file.write(b"\0" * 2**20)
    return target.getvalue()


def lying_about_its_sizes() -> bytes:
    """A zip whose list says that a file is small although it unpacks to more."""
    data = bytearray(bomb())
    place = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, place + 24, 10)
    return bytes(data)


def not_utf8() -> bytes:
    """A name whose bytes are no UTF-8 although the zip says that they are."""
    data = with_member("审-x", flag_bits=0x800)
    return data.replace("审-x".encode(), b"\xff\xfe\xfd-x")


def endless_list() -> bytes:
    """An end record that promises a list of contents too long to be read."""
    data = bytearray(genuine())
    place = data.rindex(b"PK\x05\x06")
    struct.pack_into("<I", data, place + 12, 0x7FFFFFFF)
    return bytes(data)


def many() -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for number in range(25_000):
            archive.writestr(f"f{number:06}-{'x' * 30}", b"")
    return target.getvalue()


def unknown_method() -> bytes:
    data = bytearray(genuine())
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", data, data.index(mark) + offset, 97)
    return bytes(data)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "no zip": lambda: b"<html>",
    "half a zip": lambda: genuine()[:3000],
    "climbs out": lambda: with_member("../evil"),
    "absolute": lambda: with_member("/etc/evil"),
    "drive": lambda: with_member("C:\\evil"),
    "nested": lambda: with_member("a/b/c"),
    "link": lambda: with_member("link", external_attr=0o120777 << 16),
    "device": lambda: with_member("null", external_attr=0o020666 << 16),
    "encrypted": lambda: with_member("secret", flag_bits=0x1),
    "bomb": bomb,
    "lies": lying_about_its_sizes,
    "not UTF-8": not_utf8,
    "endless list": endless_list,
    "many": many,
    "method": unknown_method,
    "terminal codes": lambda: with_member("a\x1b[2J"),
    "script": lambda: with_member("<script>alert(1)</script>"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_zips_end_in_a_finding(auditor: Client, make: Callable[[], bytes]) -> None:
    data = make()
    response = handed_in(auditor, data)
    if not data:
        assert response.status_code == 200
        assert response.context["form"].errors
        return
    assert codes(response)
    html = response.content.decode()
    assert "<script>alert" not in html
    assert "\x1b" not in html


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_a_finding(auditor: Client) -> None:
    assert codes(handed_in(auditor, with_member("flow.json"))) == {"refused"}


def test_a_zip_in_a_folder_is_as_good(auditor: Client, table: Path) -> None:
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("审核表-1/", b"")
        for path in table.iterdir():
            archive.write(path, f"审核表-1/{path.name}")
    assert codes(handed_in(auditor, target.getvalue())) == set()


def test_modes_and_times_of_files_do_not_matter(auditor: Client, table: Path) -> None:
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path in table.iterdir():
            info = zipfile.ZipInfo(path.name, (2031, 5, 6, 7, 8, 10))
            info.external_attr = 0o100777 << 16
            archive.writestr(info, path.read_bytes())
    assert codes(handed_in(auditor, target.getvalue())) == set()


def test_what_unpacks_to_too_much_is_refused(auditor: Client, settings: Any) -> None:
    settings.TABLE_LIMITS = {**settings.TABLE_LIMITS, "unpacked_bytes": 10_000}
    assert codes(handed_in(auditor, genuine())) == {"refused"}


def test_what_is_too_large_is_turned_away_unread(
    auditor: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TABLE_LIMITS = {**settings.TABLE_LIMITS, "upload_bytes": 1_000}
    monkeypatch.setattr(
        "django.http.request.HttpRequest._load_post_and_files",
        lambda request: pytest.fail("the body was read"),
    )
    response = handed_in(auditor, genuine() + b"x" * 100_000)
    assert response.status_code == 413
    assert "verify_table" in response.content.decode()


def test_a_large_upload_is_verified_where_it_lies(auditor: Client, settings: Any) -> None:
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 100
    assert codes(handed_in(auditor, genuine())) == set()


def test_the_form_needs_its_token(table: Path) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(worlds.person("admin-x", Role.ADMIN))
    assert handed_in(strict, genuine()).status_code == 403


def test_those_who_only_judge_have_no_such_page(table: Path, client: Client) -> None:
    client.force_login(worlds.person("a", Role.ANNOTATOR))
    assert client.get(ADDRESS).status_code == 404
    assert handed_in(client, genuine()).status_code == 404
