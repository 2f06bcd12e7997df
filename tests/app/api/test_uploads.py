"""Uploads over a real connection: refused before they are read, and never leaving anything behind."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.backend import wait_until
from tests.support.factories import WEEK, make_challenge, make_token, make_user
from tests.support.life import upload_results
from tests.support.site import Site, serving
from tests.support.small_world import results_of
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.settings import Settings

LIMIT = 1 << 20
RESULTS = results_of({"Main/comp1_cls_test_car.txt": ["000001 0.5", "000002 0.25", "000003 0.75"]})
PATIENCE_SECONDS = 20


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    # Nothing answers at the broker's address.
    settings = Settings(
        data_directory=tmp_path / "data",
        database_url=sqlite_url,
        upload_limit_bytes=LIMIT,
        broker_url="redis://127.0.0.1:1/0",
    )
    with serving(settings) as running:
        yield running


@pytest.fixture
def challenge(site: Site) -> Challenge:
    with site.writing() as session:
        return make_challenge(session, edition="VOC2007")


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    with site.writing() as session:
        token = make_token(session, make_user(session))
    with site.client(token) as opened:
        yield opened


def stored(site: Site) -> list[Path]:
    return [path for path in site.settings.archives.rglob("*") if path.is_file()]


def submit(client: httpx.Client, challenge: Challenge, archive: bytes = RESULTS, **fields: str) -> httpx.Response:
    return upload_results(client, challenge.slug, archive, **fields)


def test_a_valid_upload_is_stored_even_though_the_broker_is_down(
    site: Site, client: httpx.Client, challenge: Challenge
) -> None:
    response = submit(client, challenge)
    assert response.status_code == 201
    submission = response.json()
    assert (submission["state"], submission["queue_position"]) == ("queued", 1)
    assert submission["archive"]["bytes"] == len(RESULTS)
    contents = {path.parent.name + path.name: path.read_bytes() for path in stored(site)}
    assert len(contents) == 2, "the archive, and the columns that were read from it"
    assert contents[submission["archive"]["sha256"]] == RESULTS


def test_what_is_too_large_is_refused_and_leaves_nothing(
    site: Site, client: httpx.Client, challenge: Challenge
) -> None:
    assert submit(client, challenge, bytes(LIMIT + 1)).status_code == 413
    assert stored(site) == []


def test_a_client_that_announces_too_much_gets_the_limit_of_the_file(
    client: httpx.Client, challenge: Challenge
) -> None:
    response = submit(client, challenge, bytes(LIMIT + (11 << 20)))
    assert response.status_code == 413
    assert response.json()["detail"] == "A file may have at most 1 MiB."


def test_a_length_that_was_not_announced_is_counted_while_it_arrives(
    site: Site, client: httpx.Client, challenge: Challenge
) -> None:
    def endless() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="archive"; filename="x.tar"\r\n\r\n'
        for _ in range(LIMIT // 1000 * 3):
            yield bytes(1000)

    try:
        response = client.post(
            f"/api/v1/challenges/{challenge.slug}/submissions",
            content=endless(),
            headers={"Content-Type": "multipart/form-data; boundary=b"},
        )
        assert response.status_code == 413
    except httpx.WriteError:
        pass  # the server had answered and hung up while we were still sending
    assert stored(site) == []


def test_other_bodies_are_capped_too(client: httpx.Client) -> None:
    response = client.post("/api/v1/challenges", json={"title": "x" * (2 << 20)})
    assert response.status_code == 413


def test_a_client_that_disconnects_leaves_nothing(site: Site, client: httpx.Client, challenge: Challenge) -> None:
    address = urlsplit(site.url)
    head = (
        f"POST /api/v1/challenges/{challenge.slug}/submissions HTTP/1.1\r\n"
        f"Host: {address.netloc}\r\nAuthorization: {client.headers['authorization']}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 500000\r\n\r\n"
        '--b\r\nContent-Disposition: form-data; name="archive"; filename="x.tar"\r\n\r\n'
    )
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        connection.sendall(head.encode() + bytes(200_000))
        wait_until(lambda: len(stored(site)) == 1)
    wait_until(lambda: stored(site) == [])
    assert client.get("/api/v1/submissions").json()["total"] == 0


@pytest.mark.parametrize("authorisation", ["", "Authorization: Bearer vocb_unknown\r\n"], ids=["visitor", "unknown"])
def test_visitors_are_refused_before_the_body_is_read(site: Site, challenge: Challenge, authorisation: str) -> None:
    address = urlsplit(site.url)
    head = (
        f"POST /api/v1/challenges/{challenge.slug}/submissions HTTP/1.1\r\nHost: {address.netloc}\r\n{authorisation}"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 500000\r\n\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.sendall(head.encode())  # and nothing of the body
        assert b" 401 " in connection.recv(100)


def test_a_challenge_that_is_closed_refuses_before_the_body_is_read(site: Site, client: httpx.Client) -> None:
    with site.writing() as session:
        closed = make_challenge(session, edition="VOC2007", closes_at=now() - WEEK, opens_at=now() - 2 * WEEK)
    assert submit(client, closed, bytes(LIMIT + 1)).status_code == 409


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"method_name": ""}, "method_name"),
        ({"method_name": "x" * 101}, "method_name"),
        ({"method_name": "bell\x07"}, "method_name"),
        ({"segmentation_classes": "car,unicorn"}, "segmentation_classes"),
    ],
)
def test_wrong_fields_are_reported_by_name(
    site: Site, client: httpx.Client, challenge: Challenge, fields: dict[str, str], wrong: str
) -> None:
    response = submit(client, challenge, **fields)
    assert response.status_code == 422
    assert set(response.json()["fields"]) == {wrong}
    assert stored(site) == []


def test_a_misspelt_parameter_is_refused_instead_of_ignored(
    site: Site, client: httpx.Client, challenge: Challenge
) -> None:
    address = f"/api/v1/challenges/{challenge.slug}/submissions"
    refused = client.post(f"{address}?rehersal=true", files={"archive": RESULTS}, data={"method_name": "Net"})
    assert refused.status_code == 422
    assert refused.json()["fields"] == {"rehersal": "There is no such parameter. Do you mean 'rehearsal'?"}
    assert stored(site) == []
    listed = client.get("/api/v1/submissions?chalenge=x&per_page=1&v=2")
    assert listed.status_code == 422
    assert set(listed.json()["fields"]) == {"chalenge", "v"}
    assert client.get("/api/v1/submissions?per_page=1").json()["total"] == 0
