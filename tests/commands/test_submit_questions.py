"""What `vocboard submit` asks before an upload, and what it fills in: in a real terminal, and without one."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import update

import vocboard
from tests.commands.board import Shown, pseudo_terminal
from tests.support.factories import make_token, make_user
from tests.support.figures import RESULTS, street_challenge
from tests.support.site import Site, serving
from tests.support.wrong_archives import challenge, detections, tar
from vocboard.app.challenges.models import ChallengePhase
from vocboard.app.database import now
from vocboard.app.settings import Settings
from vocboard.app.submissions.models import Submission
from vocboard.client.answers import Challenge
from vocboard.client.archive import OutgoingArchive
from vocboard.client.connection import Connection
from vocboard.client.resumable import ResumableUpload
from vocboard.commands.main import main
from vocboard.commands.submit_questions import _check_declarations, complete

pytestmark = [
    pytest.mark.usefixtures("own_settings"),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals"),
]
WITHOUT_BIRD = {name: text for name, text in detections().items() if "_bird" not in name}


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    with serving(Settings(data_directory=tmp_path / "data", database_url=sqlite_url)) as running:
        yield running


@pytest.fixture
def slug(site: Site, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a challenge whose competitions require declarations; a new participant is logged in."""
    with site.writing() as session:
        found = challenge(session).slug
        user = make_user(session, name="Ann Author", affiliation="Institute")
        monkeypatch.setenv("VOCBOARD_TOKEN", make_token(session, user))
    monkeypatch.setenv("VOCBOARD_SERVER", site.url)
    return found


def submissions(site: Site) -> list[Submission]:
    with site.database.reading() as session:
        return list(session.query(Submission).order_by(Submission.created_at))


def answer(terminal: int, shown: Shown, question: str, text: str) -> None:
    shown.until(question)
    os.write(terminal, text.encode() + b"\n")


