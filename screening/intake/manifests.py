"""Manifests: JSON lines, delimited tables and spreadsheets that give one document a row."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from screening.documents import OPTIONAL_METADATA, InputDocument, Problem, Refusal
from screening.intake import encodings, formats, tables
from screening.intake.apart import Reader
from screening.intake.cleaning import clean
from screening.intake.fields import FIELD_NAMES, columns, doc_id_of, field_of, metadata_of
from screening.intake.limits import Limits, size_problem
from screening.intake.model import Entry, Note, ReadDocument
from screening.intake.plain import PlainText
from screening.intake.trees import OUTSIDE, Tree, relative_name

_SNIFFED_BYTES = 1 << 20
_NAMED_UNKNOWN = 200


@dataclass(slots=True)
class Manifest:
    """One manifest being read: where it is, and where the files that it names lie."""

    file: str
    tree: Tree
    limits: Limits
    reader: Reader
    collection: str = ""
    base: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Encodings that a person chose, by file; under an empty name the one for every file that leaves it open."""
    unknown: set[str] = field(default_factory=set)

    def place(self, line: int) -> str:
        return f"{self.file}:{line}"

    def chosen_for(self, name: str, place: str = "") -> str | None:
        """The encoding that was chosen for a file, or for the row that names it, if one was."""
        return self.chosen.get(name) or (self.chosen.get(place) if place else None) or self.chosen.get("")  # fmt: skip

    def ignore(self, names: Iterable[str]) -> None:
        """Note fields that mean nothing to us; of endless new ones only the first are named."""
        for name in names:
            if len(self.unknown) < _NAMED_UNKNOWN:
                self.unknown.add(name[:80])

    def notes(self) -> Iterator[Note]:
        """One note about everything in the manifest that means nothing to us."""
        if self.unknown:
            names = ", ".join(sorted(self.unknown))[:500]
            yield Note(
                self.file, Problem("fields_ignored", "Ignored fields: %(names)s", {"names": names})
            )


def read_jsonl(manifest: Manifest, stream: BinaryIO) -> Iterator[Entry]:
    """The documents of a JSON lines file, one line at a time; memory is bounded by the longest line."""
    head = stream.read(_SNIFFED_BYTES)
    stream.seek(0)
    codec = _codec_of(head, manifest.chosen_for(manifest.file))
    if isinstance(codec, Problem):
        yield Refusal(manifest.file, codec)
        return
    longest = manifest.limits.text_bytes
    lines = _byte_lines(stream, longest) if codec == "utf-8" else _coded_lines(stream, codec)
    for number, line in enumerate(lines, start=1):
        if number > manifest.limits.rows:
            yield Refusal(manifest.place(number), _too_many_rows(manifest.limits))
            break
        if isinstance(line, Problem):
            yield Refusal(manifest.place(number), line)
            continue
        if number == 1:
            line = line.removeprefix("\ufeff")
        if not line.strip():
            continue
        yield _from_json(manifest, number, line)
    yield from manifest.notes()


def _codec_of(head: bytes, chosen: str | None) -> str | Problem:
    """The encoding of a file that starts with ``head``; UTF-8 if that fits up to a cut-off last line."""
    if len(head) == _SNIFFED_BYTES:
        cut = head.rfind(b"\n") + 1
        if not cut:
            return "utf-8"
        head = head[:cut]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    decoded = encodings.decode_or_chosen(head, chosen)
    if isinstance(decoded, Problem):
        # JSON is UTF-8 by its own standard: a bad line is then refused by its number, the others are read.
        return "utf-8" if decoded.code == "encoding_broken" else decoded
    return decoded.encoding


