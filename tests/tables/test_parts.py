"""A download that broke goes on where it stopped, and nothing is held in memory for it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from django.urls import reverse

from dedupreview.people.models import Role
from reviews.models import ReviewTable
from reviews.tables import packing, run_table, table_folder, zip_stream
from tests.reviews import world as worlds
from tests.tables import making


@pytest.fixture
def packed(db: None, data_dir: Any) -> ReviewTable:
    made = making.finished(3)
    table = ReviewTable.objects.create(round=made.round, number=1)
    run_table(table.pk)
    table.refresh_from_db()
    return table


def ask(client: Any, table: ReviewTable, **headers: str) -> Any:
    client.force_login(worlds.person(f"auditor-{next(_SERIAL)}", Role.AUDITOR))
    return client.get(reverse("reviews:table-download", args=[table.pk]), headers=headers)


_SERIAL = itertools.count()


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_the_whole_has_a_length_and_a_mark(client: Any, packed: ReviewTable) -> None:
    response = ask(client, packed)
    data = body(response)
    assert response.status_code == 200
    assert data == b"".join(zip_stream(packed))
    assert int(response["Content-Length"]) == len(data)
    assert response["Accept-Ranges"] == "bytes"
    assert response["ETag"] == f'"{packed.manifest_sha256}"'


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-9", 0, 10), ("bytes=100-", 100, None), ("bytes=-7", -7, None), ("bytes=5-5", 5, 6)],
)
def test_a_part_is_that_part(
    client: Any, packed: ReviewTable, asked: str, start: int, end: int | None
) -> None:
    whole = b"".join(zip_stream(packed))
    response = ask(client, packed, range=asked)
    assert response.status_code == 206
    assert body(response) == whole[start:end]
    first = start if start >= 0 else len(whole) + start
    last = (end or len(whole)) - 1
    assert response["Content-Range"] == f"bytes {first}-{last}/{len(whole)}"
    assert int(response["Content-Length"]) == last - first + 1


def test_a_broken_download_is_completed(client: Any, packed: ReviewTable) -> None:
    begun = body(ask(client, packed, range="bytes=0-4999"))
    mark = f'"{packed.manifest_sha256}"'
    rest = ask(client, packed, **{"range": "bytes=5000-", "if-range": mark})
    assert rest.status_code == 206
    assert begun + body(rest) == b"".join(zip_stream(packed))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"range": "bytes=99999999999-"}, 416),
        ({"range": "bytes=-0"}, 416),
        ({"range": "bytes=9-1"}, 200),
        ({"range": "bytes=-"}, 200),
        ({"range": "bytes=0-1,5-6"}, 200),
        ({"range": "pages=1-2"}, 200),
        ({"range": "bytes=" + "9" * 300 + "-"}, 200),
        ({"range": "bytes=0-9", "if-range": '"another"'}, 200),
    ],
)
def test_what_is_no_part_is_the_whole_or_refused(
    client: Any, packed: ReviewTable, headers: dict[str, str], status: int
) -> None:
    response = ask(client, packed, **headers)
    assert response.status_code == status
    if status == 416:
        assert response["Content-Range"] == f"bytes */{len(b''.join(zip_stream(packed)))}"


def test_without_a_kept_zip_the_same_bytes_are_made_while_they_are_sent(
    client: Any, packed: ReviewTable
) -> None:
    kept = packing.packed(table_folder(packed))
    expected = kept.read_bytes()
    kept.unlink()
    response = ask(client, packed, range="bytes=0-9")
    assert response.status_code == 200
    assert "Accept-Ranges" not in response
    assert body(response) == expected


def test_those_who_only_judge_get_nothing(client: Any, packed: ReviewTable) -> None:
    for role in (Role.ANNOTATOR, Role.ARBITRATOR):
        client.force_login(worlds.person(f"judge-{role}", role))
        address = reverse("reviews:table-download", args=[packed.pk])
        assert client.get(address, headers={"range": "bytes=0-9"}).status_code == 404
