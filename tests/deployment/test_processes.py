"""The processes of docker-compose.yml, run with the file's commands and environment on a real PostgreSQL and Redis.

Before them, where this machine has one, the file's proxy: a real Caddy with the file's own configuration.
"""

import contextlib
import json
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.support import forked, small_world
from tests.support.backend import wait_until
from tests.support.compose import running
from tests.support.factories import make_token, make_user
from tests.support.installation import HOST, PORT_IN_CONTAINER, Installation, installed
from tests.support.life import eventually, is_served, make_small_world, submit, upload_results
from tests.support.processes import free_port
from tests.support.proxy import Proxy, in_front_of, proxied
from tests.support.services import in_full, needed
from tools import deploy_env
from vocboard.app.accounts.models import Scope
from vocboard.app.database import Database
from vocboard.app.messaging.broker import WORK

pytestmark = pytest.mark.services
UPLOAD_LIMIT_BYTES = 1 << 20
CURL_TRIES = 20
FAR_TOO_LARGE_BYTES = 48 << 20  # more than all buffers on the way take
METRICS_TOKEN, METRICS_ADDRESS = "0123456789abcdefghijklmnopqrstuvwxyz", f"127.0.0.1:{free_port()}"
SETTINGS = {
    "VOCBOARD_UPLOAD_LIMIT_BYTES": str(UPLOAD_LIMIT_BYTES),
    "VOCBOARD_SWEEP_INTERVAL": "PT1S",
    "VOCBOARD_METRICS_TOKEN": METRICS_TOKEN,
    "VOCBOARD_METRICS_ADDRESS": METRICS_ADDRESS,
    "VOCBOARD_LOG_FORMAT": "json",
    "PYTHONWARNINGS": "ignore",  # Celery's, of running as root, which is no line of the log
}
ALONE = {"VOCBOARD_METRICS_ADDRESS": ""}  # of another web service on this machine
SECONDS_TO_WAIT = 60.0
WORKED = f"Task {WORK}["


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with needed(installed(tmp_path_factory.mktemp("installation"), faster=SETTINGS)) as one:
        yield one


def run(installation: Installation, *command: str, service: str) -> tuple[int, str]:
    """Run `vocboard` in a service, as the operator's manual does; return its status and what it says."""
    with (installation.directory / "said").open("w+b") as said:
        process = forked.start(command, environment=installation.environments[service], output=said)
        status = process.wait()
        said.seek(0)
        return status, said.read().decode()


def participant_of(installation: Installation, name: str) -> httpx.Client:
    """Make an account and a token; return the API as that person."""
    with contextlib.closing(Database(in_full(installation.admin_url))) as database, database.writing() as session:
        user = make_user(session, name=name, email=f"{name.lower()}@lab.example")
        return authorised(installation, make_token(session, user, Scope.READ, Scope.SUBMIT))


def authorised(installation: Installation, token: str) -> httpx.Client:
    """Return the API as the person whose token it is."""
    client = installation.client()
    client.headers["Authorization"] = f"Bearer {token}"
    return client


@pytest.fixture(scope="module")
def challenge(installation: Installation) -> str:
    """Give the path of a challenge that is ready, of an organiser whom the operator's commands have made."""
    email = "organiser@lab.example"
    commands = [
        ["create-user", email, "--name", "Organiser", "--role", "organiser"],
        ["create-token", email, "--scope=read", "--scope=organise"],
    ]
    said = [run(installation, "admin", *command, service="migrate") for command in commands]
    assert [status for status, _ in said] == [0, 0], said
    token = said[-1][1].split()[-1]
    with authorised(installation, token) as organiser:
        return make_small_world(organiser, quota_count=3)


@pytest.fixture(scope="module")
def behind_the_proxy(installation: Installation) -> Iterator[httpx.Client]:
    """Give the API as a participant sees it, without the proxy."""
    with participant_of(installation, "Participant") as client:
        yield client


@pytest.fixture(scope="module")
def proxy(installation: Installation) -> Iterator[Proxy]:
    if shutil.which("caddy") is None:
        pytest.skip("no Caddy on this machine: install the package caddy")
    with needed(proxied(installation)) as one:
        yield one


@pytest.fixture(scope="module")
def participant(behind_the_proxy: httpx.Client, proxy: Proxy) -> Iterator[httpx.Client]:
    """Give the API as the same participant sees it, through the proxy."""
    with proxy.client({"Authorization": behind_the_proxy.headers["Authorization"]}) as client:
        yield client