def _byte_lines(stream: BinaryIO, longest: int) -> Iterator[str | Problem]:
    """Lines of UTF-8. Only \\n ends one: U+2028 and its kind may stand inside a string."""
    position = 0
    while line := stream.readline(longest):
        if len(line) == longest and not line.endswith(b"\n"):
            position += len(line)
            while (rest := stream.readline(1 << 20)) and not rest.endswith(b"\n"):
                position += len(rest)
            position += len(rest)
            yield Problem(
                "line_too_long",
                "The line has more than %(limit)s bytes, the limit for one text",
                {"limit": longest},
            )
            continue
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Problem(
                "encoding_broken",
                "The text is %(encoding)s up to byte %(position)s, but not from there on; it is damaged or mixes encodings",
                {"encoding": "UTF-8", "position": position + error.start},
            )
        position += len(line)


def _coded_lines(stream: BinaryIO, codec: str) -> Iterator[str | Problem]:
    reader = io.TextIOWrapper(stream, encoding=codec, errors="strict", newline="\n")
    try:
        yield from reader
    except UnicodeDecodeError as error:
        yield Problem(
            "encoding_broken_later",
            "The rest of the file is not %(encoding)s (%(reason)s) and was not read",
            {"encoding": encodings.NAMES.get(codec, codec), "reason": error.reason},
        )
    finally:
        reader.detach()


def _too_many_rows(limits: Limits) -> Problem:
    return Problem(
        "too_many_rows",
        "The file has more than %(limit)s rows; the rest was not read",
        {"limit": limits.rows},
    )


def _from_json(manifest: Manifest, number: int, line: str) -> Entry:
    place = manifest.place(number)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Refusal(
            place,
            Problem(
                "json_broken",
                "Line %(line)s is not JSON: %(error)s",
                {"line": number, "error": str(error)},
            ),
        )
    if not isinstance(value, dict):
        return Refusal(
            place,
            Problem("json_not_object", "Line %(line)s is not a JSON object", {"line": number}),
        )
    fields: dict[str, object] = {}
    for key, content in value.items():
        name = key if key in _EXACT else field_of(key)
        if name is None:
            manifest.ignore([key])
        elif fields.get(name) is None or key == name:
            fields[name] = content
    return _document(manifest, place, f"line {number}", fields)


_EXACT = frozenset(FIELD_NAMES)


def read_csv(manifest: Manifest, data: bytes) -> Iterator[Entry]:
    """The documents of a delimited table with a header."""
    table = tables.read_csv(data, chosen=manifest.chosen_for(manifest.file))
    if isinstance(table, Problem):
        yield Refusal(manifest.file, table)
        return
    yield from _from_table(manifest, table, manifest.file, "line")


def read_spreadsheet(manifest: Manifest, data: bytes) -> Iterator[Entry]:
    """The documents of every sheet whose header names a doc_id and a text; other sheets are noted."""
    sheets = manifest.reader.read_spreadsheet(data)
    if isinstance(sheets, Problem):
        yield Refusal(manifest.file, sheets)
        return
    usable = [
        (name, table) for name, table in sheets if _missing(columns(table.header.cells)[0]) is None
    ]
    for name, table in usable:
        yield from _from_table(manifest, table, f"{manifest.file}[{name}]", f"{name} row")
    if not usable:
        yield Refusal(manifest.file, _missing_problem(sheets[0][1]))
        return
    for name, _ in sheets:
        if all(name != other for other, _ in usable):
            yield Note(
                f"{manifest.file}[{name}]",
                Problem("sheet_ignored", "The sheet has no columns for documents and was not read"),
            )


def _missing(found: Mapping[str, int]) -> str | None:
    if "doc_id" not in found:
        return "doc_id (编号)"
    if "raw" not in found and "path" not in found:
        return "raw (正文)"
    return None


def _missing_problem(table: tables.Table) -> Problem:
    return Problem(
        "columns_missing",
        "No column for %(missing)s; the header is: %(header)s",
        {
            "missing": _missing(columns(table.header.cells)[0]) or "",
            "header": ", ".join(cell.strip() for cell in table.header.cells)[:200],
        },
    )


