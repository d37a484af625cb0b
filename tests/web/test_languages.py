"""No page shows a string that was not translated: every Latin word of a Chinese page is accounted for, and the reverse."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse
from django.utils import translation

from dedupreview import views
from dedupreview.people.models import AuditEvent, Person
from reviews import arbitration, judging, queue
from reviews.models import Judgment, LabelSet, Question, ReviewRound, ReviewSlot
from screening.models import Collection, Document, SourceFile
from tests.pair import texts
from tests.pair.desk import Desk
from tests.web.site import DOWNLOADS, HOSTILE, Site

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))

VOID = {"br", "col", "hr", "img", "input", "link", "meta", "wbr"}
NOT_WORDS = {"script", "style", "code", "pre", "kbd", "samp", "textarea"}
"""Elements whose text is not written for reading, or is what people typed."""

SPOKEN = {"aria-label", "aria-description", "title", "placeholder", "alt"}
"""Attributes that people read or hear."""

CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+")
LATIN = re.compile(r"[A-Za-z]{2,}")

STAYS_LATIN = {
    # Measures that are called by their authors' names in Chinese, too.
    "MinHash", "Jaccard", "Cohen", "Fleiss", "Krippendorff", "Gwet", "AC", "TP", "FP", "FN", "TN",
    # Formats, encodings, programs and one language's own name.
    "API", "cookie", "JSON", "CSV", "XLSX", "PDF", "SHA", "UTF", "GB", "Big", "Word", "Excel", "Label", "Studio", "doccano",
    "English",
    # Names of columns and files as they have to be written, and the ends of file names.
    "left", "right", "label", "reason", "annotator", "family", "doc_id", "txt", "md", "docx", "html", "jsonl", "csv",
    "xlsx", "xml", "json", "zip", "ZIP",
    # What the program that checks signatures prints; fields of an answer; units.
    "Good", "signature", "OK", "code", "detail", "kB", "MB",
    # Settings as run.json writes them, offered as options of a list, which can hold no <code>; and values of them.
    "num_perm", "bands", "channels", "char",
    # A key as keyboards have it, and a warning that the site of these tests made up.
    "Ctrl", "Odd",
}  # fmt: skip
"""Words of Latin letters that stand on Chinese pages, each kind with its reason."""

STAYS_CHINESE = ("副本, 有效修订, 公共引用, 模板, 各自独立",)
"""Chinese on English pages: the names of labels that a file of labels may use."""

NAMES = re.compile(
    r"P-[A-Z0-9]{6}|[0-9a-f]{10,}…?|\S+\.(?:txt|csv|xlsx|jsonl?|xml|md|zip)\b|SHA256:\w+|[\w.]+_[\w.]+"
)
"""Codes of people, digests, file names and names of fields."""


class Words(HTMLParser):
    """(where, words) of what a page of one language shows; what is marked as another language is left out."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._code = code
        self._stack: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        foreign = named.get("lang", self._code).lower()[:2] != self._code[:2]
        hidden = foreign or tag in NOT_WORDS or "digest" in named.get("class", "").split()
        hidden = hidden or (bool(self._stack) and self._stack[-1][1])
        if tag not in VOID:
            self._stack.append((tag, hidden))
        for name, value in named.items():
            pressed = name == "value" and named.get("type") in {"submit", "button", "reset"}
            told = name.startswith("data-") and name != "data-for" and _sentence(value)
            if (name in SPOKEN or pressed or told) and not hidden:
                self.found.append((f"{tag} {name}", value))

    def handle_endtag(self, tag: str) -> None:
        while self._stack and self._stack.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and not (self._stack and self._stack[-1][1]):
            self.found.append((self._stack[-1][0] if self._stack else "", " ".join(data.split())))


def _sentence(value: str) -> bool:
    """Whether a data attribute is words for a script to show, and not a number, a place or a form's state."""
    if value.startswith(("{", "[", "/")) and "{done}" not in value:
        return False
    return bool(CHINESE.search(value)) or bool(re.search(r"[A-Za-z]{2,} [A-Za-z]", value))


def known() -> list[str]:
    """What people and files have put into the database, the longest first."""
    found: set[str] = {HOSTILE, HOSTILE.replace("/", "")}
    columns = (
        Collection.objects.values_list("name", "slug"),
        SourceFile.objects.values_list("original_path"),
        Document.objects.values_list("doc_id", "title", "source_id", "raw"),
        ReviewRound.objects.values_list("name", "guidelines__text"),
        LabelSet.objects.values_list("name", "filename"),
        Question.objects.values_list("text"),
        Judgment.objects.values_list("reason"),
        Person.objects.values_list("username"),
    )
    for rows in columns:
        found |= {str(value) for row in rows for value in row if value}
    found |= {
        Path(path).name for path in SourceFile.objects.values_list("original_path", flat=True)
    }
    for metadata in Document.objects.values_list("metadata", flat=True):
        found |= {str(value) for value in metadata.values() if value}
    return sorted(found, key=len, reverse=True)


