"""`vocboard admin`, as operators call it."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.accounts import service
from app.accounts.models import Scope
from app.challenges.service import Phase, get_visible, phase
from app.database import Database, now
from app.settings import Settings
from commands.main import main
from tests.support.trees import write_tree
from worker import truth_import
from worker.truth_directory import TruthDirectory


@pytest.fixture
def settings(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("VOCBOARD_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("VOCBOARD_DATA_DIRECTORY", str(tmp_path / "data"))
    return Settings()


@pytest.fixture
def embedded(settings: Settings) -> Iterator[Database]:
    database = Database(settings.database)
    yield database
    database.close()


def admin(*arguments: str) -> int:
    return main(["admin", *arguments])


def make(email: str, role: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert admin("create-user", email, "--name", "Somebody", "--role", role) == 0
    return capsys.readouterr().out.strip()


def sign_in(database: Database, email: str, password: str) -> None:
    with database.writing() as session:
        service.sign_in(session, email=email, password=password, address="", browser="", lifetime=now() - now())


def test_a_password_is_made_up_and_shown_unless_given(
    embedded: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(embedded, "ada@lab.example", make("ada@lab.example", "participant", capsys))
    monkeypatch.setattr("sys.stdin", io.StringIO("a password of my own\n"))
    assert admin("create-user", "eve@lab.example", "--name", "Eve", "--password-stdin") == 0
    assert capsys.readouterr().out == ""
    sign_in(embedded, "eve@lab.example", "a password of my own")


def test_mistakes_are_told_on_standard_error(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    assert admin("create-user", "nobody", "--name", "") == 1
    assert "email: This is not an e-mail address." in capsys.readouterr().err
    assert admin("set-role", "nobody@lab.example", "organiser") == 1
    assert "nobody@lab.example" in capsys.readouterr().err


def test_roles_disabling_and_passwords(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("ada@lab.example", "participant", capsys)
    assert admin("set-role", "ada@lab.example", "organiser") == 0
    assert admin("disable-user", "ada@lab.example") == 0
    assert admin("list-users", "--json") == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["email"], listed["role"], listed["disabled_at"] is None) == ("ada@lab.example", "organiser", False)
    assert admin("enable-user", "ada@lab.example") == 0
    assert admin("reset-password", "ada@lab.example") == 0
    sign_in(embedded, "ada@lab.example", capsys.readouterr().out.strip())
    assert admin("list-users") == 0
    assert "ada@lab.example  Somebody  organiser\n" in capsys.readouterr().out


def test_a_token_works_for_what_it_was_made_for(embedded: Database, capsys: pytest.CaptureFixture[str]) -> None:
    make("ada@lab.example", "organiser", capsys)
    assert admin("create-token", "ada@lab.example", "--scope", "organise", "--days", "1") == 0
    with embedded.reading() as session:
        found = service.user_of_token(session, capsys.readouterr().out.strip())
    assert found is not None
    assert found[1].granted == {Scope.ORGANISE}


def test_a_challenge_and_its_ground_truth_from_a_directory(
    embedded: Database, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    make("ada@lab.example", "organiser", capsys)
    new = ["create-challenge", "cars", "--organiser", "ada@lab.example", "--title", "Cars", "--visibility", "public"]
    assert admin(*new, "--edition", "VOC2012", "--competition", "comp3", "--opens-at", "2020-01-01") == 0
    tree = write_tree(tmp_path)
    hand_in = ["import-truth", "cars", str(tree), "--organiser", "ada@lab.example"]
    assert admin(*hand_in) == 1
    assert "No worker has started" in capsys.readouterr().err
    TruthDirectory(settings).private_key()
    assert admin(*hand_in) == 0
    assert truth_import.import_next(embedded, settings)
    with embedded.reading() as session:
        assert phase(get_visible(session, "cars", None), now()) is Phase.OPEN
