"""Records cannot be changed or removed by raw SQL, on either database, also after a table was rebuilt."""

from __future__ import annotations

import contextlib

import pytest
from django.core.checks import run_checks
from django.db import DatabaseError, connection, migrations, models, transaction
from django.db.migrations.state import ProjectState

from dedupreview import insert_only
from dedupreview.people.models import AuditEvent
from reviews import arbitration
from reviews.models import (
    Arbitration,
    GuidelineVersion,
    Judgment,
    MergedEntry,
    Opinion,
    SignOff,
)
from reviews.records import is_intact, seal
from screening.models import Document, DocumentMetadata
from tests.reviews.world import judge, new_id, world

RECORDS = (
    Judgment,
    Opinion,
    Arbitration,
    SignOff,
    MergedEntry,
    GuidelineVersion,
    DocumentMetadata,
    AuditEvent,
)


def fill():
    """One record of each kind."""
    from django.utils import timezone

    w = world(1)
    judge(w.round, w.annotators[0], "copy", reason="原话")
    judge(w.round, w.annotators[1], "template")
    item, r = w.item(), w.arbitrators[0]
    arbitration.give_opinion(id=new_id(), item=item, person=r, label="copy")
    arbitration.decide(id=new_id(), item=item, person=r, label="copy", reason="x")
    signed = SignOff(
        round=w.round, stage="annotation", person=w.annotators[0], meaning="无误",
        signed_digest="0" * 64, created_at=timezone.now(),
    )  # fmt: skip
    seal(signed)
    signed.save(force_insert=True)
    assert is_intact(SignOff.objects.get(pk=signed.pk))
    MergedEntry.objects.create(
        collection=w.round.collection, person=w.admin, members=[], proposal={},
        created_at=timezone.now(), digest="1" * 64, digest_version=1,
    )  # fmt: skip
    DocumentMetadata.objects.create(
        document=Document.objects.first(), number=1, values={}, created_at=timezone.now(),
        digest="2" * 64, digest_version=1,
    )  # fmt: skip


def snapshot():
    return {model: list(model.objects.order_by("pk").values()) for model in RECORDS}


def statements(model, vendor):
    table = connection.ops.quote_name(model._meta.db_table)
    digest = "0" * 64
    column = "text" if model is GuidelineVersion else "digest"
    yield f"UPDATE {table} SET {column} = '{digest}'"
    yield f"UPDATE {table} SET {column} = {column}"
    yield f"DELETE FROM {table}"
    if vendor == "postgresql":
        yield f"TRUNCATE {table} CASCADE"
        yield (
            f"INSERT INTO {table} SELECT * FROM {table} "
            f"ON CONFLICT (id) DO UPDATE SET {column} = '{digest}'"
        )
    else:
        yield f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"
        yield f"REPLACE INTO {table} SELECT * FROM {table}"
        yield f"UPDATE OR IGNORE {table} SET {column} = '{digest}'"
        yield (
            f"INSERT INTO {table} SELECT * FROM {table} WHERE true "
            f"ON CONFLICT (id) DO UPDATE SET {column} = '{digest}'"
        )


def all_refused():
    before = snapshot()
    assert all(before.values())
    for model in RECORDS:
        for statement in statements(model, connection.vendor):
            with (
                pytest.raises(DatabaseError) as error,
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(statement)
            assert insert_only.MESSAGE in str(error.value), statement
    assert snapshot() == before


def rebuilt(model):
    """A migration of somebody's that alters a column of a record's table: on SQLite it is built anew."""
    state = ProjectState.from_apps(migrations_apps())
    # GuidelineVersion carries no digest; what is altered does not matter, only that the table is rebuilt.
    column, field = "digest", models.CharField(max_length=65)
    if model is GuidelineVersion:
        column, field = "text", models.CharField(max_length=65)
    operation = migrations.AlterField(model.__name__.lower(), column, field)
    after = state.clone()
    operation.state_forwards(model._meta.app_label, after)
    with connection.schema_editor() as editor:
        operation.database_forwards(model._meta.app_label, editor, state, after)


def migrations_apps():
    from django.apps import apps

    return apps


@pytest.mark.django_db
def test_sqlite_refuses_every_statement():
    fill()
    all_refused()


def succeeding():
    """How many of the statements go through for each record; what they did is rolled back."""
    found = {}
    for model in RECORDS:
        found[model] = 0
        for statement in statements(model, connection.vendor):
            # A key that others point at, or a value twice, is refused still: by other guards.
            with contextlib.suppress(DatabaseError), transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                found[model] += 1
                transaction.set_rollback(True)
    return found


def test_without_the_triggers_the_same_statements_would_succeed_on_postgres(postgres):
    fill()
    all_refused()
    insert_only.remove()
    assert all(number >= 3 for number in succeeding().values()), succeeding()
    insert_only.install()
    all_refused()


@pytest.mark.django_db
def test_without_the_triggers_the_same_statements_would_succeed():
    """The refusals come from the triggers and from nothing else."""
    fill()
    insert_only.remove()
    try:
        assert all(number >= 3 for number in succeeding().values()), succeeding()
        assert insert_only.missing()
        assert [e.id for e in run_checks(databases=["default"])].count("dedupreview.E001") >= 15
    finally:
        insert_only.install()
    all_refused()


@pytest.mark.django_db(transaction=True)
def test_sqlite_refuses_after_tables_were_rebuilt_and_migrate_ran():
    from django.core.management import call_command

    fill()
    for model in RECORDS:
        rebuilt(model)
    assert insert_only.missing(), "SQLite was expected to lose triggers when a table is rebuilt"
    call_command("migrate", verbosity=0)
    assert not insert_only.missing()
    all_refused()


def test_postgres_refuses_every_statement_also_after_a_rebuild(postgres):
    from django.core.management import call_command

    assert connection.vendor == "postgresql"
    fill()
    all_refused()
    for model in RECORDS:
        rebuilt(model)
    call_command("migrate", verbosity=0)
    assert not insert_only.missing()
    all_refused()


@pytest.mark.django_db
def test_every_record_model_is_among_the_guarded_ones():
    assert set(insert_only.insert_only_models()) == set(RECORDS)


@pytest.mark.django_db
def test_the_orm_cannot_change_a_record_either():
    fill()
    judgment = Judgment.objects.first()
    judgment.label = "citation"
    for act in (
        judgment.save,
        judgment.delete,
        Judgment.objects.all().delete,
        lambda: Judgment.objects.update(label="copy"),
    ):
        with pytest.raises((DatabaseError, models.ProtectedError)), transaction.atomic():
            act()


@pytest.mark.django_db
def test_the_migrations_are_complete():
    from django.core.management import call_command

    call_command("makemigrations", "reviews", "people", check=True, dry_run=True, verbosity=0)
