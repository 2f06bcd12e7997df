"""Uploads whose client stops, lies about their length or hangs up: nothing of them stays, and their places are free."""

import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from tests.support.backend import wait_until
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.site import Site, serving
from tests.support.small_world import results_of
from vocboard.app.intake.models import Upload
from vocboard.app.settings import Settings

RESULTS = results_of({"Main/comp1_cls_test_car.txt": ["000001 0.5", "000002 0.25", "000003 0.75"]})
BODY = (
    b'--b\r\nContent-Disposition: form-data; name="method_name"\r\n\r\nM\r\n'
    b'--b\r\nContent-Disposition: form-data; name="archive"; filename="x.tar.gz"\r\n\r\n' + RESULTS + b"\r\n--b--\r\n"
)
HALF = BODY[: len(BODY) // 2]
CHUNKED = "Transfer-Encoding: chunked"


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    settings = Settings.model_validate(
        {
            "data_directory": tmp_path / "data",
            "database_url": sqlite_url,
            "upload_time_limit": timedelta(seconds=1),
            "concurrent_uploads": 1,
        }
    )
    with serving(settings) as running:
        yield running


def length(number: int) -> str:
    return f"Content-Length: {number}"


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


@pytest.mark.parametrize(
    ("header", "sent", "status"),
    [
        (length(len(BODY)), HALF, 408),
        (length(len(BODY) + 100), BODY, 408),  # complete, but for what was announced
        (length(len(BODY) - 20), BODY, 400),  # what follows the body is not a request
        (CHUNKED, chunk(HALF), 408),
        (CHUNKED, b"%x\r\n" % len(BODY) + HALF, 408),
        (CHUNKED, chunk(HALF) + b"0\r\n\r\n", 400),
        (CHUNKED, chunk(HALF) + b"no length\r\n", 400),
        (CHUNKED, b"FFFFFFFFFFFFFFFFF\r\n" + HALF, 400),
        (length(len(BODY)), b"", 408),
        (CHUNKED, b"", 408),
    ],
)
@pytest.mark.parametrize("hangs_up", [False, True])
def test_nothing_of_it_stays(site: Site, header: str, sent: bytes, status: int, hangs_up: bool) -> None:
    with site.writing() as session:
        slug = make_challenge(session, edition="VOC2007", competitions=["comp1"], quota_count=1).slug
        token = make_token(session, make_user(session))
    path = f"/api/v1/challenges/{slug}/submissions"
    address = urlsplit(site.url)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\n{header}\r\n\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=20) as connection:
        connection.sendall(head.encode() + sent)
        if not hangs_up:
            assert f"HTTP/1.1 {status} ".encode() in connection.recv(1000)
    # The server itself has refused some of them, before or while the application has begun to receive them.
    time.sleep(0.2)
    wait_until(lambda: _in_progress(site) == 0)
    wait_until(lambda: [file for file in site.settings.archives.rglob("*") if file.is_file()] == [])
    wait_until(lambda: site.application.state.services.validator.reading == 0)
    with site.client(token) as client:
        whole = {"content-type": "multipart/form-data; boundary=b"}
        wait_until(
            lambda: client.post(path, content=BODY, headers=whole).status_code == 201
        )  # place and quota are free


def _in_progress(site: Site) -> int:
    with site.database.reading() as session:
        return len(session.scalars(select(Upload).where(Upload.lease_expires_at.is_not(None))).all())
