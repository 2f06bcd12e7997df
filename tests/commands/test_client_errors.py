"""What the participant's commands say, and return, when something is wrong."""

import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.client.answers import make_answer
from tests.commands.board import Board, pseudo_terminal, submit
from vocboard.client import credentials
from vocboard.client.answers import StateEvent, problem, problem_group
from vocboard.client.connection import Connection
from vocboard.client.errors import NetworkError
from vocboard.commands.main import main
from vocboard.commands.problem_text import group_lines, problem_lines

SUBMISSION = "00000000-0000-4000-8000-000000000007"
pytestmark = pytest.mark.usefixtures("own_settings")


@pytest.fixture
def wrong_archive(tmp_path: Path) -> Path:
    lines = b"2008_000001 0.5\nnot_there 0.25\n2008_000003 nan\n"
    path = tmp_path / "wrong.tar"
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("results/VOC2012/Main/comp1_cls_test_car.txt")
        member.size = len(lines)
        tar.addfile(member, io.BytesIO(lines))
    return path


def test_a_wrong_archive_gets_the_report_that_validating_gives(
    board: Board,
    participant: str,
    wrong_archive: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert submit(wrong_archive) == 1
    uploaded = capsys.readouterr().out
    explanations = re.findall(r"^  See (http\S+/docs/problems)#(\w+)$", uploaded, re.M)
    assert [code for _, code in explanations] == re.findall(r"\[(\w+)\]", uploaded)
    assert all(f'id="{code}"' in httpx.get(page).text for page, code in explanations)
    assert main(["validate", "VOC2012", str(wrong_archive), "--image-sets", str(board.tree)]) == 1
    validated = capsys.readouterr().out

    assert "[unknown_image]" in uploaded
    assert "line 3" in uploaded
    # Offline, missing classes are named even if there are errors: the server asks about them once there are none.
    assert uploaded == re.sub(r"^.* have no result file\. The server asks .*\n", "", validated, flags=re.M)

    assert submit(wrong_archive, "--json") == 1
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert main(["validate", "VOC2012", str(wrong_archive), "--image-sets", str(board.tree), "--json"]) == 1
    assert problems == json.loads(capsys.readouterr().out)["problems"]


def test_a_report_cannot_steer_the_terminal() -> None:
    text = "\x1b]0;owned\x07"
    listed = problem({"code": text, "severity": "error", "message": text, "file": text, "line": 1})
    counts = {"count": 5, "file_count": 2}
    group = problem_group({"code": text, "severity": "error", "headline": text, **counts}, [listed])
    page = f"https://voc.example.org/{text}"
    lines = [*group_lines([group], page), *group_lines([group], every_place=True), *problem_lines([listed])]
    assert "]0;owned" in "".join(lines)
    assert not {"\x1b", "\x07"} & set("".join(lines))


def test_a_used_up_quota_error_says_when_the_next_is_allowed(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, method="One") == 0
    assert submit(archive, method="Two") == 0
    capsys.readouterr()

    assert submit(archive, method="Three") == 4

    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(r"; the next one is allowed at \d{4}-\d\d-\d\d \d\d:\d\d \S+, in (6|7) days", line)


@pytest.mark.parametrize(
    ("challenge", "told"),
    [
        ("nowhere", "there is no challenge nowhere on"),
        ("over", "Last year closed at"),
        ("soon", "Next year opens at"),
    ],
)
def test_what_takes_no_submission_is_reported_before_the_upload(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str], challenge: str, told: str
) -> None:
    assert submit(archive, challenge=challenge) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told.lower() in line.lower()


def test_what_is_wrong_with_the_form_is_reported_by_field(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, method="x" * 200) == 2
    assert capsys.readouterr().err.startswith("vocboard: method name: Use at most 100 characters")


def test_a_markdown_file_that_cannot_be_written_is_reported_before_the_upload_or_in_one_line(
    participant: str, archive: Path, wrong_archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, "--markdown", str(tmp_path / "nowhere" / "report.md")) == 2
    assert "report.md cannot be a file; nothing was submitted" in capsys.readouterr().err
    if Path("/dev/full").exists():
        assert submit(wrong_archive, "--markdown", "/dev/full") == 3
        assert "cannot write /dev/full: No space left" in capsys.readouterr().err


def test_a_missing_archive_is_reported_before_anything_is_asked(
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
            f"vocboard.commands.{command}.connect",
            lambda *_, **__: Connection("http://127.0.0.1", None, transport=transport),
        )

    assert main(["results", SUBMISSION]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"vocboard: no scores yet: the submission is {state}\n")
    assert main(["status", SUBMISSION, "--wait"]) == status
    assert told in capsys.readouterr().out


