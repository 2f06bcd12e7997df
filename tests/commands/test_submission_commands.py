"""`vocboard challenges`, `whoami`, `publish`, `unpublish`, `withdraw`, `download`, and names that are wrong."""

import json
from pathlib import Path

import pytest

from tests.commands.board import Board, submit
from vocboard.commands.main import main

pytestmark = pytest.mark.usefixtures("own_settings", "participant")


@pytest.fixture
def scored(archive: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Submit, wait, and give the submission's id."""
    assert submit(archive, "--wait") == 0
    identifier = capsys.readouterr().out.split("Accepted as submission ")[1].split(":")[0]
    return identifier


def test_who_am_i(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whoami"]) == 0
    assert f" at {board.url}; the token permits: " in capsys.readouterr().out
    assert main(["whoami", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["server"] == board.url


def test_challenges_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["challenges"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["CHALLENGE", "STATE", "OPENS", "CLOSES", "TITLE"]
    assert {line.split()[0]: line.split()[1] for line in lines[1:]}["over"] == "closed"
    assert main(["challenges", "--json"]) == 0
    assert {item["slug"] for item in json.loads(capsys.readouterr().out)["items"]} >= {"voc", "over", "soon"}


def test_from_publishing_to_withdrawing(scored: str, capsys: pytest.CaptureFixture[str]) -> None:
    beginning = scored[:8]
    assert main(["publish", beginning, "--competition", "comp9"]) == 2
    assert "The submission has no results for comp9; it has entered comp" in capsys.readouterr().err
    assert main(["publish", beginning, "--replace"]) == 0
    assert capsys.readouterr().out == f"Shape finder ({scored}) is published.\n"
    assert main(["unpublish", beginning, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["published_at"] is None
    assert main(["withdraw", beginning]) == 2
    assert "confirm it with --yes" in capsys.readouterr().err
    assert main(["withdraw", beginning, "--yes"]) == 0
    assert capsys.readouterr().out == f"Shape finder ({scored}) is withdrawn.\n"


def test_the_archive_comes_back_as_it_was(
    scored: str, archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    assert main(["download", scored[:8], "--output", str(folder)]) == 0
    saved = folder / archive.name
    assert capsys.readouterr().out == f"Saved {saved}\n"
    assert saved.read_bytes() == archive.read_bytes()
    assert main(["download", scored[:8], "--output", str(saved)]) == 2
    assert "exists; choose another name" in capsys.readouterr().err
    assert list(folder.iterdir()) == [saved]


def test_what_is_needed_offline_is_saved(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["download", "--challenge", "voc", "--output", str(tmp_path), "--json"]) == 0
    edition, image_sets = json.loads(capsys.readouterr().out)["files"]
    assert main(["validate", edition, str(archive), "--image-sets", image_sets]) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("publish abcd-ef", "none of your submissions begins with abcd-ef; `vocboard status` lists them"),
        ("leaderboard vco comp3", "there is no challenge vco on "),
        ("leaderboard vco comp3", "did you mean voc? there are "),
        ("leaderboard voc comp33", "voc has no competition comp33; did you mean comp3? there are comp1, comp3"),
        ("download --challenge nothing", "there is no challenge nothing on "),
    ],
)
def test_a_wrong_name_is_answered_with_the_valid_ones(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err
