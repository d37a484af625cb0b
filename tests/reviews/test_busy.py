"""A database that is busy or away for a moment is no fault of the program: pages say 503, and what it is."""

from __future__ import annotations

import sqlite3
import threading
from typing import Any

import psycopg.errors
import pytest
from django.db import DataError, OperationalError, connection
from django.test import Client
from django.urls import reverse

from dedupreview.errors import passing
from tests.reviews.world import world


def raised(cause: BaseException, kind: type[Exception] = OperationalError) -> Exception:
    """The error as Django passes it on."""
    error = kind(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "is_passing"),
    [
        (sqlite3.OperationalError("database is locked"), True),
        (sqlite3.OperationalError("database table is locked: reviews_judgment"), True),
        (sqlite3.OperationalError("no such table: reviews_judgment"), False),
        (sqlite3.OperationalError("disk I/O error"), False),
        (psycopg.errors.DeadlockDetected("deadlock"), True),
        (psycopg.errors.SerializationFailure("could not serialize"), True),
        (psycopg.errors.AdminShutdown("terminating"), True),
        (psycopg.errors.TooManyConnections("too many"), True),
        (psycopg.OperationalError("connection refused"), True),
        (psycopg.errors.DiskFull("no space"), True),
        (psycopg.errors.QueryCanceled("timeout"), False),
    ],
)
def test_which_errors_pass(cause: BaseException, is_passing: bool) -> None:
    assert passing(raised(cause)) is is_passing


def test_other_errors_do_not_pass() -> None:
    assert not passing(None)
    assert not passing(RuntimeError("database is locked"))
    assert not passing(raised(psycopg.errors.NumericValueOutOfRange("x"), DataError))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OperationalError("database is locked"), 503, "请稍后再试"),
        (RuntimeError("broken"), 500, "出错"),
    ],
)
def test_a_page_says_so(
    monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str
) -> None:
    w = world(1)
    client = Client(raise_request_exception=False)
    client.force_login(w.annotators[0])

    def fail(**_: Any) -> None:
        raise error

    monkeypatch.setattr("reviews.queue.claim", fail)
    answer = client.post(reverse("reviews:claim-item", args=[w.round.pk]))
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert ("Retry-After" in answer.headers) == (status == 503)


@pytest.mark.django_db(transaction=True)
def test_another_writer_makes_a_page_wait_and_then_say_so() -> None:
    """With a real lock, not a made-up error."""
    assert connection.vendor == "sqlite"
    w = world(1)
    client = Client(raise_request_exception=False)
    client.force_login(w.annotators[0])
    address = reverse("reviews:claim-item", args=[w.round.pk])
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 50")
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        other = sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        held.set()
        free.wait(30)
        other.execute("ROLLBACK")
        other.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(10)
        assert client.post(address).status_code == 503
    finally:
        free.set()
        holder.join()
        connection.close()
    assert client.post(address).status_code == 302