def piped(slug: str, archive: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = [sys.executable, "-m", "vocboard.commands.main", "submit", slug, "-", "--method", "Mine", *arguments]
    return subprocess.run(program, input=archive, capture_output=True, check=False)


def test_a_terminal_asks_for_what_is_missing_before_the_upload(site: Site, slug: str, tmp_path: Path) -> None:
    archive = tmp_path / "results.tar.gz"
    archive.write_bytes(tar(WITHOUT_BIRD))
    with pseudo_terminal("submit", slug, str(archive), "--method", "Mine") as (terminal, shown):
        answer(terminal, shown, "comp4: What was the method trained on?", "Images of our own.")
        answer(terminal, shown, "trained on images from flickr? [no/yes]", "perhaps")
        answer(terminal, shown, "[no/yes] perhaps", "no")
        answer(terminal, shown, "Submit without them? [y/N]", "n")
        shown.until("nothing was submitted")
    assert "1 of the 20 classes of comp4 (bird) has no result file." in shown.text
    assert "results.tar.gz  " not in shown.text, "the upload has not begun"
    assert submissions(site) == []

    given = ["--training-data", "Images of our own.", "--flickr-images", "no"]
    with pseudo_terminal("submit", slug, str(archive), "--method", "Mine", *given) as (terminal, shown):
        answer(terminal, shown, "Submit without them? [y/N]", "y")
        shown.until("Accepted as submission")
    [made] = submissions(site)
    assert (made.training_data, made.contributors, made.affiliation) == (
        "Images of our own.",
        "Ann Author",
        "Institute",
    )


def test_a_terminal_asks_whether_to_submit_results_that_seem_wrong(site: Site, slug: str, tmp_path: Path) -> None:
    archive = tmp_path / "results.tar.gz"
    archive.write_bytes(
        tar({name: text.replace(b" 3.5 4.5 20 25", b" 0.1 0.1 0.6 0.8") for name, text in detections().items()})
    )
    command = ["submit", slug, str(archive), "--method", "Mine", "--training-data", "Ours.", "--flickr-images", "no"]
    for said, outcome, number in (("n", "Nothing was submitted", 0), ("y", "Accepted as submission", 1)):
        with pseudo_terminal(*command) as (terminal, shown):
            answer(terminal, shown, "Submit them with these warnings? [y/N]", said)
            shown.until(outcome)
        assert "[boxes_as_fractions]" in shown.text
        assert len(submissions(site)) == number


def test_without_a_terminal_everything_missing_is_one_error_and_nothing_is_asked(site: Site, slug: str) -> None:
    began = time.monotonic()
    done = piped(slug, tar(WITHOUT_BIRD))
    assert done.returncode == 2
    said = done.stderr.decode()
    assert "require declarations; add --training-data for comp4" in said
    assert time.monotonic() - began < 60
    assert submissions(site) == []

    done = piped(slug, tar(WITHOUT_BIRD), "--training-data", "Images of our own.", "--contributors", "Bob")
    assert done.returncode == 0, done.stderr
    said = done.stderr.decode()
    assert "(bird) has no result file" in said
    assert "comp4 requires --flickr-images" in said
    assert "comp6" not in said, "hints are about competitions in the archive"
    [made] = submissions(site)
    assert (made.contributors, made.affiliation, made.archive_name) == ("Bob", "Institute", "standard-input")

    assert piped(slug, tar(WITHOUT_BIRD), "--training-data", "Images.", "--affiliation", "").returncode == 0
    assert [(one.contributors, one.affiliation) for one in submissions(site)] == [("Bob", "Institute"), ("Bob", "")]
    assert b"standard input is empty" in piped(slug, b"").stderr


def test_an_upload_that_began_before_the_deadline_is_continued_after_it(
    site: Site, slug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "results.tar.gz"
    archive.write_bytes(tar(detections()))
    command = ["submit", slug, str(archive), "--method", "Mine", "--training-data", "Ours.", "--flickr-images", "no"]
    with monkeypatch.context() as patch:
        patch.setattr(ResumableUpload, "_send_part", interrupted)
        assert main(command) == 130
    with site.writing() as session:
        session.execute(update(ChallengePhase).values(closes_at=now()))
    assert main([*command, "--accept-warnings"]) == 0
    assert len(submissions(site)) == 1
    capsys.readouterr()
    assert main(command) == 2
    assert "closed at" in capsys.readouterr().err


def interrupted(*_: object) -> int:
    raise KeyboardInterrupt


@pytest.fixture
def street(site: Site, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a challenge whose edition defines declarations; a new participant is logged in."""
    with site.writing() as session:
        found = street_challenge(session).slug
        monkeypatch.setenv("VOCBOARD_TOKEN", make_token(session, make_user(session)))
    monkeypatch.setenv("VOCBOARD_SERVER", site.url)
    return found


def test_a_terminal_asks_for_what_the_edition_defines(site: Site, street: str, tmp_path: Path) -> None:
    archive = tmp_path / "results.tar.gz"
    archive.write_bytes(RESULTS)
    command = ["submit", street, str(archive), "--method", "Mine", "--training-data", "Ours."]
    with pseudo_terminal(*command) as (terminal, shown):
        answer(terminal, shown, "comp1: Parameters, in million?", "many")
        answer(terminal, shown, "in million? many", "25.6")
        answer(terminal, shown, "comp1: Time, in ms per image? (Enter to declare it later)", "")
        answer(terminal, shown, "comp1: Licence? (Enter to declare it later) [open/none]", "none")
        shown.until("Accepted as submission")
    [made] = submissions(site)
    assert made.declarations == {"training_data": "Ours.", "parameters": 25.6, "licence": "none"}


def test_an_edition_that_is_not_understood_here_leaves_everything_to_the_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "results.tar.gz"
    archive.write_bytes(RESULTS)
    toml = httpx.Response(200, text="[tasks.keypoints]", headers={"Content-Type": "application/toml"})
    arguments = argparse.Namespace(challenge="new", declare=[])
    found = Challenge("new", "New", "open", None, None, declarations={"training_data": ["comp1"]})
    with (
        Connection("https://voc.example.org", "t", transport=httpx.MockTransport(lambda _: toml)) as connection,
        OutgoingArchive(archive) as outgoing,
    ):
        complete(arguments, connection, found, outgoing)
    assert "only the server checks what the archive lacks" in capsys.readouterr().err


def test_options_declare_what_the_edition_defines(
    site: Site, street: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "results.tar.gz"
    archive.write_bytes(RESULTS)
    submit = ["submit", street, str(archive), "--method", "Mine", "--training-data", "Ours."]
    for options, said in (
        ([], "add --declare parameters=VALUE for comp1"),
        (
            ["--declare", "parameters=3", "--flickr-images", "yes"],
            "images from flickr have to be listed: run `vocboard",
        ),
        (["--declare", "parameters=many"], "--declare parameters: expected a number that is at least 0, not 'many'"),
        (["--declare", "licence=mine"], "--declare licence: expected open or none, not 'mine'"),
        (["--declare", "parametres=3"], "the challenge knows no declaration 'parametres'; it knows training_data, par"),
    ):
        assert main([*submit, *options]) == 2
        assert said in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main([*submit, "--declare", "parameters"])
    assert "expected NAME=VALUE, such as parameters=25.6" in capsys.readouterr().err
    assert main([*submit, "--declare", "parameters=25.6", "--declare", "licence=open"]) == 0
    assert "comp1 requires --declare ms_per_image=VALUE; without it" in capsys.readouterr().err
    [made] = submissions(site)
    assert made.declarations == {"training_data": "Ours.", "parameters": 25.6, "licence": "open"}
    assert main(["edit", str(made.id), "--declare", "ms_per_image=3.5", "--declare", "licence="]) == 0
    assert main(["edit", str(made.id)]) == 0
    assert "ms_per_image:    3.5\n" in capsys.readouterr().out
    with vocboard.Client(site.url) as client:
        client.edit(str(made.id), declarations={"parameters": 30})
        client.submit(street, archive, method="Mine", training_data="Ours.", declarations={"parameters": 7.5})
    assert [one.declarations for one in submissions(site)] == [
        {"training_data": "Ours.", "parameters": 30.0, "ms_per_image": 3.5},
        {"training_data": "Ours.", "parameters": 7.5},
    ]


def test_several_competitions_require(capsys: pytest.CaptureFixture[str]) -> None:
    _check_declarations({"flickr_images": ["comp2", "comp4"]}, {})
    assert "comp2, comp4 require --flickr-images; without" in capsys.readouterr().err