def _from_table(manifest: Manifest, table: tables.Table, file: str, unit: str) -> Iterator[Entry]:
    found, unknown = columns(table.header.cells)
    manifest.ignore(unknown)
    if _missing(found) is not None:
        yield Refusal(manifest.file, _missing_problem(table))
        return
    for warning in table.warnings:
        yield Note(manifest.file, warning)
    yield Note(file, _columns_read(table.header.cells, found))
    width = len(table.header.cells)
    count = 0
    for count, row in enumerate(table.rows, start=1):
        if count > manifest.limits.rows:
            yield Refusal(file, _too_many_rows(manifest.limits))
            break
        if isinstance(row, Problem):
            yield Refusal(f"{file}:{row.params['line']}", row)
            continue
        place = f"{file}:{row.line}"
        fault = _row_fault(row, found, width)
        if fault is not None:
            yield Refusal(place, fault)
            continue
        fields: dict[str, object] = {
            name: row.cells[i] for name, i in found.items() if i < len(row.cells)
        }
        yield _document(manifest, place, f"{unit} {row.line}", fields)
    if not count:
        yield Refusal(file, Problem("table_without_rows", "There are no rows below the header"))
    yield from manifest.notes()


def _columns_read(header: Sequence[str], found: Mapping[str, int]) -> Problem:
    """Which column was taken for what: a person sees at once if a header was misunderstood."""
    names = "; ".join(f"{header[column].strip()} → {name}" for name, column in found.items())
    return Problem("columns_read", "Columns: %(columns)s", {"columns": names[:500]})


def _row_fault(row: tables.Row, found: Mapping[str, int], width: int) -> Problem | None:
    for index in found.values():
        if index in row.faults:
            return row.faults[index]
    extra = [cell for cell in row.cells[width:] if cell.strip()]
    if extra:
        return Problem(
            "row_too_wide",
            "The row has %(cells)s cells, the header %(width)s: a delimiter in a text that is not quoted?",
            {"cells": len(row.cells), "width": width},
        )
    return None


def _document(manifest: Manifest, place: str, locator: str, fields: dict[str, object]) -> Entry:
    """One row as a document. ``fields`` are by our names; empty ones count as missing."""
    doc_id = doc_id_of(fields.get("doc_id"))
    if isinstance(doc_id, Problem):
        return Refusal(place, doc_id)
    metadata = metadata_of(fields)
    if isinstance(metadata, Problem):
        return Refusal(place, metadata, doc_id)
    raw = fields.get("raw")
    if raw is None or (raw == "" and fields.get("path")):
        if not fields.get("path"):
            return Refusal(
                place, Problem("text_missing", "There is neither a text nor a path"), doc_id
            )
        return _named_file(manifest, place, doc_id, metadata, fields)
    if not isinstance(raw, str):
        problem = Problem(
            "text_not_text", "The text must be text, not %(value)s", {"value": repr(raw)[:80]}
        )
        return Refusal(place, problem, doc_id)
    if raw and fields.get("path"):
        return Refusal(
            place,
            Problem(
                "text_and_path",
                "The row has both raw (the text) and path (a file): which of them is the text is unclear",
            ),
            doc_id,
        )
    cleaned = _clean_row(raw, manifest.limits)
    if isinstance(cleaned, Problem):
        return Refusal(place, cleaned, doc_id)
    sha256 = hashlib.sha256(cleaned.raw.encode("utf-8")).hexdigest()
    if _differs(fields.get("sha256"), sha256, raw):
        return Refusal(
            place,
            Problem(
                "raw_sha256_differs",
                "The field sha256 is not that of raw: the text was changed or cut off after it was written down",
            ),
            doc_id,
        )
    document = make_document(
        doc_id,
        cleaned.raw,
        sha256,
        metadata,
        manifest.collection,
        metadata.pop("original_path", None),
    )
    return ReadDocument(document, sha256, place, manifest.file, locator, cleaned.warnings)