def unaccounted(text: str, code: str, data: Iterable[str]) -> list[tuple[str, str]]:
    """(where, words) of a page that are in the wrong language."""
    parser = Words(code)
    parser.feed(text)
    data = list(data)
    raws = "\n".join(data)
    return [(where, words) for where, words in parser.found if _wrong(words, code, data, raws)]


def _wrong(words: str, code: str, data: list[str], raws: str) -> bool:
    rest = words
    for known in data:
        rest = rest.replace(" ".join(known.split()), " ")
    if code == "en":
        for allowed in STAYS_CHINESE:
            rest = rest.replace(allowed, " ")
        # A passage may be cut out of a text.
        return any(run not in raws for run in CHINESE.findall(rest))
    rest = re.sub(r"\{\w+\}", " ", NAMES.sub(" ", rest))
    return any(word not in STAYS_LATIN and rest not in raws for word in LATIN.findall(rest))


def in_language(client: Client, code: str) -> Client:
    client.cookies["dedupreview_language"] = code
    return client


def walk(client: Client, addresses: dict[str, str], code: str) -> dict[tuple[str, str], str]:
    """(where, words) → first page that shows what is in the wrong language."""
    found: dict[tuple[str, str], str] = {}
    data = known()
    for name, address in addresses.items():
        if name in DOWNLOADS:
            continue
        _keep(found, name, client.get(address), code, data)
    return found


def _keep(
    found: dict[tuple[str, str], str],
    name: str,
    answer: HttpResponseBase,
    code: str,
    data: list[str],
) -> None:
    text = getattr(answer, "content", b"").decode()
    for one in unaccounted(text, code, data):
        found.setdefault(one, name)


def test_the_reader_sees_words_and_passes_over_data() -> None:
    page = '<p>Home</p><p lang="en">Not found</p><input placeholder="Title"><p data-say="Try it again">第1号公告</p>'
    assert unaccounted(page, "zh-hans", []) == [
        ("p", "Home"), ("input placeholder", "Title"), ("p data-say", "Try it again")
    ]  # fmt: skip
    assert unaccounted(page, "zh-hans", ["Home", "Title", "Try it again"]) == []
    assert unaccounted(page, "en", []) == [("p", "第1号公告")]
    assert unaccounted(page, "en", ["第1号公告"]) == []


@pytest.mark.parametrize("code", ["zh-hans", "en"])
def test_every_page_is_in_the_language_chosen(site: Site, code: str) -> None:
    addresses = site.addresses() | {"none": "/no-such-page/", "mine": "/judgments/"}
    wrong: dict[tuple[str, str], str] = walk(
        in_language(site.client(None), code), {"login": "/login"}, code
    )
    for who in (site.admin, site.auditor, site.annotator, site.arbitrator, site.stranger):
        wrong |= walk(in_language(site.client(who), code), addresses, code)
    assert wrong == {}


@pytest.mark.parametrize("code", ["zh-hans", "en"])
def test_what_forms_refuse_is_in_the_language_chosen(site: Site, code: str) -> None:
    client = in_language(site.client(site.admin), code)
    addresses, data = site.addresses(), known()
    wrong: dict[tuple[str, str], str] = {}
    refused = 0
    for name in ("screening:create-collection", "screening:upload", "screening:start-run", "add-person", "reviews:open-round",
                 "reviews:upload-labels", "reviews:guideline", "reviews:sign-off", "password_change", "reviews:run-checklist",
                 "screening:correct-metadata", "reviews:evaluation"):  # fmt: skip
        for sent in (
            {},
            {
                "slug": "!",
                "threshold": "7",
                "new_password1": "1",
                "new_password2": "2",
                "published_on": "?",
            },
        ):
            answer = client.post(addresses[name], sent, follow=True)
            refused += answer.status_code == 200
            _keep(wrong, name, answer, code, data)
    answer = in_language(site.client(None), code).post(
        "/login", {"username": "admin", "password": "1"}
    )
    _keep(wrong, "login", answer, code, data)
    assert wrong == {}
    assert refused > 12


