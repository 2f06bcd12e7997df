"""The processes of docker-compose.yml, run with the file's commands and environment on a real PostgreSQL and Redis."""

import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.support import small_world
from tests.support.installation import Installation, installed
from tests.support.life import eventually, make_ready, submit
from tests.support.services import needed
from tools import deploy_env

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
        assert client.get("/readyz").json() == {
            "status": "ok",
            "database": "ok",
            "archives": "ok",
            "workers": "ok",
        }
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


def admin(installation: Installation, *arguments: str) -> str:
    """Run `vocboard admin` as the operator's manual does, in the migrate service; return what it prints."""
    command = [sys.executable, "-m", "vocboard.commands.main", "admin", *arguments]
    environment = dict(installation.environments["migrate"])
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def person(installation: Installation, name: str, role: str, *scopes: str) -> httpx.Client:
    """Make an account and a token; return the API as that person."""
    email = f"{name.lower()}@lab.example"
    admin(installation, "create-user", email, "--name", name, "--role", role)
    token = admin(installation, "create-token", email, *(f"--scope={scope}" for scope in scopes)).split()[-1]
    client = installation.client()
    client.headers["Authorization"] = f"Bearer {token}"
    return client


def test_from_the_operators_commands_to_a_leaderboard(installation: Installation) -> None:
    with (
        person(installation, "Organiser", "organiser", "read", "organise") as organiser,
        person(installation, "Participant", "participant", "read", "submit") as participant,
        installation.client() as visitor,
    ):
        challenge = make_ready(
            organiser,
            small_world.ground_truth_archive(),
            slug="small-world",
            edition=small_world.EDITION,
            competitions=small_world.COMPETITIONS,
        )
        path = f"/api/v1/submissions/{submit(participant, challenge, small_world.results_archive())['id']}"
        eventually(lambda: participant.get(path).json()["state"] == "scored")
        assert participant.post(f"{path}/publish").status_code == httpx.codes.OK
        [row] = visitor.get(f"{challenge}/leaderboards/comp3").json()["rows"]
        assert row["mean"] == round(small_world.MEAN_AP, 4)


def test_nothing_secret_is_logged(installation: Installation) -> None:
    lines = (line.split("=", 1) for line in (installation.directory / ".env").read_text().splitlines())
    secrets = [value for name, value in lines if name in deploy_env.SECRETS]
    assert len(secrets) == len(deploy_env.SECRETS)
    for name in ("migrate", "web", "worker", "beat"):
        assert not any(secret in installation.log(name) for secret in secrets), name
