"""What a request may send besides its body is limited by the server itself."""

import contextlib
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.site import Site, serving
from vocboard.app.intake import body_limit
from vocboard.app.settings import Settings
from vocboard.app.web import http_protocol

MIB = 1 << 20


@pytest.fixture(scope="module")
def site(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("site")
    with serving(Settings(data_directory=data, database_url=f"sqlite:///{sqlite_template}")) as running:
        yield running


def answer_to(site: Site, *pieces: bytes) -> bytes:
    """Send pieces until the server hangs up; return what it has said."""
    address = urlsplit(site.url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=20) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
            return connection.recv(1000)
        except ConnectionError:
            return connection.recv(1000) or b"hung up"


HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_an_ordinary_request_is_answered(site: Site) -> None:
    assert b" 200 " in answer_to(site, HEAD + b"X-Some: " + b"a" * 8000 + b"\r\n\r\n")


@pytest.mark.parametrize(
    "pieces",
    [
        [HEAD, b"X-Long: ", *[b"a" * 65536] * 160],
        [HEAD, *[b"X-Many: a\r\n" * 10_000] * 100],
        [b"GET /", *[b"a" * 65536] * 160],
    ],
    ids=["long header", "many headers", "long address"],
)
def test_a_head_without_end_is_refused(site: Site, pieces: list[bytes]) -> None:
    answer = answer_to(site, *pieces)
    assert b" 431 " in answer or answer == b"hung up"


def test_trailers_without_end_are_refused(site: Site) -> None:
    answer = answer_to(site, POST, b"0\r\nX-Trailer: ", *[b"a" * 65536] * 160)
    assert answer.startswith(b"HTTP/1.1 ")


def test_a_head_that_trickles_is_ended(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.3)
    assert b" 408 " in answer_to(site, HEAD)
    assert answer_to(site) == b""


def connect(site: Site) -> socket.socket:
    address = urlsplit(site.url)
    return socket.create_connection((address.hostname or "", address.port or 0), timeout=10)


def test_a_server_that_stops_answers_requests_that_are_on_their_way(sqlite_template: Path, tmp_path: Path) -> None:
    """A proxy has sent them before it sees the connection closed, and cannot repeat them."""
    settings = Settings(data_directory=tmp_path, database_url=f"sqlite:///{sqlite_template}")
    with ThreadPoolExecutor(1) as pool, contextlib.ExitStack() as stack:
        site = stack.enter_context(serving(settings))
        with closing(connect(site)) as used, closing(connect(site)) as idle, closing(connect(site)) as new:
            for connection in (used, idle):
                connection.sendall(HEAD + b"\r\n")
                assert b"connection: close" not in connection.recv(1000).lower()
            time.sleep(0.1)  # until the server has all three
            stopped = pool.submit(stack.close)
            time.sleep(0.5)
            for connection in (used, new):
                connection.sendall(HEAD + b"\r\n")
                answer = connection.recv(1000).lower()
                assert answer.startswith(b"http/1.1 200 ")
                assert b"connection: close" in answer
            assert [connection.recv(1000) for connection in (used, new, idle)] == [b"", b"", b""]
        stopped.result()


def form(length: int) -> bytes:
    return (
        b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: %d\r\n\r\n" % length
    )


CHUNKED_FORM = form(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")


@pytest.mark.parametrize("begin", [form(1000) + b"email=a", CHUNKED_FORM + b"5\r\nemail"], ids=["length", "chunks"])
def test_a_form_that_stops_half_way_is_ended(site: Site, monkeypatch: pytest.MonkeyPatch, begin: bytes) -> None:
    monkeypatch.setattr(body_limit, "FORM_SECONDS", 0.3)
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.3)
    with closing(connect(site)) as connection:
        connection.sendall(begin)
        assert b" 408 " in connection.recv(20)
        connection.sendall(b"a")  # a piece now and then would keep the connection for ever
        assert_ends(connection)


def test_an_empty_line_does_not_keep_a_connection(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.3)
    with closing(connect(site)) as connection:
        connection.sendall(HEAD + b"\r\n")
        assert b" 200 " in connection.recv(1000)
        connection.sendall(b"\r\n")
        assert_ends(connection, within=3)  # before uvicorn would end an idle one


def test_the_rest_of_a_refused_upload_is_read_as_long_as_it_comes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.5)
    upload = b"POST /api/v1/challenges/any/submissions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n"
    with closing(connect(site)) as connection:
        connection.sendall(upload)
        assert b" 401 " in connection.recv(20)
        for _ in range(10):
            connection.sendall(bytes(20_000))
            time.sleep(0.15)
        connection.recv(10_000)
        connection.sendall(HEAD + b"\r\n")
        assert b" 200 " in connection.recv(20)
        while b'"ok"' not in connection.recv(2000):
            pass
        connection.sendall(upload)
        assert b" 401 " in connection.recv(20)
        connection.sendall(b"a")
        assert_ends(connection, within=3)


def assert_ends(connection: socket.socket, *, within: float = 10) -> None:
    connection.settimeout(within)
    try:
        while connection.recv(10_000):
            pass
    except ConnectionError:
        pass


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length: 5, 5\r\n",
        b"Content-Length: 99999999999999999999999\r\n",
        b"Transfer-Encoding: gzip\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"X: a\x00b\r\n",
        b"X : a\r\n",
    ],
)
def test_what_two_servers_could_read_differently_is_refused(site: Site, headers: bytes) -> None:
    """A proxy and this server must agree where a request ends; else one person's body is the next one's request."""
    answer = answer_to(site, b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n12345")
    assert answer.startswith((b"HTTP/1.1 400 ", b"hung up")), answer
    assert b"12345" not in answer