def test_web_answers_for_its_own_host_alone(installation: Installation) -> None:
    with installation.client() as client:
        assert client.get("/readyz").json() == {
            "status": "ok",
            "database": "ok",
            "archives": "ok",
            "disk": "ok",
            "ground_truth": "ok",
            "mail": "ok",
            "workers": "ok",
        }
        assert client.get("/api/v1/challenges").status_code == httpx.codes.OK
        assert client.get("/api/v1/challenges", headers={"Host": "evil.example"}).status_code == httpx.codes.BAD_REQUEST


def test_both_web_processes_are_in_the_metrics(installation: Installation) -> None:
    def asked(url: str = installation.url) -> tuple[float, str]:
        headers = {"Authorization": f"Bearer {METRICS_TOKEN}"} if url == installation.url else {}
        text = httpx.get(f"{url}/metrics", headers=headers, trust_env=False).text
        counts = re.findall(r"^vocboard_request_seconds_count\{.*} (\S+)$", text, re.M)
        return sum(map(float, counts)), text

    before, _ = asked()
    for _ in range(40):  # each on a connection of its own, which either process accepts
        with installation.client() as client:
            client.get("/sign-in")
    after = [*(asked() for _ in range(8)), asked(f"http://{METRICS_ADDRESS}")]
    assert [number - before for number, _ in after] == [40] * 9
    assert 'vocboard_workers{kind="scoring"} 1.0' in after[0][1]


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
    # A turn is two lines, received and succeeded. When it starts, the worker takes some by itself. Later, only sweeps
    # are due.
    while (lines := installation.log("worker").count(WORKED)) < 12 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert lines >= 12, installation.log("beat") + installation.log("worker")
    assert "WARNING" not in installation.log("worker")


@pytest.mark.parametrize("service", ["worker", "beat"])
def test_a_service_at_work_is_healthy(installation: Installation, service: str) -> None:
    status, said = run(installation, "health", service, service=service)  # that of the file's healthcheck
    assert status == 0, said


def test_from_the_operators_commands_to_a_leaderboard(
    installation: Installation, challenge: str, behind_the_proxy: httpx.Client
) -> None:
    with installation.client() as visitor:
        submitted = submit(behind_the_proxy, challenge, small_world.results_archive())
        path = f"/api/v1/submissions/{submitted['id']}"
        eventually(lambda: behind_the_proxy.get(path).json()["state"] == "scored")
        assert behind_the_proxy.post(f"{path}/publish").status_code == httpx.codes.OK
        [row] = visitor.get(f"{challenge}/leaderboards/comp3").json()["rows"]
        assert row["mean"] == round(small_world.MEAN_AP, 4)


def test_import_truth_runs_in_web_and_says_so_elsewhere(
    installation: Installation, challenge: str, tmp_path: Path
) -> None:
    archive = tmp_path / "kit.tar.gz"
    archive.write_bytes(small_world.ground_truth_archive())
    slug = challenge.rpartition("/")[2]
    command = ["admin", "import-truth", slug, str(archive), "--organiser", "organiser@lab.example", "--confirm"]
    status, said = run(installation, *command, service="migrate")
    assert (status, said.count("\n")) == (1, 1), said
    assert "run in the service web" in said
    status, said = run(installation, *command, service="web")
    assert (status, bool(said)) == (0, True), said


def test_pages_come_over_tls(proxy: Proxy) -> None:
    with proxy.client() as client:
        response = client.get("/sign-in")
    assert response.status_code == httpx.codes.OK
    assert "max-age=" in response.headers["Strict-Transport-Security"]
    assert response.cookies  # with Secure: the application knows that it is behind TLS


def test_upload_passes(participant: httpx.Client, challenge: str) -> None:
    assert submit(participant, challenge, small_world.results_archive())["state"] in {"queued", "evaluating", "scored"}


