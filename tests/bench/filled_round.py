"""A round of any size, judged and arbitrated, put into an empty database by SQL alone.

Every record carries its digest, made in SQL from the canonical JSON of its fields: an export refuses any other, so that
a table of such a round also shows that a second implementation agrees on the canonical form.
"""

from __future__ import annotations

import hashlib
from typing import Any

from django.db import connection

from dedupreview.people.models import Person, Role
from reviews.models import GuidelineVersion, ReviewRound, RoundMember
from screening.models import Collection, ScreeningRun, SourceFile

EPOCH = 1_767_225_600
"""2026-01-01 UTC: the time of the first judgment; each pair is judged a second later."""
DISPUTED = 32
"""One pair of so many is judged differently and arbitrated."""
ANSWERS = (
    ("copy", "", "same_text"),
    ("revision", "left_first", "facts_changed"),
    ("citation", "", "quotes_statement"),
    ("template", "", "same_form"),
    ("independent", "", "same_topic"),
)
SHOWN = '{"engine":"tokens-2","scores":false,"side_order":"left"}'
CHANNELS = "'[\"minhash\",\"passages\"]'"
EXCERPTS = """('[{"text":"' || n || '号公告，街道图书馆每周开放","left_start":12,"right_start":14}]')"""
CHANGES = """('[{"kind":"number","left":"' || n || '","right":"7","left_start":1,"right_start":1}]')"""
PHRASE = "街道图书馆每周开放六天，读者凭证入馆。"

SQLITE = {
    "sha": "sha256hex({0})",
    "hex": "printf('%012x', {0})",
    "pad": "printf('%07d', {0})",
    "uuid": "replace({0}, '-', '')",
    "json": "{0}",
    "time": f"strftime('%Y-%m-%d %H:%M:%S', {EPOCH} + ({{0}}), 'unixepoch')",
    "iso": f"strftime('%Y-%m-%dT%H:%M:%S', {EPOCH} + ({{0}}), 'unixepoch') || '.000000Z'",
    "text": f"replace(hex(zeroblob(30)), '00', '{PHRASE}')",
}
POSTGRESQL = {
    "sha": "encode(sha256(convert_to({0}, 'UTF8')), 'hex')",
    "hex": "lpad(to_hex(({0})::bigint), 12, '0')",
    "pad": "lpad(({0})::text, 7, '0')",
    "uuid": "({0})::uuid",
    "json": "({0})::jsonb",
    "time": f"to_timestamp({EPOCH} + ({{0}}))",
    "iso": (
        f"to_char(to_timestamp({EPOCH} + ({{0}})) AT TIME ZONE 'UTC',"
        " 'YYYY-MM-DD\"T\"HH24:MI:SS') || '.000000Z'"
    ),
    "text": f"repeat('{PHRASE}', 30)",
}


def fill(pairs: int) -> ReviewRound:
    """A closed round over ``pairs`` pairs with two judgments each; needs an empty, migrated database."""
    round = _frame(pairs)
    speech = SQLITE if connection.vendor == "sqlite" else POSTGRESQL
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        connection.connection.create_function("sha256hex", 1, _sha256, deterministic=True)
    with connection.cursor() as cursor:
        for statement in _statements(pairs, speech, round):
            cursor.execute(statement)
        cursor.execute("ANALYZE")
    return round


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _frame(pairs: int) -> ReviewRound:
    """What there is one of, and people 1 and 2 who judge and 3 who arbitrates."""
    owner = Collection.objects.create(slug="bench", name="bench")
    SourceFile.objects.create(
        collection=owner, sha256="0" * 64, size=1, media_type="text/plain", original_path="b"
    )
    run = ScreeningRun.objects.create(
        collection=owner, state="done", config={}, fingerprint="0" * 64, candidate_count=pairs
    )
    round = ReviewRound.objects.create(collection=owner, run=run, name="bench")
    GuidelineVersion.objects.create(round=round, number=1, text="规则", html="<p>规则</p>")
    for name, role, part in (
        ("a", Role.ANNOTATOR, "annotator"),
        ("b", Role.ANNOTATOR, "annotator"),
        ("c", Role.ARBITRATOR, "arbitrator"),
    ):
        person = Person.objects.create(username=name, role=role)
        RoundMember.objects.create(round=round, person=person, part=part)
    return round


