"""What a request may send besides its body is limited by the server itself."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.site import Site, serving
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


HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /sign-in HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


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
