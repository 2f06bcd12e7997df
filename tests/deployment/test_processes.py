"""The processes of docker-compose.yml, run with the file's commands and environment on a real PostgreSQL and Redis."""

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.support.installation import Installation, installed
from tests.support.services import needed

pytestmark = pytest.mark.services
FASTER = {"VOCBOARD_SWEEP_INTERVAL": "PT1S"}
SECONDS_TO_WAIT = 60.0
SWEPT = "Task worker.sweep"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with needed(installed(tmp_path_factory.mktemp("installation"), faster=FASTER)) as running:
        yield running


def test_web_answers_for_its_own_host_alone(installation: Installation) -> None:
    with installation.client() as client:
        assert client.get("/readyz").json() == {"database": "ok", "archives": "ok"}
        assert client.get("/api/v1/challenges").status_code == httpx.codes.OK
        assert client.get("/api/v1/challenges", headers={"Host": "evil.example"}).status_code == httpx.codes.BAD_REQUEST


def test_web_takes_a_request_through_the_proxy_for_one_over_tls(installation: Installation) -> None:
    with installation.client() as client:
        assert "max-age=" in client.get("/api/v1/challenges").headers["Strict-Transport-Security"]


def test_only_the_worker_holds_the_key_to_what_goes_into_the_inbox(installation: Installation) -> None:
    private = [path for path in installation.volumes["truth"].rglob("*") if path.is_file()]
    assert private
    assert all(path.stat().st_mode & 0o077 == 0 for path in private)
    inbox = [path.read_bytes() for path in installation.volumes["truth-inbox"].iterdir()]
    assert not any(path.read_bytes() in content for path in private for content in inbox)


def test_beat_calls_and_the_worker_sweeps(installation: Installation) -> None:
    deadline = time.monotonic() + SECONDS_TO_WAIT
    # A sweep is two lines, received and succeeded. The worker sweeps once by itself, when it starts.
    while (sweeps := installation.log("worker").count(SWEPT)) < 6 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert sweeps >= 6, installation.log("beat") + installation.log("worker")


def test_nothing_secret_is_logged(installation: Installation) -> None:
    secrets = [
        value.split("=", 1)[1]
        for value in (installation.directory / ".env").read_text().splitlines()
        if "PASSWORD" in value or "SECRET" in value
    ]
    assert len(secrets) == 6
    for name in ("migrate", "web", "worker", "beat"):
        assert not any(secret in installation.log(name) for secret in secrets), name
