"""examples/keypoints as others install it: its tests, then from the command line through a server to a leaderboard."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.image import OFFLINE, PIP, ROOT, Installed, install_as_image
from tests.support.life import confirm_warnings, eventually, is_served, make_ready, upload_results
from tests.support.processes import listening, temporary_directory

EXTENSION = "vocboard-keypoints 0.1.0"
SCOPES = ("--scope", "read", "--scope", "submit", "--scope", "organise")
CHOSEN = {"VOCBOARD_EXTENSIONS": "vocboard-keypoints"}
# Writes a tree and results as the example's tests generate them, for the program and for the server.
GENERATE = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from test_keypoints import FILE, generated, write_results, write_tree
annotations, results = generated(4)
write_tree(annotations, pathlib.Path("tree"))
write_results(results, annotations, pathlib.Path("results"), FILE)
"""
# Asks a web application, which is not served.
ASK = """
import json, sys
from fastapi.testclient import TestClient
from vocboard.app.main import create_app
from vocboard.app.settings import Settings
headers, places = json.load(sys.stdin)
with TestClient(create_app(Settings()), base_url="http://127.0.0.1", headers=headers) as client:
    print(json.dumps([(answer.status_code, answer.text) for answer in map(client.get, places)]))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return an environment with the wheels of vocboard, and that of the example."""
    made = install_as_image(tmp_path_factory.mktemp("extension"))
    source = made.directory.parent / "keypoints"
    shutil.copytree(ROOT / "examples" / "keypoints", source)
    install = [*PIP, "--python", str(made.directory / "bin" / "python"), "install", *OFFLINE, "--no-build-isolation"]
    subprocess.run([*install, str(source)], check=True, cwd=source)
    return made


@contextmanager
def serving(environment: Installed, data: Path) -> Iterator[str]:
    """Run the environment's server on a data directory; give its address. Terminated, it ends with its worker."""
    given = {**CHOSEN, "VOCBOARD_DATA_DIRECTORY": str(data), "VOCBOARD_WORKER_PROCESSES": "1"}

    def command(port: int) -> list[str]:
        program = str(environment.directory / "bin" / "vocboard")
        return ["env", *(f"{name}={value}" for name, value in given.items()), program, "serve", "--port", str(port)]

    def answers(port: int) -> bool:
        return is_served(f"http://127.0.0.1:{port}/readyz")

    with listening(
        command, directory=temporary_directory(""), user="", stop_signal=signal.SIGTERM, answers=answers
    ) as port:
        yield f"http://127.0.0.1:{port}"
        guarded = [one for guard in psutil.Process().children() for one in guard.children()]
        [server] = [one for one in guarded if "serve" in one.cmdline()]
        family = [server, *server.children(recursive=True)]
    _, alive = psutil.wait_procs(family, timeout=60)
    assert (len(family) > 1, alive) == (True, [])


def test_its_own_tests_pass(environment: Installed) -> None:
    source = environment.directory.parent / "keypoints"
    quick = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:schemathesis"]
    done = environment.run(["python", "-m", "pytest", *quick], environment=CHOSEN, directory=source)
    assert done.returncode == 0, done.stdout + done.stderr


def test_from_validate_to_the_leaderboard(environment: Installed, tmp_path: Path) -> None:
    tests = str(environment.directory.parent / "keypoints" / "tests")
    done = environment.run(["python", "-c", GENERATE, tests], environment=CHOSEN, directory=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("tree", "results"):
        shutil.make_archive(str(tmp_path / name), "tar", tmp_path / name)
    # Without a setting, the command line of participants uses what is installed.
    for words in (["validate", "results.tar", "--image-sets"], ["evaluate", "results.tar", "--json", "--ground-truth"]):
        done = environment.run(
            ["vocboard", words[0], "COCO-Keypoints", *words[1:], "tree.tar"], environment={}, directory=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr
    evaluated = json.loads(done.stdout)
    mean = evaluated["competitions"]["comp1"]["mean"]
    assert evaluated["extensions"] == [EXTENSION]

    data = tmp_path / "data"
    data.mkdir()
    email, variables = "ada@lab.example", {"VOCBOARD_DATA_DIRECTORY": str(data)}
    commands = [
        ["migrate"],
        ["admin", "create-user", email, "--name", "Ada", "--role", "organiser"],
        ["admin", "create-token", email, *SCOPES],
    ]
    *_, token = environment.run_all(commands, environment={**variables, **CHOSEN}, directory=tmp_path)
    headers = {"Authorization": f"Bearer {token.strip()}"}
    with (
        serving(environment, data) as url,
        httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=60) as client,
    ):
        rules = {"slug": "points", "edition": "COCO-Keypoints", "competitions": ["comp1"], "decimals": 4}
        path = make_ready(client, (tmp_path / "tree.tar").read_bytes(), **rules)
        confirm_warnings(client, path)
        accepted = upload_results(client, "points", (tmp_path / "results.tar").read_bytes(), "results.tar")
        assert accepted.status_code in {201, 202}, accepted.text
        submission = accepted.headers["location"]

        def state() -> str:
            return str(client.get(submission).json()["state"])

        eventually(lambda: state() in {"scored", "failed"})
        found = client.get(submission).json()
        assert found["state"] == "scored", found
        assert found["evaluation"]["extensions"] == [EXTENSION]
        assert client.post(f"{submission}/publish").is_success
        board = client.get(f"{path}/leaderboards/comp1").json()
        assert board["rows"][0]["mean"] == pytest.approx(mean, abs=5e-5)
        page = client.get(f"/submissions/{submission.rpartition('/')[2]}", headers={"Accept": "text/html"})
        assert page.status_code == 200, page.text
        other = make_ready_elsewhere(client)
    # Another server, which does not load it: one sentence about this challenge, and the others go on.
    going = ["/", "/api/v1/challenges", other, f"/challenges/{other.rpartition('/')[2]}"]
    asked = [*going, path, f"{path}/leaderboards/comp1", "/challenges/points"]
    given = json.dumps([headers, asked])
    done = environment.run(["python", "-c", ASK], environment=variables, directory=tmp_path, text=given)
    assert done.returncode == 0, done.stderr
    for place, (status, text) in zip(asked, json.loads(done.stdout), strict=True):
        assert (status, "extension" in text) == ((200, "extension" in text) if place in going else (503, True)), place


def make_ready_elsewhere(client: httpx.Client) -> str:
    """Make another challenge, of a built-in edition; return its path."""
    rules = {"slug": "other", "title": "Other", "visibility": "public", "edition": "VOC2007", "competitions": ["comp3"]}
    response = client.post("/api/v1/challenges", json=rules)
    assert response.status_code == 201, response.text
    return str(response.headers["location"])
