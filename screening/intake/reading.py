"""The one way from files to documents: for `screen PATH`, for imports from the command line and from the browser."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from screening.documents import Problem, Refusal
from screening.intake import manifests, tables
from screening.intake.apart import Reader
from screening.intake.fields import control_problem, length_problem, likeness, unseen_problem
from screening.intake.formats import kind_of, suffix_of
from screening.intake.limits import DEFAULT_LIMITS, Limits, expansion_problem, size_problem
from screening.intake.manifests import Manifest, make_document
from screening.intake.model import REPEATED, Entry, Note, ReadDocument
from screening.intake.trees import (
    Archive,
    ArchiveRefused,
    Files,
    OneFile,
    Tree,
    folder,
    is_system_file,
)

MANIFEST = "documents.jsonl"
"""A folder or archive that holds this file consists of what it lists."""


class IntakeError(Exception):
    """The hand-over as a whole cannot be read. ``problem`` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.template, self.params = problem.template, problem.params


def read_path(
    path: Path,
    *,
    collection: str = "",
    limits: Limits = DEFAULT_LIMITS,
    chosen: Mapping[str, str] | None = None,
) -> Iterator[Entry]:
    """Everything in a folder, a manifest, a zip or a single text file, in a fixed order.

    Raises IntakeError if ``path`` is not there. Every file and row yields a document, a refusal or a note; a doc_id
    that comes twice yields its first text and one refusal, whose code is ``repeated`` where the texts are equal.
    ``chosen``: place of a file → encoding that a person chose where two are plausible; an empty place stands for all.
    """
    return read_tree(tree_of(path), collection=collection, limits=limits, chosen=chosen)


def tree_of(path: Path) -> Files:
    """The files below ``path``, or the one file that it is. Raises IntakeError if it is not there."""
    if path.is_dir():
        return folder(path)
    if path.is_file():
        return OneFile(path)
    raise IntakeError(Problem("path_missing", "There is no file %(path)s", {"path": str(path)}))


def read_tree(
    tree: Tree,
    *,
    collection: str = "",
    limits: Limits = DEFAULT_LIMITS,
    chosen: Mapping[str, str] | None = None,
) -> Iterator[Entry]:
    """Everything in ``tree``, as :func:`read_path`."""
    with Reader(limits) as reader:
        yield from _once_each(_entries(tree, collection, reader, chosen or {}))


def _entries(
    tree: Tree, collection: str, reader: Reader, chosen: Mapping[str, str]
) -> Iterator[Entry]:
    names = tree.names()
    if MANIFEST in names:
        yield from _read_one(tree, MANIFEST, "", collection, reader, chosen)
        return
    yield from tree.refusals()
    alone = len(names) == 1
    for name in names:
        if is_system_file(name):
            yield Note(name, Problem("system_file", "A file of the file manager; it was left out"))
            continue
        yield from _read_one(tree, name, "" if alone else f"{name}/", collection, reader, chosen)


def _read_one(
    tree: Tree, name: str, prefix: str, collection: str, reader: Reader, chosen: Mapping[str, str]
) -> Iterator[Entry]:
    """One file of a tree. ``prefix`` goes before the doc_ids of the files in it, if it is an archive."""
    size = tree.size(name)
    if problem := size_problem(size, reader.limits.file_bytes):
        yield Refusal(name, problem)
        return
    manifest = Manifest(name, tree, reader.limits, reader, collection, chosen=chosen)
    try:
        with tree.open(name) as stream:
            head = stream.read(16)
            stream.seek(0)
            yield from _by_format(manifest, stream, head, size, prefix)
    except ArchiveRefused as error:
        yield Refusal(name, error.problem)
    except OSError as error:
        yield Refusal(
            name, Problem("unreadable", "The file cannot be read: %(error)s", {"error": str(error)})
        )