def _numbers(count: int) -> str:
    return (
        "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers"
        f" WHERE n + 1 < {count})"
    )


def _answers() -> str:
    rows = " UNION ALL ".join(
        f"SELECT {k} AS k, '{label}' AS label, '{direction}' AS direction, '{code}' AS code"
        for k, (label, direction, code) in enumerate(ANSWERS)
    )
    return f"({rows})"


def _statements(pairs: int, speech: dict[str, str], round: ReviewRound) -> list[str]:
    def say(name: str, *values: str) -> str:
        return speech[name].format(*values)

    base = max(4, pairs // 5)
    documents = base + pairs // base + 2
    raw = f"'第' || n || '号公告：' || {say('text')}"
    kept = "CASE WHEN a.label = 'copy' THEN l.id END"
    common = _Common(say, round.pk, kept)
    return [
        f"""INSERT INTO screening_document (id, collection_id, doc_id, source_id, title, raw, sha256, raw_sha256, chars,
            source_file_id, locator, metadata, warnings, created_at)
            {_numbers(documents)} SELECT n + 1, 1, 'D' || {say("pad", "n")}, 'source-' || n % 7, '第' || n || '号公告', {raw},
            {say("sha", raw)}, {say("sha", raw)}, length({raw}), 1, '', {say("json", "'{}'")}, {say("json", "'[]'")},
            {say("time", "0")} FROM numbers""",
        f"""INSERT INTO screening_documentpair (id, low_id, high_id)
            {_numbers(pairs)} SELECT n + 1, n % {base} + 1, n % {base} + 2 + n / {base} FROM numbers""",
        f"""INSERT INTO screening_candidate (id, run_id, pair_id, rank, channels, minhash_estimate, jaccard, containment,
            shared_shingles, excerpts, fact_changes, suggestion, representative, note)
            {_numbers(pairs)} SELECT n + 1, {round.run_id}, n + 1, n + 1, {say("json", CHANNELS)},
            0.8125, 0.5 + (n % 499) / 1000.0, 0.75, {say("json", "'[]'")},
            {say("json", EXCERPTS)}, {say("json", CHANGES)},
            'copy', TRUE, '' FROM numbers""",
        f"""INSERT INTO reviews_reviewitem (id, round_id, pair_id, candidate_id, position, state, closed_by, conflict,
            revision, closed_at)
            {_numbers(pairs)} SELECT n + 1, {round.pk}, n + 1, n + 1, n + 1, 'closed',
            CASE WHEN n % {DISPUTED} = 31 THEN 'arbitration' ELSE 'agreement' END,
            CASE WHEN n % {DISPUTED} = 31 THEN 'label' ELSE '' END, 0, {say("time", "n + 9")} FROM numbers""",
        f"""INSERT INTO reviews_reviewslot (id, item_id, number, state, annotator_id)
            {_numbers(2 * pairs)} SELECT n + 1, n / 2 + 1, n % 2 + 1, 'filled', n % 2 + 1 FROM numbers""",
        common.judgments(),
        common.opinions(),
        common.arbitrations(),
    ]


class _Common:
    """What the three kinds of records share."""

    def __init__(self, say: Any, round_id: int, kept: str) -> None:
        self.say = say
        self.round_id = round_id
        self.kept = kept

    def _id(self, kind: int, number: str) -> str:
        return f"'00000000-0000-4000-8000-{kind}' || substr({self.say('hex', number)}, 2)"

    def _text(self, **values: str) -> str:
        """An SQL expression for the canonical JSON of an object; the values are expressions of its JSON texts."""
        parts = [f"'\"{key}\":' || ({values[key]})" for key in sorted(values)]
        return "'{' || " + " || ',' || ".join(parts) + " || '}'"

    def _quoted(self, expression: str) -> str:
        return f"'\"' || ({expression}) || '\"'"

    def _answer(self, kind: int, number: str, seconds: str, reason: str) -> dict[str, str]:
        return {
            "id": self._quoted(self._id(kind, number)),
            "item": self._quoted("i.id"),
            "pair_id": self._quoted("i.pair_id"),
            "round": self._quoted(str(self.round_id)),
            "left": self._quoted("l.doc_id"),
            "right": self._quoted("h.doc_id"),
            "left_sha256": self._quoted("l.raw_sha256"),
            "right_sha256": self._quoted("h.raw_sha256"),
            "label": self._quoted("a.label"),
            "direction": self._quoted("a.direction"),
            "reason_code": self._quoted("a.code"),
            "reason": self._quoted(reason),
            "kept": f"CASE WHEN a.label = 'copy' THEN {self._quoted('l.doc_id')} ELSE 'null' END",
            "evidence": "'[]'",
            "shown": f"'{SHOWN}'",
            "guideline_version": "1",
            "created_at": self._quoted(self.say("iso", seconds)),
        }

    def _insert(
        self, table: str, own: dict[str, str], kind: int, number: str, when: str, **more: str
    ) -> str:
        """``own``: columns and their values; ``more``: fields of the digest beyond those of every answer."""
        seconds, reason = f"i.position + {when}", "'第 ' || i.position || ' 项：两份文本已逐段比较。'"
        digest = self.say("sha", self._text(**self._answer(kind, number, seconds, reason), **more))
        columns = {
            "id": self.say("uuid", self._id(kind, number)),
            "label": "a.label",
            "direction": "a.direction",
            "reason_code": "a.code",
            "reason": reason,
            "kept_id": self.kept,
            "evidence": self.say("json", "'[]'"),
            "shown": self.say("json", f"'{SHOWN}'"),
            "guideline_version": "1",
            "created_at": self.say("time", seconds),
            "digest": digest,
            "digest_version": "1",
            "item_id": "i.id",
            **own,
        }
        return (
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns.values())} "
            "FROM reviews_reviewitem i JOIN screening_documentpair p ON p.id = i.pair_id "
            "JOIN screening_document l ON l.id = p.low_id JOIN screening_document h ON h.id = p.high_id "
        )

    def judgments(self) -> str:
        """Two a pair; the second differs where the pair is disputed."""
        number = "2 * i.id + s.number"
        own = {
            "slot_id": "s.id",
            "annotator_id": "s.annotator_id",
            "version": "1",
            "counted": "TRUE",
            "checklist": self.say("json", "'{}'"),
            "active_ms": "4000 + i.id % 9000",
        }
        fields = {
            "record": "'\"judgment\"'",
            "annotator": self._quoted("w.code"),
            "slot": "s.number",
            "version": "1",
            "supersedes": "'null'",
            "counted": "'true'",
            "checklist": "'{}'",
            "active_ms": "4000 + i.id % 9000",
        }
        seat = f"CASE WHEN s.number = 2 AND i.position % {DISPUTED} = 0 THEN 1 ELSE 0 END"
        return (
            self._insert("reviews_judgment", own, 1, number, "s.number", **fields)
            + "JOIN reviews_reviewslot s ON s.item_id = i.id "
            + "JOIN people_person w ON w.id = s.annotator_id "
            + f"JOIN {_answers()} a ON a.k = (i.position + {seat}) % {len(ANSWERS)}"
        )

    def _decisive(self) -> str:
        return (
            f"JOIN {_answers()} a ON a.k = i.position % {len(ANSWERS)} "
            f"JOIN people_person w ON w.id = 3 WHERE i.position % {DISPUTED} = 0"
        )

    def opinions(self) -> str:
        fields = {"record": "'\"opinion\"'", "arbitrator": self._quoted("w.code")}
        insert = self._insert(
            "reviews_opinion", {"arbitrator_id": "3"}, 2, "i.id", "3", **fields
        )
        return insert + self._decisive()

    def arbitrations(self) -> str:
        own = {
            "arbitrator_id": "3",
            "version": "1",
            "saw_originals": "TRUE",
            "based_on": self.say("json", "'[]'"),
            "cause_code": "'slip'",
            "opinion_id": self.say("uuid", self._id(2, "i.id")),
        }
        fields = {
            "record": "'\"arbitration\"'",
            "arbitrator": self._quoted("w.code"),
            "version": "1",
            "supersedes": "'null'",
            "opinion": self._quoted(self._id(2, "i.id")),
            "saw_originals": "'true'",
            "based_on": "'[]'",
            "cause_code": "'\"slip\"'",
        }
        insert = self._insert("reviews_arbitration", own, 3, "i.id", "4", **fields)
        return insert + self._decisive()
