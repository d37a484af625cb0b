"""The commands open_round, import_labels and add_user, as a person at a terminal uses them."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import translation

from dedupreview.people.models import AuditEvent, Person, Role
from reviews.models import LabelSet, ReviewRound
from screening.models import Candidate
from tests.reviews.world import collection, documents, finished_run, person

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


def run_of(pairs=2):
    docs = documents(collection(), pairs * 2)
    return finished_run(docs[0].collection, list(zip(docs[::2], docs[1::2], strict=True)))


def call(*arguments, **options):
    out = io.StringIO()
    call_command(*map(str, arguments), stdout=out, **options)
    return out.getvalue().splitlines()


def refusal(*arguments):
    with pytest.raises(CommandError) as error:
        call(*arguments)
    assert error.value.returncode == 2
    return str(error.value).splitlines()


def test_open_round_prints_the_workload_and_the_round_as_its_last_line():
    run = run_of(4)
    for name in ("a", "b"):
        person(name)
    person("d", Role.ARBITRATOR)
    lines = call("open_round", run.pk, "--name", "一", "--annotators", "a, b", "--arbitrators", "d")
    round = ReviewRound.objects.get()
    assert lines[-1] == f"round: {round.pk}"
    assert "4 pairs × 2 judgments = 8 seats" in lines[0]
    assert round.judgments_per_item == 2
    assert {m.person.username for m in round.members.filter(part="annotator")} == {"a", "b"}
    assert run.collection.memberships.count() == 3


def test_open_round_with_options():
    run = run_of(4)
    for name in "abc":
        person(name)
    person("d", Role.ARBITRATOR)
    call("open_round", run.pk, "--name", "一", "--annotators", "a,b,c", "--arbitrators", "d",
         "--judgments", "3", "--limit", "2", "--order-seed", "9", "--show-scores")  # fmt: skip
    round = ReviewRound.objects.get()
    assert (round.judgments_per_item, round.items.count(), round.order_seed, round.show_scores) == (
        3, 2, 9, True,
    )  # fmt: skip


def test_open_round_names_every_missing_person_once():
    run = run_of()
    person("a")
    lines = refusal(
        "open_round", run.pk, "--name", "一", "--annotators", "a,x,y", "--arbitrators", "x,z"
    )
    assert lines == [f"There is no user named {name}." for name in "xyz"]
    assert not ReviewRound.objects.exists()


def test_open_round_names_every_fault():
    run = run_of()
    person("a")
    person("z", is_active=False)
    lines = refusal(
        "open_round", run.pk, "--name", "一", "--annotators", "a", "--arbitrators", "a,z"
    )
    assert len(lines) == 3
    assert any("at least 2 annotators" in line for line in lines)


@pytest.mark.parametrize("run", ["99999", "x", "１", "-1"])
def test_open_round_of_no_run(run):
    (line,) = refusal("open_round", "--name=一", "--annotators=a", "--arbitrators=b", "--", run)
    assert run in line


def test_open_round_without_pairs():
    run = run_of()
    Candidate.objects.all().delete()
    for name in "ab":
        person(name)
    person("d", Role.ARBITRATOR)
    assert refusal(
        "open_round", run.pk, "--name", "一", "--annotators", "a,b", "--arbitrators", "d"
    ) == ["There are no pairs to review."]


def test_import_labels_reports_each_refused_row(tmp_path, data_dir):
    owner = collection()
    documents(owner, 4)
    file = tmp_path / "labels.csv"
    file.write_text(
        "left,right,label\ndoc-001,doc-002,副本\ndoc-003,doc-009,copy\n"
        "doc-003,doc-004,copy\ndoc-004,doc-003,模板\n",
        encoding="utf-8",
    )
    arguments = ("import_labels", file, "--collection", owner.slug, "--name", "金标")
    dry = call(*arguments, "--dry-run")
    assert not LabelSet.objects.exists()
    lines = call(*arguments)
    assert lines[:-1] == dry
    assert lines[0] == "Line 3: the collection has no document doc-009"
    assert "line 4 says copy, line 5 says template" in lines[1]
    assert lines[2] == "1 pairs accepted, 1 rows refused, 1 in conflict"
    assert lines[3] == f"label set: {LabelSet.objects.get().pk}"


def test_import_labels_of_a_file_that_is_not_there(tmp_path):
    (line,) = refusal("import_labels", tmp_path / "none.csv", "--collection", "x", "--name", "y")
    assert "none.csv" in line


def test_add_user_takes_the_first_line_without_its_newline(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(" Pass word 12 \nsecond line\n"))
    lines = call("add_user", "li", "--role", "arbitrator", "--password-stdin", "--full-name", "李")
    made = Person.objects.get()
    assert lines == [f"user: li {made.code}"]
    assert made.check_password(" Pass word 12 ")
    assert (made.role, made.first_name, made.is_staff, made.is_superuser) == (
        "arbitrator", "李", False, False,
    )  # fmt: skip
    assert AuditEvent.objects.get(action="person.added").subject_id == made.code


def test_add_user_refuses_a_name_that_is_there_and_keeps_it(monkeypatch):
    person("li", Role.ADMIN)
    monkeypatch.setattr("sys.stdin", io.StringIO("another-Secret-9\n"))
    assert refusal("add_user", "li", "--role", "annotator", "--password-stdin") == [
        "There is already a user named li."
    ]
    kept = Person.objects.get()
    assert kept.role == Role.ADMIN
    assert not kept.check_password("another-Secret-9")


@pytest.mark.parametrize(
    ("name", "password"), [("bad name", "xY7-secret-key"), ("", "xY7-secret-key"), ("ok", "")]
)
def test_add_user_refuses_bad_input(monkeypatch, name, password):
    monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
    assert len(refusal("add_user", "--role=annotator", "--password-stdin", "--", name)) == 1
    assert not Person.objects.exists()


def test_add_user_knows_four_roles(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("xY7-secret-key\n"))
    with pytest.raises((CommandError, SystemExit)):
        call("add_user", "li", "--role", "king", "--password-stdin")
    for role in ("annotator", "arbitrator", "admin", "auditor"):
        monkeypatch.setattr("sys.stdin", io.StringIO("xY7-secret-key\n"))
        call("add_user", role, "--role", role, "--password-stdin")
    assert set(Person.objects.values_list("role", flat=True)) == set(Role.values)