def _settle(desk: Desk) -> None:
    """The first pair goes to arbitration, with an opinion of the first arbitrator; the second stays open."""
    item = desk.item()
    for person, label in zip(desk.annotators, ("copy", "template"), strict=True):
        slot = queue.claim(round=desk.round, person=person)
        assert isinstance(slot, ReviewSlot)
        assert slot.item_id == item.pk
        judging.submit(id=uuid.uuid4(), slot=slot, person=person, label=label, reason="理由")
    arbitration.give_opinion(id=uuid.uuid4(), item=item, person=desk.arbitrators[0], label="copy")


@pytest.mark.parametrize("code", ["zh-hans", "en"])
def test_pages_of_pairs_are_in_the_language_chosen(db: None, data_dir: Path, code: str) -> None:
    desk = Desk([(texts.RULE, texts.REVISED), (texts.REPORT_A, texts.REPORT_B)])
    _settle(desk)
    slot = queue.claim(round=desk.round, person=desk.annotators[0])
    assert isinstance(slot, ReviewSlot)
    first, second = (desk.item(n).pk for n in (1, 2))
    addresses = {
        name: reverse(f"reviews:{name}", args=[pk])
        for name, pk in (
            ("item", second),
            ("articles", second),
            ("arbitrate", first),
            ("conflict-list", desk.round.pk),
        )
    } | {
        "mine": reverse("reviews:my-judgments"),
        "claimed": reverse("reviews:claim-item", args=[desk.round.pk]),
    }
    for why in ("taken", "done", "paused", "closed"):
        addresses[why] = reverse("reviews:nothing", args=[desk.round.pk, why])
    addresses["original"] = reverse("reviews:original-text", args=[second, "left"])
    site_client = {
        who: Client()
        for who in (desk.annotators[0], desk.arbitrators[0], desk.arbitrators[1], desk.admin)
    }
    wrong: dict[tuple[str, str], str] = {}
    for who, client in site_client.items():
        client.force_login(who)
        wrong |= walk(in_language(client, code), addresses, code)
    assert wrong == {}


@pytest.mark.parametrize("code", ["zh-hans", "en"])
def test_error_pages_are_in_the_language_chosen(site: Site, code: str) -> None:
    request = site.client(site.admin).get("/").wsgi_request
    pages = {
        "400": lambda: views.bad_request(request, ValueError()),
        "403": lambda: views.permission_denied(request, PermissionError()),
        "404": lambda: views.not_found(request, LookupError()),
        "csrf": lambda: views.csrf_failure(request),
        "locked": lambda: views.locked_out(request),
        "500": lambda: views.server_error(request),
    }
    with translation.override(code):
        for name, made in pages.items():
            text = made().content.decode()
            assert f'<html lang="{"zh-Hans" if code == "zh-hans" else "en"}"' in text, name
            assert unaccounted(text, code, known()) == [], name


DATES = re.compile(
    r"\b\d{1,2}/\d{1,2}/\d{2,4}|\b(?:Jan|Feb|March|April|May|June|July|Aug|Sept|Oct|Nov|Dec)[a-z]*\.? \d|\b\d{1,2}:\d{2} ?[ap]\.?m"
)
"""Dates and times of one country; 2026-05-04 and 16:30 are read alike in both languages."""


@pytest.mark.parametrize("code", ["zh-hans", "en"])
def test_moments_are_written_as_iso_8601(site: Site, code: str) -> None:
    client = in_language(site.client(site.admin), code)
    moment = AuditEvent.objects.latest("pk").created_at
    shown = 0
    for name, address in site.addresses().items():
        if name in DOWNLOADS:
            continue
        text = re.sub("<[^>]*>", " ", client.get(address).content.decode())
        assert not DATES.search(text), name
        shown += moment.strftime("%Y-") in text
    assert shown > 8


COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.S)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')


def literals(source: str) -> Iterator[str]:
    for match in LITERAL.finditer(COMMENT.sub("", source)):
        yield next(group for group in match.groups() if group is not None)


def test_scripts_take_their_words_from_the_page() -> None:
    """A script has class names, selectors and keys of its own, never a sentence: pages bring those along, translated."""
    wrong = [
        (path.name, text)
        for path in SCRIPTS
        for text in literals(path.read_text(encoding="utf-8"))
        if re.search(r"[\u3400-\u9fff]", text)
        or re.search(r"[A-Z][a-z]+(?: [a-z]+){2,}|\w [a-z]+[.!?…]$", text)
    ]
    assert wrong == []
    assert "Say it again." in list(literals('x("Say it again."); // "not this"'))