@pytest.mark.parametrize("identifier", ["no-such-thing", "00000000-0000-4000-8000-000000000000", "../challenges", ""])
def test_what_is_not_a_submission_is_reported(
    board: Board, participant: str, capsys: pytest.CaptureFixture[str], identifier: str
) -> None:
    assert main(["results", identifier]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_interrupting_the_wait_says_that_the_submission_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> Iterator[StateEvent]:
        yield StateEvent("queued", 3)
        raise KeyboardInterrupt

    monkeypatch.setattr("vocboard.commands.submissions.follow", interrupted)
    assert main(["status", SUBMISSION, "--wait", "--server", "http://127.0.0.1:1"]) == 130
    assert capsys.readouterr().err.splitlines() == [
        "queued, number 3 in line",
        f"vocboard: evaluation continues on the server; see `vocboard status {SUBMISSION}`",
        "vocboard: interrupted",
    ]


def test_all_submissions_are_listed_once_while_others_are_added(
    participant: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = {None: ({"items": [{"id": "3"}, {"id": "2"}]}, {"cursor": "2"}), "2": ({"items": [{"id": "1"}]}, None)}
    monkeypatch.setattr(Connection, "get_page", lambda _, where, parameters: lists[parameters.get("cursor")])
    assert main(["status", "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"items": [{"id": "3"}, {"id": "2"}, {"id": "1"}], "total": 3}


@pytest.mark.parametrize(("error", "status"), [(NetworkError("lost"), 3), (KeyboardInterrupt(), 130)])
def test_a_failed_wait_still_gives_scripts_the_submission(
    participant: str,
    archive: Path,
    error: BaseException,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def failing(*_: object) -> Iterator[StateEvent]:
        yield StateEvent("queued", 3)
        raise error

    monkeypatch.setattr("vocboard.commands.submissions.follow", failing)
    assert submit(archive, "--wait", "--json", "--contributors", "Ann") == status
    assert json.loads(capsys.readouterr().out)["state"] in ("queued", "evaluating")


def test_a_server_that_is_away_is_reported_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocboard.client.connection.PAUSES_SECONDS", (0.0,))
    assert main(["leaderboard", "voc", "comp1", "--server", "http://127.0.0.1:1"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("vocboard: cannot reach http://127.0.0.1:1 (")


def test_no_server_at_all_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 2
    said = capsys.readouterr().err
    assert "run `vocboard login URL` once, set VOCBOARD_SERVER, or use --server URL, in Python Client(URL)" in said


def test_an_argument_in_another_encoding_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOCBOARD_SERVER", "http://127.0.0.1:9")
    assert main(["leaderboard", "ro\udceb", "comp1"]) == 2
    assert "'ro\\udceb' is not text in the encoding" in capsys.readouterr().err


SERVER_SIDE = ("app", "worker", "fastapi", "starlette", "sqlalchemy", "celery", "pydantic", "numpy", "lxml", "PIL")


@pytest.mark.parametrize("command", ["login", "submit", "status", "results", "leaderboard"])
def test_the_commands_load_nothing_of_the_server_nor_what_scoring_needs(command: str) -> None:
    imports = f"import sys, vocboard.commands.main, vocboard.commands.{command}"
    code = f"{imports}; print(*set({SERVER_SIDE}) & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("arguments", [("leaderboard", "voc", "comp1"), ("explain",)])
def test_a_reader_who_has_seen_enough_gets_no_traceback(board: Board, arguments: tuple[str, ...]) -> None:
    program = [sys.executable, "-m", "vocboard.commands.main", *arguments]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        environment = {**os.environ, "VOCBOARD_SERVER": board.url}
        done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a file that is always full")
@pytest.mark.parametrize("arguments", [("explain",), ("schema", "edition"), ("explain", "not_a_number")])
def test_output_that_has_no_room_is_reported_in_one_line(arguments: tuple[str, ...]) -> None:
    program = [sys.executable, "-m", "vocboard.commands.main", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "vocboard: cannot write the output: No space left on device\n")


def test_a_closed_output_is_no_error() -> None:
    program = f"{sys.executable} -m vocboard.commands.main explain utf16 <&- >&-"
    done = subprocess.run(["/bin/sh", "-c", program], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_in_an_encoding_without_a_sign_has_its_number() -> None:
    program = [sys.executable, "-m", "vocboard.commands.main", "explain", "boxes_from_centre"]
    done = subprocess.run(program, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "cp1252"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"left = x \u2212 width / 2 + 1" in done.stdout


def test_an_archive_that_was_submitted_before_is_pointed_out(
    participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, method="First") == 0
    assert "exactly this archive" not in capsys.readouterr().err
    assert submit(archive, method="Second") == 0
    assert "you have submitted exactly this archive before, as First on " in capsys.readouterr().err


def test_an_archive_that_is_meant_again_is_not_pointed_out(
    participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, method="First") == 0
    assert submit(archive, "--again", method="Second") == 0
    assert "exactly this archive" not in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_on_a_terminal_an_identical_archive_is_asked_about(participant: str, archive: Path) -> None:
    assert submit(archive, method="First") == 0
    with pseudo_terminal("submit", "voc", str(archive), "--method", "Second") as (terminal, shown):
        shown.until("Submit it again? [y/N]")
        os.write(terminal, b"\n")
        shown.until("nothing was submitted")
    assert "\r\x1b[Kvocboard: Submit it again?" in shown.text, "the question has a line of its own"
