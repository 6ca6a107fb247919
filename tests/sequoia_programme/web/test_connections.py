"""A real server, and those who hold its connections without asking for anything."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn
from web_cases import DAY, with_accounts

from real_command import PATIENCE
from sequoia_programme.web import connections
from sequoia_programme.web.app import create_app, server_options

BODY = (
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\ncsrf="
)

FORWARDED = b"X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n"


@contextmanager
def served(folder, **options):
    """Serve a page in this process; yield its port."""
    options = {**server_options(), **options, "port": 0}
    server = uvicorn.Server(uvicorn.Config(create_app(folder, DAY), **options))
    thread = threading.Thread(target=server.run)
    thread.start()
    end = time.monotonic() + PATIENCE
    while not server.started and time.monotonic() < end:
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return with_accounts(tmp_path_factory.mktemp("connections")).folder


def connect(port, sent=b""):
    made = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    made.sendall(sent)
    return made


def ask(port, more=b""):
    with connect(port, b"GET /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n") as made:
        made.sendall(more + b"\r\n")
        return b"".join(iter(lambda: made.recv(65536), b""))


def is_cut(made):
    """Whether the server ends a connection in time."""
    try:
        return made.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: loc", BODY])
def test_half_a_request_is_not_awaited_for_ever(folder, monkeypatch, sent):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.4)
    with served(folder) as port, connect(port, sent) as made:
        assert is_cut(made)


def test_a_byte_now_and_then_gains_no_time(folder, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    with served(folder) as port, connect(port, BODY) as made:
        begun = time.monotonic()
        try:
            while time.monotonic() < begun + PATIENCE:
                made.sendall(b"x")
                time.sleep(0.05)
        except OSError:
            pass
        assert time.monotonic() < begun + 5


def test_connections_that_ask_for_nothing_keep_nobody_out(folder, monkeypatch):
    monkeypatch.setattr(connections, "most_connections", lambda: 10)
    with served(folder) as port:
        held = [connect(port, b"GET / HTTP") for _ in range(40)]
        assert ask(port).startswith(b"HTTP/1.1 200")
        assert sum(is_cut(made) for made in held[:30]) == 30
        for made in held:
            made.close()


def test_nobody_says_from_where_they_come(folder):
    with served(folder) as port:
        assert b"strict-transport-security" not in ask(port, FORWARDED)
    with served(folder, **server_options("127.0.0.1")) as port:
        assert b"strict-transport-security" in ask(port, FORWARDED)
