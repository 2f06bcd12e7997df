"""`vocboard challenges`, `whoami`, `edit`, `publish`, `unpublish`, `withdraw`, `download`, and names that are wrong."""

import io
import json
import os
import sys
import uuid
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import update

import vocboard
from tests.commands.board import EDITION, Board, pseudo_terminal, submit
from tests.support.factories import make_challenge, make_image_sets, make_organiser, make_truth
from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.challenges.models import GroundTruthVersion, Visibility
from vocboard.app.challenges.rules import PhaseRules
from vocboard.app.database import now
from vocboard.app.evaluations.scorings import make_current, start_scoring
from vocboard.app.organising.phase_changes import add_phase
from vocboard.app.submissions.models import Submission
from vocboard.commands.main import main
from vocboard.evaluator.editions import for_image_set

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
    published = capsys.readouterr().out
    assert published.startswith(f"Shape finder ({scored}) is published.\nIts page, with BibTeX to cite it: http")
    assert "@misc{" in httpx.get(published.split()[-1]).text
    assert main(["unpublish", f" {scored}\n", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["published_at"] is None
    assert main(["withdraw", beginning]) == 2
    assert "confirm it with --yes" in capsys.readouterr().err
    assert main(["withdraw", beginning, "--yes"]) == 0
    assert capsys.readouterr().out == f"Shape finder ({scored}) is withdrawn.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_ending_the_input_instead_of_an_answer_withdraws_nothing() -> None:
    with pseudo_terminal("withdraw", "abc") as (terminal, shown):
        shown.until("Type yes to go on:")
        os.write(terminal, b"\x04")
        shown.until("nothing was changed")


def test_a_published_result_is_only_replaced_when_that_is_said(
    scored: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["publish", scored]) == 0
    assert submit(archive, "--wait", "--again") == 0
    second = capsys.readouterr().out.split("Accepted as submission ")[1].split(":")[0]
    assert main(["publish", second]) == 2
    refused = capsys.readouterr().err
    assert f"submission {scored}. Replace that one" in refused
    assert "to publish this result in place of another version, use --replace" in refused
    assert main(["publish", second, "--replace"]) == 0
    assert main(["unpublish", second]) == 0  # the board is everybody's


def test_what_is_said_about_a_method_is_edited(
    scored: str, board: Board, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = "https://example.org/paper.pdf"
    links = ["--paper-url", paper, "--code-url", "https://example.org/code"]
    people = ["--contributors", "Ann Author", "--affiliation", "Example University"]
    assert main(["edit", scored[:8], *links, *people, "--note", "lr 0.01", "--training-data", "trainval"]) == 0
    assert capsys.readouterr().out == f"Shape finder ({scored}) is changed.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("Two stages\nof ResNet\n"))
    assert main(["edit", scored[:8], "--description", "-", "--code-url", ""]) == 0
    capsys.readouterr()

    assert main(["edit", scored[:8]]) == 0
    shown = capsys.readouterr().out
    assert "Description:     Two stages\n                 of ResNet\n" in shown
    assert f"\nPaper:           {paper}\nCode:\nTraining data:   trainval\n" in shown
    assert "Private note:    lr 0.01" in shown
    method_page = shown.split("Page:")[1].split()[0]
    assert method_page.startswith(f"{board.url}/methods/")
    with vocboard.Client() as client:
        client.edit(scored, note="", affiliation="Elsewhere")
    assert main(["edit", scored[:8], "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["note"], answer["method"]["affiliation"], answer["method"]["code_url"]) == ("", "Elsewhere", "")

    assert main(["publish", scored[:8]]) == 0
    assert paper in httpx.get(method_page).text
    assert main(["unpublish", scored[:8]]) == 0  # the board is everybody's
    for wrong, said in (
        (["--paper-url", "javascript:alert(1)", "--contributors", "x" * 9999], ("paper url: ", "contributors: ")),
        (["--description", "-", "--note", "-"], ("only one of --description and --note can be read",)),
        (["--flickr-image-hashes", "nowhere.txt"], ("cannot read nowhere.txt",)),
    ):
        assert main(["edit", scored[:8], *wrong]) == 2
        error = capsys.readouterr().err
        assert all(text in error for text in said), error


def test_the_archive_comes_back_as_it_was(
    scored: str, board: Board, archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
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
    with board.database.writing() as session:  # as of a client that uploads in parts and gives no name
        session.execute(update(Submission).where(Submission.id == uuid.UUID(scored)).values(archive_name=""))
    assert main(["download", scored[:8], "--output", str(folder)]) == 0
    assert (folder / scored).read_bytes() == archive.read_bytes()


def test_what_is_needed_offline_is_saved(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["download", "--challenge", "voc", "--output", str(tmp_path / "first")]) == 0
    told = capsys.readouterr().out.splitlines()[-1].removeprefix("To check results: vocboard ")
    assert main(told.replace("results.tar.gz", str(archive)).split()) == 0
    capsys.readouterr()
    assert main(["download", "--challenge", "voc", "--output", str(tmp_path), "--json"]) == 0
    edition, image_sets = json.loads(capsys.readouterr().out)["files"]
    assert main(["validate", edition, str(archive), "--image-sets", image_sets]) == 0


def test_the_image_sets_of_each_phase_are_saved(
    board: Board, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with board.database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="two")
        rules = PhaseRules(competitions=("comp3",), opens_at=now() - timedelta(days=2))
        phase = add_phase(
            session, challenge=challenge, user=organiser, key="dev", title="Dev", rules=rules, image_set="val"
        )
        truth = make_truth(session, challenge, current=False)
        truth.phase_id, truth.image_sets = phase.id, pack_image_sets(make_image_sets(for_image_set(EDITION, "val")))
        scoring = start_scoring(session, challenge=challenge, version=truth)
        make_current(session, challenge=challenge, scoring=scoring, actor=None, phase_id=phase.id)
        files = update(GroundTruthVersion).where(GroundTruthVersion.challenge_id == challenge.id)
        session.execute(files.values(sha256=None))  # without their files, no worker starts
    for options, name, option in (([], "image-sets", ""), (["--phase", "dev"], "image-sets-dev", " --image-set val")):
        assert main(["download", "--challenge", "two", "--output", str(tmp_path), *options]) == 0
        file = tmp_path / f"VOC2012-{name}.json"
        assert capsys.readouterr().out.endswith(f" --image-sets {file}{option}\n")
        assert json.loads(file.read_text())["image_sets"][0]["name"] == ("val" if option else "test")
    assert main(["download", "--challenge", "two", "--phase", "nowhere"]) == 2
    assert "no such phase" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("publish abcd-ef", "none of your submissions begins with abcd-ef; `vocboard status` lists them"),
        ("results abc", "'abc' is not a submission: give its id, or at least its first 4 characters"),
        (f"submit vco {__file__} --method M", "there is no challenge vco on "),
        ("leaderboard vco comp3", "there is no challenge vco on "),
        ("leaderboard vco comp3", "did you mean voc? there are "),
        ("leaderboard voc comp33", "voc has no competition comp33; did you mean comp3? there are comp1, comp3"),
        ("download --challenge nothing", "there is no challenge nothing on "),
    ],
)
def test_a_wrong_name_is_answered_with_the_valid_ones(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err


def test_a_competition_of_another_phase_is_named_with_the_phase(
    board: Board, capsys: pytest.CaptureFixture[str]
) -> None:
    with board.database.writing() as session:
        organiser = make_organiser(session)
        challenge = make_challenge(session, organiser=organiser, slug="phases", competitions=["comp1"])
        rules = PhaseRules(competitions=("comp3",))
        add_phase(
            session, challenge=challenge, user=organiser, key="other", title="Other", rules=rules, has_own_truth=True
        )
    assert main(["leaderboard", "phases", "comp3", "--phase", "main"]) == 2
    assert "The phase main has no such competition; it is in other." in capsys.readouterr().err


def test_a_wrong_name_in_an_unlisted_challenge_is_not_said_to_be_that_of_the_challenge(
    board: Board, capsys: pytest.CaptureFixture[str]
) -> None:
    with board.database.writing() as session:
        make_challenge(session, slug="by-link", visibility=Visibility.UNLISTED)
    assert main(["teams", "show", "by-link"]) == 2
    assert capsys.readouterr().err == "vocboard: You have no team in this challenge.\n"
    assert main(["leaderboard", "by-link", "comp33"]) == 2
    assert "by-link has no competition comp33; did you mean comp3?" in capsys.readouterr().err