def _differs(stated: object, sha256: str, raw: str = "") -> bool:
    """Whether a row states another digest; ``raw``: the text as it came, which may carry what is taken out of it."""
    if not isinstance(stated, str) or not stated.strip():
        return False
    accepted = {sha256, hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()}
    return stated.strip().lower() not in accepted


def _clean_row(raw: str, limits: Limits) -> PlainText | Problem:
    if "\0" in raw:
        # In a manifest a NUL is a sign that a tool cut something off; the row is named, and not quietly mended.
        return Problem("nul", "The text holds a NUL character (U+0000)")
    if len(raw) > limits.text_chars:
        return Problem(
            "text_too_long",
            "The text has %(length)s characters; the limit is %(limit)s",
            {"length": len(raw), "limit": limits.text_chars},
        )
    cleaned = clean(raw)
    return (
        cleaned if isinstance(cleaned, Problem) else PlainText(cleaned.text, {}, cleaned.warnings)
    )


def make_document(
    doc_id: str,
    raw: str,
    sha256: str,
    metadata: Mapping[str, str | None],
    collection: str,
    original_path: str | None,
) -> InputDocument:
    """The document of a text and its metadata by field name."""
    return InputDocument(
        doc_id=doc_id,
        raw=raw,
        sha256=sha256,
        collection=collection,
        source_id=metadata.get("source_id"),
        version=metadata.get("version"),
        title=metadata.get("title"),
        original_path=original_path,
        captured_at=metadata.get("captured_at"),
        metadata={name: metadata[name] for name in OPTIONAL_METADATA if metadata.get(name)},
    )


def _named_file(
    manifest: Manifest,
    place: str,
    doc_id: str,
    metadata: dict[str, str | None],
    fields: dict[str, object],
) -> Entry:
    """The document of a row that names a file, which lies in the same folder or below it."""
    path = str(fields["path"])
    name = relative_name(path)
    full = f"{manifest.base}{name}" if name else None
    if full is None or any(refusal.place == full for refusal in manifest.tree.refusals()):
        problem = replace(
            OUTSIDE, template="The path %(path)s leads out of the folder", params={"path": path}
        )
        return Refusal(place, problem, doc_id)
    try:
        size = manifest.tree.size(full)
    except (KeyError, OSError):
        return Refusal(
            place, Problem("path_missing", "There is no file %(path)s", {"path": path}), doc_id
        )
    read = read_file(manifest, full, size, place)
    if isinstance(read, Problem):
        return Refusal(place, read, doc_id)
    text, sha256 = read
    warnings = text.warnings
    if _differs(fields.get("sha256"), sha256, text.raw):
        warnings += (
            Problem(
                "sha256_differs",
                "The file is not the one that the manifest describes: its sha256 differs",
            ),
        )
    merged = {**text.metadata, **metadata}
    document = make_document(
        doc_id, text.raw, sha256, merged, manifest.collection, merged.get("original_path") or name
    )
    raw_sha256 = hashlib.sha256(text.raw.encode("utf-8")).hexdigest()
    return ReadDocument(document, raw_sha256, place, full, "", warnings)


def read_file(
    manifest: Manifest, name: str, size: int, place: str = ""
) -> tuple[PlainText, str] | Problem:
    """A file that is one text, and the sha256 of its bytes; ``place``: the row that names it, if one does."""
    limits = manifest.limits
    if problem := size_problem(size, limits.text_bytes):
        return problem
    try:
        with manifest.tree.open(name) as stream:
            data = stream.read()
    except Exception as error:  # a damaged archive member raises many kinds
        return Problem("unreadable", "The file cannot be read: %(error)s", {"error": str(error)})
    text = formats.read_one(name, data, limits, manifest.reader, manifest.chosen_for(name, place))
    if isinstance(text, Problem):
        return text
    if len(text.raw) > limits.text_chars:
        return Problem(
            "text_too_long",
            "The text has %(length)s characters; the limit is %(limit)s",
            {"length": len(text.raw), "limit": limits.text_chars},
        )
    return text, hashlib.sha256(data).hexdigest()
