"""The participant's commands against a real server with a real worker, on made-up data."""

import csv
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

import migrations
from app.accounts.models import Scope
from app.database import Database, now
from app.settings import Settings
from client import credentials
from client.connection import Connection
from commands.connecting import warn_of_dangers
from commands.demo.cast import PUBLISHED
from commands.demo.development_kit import write_development_kit
from commands.demo.methods import results_archive
from commands.demo.scenes import World, draw_world
from commands.demo.seeding import Api, upload_ground_truth
from commands.demo.server import DemoServer
from commands.main import main
from evaluator import editions
from tests.client.answers import make_answer
from tests.support.factories import make_challenge, make_organiser, make_token, make_user

EDITION = editions.load("VOC2012")
COMPETITIONS = ("comp1", "comp3")


@dataclass(frozen=True)
class Board:
    """A server with one open challenge, `voc`, and its worker."""

    url: str
    database: Database
    world: World
    tree: Path

    def token(self, *scopes: Scope) -> str:
        """Make a new participant and return a token of theirs."""
        with self.database.writing() as session:
            return make_token(session, make_user(session), *scopes)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    directory = tmp_path_factory.mktemp("board")
    settings = Settings(data_directory=directory / "data", worker_processes=1)
    settings.data_directory.mkdir()
    migrations.upgrade(settings.database)
    database = Database(settings.database)
    world = draw_world(EDITION, seed=7, main=12, segmented=2, people=4)
    tree = write_development_kit(world, EDITION, directory)
    with database.writing() as session:
        organiser = make_organiser(session)
        secret = make_token(session, organiser)
        make_challenge(session, organiser=organiser, ready=False, slug="voc", title="Shapes")
        over = now() - timedelta(hours=1)
        make_challenge(session, organiser=organiser, slug="over", title="Last year", closes_at=over)
        soon = now() + timedelta(days=1)
        make_challenge(session, organiser=organiser, slug="soon", title="Next year", opens_at=soon)
    with DemoServer(settings, host="127.0.0.1", port=0) as server:
        with closing(Api(server.url, secret)) as api:
            upload_ground_truth(api, "voc", tree)
        yield Board(server.url, database, world, tree)
    database.close()


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for variable in ("VOCBOARD_SERVER", "VOCBOARD_TOKEN"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def participant(board: Board, monkeypatch: pytest.MonkeyPatch) -> str:
    """Log a new participant in, and give the token."""
    token = board.token()
    credentials.save(credentials.load().with_server(board.url, token))
    return token


@pytest.fixture
def archive(board: Board, tmp_path: Path) -> Path:
    path = tmp_path / "results.tar.gz"
    path.write_bytes(results_archive(PUBLISHED[0], board.world, EDITION, COMPETITIONS))
    return path


@pytest.fixture
def wrong_archive(tmp_path: Path) -> Path:
    lines = b"2008_000001 0.5\nnot_there 0.25\n2008_000003 nan\n"
    path = tmp_path / "wrong.tar"
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("results/VOC2012/Main/comp1_cls_test_car.txt")
        member.size = len(lines)
        tar.addfile(member, io.BytesIO(lines))
    return path


def submit(archive: Path, *arguments: str, challenge: str = "voc", method: str = "Shape finder") -> int:
    return main(["submit", challenge, str(archive), "--method", method, *arguments])


# Logging in


def test_login_checks_the_token_and_keeps_it_to_its_owner(
    board: Board, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    token = board.token()

    assert main(["login", board.url + "/", "--token", token]) == 0

    said = capsys.readouterr()
    assert f"Logged in to {board.url} as person" in said.out
    assert token not in said.out + said.err
    file = tmp_path / "config" / "vocboard" / "servers.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert credentials.load(file).tokens == {board.url: token}
    assert main(["status"]) == 0


def test_login_refuses_a_token_that_the_server_does_not_know(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", board.url, "--token", "vocb_unknown"]) == 3

    said = capsys.readouterr()
    assert said.err == (
        f"vocboard: {board.url} does not accept this token; copy it again, or make a new one on the page Account\n"
    )
    assert not credentials.load().tokens


def test_login_says_what_a_token_cannot_do(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", board.url, "--token", board.token(Scope.READ)]) == 0
    assert "This token is for: read; to submit, make one with the scope `submit`." in capsys.readouterr().out


def test_login_takes_the_token_from_the_environment_or_standard_input(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped, exported = board.token(), board.token()
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{piped}\n"))
    assert main(["login", board.url]) == 0
    assert credentials.load().tokens[board.url] == piped

    monkeypatch.setenv("VOCBOARD_TOKEN", exported)
    assert main(["login", board.url]) == 0
    assert credentials.load().tokens[board.url] == exported


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_login_asks_for_the_token_without_showing_it(board: Board) -> None:
    token = board.token()
    with pseudo_terminal("login", board.url) as (terminal, shown):
        shown.until("API token for")
        os.write(terminal, f"{token}\n".encode())
        shown.until("The token is stored in")

    assert token not in shown.text
    assert credentials.load().tokens == {board.url: token}


def test_forgetting_deletes_the_token(board: Board, participant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", "--forget"]) == 0
    assert not credentials.load().tokens
    assert main(["status", "--server", board.url]) == 2
    assert f"run `vocboard login {board.url}`" in capsys.readouterr().err


def test_a_token_in_the_environment_needs_no_login(
    board: Board, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOCBOARD_SERVER", board.url)
    monkeypatch.setenv("VOCBOARD_TOKEN", board.token())

    assert main(["status"]) == 0
    assert capsys.readouterr().out == "No submissions yet.\n"


# From upload to leaderboard


def test_from_upload_to_leaderboard(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ["--contributors", "Ann, Bob", "--affiliation", "Lab", "--description", "Finds shapes."]
    assert submit(archive, *said) == 0
    out = capsys.readouterr().out
    assert "\nValid: 1 warning.\nAccepted as submission " in out
    assert ": comp1, comp3\nIt is queued" in out
    identifier = out.split("Accepted as submission ")[1].split(":")[0]
    assert f"Follow it with `vocboard status {identifier} --wait`." in out

    assert main(["status", identifier, "--wait"]) == 0
    shown = capsys.readouterr()
    assert shown.err.endswith("scored\n")
    assert "State:           scored\n" in shown.out

    assert main(["results", identifier, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert main(["results", identifier]) == 0
    table = capsys.readouterr().out
    assert table.startswith("comp1: classification\n")
    mean = results["competitions"]["comp3"]["mean"]
    assert f"{mean:.4f}" in table
    assert "average precision" in table

    assert main(["leaderboard", "voc", "comp3"]) == 0
    assert capsys.readouterr().out == "No method is published on this board yet.\n"
    with closing(Api(board.url, participant)) as api:
        api.post(f"/submissions/{identifier}/publish")

    assert main(["leaderboard", "voc", "comp3"]) == 0
    shown_board = capsys.readouterr().out
    assert f"{mean:.4f}*" in shown_board
    assert "Shape finder" in shown_board
    assert "Ann, Bob" in shown_board
    assert main(["leaderboard", "voc", "comp3", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["mean"] == mean
    assert main(["leaderboard", "voc", "comp3", "--format", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["method"], float(row["mean"])) == ("Shape finder", mean)
    assert main(["leaderboard", "voc", "comp3", "--format", "latex"]) == 0
    assert capsys.readouterr().out.startswith(r"\begin{tabular}")

    assert main(["status", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [item["id"] for item in listed["items"]] == [identifier]
    assert main(["status"]) == 0
    assert f"{identifier}  scored  Shape finder  voc        comp1 comp3   yes" in capsys.readouterr().out


def test_waiting_shows_the_scores_that_evaluating_here_gives(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, "--wait") == 0
    waited = capsys.readouterr().out
    assert main(["evaluate", "VOC2012", str(archive), "--ground-truth", str(board.tree)]) == 0
    evaluated = capsys.readouterr().out

    def tables(text: str) -> list[str]:
        blocks = [block for block in text.split("\n\n") if "average precision" in block]
        return [block.split("\n", 1)[1].strip() for block in blocks]

    assert len(tables(waited)) == 2
    assert tables(waited) == tables(evaluated)


def test_waiting_in_a_script_prints_one_document(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, "--wait", "--json") == 0
    submission = json.loads(capsys.readouterr().out)
    assert submission["state"] == "scored"
    assert set(submission["competitions"]) == set(COMPETITIONS)


# What can be wrong


def test_a_wrong_archive_gets_the_report_that_validating_gives(
    board: Board,
    participant: str,
    wrong_archive: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert submit(wrong_archive) == 1
    uploaded = capsys.readouterr().out
    assert main(["validate", "VOC2012", str(wrong_archive), "--image-sets", str(board.tree)]) == 1
    validated = capsys.readouterr().out

    assert "[unknown_image]" in uploaded
    assert "line 3" in uploaded
    assert uploaded == validated

    assert submit(wrong_archive, "--json") == 1
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert main(["validate", "VOC2012", str(wrong_archive), "--image-sets", str(board.tree), "--json"]) == 1
    assert problems == json.loads(capsys.readouterr().out)["problems"]


def test_a_used_up_quota_tells_when_the_next_is_allowed(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, method="One") == 0
    assert submit(archive, method="Two") == 0
    capsys.readouterr()

    assert submit(archive, method="Three") == 3

    (line,) = capsys.readouterr().err.splitlines()
    day = (now() + timedelta(days=7)).astimezone()
    assert f"the next is allowed at {day:%Y-%m-%d}" in line
    assert line.endswith("in 7 days")


@pytest.mark.parametrize(
    ("challenge", "told"),
    [("nowhere", "no such challenge"), ("over", "Last year has been closed since"), ("soon", "Next year opens at")],
)
def test_what_takes_no_submission_is_told_before_the_upload(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str], challenge: str, told: str
) -> None:
    assert submit(archive, challenge=challenge) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told.lower() in line.lower()


def test_what_is_wrong_with_the_form_is_told_by_field(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, method="x" * 200) == 2
    assert capsys.readouterr().err.startswith("vocboard: method name: Use at most 100 characters")


def test_a_missing_archive_is_told_before_anything_is_asked(
    board: Board, participant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(tmp_path / "none.zip") == 2
    assert "No such file" in capsys.readouterr().err


def test_a_token_that_was_revoked_leads_to_a_new_one(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    credentials.save(credentials.load().with_server(board.url, "vocb_revoked"))
    assert main(["status"]) == 3
    said = capsys.readouterr().err
    assert f"run `vocboard login {board.url}`" in said
    assert "vocb_revoked" not in said


@pytest.mark.parametrize(
    ("state", "failure", "status", "told"),
    [("withdrawn", None, 1, "withdrawn"), ("failed", "The worker ran out of memory.", 3, "ran out of memory")],
)
def test_a_submission_without_scores_is_not_an_empty_table(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    state: str,
    failure: str | None,
    status: int,
    told: str,
) -> None:
    ended = make_answer(state, failure=failure)
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=ended))
    for command in ("results", "status"):
        monkeypatch.setattr(
            f"commands.{command}.connect", lambda *_, **__: Connection("http://127.0.0.1", None, transport=transport)
        )

    assert main(["results", "7"]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"vocboard: no scores: the submission is {state}\n")
    assert main(["status", "7", "--wait"]) == status
    assert told in capsys.readouterr().out


@pytest.mark.parametrize("identifier", ["no-such-thing", "00000000-0000-4000-8000-000000000000", "../challenges", ""])
def test_what_is_not_a_submission_is_told(
    board: Board, participant: str, capsys: pytest.CaptureFixture[str], identifier: str
) -> None:
    assert main(["results", identifier]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_server_that_is_away_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("client.connection.PAUSES_SECONDS", (0.0,))
    assert main(["leaderboard", "voc", "comp1", "--server", "http://127.0.0.1:1"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("vocboard: cannot reach http://127.0.0.1:1 (")


def test_no_server_at_all_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 2
    assert "run `vocboard login URL` once" in capsys.readouterr().err


# Programs and terminals


SERVER_SIDE = ("app", "worker", "fastapi", "starlette", "sqlalchemy", "celery", "pydantic", "numpy", "lxml", "PIL")


@pytest.mark.parametrize("command", ["login", "submit", "status", "results", "leaderboard"])
def test_the_commands_load_nothing_of_the_server_nor_what_scoring_needs(command: str) -> None:
    code = f"import sys, commands.main, commands.{command}; print(*set({SERVER_SIDE}) & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_reader_who_has_seen_enough_gets_no_traceback(board: Board) -> None:
    program = [sys.executable, "-m", "commands.main", "leaderboard", "voc", "comp1", "--server", board.url]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


class Shown:
    """What a program has written to its terminal."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self.text = ""

    def until(self, expected: str) -> None:
        """Read until this has been shown."""
        while expected not in self.text:
            self.text += os.read(self._terminal, 65536).decode()


@contextmanager
def pseudo_terminal(*arguments: str) -> Iterator[tuple[int, Shown]]:
    """Run the program on a terminal; give our end of it, and what is shown there."""
    ours, theirs = os.openpty()
    program = [sys.executable, "-m", "commands.main", *arguments]
    process = subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    try:
        yield ours, Shown(ours)
        process.wait(30)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_how_far_the_upload_is(board: Board, participant: str, archive: Path) -> None:
    with pseudo_terminal("submit", "voc", str(archive), "--method", "Shown") as (_, shown):
        shown.until("Follow it with")

    assert "results.tar.gz  ░░░" in shown.text
    assert "100%" in shown.text
    assert "the server is checking it" in shown.text
    assert shown.text.index("checking it") < shown.text.index("Accepted as submission")


def test_a_token_on_its_way_over_plain_http_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    warn_of_dangers("http://voc.example.org")
    assert "not encrypted" in capsys.readouterr().err
    warn_of_dangers("https://voc.example.org")
    warn_of_dangers("http://127.0.0.1:8000")
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
def test_tokens_that_others_can_read_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    file = credentials.save(credentials.load().with_server("https://voc.example.org", "vocb_t"))
    file.chmod(0o644)
    warn_of_dangers("https://voc.example.org")
    assert f"chmod 600 {file}" in capsys.readouterr().err