def _by_format(
    manifest: Manifest, stream: BinaryIO, head: bytes, size: int, prefix: str
) -> Iterator[Entry]:
    """Choose the reader: by name where the content agrees, else refuse and say what it is."""
    name, limits = manifest.file, manifest.limits
    suffix = suffix_of(name)
    kind = kind_of(head)
    if suffix == "zip" and kind == "ZIP":
        yield from _archive(manifest, stream, prefix)
    elif suffix in {"jsonl", "ndjson"} and kind is None:
        yield from manifests.read_jsonl(manifest, stream)
    elif suffix in {"csv", "tsv", "xlsx"} and (kind == "ZIP") == (suffix == "xlsx"):
        if problem := size_problem(size, limits.text_bytes):
            yield Refusal(name, problem)
            return
        data = stream.read()
        if suffix == "xlsx" and tables.is_spreadsheet(data):
            yield from manifests.read_spreadsheet(manifest, data)
        elif suffix == "xlsx":
            problem = expansion_problem(data, limits.of_office_files())
            yield Refusal(name, problem or _not_what_it_says(suffix, "ZIP"))
        else:
            yield from manifests.read_csv(manifest, data)
    elif suffix in _NAMED_KINDS and kind != _NAMED_KINDS[suffix]:
        yield Refusal(name, _not_what_it_says(suffix, kind))
    else:
        yield _single_text(manifest, size)


_NAMED_KINDS = {"zip": "ZIP", "xlsx": "ZIP"}


def _not_what_it_says(suffix: str, kind: str | None) -> Problem:
    if kind is None:
        return Problem(
            "not_what_it_says",
            "The name says .%(suffix)s, but the content is plain text or damaged",
            {"suffix": suffix},
        )
    return Problem(
        "not_what_it_says",
        "The name says .%(suffix)s, but the content is %(kind)s or damaged",
        {"suffix": suffix, "kind": kind},
    )


def _single_text(manifest: Manifest, size: int) -> Entry:
    name = manifest.file
    read = manifests.read_file(manifest, name, size)
    problem = control_problem(name) or length_problem("doc_id", name)
    if isinstance(read, Problem) or problem:
        problem = read if isinstance(read, Problem) else problem
        assert problem is not None
        return Refusal(name, problem)
    assert not isinstance(read, Problem)
    text, sha256 = read
    raw_sha256 = hashlib.sha256(text.raw.encode("utf-8")).hexdigest()
    document = make_document(name, text.raw, sha256, text.metadata, manifest.collection, name)
    return ReadDocument(document, raw_sha256, name, name, "", text.warnings)


def _archive(manifest: Manifest, stream: BinaryIO, prefix: str) -> Iterator[Entry]:
    """The files in a zip, named as in it; the received file that they belong to is the zip."""
    archive = Archive(stream, manifest.limits)
    inner: Tree = _below(archive)
    within = f"{manifest.file}/"
    manifest.chosen = {
        name.removeprefix(within): encoding
        for name, encoding in manifest.chosen.items()
        if not name or name.startswith(within)
    }
    for entry in _inner_entries(inner, manifest):
        place = f"{manifest.file}/{entry.place}"
        if isinstance(entry, Note):
            yield Note(place, entry.problem)
        elif isinstance(entry, Refusal):
            yield Refusal(place, entry.problem, entry.doc_id)
        else:
            yield _from_archive(entry, manifest.file, prefix, place)


def _inner_entries(inner: Tree, manifest: Manifest) -> Iterator[Entry]:
    yield from inner.refusals()
    names = inner.names()
    if MANIFEST in names:
        names = [MANIFEST]
    for name in names:
        if is_system_file(name):
            yield Note(name, Problem("system_file", "A file of the file manager; it was left out"))
        elif name.casefold().endswith(".zip"):
            yield Refusal(
                name, Problem("archive_nested", "An archive inside an archive is not read")
            )
        else:
            yield from _read_one(
                inner, name, "", manifest.collection, manifest.reader, manifest.chosen
            )


def _from_archive(entry: ReadDocument, file: str, prefix: str, place: str) -> Entry:
    document = entry.document
    is_row = bool(entry.locator) or document.doc_id != entry.file
    if prefix and not is_row:
        document = replace(document, doc_id=prefix + document.doc_id, original_path=place)
    locator = f"{entry.file} {entry.locator}".strip()
    return ReadDocument(document, entry.raw_sha256, place, file, locator, entry.warnings)