@pytest.mark.parametrize("declared", [True, False], ids=["with its length", "in chunks"])
def test_too_large_an_upload_is_refused_by_the_application(
    participant: httpx.Client, challenge: str, declared: bool
) -> None:
    for _ in range(3):
        sent = participant.build_request(
            "POST",
            f"{challenge}/submissions",
            data={"method_name": "Large"},
            files={"archive": ("results.tar", b"\0" * FAR_TOO_LARGE_BYTES)},
        )
        body = sent.read()
        kind = {"Content-Type": sent.headers["Content-Type"]}
        pieces = (body[start : start + 65536] for start in range(0, len(body), 65536))
        response = participant.post(f"{challenge}/submissions", content=body if declared else pieces, headers=kind)
        assert response.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE
        assert response.headers["Content-Type"] == "application/problem+json"
        assert "1 MiB" in response.json()["detail"] or f"{UPLOAD_LIMIT_BYTES:,}" in response.json()["detail"]


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_curl_sees_the_refusal_too(
    participant: httpx.Client, proxy: Proxy, challenge: str, tmp_path: Path, version: str
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    (tmp_path / "large.tar").write_bytes(b"\0" * FAR_TOO_LARGE_BYTES)
    # As fast as a good network: at the speed of one machine, curl is busy sending, and does not read the answer.
    arguments = [
        "--silent",
        "--insecure",
        "--limit-rate",
        "100M",
        version,
        "--resolve",
        f"{HOST}:{proxy.https_port}:127.0.0.1",
    ]
    arguments += ["--header", f"Authorization: {participant.headers['Authorization']}", "--form", "method_name=Large"]
    arguments += ["--form", f"archive=@{tmp_path / 'large.tar'}", "--write-out", "\n%{http_code}"]
    url = f"https://{HOST}:{proxy.https_port}{challenge}/submissions"
    for _ in range(CURL_TRIES):
        done = subprocess.run(["curl", *arguments, url], capture_output=True, text=True, check=False)
        # The proxy ends a refused connection or stream shortly after its answer. On a busy machine curl may still be
        # sending then, and fails to send, or to receive the answer or all of it.
        if done.stdout.endswith("\n413") and "too_large" in done.stdout:
            return
    pytest.fail(f"curl ends with {done.returncode}: {done.stdout}")


def test_too_large_a_form_is_refused_by_the_application(proxy: Proxy) -> None:
    with proxy.client() as client:
        response = client.post("/sign-in", data={"email": "a" * FAR_TOO_LARGE_BYTES})
    assert response.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE
    assert response.headers["Content-Type"].startswith("text/html")


OPENED = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"}


@pytest.mark.parametrize(
    ("fetched", "encoding"),
    [
        (OPENED, "gzip"),
        ({**OPENED, "Sec-Fetch-Site": "none"}, "gzip"),
        ({**OPENED, "Sec-Fetch-Site": "cross-site"}, None),  # a window that another site opens
        ({**OPENED, "Sec-Fetch-Site": "same-site"}, None),
        ({**OPENED, "Sec-Fetch-Mode": "no-cors"}, None),  # a picture in a text
        ({}, None),
    ],
)
def test_what_belongs_to_a_cookie_is_only_compressed_for_those_who_open_it(
    proxy: Proxy, fetched: dict[str, str], encoding: str | None
) -> None:
    offer = {"Accept-Encoding": "gzip", **fetched}
    with proxy.client(offer) as stranger, proxy.client({**offer, "Cookie": "__Host-vocboard_session=x"}) as signed_in:
        assert stranger.get("/").headers.get("Content-Encoding") == "gzip"
        assert signed_in.get("/").headers.get("Content-Encoding") == encoding
        assert signed_in.get(stylesheet(stranger)).headers.get("Content-Encoding") == "gzip"


def stylesheet(client: httpx.Client) -> str:
    return client.get("/").text.partition('rel="stylesheet" href="')[2].partition('"')[0]


@pytest.mark.parametrize(("public_port", "shown"), [("443", ""), ("8443", ":8443")])
def test_redirect_keeps_the_port_that_the_outside_sees(
    installation: Installation, proxy: Proxy, public_port: str, shown: str
) -> None:
    with needed(proxied(installation, public_port=public_port)) as one:
        address = f"http://127.0.0.1:{one.http_port}/challenges?q=1"
        response = httpx.get(address, headers={"Host": HOST}, trust_env=False)
    assert response.status_code == httpx.codes.PERMANENT_REDIRECT
    assert response.headers["Location"] == f"https://{HOST}{shown}/challenges?q=1"


def test_nobody_else_says_whom_a_request_comes_from(installation: Installation, proxy: Proxy) -> None:
    claimed = {"X-Forwarded-For": "198.51.100.99", "X-Forwarded-Proto": "https"}
    with proxy.client(claimed) as client:
        client.get("/challenges?asked=through-the-proxy")
    direct = {"Host": HOST, **claimed, "X-Vocboard-Proxy": "guessed"}
    httpx.get(f"{installation.url}/challenges?asked=directly", headers=direct, trust_env=False)
    wait_until(lambda: "asked=directly" in installation.log("web"))  # which is written after the answer is sent
    log = installation.log("web")
    assert "asked=through-the-proxy" in log
    assert "198.51.100.99" not in log


def test_the_life_of_a_submission_is_logged_by_ids_and_nothing_secret(
    installation: Installation, challenge: str, behind_the_proxy: httpx.Client
) -> None:
    """After the others: it looks for what they may have left in the logs."""
    email, password, name = "quiet@lab.example", "correct-horse-battery-9", "My private results.tar"
    with installation.client() as browser:
        for given in (password, "wrong-" + password):
            page = browser.get("/sign-in").text
            token = re.search(r'name="csrf_token" value="([^"]+)"', page)
            assert token
            browser.post("/sign-in", data={"email": email, "password": given, "csrf_token": token[1]})
        browser.get("/reset-password", params={"token": "0123456789-secret"})
        browser.post("/forgotten", data={"email": email})
    with participant_of(installation, "Quiet") as client:
        refused = upload_results(client, challenge.rpartition("/")[2], b"nothing", name, method_name="Quiet")
        assert refused.status_code == httpx.codes.UNPROCESSABLE_ENTITY
        answer = upload_results(
            client, challenge.rpartition("/")[2], small_world.results_archive(), name, method_name="Quiet"
        )
        submission = answer.json()["id"]
        eventually(lambda: client.get(f"/api/v1/submissions/{submission}").json()["state"] == "scored")
        token_of_api = client.headers["Authorization"].removeprefix("Bearer ")
        account = client.get("/api/v1/me").json()["id"]
    lines = (line.split("=", 1) for line in (installation.directory / ".env").read_text().splitlines())
    secrets = {value for key, value in lines if key in deploy_env.SECRETS}
    assert len(secrets) == len(deploy_env.SECRETS)
    secrets |= {email, password, token_of_api, behind_the_proxy.headers["Authorization"][7:], "0123456789-secret"}
    secrets |= {name, "Quiet", "results.tar", METRICS_TOKEN, "@lab.example"}
    for service in ("migrate", "web", "worker", "beat"):
        assert [secret for secret in secrets if secret in installation.log(service)] == [], service
    logged = {
        service: [json.loads(line) for line in installation.log(service).splitlines()]
        for service in ("migrate", "web", "worker", "beat")
    }
    assert all(logged.values())
    [accepted] = [line for line in logged["web"] if line.get("submission") == submission]
    assert accepted["status"] == httpx.codes.CREATED
    assert (accepted["person"], len(accepted["request"])) == (account, 16)
    [scored] = [line for line in logged["worker"] if line.get("submission") == submission]
    assert (scored["job"], scored["person"]) == ("evaluation", account)


def test_a_restart_of_one_of_two_web_services_is_not_noticed(installation: Installation) -> None:
    """The last test: processes that stop answer over connections that they have, and refuse new ones."""
    web, processes = installation.services["web"], installation.processes["web"]
    assert "2" in web.command  # processes
    ports = [installation.url.rpartition(":")[2], str(free_port())]
    on_ports = [{PORT_IN_CONTAINER: port, "0.0.0.0": "127.0.0.1", "2": "1"} for port in ports]
    start = partial(running, web, installation.environments["web"] | ALONE, installation.directory)
    statuses: Counter[int] = Counter()
    is_stopping, is_over = threading.Event(), threading.Event()

    def ask(proxy: Proxy) -> None:
        with proxy.client() as client:
            while not is_over.is_set():
                statuses[client.get("/").status_code] += 1
                statuses[client.post("/sign-in", data={}).status_code] += 1  # without its token: refused
                is_stopping.wait(0.5)  # leaves processors to the processes that start
                time.sleep(0.02)

    other = f"http://127.0.0.1:{ports[1]}"
    with contextlib.ExitStack() as stack:
        stack.enter_context(start(replacing=on_ports[1]))
        proxy = stack.enter_context(
            in_front_of(f"{installation.url} {other}", installation.services["proxy"].environment)
        )
        client = stack.enter_context(httpx.Client(base_url=installation.url, trust_env=False))
        with ThreadPoolExecutor(4) as people:
            asking = [people.submit(ask, proxy) for _ in range(4)]
            try:
                eventually(lambda: is_served(f"{other}/healthz"))
                time.sleep(2)  # until the proxy asks both
                is_stopping.set()
                assert client.get("/healthz").is_success
                processes.terminate()
                time.sleep(1)
                with pytest.raises(httpx.ConnectError):
                    httpx.get(f"{installation.url}/healthz", trust_env=False)
                assert client.get("/healthz").headers["Connection"] == "close"
                assert processes.wait(timeout=60) is not None
                is_stopping.clear()
                stack.enter_context(start(replacing=on_ports[0]))
                eventually(lambda: is_served(f"{installation.url}/healthz"))
            finally:
                is_over.set()
        for each in asking:
            each.result()
    assert set(statuses) == {200, 403}, statuses
