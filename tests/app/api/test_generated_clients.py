"""examples/clients: clients generated from the API's document type-check strictly, submit, and move a challenge."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.support import small_world
from tests.support.factories import make_organiser, make_token
from tests.support.life import make_small_world
from tests.support.services import EMBEDDED
from tests.support.site import Site, serving
from vocboard.app.settings import Settings

EXAMPLES = Path(__file__).parents[3] / "examples" / "clients"
SECONDS = 240
Client = tuple[Callable[[str], list[str]], Path]  # the command that runs a program, and where


def run(command: list[str], directory: Path) -> str:
    """Run a command that must not warn of anything; return its output."""
    package = str(directory / "vocboard-api")
    found = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": package, "MYPYPATH": package}
    done = subprocess.run(
        command, cwd=directory, env=os.environ | found, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "warning" not in said.lower(), said
    return done.stdout


def python(directory: Path, document: Path) -> Client:
    options = ["--path", str(document), "--config", "config.yml", "--output-path", "vocboard-api"]
    run([sys.executable, "-m", "openapi_python_client", "generate", *options], directory)
    run([sys.executable, "-m", "mypy", "--strict", "submit.py", "move.py", "vocboard-api/vocboard_api"], directory)
    return lambda program: [sys.executable, "-W", "error", f"{program}.py"], directory


def typescript(directory: Path, document: Path) -> Client:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("needs node and npm")
    try:
        run([npm, "ci", "--no-audit", "--no-fund", "--fetch-retries", "0"], directory)
    except AssertionError as error:
        if "ENOTFOUND" in str(error) or "ECONNREFUSED" in str(error) or "EAI_AGAIN" in str(error):
            pytest.skip("needs a registry of npm")
        raise
    run([npm, "run", "generate", "--", str(document), "--output", "api.d.ts"], directory)
    run([npm, "run", "build"], directory)
    return lambda program: [node, f"dist/{program}.js"], directory


@pytest.mark.parametrize("set_up", [EMBEDDED], indirect=True)
@pytest.mark.parametrize(("language", "make"), [("Python", python), ("TypeScript", typescript)])
@pytest.mark.usefixtures("worker")
def test_a_submission_lives_and_its_challenge_moves(
    site: Site,
    sqlite_template: Path,
    organiser: httpx.Client,
    participant: httpx.Client,
    tmp_path: Path,
    language: str,
    make: Callable[[Path, Path], Client],
) -> None:
    directory = shutil.copytree(EXAMPLES / language.lower(), tmp_path / "client", ignore=lambda *_: {"node_modules"})
    with site.client() as visitor:
        (tmp_path / "openapi.json").write_bytes(visitor.get("/api/v1/openapi.json").content)
    command, directory = make(directory, tmp_path / "openapi.json")

    slug = make_small_world(organiser).rpartition("/")[2]
    (tmp_path / "results.tar.gz").write_bytes(small_world.results_archive())
    token = participant.headers["Authorization"].removeprefix("Bearer ")
    given = [site.url, token, slug, "comp3", str(tmp_path / "results.tar.gz")]
    printed = run([*command("submit"), *given], directory).splitlines()
    mean = str(round(small_world.MEAN_AP, 4))
    assert printed[:2] == ["A challenge: open", "checked: comp1, comp3"]
    scored = printed.index("scored")
    assert set(printed[2:scored]) <= {"queued", "evaluating"}
    assert printed[scored + 1] == f"average_precision: {mean}"
    row = printed.index(f"1 From {language} {mean}")
    with site.client() as visitor:
        board = visitor.get(f"/api/v1/challenges/{slug}/leaderboards/comp3.csv").text
        scores = participant.get("/api/v1/submissions").json()["items"][0]
        exported = participant.get(f"/api/v1/submissions/{scores['id']}/scores/comp3.csv").text
        stored = participant.get("/api/v1/account/export").json()
    assert printed[scored + 2 : row] == exported.splitlines()
    tables = row + 1 + len(board.splitlines())
    assert printed[row + 1 : tables] == board.splitlines()
    assert printed[tables:] == [f"{table}: {len(rows)}" for table, rows in stored.items()]
    assert "submissions: 1" in printed

    database = shutil.copy(sqlite_template, tmp_path / "other.sqlite")
    elsewhere = Settings(data_directory=tmp_path / "other", database_url=f"sqlite:///{database}")
    with serving(elsewhere) as other:
        with other.writing() as session:
            other_token = make_token(session, make_organiser(session))
        token = organiser.headers["Authorization"].removeprefix("Bearer ")
        printed = run([*command("move"), site.url, token, slug, other.url, other_token], directory).splitlines()
    assert printed[0] == "A challenge: archived"
    best = board.splitlines()[1]
    assert any(line.startswith(best) and "imported from an archive" in line for line in printed)
