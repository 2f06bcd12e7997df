"""`vocboard login` against a real server."""

import io
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.commands.board import Board, pseudo_terminal
from vocboard.app.accounts.models import Scope
from vocboard.client import credentials
from vocboard.commands.connecting import warn_of_dangers
from vocboard.commands.main import main

pytestmark = pytest.mark.usefixtures("own_settings")


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
        f"vocboard: {board.url} does not accept this token; copy it again, or create a new one on the Account page\n"
    )
    assert not credentials.load().tokens


def test_login_says_what_a_token_cannot_do(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", board.url, "--token", board.token(Scope.READ)]) == 0
    assert (
        "This token has the scopes: read; to submit results, create one with the scope `submit`."
        in capsys.readouterr().out
    )


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


def test_two_logins_at_the_same_time_are_both_kept(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    token = board.token()

    class Slow(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            credentials.save(credentials.load().with_server("https://other.example.org", "vocb_o"))
            return token

    monkeypatch.setattr(sys, "stdin", Slow())
    assert main(["login", board.url]) == 0
    assert credentials.load().tokens == {"https://other.example.org": "vocb_o", board.url: token}


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
