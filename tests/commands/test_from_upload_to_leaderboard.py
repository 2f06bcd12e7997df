"""`vocboard submit`, `status`, `results` and `leaderboard` against a real server with a real worker."""

import csv
import io
import json
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.commands.board import COMPETITIONS, Board, pseudo_terminal, submit
from tests.support.factories import make_token, make_user
from vocboard.app.accounts.models import Role
from vocboard.app.database import now
from vocboard.commands.demo.seeding import Api
from vocboard.commands.main import main

pytestmark = pytest.mark.usefixtures("own_settings")


def test_from_upload_to_leaderboard(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ["--contributors", "Ann, Bob", "--affiliation", "Lab", "--description", "Finds shapes."]
    assert submit(archive, *said, method="First seen here") == 0
    out = capsys.readouterr().out
    assert "\nValid: 1 warning in 1 file.\nAccepted as submission " in out
    assert ": comp1, comp3\nIt is " in out  # queued, or a worker has already begun
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
    assert results["competitions"]["comp3"]["decimals"] == 4
    assert f"{100 * mean:.2f}" in table
    assert " AP, % " in table

    assert main(["leaderboard", "over", "comp3"]) == 0
    assert capsys.readouterr().out == "No methods have been published yet.\n"
    with closing(Api(board.url, participant)) as api:
        api.post(f"/submissions/{identifier}/publish")

    assert main(["leaderboard", "voc", "comp3"]) == 0
    shown_board = capsys.readouterr().out
    assert shown_board.startswith("voc comp3: Average precision, in per cent\n")
    assert f"{100 * mean:.2f} ^" in shown_board
    assert "First seen here" in shown_board
    assert "Ann, Bob" in shown_board
    assert main(["leaderboard", "voc", "comp3", "--format", "json"]) == 0
    assert ("First seen here", mean) in [
        (row["method"], row["mean"]) for row in json.loads(capsys.readouterr().out)["rows"]
    ]
    assert main(["leaderboard", "voc", "comp3", "--format", "csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert ("First seen here", mean) in [(row["method"], float(row["mean"])) for row in rows]
    assert main(["leaderboard", "voc", "comp3", "--format", "latex"]) == 0
    assert r"\begin{tabular}" in capsys.readouterr().out

    assert main(["status", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [item["id"] for item in listed["items"]] == [identifier]
    assert main(["status"]) == 0
    assert f"{identifier}  scored  First seen here  voc        comp1 comp3   yes" in capsys.readouterr().out


def test_tables_say_that_scores_were_imported(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, "--wait", "--publish") == 0
    with board.database.writing() as session:
        token = make_token(session, make_user(session, role=Role.ADMINISTRATOR, name="Ada Importer"))
    with httpx.Client(base_url=f"{board.url}/api/v1", headers={"Authorization": f"Bearer {token}"}) as client:
        exported = client.post("/challenges/voc/export").raise_for_status().content
        files = {"archive": ("voc.vocboard.tar", exported)}
        client.post("/challenges/imports", data={"slug": "imported"}, files=files).raise_for_status()
        client.patch("/challenges/imported", json={"visibility": "public"}).raise_for_status()
        rows = client.get("/challenges/imported/leaderboards/comp3").raise_for_status().json()["rows"]
    capsys.readouterr()
    said = f"Scores imported from an archive on {now():%Y-%m-%d} by Ada Importer; not scored here."
    assert main(["leaderboard", "imported", "comp3"]) == 0
    assert capsys.readouterr().out.startswith(f"imported comp3: Average precision, in per cent\n{said}\n")
    assert main(["results", rows[0]["submission"]]) == 0
    assert f"comp3: detection\n{said}\n" in capsys.readouterr().out


def test_waiting_shows_the_scores_that_evaluating_here_gives(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, "--wait") == 0
    waited = capsys.readouterr().out
    assert main(["evaluate", "VOC2012", str(archive), "--ground-truth", str(board.tree)]) == 0
    evaluated = capsys.readouterr().out

    def tables(text: str) -> list[str]:
        blocks = [block for block in text.split("\n\n") if " AP, % " in block]
        return [block.split("\n", 1)[1].strip() for block in blocks]

    assert "Only you and the organisers see this. `vocboard publish " in waited
    waited = waited.partition("\nOnly you")[0]
    assert len(tables(waited)) == 2
    assert tables(waited) == tables(evaluated)


def test_waiting_in_a_script_prints_one_document(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, "--wait", "--json") == 0
    submission = json.loads(capsys.readouterr().out)
    assert submission["state"] == "scored"
    assert set(submission["competitions"]) == set(COMPETITIONS)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_how_far_the_upload_is(board: Board, participant: str, archive: Path) -> None:
    with pseudo_terminal("submit", "voc", str(archive), "--method", "Shown") as (_, shown):
        shown.until("Follow it with")

    assert "results.tar.gz  ░░░" in shown.text
    assert "100%" in shown.text
    assert "the server is validating the archive" in shown.text
    assert shown.text.index("validating the archive") < shown.text.index("Accepted as submission")


def test_a_phase_is_chosen_and_its_result_published_by_itself(
    board: Board, participant: str, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(archive, "--phase", "extra", "--publish", "--wait") == 0
    capsys.readouterr()
    assert main(["leaderboard", "voc", "comp3", "--phase", "extra"]) == 0
    assert "Shape finder" in capsys.readouterr().out
    assert main(["leaderboard", "voc", "comp3", "--phase", "extra", "--format", "csv"]) == 0
    assert "Shape finder" in capsys.readouterr().out
    assert submit(archive, "--phase", "closed") == 2
    assert "Shapes, Over, closed at" in capsys.readouterr().err
    assert submit(archive, "--phase", "tset") == 2
    assert "Shapes has no phase tset; choose one of " in capsys.readouterr().err
