"""Whatever is done to a table is found and named: by our verifier, and by the tools that strangers have."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dedupreview.digests import canonical
from reviews.tables import signing, sshsig, texts, verify_table
from tests.tables.making import copied

SIGNATURES = {
    "manifest.json.sig": "ssh",
    "SHA256SUMS.sig": "ssh",
    "manifest.json.ed25519": "openssl",
    "SHA256SUMS.ed25519": "openssl",
}
Says = Callable[[Path, bytes], bool]


def codes(folder: Path, fingerprint: str | None = None) -> set[str]:
    return {fault.code for fault in verify_table(folder, fingerprint=fingerprint).faults}


def regenerate_sums(folder: Path) -> None:
    names = sorted(
        path.name
        for path in folder.iterdir()
        if path.name != "SHA256SUMS" and path.name not in SIGNATURES
    )
    lines = [f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names]
    (folder / "SHA256SUMS").write_text("".join(lines))


def regenerate_manifest(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for name, facts in manifest["files"].items():
        data = (folder / name).read_bytes()
        facts |= {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    (folder / "manifest.json").write_bytes(canonical(manifest))


def sign_all(folder: Path, key: Ed25519PrivateKey) -> None:
    for name in ("manifest.json", "SHA256SUMS"):
        data = (folder / name).read_bytes()
        (folder / f"{name}.sig").write_bytes(sshsig.sign(key, data))
        (folder / f"{name}.ed25519").write_bytes(key.sign(data))


def test_an_untouched_table_is_fine(table: Path, ssh_says: Says, openssl_says: Says) -> None:
    found = verify_table(table)
    assert found.ok, found.lines()
    assert found.fingerprint == signing.fingerprint()
    assert ssh_says(table, (table / "allowed_signers").read_bytes())
    assert openssl_says(table, signing.public_pem())


def test_one_changed_byte_in_any_file_is_found_by_everybody(
    table: Path, tmp_path: Path, ssh_says: Says, openssl_says: Says
) -> None:
    allowed, pem = (table / "allowed_signers").read_bytes(), signing.public_pem()
    names = sorted(path.name for path in table.iterdir())
    assert len(names) >= 22
    for name in names:
        size = (table / name).stat().st_size
        for place in {0, size // 2, size - 1} if size else set():
            folder = copied(table, tmp_path)
            data = bytearray((folder / name).read_bytes())
            data[place] ^= 1
            (folder / name).write_bytes(data)
            assert not verify_table(folder).ok, (name, place)
            if SIGNATURES.get(name) == "openssl":
                assert not openssl_says(folder, pem), (name, place)
            else:
                assert not ssh_says(folder, allowed), (name, place)
            shutil.rmtree(folder)


def test_a_changed_byte_is_found_with_the_sums_made_anew(
    table: Path, tmp_path: Path, ssh_says: Says, openssl_says: Says
) -> None:
    allowed, pem = (table / "allowed_signers").read_bytes(), signing.public_pem()
    for name in sorted({path.name for path in table.iterdir()} - set(SIGNATURES) - {"SHA256SUMS"}):
        folder = copied(table, tmp_path)
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[:-1] + b"#" if data else b"#")
        regenerate_sums(folder)
        assert {"signature_invalid", "content_changed"} <= codes(folder) or name == "manifest.json"
        assert "signature_invalid" in codes(folder)
        assert not ssh_says(folder, allowed), name
        assert not openssl_says(folder, pem), name
        shutil.rmtree(folder)


def lines_of(folder: Path, name: str) -> list[bytes]:
    return (folder / name).read_bytes().splitlines(keepends=True)


def put(folder: Path, name: str, lines: list[bytes]) -> None:
    (folder / name).write_bytes(b"".join(lines))


def drop_row(folder: Path) -> None:
    rows = lines_of(folder, "judgments.jsonl")
    put(folder, "judgments.jsonl", rows[:6] + rows[7:])


def swap_rows(folder: Path) -> None:
    rows = lines_of(folder, "judgments.jsonl")
    rows[2], rows[3] = rows[3], rows[2]
    put(folder, "judgments.jsonl", rows)


def append_row(folder: Path) -> None:
    rows = lines_of(folder, "judgments.jsonl")
    put(folder, "judgments.jsonl", [*rows, rows[0]])


def change_time(folder: Path) -> None:
    rows = lines_of(folder, "judgments.jsonl")
    row = json.loads(rows[1])
    row["created_at"] = "2020-01-01T00:00:00.000000Z"
    rows[1] = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    put(folder, "judgments.jsonl", rows)


def change_record(folder: Path) -> None:
    data = (folder / "records.jsonl").read_bytes()
    (folder / "records.jsonl").write_bytes(
        data.replace(b'"label":"template"', b'"label":"citation"')
    )


def drop_record(folder: Path) -> None:
    put(folder, "records.jsonl", lines_of(folder, "records.jsonl")[:-1])


def swap_records(folder: Path) -> None:
    rows = lines_of(folder, "records.jsonl")
    put(folder, "records.jsonl", [*rows[:-2], rows[-1], rows[-2]])


def newlines_to_lf(folder: Path) -> None:
    data = (folder / "final.csv").read_bytes()
    (folder / "final.csv").write_bytes(data.replace(b"\r\n", b"\n"))


def newlines_to_crlf(folder: Path) -> None:
    data = (folder / "judgments.jsonl").read_bytes()
    (folder / "judgments.jsonl").write_bytes(data.replace(b"\n", b"\r\n"))


def strip_bom(folder: Path) -> None:
    (folder / "final.csv").write_bytes((folder / "final.csv").read_bytes()[3:])


def swap_csv_rows(folder: Path) -> None:
    data = (folder / "relations.csv").read_bytes().splitlines(keepends=True)
    put(folder, "relations.csv", [data[0], data[2], data[1], *data[3:]])


def delete_file(folder: Path) -> None:
    (folder / "outcomes.jsonl").unlink()


def add_file(folder: Path) -> None:
    (folder / "notes.txt").write_text("also true")


def truncate_signature(folder: Path) -> None:
    file = folder / "SHA256SUMS.sig"
    file.write_bytes(file.read_bytes()[:-20])


def truncate_raw_signature(folder: Path) -> None:
    file = folder / "manifest.json.ed25519"
    file.write_bytes(file.read_bytes()[:60])


def turn_raw_signature(folder: Path) -> None:
    file = folder / "manifest.json.ed25519"
    file.write_bytes(file.read_bytes()[::-1])


def exchange_signatures(folder: Path) -> None:
    one, other = folder / "manifest.json.sig", folder / "SHA256SUMS.sig"
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def remove_signature(folder: Path) -> None:
    (folder / "SHA256SUMS.sig").unlink()


MANIPULATIONS: list[tuple[Callable[[Path], None], set[str], bool]] = [
    (drop_row, {"content_changed", "row_missing", "records_differ"}, True),
    (swap_rows, {"content_changed", "order_changed", "records_differ"}, True),
    (append_row, {"content_changed", "row_added"}, True),
    (change_time, {"content_changed", "row_changed", "records_differ"}, True),
    (change_record, {"content_changed", "row_changed", "record_changed"}, True),
    (drop_record, {"content_changed", "row_missing", "chain_broken"}, True),
    (swap_records, {"content_changed", "order_changed", "chain_broken"}, True),
    (newlines_to_lf, {"content_changed", "newlines_converted"}, True),
    (newlines_to_crlf, {"content_changed", "newlines_converted"}, True),
    (strip_bom, {"content_changed", "bom_removed"}, True),
    (swap_csv_rows, {"content_changed", "order_changed"}, True),
    (delete_file, {"file_missing"}, True),
    (add_file, {"file_unlisted"}, False),
    (truncate_signature, {"signature_malformed"}, True),
    (truncate_raw_signature, {"signature_malformed"}, False),
    (turn_raw_signature, {"signature_damaged"}, False),
    (exchange_signatures, {"signature_damaged"}, True),
    (remove_signature, {"file_missing"}, True),
]


@pytest.mark.parametrize(
    ("damage", "expected", "ssh_sees"),
    MANIPULATIONS,
    ids=[manipulation[0].__name__ for manipulation in MANIPULATIONS],
)
def test_each_manipulation_is_named(
    table: Path,
    tmp_path: Path,
    ssh_says: Says,
    damage: Callable[[Path], None],
    expected: set[str],
    ssh_sees: bool,
) -> None:
    folder = copied(table, tmp_path)
    if damage is remove_signature:
        damage(folder)
        assert expected <= codes(folder)
        return
    damage(folder)
    assert expected <= codes(folder)
    assert ssh_says(folder, (table / "allowed_signers").read_bytes()) is not ssh_sees


def test_a_manipulation_covered_up_by_sums_and_manifest_breaks_the_signatures(
    table: Path, tmp_path: Path
) -> None:
    folder = copied(table, tmp_path)
    drop_row(folder)
    regenerate_manifest(folder)
    regenerate_sums(folder)
    assert {"signature_invalid", "records_differ"} <= codes(folder)


def test_a_table_signed_by_a_stranger_is_not_ours_whatever_it_says_of_itself(
    table: Path, tmp_path: Path, ssh_says: Says
) -> None:
    folder = copied(table, tmp_path)
    stranger = Ed25519PrivateKey.generate()
    public = sshsig.raw_public(stranger.public_key())
    for name, data in texts.key_files(public).items():
        (folder / name).write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["key_fingerprint"] = sshsig.fingerprint(public)
    (folder / "manifest.json").write_bytes(canonical(manifest))
    regenerate_manifest(folder)
    regenerate_sums(folder)
    sign_all(folder, stranger)
    assert codes(folder) == {"wrong_key", "key_not_pinned"}
    # By the bundle's own key it is perfect, which is why that key is never believed.
    assert ssh_says(folder, (folder / "allowed_signers").read_bytes())
    assert not ssh_says(folder, (table / "allowed_signers").read_bytes())
    assert codes(folder, sshsig.fingerprint(public)) == set()


def test_a_foreign_allowed_signers_alone_is_named(table: Path, tmp_path: Path) -> None:
    folder = copied(table, tmp_path)
    public = sshsig.raw_public(Ed25519PrivateKey.generate().public_key())
    (folder / "allowed_signers").write_text(sshsig.allowed_signers_line(public))
    assert codes(folder) == {"key_not_pinned", "content_changed"}


def test_only_the_signatures_replaced_is_a_wrong_key(table: Path, tmp_path: Path) -> None:
    folder = copied(table, tmp_path)
    sign_all(folder, Ed25519PrivateKey.generate())
    assert "wrong_key" in codes(folder)
    assert "content_changed" not in codes(folder)


def test_another_pinned_key_is_a_wrong_key(table: Path) -> None:
    other = sshsig.fingerprint(sshsig.raw_public(Ed25519PrivateKey.generate().public_key()))
    assert {"wrong_key", "key_not_pinned"} == codes(table, other)


def test_a_revoked_key_is_named(table: Path) -> None:
    mark = signing.fingerprint()
    signing.revoke(mark)
    signing.rotate()
    assert "key_revoked" in codes(table)
    assert "key_revoked" in codes(table, mark)


def test_a_table_of_an_earlier_key_stays_good(table: Path) -> None:
    signing.rotate()
    assert codes(table) == set()


def test_records_signed_although_they_contradict_each_other_are_found(
    table: Path, tmp_path: Path
) -> None:
    """Even with the right key: the counts, the chain and the repeated rows are checked against each other."""
    folder = copied(table, tmp_path)
    flow = json.loads((folder / "flow.json").read_bytes())
    flow["closed"] -= 1
    (folder / "flow.json").write_text(json.dumps(flow))
    swap_records(folder)
    regenerate_manifest(folder)
    regenerate_sums(folder)
    sign_all(folder, signing.current_key())
    assert {"counts_differ", "chain_broken"} <= codes(folder)
    assert "signature_invalid" not in codes(folder)


def test_a_second_workbook_saved_by_an_office_is_content_changed(
    table: Path, tmp_path: Path
) -> None:
    import python_calamine

    folder = copied(table, tmp_path)
    assert python_calamine.load_workbook(folder / "final.xlsx").sheet_names[0] == "审核表"
    resave(folder / "final.xlsx", tmp_path)
    assert codes(folder) == {"content_changed"}


def resave(file: Path, tmp_path: Path) -> None:
    from tests.tables.office import converted

    shutil.copy(converted(file, "xlsx", tmp_path / "resaved"), file)
