"""Downloads: the right bytes under the right name, from finished things only, and nothing beside them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from urllib.parse import quote

from django.urls import reverse

from reviews.tables import export_table, verify_table
from screening import runs
from screening.config import ScreeningConfig
from screening.models import Collection
from tests.web.site import Site


def _bytes(response: object) -> bytes:
    return b"".join(response.streaming_content)  # type: ignore[attr-defined]


def test_an_original_comes_back_byte_for_byte_under_its_chinese_name(site: Site) -> None:
    document = site.documents[0]
    response = site.client(site.annotator).get(
        reverse("screening:document-original", args=[document.pk])
    )
    assert _bytes(response) == document.raw.encode()
    name = document.source_file.original_path.split("/")[-1]
    header = response["Content-Disposition"]
    assert header.startswith("attachment; filename*=utf-8''" + quote("审阅表（第1批）"))
    assert header.endswith(quote(name.split("批）")[1]))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_a_name_of_full_width_signs_is_percent_encoded(site: Site) -> None:
    document = site.documents[0]
    type(document.source_file).objects.filter(pk=document.source_file.pk).update(
        original_path="甲\\审阅表（第一批）.xlsx"
    )
    response = site.client(site.admin).get(
        reverse("screening:document-original", args=[document.pk])
    )
    assert (
        response["Content-Disposition"]
        == "attachment; filename*=utf-8''%E5%AE%A1%E9%98%85%E8%A1%A8%EF%BC%88%E7%AC%AC%E4%B8%80%E6%89%B9%EF%BC%89.xlsx"
    )


def test_an_original_that_is_gone_is_not_an_error_of_ours(site: Site, data_dir: Path) -> None:
    document = site.documents[0]
    from screening import originals

    path = originals.path_of(document.sha256)
    path.chmod(0o600)
    path.unlink()
    address = reverse("screening:document-original", args=[document.pk])
    assert site.client(site.admin).get(address).status_code == 404


def test_the_label_file_comes_back_as_uploaded(site: Site) -> None:
    address = reverse("reviews:label-set-original", args=[site.label_set.pk])
    response = site.client(site.admin).get(address)
    assert _bytes(response).startswith(b"left,right,label\n")
    assert quote("标注（甲）") in response["Content-Disposition"]


def test_the_full_report_of_an_import(site: Site) -> None:
    address = reverse("screening:import-report", args=[site.done_import.pk])
    response = site.client(site.auditor).get(address)
    rows = [json.loads(line) for line in _bytes(response).decode().splitlines()]
    assert sorted(row["status"] for row in rows) == ["added", "refused"]
    type(site.done_import).objects.filter(pk=site.done_import.pk).update(state="running")
    assert site.client(site.auditor).get(address).status_code == 404


def test_the_files_of_a_run(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    for n, text in enumerate(["河堤公园明日起延长开放时间，至晚上十点。"] * 2):
        (folder / f"{n}.txt").write_text(text, encoding="utf-8")
    from screening import importing

    collection = Collection.objects.create(slug="小馆", name="小馆")
    importing.import_path(path=folder, collection=collection)
    run = runs.start_run(collection=collection, config=ScreeningConfig(), inline=True)
    client = site.client(site.auditor)
    page = client.get(reverse("screening:run-detail", args=[run.pk])).content.decode()
    for name in runs.RUN_FILES:
        address = reverse("screening:run-file", args=[run.pk, name])
        assert address in page
        response = client.get(address)
        assert _bytes(response) == (runs.run_folder(run) / name).read_bytes()
        assert quote(f"小馆-{run.pk}-{name}") in response["Content-Disposition"]
    assert site.client(site.annotator).get(address).status_code == 404


def test_only_the_files_of_the_run_are_handed_out(site: Site) -> None:
    client = site.client(site.admin)
    (runs.run_folder(site.run)).mkdir(parents=True)
    (runs.run_folder(site.run) / "inputs.jsonl").write_text("{}")
    for name in ("inputs.jsonl", "..", "%2e%2e%2fsecret_key", "run.json"):
        assert client.get(f"/runs/{site.run.pk}/files/{name}").status_code == 404, name


def test_a_table_is_one_zip_that_verifies(site: Site, tmp_path: Path) -> None:
    table = export_table(round=site.round, actor=site.admin)
    client = site.client(site.auditor)
    response = client.get(reverse("reviews:table-download", args=[table.pk]))
    data = _bytes(response)
    assert quote("第一轮") in response["Content-Disposition"]
    assert "<" not in response["Content-Disposition"]
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert {"manifest.json", "SHA256SUMS", "SHA256SUMS.sig", "final.csv"} <= set(names)
    path = tmp_path / "table.zip"
    path.write_bytes(data)
    assert verify_table(path, fingerprint=table.key_fingerprint).ok
    page = client.get(reverse("reviews:table-detail", args=[table.pk])).content.decode()
    assert table.key_fingerprint in page
    for who in (site.annotator, site.arbitrator, site.stranger):
        address = reverse("reviews:table-download", args=[table.pk])
        assert site.client(who).get(address).status_code == 404


def test_an_unfinished_table_cannot_be_downloaded(site: Site) -> None:
    type(site.table).objects.filter(pk=site.table.pk).update(state="running")
    address = reverse("reviews:table-download", args=[site.table.pk])
    assert site.client(site.admin).get(address).status_code == 404
