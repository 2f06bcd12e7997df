"""Uploads whose client stops, lies about their length or hangs up: nothing of them stays, and their places are free."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.backend import wait_until
from tests.support.factories import make_challenge, make_token, make_user
from tests.support.site import Site, serving
from tests.support.uploading import BODY, MULTIPART, count, sending, stored
from vocboard.app.intake.models import Upload
from vocboard.app.settings import Settings

HALF = BODY[: len(BODY) // 2]
CHUNKED = {"Transfer-Encoding": "chunked"}


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


def length(number: int) -> dict[str, str]:
    return {"Content-Length": str(number)}


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
        # The client hangs up.
        (length(len(BODY)), HALF, None),
        (length(len(BODY) + 100), BODY, None),
        (CHUNKED, chunk(HALF), None),
        (CHUNKED, b"", None),
    ],
)
def test_nothing_of_it_stays(site: Site, header: dict[str, str], sent: bytes, status: int | None) -> None:
    with site.writing() as session:
        slug = make_challenge(session, edition="VOC2007", competitions=["comp1"], quota_count=1).slug
        token = make_token(session, make_user(session))
    path = f"/api/v1/challenges/{slug}/submissions"
    headers = {"Authorization": f"Bearer {token}", **MULTIPART, **header}
    with sending(site, path, sent, headers=headers) as connection:
        if status is not None:
            assert f"HTTP/1.1 {status} ".encode() in connection.recv(1000)
    # The server itself has refused some of them, before or while the application has begun to receive them.
    time.sleep(0.2)
    wait_until(lambda: count(site, Upload, Upload.lease_expires_at.is_not(None)) == 0)
    wait_until(lambda: stored(site) == [])
    wait_until(lambda: site.application.state.services.validator.reading == 0)
    with site.client(token) as client:
        # place and quota are free
        wait_until(lambda: client.post(path, content=BODY, headers=MULTIPART).status_code == 201)