class _Subtree:
    """The part of an archive below its one top folder."""

    def __init__(self, tree: Tree, top: str) -> None:
        self._tree, self._top = tree, top

    def names(self) -> list[str]:
        return [name.removeprefix(self._top) for name in self._tree.names()]

    def refusals(self) -> Iterator[Refusal]:
        return self._tree.refusals()

    def size(self, name: str) -> int:
        return self._tree.size(self._top + name)

    def open(self, name: str) -> BinaryIO:
        return self._tree.open(self._top + name)


def _below(tree: Tree) -> Tree:
    """The folder of the manifest, where an archive packs one folder with a manifest in it; else the tree itself."""
    names = [name for name in tree.names() if not is_system_file(name)]
    tops = {name.partition("/")[0] for name in names}
    top = f"{next(iter(tops))}/" if len(tops) == 1 else ""
    if top and f"{top}{MANIFEST}" in names and len(names) == len(tree.names()):
        return _Subtree(tree, top)
    return tree


def _once_each(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Keep the first text of every doc_id; a later one is refused, with the place of the first."""
    seen = _Seen()
    for entry in entries:
        if not isinstance(entry, ReadDocument):
            yield entry
            continue
        first = seen.first(entry)
        if first is None:
            said = tuple(filter(None, (unseen_problem(entry.document.doc_id), seen.alike(entry))))
            yield replace(entry, warnings=entry.warnings + said) if said else entry
            continue
        doc_id = entry.document.doc_id
        yield Refusal(entry.place, _repetition(entry, first), doc_id, entry.document.sha256)


class _Seen:
    """Which doc_ids have come, with which text and where, in about 120 bytes each: a list may have millions of rows.

    Ids are told apart by 60 bits of their hash (two of a million are confused once in two million hand-overs).
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._texts = bytearray()
        self._odd: dict[str, str] = {}
        self._files: dict[str, int] = {}
        self._names: list[str] = []
        self._file_of, self._line_of = array("L"), array("L")

    def first(self, entry: ReadDocument) -> tuple[bool, str] | None:
        """Whether the first entry with this doc_id had the same text, and its place; None if this one is the first."""
        digest = bytes.fromhex(entry.raw_sha256)[:_TEXT_BYTES]
        number = len(self._numbers)
        found = self._numbers.setdefault(_key(entry.document.doc_id), number)
        if found != number:
            same = self._texts[found * _TEXT_BYTES : (found + 1) * _TEXT_BYTES] == digest
            return same, self._place(found)
        self._texts += digest
        file, _, line = entry.place.rpartition(":")
        if not file or not line.isascii() or not line.isdigit() or str(int(line)) != line:
            file, line = entry.place, "0"
        if file not in self._files:
            self._files[file] = len(self._names)
            self._names.append(file)
        self._file_of.append(self._files[file])
        self._line_of.append(int(line) if len(line) < 10 else 0)
        return None

    def alike(self, entry: ReadDocument) -> Problem | None:
        """A warning where the doc_id of a new entry differs from an earlier one in case or in what cannot be seen only.

        Of ids that are not written in their plainest form the first 100,000 are kept in mind.
        """
        doc_id = entry.document.doc_id
        plain = likeness(doc_id)
        other = self._odd.get(plain)
        if plain != doc_id:
            if other is None and _key(plain) in self._numbers:
                other = plain
            if len(self._odd) < _ODD_IDS:
                self._odd.setdefault(plain, doc_id)
        if other is None:
            return None
        return Problem(
            "doc_id_alike",
            "The doc_id differs from %(other)s only in case, composition or unseen characters; they are two documents",
            {"other": other},
        )

    def _place(self, number: int) -> str:
        name, line = self._names[self._file_of[number]], self._line_of[number]
        return f"{name}:{line}" if line else name


def _key(doc_id: str) -> int:
    digest = hashlib.blake2b(doc_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) >> 4


_TEXT_BYTES = 12
_ODD_IDS = 100_000


def _repetition(entry: ReadDocument, first: tuple[bool, str]) -> Problem:
    same, place = first
    params = {"doc_id": entry.document.doc_id, "first": place, "second": entry.place}
    if same:
        return Problem(
            REPEATED,
            "%(doc_id)s comes twice with the same text (%(first)s and %(second)s); it counts once",
            params,
        )
    return Problem(
        "doc_id_conflict",
        "%(doc_id)s comes twice with different texts (%(first)s and %(second)s); the first is kept, a version needs a doc_id of its own",
        params,
    )
